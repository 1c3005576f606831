/*
 * buckets_step.h: tiles whose rows see the keys of their buckets, round by round: keys that share one in an earlier round
 * are left out. A part of kernels.c, compiled once per tier.
 */
#ifndef ATTN_SPARSE_BUCKETS_STEP_H
#define ATTN_SPARSE_BUCKETS_STEP_H

#include "attention/scores.h"
#include "attention/tile_io.h"
#include "pattern.h"

/* The tiles of a task. */
typedef struct buckets_tiles {
    exact_tile_t *tiles;
    const sparse_buckets_t *buckets;
    int64_t round; /* whose keys they see; behind the last: those of all */
    int64_t own[EXACT_TILES]
               [TILE_ROWS]; /* where in the key list each row's own key is, or is not */
} buckets_tiles_t;

/* The first of list[first .. last) that is at least `least`. */
static int64_t buckets_find_(const int64_t *list, int64_t first, int64_t last, int64_t least) {
    while (first < last) {
        const int64_t middle = (first + last) / 2;
        if (list[middle] < least)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* What a row sees of its bucket, and where it is itself there. */
ATTN_RARE_STEP void buckets_see_(buckets_tiles_t *all, const attn_head_t *head, int64_t t, int r) {
    exact_tile_t *tile = &all->tiles[t];
    const sparse_buckets_t *buckets = all->buckets;
    const attn_problem_t *problem = head->problem;
    const int64_t query = tile->places[r].query, round = all->round;
    const int64_t keys = attn_keys_of(problem, head->io, head->batch);
    const int64_t *list = buckets->key_order + round * buckets->keys;
    const int64_t *starts = buckets->starts + round * (buckets->count + 2) +
                            (int64_t)buckets->query_codes[round * buckets->queries + query];
    int64_t first, last;
    attn_key_range(problem, keys, query, &first, &last);
    tile->first[r] = buckets_find_(list, starts[0], starts[1], first);
    tile->last[r] = buckets_find_(list, tile->first[r], starts[1], last);
    all->own[t][r] = -1;
    if (buckets->own == 0.0f) return;
    const int64_t position = attn_query_position(problem, keys, query);
    const int64_t own = buckets_find_(list, starts[0], starts[1], position);
    if (own < starts[1] && list[own] == position) all->own[t][r] = own;
}

/** Let rows see their buckets of the round. */
ATTN_RARE_STEP void buckets_see(buckets_tiles_t *all, const attn_head_t *head, int64_t count) {
    for (int64_t t = 0; t < count; t++)
        for (int r = 0; r < TILE_ROWS; r++) buckets_see_(all, head, t, r);
}

/** Let them see all keys, to part with those of other buckets. */
ATTN_RARE_STEP void buckets_see_all(buckets_tiles_t *all, const attn_head_t *head, int64_t count) {
    const int64_t keys = attn_keys_of(head->problem, head->io, head->batch);
    exact_see_all(head, all->tiles, count);
    for (int64_t t = 0; t < count; t++)
        for (int r = 0; r < TILE_ROWS; r++)
            all->own[t][r] =
                attn_query_position(head->problem, keys, all->tiles[t].places[r].query);
}

/*
 * Of the keys [base, base + keys) those stay with which a row shares a bucket in no round before the
 * tiles', or, behind the last, in any. `unit`: as for exact_offsets().
 */
ATTN_RARE_STEP void buckets_part_(const buckets_tiles_t *all, exact_tile_t *tile,
                                  const attn_key_rows_t *key_list, int64_t base, int64_t keys,
                                  float unit) {
    const sparse_buckets_t *buckets = all->buckets;
    const int64_t *places = all->own[tile - all->tiles];
    const vf side = vf_set1(all->round < buckets->rounds ? -1.0f : 1.0f);
    float codes[SPARSE_MOST_ROUNDS][EXACT_KEYS];
    for (int64_t round = 0; round < all->round; round++)
        for (int64_t j = 0; j < keys; j++) {
            const int64_t at = attn_min(base + j, key_list->count - 1);
            codes[round][j] =
                buckets
                    ->key_codes[round * buckets->keys + (key_list->map ? key_list->map[at] : at)];
        }
    for (int r = 0; r < tile->rows; r++) {
        float *row = tile->scores + r * EXACT_KEYS;
        const float *code = buckets->query_codes + tile->places[r].query;
        const int64_t own = places[r] - base;
        if (own >= 0 && own < keys) row[own] += buckets->own * unit;
        for (int64_t j = 0; all->round && j < keys; j += VF_LANES) {
            vf near = vf_set1(-1.0f); /* 0 in a bucket of both: codes are whole numbers */
            for (int64_t round = 0; round < all->round; round++) {
                const vf apart =
                    vf_sub(vf_load(codes[round] + j), vf_set1(code[round * buckets->queries]));
                near = vf_max(vf_sub(vf_zero(), vf_mul(apart, apart)), near);
            }
            vf_store(row + j, vf_select_positive(vf_mul(side, vf_add(near, vf_set1(0.5f))),
                                                 vf_load(row + j), vf_set1(-INFINITY)));
        }
    }
}

/* A exact_step_t. */
ATTN_INLINE void buckets_step(const void *data, exact_tile_t *tile, const attn_key_rows_t *key_list,
                              int64_t base, int64_t keys) {
    const buckets_tiles_t *all = data;
    exact_products(tile, key_list, base, keys, (attn_range_t){tile->low, tile->high});
    exact_shape(tile, key_list, base, keys);
    buckets_part_(all, tile, key_list, base, keys, ATTN_LOG4_E);
    exact_softmax(tile, keys);
    exact_add_values(tile, key_list, base, keys,
                     tile->offsets || all->round || all->buckets->own != 0.0f);
}

ATTN_STEP void buckets_attend(const buckets_tiles_t *all, int64_t count,
                              const attn_key_rows_t *key_list) {
    exact_attend_by(buckets_step, all, all->tiles, count, key_list);
}

/* A exact_score_t, of masked logits and weights. */
ATTN_INLINE void buckets_score(const void *data, exact_tile_t *tile,
                               const attn_key_rows_t *key_list, int64_t base, int64_t keys,
                               int32_t stage) {
    if (stage != ATTN_SCORES_WEIGHTS) {
        exact_score(tile, key_list, base, keys, stage);
        buckets_part_(data, tile, key_list, base, keys, 1.0f);
        return;
    }
    exact_shape(tile, key_list, base, keys);
    buckets_part_(data, tile, key_list, base, keys, ATTN_LOG4_E);
    exact_weigh(tile, keys);
}

/** Keep the rows' M, L and O until the next round, and take them up there; `kept`: of all queries of the head. */
ATTN_RARE_STEP void buckets_keep(const exact_tile_t *tile, float *kept) {
    for (int r = 0; r < tile->rows; r++) {
        float *to = kept + tile->places[r].query * (tile->value_dim + 2);
        to[0] = tile->max[r], to[1] = exact_sum(tile, r);
        for (int64_t c = 0; c < tile->value_dim; c++)
            to[2 + c] = tile->out[r * tile->out_stride + c];
    }
}

ATTN_RARE_STEP void buckets_resume(exact_tile_t *tile, const float *kept) {
    for (int r = 0; r < tile->rows; r++) {
        const float *from = kept + tile->places[r].query * (tile->value_dim + 2);
        vf_store(tile->sums[r], vf_zero());
        tile->max[r] = from[0], tile->sums[r][0] = from[1];
        for (int64_t c = 0; c < tile->value_dim; c++)
            tile->out[r * tile->out_stride + c] = from[2 + c];
    }
}

#endif
