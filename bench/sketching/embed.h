/*
 * sketching/embed.h: products with a sparse embedding S, its draws and the product together: those of osnap in
 * plugins/sketch, the same bits on every tier.
 */
#ifndef ATTN_SKETCHING_EMBED_H
#define ATTN_SKETCHING_EMBED_H

#include "sketching/kernels.h"
#include "sketching/x.h"

/** Kernels of the machine's best tier, or of that which the environment's ATTN_CPU names: all give the same bits. */
const sketching_kernels_t *sketching_kernels(void);

/** S (size x rows), `sparsity` entries in a column: attn_sketch_sparsity() of what is wanted. */
typedef struct sketching_embedding {
    int64_t size, sparsity;
    uint64_t seed;
} sketching_embedding_t;

/** result (size x columns) = S A for A (rows x columns), row-major. 0 when there is no memory. */
int sketching_embed_rows(const sketching_embedding_t *s, const float *a, int64_t rows,
                         int64_t columns, float *result);

/** Where column i of a matrix of so many rows begins in panels of SKETCHING_ROWS columns: its rows stand as far apart. */
static inline int64_t sketching_panel(int64_t rows, int64_t i) {
    return (i / SKETCHING_ROWS * rows) * SKETCHING_ROWS + i % SKETCHING_ROWS;
}

/**
 * result = S X^T (size x n) in panels, the last filled up with zeros. 0 when there is no memory; for a dense X it is for
 * as many entries as S has.
 */
int sketching_embed_features(const sketching_embedding_t *s, const sketching_features_t *features,
                             float *result);

#endif
