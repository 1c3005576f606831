/*
 * simd/flash.h: tiles of queries walk over their keys with the online softmax.
 *
 * For each row the running maximum M and the sums L = sum 2^(S - M) and O = sum 2^(S - M) v are
 * kept; when M moves, L and O are multiplied by 2^(M_old - M_new). Only a block of FLASH_KEYS
 * logits exists at a time. (Milakov and Gimelshein, "Online normalizer calculation for softmax",
 * 2018; Dao et al., "FlashAttention", 2022.) Logits are in base 2: queries carry scale * log2(e).
 *
 * Keys come in segments: packed panels, their values, and for each row the range of positions that
 * it sees. Dense attention is one segment; a sparse pattern is several.
 */
#ifndef ATTN_SIMD_FLASH_H
#define ATTN_SIMD_FLASH_H

#include "simd/math.h"
#include "simd/tile.h"

enum {
    FLASH_KEYS = 128 / PANEL * PANEL,                              /* logits a row at a time */
    FLASH_ROWS = (TILE_ROWS + VF_LANES - 1) / VF_LANES * VF_LANES, /* whole vectors of rows */
};

/* Keys that stand side by side in memory: `panels` packed by tile_pack(), `values` with rows of
 * unit stride. */
typedef struct flash_segment {
    const float *panels;
    const float *values;
    int64_t values_stride;
} flash_segment_t;

/* TILE_ROWS queries on their way. Rows past the last query have empty ranges. */
typedef struct flash_tile {
    int64_t dim, value_dim;
    const float *query; /* packed [dim][TILE_ROWS], times scale * log2(e) */
    float *out;         /* [TILE_ROWS][out_stride]; NULL when only the normaliser is wanted */
    int64_t out_stride; /* at least value_dim rounded up to VF_LANES */
    float *scores;      /* [TILE_ROWS][FLASH_KEYS], scratch */
    int64_t first[TILE_ROWS], last[TILE_ROWS]; /* positions in the segment that each row sees */
    float max[FLASH_ROWS], sum[FLASH_ROWS];
} flash_tile_t;

ATTN_INLINE void flash_begin(flash_tile_t *tile) {
    for (int r = 0; r < FLASH_ROWS; r++) tile->max[r] = -INFINITY, tile->sum[r] = 0.0f;
    if (tile->out)
        for (int64_t i = 0; i < TILE_ROWS * tile->out_stride; i++) tile->out[i] = 0.0f;
}

/* Logits of all rows for the keys [base, base + keys), `keys` a multiple of PANEL; -inf where a row
 * does not look. */
ATTN_INLINE void flash_scores(flash_tile_t *tile, const flash_segment_t *segment, int64_t base,
                              int64_t keys) {
    for (int64_t j = 0; j < keys; j += PANEL)
        tile_panel_product(tile->dim, tile->query, segment->panels + (base + j) * tile->dim,
                           tile->scores + j, FLASH_KEYS);
    const vf nothing = vf_set1(-INFINITY);
    for (int r = 0; r < TILE_ROWS; r++) {
        float *row = tile->scores + r * FLASH_KEYS;
        int64_t first = tile->first[r] - base, last = tile->last[r] - base;
        if (first <= 0 && last >= keys) continue;
        for (int64_t j = 0; j < keys; j += VF_LANES)
            vf_store(row + j, vf_keep(vf_load(row + j), first - j, last - j, nothing));
    }
}

/* Logits to weights 2^(S - max) in place; moves max and sum; keep[r] is what the old sums of row r
 * are worth now. A maximum of -inf shifts by 0: then every weight is 2^-inf = 0 by itself. */
ATTN_INLINE void flash_softmax(flash_tile_t *tile, int64_t keys, float *keep) {
    float shift[FLASH_ROWS] = {0};
    for (int r = 0; r < TILE_ROWS; r++) {
        const float *row = tile->scores + r * FLASH_KEYS;
        vf largest = vf_load(row);
        for (int64_t j = VF_LANES; j < keys; j += VF_LANES)
            largest = vf_max(largest, vf_load(row + j));
        float max = vf_reduce_max(largest);
        shift[r] = max > tile->max[r] ? max : tile->max[r];
    }
    for (int r = 0; r < FLASH_ROWS; r += VF_LANES) {
        vf old = vf_load(tile->max + r);
        vf_store(tile->max + r, vf_load(shift + r));
        vf at_least = vf_max(vf_load(shift + r), vf_set1(-FLT_MAX));
        vf_store(shift + r, at_least);
        vf_store(keep + r, vf_exp2(vf_sub(old, at_least)));
    }
    for (int r = 0; r < TILE_ROWS; r++) {
        float *row = tile->scores + r * FLASH_KEYS;
        vf sum = vf_zero(), by = vf_set1(shift[r]);
        for (int64_t j = 0; j < keys; j += VF_LANES) {
            vf weight = vf_exp2(vf_sub(vf_load(row + j), by));
            vf_store(row + j, weight);
            sum = vf_add(sum, weight);
        }
        tile->sum[r] = tile->sum[r] * keep[r] + vf_reduce_add(sum);
    }
}

/* First (a multiple of PANEL) and last position in a segment that any row of the tile sees. */
ATTN_INLINE void flash_span(const flash_tile_t *tile, int64_t *first, int64_t *last) {
    *first = INT64_MAX, *last = 0;
    for (int r = 0; r < TILE_ROWS; r++)
        if (tile->first[r] < tile->last[r]) {
            *first = tile_min(*first, tile->first[r]);
            *last = tile_max(*last, tile->last[r]);
        }
    *first = *last ? *first / PANEL * PANEL : 0;
}

/** Let the tile see the keys [base, base + FLASH_KEYS) of a segment. */
ATTN_INLINE void flash_step(flash_tile_t *tile, const flash_segment_t *segment, int64_t base,
                            int64_t last) {
    float keep[FLASH_ROWS];
    int64_t from[TILE_ROWS], to[TILE_ROWS];
    int64_t keys = tile_min(FLASH_KEYS, tile_round_up(last - base, PANEL));
    flash_scores(tile, segment, base, keys);
    flash_softmax(tile, keys, keep);
    if (!tile->out) return;
    for (int r = 0; r < TILE_ROWS; r++) {
        from[r] = tile_max(0, tile->first[r] - base);
        to[r] = tile_min(keys, tile->last[r] - base);
    }
    tile_accumulate_ranges(tile->out, tile->out_stride, keep, tile->scores, FLASH_KEYS,
                           segment->values + base * segment->values_stride, segment->values_stride,
                           from, to, tile->value_dim);
}

/**
 * Let `count` tiles, whose ranges are set, see a whole segment. Block by block for all of them, so
 * that a block's keys and values are read from the nearest cache by all but the first.
 */
ATTN_INLINE void flash_attend(flash_tile_t *tiles, int64_t count, const flash_segment_t *segment) {
    int64_t low = INT64_MAX, high = 0;
    for (int64_t t = 0; t < count; t++) {
        int64_t first, last;
        flash_span(&tiles[t], &first, &last);
        if (first < last) low = tile_min(low, first), high = tile_max(high, last);
    }
    for (int64_t base = low; base < high; base += FLASH_KEYS)
        for (int64_t t = 0; t < count; t++) {
            int64_t first, last;
            flash_span(&tiles[t], &first, &last);
            if (first < base + FLASH_KEYS && base < last)
                flash_step(&tiles[t], segment, base, last);
        }
}

/** Row r's output O / L to `out`; a row that saw no key gives zeros. Returns its lse (natural). */
ATTN_INLINE float flash_end(const flash_tile_t *tile, int r, float *out, int64_t column_stride) {
    float scale = tile->sum[r] == 0.0f ? 0.0f : 1.0f / tile->sum[r];
    const float *row = tile->out + r * tile->out_stride;
    for (int64_t c = 0; c < tile->value_dim; c++) out[c * column_stride] = row[c] * scale;
    return (tile->max[r] + log2f(tile->sum[r])) * ATTN_LN_2;
}

/* The weights of row r for the keys [base, base + keys), whose logits are in the tile's scores. */
ATTN_INLINE void flash_weights_row(flash_tile_t *tile, int64_t r, int64_t base, int64_t keys,
                                   const int64_t *map, float *row) {
    float *scores = tile->scores + r * FLASH_KEYS;
    const vf shift = vf_max(vf_set1(tile->max[r]), vf_set1(-FLT_MAX));
    const vf scale = vf_set1(tile->sum[r] == 0.0f ? 0.0f : 1.0f / tile->sum[r]);
    for (int64_t j = 0; j < keys; j += VF_LANES)
        vf_store(scores + j, vf_mul(scale, vf_exp2(vf_sub(vf_load(scores + j), shift))));
    const int64_t last = tile_min(base + keys, tile->last[r]);
    for (int64_t j = tile_max(base, tile->first[r]); j < last; j++)
        row[map ? map[j] : j] = scores[j - base];
}

/**
 * The weights of the first `count` rows of these tiles, once they have seen all their segments, to
 * rows[r*stride + j] for position j, or map[j] where the segment's keys come from all over. Keys
 * that a row does not see are left alone.
 */
ATTN_INLINE void flash_weights(flash_tile_t *tiles, const flash_segment_t *segment,
                               const int64_t *map, float *rows, int64_t stride, int64_t count) {
    for (int64_t done = 0; done < count; done += TILE_ROWS, tiles++, rows += TILE_ROWS * stride) {
        const int64_t tile_rows = tile_min(TILE_ROWS, count - done);
        int64_t low, high;
        flash_span(tiles, &low, &high);
        for (int64_t base = low; base < high; base += FLASH_KEYS) {
            const int64_t keys = tile_min(FLASH_KEYS, tile_round_up(high - base, PANEL));
            flash_scores(tiles, segment, base, keys);
            for (int64_t r = 0; r < tile_rows; r++)
                flash_weights_row(tiles, r, base, keys, map, rows + r * stride);
        }
    }
}

#endif
