/* nn/linear.c: y = x W + b, forward and backward. */
#include "labs/nn/net.h"

void nn_linear_forward(const nn_pass_t *pass, const nn_linear_t *linear, int64_t rows,
                       const float *x, float *y) {
    const nn_product_t product = {
        .out = y,
        .stride = linear->out,
        .left = {x, linear->in, 1},
        .right = {pass->weights + linear->weight, linear->out, 1},
        .rows = rows,
        .columns = linear->out,
        .depth = linear->in,
        .bias = pass->weights + linear->bias,
    };
    pass->net->kernels->product(&product, pass->scratch);
}

void nn_linear_backward(const nn_pass_t *pass, const nn_linear_t *linear, int64_t rows,
                        const float *x, const float *dy, float *gradient, float *dx) {
    const nn_product_t of_weights = {
        .out = gradient + linear->weight,
        .stride = linear->out,
        .left = {x, 1, linear->in},
        .right = {dy, linear->out, 1},
        .rows = linear->in,
        .columns = linear->out,
        .depth = rows,
        .add = 1,
    };
    const nn_product_t of_x = {
        .out = dx,
        .stride = linear->in,
        .left = {dy, linear->out, 1},
        .right = {pass->weights + linear->weight, 1, linear->out},
        .rows = rows,
        .columns = linear->in,
        .depth = linear->out,
    };
    const nn_kernels_t *kernels = pass->net->kernels;
    kernels->product(&of_weights, pass->scratch);
    kernels->add_rows(rows, linear->out, dy, gradient + linear->bias);
    if (dx) kernels->product(&of_x, pass->scratch);
}
