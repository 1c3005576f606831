/*
 * labs/matrix.h: matrices of floats, which embeddings and weights of the constructions are.
 */
#ifndef ATTN_LABS_MATRIX_H
#define ATTN_LABS_MATRIX_H

#include <stdint.h>

/** Row-major floats that a single free() gives back. */
typedef struct matrix {
    int64_t rows, columns;
    float *data; /**< NULL: there was no memory */
} matrix_t;

/** Zeros. */
matrix_t matrix_create(int64_t rows, int64_t columns);

void matrix_destroy(matrix_t *matrix);

static inline float *matrix_at(const matrix_t *matrix, int64_t row, int64_t column) {
    return matrix->data + row * matrix->columns + column;
}

/** max |a| */
double matrix_norm(const matrix_t *a);

/** max |a - b|; both have the same shape. NaN where one has a NaN. */
double matrix_distance(const matrix_t *a, const matrix_t *b);

#endif
