/*
 * embed.h: products with a sparse embedding S, its draws and the product together: those of osnap (matrices.h), the same
 * bits on every tier.
 */
#ifndef ATTN_SKETCH_EMBED_H
#define ATTN_SKETCH_EMBED_H

#include "embedding_kernels.h"
#include "x.h"

/**
 * S (size x rows), `sparsity` entries in a column: attn_sketch_sparsity() of what is wanted. Row j of what it is for has the draws of
 * feature first + j, which are independent of other features' draws with as many entries.
 */
typedef struct attn_embedding {
    int64_t size, sparsity;
    uint64_t seed;
    int64_t first;
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

/** S and S X^T (size x n) in panels, the last filled up with zeros; room for attn_embed_entries(). */
typedef struct attn_embedded {
    attn_embedding_t s;
    attn_sketch_entry_t *entries;
    float *panels;
} attn_embedded_t;

/** S X^T for each of `count` S; a dense X is read once for all of them. */
void attn_embed_features(const embedding_kernels_t *kernels, const attn_features_t *features,
                         const attn_embedded_t *all, int count);

#endif
