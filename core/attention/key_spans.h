/*
 * attention/key_spans.h: tiles of queries go over the key spans that a pattern keeps (pattern.h).
 *
 * Short spans are taken together: their logits stand side by side, so that the steps of the softmax and
 * the sums of a tile are those of EXACT_KEYS keys, not those of a block. Of a span a tile computes the
 * panels in which a key is visible to one of its rows, or the one vector of a panel that has all those.
 */
#ifndef ATTN_ATTENTION_KEY_SPANS_H
#define ATTN_ATTENTION_KEY_SPANS_H

#include "attention/online_softmax.h"

enum { SPANS = 16 /* at most that are taken together */ };

/* What a tile computes of a span: keys [base, base + keys), whole panels, or one vector of one; 0 keys: nothing. */
typedef struct span_piece {
    const attn_key_rows_t *key_list;
    const attn_range_t *rows; /* [TILE_ROWS]: the keys visible to each row */
    attn_key_span_t run;
    int64_t base, keys;
} span_piece_t;

/* Set the rows' ranges to the keys of a span that are visible to them; a row without any gets an empty range in it. */
ATTN_RARE_STEP void span_look(exact_tile_t *tile, const attn_range_t *rows,
                              const attn_key_span_t *run) {
    for (int r = 0; r < TILE_ROWS; r++) {
        tile->first[r] = attn_min(attn_max(rows[r].first, run->first), run->last);
        tile->last[r] = attn_max(tile->first[r], attn_min(rows[r].last, run->last));
    }
}

/** Set a span's piece: what is visible to the tile, `visible` being the keys visible to any of its rows. */
ATTN_RARE_STEP void span_cut(span_piece_t *piece, const attn_key_span_t *run,
                             attn_range_t visible) {
    const int64_t first = attn_max(run->first, visible.first),
                  last = attn_min(run->last, visible.last);
    const int one = EXACT_HAS_ONE && last - attn_round_down(first, VF_LANES) <= VF_LANES;
    const int64_t unit = one ? VF_LANES : PANEL;
    piece->run = *run;
    piece->run.first = first;
    piece->run.last = last;
    piece->base = attn_round_down(first, unit);
    piece->keys = first < last ? attn_round_up(last - piece->base, unit) : 0;
}

ATTN_RARE_STEP void span_logits(exact_tile_t *tile, const span_piece_t *piece) {
    const uint32_t offsets = tile->offsets;
    if (piece->run.full) tile->offsets &= ~(uint32_t)ATTN_INPUT_MASK;
    span_look(tile, piece->rows, &piece->run);
    exact_products(tile, piece->key_list, piece->base, piece->keys,
                   (attn_range_t){piece->run.first, piece->run.last});
    exact_shape(tile, piece->key_list, piece->base, piece->keys);
    tile->offsets = offsets;
}

/* The values of a span by the weights that stand at the tile's scores. */
ATTN_RARE_STEP void span_accumulate(exact_tile_t *tile, const span_piece_t *piece) {
    const attn_range_t run = {piece->run.first, piece->run.last};
    if (exact_add_finite(tile, piece->key_list, piece->base, piece->keys, run)) return;
    span_look(tile, piece->rows, &piece->run);
    exact_add_values(tile, piece->key_list, piece->base, piece->keys, tile->offsets != 0);
}

/** Let a tile see `count` pieces, which have at most EXACT_KEYS keys in all. */
ATTN_RARE_STEP void spans_step(exact_tile_t *tile, const span_piece_t *pieces, int count) {
    float *const scores = tile->scores;
    int64_t keys = 0;
    for (int i = 0; i < count; i++) {
        if (!pieces[i].keys) continue;
        tile->scores = scores + keys;
        span_logits(tile, &pieces[i]);
        keys += pieces[i].keys;
    }
    tile->scores = scores;
    if (!keys) return;
    exact_softmax(tile, keys);
    keys = 0;
    for (int i = 0; tile->out && i < count; i++) {
        if (!pieces[i].keys) continue;
        tile->scores = scores + keys;
        span_accumulate(tile, &pieces[i]);
        keys += pieces[i].keys;
    }
    tile->scores = scores;
}

#endif
