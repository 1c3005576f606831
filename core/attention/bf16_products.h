/*
 * attention/bf16_products.h: the two products of a tile of queries with its keys and values, of numbers as sums of
 * EXACT_PARTS bf16 numbers (gemm/bf16.h, products.h).
 *
 * Products are of queries times a power of two, exactly; the rest of what scales logits multiplies sums. Weights are split
 * as they come out of the softmax; their sum is of the weights themselves.
 */
#ifndef ATTN_ATTENTION_BF16_PRODUCTS_H
#define ATTN_ATTENTION_BF16_PRODUCTS_H

#include "attention/tile.h"
#include "gemm/bf16.h"

enum {
    EXACT_HAS_ONE = BF16_HAS_ONE, /* whether one vector of a panel's keys is multiplied by itself */
    BF16_VALUE_WORDS = PANEL / 2, /* of a panel's keys */
};
_Static_assert(PANEL % 2 == 0, "a word has two of a panel's keys");

/* A panel of keys with its values, as prefill.c keeps it. */
typedef struct exact_panel {
    int32_t *keys;   /* [parts][words of dim][PANEL] */
    int32_t *values; /* [panels of columns][parts][BF16_VALUE_WORDS][PANEL] */
    int64_t *finite; /* whether all values are */
} exact_panel_t;

/* Whole cache lines. */
ATTN_INLINE uint64_t bf16_key_bytes(int64_t dim) {
    return (uint64_t)bf16_words(dim) * EXACT_PARTS * PANEL * sizeof(int32_t);
}
ATTN_INLINE uint64_t bf16_value_bytes(int64_t value_dim) {
    return (uint64_t)attn_round_up(value_dim, PANEL) * EXACT_PARTS * BF16_VALUE_WORDS *
           sizeof(int32_t);
}
ATTN_INLINE uint64_t bf16_panel_bytes(int64_t dim, int64_t value_dim) {
    return bf16_key_bytes(dim) + bf16_value_bytes(value_dim) + ATTN_PIECE_ALIGNMENT;
}

ATTN_INLINE exact_panel_t exact_panel_at(const attn_key_rows_t *key_list, int64_t number,
                                         int64_t dim, int64_t value_dim) {
    char *at = (char *)key_list->panels +
               (uint64_t)(number - key_list->first_panel) * bf16_panel_bytes(dim, value_dim);
    return (exact_panel_t){
        .keys = (int32_t *)at,
        .values = (int32_t *)(at + bf16_key_bytes(dim)),
        .finite = (int64_t *)(at + bf16_key_bytes(dim) + bf16_value_bytes(value_dim)),
    };
}

/* A thread is ready for products between these. */
ATTN_INLINE void exact_begin_products(void) { bf16_begin(); }
ATTN_INLINE void exact_end_products(void) { bf16_finish(); }

/* ---- logits ---------------------------------------------------------------------------------------- */

/* By so many parts, of `rows` rows and `vectors` vectors of a panel's columns, all constants. Returns whether all are finite. */
ATTN_INLINE int bf16_multiply_(int parts, int rows, int vectors, const exact_tile_t *tile,
                               const int32_t *keys, float *scores) {
    const int64_t words = bf16_words(tile->dim);
    const bf16_rows_t left = {tile->bf16.query, tile->bf16.query_stride,
                              TILE_ROWS * tile->bf16.query_stride};
    const vf factor = vf_set1(tile->bf16.factor);
    vf poison = vf_zero(); /* 0 * x is 0 for finite x, NaN otherwise */
    bf16_sums_t sums;
    bf16_zero(rows, vectors, &sums);
    BF16_EACH_PRODUCT(parts, p, q)
    if (EXACT_PARTS == 1 || (p < tile->bf16.query_parts && q < tile->bf16.key_parts))
        bf16_add(rows, vectors, words, left, p, (bf16_panel_t){keys, words * PANEL}, q, &sums);
    bf16_end(&sums);
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) {
            if (EXACT_PARTS > 1) poison = vf_mul_add(vf_zero(), bf16_sum(&sums, r, v), poison);
            vf_store(scores + r * EXACT_KEYS + v * VF_LANES, vf_mul(factor, bf16_sum(&sums, r, v)));
        }
    }
    return EXACT_PARTS == 1 || vf_reduce_add(poison) == 0.0f;
}

/* Where an infinity has met a second part, which is NaN or zero, the first parts say what the product is. */
ATTN_RARE_STEP void bf16_take_first_(int rows, int vectors, const exact_tile_t *tile,
                                     const int32_t *keys, float *scores) {
    float first[TILE_ROWS * EXACT_KEYS];
    bf16_multiply_(1, TILE_ROWS, vectors, tile, keys, first);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < vectors * VF_LANES; j++)
            if (isnan(scores[r * EXACT_KEYS + j]))
                scores[r * EXACT_KEYS + j] = first[r * EXACT_KEYS + j];
}

ATTN_INLINE void bf16_scores_(int rows, int vectors, const exact_tile_t *tile, const int32_t *keys,
                              float *scores) {
    if (!bf16_multiply_(EXACT_PARTS, rows, vectors, tile, keys, scores))
        bf16_take_first_(rows, vectors, tile, keys, scores);
}

/* As tile_panel_part() has it. */
ATTN_INLINE void bf16_scores_part_(const exact_tile_t *tile, attn_range_t visible,
                                   const int32_t *keys, float *scores, int64_t from) {
    const int few = (int)TILE_ROWS > (int)BF16_FEW_ROWS && tile->rows <= BF16_FEW_ROWS;
    const int64_t low = attn_max(visible.first, 0) / VF_LANES * VF_LANES;
    if (EXACT_HAS_ONE && attn_min(visible.last, PANEL) - low <= VF_LANES) {
        if (few)
            bf16_scores_(BF16_FEW_ROWS, 1, tile, keys + low, scores + low - from);
        else
            bf16_scores_(TILE_ROWS, 1, tile, keys + low, scores + low - from);
    } else if (few) {
        bf16_scores_(BF16_FEW_ROWS, TILE_VECTORS, tile, keys, scores - from);
    } else {
        bf16_scores_(TILE_ROWS, TILE_VECTORS, tile, keys, scores - from);
    }
}

/* S of all rows for those of the keys [base, base + keys) that are `visible`: whole panels, or one vector of one. */
ATTN_STEP void exact_products(exact_tile_t *tile, const attn_key_rows_t *key_list, int64_t base,
                              int64_t keys, attn_range_t visible) {
    const int64_t from = EXACT_HAS_ONE ? base % PANEL : 0;
    for (int64_t done = 0; done < keys; done += PANEL) {
        const int64_t first = base - from + done;
        const exact_panel_t panel =
            exact_panel_at(key_list, first / PANEL, tile->dim, tile->value_dim);
        bf16_scores_part_(tile, (attn_range_t){visible.first - first, visible.last - first},
                          panel.keys, tile->scores + done, from);
    }
}

/* ---- values ---------------------------------------------------------------------------------------- */

/* Weights of `keys` keys of each row to their parts. */
ATTN_INLINE void bf16_split_weights_(exact_tile_t *tile, int64_t keys) {
    for (int r = 0; r < tile->rows; r++)
        bf16_split_weights(EXACT_PARTS, tile->scores + r * EXACT_KEYS, keys,
                           tile->bf16.weights + r * EXACT_KEYS, TILE_ROWS * EXACT_KEYS);
}

/* A panel's column words, with zeros for what is not finite. */
ATTN_RARE_STEP void bf16_clean_(const int32_t *words, int32_t *clean) {
    const uint32_t low = 0x7f80u, high = low << 16;
    for (int i = 0; i < EXACT_PARTS * BF16_VALUE_WORDS * PANEL; i++) {
        uint32_t word = (uint32_t)words[i];
        if ((word & low) == low) word &= 0xffff0000u;
        if ((word & high) == high) word &= 0x0000ffffu;
        clean[i] = (int32_t)word;
    }
}

/* sums += part p of the weights of the keys [base, base + keys), whole words, times part q of column c of their values, for
 * `vectors` vectors of columns from c on; `rows`, `vectors` and `clean`, whether values may not be finite, are constants. */
ATTN_INLINE void bf16_add_keys_(int rows, int vectors, int clean, const exact_tile_t *tile,
                                const attn_key_rows_t *key_list, int64_t base, int64_t keys,
                                int64_t c, int p, int q, bf16_sums_t *sums) {
    const int64_t part = BF16_VALUE_WORDS * PANEL;
    bf16_rows_t left = {tile->bf16.weights, EXACT_KEYS, TILE_ROWS * EXACT_KEYS};
    int32_t room[EXACT_PARTS * BF16_VALUE_WORDS * PANEL];
    for (int64_t j = base, end; j < base + keys; left.at += end - j, j = end) {
        end = attn_min(base + keys, attn_round_down(j, PANEL) + PANEL);
        const exact_panel_t panel = exact_panel_at(key_list, j / PANEL, tile->dim, tile->value_dim);
        const int32_t *columns =
            panel.values + attn_round_down(c, PANEL) / PANEL * EXACT_PARTS * part;
        if (clean && !*panel.finite) {
            bf16_clean_(columns, room);
            columns = room;
        }
        columns += c % PANEL + j % PANEL / 2 * PANEL;
        bf16_add(rows, vectors, (end - j) / 2, left, p, (bf16_panel_t){columns, part}, q, sums);
    }
}

/* out[r][c] += their sum. */
ATTN_INLINE void bf16_add_columns_(int rows, int vectors, int clean, exact_tile_t *tile,
                                   const attn_key_rows_t *key_list, int64_t base, int64_t keys,
                                   int64_t c) {
    bf16_sums_t sums;
    bf16_zero(rows, vectors, &sums);
    BF16_EACH_PRODUCT(EXACT_PARTS, p, q)
    if (EXACT_PARTS == 1 || q < tile->bf16.value_parts)
        bf16_add_keys_(rows, vectors, clean, tile, key_list, base, keys, c, p, q, &sums);
    bf16_end(&sums);
    ATTN_UNROLL
    for (int r = 0; r < rows; r++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) {
            float *out = tile->out + r * tile->out_stride + c + v * VF_LANES;
            vf_store(out, vf_add(vf_load(out), bf16_sum(&sums, r, v)));
        }
    }
}

ATTN_INLINE void bf16_add_rows_(int rows, int clean, exact_tile_t *tile,
                                const attn_key_rows_t *key_list, int64_t base, int64_t keys) {
    int64_t c = 0;
    for (; c + PANEL <= tile->value_dim; c += PANEL)
        bf16_add_columns_(rows, TILE_VECTORS, clean, tile, key_list, base, keys, c);
    for (; c < tile->value_dim; c += VF_LANES)
        bf16_add_columns_(rows, 1, clean, tile, key_list, base, keys, c);
}

/* Column c of a panel's key j, from its parts; where one is not finite, that. */
ATTN_INLINE float bf16_value_(const exact_panel_t *panel, int64_t j, int64_t c) {
    const int32_t *words = panel->values + c / PANEL * EXACT_PARTS * BF16_VALUE_WORDS * PANEL +
                           j / 2 * PANEL + c % PANEL;
    float value = 0.0f;
    for (int p = 0; p < EXACT_PARTS; p++) {
        const uint32_t word = (uint32_t)words[p * BF16_VALUE_WORDS * PANEL];
        const float part = bits_to_float(j % 2 ? word & 0xffff0000u : word << 16);
        if (!(fabsf(value) <= FLT_MAX)) break;
        value += part;
    }
    return value;
}

/* The values that are not finite, of keys of one panel: a row reads none that it does not see, as in
 * tile_accumulate_ranges(). */
ATTN_RARE_STEP void bf16_add_seen_(exact_tile_t *tile, const exact_panel_t *panel, int64_t base,
                                   int64_t keys, const float *weights, int masked) {
    for (int r = 0; r < tile->rows; r++) {
        const int64_t last = attn_min(base + keys, tile->last[r]);
        for (int64_t j = attn_max(base, tile->first[r]); j < last; j++) {
            const float weight = weights[r * EXACT_KEYS + j - base];
            if (masked && weight == 0.0f) continue;
            for (int64_t c = 0; c < tile->value_dim; c++) {
                const float value = bf16_value_(panel, j % PANEL, c);
                if (!(fabsf(value) <= FLT_MAX))
                    tile->out[r * tile->out_stride + c] += weight * value;
            }
        }
    }
}

/* Finite values first, with the same sums as where all are: what a row does not see changes no bit of it. */
ATTN_RARE_STEP void bf16_add_infinite_(exact_tile_t *tile, const attn_key_rows_t *key_list,
                                       int64_t base, int64_t keys, int masked) {
    bf16_add_rows_(TILE_ROWS, 1, tile, key_list, base, keys);
    for (int64_t j = base, end; j < base + keys; j = end) {
        end = attn_min(base + keys, attn_round_down(j, PANEL) + PANEL);
        const exact_panel_t panel = exact_panel_at(key_list, j / PANEL, tile->dim, tile->value_dim);
        if (!*panel.finite)
            bf16_add_seen_(tile, &panel, j, end - j, tile->scores + j - base, masked);
    }
}

/* Whether all values of these keys are. */
ATTN_INLINE int bf16_are_finite_(const exact_tile_t *tile, const attn_key_rows_t *key_list,
                                 int64_t base, int64_t keys) {
    int64_t finite = 1;
    for (int64_t p = base / PANEL; p * PANEL < base + keys; p++)
        finite &= *exact_panel_at(key_list, p, tile->dim, tile->value_dim).finite;
    return (int)finite;
}

/* Add the values of the keys [base, base + keys), whose weights are split; `masked`: rows may leave out some of those that
 * they see. */
ATTN_INLINE void exact_add_split_values(exact_tile_t *tile, const attn_key_rows_t *key_list,
                                        int64_t base, int64_t keys, int masked) {
    if (!bf16_are_finite_(tile, key_list, base, keys))
        bf16_add_infinite_(tile, key_list, base, keys, masked);
    else if ((int)TILE_ROWS > (int)BF16_FEW_ROWS && tile->rows <= BF16_FEW_ROWS)
        bf16_add_rows_(BF16_FEW_ROWS, 0, tile, key_list, base, keys);
    else
        bf16_add_rows_(TILE_ROWS, 0, tile, key_list, base, keys);
}

/* The same by weights as they are. */
ATTN_INLINE void exact_add_values(exact_tile_t *tile, const attn_key_rows_t *key_list, int64_t base,
                                  int64_t keys, int masked) {
    if (!tile->out) return;
    bf16_split_weights_(tile, keys);
    exact_add_split_values(tile, key_list, base, keys, masked);
}

/* Of a span that tiles take at once: exact_add_values() goes by panels anyway. */
ATTN_INLINE int exact_add_finite(exact_tile_t *tile, const attn_key_rows_t *key_list, int64_t base,
                                 int64_t keys, attn_range_t run) {
    (void)tile, (void)key_list, (void)base, (void)keys, (void)run;
    return 0;
}

#endif
