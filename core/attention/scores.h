/*
 * attention/scores.h: what tiles of queries write of their logits, stage by stage, and of their weights: for attn.weights/1
 * and for the scores of a run.
 */
#ifndef ATTN_ATTENTION_SCORES_H
#define ATTN_ATTENTION_SCORES_H

#include "attention/online_softmax.h"

/* From logits to weights, once the tile has seen all its key lists. */
ATTN_INLINE void exact_weigh(exact_tile_t *tile, int64_t keys) {
    for (int64_t r = 0; r < tile->rows; r++) {
        float *row = tile->scores + r * EXACT_KEYS;
        const float sum = exact_sum(tile, r);
        const vf shift = vf_set1(tile->max[r]), scale = vf_set1(exact_normaliser(sum));
        for (int64_t j = 0; j < keys; j += VF_LANES)
            vf_store(row + j, vf_mul(scale, vf_exp4(vf_sub(vf_load(row + j), shift))));
    }
}

/* From base 4 to natural logits. */
ATTN_INLINE void exact_naturalise(exact_tile_t *tile, int64_t keys) {
    for (int64_t r = 0; r < tile->rows; r++)
        for (int64_t j = 0; j < keys; j++) {
            float *score = &tile->scores[r * EXACT_KEYS + j];
            *score = exact_natural((double)*score);
        }
}

/* The tile's products for the keys [base, base + keys) as they are after `stage`. */
ATTN_RARE_STEP void exact_score(exact_tile_t *tile, const attn_key_rows_t *key_list, int64_t base,
                                int64_t keys, int32_t stage) {
    if (stage == ATTN_SCORES_WEIGHTS) {
        exact_shape(tile, key_list, base, keys);
        exact_weigh(tile, keys);
        return;
    }
    if (stage != ATTN_SCORES_RAW && tile->softcap != 0.0f) exact_softcap(tile, keys);
    exact_naturalise(tile, keys);
    if (stage != ATTN_SCORES_MASKED) return;
    if (tile->offsets) exact_add_offsets(tile, key_list, base, keys, 1.0f);
}

/* Those to rows[r][j] for position j, where a row sees it. */
ATTN_RARE_STEP void exact_copy_scores(const exact_tile_t *tile, const attn_key_rows_t *key_list,
                                      int64_t base, int64_t keys, float *const *rows) {
    for (int64_t r = 0; r < tile->rows; r++) {
        const float *row = tile->scores + r * EXACT_KEYS;
        const int64_t last = attn_min(base + keys, tile->last[r]);
        for (int64_t j = attn_max(base, tile->first[r]); j < last; j++)
            rows[r][key_list->map ? key_list->map[j] : j] = row[j - base];
    }
}

/* How a tile's products for the keys [base, base + keys) become scores; `data` is the step's. */
typedef void exact_score_t(const void *data, exact_tile_t *tile, const attn_key_rows_t *key_list,
                           int64_t base, int64_t keys, int32_t stage);

ATTN_INLINE void exact_score_step(const void *data, exact_tile_t *tile,
                                  const attn_key_rows_t *key_list, int64_t base, int64_t keys,
                                  int32_t stage) {
    (void)data;
    exact_score(tile, key_list, base, keys, stage);
}

/**
 * The scores of a tile's rows, as they are after `stage`, to rows[r][j] for position j, by a step, which is a constant. Keys
 * of the key list that a row does not see are left alone.
 */
ATTN_INLINE void exact_scores_by(exact_score_t *score, const void *data, exact_tile_t *tile,
                                 const attn_key_rows_t *key_list, int32_t stage,
                                 float *const *rows) {
    int64_t low, high;
    exact_span(tile, &low, &high);
    for (int64_t base = attn_round_down(low, PANEL); base < high; base += EXACT_KEYS) {
        const int64_t keys = attn_min(EXACT_KEYS, attn_round_up(high - base, PANEL));
        exact_products(tile, key_list, base, keys, (attn_range_t){base, base + keys});
        score(data, tile, key_list, base, keys, stage);
        exact_copy_scores(tile, key_list, base, keys, rows);
    }
}

ATTN_RARE_STEP void exact_scores(exact_tile_t *tile, const attn_key_rows_t *key_list, int32_t stage,
                                 float *const *rows) {
    exact_scores_by(exact_score_step, NULL, tile, key_list, stage, rows);
}

/** The same of some tiles, whose rows follow each other. */
ATTN_RARE_STEP void exact_scores_of_all(const attn_key_rows_t *key_list, exact_tile_t *tiles,
                                        int64_t count, int32_t stage, float *const *rows) {
    for (int64_t t = 0; t < count; t++)
        exact_scores(&tiles[t], key_list, stage, rows + t * TILE_ROWS);
}

/** Let them see all keys, whatever the rules are: for logits before masking. */
ATTN_RARE_STEP void exact_see_hidden(exact_tile_t *tiles, int64_t count, int64_t keys) {
    for (int64_t t = 0; t < count; t++)
        for (int r = 0; r < TILE_ROWS; r++) tiles[t].first[r] = 0, tiles[t].last[r] = keys;
}

/** The score of a key that a row does not see. */
ATTN_RARE_STEP void exact_fill(float *const *rows, int64_t count, int64_t keys, float value) {
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < keys; j++) rows[i][j] = value;
}

#endif
