/*
 * gemm/product.h: products of small matrices that lie in the nearest caches, as a chunk of tokens and a
 * state do: nothing is packed, and columns come in whole ones of PRODUCT_WIDTH.
 *
 * Each is a walk over register tiles (tile.h) of TILE_ROWS x PANEL, columns outermost, so that a panel of
 * the right factor stays in the first cache. The last rows go in tiles of four, so that 64 rows
 * are not 72; a module, whose tiles are small, has most of one height. Left factors are read in whole
 * tiles, so they need room for TILE_ROWS - 1 rows more.
 */
#ifndef ATTN_GEMM_PRODUCT_H
#define ATTN_GEMM_PRODUCT_H

#include "gemm/tile.h"

typedef vf product_sums_t[TILE_ROWS][TILE_VECTORS];

enum {
    PRODUCT_WIDTH = VF_LANES, /* panels would pad short rows by more */
    PRODUCT_LAST_ROWS = 4,
    PRODUCT_ONE_HEIGHT = TILE_ROWS == PRODUCT_LAST_ROWS,
    /* A module is downloaded: it has last rows of their own height only where they are often there. */
    PRODUCT_FEW_HEIGHTS = PRODUCT_ONE_HEIGHT || !VF_FETCHES,
    /* More rows than these are one tile, not several of four. */
    PRODUCT_FEW_ROWS =
        TILE_ROWS > 2 * PRODUCT_LAST_ROWS ? TILE_ROWS - PRODUCT_LAST_ROWS : PRODUCT_LAST_ROWS,
};

/**
 * Rows that are worked on next, of up to three arrays: tiles ask for one of each after another, since between one
 * chunk and the next processors forget that they were reading ahead. They need not exist.
 */
typedef struct product_ahead {
    struct {
        uintptr_t at;
        int64_t stride, bytes; /* from row to row, and of a row */
    } arrays[3];
    int64_t rows;
} product_ahead_t;

/* Steps of a tile from one row that is asked for to the next: a processor that is asked for more lines than it can
 * wait for, waits. The larger the tile, the longer a step. */
enum { PRODUCT_FETCH_STEPS = 3072 / (TILE_ROWS * PANEL) };

ATTN_INLINE void product_fetch_(product_ahead_t *ahead) {
    enum { LINE = 64 };
    if (ahead->rows <= 0) return;
    ATTN_UNROLL
    for (int a = 0; a < 3; a++) {
        for (int64_t byte = 0; byte < ahead->arrays[a].bytes; byte += LINE)
            vf_prefetch(ahead->arrays[a].at + (uintptr_t)byte);
        ahead->arrays[a].at += (uintptr_t)ahead->arrays[a].stride;
    }
    ahead->rows--;
}

/* tile(its rows, its vectors, first row, first column, ...) over rows x columns; `rows` may depend on
 * the panel's first column, c. */
#define PRODUCT_ROWS_(tile, one_height, vectors, rows, ...)                                        \
    for (int64_t r = 0; r < (rows);) {                                                             \
        if ((one_height) || r + PRODUCT_FEW_ROWS < (rows)) {                                       \
            tile(TILE_ROWS, vectors, r, c, __VA_ARGS__);                                           \
            r += TILE_ROWS;                                                                        \
        } else {                                                                                   \
            tile(PRODUCT_LAST_ROWS, vectors, r, c, __VA_ARGS__);                                   \
            r += PRODUCT_LAST_ROWS;                                                                \
        }                                                                                          \
    }
#define PRODUCT_TILES_(tile, one_height, rows, columns, ...)                                       \
    int64_t c = 0;                                                                                 \
    for (; c + PANEL <= (columns); c += PANEL) {                                                   \
        PRODUCT_ROWS_(tile, one_height, TILE_VECTORS, rows, __VA_ARGS__)                           \
    }                                                                                              \
    for (; c < (columns); c += VF_LANES) {                                                         \
        PRODUCT_ROWS_(tile, (one_height) || PRODUCT_FEW_HEIGHTS, 1, rows, __VA_ARGS__)             \
    }

ATTN_INLINE void product_zero_(int rows, int vectors, product_sums_t sums) {
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) sums[r][v] = vf_zero();
    }
}

/* sums[r][v] += left[r*row] * right[v] for first <= r */
ATTN_INLINE void product_step_(int first, int rows, int vectors, product_sums_t sums,
                               const float *restrict left, int64_t row,
                               const float *restrict right) {
    vf column[TILE_VECTORS];
    ATTN_UNROLL
    for (int v = 0; v < vectors; v++) column[v] = vf_load(right + v * VF_LANES);
    ATTN_UNROLL
    for (int r = first; r < rows; r++) {
        const vf factor = vf_set1(left[r * row]);
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) sums[r][v] = vf_mul_add(factor, column[v], sums[r][v]);
    }
}

/* sums[r][v] += sum_{k<depth} left[r*row + k*step] * right[k*stride + v]. Pointers move on: in a module, whose
 * addresses have 32 bits, compilers leave k * step a multiplication of 64. */
ATTN_INLINE void product_add_(int rows, int vectors, product_sums_t sums,
                              const float *restrict left, int64_t row, int64_t step,
                              const float *restrict right, int64_t stride, int64_t depth,
                              product_ahead_t *ahead) {
    while (depth > 0) {
        const int64_t steps = VF_FETCHES ? attn_min(depth, PRODUCT_FETCH_STEPS) : depth;
        if (VF_FETCHES) product_fetch_(ahead);
        ATTN_UNROLL_4
        for (int64_t k = 0; k < steps; k++, left += step, right += stride)
            product_step_(0, rows, vectors, sums, left, row, right);
        depth -= steps;
    }
}

/* ---- left * right --------------------------------------------------------------------------------- */

ATTN_INLINE void product_tile_(int tile_rows, int vectors, int64_t r, int64_t c, float *out,
                               int64_t out_stride, const float *left, int64_t left_stride,
                               const float *right, int64_t right_stride, int64_t depth,
                               const float *factors, int64_t rows, product_ahead_t *ahead) {
    product_sums_t sums;
    product_zero_(tile_rows, vectors, sums);
    if (depth > 0) /* else there may be no arrays */
        product_add_(tile_rows, vectors, sums, left + r * left_stride, left_stride, 1, right + c,
                     right_stride, depth, ahead);
    ATTN_UNROLL
    for (int i = 0; i < tile_rows; i++) {
        if (r + i >= rows) break;
        const vf factor = vf_set1(factors ? factors[r + i] : 1.0f);
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            vf_store(out + (r + i) * out_stride + c + v * VF_LANES, vf_mul(factor, sums[i][v]));
    }
}

/**
 * out[r][c] = factors[r] * sum_{k<depth} left[r][k] * right[k][c]; factors may be NULL, all 1. Where `causal`, only as
 * far as r < c + PANEL, c being the first column of a panel.
 */
ATTN_STEP void product(float *restrict out, int64_t out_stride, const float *restrict left,
                       int64_t left_stride, const float *restrict right, int64_t right_stride,
                       int64_t depth, int64_t rows, int64_t columns, const float *factors,
                       int causal, product_ahead_t *ahead) {
    PRODUCT_TILES_(product_tile_, PRODUCT_ONE_HEIGHT, causal ? attn_min(rows, c + PANEL) : rows,
                   columns, out, out_stride, left, left_stride, right, right_stride, depth, factors,
                   rows, ahead);
}

/* ---- left^T * right ------------------------------------------------------------------------------- */

ATTN_INLINE void product_transposed_tile_(int tile_rows, int vectors, int64_t r, int64_t c,
                                          float *out, int64_t out_stride, const float *left,
                                          int64_t left_stride, const float *right,
                                          int64_t right_stride, int64_t depth, int64_t rows,
                                          product_ahead_t *ahead) {
    product_sums_t sums;
    product_zero_(tile_rows, vectors, sums);
    product_add_(tile_rows, vectors, sums, left + r, 1, left_stride, right + c, right_stride, depth,
                 ahead);
    ATTN_UNROLL
    for (int i = 0; i < tile_rows; i++) {
        if (r + i >= rows) break;
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) {
            float *sum = out + (r + i) * out_stride + c + v * VF_LANES;
            vf_store(sum, vf_add(vf_load(sum), sums[i][v]));
        }
    }
}

/** out[r][c] += sum_{k<depth} left[k][r] * right[k][c], where left^T is read in whole tiles. */
ATTN_STEP void product_add_transposed(float *restrict out, int64_t out_stride,
                                      const float *restrict left, int64_t left_stride,
                                      const float *restrict right, int64_t right_stride,
                                      int64_t depth, int64_t rows, int64_t columns,
                                      product_ahead_t *ahead) {
    PRODUCT_TILES_(product_transposed_tile_, PRODUCT_ONE_HEIGHT, rows, columns, out, out_stride,
                   left, left_stride, right, right_stride, depth, rows, ahead)
}

/* ---- a chunk's output ----------------------------------------------------------------------------- */

/* What the rows of a chunk read: the state, and the keys of the chunk. */
typedef struct product_chunk {
    const float *queries; /* [depth][stride]: column r is row r's query */
    const float *scores;  /* [rows][stride]: of key j and row r, read where j <= r; or NULL */
    int64_t stride;
    const float *state;  /* [depth][state_stride] */
    const float *values; /* [rows][values_stride] */
    int64_t state_stride, values_stride;
    int64_t depth, rows;
    const float *factors; /* [rows]: of the rows of the result */
} product_chunk_t;

ATTN_INLINE void product_chunk_tile_(int tile_rows, int vectors, int64_t r, int64_t c, float *out,
                                     int64_t out_stride, const product_chunk_t *chunk,
                                     product_ahead_t *ahead) {
    product_sums_t sums;
    const int64_t stride = chunk->stride;
    product_zero_(tile_rows, vectors, sums);
    if (chunk->depth > 0) /* else there may be no state */
        product_add_(tile_rows, vectors, sums, chunk->queries + r, 1, stride, chunk->state + c,
                     chunk->state_stride, chunk->depth, ahead);
    if (chunk->scores) {
        const float *scores = chunk->scores + r, *values = chunk->values + c;
        product_add_(tile_rows, vectors, sums, scores, 1, stride, values, chunk->values_stride, r,
                     ahead);
        /* At the diagonal a row reads no value that it does not see: 0 times NaN is NaN. */
        ATTN_UNROLL
        for (int j = 0; j < tile_rows; j++) {
            if (r + j >= chunk->rows) break;
            product_step_(j, tile_rows, vectors, sums, scores + (r + j) * stride, 1,
                          values + (r + j) * chunk->values_stride);
        }
    }
    ATTN_UNROLL
    for (int i = 0; i < tile_rows; i++) {
        if (r + i >= chunk->rows) break;
        const vf factor = vf_set1(chunk->factors[r + i]);
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            vf_store(out + (r + i) * out_stride + c + v * VF_LANES, vf_mul(factor, sums[i][v]));
    }
}

/** out[r] = factors[r] * (query_r state + sum_{j<=r} scores[j][r] values[j]) */
ATTN_STEP void product_chunk(float *restrict out, int64_t out_stride, const product_chunk_t *chunk,
                             int64_t columns, product_ahead_t *ahead) {
    PRODUCT_TILES_(product_chunk_tile_, PRODUCT_FEW_HEIGHTS, chunk->rows, columns, out, out_stride,
                   chunk, ahead)
}

#endif
