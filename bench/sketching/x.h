/*
 * sketching/x.h: X (n rows, d features), which symmetric attention exp(X X^T) is of: dense, or as the three
 * arrays of CSR (compressed sparse rows), never both. What goes over its features takes them a block at a
 * time, so that a dense X is read in pieces of its rows and a sparse one by its elements alone.
 */
#ifndef ATTN_SKETCHING_X_H
#define ATTN_SKETCHING_X_H

#include "attn/types.h"

typedef struct sketching_x {
    int64_t rows, columns;  /**< n, d */
    const float *dense;     /**< n x d; NULL: CSR */
    const int64_t *starts;  /**< n + 1: where each row's elements begin in `indices` and `data` */
    const int32_t *indices; /**< column of each element, ascending in a row, each once */
    const float *data;
} sketching_x_t;

/** More features than this have no number in 31 bits. */
#define SKETCHING_MOST_COLUMNS INT64_C(2147483648)

/** Zeros, and one element more, so that NULL is want of memory alone. */
void *sketching_allocate(int64_t rows, int64_t columns, size_t size);

/** ATTN_ERROR_MEMORY, and X's sizes. */
attn_status_t sketching_no_memory(const sketching_x_t *x, attn_error_t *error);

/** Elements that are stored: n d, or those of CSR. */
int64_t sketching_stored(const sketching_x_t *x);

/**
 * Whether X is one: sizes of 1 or more, starts[0] = 0, starts that do not fall and end at `stored`, the
 * length of `indices` and `data`, indices that ascend and are below d, finite elements. Nothing is read
 * through an index before it has been checked.
 */
attn_status_t sketching_check(const sketching_x_t *x, int64_t stored, attn_error_t *error);

/** The same of CSR whose columns are in `places`, of 64 bits, and not in x->indices. */
attn_status_t sketching_check_places(const sketching_x_t *x, const int64_t *places, int64_t stored,
                                     attn_error_t *error);

/** |x_i|^2: what X X^T has on its diagonal. */
double sketching_square(const sketching_x_t *x, int64_t row);

/** r: the largest entry of |X X^T|, which as of any semidefinite matrix is on its diagonal. */
double sketching_largest(const sketching_x_t *x);

/** Some features, and the rows in which they have elements. */
typedef struct sketching_block {
    int64_t first, width; /**< features [first, first + width) */
    int64_t count;        /**< rows */
    const int32_t *rows;  /**< their numbers, ascending */
    const float *values;  /**< value of row r, feature f: values[r stride + f] */
    int64_t stride;
} sketching_block_t;

/** X by its features. Of CSR it has a copy, column by column; memory for elements and d. */
typedef struct sketching_features {
    const sketching_x_t *x;
    int64_t *starts; /* CSR: d + 1 */
    int32_t *rows;   /* CSR: of each element; dense: 0 to n - 1 */
    float *values;   /* CSR */
} sketching_features_t;

/** 0 when there is no memory. */
int sketching_features_create(const sketching_x_t *x, sketching_features_t *features);

void sketching_features_destroy(sketching_features_t *features);

enum { SKETCHING_WIDTH = 32 }; /**< the most features of a block */

/** The block that begins with this feature; the next begins with first + width, up to d. */
sketching_block_t sketching_block(const sketching_features_t *features, int64_t first);

#endif
