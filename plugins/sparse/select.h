/*
 * select.h: of the logits that pass by a row, the `top` largest, of equal ones the first.
 *
 * What is above the row's bound becomes a candidate. Where there are many, the largest stay, some more than `top`, and
 * the bound rises to below them: of keys in random order few are ever candidates, top (1 + log(m / top)).
 */
#ifndef ATTN_SPARSE_SELECT_H
#define ATTN_SPARSE_SELECT_H

#include "attn/support.h"
#include "gemm/tile.h"
#include "simd/half.h"

enum {
    SELECT_OFFER = 256, /* keys that a row is offered at once, at most */
    SELECT_ROOM = 128,  /* candidates beside the kept ones, at least, so that bounds rise seldom */
    SELECT_STEP = 1 << 20, /* from a bound to the next: an eighth of it, or less */
};

typedef struct select_row {
    float *logits; /* candidates in the order of keys; NaN is as large as infinity */
    int32_t *keys;
    int64_t count, most, top;
    float bound;
} select_row_t;

/* Room for the candidates of some rows. */
typedef struct select_space {
    select_row_t *rows;
    float *logits; /* [rows][room] */
    int32_t *keys;
    int64_t room, most, top;
} select_space_t;

/** For `count` rows that keep `top` of `keys`. */
ATTN_RARE_STEP select_space_t select_lay_out(int64_t keys, int64_t top, int64_t count,
                                             attn_arena_t *arena) {
    select_space_t space = {.top = top};
    space.most = attn_min(keys, top + attn_max(top, SELECT_ROOM));
    /* Of a vector of candidates all lanes are written. */
    space.room = attn_round_up(space.most, VF_LANES) + SELECT_OFFER + VF_LANES;
    space.rows = attn_arena_take(arena, count, sizeof(select_row_t));
    space.logits = attn_arena_take(arena, count, (uint64_t)space.room * sizeof(float));
    space.keys = attn_arena_take(arena, count, (uint64_t)space.room * sizeof(int32_t));
    return space;
}

/** The first `count` rows have no candidates yet. */
ATTN_RARE_STEP void select_begin(const select_space_t *space, int64_t count) {
    for (int64_t r = 0; r < count; r++)
        space->rows[r] = (select_row_t){.logits = space->logits + r * space->room,
                                        .keys = space->keys + r * space->room,
                                        .most = space->most,
                                        .top = space->top,
                                        .bound = -INFINITY};
}

/* Floats as whole numbers in the same order, and back. */
ATTN_INLINE int64_t select_rank(float x) {
    const int64_t size = float_to_bits(x) & INT32_MAX;
    return x < 0.0f ? -size : size;
}

ATTN_INLINE float select_of_rank(int64_t rank) {
    return rank < 0 ? -bits_to_float((uint32_t)-rank) : bits_to_float((uint32_t)rank);
}

/* How many candidates are above a bound; behind the last are -inf. */
ATTN_INLINE int64_t select_above(const select_row_t *row, float bound) {
    int64_t count = 0;
    for (int64_t i = 0; i < row->count; i += VF_LANES)
        count += __builtin_popcount(vf_greater(vf_load(row->logits + i), vf_set1(bound)));
    return count;
}

/* Of the logits of some keys, whole vectors, those above a bound become candidates. */
ATTN_RARE_STEP void select_take(select_row_t *row, const float *logits, const int32_t *keys,
                                int64_t count, float bound) {
    int64_t taken = row->count;
    for (int64_t j = 0; j < count; j += VF_LANES) {
        const vf some = vf_min(vf_load(logits + j), vf_set1(INFINITY));
        const uint32_t above = vf_greater(some, vf_set1(bound));
        vf_pack(row->logits + taken, some, row->keys + taken, keys + j, above);
        taken += __builtin_popcount(above);
    }
    row->count = taken;
}

/* Of the candidates that are not above the bound only the first `equal` stay. */
ATTN_RARE_STEP void select_part(select_row_t *row, int64_t equal) {
    int64_t kept = 0;
    for (int64_t i = 0; i < row->count; i++) {
        if (row->logits[i] <= row->bound && equal-- <= 0) continue;
        row->logits[kept] = row->logits[i], row->keys[kept++] = row->keys[i];
    }
    row->count = kept;
}

/** Keep the largest: `top` of them, or some more, but not more than `most`. Searches between a bound that more are above and
 * one that fewer are: either meets one that is right, or ends at the last that is kept, which equal ones share. */
ATTN_RARE_STEP void select_narrow(select_row_t *row, int64_t most) {
    if (row->count <= most) return;
    vf_store(row->logits + row->count, vf_set1(-INFINITY));
    int64_t low = select_rank(row->bound), high = select_rank(INFINITY), above = 0;
    int64_t step = high - low;
    if (row->bound > -INFINITY) low--, step = SELECT_STEP; /* kept ones may equal it */
    for (; high - low > 1 && above < row->top; step *= 2) {
        step = attn_min(step, (high - low) / 2);
        const int64_t middle = low + step, count = select_above(row, select_of_rank(middle));
        if (count > most)
            low = middle;
        else
            high = middle, above = count;
    }
    const int64_t candidates = row->count;
    row->bound = select_of_rank(high);
    row->count = 0;
    select_take(row, row->logits, row->keys, candidates,
                select_of_rank(above < row->top ? low : high));
    if (above < row->top) select_part(row, row->top - above);
}

/** Offer a row the logits of the keys [base, base + keys), whole vectors; -inf is never kept. */
ATTN_RARE_STEP void select_offer(select_row_t *row, const float *logits, int64_t base,
                                 int64_t keys) {
    if (row->count > row->most) select_narrow(row, row->top + SELECT_ROOM / 4);
    int32_t *offered = row->keys + row->count;
    for (int64_t j = 0; j < keys; j++) offered[j] = (int32_t)(base + j);
    select_take(row, logits, offered, keys, row->bound);
}

/** Elsewhere than at the kept keys a row's scores are `value`. */
ATTN_RARE_STEP void select_drop(const select_row_t *row, float *scores, int64_t keys, float value) {
    for (int64_t i = 0, j = 0; i <= row->count; i++, j++)
        for (const int64_t end = i < row->count ? row->keys[i] : keys; j < end; j++)
            scores[j] = value;
}

#endif
