/*
 * embedding_kernels.h: what Algorithm 2 spends its time on, as tables of kernels, one per tier. Without fused
 * operations, and each sum in the order of its terms: every tier gives the same bits, so that the same seed
 * draws the same features on every machine.
 */
#ifndef ATTN_SKETCH_EMBEDDING_KERNELS_H
#define ATTN_SKETCH_EMBEDDING_KERNELS_H

#include "ieee/ieee.h"

#include "matrices.h"
#include "simd/tiers.h"

#include <stdint.h>

/** Rows of X that go into their buckets together: a line of the cache, and whole vectors of any tier. */
enum { ATTN_EMBED_ROWS = 16 };

/** Buckets of a feature in Algorithm 2's embeddings. */
enum { ATTN_EMBED_PLACES = 4 };

typedef struct embedding_kernels {
    /** attn_sketch_osnap(), many features at a time. */
    void (*draw)(attn_sketch_entry_t *entries, const attn_sketch_part_t *part, int64_t sparsity);
    /**
     * embedded[column columns + c] += weight * rows[j columns + c] for c < `columns` and the entries of each row j
     * of `count`, `sparsity` of them: S A for rows of A.
     */
    void (*embed)(const float *rows, int64_t count, int64_t columns,
                  const attn_sketch_entry_t *entries, int64_t sparsity, float *embedded);
    /** panel[f ATTN_EMBED_ROWS + r] = values[r stride + f], 0 from `rows` on. */
    void (*turn)(const float *values, int64_t stride, int64_t width, int64_t rows, float *panel);
    /** tile[r C + c] += sum_t a[t C + r] b[t C + c] for t < `count` and C = ATTN_EMBED_ROWS, in float. */
    void (*gram)(const float *a, const float *b, int64_t count, double *tile);
    /** row[c] -= sum_k above[k stride] above[k stride + c] for k < `terms` and c < `columns`: a step of Cholesky's. */
    void (*eliminate)(double *row, const double *above, int64_t stride, int64_t terms,
                      int64_t columns);
    /**
     * squares[f] = sum_c (sum_r values[r stride + f] N_rc)^2 for `width` features; N, of a multiple of
     * ATTN_EMBED_COLUMNS = C columns, lies C columns after C: N_rc = matrix[(c / C rows + r) C + c % C]. `last[c]` is the
     * last r for which there is a term that is not 0; `copy` has room for ATTN_EMBED_COPIED numbers of each row.
     */
    void (*squares)(const float *values, int64_t stride, int64_t width, const float *matrix,
                    int64_t rows, const int32_t *last, int64_t columns, float *copy,
                    double *squares);
} embedding_kernels_t;

enum { ATTN_EMBED_COLUMNS = 8 /* whose sums are made together */ };
enum { ATTN_EMBED_COPIED = 128 /* features: some blocks of any tier */ };

ATTN_KERNEL_TABLES(embedding_kernels_t, attn_embedding_kernels)

#endif
