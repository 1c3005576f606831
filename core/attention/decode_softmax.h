/*
 * attention/decode_softmax.h: the online softmax of one row of logits at a time (see online_softmax.h for the
 * recurrence and its sources). Logits are in base 4.
 */
#ifndef ATTN_ATTENTION_DECODE_SOFTMAX_H
#define ATTN_ATTENTION_DECODE_SOFTMAX_H

#include "attention/tile_io.h"

/* A query row on its way over its keys. */
typedef struct decode_row {
    exact_mods_t mods;   /* with this row as the first */
    int64_t first, last; /* keys that it sees */
    float max;
    float sums[VF_LANES]; /* of 4^(S - max), still to be added up over the lanes */
} decode_row_t;

ATTN_INLINE void decode_row_begin(decode_row_t *row) {
    row->max = -INFINITY;
    vf_store(row->sums, vf_zero());
}

/* Scales of the tokens of keys or values in i8; NULL: none. */
typedef struct decode_scales {
    const float *data;
    int64_t stride;
} decode_scales_t;

ATTN_INLINE void decode_scale(float *scores, const decode_scales_t *scales, int64_t first,
                              int64_t last) {
    const float *data = scales->data;
    if (!data) return;
    if (scales->stride == 1) /* said apart, as compilers then make vectors of it */
        for (int64_t j = first; j < last; j++) scores[j] *= data[j];
    else
        for (int64_t j = first; j < last; j++) scores[j] *= data[j * scales->stride];
}

/* Bias, mask and ALiBi, times `unit`: log4(e), or 1 for natural logits. An offset of -inf masks: also a logit that is
 * NaN. */
ATTN_INLINE void decode_add_offsets(float *scores, const exact_mods_t *mods, int64_t base,
                                    int64_t first, int64_t last, float unit) {
    for (int64_t j = first; j < last; j++) {
        const int64_t key = base + j;
        float offset = mods->bias ? mods->bias[key * mods->bias_key] * unit : 0;
        if (mods->mask && !mods->mask[key * mods->mask_key]) offset = -INFINITY;
        if (mods->slope != 0.0f)
            offset -= mods->slope * unit * fabsf((float)(mods->position - key));
        scores[j] = offset < -FLT_MAX ? offset : scores[j] + offset;
    }
}

/**
 * Products of the keys [base, base + count) become weights 4^(S - max) in place, zero for keys that
 * the row does not see; `scores` has room for whole vectors. Moves max and sums, and returns what
 * the old sums of the row are worth now. A maximum of -inf shifts by 0: then every weight is 4^-inf =
 * 0 by itself.
 */
ATTN_STEP float decode_weigh(decode_row_t *row, float *scores, int64_t base, int64_t count,
                             const decode_scales_t *scales) {
    const int64_t whole = attn_round_up(count, VF_LANES);
    const int64_t first = attn_max(0, row->first - base), last = attn_min(count, row->last - base);
    decode_scale(scores, scales, first, last);
    if (row->mods.softcap != 0.0f) exact_softcap_row(scores, whole, row->mods.softcap);
    if (row->mods.has_offsets)
        decode_add_offsets(scores, &row->mods, base, first, last, ATTN_LOG4_E);
    for (int64_t j = 0; (first > 0 || last < whole) && j < whole; j += VF_LANES)
        vf_store(scores + j, vf_keep(vf_load(scores + j), first - j, last - j, vf_set1(-INFINITY)));
    const vf largest = exact_row_max(scores, whole);
    const float max =
        vf_any_greater(largest, vf_set1(row->max)) ? vf_reduce_max(largest) : row->max;
    const float by = max < -FLT_MAX ? -FLT_MAX : max;
    const float rescale = max == row->max ? 1.0f : exp2f(2.0f * (row->max - by));
    const vf shift = vf_set1(by);
    vf sum = vf_mul(vf_set1(rescale), vf_load(row->sums));
    for (int64_t j = 0; j < whole; j += VF_LANES) {
        const vf weight = vf_exp4(vf_sub(vf_load(scores + j), shift));
        vf_store(scores + j, weight);
        sum = vf_add(sum, weight);
    }
    vf_store(row->sums, sum);
    row->max = max;
    return rescale;
}

#endif
