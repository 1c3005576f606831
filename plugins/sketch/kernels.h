/* kernels.h: rows times a sketching matrix, as tables of kernels, one per tier. */
#ifndef ATTN_SKETCH_KERNELS_H
#define ATTN_SKETCH_KERNELS_H

#include "attn/support.h"
#include "leverage.h"
#include "matrices.h"
#include "simd/tiers.h"

/* A task's rows: what every tier's tiles and panels divide, so that only the last task has tails. */
enum { SKETCH_ROWS = 96 };

/* Consecutive rows of one head, and where their sketches go. */
typedef struct sketch_rows {
    const float *source;
    int64_t row_stride, column_stride;
    int64_t count, dim, size;
    float *out; /* [count][size] */
    void *scratch;
} sketch_rows_t;

/* The elements of one row of a CSR. */
typedef struct sketch_elements {
    int64_t count, size;
    const int64_t *features;
    const float *values;
    float *out; /* [size] */
} sketch_elements_t;

/* The result for a row does not depend on the rows it comes with. */
typedef struct sketch_kernels {
    const char *name;
    /* Bytes of sketch_rows_t.scratch; of both of Hadamard for the order in place of `dim`. */
    void (*scratch)(int64_t dim, int64_t size, attn_arena_t *arena);
    /* out = rows * matrix, of dim x size: 2 dim size operations a row. */
    void (*dense)(const sketch_rows_t *rows, const float *matrix);
    /* The same for a matrix of `sparsity` entries a row: 2 dim sparsity operations a row. */
    void (*sparse)(const sketch_rows_t *rows, const attn_sketch_entry_t *entries, int64_t sparsity);
    /* The same for D H P: 2 order log2(order) operations a row, the order being that of H. */
    void (*hadamard)(const sketch_rows_t *rows, const attn_sketch_srht_t *srht);
    /* The way back, from `dim` columns to `size` features: rows (D H P)^T. */
    void (*hadamard_back)(const sketch_rows_t *rows, const attn_sketch_srht_t *srht);
    /* The same for `size` columns weight * e_feature. */
    void (*sample)(const sketch_rows_t *rows, const attn_sketch_draw_t *draws);
    /* A row of a CSR times the matrix of dense(): 2 size operations an element. */
    void (*elements)(const sketch_elements_t *row, const float *matrix);
} sketch_kernels_t;

ATTN_KERNEL_TABLES(sketch_kernels_t, attn_sketch_kernels)

#endif
