/*
 * triangle.h: R of a tall matrix of float, by Cholesky's factor of its Gram matrix, and whether another embedding of the same
 * X agrees with it (ways.h).
 */
#ifndef ATTN_SKETCH_TRIANGLE_H
#define ATTN_SKETCH_TRIANGLE_H

#include "attn/support.h"
#include "embedding_kernels.h"

/** embedding_kernels_t.gram, or the same in double. */
typedef void attn_gram_t(const float *a, const float *b, int64_t count, double *tile);

/** R of A D = Q R for a tall A of n columns; a column that depends on those before it has a row of zeros. */
typedef struct attn_triangle {
    int64_t n, rank;
    double *matrix;    /**< n x n: R, on the diagonal and above it */
    double *scale;     /**< n: D, powers of 2 that make columns of A alike */
    attn_gram_t *gram; /**< what its Gram matrix was made by */
    void *memory;      /**< for who made the room for it */
} attn_triangle_t;

void attn_triangle_take(attn_arena_t *arena, int64_t n, attn_triangle_t *triangle);

/**
 * By Cholesky's factor of the Gram matrix of A (size x n), which stands in panels (embed.h) and is multiplied by D; `inverse` is
 * room for n x n numbers.
 * ATTN_ERROR_RANGE where float is too coarse for A: columns that are nearer than 2^-10 to a combination of others, relative
 * to their length, and none, or as long as 2^100, or as short as 2^-100.
 */
attn_status_t attn_triangle_of(const embedding_kernels_t *kernels, float *panels, int64_t size,
                               double *inverse, attn_triangle_t *triangle);

/**
 * Whether, for A (size x n) in panels, which are multiplied by D, eigenvalues of R^-T D A^T A D R^-1 are between 1 / within and
 * `within`, and whether columns that R takes for sums of others are; `gram` and `square` are room for n x n numbers.
 */
int attn_triangle_agrees(const embedding_kernels_t *kernels, const attn_triangle_t *triangle,
                         float *panels, int64_t size, double within, double *gram, double *square);

/**
 * R^-1 B in the place of B (n x columns), from the last row of R to the first; 0 for a column that is others'. B may be an upper
 * triangle.
 */
void attn_triangle_solve(const double *r, int64_t n, int is_triangle, int64_t columns, double *b);

#endif
