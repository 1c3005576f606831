/*
 * attention/online_softmax.h: tiles of queries walk over their keys with the online softmax.
 *
 * For each row the sums L = sum 4^(S - M) and O = sum 4^(S - M) v are kept, where M is at most
 * EXACT_RESCALE_THRESHOLD below the largest logit so far. Rescaling is lazy: M moves only when it must,
 * and then L and O are multiplied by the rescale factor 4^(M_old - M_new). Only a block of EXACT_KEYS logits exists at a time. (Milakov and
 * Gimelshein, "Online normalizer calculation for softmax", 2018; Dao et al., "FlashAttention",
 * 2022.) Logits are in base 4: queries carry scale * log4(e), and whatever is finite in base e is so
 * in base 4, which base 2 could not say.
 *
 * Products start from 0, never from M, which may lie anywhere (a sink, a block of low logits): the
 * low bits of a logit that counts would be lost in it, while S - M, taken at the end, loses only
 * bits of logits that are far from M.
 *
 * Keys come in key spans (key_spans.h): packed panels, their values, and for each row the range of
 * them that it sees. Dense attention is one span; a sparse pattern is several, some of which have
 * a map of positions.
 */
#ifndef ATTN_ATTENTION_ONLINE_SOFTMAX_H
#define ATTN_ATTENTION_ONLINE_SOFTMAX_H

#include "attention/products.h"
#include "simd/math.h"

/* In powers of four: weights stay below 2^8, and their sums far below what a float holds. */
#define EXACT_RESCALE_THRESHOLD 4.0f

ATTN_STEP void exact_begin(exact_tile_t *tile) {
    for (int r = 0; r < EXACT_ROWS; r++) tile->max[r] = -FLT_MAX;
    for (int r = 0; r < TILE_ROWS; r++) vf_store(tile->sums[r], vf_zero());
    float *out = tile->out;
    const int64_t size = out ? TILE_ROWS * tile->out_stride : 0;
    for (int64_t i = 0; i < size; i += VF_LANES) vf_store(out + i, vf_zero());
}

/** An attention sink: a logit (base 4) that takes part in the sum of a row and has no value. */
ATTN_INLINE void exact_sink(exact_tile_t *tile, int64_t r, float logit) {
    if (logit == -INFINITY) return;
    const float weight = 1.0f + 0.0f * logit; /* 4^(logit - logit): NaN where that is infinite */
    tile->max[r] = logit;
    tile->sums[r][0] = weight;
}

/** L of a row. */
ATTN_INLINE float exact_sum(const exact_tile_t *tile, int64_t r) {
    return vf_reduce_add(vf_load(tile->sums[r]));
}

/* ---- logits, stage by stage ---------------------------------------------------------------------- */

/* Far below the cap a logit is what it was, to the last bit: cap tanh(x / cap) = x (1 - (x / cap)^2 / 3 ...). There
 * x / cap may be denormal, and 0 where processors take that for zero; 1 / cap could be so, too, or infinite. */
ATTN_INLINE void exact_softcap_row(float *row, int64_t keys, float softcap) {
    const vf cap = vf_set1(softcap);
    for (int64_t j = 0; j < keys; j += VF_LANES) {
        const vf logit = vf_load(row + j), share = vf_div(logit, cap);
        const vf below = vf_sub(vf_set1(0x1p-13f), vf_max(vf_sub(vf_zero(), share), share));
        vf_store(row + j, vf_select_positive(below, logit, vf_mul(cap, vf_tanh(share))));
    }
}

ATTN_RARE_STEP void exact_softcap(exact_tile_t *tile, int64_t keys) {
    for (int r = 0; r < tile->rows; r++)
        exact_softcap_row(tile->scores + r * EXACT_KEYS, keys, tile->softcap);
}

/* What is added to row r's logits for the keys [base, base + keys): bias, mask and ALiBi, times
 * `unit`: log4(e), or 1 for natural logits. `map` is the key list's. */
ATTN_INLINE void exact_offsets(const exact_tile_t *tile, int r, const int64_t *map, int64_t base,
                               int64_t keys, float unit, float *offsets) {
    const exact_mods_t *mods = &tile->mods[r];
    const float *bias = mods->bias;
    const uint8_t *mask = tile->offsets & ATTN_INPUT_MASK ? mods->mask : NULL;
    const float slope = mods->slope * unit;
    for (int64_t j = 0; j < keys; j++) {
        const int64_t key = map ? map[base + j] : base + j;
        offsets[j] = bias ? bias[key * mods->bias_key] * unit : 0.0f;
        if (mask && !mask[key * mods->mask_key]) offsets[j] = -INFINITY;
    }
    for (int64_t j = 0; slope != 0.0f && j < keys; j++) {
        const int64_t key = map ? map[base + j] : base + j;
        offsets[j] -= slope * fabsf((float)(mods->position - key));
    }
}

/* An offset of -inf masks: also a logit that is NaN. */
ATTN_RARE_STEP void exact_add_offsets(exact_tile_t *tile, const attn_key_rows_t *key_list,
                                      int64_t base, int64_t keys, float unit) {
    float offsets[EXACT_KEYS] = {0};
    for (int r = 0; r < tile->rows; r++) {
        float *row = tile->scores + r * EXACT_KEYS;
        const int64_t visible = attn_min(keys, tile->last[r] - base);
        if (ATTN_SMALL || !key_list->map) /* known while compiling: keys follow each other */
            exact_offsets(tile, r, NULL, base, visible, unit, offsets);
        else
            exact_offsets(tile, r, key_list->map, base, visible, unit, offsets);
        for (int64_t j = 0; j < visible; j += VF_LANES) {
            const vf offset = vf_load(offsets + j), below = vf_sub(vf_set1(-FLT_MAX), offset);
            vf_store(row + j, vf_select_positive(below, offset, vf_add(vf_load(row + j), offset)));
        }
    }
}

/* -inf where a row does not look. */
ATTN_STEP void exact_mask_ranges(exact_tile_t *tile, int64_t base, int64_t keys) {
    const vf nothing = vf_set1(-INFINITY);
    for (int r = 0; r < tile->rows; r++) {
        float *row = tile->scores + r * EXACT_KEYS;
        int64_t first = tile->first[r] - base, last = tile->last[r] - base;
        if (first <= 0 && last >= keys) continue;
        for (int64_t j = 0; j < keys; j += VF_LANES)
            vf_store(row + j, vf_keep(vf_load(row + j), first - j, last - j, nothing));
    }
}

/* The stages after the product. */
ATTN_INLINE void exact_shape(exact_tile_t *tile, const attn_key_rows_t *key_list, int64_t base,
                             int64_t keys) {
    if (tile->softcap != 0.0f) exact_softcap(tile, keys);
    if (tile->offsets) exact_add_offsets(tile, key_list, base, keys, ATTN_LOG4_E);
    exact_mask_ranges(tile, base, keys);
}

/* The largest of a row's logits, lane by lane. */
ATTN_INLINE vf exact_row_max(const float *row, int64_t keys) {
    vf largest = vf_load(row);
    for (int64_t j = VF_LANES; j < keys; j += VF_LANES) largest = vf_max(largest, vf_load(row + j));
    return largest;
}

/* That of all rows side by side: one loop, whose maxima do not wait for each other. Rows that are not there have any. */
ATTN_INLINE void exact_maxima(const exact_tile_t *tile, int64_t keys, vf *largest) {
    ATTN_UNROLL
    for (int r = 0; r < TILE_ROWS; r++) largest[r] = vf_set1(-INFINITY);
    for (int64_t j = 0; j < keys; j += VF_LANES) {
        ATTN_UNROLL
        for (int r = 0; r < TILE_ROWS; r++)
            largest[r] = vf_max(largest[r], vf_load(tile->scores + r * EXACT_KEYS + j));
    }
}

/* Whether a logit of any row is more than EXACT_RESCALE_THRESHOLD above the row's M. A row's NaN is
 * its own. */
ATTN_INLINE int exact_outgrown(const exact_tile_t *tile, const vf *largest) {
    vf above = vf_set1(-INFINITY);
    for (int r = 0; r < tile->rows; r++)
        above = vf_max(vf_sub(largest[r], vf_set1(tile->max[r])), above);
    return vf_any_greater(above, vf_set1(EXACT_RESCALE_THRESHOLD));
}

/* Move M to the row's largest logit where it must, whatever other rows do: a row's result does not
 * depend on its neighbours. What the old sums of row r are worth then is rescale[r] times as much: of rows whose M
 * stays as much as before, and nothing where nothing has been summed, as in a row's first block. */
ATTN_RARE_STEP void exact_rescale(exact_tile_t *tile, const vf *largest) {
    float rescale[EXACT_ROWS];
    for (int r = 0; r < EXACT_ROWS; r++) rescale[r] = tile->max[r];
    for (int r = 0; r < tile->rows; r++) {
        const float max = vf_reduce_max(largest[r]);
        if (max - tile->max[r] > EXACT_RESCALE_THRESHOLD) tile->max[r] = max;
    }
    for (int r = 0; r < EXACT_ROWS; r += VF_LANES)
        vf_store(rescale + r, vf_exp4(vf_sub(vf_load(rescale + r), vf_load(tile->max + r))));
    for (int r = 0; r < tile->rows; r++) {
        const vf factor = vf_set1(rescale[r]), sums = vf_load(tile->sums[r]);
        float *out = tile->out ? tile->out + r * tile->out_stride : NULL;
        if (rescale[r] == 1.0f || !vf_any_greater(sums, vf_zero())) continue;
        vf_store(tile->sums[r], vf_mul(factor, sums));
        for (int64_t c = 0; out && c < tile->value_dim; c += VF_LANES)
            vf_store(out + c, vf_mul(factor, vf_load(out + c)));
    }
}

/**
 * Logits to weights 4^(S - M) in place, and their sums. A row that has seen nothing yet has weights 4^-inf = 0 by themselves.
 */
ATTN_STEP void exact_softmax(exact_tile_t *tile, int64_t keys) {
    vf largest[TILE_ROWS];
    exact_maxima(tile, keys, largest);
    if (exact_outgrown(tile, largest)) exact_rescale(tile, largest);
    const vf_exp_terms_t terms = vf_exp4_terms();
    for (int r = 0; r < tile->rows; r++) {
        float *row = tile->scores + r * EXACT_KEYS;
        const vf max = vf_set1(tile->max[r]);
        vf sum = vf_zero(); /* of this block by itself */
        ATTN_UNROLL_4
        for (int64_t j = 0; j < keys; j += VF_LANES) {
            const vf weight = vf_exp4_by(&terms, vf_sub(vf_load(row + j), max));
            vf_store(row + j, weight);
            sum = vf_add(sum, weight);
        }
        vf_store(tile->sums[r], vf_add(vf_load(tile->sums[r]), sum));
    }
}

/* First and last position in a key list that any row of the tile sees. */
ATTN_RARE_STEP void exact_span(const exact_tile_t *tile, int64_t *first, int64_t *last) {
    *first = INT64_MAX, *last = 0;
    for (int r = 0; r < TILE_ROWS; r++)
        if (tile->first[r] < tile->last[r]) {
            *first = attn_min(*first, tile->first[r]);
            *last = attn_max(*last, tile->last[r]);
        }
    if (!*last) *first = 0;
}

/* How a tile sees the keys [base, base + keys) of a key list, whole panels and at most EXACT_KEYS; `data` is the step's. */
typedef void exact_step_t(const void *data, exact_tile_t *tile, const attn_key_rows_t *key_list,
                          int64_t base, int64_t keys);

/* With the online softmax. */
ATTN_INLINE void exact_step(const void *data, exact_tile_t *tile, const attn_key_rows_t *key_list,
                            int64_t base, int64_t keys) {
    (void)data;
    exact_products(tile, key_list, base, keys, (attn_range_t){tile->low, tile->high});
    exact_shape(tile, key_list, base, keys);
    exact_softmax(tile, keys);
    exact_add_values(tile, key_list, base, keys, tile->offsets != 0);
}

/**
 * Let `count` tiles, whose ranges are set, see a whole key list by a step, which is a constant. Block by block for all of
 * them, so that a block's keys and values are read from the nearest cache by all but the first.
 */
ATTN_INLINE void exact_attend_by(exact_step_t *step, const void *data, exact_tile_t *tiles,
                                 int64_t count, const attn_key_rows_t *key_list) {
    int64_t low = INT64_MAX, high = 0;
    for (int64_t t = 0; t < count; t++) {
        exact_span(&tiles[t], &tiles[t].low, &tiles[t].high);
        if (tiles[t].low < tiles[t].high) {
            low = attn_min(low, attn_round_down(tiles[t].low, PANEL));
            high = attn_max(high, tiles[t].high);
        }
    }
    for (int64_t base = low; base < high; base += EXACT_KEYS)
        for (int64_t t = 0; t < count; t++)
            if (tiles[t].low < base + EXACT_KEYS && base < tiles[t].high) {
                const int64_t first = attn_max(base, attn_round_down(tiles[t].low, PANEL));
                step(data, &tiles[t], key_list, first,
                     attn_min(base + EXACT_KEYS - first,
                              attn_round_up(tiles[t].high - first, PANEL)));
            }
}

ATTN_STEP void exact_attend(exact_tile_t *tiles, int64_t count, const attn_key_rows_t *key_list) {
    exact_attend_by(exact_step, NULL, tiles, count, key_list);
}

/* ---- results --------------------------------------------------------------------------------------- */

/* From base 4 to base e. A finite logit stays finite: rounded up twice on its way to base 4 and back,
 * it may be a few units above the largest float. */
ATTN_INLINE float exact_natural(double logit) {
    const double natural = logit * ATTN_LN_4;
    if (fabs(natural) < FLT_MAX * (1.0 + 4.0 * FLT_EPSILON))
        return (float)fmin(FLT_MAX, fmax(-FLT_MAX, natural));
    return (float)(natural * (double)INFINITY);
}

/** The lse, natural, of a row with maximum M and sum L; -inf when it saw no key. */
ATTN_INLINE float exact_lse(float max, float sum) {
    return exact_natural((double)max + 0.5 * (double)log2f(sum));
}

/** 1 / L, by which a row's output is O * (1 / L); 0 of one that saw no key. */
ATTN_INLINE float exact_normaliser(float sum) { return sum == 0.0f ? 0.0f : 1.0f / sum; }

#endif
