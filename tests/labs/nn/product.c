/* The neural net's matrix product against sums in double precision. */
#include "numbers.h"

#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double element(const nn_matrix_t *m, int64_t i, int64_t j) {
    return (double)m->data[i * m->row + j * m->column];
}

static void check_product(const nn_product_t *p, const float *before) {
    for (int64_t i = 0; i < p->rows * p->columns; i++) {
        const int64_t r = i / p->columns, c = i % p->columns;
        double sum = p->bias ? (double)p->bias[c] : 0, size;
        if (p->add) sum += (double)before[r * p->stride + c];
        size = fabs(sum);
        for (int64_t k = 0; k < p->depth; k++) {
            const double term = element(&p->left, r, k) * element(&p->right, k, c);
            sum += term, size += fabs(term);
        }
        numbers_near((double)p->out[r * p->stride + c], sum,
                     (double)(p->depth + 2) * NUMBERS_U * size, "product", i);
    }
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t c = p->columns; c < p->stride; c++)
            if (p->out[r * p->stride + c] != before[r * p->stride + c])
                test_fail("written beside the product");
}

/* Rows, columns and depth around tiles; each factor as it lies and transposed. */
static void products(void **state) {
    (void)state;
    const nn_kernels_t *k = numbers_kernels();
    const int64_t sizes[][3] = {{1, 1, 1},
                                {k->tile_rows, k->panel, 8},
                                {k->tile_rows + 1, k->panel + 1, 5},
                                {2 * k->tile_rows - 1, 2 * k->panel - 1, 33},
                                {37, 70, 130}};
    for (size_t s = 0; s < TEST_COUNT(sizes); s++)
        for (int form = 0; form < 16; form++) {
            const int64_t rows = sizes[s][0], columns = sizes[s][1], depth = sizes[s][2];
            const int64_t stride = columns + form % 3;
            float *left = numbers_make(rows * depth, 1), *right = numbers_make(depth * columns, 2);
            float *bias = numbers_make(columns, 3), *out = numbers_make(rows * stride, 4);
            float *before = numbers_make(rows * stride, 4);
            float *scratch = malloc((size_t)nn_product_scratch(k, depth, columns) * sizeof(float));
            const nn_product_t product = {
                .out = out,
                .stride = stride,
                .left = form & 1 ? (nn_matrix_t){left, 1, rows} : (nn_matrix_t){left, depth, 1},
                .right =
                    form & 2 ? (nn_matrix_t){right, 1, depth} : (nn_matrix_t){right, columns, 1},
                .rows = rows,
                .columns = columns,
                .depth = depth,
                .bias = form & 4 ? bias : NULL,
                .add = form >> 3,
            };
            test_label("%" PRId64 " x %" PRId64 " x %" PRId64 ", form %d", rows, columns, depth,
                       form);
            assert_non_null(scratch);
            k->product(&product, scratch);
            check_product(&product, before);
            numbers_check(out, rows * stride, "product");
            free(left), free(right), free(bias), free(out), free(before), free(scratch);
        }
}

TEST_MAIN(cmocka_unit_test(products))
