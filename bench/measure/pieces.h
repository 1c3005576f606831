/*
 * measure/pieces.h: what all kernels share (core/gemm/tile.h, simd/math.h, attention/decode_products.h), each piece alone and
 * on data in the nearest cache, so that a slow run can be told from a slow piece.
 */
#ifndef ATTN_MEASURE_PIECES_H
#define ATTN_MEASURE_PIECES_H

#include "simd/tiers.h"

#include <stdint.h>

/* A multiple of every tier's panel; with PIECES_DIM floats a key 24 kB. */
enum { PIECES_KEYS = 96, PIECES_DIM = 64, PIECES_MOST_ROWS = 16 };

/* What the pieces work on. */
typedef struct pieces_arrays {
    int64_t keys_count, dim; /* what the constants above say, but nothing a compiler could use */
    float query[PIECES_MOST_ROWS * PIECES_DIM], rescale[PIECES_MOST_ROWS];
    float keys[PIECES_KEYS * PIECES_DIM], panels[PIECES_KEYS * PIECES_DIM];
    float values[PIECES_KEYS * PIECES_DIM];
    float scores[PIECES_MOST_ROWS * PIECES_KEYS], out[PIECES_MOST_ROWS * PIECES_DIM];
    float part[PIECES_DIM];
} pieces_arrays_t;

typedef struct piece {
    const char *name;
    int64_t rows; /* of queries */
    double flops; /* a call; 0: none */
    double bytes; /* of keys or values, read and written */
    void (*run)(pieces_arrays_t *arrays);
} piece_t;

enum { PIECES_COUNT = 7 };

typedef struct pieces_kernels {
    const char *tile;
    piece_t pieces[PIECES_COUNT];
} pieces_kernels_t;

ATTN_KERNEL_TABLES(pieces_kernels_t, pieces_kernels)

#endif
