/*
 * attention/backward_bf16.h: the five products of the way back (backward_block.h), of numbers as sums of EXACT_PARTS bf16
 * numbers (bf16_products.h).
 *
 * Two are those of the way forward: logits are Q K^T, as the run had them, and dP is dO V^T, where dO are the queries and V
 * the keys; dQ = dS K is a sum of values, where K are the values. dV = P^T dO and dK = dS^T Q sum over queries: there keys
 * are rows, so that the words of a block's P and dS are transposed, and dO and Q are the columns.
 */
#ifndef ATTN_ATTENTION_BACKWARD_BF16_H
#define ATTN_ATTENTION_BACKWARD_BF16_H

#include "attention/backward_state.h"

enum {
    BACKWARD_WIDTH = PANEL,             /* rows are padded to so many floats */
    BACKWARD_WORDS = BACKWARD_ROWS / 2, /* of a key in P and dS */
    BACKWARD_TURN = 2 * VF_LANES,       /* rows that are transposed at a time */
};
_Static_assert(BACKWARD_ROWS % BACKWARD_TURN == 0, "a block is whole vectors of words");
_Static_assert(TILE_ROWS % (2 * BF16_STEP) == 0, "a tile is whole steps");

/* ---- operands -------------------------------------------------------------------------------------- */

/* A head as one of the ways forward has it. */
typedef struct backward_role {
    attn_problem_t problem;
    attn_io_t io;
    attn_head_t head;
} backward_role_t;

ATTN_INLINE attn_problem_t backward_sizes_(const attn_problem_t *problem, int64_t dim,
                                           int64_t value_dim) {
    attn_problem_t sizes = *problem;
    sizes.dim = dim;
    sizes.value_dim = value_dim;
    return sizes;
}

/* Q, K, and K as values; */
ATTN_RARE_STEP void backward_query_role_(backward_role_t *role, const attn_head_t *head) {
    const int64_t dim = head->problem->dim;
    *role = (backward_role_t){backward_sizes_(head->problem, dim, dim), *head->io, *head};
    role->io.value = role->io.key;
    role->head.problem = &role->problem;
    role->head.io = &role->io;
}

/* dO, V, and nothing. */
ATTN_RARE_STEP void backward_out_role_(backward_role_t *role, const attn_head_t *head,
                                       const attn_tensor_t *out_gradient) {
    *role = (backward_role_t){backward_sizes_(head->problem, head->problem->value_dim, 0),
                              *head->io, *head};
    if (out_gradient) role->io.query = *out_gradient;
    role->io.key = role->io.value;
    role->io.value = (attn_tensor_t){.data = NULL};
    role->head.problem = &role->problem;
    role->head.io = &role->io;
}

ATTN_INLINE void backward_lay_out_rows(backward_block_t *block, const attn_problem_t *problem,
                                       attn_arena_t *arena) {
    const int64_t dim = problem->dim, value_dim = problem->value_dim;
    const attn_problem_t query = backward_sizes_(problem, dim, dim);
    const attn_problem_t out = backward_sizes_(problem, value_dim, 0);
    const uint64_t words = EXACT_PARTS * BACKWARD_WORDS * sizeof(int32_t);
    backward_bf16_t *bf16 = &block->bf16;
    exact_lay_out_operands(&bf16->query, &query, BACKWARD_TILES, arena);
    exact_lay_out_operands(&bf16->out, &out, BACKWARD_TILES, arena);
    bf16->out.tiles = attn_arena_take(arena, BACKWARD_TILES, sizeof *bf16->out.tiles);
    bf16->weights =
        attn_arena_take(arena, EXACT_PARTS * BACKWARD_ROWS, EXACT_KEYS * sizeof(uint16_t));
    bf16->logits =
        attn_arena_take(arena, EXACT_PARTS * BACKWARD_ROWS, EXACT_KEYS * sizeof(uint16_t));
    bf16->turned =
        attn_arena_take(arena, EXACT_PARTS * BACKWARD_KEYS, BACKWARD_ROWS * sizeof(uint16_t));
    bf16->query_columns = attn_arena_take(arena, attn_round_up(dim, PANEL), words);
    bf16->out_columns = attn_arena_take(arena, attn_round_up(value_dim, PANEL), words);
}

/* `keys` are whole panels. */
ATTN_INLINE void backward_lay_out_keys(backward_keys_t *sides, const attn_problem_t *problem,
                                       int64_t keys, int64_t stride, attn_arena_t *arena) {
    (void)stride;
    sides->key.panels =
        attn_arena_take(arena, keys / PANEL, bf16_panel_bytes(problem->dim, problem->dim));
    sides->value.panels =
        attn_arena_take(arena, keys / PANEL, bf16_panel_bytes(problem->value_dim, 0));
}

/* Keys and values from number `first` on, of one panel. */
ATTN_RARE_STEP void backward_pack_panel(const backward_block_t *block, const attn_head_t *head,
                                        const backward_keys_t *sides, int64_t first) {
    backward_role_t role;
    backward_query_role_(&role, head);
    exact_pack(&role.head, &sides->key, first / PANEL, &block->bf16.query);
    backward_out_role_(&role, head, NULL);
    exact_pack(&role.head, &sides->value, first / PANEL, &block->bf16.out);
}

/* Rows as columns, and zeros behind them. */
ATTN_RARE_STEP void backward_pack_columns_(const float *rows, int64_t stride, int64_t count,
                                           int64_t columns, int32_t *to) {
    for (int64_t c = 0; c < columns; c += PANEL, to += EXACT_PARTS * BACKWARD_WORDS * PANEL)
        bf16_pack(EXACT_PARTS, rows + c, stride, count, BACKWARD_WORDS, to);
}

/* Rows of Q and dO that stand in the block. */
ATTN_RARE_STEP void backward_pack_rows(backward_block_t *block, const attn_head_t *head,
                                       const attn_tensor_t *out_gradient) {
    backward_role_t query, out;
    const backward_bf16_t *bf16 = &block->bf16;
    exact_scratch_t tiles = bf16->query;
    backward_query_role_(&query, head);
    backward_out_role_(&out, head, out_gradient);
    tiles.tiles = block->tiles;
    for (int64_t t = 0; t * TILE_ROWS < block->rows; t++) {
        exact_tile_t *tile = &block->tiles[t], *other = &bf16->out.tiles[t];
        other->rows = tile->rows;
        other->dim = block->value_dim;
        other->value_dim = 0;
        memcpy(other->places, tile->places, sizeof other->places);
        tile->value_dim = block->dim;
        exact_pack_rows(&query.head, &tiles, t, head->scale * ATTN_LOG4_E);
        exact_pack_rows(&out.head, &bf16->out, t, 1.0f);
    }
    backward_pack_columns_(block->query, block->query_stride, block->rows, block->dim,
                           bf16->query_columns);
    backward_pack_columns_(block->out_gradient, block->out_stride, block->rows, block->value_dim,
                           bf16->out_columns);
}

/* ---- dP and dQ ------------------------------------------------------------------------------------- */

/* dP of tile t for the keys [first, first + width), whole panels, behind so many columns. */
ATTN_INLINE void backward_out_products(backward_block_t *block, int64_t t,
                                       const backward_keys_t *sides, int64_t first, int64_t width,
                                       int64_t column) {
    const exact_tile_t *tile = &block->tiles[t];
    exact_tile_t *out = &block->bf16.out.tiles[t];
    out->scores = block->logits + t * TILE_ROWS * EXACT_KEYS + column;
    exact_products(out, &sides->value, first, width, (attn_range_t){tile->low, tile->high});
}

/* The words of a tile's rows, in any of whose columns but [column, column + width) and rows but these are zeros. */
ATTN_INLINE void backward_split_(const float *rows, int64_t count, int64_t column, int64_t width,
                                 int64_t keys, uint16_t *to) {
    const int64_t part = TILE_ROWS * EXACT_KEYS;
    for (int64_t r = 0; r < TILE_ROWS; r++, rows += EXACT_KEYS, to += EXACT_KEYS) {
        const int64_t first = r < count ? column : keys, last = r < count ? column + width : keys;
        for (int p = 0; p < EXACT_PARTS; p++) {
            for (int64_t j = 0; j < first; j++) to[p * part + j] = 0;
            for (int64_t j = last; j < keys; j++) to[p * part + j] = 0;
        }
        bf16_split_row(EXACT_PARTS, rows + first, last - first, to + first, part);
    }
}

/* What P and dS of a tile have become, for the products to come; all columns but [column, column + width) are zero. */
ATTN_INLINE void backward_keep(backward_block_t *block, int64_t t, int64_t column, int64_t width,
                               int64_t keys) {
    const int64_t at = t * TILE_ROWS * EXACT_KEYS, rows = block->tiles[t].rows;
    backward_split_(block->weights + at, rows, column, width, keys,
                    block->bf16.weights + EXACT_PARTS * at);
    backward_split_(block->logits + at, rows, column, width, keys,
                    block->bf16.logits + EXACT_PARTS * at);
}

/* dQ of tile t: dS times the keys [first, first + seen). */
ATTN_INLINE void backward_add_keys(backward_block_t *block, int64_t t, const backward_keys_t *sides,
                                   int64_t first, int64_t visible, int64_t column) {
    exact_tile_t *tile = &block->tiles[t];
    const int64_t at = t * TILE_ROWS * EXACT_KEYS;
    tile->out = block->query_sums + t * TILE_ROWS * block->query_stride;
    tile->out_stride = block->query_stride;
    tile->scores = block->logits + at + column;
    tile->bf16.weights = block->bf16.logits + EXACT_PARTS * at + column;
    exact_add_split_values(tile, &sides->key, first, attn_round_up(visible, PANEL),
                           tile->offsets != 0);
}

/* ---- dK and dV ------------------------------------------------------------------------------------- */

/* Row `row` of the words of P or dS. */
ATTN_INLINE const uint16_t *backward_words_(const uint16_t *words, int p, int64_t row) {
    const int64_t t = row / TILE_ROWS;
    return words + ((t * EXACT_PARTS + p) * TILE_ROWS + row % TILE_ROWS) * EXACT_KEYS;
}

/* Rows [first, first + BACKWARD_TURN) of VF_LANES keys. */
ATTN_INLINE void backward_turn_(const uint16_t *words, int p, int64_t first, int64_t key,
                                uint16_t *to) {
    int32_t pairs[VF_LANES][VF_LANES];
    int32_t turned[4 * VF_LANES];
    ATTN_UNROLL_4
    for (int i = 0; i < VF_LANES; i++)
        vi_store(pairs[i],
                 vi_pair_bf16(vf_load_bf16(backward_words_(words, p, first + 2 * i) + key),
                              vf_load_bf16(backward_words_(words, p, first + 2 * i + 1) + key)));
    for (int j = 0; j < VF_LANES; j += 4) {
        words_transpose((const char *)&pairs[0][j], sizeof pairs[0], turned, VF_LANES);
        for (int k = 0; k < 4; k++)
            memcpy(to + (key + j + k) * BACKWARD_ROWS + first, turned + k * VF_LANES,
                   VF_LANES * sizeof *turned);
    }
}

/* sums += the words of so many rows, transposed, times columns; of `height` keys, `vectors` vectors and the first `count` of
 * these keys. */
ATTN_INLINE void backward_add_tile_(int height, int vectors, const uint16_t *turned,
                                    const int32_t *columns, int64_t words, int parts, int64_t count,
                                    float *sums, int64_t stride) {
    const bf16_rows_t left = {turned, BACKWARD_ROWS, BACKWARD_KEYS * BACKWARD_ROWS};
    bf16_sums_t products;
    bf16_zero(height, vectors, &products);
    BF16_EACH_PRODUCT(EXACT_PARTS, p, q)
    if (EXACT_PARTS == 1 || q < parts)
        bf16_add(height, vectors, words, left, p, (bf16_panel_t){columns, BACKWARD_WORDS * PANEL},
                 q, &products);
    bf16_end(&products);
    ATTN_UNROLL
    for (int r = 0; r < height; r++) {
        if (r >= count) break;
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) {
            float *sum = sums + r * stride + v * VF_LANES;
            vf_store(sum, vf_add(vf_load(sum), bf16_sum(&products, r, v)));
        }
    }
}

/* A panel of columns, or one vector of it. */
ATTN_INLINE void backward_add_panel_(int vectors, const uint16_t *turned, const int32_t *columns,
                                     int parts, const attn_range_t *visible, int64_t keys,
                                     float *sums, int64_t stride) {
    for (int64_t j = 0; j < keys; j += TILE_ROWS) {
        const int64_t first = visible[j / TILE_ROWS].first;
        const int64_t words = (attn_round_up(visible[j / TILE_ROWS].last, TILE_ROWS) - first) / 2;
        const int64_t count = attn_min(TILE_ROWS, keys - j);
        const uint16_t *left = turned + j * BACKWARD_ROWS + first;
        const int32_t *right = columns + first / 2 * PANEL;
        if (words <= 0) continue;
        if ((int)TILE_ROWS > (int)BF16_FEW_ROWS && count <= BF16_FEW_ROWS)
            backward_add_tile_(BF16_FEW_ROWS, vectors, left, right, words, parts, count,
                               sums + j * stride, stride);
        else
            backward_add_tile_(TILE_ROWS, vectors, left, right, words, parts, count,
                               sums + j * stride, stride);
    }
}

/* The keys' sums of weighted rows, where `visible` are the rows of each tile of keys, and `parts` those of columns. */
ATTN_STEP void backward_add_rows_(const backward_block_t *block, const uint16_t *words,
                                  const int32_t *columns, int parts, const attn_range_t *visible,
                                  int64_t keys, float *sums, int64_t stride) {
    const int64_t rows = attn_round_up(block->rows, TILE_ROWS);
    uint16_t *turned = block->bf16.turned;
    for (int p = 0; p < EXACT_PARTS; p++)
        for (int64_t first = 0; first < rows; first += BACKWARD_TURN)
            for (int64_t j = 0; j < keys; j += VF_LANES)
                backward_turn_(words, p, first, j, turned + p * BACKWARD_KEYS * BACKWARD_ROWS);
    int64_t c = 0;
    for (; c + PANEL <= stride; c += PANEL)
        backward_add_panel_(TILE_VECTORS, turned, columns + c * EXACT_PARTS * BACKWARD_WORDS, parts,
                            visible, keys, sums + c, stride);
    for (; c < stride; c += VF_LANES)
        backward_add_panel_(1, turned,
                            columns + attn_round_down(c, PANEL) * EXACT_PARTS * BACKWARD_WORDS +
                                c % PANEL,
                            parts, visible, keys, sums + c, stride);
}

/* dV and dK of `keys` keys, of a block whose numbers are finite. */
ATTN_INLINE void backward_add_rows(const backward_block_t *block, const backward_sums_to_t *to,
                                   const attn_range_t *visible, int64_t keys) {
    backward_add_rows_(block, block->bf16.weights, block->bf16.out_columns,
                       block->bf16.out.tiles[0].bf16.query_parts, visible, keys, to->value,
                       to->value_dim);
    backward_add_rows_(block, block->bf16.logits, block->bf16.query_columns,
                       block->tiles[0].bf16.query_parts, visible, keys, to->key, to->dim);
}

#endif
