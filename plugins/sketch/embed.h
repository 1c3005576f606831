/*
 * embed.h: products with a sparse embedding S, its draws and the product together: those of osnap (matrices.h), the same
 * bits on every tier.
 */
#ifndef ATTN_SKETCH_EMBED_H
#define ATTN_SKETCH_EMBED_H

#include "embedding_kernels.h"
#include "x.h"

/** S (size x rows), `sparsity` entries in a column: attn_sketch_sparsity() of what is wanted. */
typedef struct attn_embedding {
    int64_t size, sparsity;
    uint64_t seed;
} attn_embedding_t;

enum { ATTN_EMBED_PART = 256 /* rows that are drawn at a time, where not all are */ };

/** How many entries attn_embed_features() has to have room for: of a dense X all of S. */
int64_t attn_embed_entries(const attn_embedding_t *s, const attn_x_t *x);

/** result (size x columns) = S A for A (rows x columns), row-major; room for ATTN_EMBED_PART times `sparsity` entries. */
void attn_embed_rows(const embedding_kernels_t *kernels, const attn_embedding_t *s, const float *a,
                     int64_t rows, int64_t columns, attn_sketch_entry_t *entries, float *result);

/** Where column i of a matrix of so many rows begins in panels of ATTN_EMBED_ROWS columns: its rows stand as far apart. */
static inline int64_t attn_embed_panel(int64_t rows, int64_t i) {
    return (i / ATTN_EMBED_ROWS * rows) * ATTN_EMBED_ROWS + i % ATTN_EMBED_ROWS;
}

/** result = S X^T (size x n) in panels, the last filled up with zeros. */
void attn_embed_features(const embedding_kernels_t *kernels, const attn_embedding_t *s,
                         const attn_features_t *features, attn_sketch_entry_t *entries,
                         float *result);

#endif
