/*
 * attention/backward_state.h: what the way back through a block of logits works in (backward_block.h).
 */
#ifndef ATTN_ATTENTION_BACKWARD_STATE_H
#define ATTN_ATTENTION_BACKWARD_STATE_H

#include "attention/tile_io.h"

/* Whole tiles of rows and whole panels, of every tier's shape. */
enum { BACKWARD_ROWS = 192, BACKWARD_KEYS = 192, BACKWARD_TILES = BACKWARD_ROWS / TILE_ROWS };
_Static_assert(BACKWARD_ROWS % TILE_ROWS == 0, "a block is whole tiles");
_Static_assert(BACKWARD_KEYS % PANEL == 0 && BACKWARD_KEYS % TILE_ROWS == 0,
               "a block is whole panels, and whole tiles where keys are rows");
_Static_assert(BACKWARD_KEYS <= (int)EXACT_KEYS, "a tile has room for a block's logits");

/* Rows as products of bf16 take them (backward_bf16.h). */
typedef struct backward_bf16 {
    exact_scratch_t query, out; /* how Q and K, and dO and V, are packed */
    uint16_t *weights, *logits; /* P and dS: [tiles][parts][TILE_ROWS][EXACT_KEYS] */
    uint16_t *turned; /* [parts][BACKWARD_KEYS][BACKWARD_ROWS]: of one of them at a time */
    int32_t *query_columns, *out_columns; /* [panels of columns][parts][BACKWARD_ROWS / 2][PANEL] */
} backward_bf16_t;

/* A head's keys and values, and the sums that their gradients come to. Rows are padded to whole vectors. */
typedef struct backward_keys {
    attn_key_rows_t key;          /* its `values` are the keys themselves: what dS multiplies */
    attn_key_rows_t value;        /* panels alone */
    float *key_sums, *value_sums; /* [keys]: sum_i dS_ij Q_i, sum_i P_ij dO_i */
    uint8_t *ready;               /* of each panel of keys: whether all that is there */
    int64_t dim, value_dim;       /* floats a row */
} backward_keys_t;

/* Up to BACKWARD_ROWS queries of a head. */
typedef struct backward_block {
    int64_t rows, dim, value_dim;     /* as in the problem */
    int64_t query_stride, out_stride; /* floats a row */
    int finite;                       /* all numbers of all rows */
    exact_tile_t tiles[BACKWARD_TILES];
    /* Weights are 4^(S - shift) * factor: shift is lse in base 4 and factor 1, or the maximum M and 1 / L. */
    float shift[BACKWARD_ROWS], factor[BACKWARD_ROWS];
    float dots[BACKWARD_ROWS];        /* D */
    float *query, *out_gradient;      /* rows */
    float *query_panels, *out_panels; /* packed as tiles read them, queries times scale * log4(e) */
    float *query_sums;                /* rows: sum_j dS_ij K_j */
    float *weights, *logits, *factors; /* P, dS and, with softcap, 1 - tanh^2: [rows][EXACT_KEYS] */
    float *panel_rows;                 /* values of a panel, before they are packed */
    backward_bf16_t bf16;              /* where products are of bf16 */
} backward_block_t;

/* Where keys' sums are added. */
typedef struct backward_sums_to {
    float *key, *value;
    int64_t dim, value_dim; /* floats a row */
} backward_sums_to_t;

/* A row of a tensor as f32, padded with zeros. */
static void backward_read_row(float *to, int64_t stride, const attn_tensor_t *tensor, int64_t batch,
                              int64_t head, int64_t row) {
    const int64_t columns = tensor->shape[3];
    convert_row(to, exact_at(tensor, attn_offset(tensor, batch, head, row)), tensor->dtype,
                tensor->stride[3], columns, 1.0f);
    for (int64_t c = columns; c < stride; c++) to[c] = 0.0f;
}

#endif
