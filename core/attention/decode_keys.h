/*
 * attention/decode_keys.h: keys and values of a task where they lie: a block of them, and the spans that rows see. A part
 * of decode_kernels.c, compiled once per tier.
 */
#ifndef ATTN_ATTENTION_DECODE_KEYS_H
#define ATTN_ATTENTION_DECODE_KEYS_H

#include "attention/decode_scratch.h"

/* Rows [first, first + count) of a task. */
typedef struct chunk {
    int64_t first, count;
} chunk_t;

/* `count` rows of key or value from `first` on, with elements side by side: in place, or in f32 as whole
 * vectors with zeros behind. */
static decode_rows_t rows_of(const attn_head_t *head, const attn_tensor_t *tensor, int64_t first,
                             int64_t count, int64_t columns, float *copy) {
    const int64_t size = attn_dtype_size(tensor->dtype);
    const char *data = exact_at(tensor, attn_offset(tensor, head->batch, head->kv_head, first));
    if (in_place(tensor))
        return (decode_rows_t){data, tensor->stride[2] * size, columns * size, tensor->dtype};
    const int64_t width = attn_round_up(columns, VF_LANES), row = width * (int64_t)sizeof *copy;
    clear(copy, count * width);
    for (int64_t j = 0; j < count; j++)
        convert_row(copy + j * width, data + j * tensor->stride[2] * size, tensor->dtype,
                    tensor->stride[3], columns, 1.0f);
    return (decode_rows_t){(const char *)copy, row, row, ATTN_F32};
}

/* Whether `columns` of them are multiplied as integers; else as floats, which are the same numbers. */
static int in_words(const attn_head_t *head, const decode_rows_t *rows, int64_t columns) {
    return head->integers && rows->dtype == ATTN_I8 && columns % DECODE_BYTES == 0;
}

/* The rows behind the next `count`, to be asked for: none where they are copied. */
static decode_rows_t rows_behind(const decode_rows_t *rows, int64_t count, const float *copy) {
    decode_rows_t behind = *rows;
    if (rows->data == (const char *)copy) behind.size = behind.stride = 0;
    behind.data =
        (const char *)((uintptr_t)rows->data + (uintptr_t)count * (uintptr_t)rows->stride);
    return behind;
}

static decode_scales_t scales_of(const attn_head_t *head, const attn_tensor_t *scales,
                                 int64_t first) {
    if (!scales->data) return (decode_scales_t){NULL, 0};
    return (decode_scales_t){attn_row(scales, head->batch, head->kv_head, first),
                             scales->stride[2]};
}

/* ---- key spans ------------------------------------------------------------------------------------ */

/* Let the rows see a span, `by` added to its keys and their ranges'; returns what any of them sees. */
ATTN_RARE_STEP attn_range_t show(const decode_task_t *task, const scratch_t *space,
                                 const attn_key_span_t *run, int64_t by) {
    const attn_head_t *head = task->head;
    const attn_pattern_t *pattern = task->pattern;
    const attn_problem_t *problem = head->problem;
    attn_range_t span = {INT64_MAX, 0};
    for (int64_t r = 0; r < task->count; r++) {
        decode_row_t *row = &space->rows[r];
        attn_range_t visible[ATTN_MOST_RANGES];
        const attn_place_t at = place_of(task, r);
        const int64_t keys = attn_keys_of(problem, head->io, at.batch);
        row->mods = exact_mods_of(head, at);
        if (run->full) row->mods.mask = NULL;
        if (pattern)
            pattern->see(pattern, problem, keys, at.query, visible);
        else
            attn_key_range(problem, keys, at.query, &visible[0].first, &visible[0].last);
        row->first = attn_max(run->first, visible[run->range].first) + by;
        row->last = attn_min(run->last, visible[run->range].last) + by;
        if (row->first >= row->last) continue;
        span.first = attn_min(span.first, row->first);
        span.last = attn_max(span.last, row->last);
    }
    return span;
}

/*
 * The part of a span that begins at `first`: keys that follow each other where they are read, `by` behind
 * their positions in the span. All of a range; of a list as many as stand side by side in memory.
 */
ATTN_RARE_STEP attn_key_span_t part_of(const attn_pattern_t *pattern, const attn_key_span_t *run,
                                       int64_t first, int64_t *by) {
    attn_key_span_t part = *run;
    part.first = first;
    *by = 0;
    if (!pattern || run->range < pattern->in_place) return part;
    *by = pattern->map[first] - first;
    part.last = first + 1;
    while (part.last < run->last && pattern->map[part.last] - part.last == *by) part.last++;
    return part;
}

#endif
