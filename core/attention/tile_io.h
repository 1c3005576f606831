/*
 * attention/tile_io.h: a task's way from tensors to the tiles of online_softmax.h and back.
 */
#ifndef ATTN_ATTENTION_TILE_IO_H
#define ATTN_ATTENTION_TILE_IO_H

#include "attention/online_softmax.h"
#include "attention/pack.h"

ATTN_RARE_STEP exact_scratch_t exact_lay_out(const attn_problem_t *problem, attn_arena_t *arena) {
    const int64_t rows = EXACT_TILES * TILE_ROWS;
    exact_scratch_t scratch = {.out_stride = attn_round_up(problem->value_dim, VF_LANES)};
    scratch.tiles = attn_arena_take(arena, EXACT_TILES, sizeof(exact_tile_t));
    scratch.out = attn_arena_take(arena, scratch.out_stride, (uint64_t)rows * sizeof(float));
    scratch.scores = attn_arena_take(arena, TILE_ROWS * EXACT_KEYS, sizeof(float));
    exact_lay_out_operands(&scratch, problem, EXACT_TILES, arena);
    return scratch;
}

/* In base 4; 0: none. A cap that is denormal is the least normal number: logits are 0 under both, but for 2^-126, and
 * no cap is 0 where processors take denormals for zero. */
ATTN_INLINE float exact_softcap_of(const attn_problem_t *problem) {
    if (!attn_has_softcap(problem)) return 0.0f;
    const float cap = problem->softcap * ATTN_LOG4_E;
    return cap > FLT_MIN ? cap : FLT_MIN;
}

/* What changes the logits of a query. */
ATTN_SHARED_RARE_STEP exact_mods_t exact_mods_of(const attn_head_t *head, attn_place_t at) {
    const attn_problem_t *problem = head->problem;
    const attn_io_t *io = head->io;
    const attn_tensor_t *bias = &io->bias, *mask = &io->mask;
    exact_mods_t mods = {
        .softcap = exact_softcap_of(problem),
        .position = attn_query_position(problem, attn_keys_of(problem, io, at.batch), at.query),
        .has_offsets = (problem->inputs & EXACT_OFFSETS) != 0,
    };
    if (problem->inputs & ATTN_INPUT_SLOPES)
        mods.slope = ((const float *)io->slopes.data)[at.head * io->slopes.stride[1]];
    if (problem->inputs & ATTN_INPUT_BIAS) {
        mods.bias =
            (const float *)bias->data + attn_broadcast_offset(bias, at.batch, at.head, at.query);
        mods.bias_key = bias->stride[3];
    }
    if (problem->inputs & ATTN_INPUT_MASK) {
        mods.mask =
            (const uint8_t *)mask->data + attn_broadcast_offset(mask, at.batch, at.head, at.query);
        mods.mask_key = mask->stride[3];
    }
    return mods;
}

/* The sink of a query head, base 4; -inf without one. */
ATTN_INLINE float exact_sink_of(const attn_head_t *head, int64_t query_head) {
    const attn_tensor_t *sinks = &head->io->sinks;
    if (!(head->problem->inputs & ATTN_INPUT_SINKS)) return -INFINITY;
    return ((const float *)sinks->data)[query_head * sinks->stride[1]] * ATTN_LOG4_E;
}

/** Set what a tile, whose rows are known, has of the problem, and what changes its rows' logits. */
ATTN_INLINE void exact_set_rules(exact_tile_t *tile, const attn_head_t *head) {
    const attn_problem_t *problem = head->problem;
    tile->dim = problem->dim;
    tile->value_dim = problem->value_dim;
    tile->softcap = exact_softcap_of(problem);
    tile->offsets = problem->inputs & EXACT_OFFSETS;
    for (int64_t r = 0; tile->offsets && r < TILE_ROWS; r++)
        tile->mods[r] = exact_mods_of(head, tile->places[r]);
}

/** The tile's rows are these from number `done` on. */
ATTN_RARE_STEP void exact_set_queries(exact_tile_t *tile, const attn_head_t *head,
                                      const attn_queries_t *queries, int64_t done) {
    tile->rows = attn_min(TILE_ROWS, attn_row_count(queries) - done);
    for (int64_t r = 0; r < TILE_ROWS; r++)
        tile->places[r] = attn_place_of(head, queries, done + attn_min(r, tile->rows - 1));
    exact_set_rules(tile, head);
}

/** Set up tile number `t`, whose queries are set: they are packed, and see nothing yet. Without output it only finds its
 * normaliser. */
ATTN_RARE_STEP void exact_prepare_tile(const attn_head_t *head, const exact_scratch_t *scratch,
                                       int64_t t, int follow, int with_output) {
    exact_tile_t *tile = &scratch->tiles[t];
    tile->out = with_output ? scratch->out + t * TILE_ROWS * scratch->out_stride : NULL;
    tile->out_stride = scratch->out_stride;
    tile->scores = scratch->scores;
    for (int r = 0; r < TILE_ROWS; r++) tile->first[r] = tile->last[r] = 0;
    exact_begin(tile);
    for (int r = 0; r < TILE_ROWS; r++)
        exact_sink(tile, r, exact_sink_of(head, tile->places[r].head));
    exact_pack_queries(head, scratch, t, follow);
}

/** How many tiles some queries are. */
ATTN_INLINE int64_t exact_tile_count(const attn_queries_t *queries) {
    return (attn_row_count(queries) + TILE_ROWS - 1) / TILE_ROWS;
}

/** Set up tiles with these queries; returns how many. */
ATTN_RARE_STEP int64_t exact_prepare(const attn_head_t *head, const attn_queries_t *queries,
                                     const exact_scratch_t *scratch, int with_output) {
    const int64_t tiles = exact_tile_count(queries);
    exact_fetch_queries(head, queries);
    for (int64_t t = 0; t < tiles; t++) {
        exact_tile_t *tile = &scratch->tiles[t];
        exact_set_queries(tile, head, queries, t * TILE_ROWS);
        exact_prepare_tile(head, scratch, t, exact_follow(head, tile), with_output);
    }
    return tiles;
}

/** Let each row of the tiles see the range of keys that the problem's rules leave it. */
ATTN_RARE_STEP void exact_see_all(const attn_head_t *head, exact_tile_t *tiles, int64_t count) {
    const attn_problem_t *problem = head->problem;
    for (exact_tile_t *tile = tiles; tile < tiles + count; tile++)
        for (int r = 0; r < TILE_ROWS; r++)
            attn_key_range(problem, attn_keys_of(problem, head->io, tile->places[r].batch),
                           tile->places[r].query, &tile->first[r], &tile->last[r]);
}

/** Write a row from its O, M and L: the output O / L, zeros where it saw no key, and its lse where that is wanted. */
ATTN_RARE_STEP void exact_write(const attn_head_t *head, attn_place_t at, const float *values,
                                float max, float sum) {
    const attn_tensor_t *out = &head->io->out, *lse = &head->io->lse;
    const int64_t to = attn_offset(out, at.batch, at.head, at.query);
    convert_back((char *)out->data + to * attn_dtype_size(out->dtype), out->dtype, out->stride[3],
                 values, head->problem->value_dim, exact_normaliser(sum));
    if (lse->data) *attn_row(lse, at.batch, at.head, at.query) = exact_lse(max, sum);
}

/** Write the tiles' output, and lse where it is wanted. */
ATTN_RARE_STEP void exact_finish(const attn_head_t *head, const exact_tile_t *tiles,
                                 int64_t count) {
    for (const exact_tile_t *tile = tiles; tile < tiles + count; tile++)
        for (int r = 0; r < tile->rows; r++)
            exact_write(head, tile->places[r], tile->out + r * tile->out_stride, tile->max[r],
                        exact_sum(tile, r));
}

#endif
