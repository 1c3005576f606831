/*
 * attention/decode_scores.h: the scores of a few queries, of which each product becomes an element of the result. A part
 * of decode_kernels.c, compiled once per tier.
 */
#ifndef ATTN_ATTENTION_DECODE_SCORES_H
#define ATTN_ATTENTION_DECODE_SCORES_H

#include "attention/decode_keys.h"

/* Whether scores of a stage are of visible keys alone. */
static int are_masked(int32_t stage) {
    return stage == ATTN_SCORES_MASKED || stage == ATTN_SCORES_WEIGHTS;
}

/* Before masking, every row has scores of all keys of a span. */
static attn_range_t show_hidden(const scratch_t *space, int64_t rows, const attn_key_span_t *span) {
    for (int64_t r = 0; r < rows; r++) {
        space->rows[r].first = span->first;
        space->rows[r].last = span->last;
    }
    return (attn_range_t){span->first, span->last};
}

/* Products of the keys [base, base + count) as they are after a stage; of weights the logits in base 4. */
static void score_row(const decode_row_t *row, float *scores, int64_t base, int64_t count,
                      const decode_scales_t *scales, int32_t stage) {
    const int weights = stage == ATTN_SCORES_WEIGHTS;
    const int64_t first = attn_max(0, row->first - base), last = attn_min(count, row->last - base);
    decode_scale(scores, scales, first, last);
    if (stage != ATTN_SCORES_RAW && row->mods.softcap != 0.0f)
        exact_softcap_row(scores, attn_round_up(count, VF_LANES), row->mods.softcap);
    for (int64_t j = first; !weights && j < last; j++) scores[j] = exact_natural((double)scores[j]);
    if (are_masked(stage) && row->mods.has_offsets)
        decode_add_offsets(scores, &row->mods, base, first, last, weights ? ATTN_LOG4_E : 1.0f);
}

/* The products of a chunk of rows with `count` keys, which are what is read next, to space->scores. */
static decode_dots_t dots_of(const decode_task_t *task, chunk_t chunk, const scratch_t *space,
                             const decode_rows_t *keys, int64_t count) {
    const int64_t dim = task->head->problem->dim, from = chunk.first * space->width;
    const int words = in_words(task->head, keys, dim);
    return (decode_dots_t){.rows = chunk.count,
                           .dim = dim,
                           .width = space->width,
                           .query = space->queries + from,
                           .keys = *keys,
                           .ahead = *keys,
                           .count = count,
                           .words = words ? space->query_words + from : NULL,
                           .words_width = space->width,
                           .word_scales = words ? space->query_scales + chunk.first : NULL,
                           .scores = space->scores,
                           .scores_stride = block_of(task)};
}

/* The scores of a chunk of rows for the keys [base, base + count), to to[r][j]. */
ATTN_RARE_STEP void score_chunk(const decode_task_t *task, chunk_t chunk, const scratch_t *space,
                                int32_t stage, int64_t base, int64_t count, float *const *to) {
    const attn_head_t *head = task->head;
    const int64_t dim = head->problem->dim;
    const decode_rows_t keys = rows_of(head, &head->io->key, base, count, dim, space->keys);
    const decode_scales_t scales = scales_of(head, &head->io->key_scales, base);
    const decode_dots_t dots = dots_of(task, chunk, space, &keys, count);
    decode_dots(&dots);
    for (int64_t r = 0; r < chunk.count; r++) {
        const decode_row_t *row = &space->rows[chunk.first + r];
        float *scores = space->scores + r * dots.scores_stride;
        const int64_t last = attn_min(base + count, row->last);
        score_row(row, scores, base, count, &scales, stage);
        for (int64_t j = attn_max(base, row->first); j < last; j++)
            to[chunk.first + r][j] = scores[j - base];
    }
}

/* The scores of a task's rows for the keys of its spans; others are left alone. */
ATTN_RARE_STEP void score(const decode_task_t *task, int32_t stage, float *const *to,
                          void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    const scratch_t space = lay_out_decode_task(task->head->problem, &arena);
    const int64_t block = block_of(task), chunk = chunk_of(task);
    begin_rows(task, &space);
    for (int64_t i = 0, by; i < task->run_count; i++) {
        attn_key_span_t part = {.last = task->runs[i].first};
        while (part.last < task->runs[i].last) {
            part = part_of(task->pattern, &task->runs[i], part.last, &by);
            attn_range_t span = show(task, &space, &part, by);
            if (!are_masked(stage)) span = show_hidden(&space, task->count, &part);
            for (int64_t base = span.first; base < span.last; base += block)
                for (int64_t r = 0; r < task->count; r += chunk)
                    score_chunk(task, (chunk_t){r, attn_min(chunk, task->count - r)}, &space, stage,
                                base, attn_min(block, span.last - base), to);
        }
    }
}

/* ---- from logits to weights ------------------------------------------------------------------------ */

/* The next `count` elements, -inf behind them. */
ATTN_INLINE vf load_logits(const float *row, int64_t count) {
    if (count >= VF_LANES) return vf_load(row);
    return vf_keep(vf_load_first(row, count), 0, count, vf_set1(-INFINITY));
}

ATTN_INLINE void store_weights(float *row, int64_t count, vf weights) {
    if (count >= VF_LANES)
        vf_store(row, weights);
    else
        vf_store_first(row, weights, count);
}

/* 4^(S - shift), 0 for S of -inf whatever the shift is: in a row that is NaN keys that it does not see have none. */
ATTN_INLINE vf weight_of(vf logit, vf shift) {
    const vf below = vf_sub(vf_set1(-FLT_MAX), logit);
    return vf_select_positive(below, vf_zero(), vf_exp4(vf_sub(logit, shift)));
}

/* What some of a row's weights sum up to, which replace their logits. */
ATTN_INLINE float weigh_part(float *row, int64_t count, vf shift) {
    vf sum = vf_zero();
    for (int64_t j = 0; j < count; j += VF_LANES) {
        const vf weights = weight_of(load_logits(row + j, count - j), shift);
        store_weights(row + j, count - j, weights);
        sum = vf_add(sum, weights);
    }
    return vf_reduce_add(sum);
}

/* A query's logits, base 4 and of all keys, become weights; a sink takes its share. */
ATTN_RARE_STEP void weigh(const attn_head_t *head, attn_place_t at, float *row) {
    const int64_t keys = head->problem->keys;
    const float sink = exact_sink_of(head, at.head);
    vf largest = vf_set1(sink);
    for (int64_t j = 0; j < keys; j += VF_LANES)
        largest = vf_max(largest, load_logits(row + j, keys - j));
    const float max = vf_reduce_max(largest), shift = max < -FLT_MAX ? -FLT_MAX : max;
    float sum = exp2f(2.0f * (sink - shift));
    for (int64_t j = 0; j < keys; j += DECODE_SPLIT)
        sum += weigh_part(row + j, attn_min(DECODE_SPLIT, keys - j), vf_set1(shift));
    const vf scale = vf_set1(exact_normaliser(sum));
    for (int64_t j = 0; j < keys; j += VF_LANES) { /* 0 stays 0, and NaN what it is */
        const vf weights = load_logits(row + j, keys - j);
        store_weights(row + j, keys - j,
                      vf_select_positive(weights, vf_mul(weights, scale), weights));
    }
}

#endif
