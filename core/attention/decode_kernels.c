/*
 * Decoding: exact attention for a few queries (attention/decode_products.h). Compiled once per tier.
 *
 * The rows of one key/value head are the queries of all heads that read it (task.h), so that K and V come from memory
 * once for all of them.
 *
 * Keys go in blocks: their logits, their weights, the sum of their values. Several rows compute
 * longer than memory takes, if it does not stand still meanwhile: during the products the block's
 * values are fetched, during the sums the next block's keys. One row waits for memory anyway, which
 * is read fastest as a few long stretches side by side: its block is the whole split.
 *
 * Compilers choose here what is inlined: all of it in one function takes 5% longer.
 */
#include "attention/decode_keys.h"
#include "attention/decode_scores.h"

/* ---- one block of keys ------------------------------------------------------------------------- */

/* The keys of a block that some of these rows see, and whether all see the same of them: no row
 * another range, no key masked by itself. */
static attn_range_t span_of(const decode_row_t *rows, int64_t count, int64_t base, int64_t keys,
                            int *alike) {
    attn_range_t span = {INT64_MAX, 0};
    *alike = !rows[0].mods.has_offsets;
    for (int64_t r = 0; r < count; r++) {
        const int64_t first = attn_max(0, rows[r].first - base);
        const int64_t last = attn_min(keys, rows[r].last - base);
        *alike &= r == 0 || (first == span.first && last == span.last);
        if (first >= last) continue;
        span.first = attn_min(span.first, first);
        span.last = attn_max(span.last, last);
    }
    return span;
}

/*
 * A group's weights times the block's values. A masked value must not reach the output even when it
 * is NaN or infinite (0 * NaN is NaN): what no row sees is not read; where rows do not see the same
 * and a value is not finite, each row goes alone and leaves out weights of zero.
 */
ATTN_RARE_STEP void add_group(const decode_row_t *rows, decode_sums_t *sums, int64_t base,
                              int64_t count) {
    int alike;
    const attn_range_t span = span_of(rows, sums->rows, base, count, &alike);
    if (span.first >= span.last) return;
    sums->first = span.first;
    sums->last = span.last;
    if (alike || decode_all_finite(&sums->values, span.first, span.last, sums->columns)) {
        decode_sums(sums);
        return;
    }
    for (int64_t r = 0; r < sums->rows; r++) {
        decode_sums_t one = *sums;
        one.out += r * sums->out_stride;
        one.rescale += r;
        one.weights += r * sums->weights_stride;
        one.first = attn_max(0, rows[r].first - base);
        one.last = attn_min(count, rows[r].last - base);
        decode_sums_seen(&one);
    }
}

ATTN_RARE_STEP void add_values(const decode_task_t *task, chunk_t chunk, const scratch_t *space,
                               const decode_rows_t *values, const decode_rows_t *ahead,
                               const float *rescale, float *out, int64_t base, int64_t count) {
    const attn_head_t *head = task->head;
    const int64_t rows = chunk.count, block = block_of(task);
    const int words = in_words(head, values, head->problem->value_dim);
    decode_sums_t sums = {.columns = head->problem->value_dim,
                          .out_stride = space->out_stride,
                          .part = space->part,
                          .weights_stride = block,
                          .words_stride = block + 2,
                          .values = *values,
                          .ahead = *ahead};
    for (int64_t r = 0; r < rows; r += sums.rows) {
        sums.rows = rows - r >= DECODE_GROUP ? DECODE_GROUP : rows - r >= 2 ? 2 : 1;
        sums.out = out + (chunk.first + r) * space->out_stride;
        sums.rescale = rescale + r;
        sums.weights = space->scores + r * block;
        if (words) sums.words = space->words + r * sums.words_stride;
        if (words) sums.word_scales = space->scales + r;
        add_group(space->rows + chunk.first + r, &sums, base, count);
    }
}

/* Weights with the values' scales in them, and a 0 behind. */
static void weights_to_words(const decode_task_t *task, const scratch_t *space, float *scores,
                             int64_t row, int64_t count) {
    uint16_t *words = space->words + row * (block_of(task) + 2);
    const int64_t whole = attn_round_up(count, VF_LANES);
    space->scales[row] = decode_to_words(scores, whole, decode_level(DECODE_SPLIT), words);
    words[whole] = 0;
}

/* What a head asks for whose task has several: its share of the next `count` tokens, all heads' rows. They need not exist:
 * addresses are of no type. */
static decode_line_t line_of(const decode_task_t *task, const attn_tensor_t *tensor,
                             const decode_rows_t *rows, int64_t base, int64_t count) {
    const attn_head_t *head = task->head;
    const int64_t before = task->number * count, number = before % task->heads;
    const uintptr_t size = (uintptr_t)attn_dtype_size(tensor->dtype);
    const uintptr_t heads_on = (uintptr_t)tensor->stride[1] * size;
    const uintptr_t tokens_on = (uintptr_t)tensor->stride[2] * size;
    const int64_t first = attn_offset(tensor, head->batch, head->kv_head - task->number, 0);
    return (decode_line_t){
        .at = (uintptr_t)exact_at(tensor, first) + (uintptr_t)number * heads_on +
              (uintptr_t)(base + count + before / task->heads) * tokens_on,
        .size = rows->size,
        .head = number,
        .heads = task->heads,
        .heads_on = heads_on,
        .tokens_on = tokens_on - (uintptr_t)task->heads * heads_on,
    };
}

/* A chunk of rows against a block of keys. What is read later is asked for by the first chunk alone. */
ATTN_RARE_STEP void attend_chunk(const decode_task_t *task, chunk_t chunk, const scratch_t *space,
                                 float *out, int64_t base, int64_t count) {
    const attn_head_t *head = task->head;
    const attn_problem_t *problem = head->problem;
    const attn_io_t *io = head->io;
    decode_row_t *rows = space->rows + chunk.first;
    float rescale[CHUNK_ROWS];
    const decode_rows_t keys = rows_of(head, &io->key, base, count, problem->dim, space->keys);
    const decode_rows_t values =
        rows_of(head, &io->value, base, count, problem->value_dim, space->values);
    const decode_rows_t later_keys = rows_behind(&keys, count, space->keys);
    const decode_rows_t these_values = rows_behind(&values, 0, space->values);
    const decode_scales_t key_scales = scales_of(head, &io->key_scales, base);
    const decode_scales_t value_scales = scales_of(head, &io->value_scales, base);
    decode_line_t lines[2];
    const int by_lines = VF_FETCHES && task->heads > 1;
    if (by_lines) {
        lines[0] = line_of(task, &io->key, &keys, base, count);
        lines[1] = line_of(task, &io->value, &values, base, count);
    }
    decode_dots_t dots = dots_of(task, chunk, space, &keys, count);
    dots.ahead = these_values;
    dots.asks = chunk.first == 0;
    dots.lines = by_lines ? lines : NULL;
    decode_dots(&dots);
    for (int64_t r = 0; r < dots.rows; r++) {
        decode_row_t *row = &rows[r];
        float *scores = space->scores + r * dots.scores_stride;
        rescale[r] = decode_weigh(row, scores, base, count, &key_scales);
        decode_scale(scores, &value_scales, attn_max(0, row->first - base),
                     attn_min(count, row->last - base));
        if (head->integers) weights_to_words(task, space, scores, r, count);
    }
    add_values(task, chunk, space, &values, &later_keys, rescale, out, base, count);
}

/* Rows of keys and values that are copied stay where they are for the next chunk. */
ATTN_RARE_STEP void attend_block(const decode_task_t *task, const scratch_t *space, float *out,
                                 int64_t base, int64_t count) {
    const int64_t chunk = chunk_of(task);
    for (int64_t r = 0; r < task->count; r += chunk)
        attend_chunk(task, (chunk_t){r, attn_min(chunk, task->count - r)}, space, out, base, count);
}

/* ---- splits of keys ------------------------------------------------------------------------------- */

static void end_rows(const decode_task_t *task, const scratch_t *space,
                     decode_partial_t *partials) {
    for (int64_t r = 0; r < task->count; r++) {
        partials[r].max = space->rows[r].max;
        partials[r].sum = vf_reduce_add(vf_load(space->rows[r].sums));
    }
}

/* In this one loop over all that is seen, compilers can make a version for one row. */
static void attend_head(const decode_task_t *task, decode_partial_t *partials, float *out,
                        void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    const scratch_t space = lay_out_decode_task(task->head->problem, &arena);
    const attn_key_span_t *runs = task->runs;
    const int64_t block = block_of(task);
    clear(out, task->count * space.out_stride);
    begin_rows(task, &space);
    for (int64_t i = 0, by; i < task->run_count; i++) {
        attn_key_span_t part = {.last = runs[i].first};
        while (part.last < runs[i].last) {
            part = part_of(task->pattern, &runs[i], part.last, &by);
            const attn_range_t span = show(task, &space, &part, by);
            for (int64_t base = span.first; base < span.last; base += block)
                attend_block(task, &space, out, base, attn_min(block, span.last - base));
        }
    }
    end_rows(task, &space, partials);
}

/* One of a task's heads, with its rows' part of the scratch. */
typedef struct member {
    attn_head_t head;
    decode_task_t task;
    scratch_t space;
} member_t;

static void member_of(const decode_task_t *task, const scratch_t *space, int64_t number,
                      member_t *member) {
    const int64_t before = number * task->count;
    *member = (member_t){.head = *task->head, .task = *task, .space = *space};
    member->head.kv_head += number;
    member->task.head = &member->head;
    member->task.number = number;
    member->space.rows += before;
    member->space.queries += before * space->width;
    if (space->query_words) member->space.query_words += before * space->width;
    if (space->query_scales) member->space.query_scales += before;
}

/* Let the rows of all heads see a part of a span; returns what any of them sees. */
static attn_range_t show_all(const decode_task_t *task, const scratch_t *space,
                             const attn_key_span_t *part, int64_t by) {
    attn_range_t span = {INT64_MAX, 0};
    for (int64_t h = 0; h < task->heads; h++) {
        member_t member;
        member_of(task, space, h, &member);
        const attn_range_t visible = show(&member.task, &member.space, part, by);
        span.first = attn_min(span.first, visible.first);
        span.last = attn_max(span.last, visible.last);
    }
    return span;
}

/* Heads take turns with each block of keys: memory in which they stand side by side is read in its order. */
static void attend_heads(const decode_task_t *task, decode_partial_t *partials, float *out,
                         void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    const scratch_t space = lay_out_decode_task(task->head->problem, &arena);
    const int64_t block = block_of(task), step = task->step * space.out_stride;
    member_t member;
    for (int64_t h = 0; h < task->heads; h++) {
        member_of(task, &space, h, &member);
        clear(out + h * step, task->count * space.out_stride);
        begin_rows(&member.task, &member.space);
    }
    for (int64_t i = 0, by; i < task->run_count; i++) {
        attn_key_span_t part = {.last = task->runs[i].first};
        while (part.last < task->runs[i].last) {
            part = part_of(task->pattern, &task->runs[i], part.last, &by);
            const attn_range_t span = show_all(task, &space, &part, by);
            for (int64_t base = span.first; base < span.last; base += block)
                for (int64_t h = 0; h < task->heads; h++) {
                    member_of(task, &space, h, &member);
                    attend_block(&member.task, &member.space, out + h * step, base,
                                 attn_min(block, span.last - base));
                }
        }
    }
    for (int64_t h = 0; h < task->heads; h++) {
        member_of(task, &space, h, &member);
        end_rows(&member.task, &member.space, partials + h * task->step);
    }
}

ATTN_RARE_STEP void decode_attend(const decode_task_t *task, decode_partial_t *partials, float *out,
                                  void *scratch_memory) {
    if (task->heads == 1)
        attend_head(task, partials, out, scratch_memory);
    else
        attend_heads(task, partials, out, scratch_memory);
}

/* Sums of splits add up once they are worth the same: times 4^(M_split - M). */
ATTN_RARE_STEP void combine(const attn_head_t *head, int64_t splits,
                            const decode_partial_t *partials, float *outs) {
    const attn_problem_t *problem = head->problem;
    const attn_queries_t all = attn_all_queries(head);
    const int64_t rows = attn_row_count(&all), stride = out_stride(problem);
    for (int64_t row = 0; row < rows; row++) {
        const attn_place_t at = attn_place_of(head, &all, row);
        const float sink = exact_sink_of(head, at.head);
        float *out = outs + row * stride, max = sink;
        for (int64_t c = 0; c < splits; c++)
            max = partials[c * rows + row].max > max ? partials[c * rows + row].max : max;
        const float shift = max < -FLT_MAX ? 0.0f : max;
        float sum = exp2f(2.0f * (sink - shift));
        for (int64_t c = 0; c < splits; c++) {
            const decode_partial_t *partial = &partials[c * rows + row];
            const float factor = exp2f(2.0f * (partial->max - shift));
            const float *part = outs + (c * rows + row) * stride;
            sum += factor * partial->sum;
            for (int64_t k = 0; k < problem->value_dim; k++)
                out[k] = (c ? out[k] : 0.0f) + factor * part[k];
        }
        exact_write(head, at, out, max, sum);
    }
}

const decode_kernels_t ATTN_KERNEL(attn_decode_kernels) = {
    .out_stride = out_stride,
    .scratch = scratch,
    .attend = decode_attend,
    .combine = combine,
    .score = score,
    .weigh = weigh,
};
