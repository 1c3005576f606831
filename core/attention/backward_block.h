/*
 * attention/backward_block.h: the way back through a block of logits.
 *
 * With the weights P_ij = exp(S_ij - lse_i), recomputed from lse, and D_i = dO_i . O_i:
 *
 *     dV_j = sum_i P_ij dO_i      dP_ij = dO_i . V_j      dS_ij = P_ij (dP_ij - D_i)
 *     dQ_i = scale sum_j dS_ij K_j      dK_j = scale sum_i dS_ij Q_i
 *
 * (Dao et al., "FlashAttention", arXiv:2205.14135, Algorithm 4; from lse: Dao, "FlashAttention-2",
 * arXiv:2307.08691, Algorithm 2.) Five products a pair, one of them made again. BACKWARD_ROWS queries
 * meet BACKWARD_KEYS keys at a time: P and dS of those stay in the second cache, the sums over the
 * block's queries run in registers. Keys, values and their sums come from the third once for each block of
 * queries: with d = 128 twice the queries save a tenth of the time.
 *
 * Of a large |lse| little is left of the sum's logarithm: log m is lost where all logits are -1e9. The sums of such rows are
 * made anew from their keys (exact_attend() without values), and maximum and sum stay apart.
 *
 * A query's numbers that are not finite stay its own, as in the forward pass: weights of zero are left out
 * of the sums where a factor is not finite.
 */
#ifndef ATTN_ATTENTION_BACKWARD_BLOCK_H
#define ATTN_ATTENTION_BACKWARD_BLOCK_H

#include "attention/backward_products.h"

/* ---- P and dS -------------------------------------------------------------------------------------- */

/* A row whose lse is not finite has no weights, but still does not see what is hidden from it. */
ATTN_RARE_STEP void backward_lost_row_(const float *row, int64_t keys, float *weights) {
    for (int64_t j = 0; j < keys; j++) weights[j] = row[j] == -INFINITY ? 0.0f : NAN;
}

/* Of tile t: logits in `weights` become P, dP in `logits` becomes dS. A weight of zero passes nothing on,
 * whatever it is multiplied by. No weight is above 1, though an lse, rounded to a float, may be below the largest
 * logit; M may be so by EXACT_RESCALE_THRESHOLD. */
ATTN_STEP void backward_softmax(backward_block_t *block, int64_t t, int64_t column, int64_t keys) {
    for (int64_t r = t * TILE_ROWS; r < t * TILE_ROWS + block->tiles[t].rows; r++) {
        float *weights = block->weights + r * EXACT_KEYS + column;
        float *logits = block->logits + r * EXACT_KEYS + column;
        const vf shift = vf_set1(block->shift[r]), dot = vf_set1(block->dots[r]);
        const vf factor = vf_set1(block->factor[r]);
        const int lost = !isfinite(block->shift[r]);
        if (lost) backward_lost_row_(weights, keys, weights);
        ATTN_UNROLL_4
        for (int64_t j = 0; j < keys; j += VF_LANES) {
            const vf old = vf_load(weights + j);
            const vf above = vf_min(vf_set1(EXACT_RESCALE_THRESHOLD), vf_sub(old, shift));
            const vf share = vf_min(vf_set1(1.0f), vf_mul(factor, vf_exp4(above)));
            const vf weight = lost ? old : share;
            const vf change = vf_mul(weight, vf_sub(vf_load(logits + j), dot));
            vf_store(weights + j, weight);
            vf_store(logits + j, vf_select_positive(weight, change, weight));
        }
    }
}

/* d tanh(x) = 1 - tanh(x)^2, from the capped logits of a tile. */
ATTN_RARE_STEP void backward_cap_factors_(backward_block_t *block, int64_t t, int64_t column,
                                          int64_t keys) {
    const vf cap = vf_set1(block->tiles[t].softcap);
    for (int64_t r = t * TILE_ROWS; r < (t + 1) * TILE_ROWS; r++)
        for (int64_t j = column; j < column + keys; j += VF_LANES) {
            const vf tanh = vf_div(vf_load(block->weights + r * EXACT_KEYS + j), cap);
            vf_store(block->factors + r * EXACT_KEYS + j,
                     vf_sub(vf_set1(1.0f), vf_mul(tanh, tanh)));
        }
}

ATTN_RARE_STEP void backward_uncap_(backward_block_t *block, int64_t t, int64_t column,
                                    int64_t keys) {
    for (int64_t r = t * TILE_ROWS; r < (t + 1) * TILE_ROWS; r++)
        for (int64_t j = column; j < column + keys; j += VF_LANES) {
            float *logits = block->logits + r * EXACT_KEYS + j;
            const vf factor = vf_load(block->factors + r * EXACT_KEYS + j),
                     change = vf_load(logits);
            const vf weight = vf_load(block->weights + r * EXACT_KEYS + j);
            vf_store(logits, vf_select_positive(weight, vf_mul(factor, change), change));
        }
}

ATTN_RARE_STEP void backward_clear_(float *rows, int64_t first, int64_t last) {
    for (int r = 0; first < last && r < TILE_ROWS; r++)
        for (int64_t j = first; j < last; j++) rows[r * EXACT_KEYS + j] = 0.0f;
}

/* What a caller does with dS before it is taken through the softcap: gradients of bias and slopes. */
typedef void backward_watch_t(void *data, const backward_block_t *block, int64_t tile, int64_t base,
                              int64_t column, int64_t keys);

/* P, dS and dQ of tile t for the keys [base, base + keys), `keys` whole panels. */
ATTN_STEP void backward_tile(backward_block_t *block, int64_t t, const backward_keys_t *sides,
                             int64_t base, int64_t keys, backward_watch_t *watch, void *data) {
    exact_tile_t *tile = &block->tiles[t];
    float *weights = block->weights + t * TILE_ROWS * EXACT_KEYS;
    float *logits = block->logits + t * TILE_ROWS * EXACT_KEYS;
    const int64_t first = attn_min(attn_max(base, attn_round_down(tile->low, PANEL)), base + keys);
    const int64_t visible = attn_max(0, attn_min(base + keys, tile->high) - first);
    const int64_t width = attn_round_up(visible, PANEL), column = first - base;
    backward_clear_(weights, 0, visible ? column : keys);
    backward_clear_(logits, 0, visible ? column : keys);
    if (!visible) {
        backward_keep(block, t, keys, 0, keys);
        return;
    }
    backward_clear_(weights, column + width, keys);
    backward_clear_(logits, column + width, keys);
    tile->scores = weights + column;
    exact_products(tile, &sides->key, first, width, (attn_range_t){tile->low, tile->high});
    if (tile->softcap != 0.0f) {
        exact_softcap(tile, width);
        backward_cap_factors_(block, t, column, width);
    }
    if (tile->offsets) exact_add_offsets(tile, &sides->key, first, width, ATTN_LOG4_E);
    exact_mask_ranges(tile, first, width);
    backward_out_products(block, t, sides, first, width, column);
    backward_softmax(block, t, column, width);
    if (watch) watch(data, block, t, base, column, visible);
    if (tile->softcap != 0.0f) backward_uncap_(block, t, column, width);
    backward_keep(block, t, column, width, keys);
    backward_add_keys(block, t, sides, first, visible, column);
}

/* ---- dK and dV ------------------------------------------------------------------------------------- */

/* Of the rows [first, last) of a block those tiles that see any of the keys [low, high). */
ATTN_INLINE attn_range_t backward_rows_of(const backward_block_t *block, int64_t low,
                                          int64_t high) {
    attn_range_t rows = {block->rows, 0};
    for (int64_t t = 0; t * TILE_ROWS < block->rows; t++)
        if (block->tiles[t].low < high && low < block->tiles[t].high) {
            rows.first = attn_min(rows.first, t * TILE_ROWS);
            rows.last = attn_min(block->rows, (t + 1) * TILE_ROWS);
        }
    return rows;
}

/* sums[j] += sum_i weights[i][j] rows[i] for `count` keys, where a row with a weight of zero is left out. */
ATTN_RARE_STEP void backward_add_finite_(float *sums, int64_t sums_stride, const float *weights,
                                         const float *rows, int64_t rows_stride, int64_t depth,
                                         int64_t count, int64_t columns) {
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < depth; i++) {
            const float weight = weights[i * EXACT_KEYS + j];
            if (weight == 0.0f) continue;
            for (int64_t c = 0; c < columns; c++)
                sums[j * sums_stride + c] += weight * rows[i * rows_stride + c];
        }
}

/* The block's part of dK and dV of the keys [base, base + keys). */
ATTN_STEP void backward_add(const backward_block_t *block, const backward_keys_t *sides,
                            int64_t base, int64_t keys) {
    attn_range_t visible[BACKWARD_KEYS / TILE_ROWS];
    const backward_sums_to_t to = {.key = sides->key_sums + base * sides->dim,
                                   .value = sides->value_sums + base * sides->value_dim,
                                   .dim = sides->dim,
                                   .value_dim = sides->value_dim};
    for (int64_t j = 0; j < keys; j += TILE_ROWS)
        visible[j / TILE_ROWS] =
            backward_rows_of(block, base + j, base + attn_min(j + TILE_ROWS, keys));
    if (block->finite) {
        backward_add_rows(block, &to, visible, keys);
        return;
    }
    for (int64_t j = 0; j < keys; j += TILE_ROWS) {
        const int64_t count = attn_min(TILE_ROWS, keys - j);
        const int64_t first = visible[j / TILE_ROWS].first;
        const int64_t depth = visible[j / TILE_ROWS].last - first, at = first * EXACT_KEYS + j;
        if (depth <= 0) continue;
        backward_add_finite_(to.value + j * to.value_dim, to.value_dim, block->weights + at,
                             block->out_gradient + first * block->out_stride, block->out_stride,
                             depth, count, block->value_dim);
        backward_add_finite_(to.key + j * to.dim, to.dim, block->logits + at,
                             block->query + first * block->query_stride, block->query_stride, depth,
                             count, block->dim);
    }
}

/** The keys that a block's queries see, whose tiles have their ranges; the first is that of a panel. */
ATTN_STEP attn_range_t backward_span(backward_block_t *block) {
    attn_range_t span = {INT64_MAX, 0};
    for (int64_t t = 0; t * TILE_ROWS < block->rows; t++) {
        exact_tile_t *tile = &block->tiles[t];
        exact_span(tile, &tile->low, &tile->high);
        if (tile->low >= tile->high) continue;
        span.first = attn_min(span.first, attn_round_down(tile->low, PANEL));
        span.last = attn_max(span.last, tile->high);
    }
    return span;
}

/** All that a block's queries pass on to the keys of their span and get of them. */
ATTN_STEP void backward_attend(backward_block_t *block, const backward_keys_t *sides,
                               attn_range_t span, backward_watch_t *watch, void *data) {
    for (int64_t base = span.first; base < span.last; base += BACKWARD_KEYS) {
        const int64_t keys = attn_min(BACKWARD_KEYS, span.last - base);
        for (int64_t t = 0; t * TILE_ROWS < block->rows; t++)
            backward_tile(block, t, sides, base, attn_round_up(keys, PANEL), watch, data);
        backward_add(block, sides, base, keys);
    }
}

#endif
