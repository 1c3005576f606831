/*
 * matrices.h: the data-oblivious sketching matrices T (dim x size), drawn when a plan is made.
 *
 * Every T has E[T T^T] = I, so that <T^T q, T^T k> is an unbiased estimate of <q, k>. Definitions
 * 2.4 to 2.6 of Deng, Mahadevan, Song (arXiv:2304.04397), transposed: a feature is a row of T.
 * Draws come from attn/random.h under the plan's seed; stream = attn_sketch_stream().
 */
#ifndef ATTN_SKETCH_MATRICES_H
#define ATTN_SKETCH_MATRICES_H

#include "ieee/ieee.h"

#include <stdint.h>

/** The order is that of the parameter `method`'s choices. */
enum attn_sketch_method {
    ATTN_SKETCH_GAUSSIAN = 0,
    ATTN_SKETCH_AMS = 1,
    ATTN_SKETCH_OSNAP = 2,
    ATTN_SKETCH_LEVERAGE = 3,
    ATTN_SKETCH_SRHT = 4,
    ATTN_SKETCH_DETERMINISTIC = 5, /**< choose.h */
    ATTN_SKETCH_APPROXIMATE = 6,   /**< the same */
};

/** The random stream of a method; leverage sampling has one for each (batch, kv head). */
static inline uint64_t attn_sketch_stream(enum attn_sketch_method method, int64_t head) {
    return (uint64_t)method << 56 | (uint64_t)head;
}

/** Rows [first, first + count) of T, which are features, of `size` columns: what is drawn at a time. */
typedef struct attn_sketch_part {
    int64_t first, count, size;
    uint64_t seed;
} attn_sketch_part_t;

/**
 * Entry (j, t), at matrix[(j - first)*size + t], is normal with variance 1/size: draw number j*size + t.
 */
void attn_sketch_gaussian(float *matrix, const attn_sketch_part_t *part);

/**
 * Entry (j, t) is +-1/sqrt(size), by the lowest bit of a polynomial of degree 3 in j over the
 * integers modulo 2^61 - 1. Draws 4t to 4t + 3 are column t's coefficients: the signs of a column
 * are 4-wise independent, the columns independent of each other.
 */
void attn_sketch_ams(float *matrix, const attn_sketch_part_t *part);

/** Entries in a row of the sparse embedding: min(size, `asked`), 4 where 0 are asked for. */
int64_t attn_sketch_sparsity(int64_t size, int64_t asked);

enum { ATTN_SKETCH_MOST_SPARSITY = 64 };

/** One entry of a sparse embedding. */
typedef struct attn_sketch_entry {
    int32_t column;
    float weight;
} attn_sketch_entry_t;

/**
 * Row j has `sparsity` entries +-1/sqrt(sparsity), at entries[(j - first)*sparsity ...], in distinct columns
 * chosen uniformly. Entry e = j sparsity + i has its place and, by the last bit, its sign from word e modulo 4 of
 * draw e / 4.
 */
void attn_sketch_osnap(attn_sketch_entry_t *entries, const attn_sketch_part_t *part,
                       int64_t sparsity);

/**
 * Whether an X of so many elements has entries drawn as each element asks for them, and no table of all: one by one takes
 * so many times as long.
 */
static inline int attn_sketch_draws_each(int64_t elements, int64_t features) {
    enum { ONE_BY_ONE = 8 };
    return elements < features / ONE_BY_ONE;
}

/** T = I as one: entry j is 1, in column j. */
void attn_sketch_identity(attn_sketch_entry_t *entries, int64_t dim);

/**
 * T = D H P / sqrt(size), the subsampled randomized Hadamard transform (Ailon and Chazelle, 2006; Tropp, 2011): D
 * random signs, draw j for feature j; H the Hadamard matrix of `attn_sketch_order(dim)`, +-1; P columns
 * of it, drawn without replacement. Entry (j, t) = weight[j] * (-1)^(ones in j & columns[t]).
 */
typedef struct attn_sketch_srht {
    int32_t *columns; /**< room for attn_sketch_order(dim); the first `size` are P */
    float *weights;   /**< dim: +-1/sqrt(size) */
} attn_sketch_srht_t;

/** Whether the entry of D H P in this row has the other sign than D: by the ones that both numbers have in common. */
static inline int attn_sketch_is_turned(int64_t feature, int32_t column) {
    return __builtin_parity((uint32_t)feature & (uint32_t)column);
}

/** The least power of two that is not below dim. */
int64_t attn_sketch_order(int64_t dim);

void attn_sketch_srht(const attn_sketch_srht_t *srht, int64_t dim, int64_t size, uint64_t seed);

#endif
