/*
 * x.h: X (n rows, d features), dense or as the three arrays of CSR (compressed sparse rows), never both. What goes over
 * its features takes them a block at a time, so that a dense X is read in pieces of its rows and a sparse one by its
 * elements alone.
 */
#ifndef ATTN_SKETCH_X_H
#define ATTN_SKETCH_X_H

#include "ieee/ieee.h"

#include <stdint.h>

typedef struct attn_x {
    int64_t rows, columns;  /**< n, d */
    const float *dense;     /**< n x d; NULL: CSR */
    const int64_t *starts;  /**< n + 1: where each row's elements begin in `indices` and `data` */
    const int32_t *indices; /**< column of each element, ascending in a row, each once */
    const float *data;
} attn_x_t;

/** |x_i|^2: what X X^T has on its diagonal. */
static inline double attn_x_square(const attn_x_t *x, int64_t i) {
    enum { LANES = 8 };
    const float *row = x->dense ? x->dense + i * x->columns : x->data + x->starts[i];
    const int64_t count = x->dense ? x->columns : x->starts[i + 1] - x->starts[i];
    double squares[LANES] = {0}, square = 0;
    int64_t k = 0;
    for (; k + LANES <= count; k += LANES)
        for (int l = 0; l < LANES; l++) squares[l] += (double)row[k + l] * (double)row[k + l];
    for (; k < count; k++) square += (double)row[k] * (double)row[k];
    for (int l = 0; l < LANES; l++) square += squares[l];
    return square;
}

/** X by its features. */
typedef struct attn_features {
    const attn_x_t *x;
    int64_t *starts; /**< CSR: d + 1, of each feature's elements */
    int32_t *rows;   /**< CSR: of each element; dense: 0 to n - 1 */
    float *values;   /**< CSR */
} attn_features_t;

enum { ATTN_BLOCK_WIDTH = 32 /* the most features of a block */ };

/** Some features, and the rows in which they have elements. */
typedef struct attn_block {
    int64_t first, width; /**< features [first, first + width) */
    int64_t count;        /**< rows */
    const int32_t *rows;  /**< their numbers, ascending */
    const float *values;  /**< value of row r, feature f: values[r stride + f] */
    int64_t stride;
} attn_block_t;

/** The block that begins with this feature; the next begins with first + width, up to d. */
static inline attn_block_t attn_block(const attn_features_t *features, int64_t first) {
    const attn_x_t *x = features->x;
    const int64_t left = x->columns - first;
    if (x->dense)
        return (attn_block_t){.first = first,
                              .width = left < ATTN_BLOCK_WIDTH ? left : ATTN_BLOCK_WIDTH,
                              .count = x->rows,
                              .rows = features->rows,
                              .values = x->dense + first,
                              .stride = x->columns};
    const int64_t start = features->starts[first];
    return (attn_block_t){.first = first,
                          .width = 1,
                          .count = features->starts[first + 1] - start,
                          .rows = features->rows + start,
                          .values = features->values + start,
                          .stride = 1};
}

#endif
