/*
 * simd/select.h: of the logits that pass by a row, the `top` largest, of equal ones the first.
 *
 * What is above the row's bound becomes a candidate. Where there is no room for more, the largest stay and
 * the bound rises to the least of them: of keys in random order few are ever candidates, top (1 + log(m / top)).
 */
#ifndef ATTN_SIMD_SELECT_H
#define ATTN_SIMD_SELECT_H

#include "attn/support.h"
#include "simd/half.h"
#include "simd/tile.h"

enum {
    SELECT_ROOM = 128 /* candidates beside the kept ones, at least, so that bounds rise seldom */
};

typedef struct select_row {
    float *logits; /* candidates in the order of keys; NaN is as large as infinity */
    int64_t *keys;
    int64_t count, most, top;
    float bound;
} select_row_t;

/* Room for the candidates of some rows. */
typedef struct select_space {
    select_row_t *rows; /* NULL: rows do not choose */
    float *logits;      /* [rows][room] */
    int64_t *keys;
    int64_t room, top;
} select_space_t;

/** For `count` rows that keep `top` of `keys`; 0: they do not choose. */
ATTN_SMALL_STEP select_space_t select_lay_out(int64_t keys, int64_t top, int64_t count,
                                              attn_arena_t *arena) {
    select_space_t space = {.top = top};
    if (ATTN_SMALL || !top) return space;
    const int64_t most = tile_min(keys, top + tile_max(top, SELECT_ROOM));
    space.room = tile_round_up(most, VF_LANES) + VF_LANES; /* a vector may be half candidates */
    space.rows = attn_arena_take(arena, count, sizeof(select_row_t));
    space.logits = attn_arena_take(arena, count, (uint64_t)space.room * sizeof(float));
    space.keys = attn_arena_take(arena, count, (uint64_t)space.room * sizeof(int64_t));
    return space;
}

/** Rows from number `first` on, TILE_ROWS of them, which have no candidates yet. */
ATTN_SMALL_STEP select_row_t *select_begin(const select_space_t *space, int64_t first) {
    if (ATTN_SMALL || !space->rows) return NULL;
    for (int64_t r = first; r < first + TILE_ROWS; r++)
        space->rows[r] = (select_row_t){.logits = space->logits + r * space->room,
                                        .keys = space->keys + r * space->room,
                                        .most = space->room - VF_LANES,
                                        .top = space->top,
                                        .bound = -INFINITY};
    return space->rows + first;
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
    vf count = vf_zero();
    for (int64_t i = 0; i < row->count; i += VF_LANES)
        count = vf_add(count, vf_select_positive(vf_sub(vf_load(row->logits + i), vf_set1(bound)),
                                                 vf_set1(1.0f), vf_zero()));
    return (int64_t)vf_reduce_add(count);
}

/* Leave the candidates above `low`, of those that are not above the bound the first `equal`. */
ATTN_SMALL_STEP void select_leave(select_row_t *row, float low, int64_t equal) {
    const float bound = row->bound;
    int64_t kept = 0;
    for (int64_t i = 0; i < row->count; i += VF_LANES)
        for (uint32_t left = vf_greater(vf_load(row->logits + i), vf_set1(low)); left;
             left &= left - 1) {
            const int64_t at = i + __builtin_ctz(left);
            const float logit = row->logits[at];
            if (logit <= bound && equal-- <= 0) continue;
            row->logits[kept] = logit, row->keys[kept] = row->keys[at];
            kept++;
        }
    row->count = kept;
}

/** Keep the `top` largest. Bisects between a bound that more are above and one that fewer are: either meets
 * one that has `top` above it, or ends at the last that is kept, which equal ones share. */
ATTN_SMALL_STEP void select_narrow(select_row_t *row) {
    int64_t low = select_rank(row->bound), high = select_rank(INFINITY), above = 0;
    if (row->count <= row->top) return;
    low -= row->bound > -INFINITY; /* which kept ones may equal */
    for (int64_t i = row->count; i % VF_LANES; i++) row->logits[i] = -INFINITY;
    while (high - low > 1 && above < row->top) {
        const int64_t middle = low + (high - low) / 2;
        const int64_t count = select_above(row, select_of_rank(middle));
        if (count > row->top)
            low = middle;
        else
            high = middle, above = count;
    }
    row->bound = select_of_rank(high);
    select_leave(row, select_of_rank(above < row->top ? low : high), row->top - above);
}

/** Offer a row the logits of the keys [base, base + keys), whole vectors; -inf is never kept. */
ATTN_SMALL_STEP void select_offer(select_row_t *row, const float *logits, int64_t base,
                                  int64_t keys) {
    vf bound = vf_set1(row->bound);
    for (int64_t j = 0; j < keys; j += VF_LANES) {
        const vf some = vf_min(vf_load(logits + j), vf_set1(INFINITY));
        uint32_t above = vf_greater(some, bound);
        if (!above) continue;
        if (row->count > row->most) {
            select_narrow(row);
            bound = vf_set1(row->bound);
            above = vf_greater(some, bound);
        }
        for (; above; above &= above - 1) {
            const int64_t at = j + __builtin_ctz(above), to = row->count++;
            row->logits[to] = logits[at] < INFINITY ? logits[at] : INFINITY;
            row->keys[to] = base + at;
        }
    }
}

/** Elsewhere than at the kept keys a row's scores are `value`. */
ATTN_SMALL_STEP void select_drop(const select_row_t *row, float *scores, int64_t keys,
                                 float value) {
    for (int64_t i = 0, j = 0; i <= row->count; i++, j++)
        for (const int64_t end = i < row->count ? row->keys[i] : keys; j < end; j++)
            scores[j] = value;
}

#endif
