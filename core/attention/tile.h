/*
 * attention/tile.h: a tile of queries on its way through its keys: what a task has of each.
 */
#ifndef ATTN_ATTENTION_TILE_H
#define ATTN_ATTENTION_TILE_H

#include "attention/pattern.h"
#include "gemm/tile.h"

enum {
    EXACT_KEYS = 256 / PANEL * PANEL,                              /* logits a row at a time */
    EXACT_ROWS = (TILE_ROWS + VF_LANES - 1) / VF_LANES * VF_LANES, /* whole vectors of rows */
};

/* Score modifiers of a row: what changes its logits beside scale and range. Strides in elements. */
typedef struct exact_mods {
    float softcap;     /* base 4; 0: none */
    float slope;       /* ALiBi; 0: none */
    const float *bias; /* the row's; NULL: none */
    const uint8_t *mask;
    int64_t bias_key, mask_key;
    int64_t position; /* the row's key position */
    int has_offsets;  /* whether there is a bias, a mask or a slope */
} exact_mods_t;

/* Inputs that are added to logits. */
#define EXACT_OFFSETS (ATTN_INPUT_BIAS | ATTN_INPUT_MASK | ATTN_INPUT_SLOPES)

/* Queries and weights as products of bf16 take them (bf16_products.h). */
typedef struct exact_bf16 {
    const uint16_t *query; /* [parts][TILE_ROWS][query_stride] */
    int64_t query_stride;
    float factor; /* of the products, which are logits then */
    /* Parts that may not be zero: one of what is in bf16 anyway. */
    int query_parts, key_parts, value_parts;
    uint16_t *weights; /* [parts][TILE_ROWS][EXACT_KEYS], scratch */
} exact_bf16_t;

/* Up to TILE_ROWS queries on their way, of any heads that read the same keys. Rows from `rows` on are not there: they
 * repeat the last. */
typedef struct exact_tile {
    int64_t rows, dim, value_dim;
    attn_place_t places[TILE_ROWS]; /* which queries they are */
    exact_mods_t mods[TILE_ROWS];   /* where there are offsets */
    float softcap;                  /* of all, base 4; 0: none */
    uint32_t offsets;               /* of EXACT_OFFSETS those that there are */
    const float *query;             /* packed [dim][TILE_ROWS], times scale * log4(e) */
    exact_bf16_t bf16;              /* where products are of bf16 */
    float *out;         /* [TILE_ROWS][out_stride]; NULL when only the normaliser is wanted */
    int64_t out_stride; /* at least value_dim rounded up to VF_LANES */
    float *scores;      /* [TILE_ROWS][EXACT_KEYS], scratch */
    int64_t first[TILE_ROWS], last[TILE_ROWS]; /* positions in the key list that each row sees */
    int64_t low, high;               /* positions that any row sees, from the first to the last */
    float max[EXACT_ROWS];           /* M; -FLT_MAX before anything was seen */
    float sums[TILE_ROWS][VF_LANES]; /* L, still to be added up over the lanes */
} exact_tile_t;

#endif
