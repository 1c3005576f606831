/* nn/linear.c: y = x W + b, forward and backward. */
#include "labs/nn/net.h"

static nn_matrix_t weights_of(const nn_pass_t *pass, const nn_linear_t *linear) {
    const float *weights = pass->weights + linear->weight;
    return linear->transposed ? (nn_matrix_t){weights, 1, linear->in}
                              : (nn_matrix_t){weights, linear->out, 1};
}

static nn_matrix_t turned(nn_matrix_t m) { return (nn_matrix_t){m.data, m.column, m.row}; }

void nn_linear_forward(const nn_pass_t *pass, const nn_linear_t *linear, int64_t rows,
                       const float *x, float *y) {
    const nn_product_t product = {
        .out = y,
        .stride = linear->out,
        .left = {x, linear->in, 1},
        .right = weights_of(pass, linear),
        .rows = rows,
        .columns = linear->out,
        .depth = linear->in,
        .bias = pass->weights + linear->bias,
    };
    pass->net->kernels->product(&product, pass->scratch);
}

void nn_linear_backward(const nn_pass_t *pass, const nn_linear_t *linear, int64_t rows,
                        const float *x, const float *dy, float *gradient, float *dx) {
    const nn_matrix_t in = {x, linear->in, 1}, out = {dy, linear->out, 1};
    const int turns = linear->transposed; /* dW^T = dy^T x */
    const nn_product_t of_weights = {
        .out = gradient + linear->weight,
        .stride = turns ? linear->in : linear->out,
        .left = turned(turns ? out : in),
        .right = turns ? in : out,
        .rows = turns ? linear->out : linear->in,
        .columns = turns ? linear->in : linear->out,
        .depth = rows,
        .add = 1,
    };
    const nn_product_t of_x = {
        .out = dx,
        .stride = linear->in,
        .left = out,
        .right = turned(weights_of(pass, linear)),
        .rows = rows,
        .columns = linear->in,
        .depth = linear->out,
    };
    const nn_kernels_t *kernels = pass->net->kernels;
    kernels->product(&of_weights, pass->scratch);
    kernels->add_rows(rows, linear->out, dy, gradient + linear->bias);
    if (dx) kernels->product(&of_x, pass->scratch);
}
