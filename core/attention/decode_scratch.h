/*
 * attention/decode_scratch.h: what a few queries of a key/value head have in memory while they are decoded: their rows, as
 * floats and as integers, and a block of logits and weights. A part of decode_kernels.c, compiled once per tier.
 */
#ifndef ATTN_ATTENTION_DECODE_SCRATCH_H
#define ATTN_ATTENTION_DECODE_SCRATCH_H

#include "attention/kernels.h"

#include "attention/decode_products.h"
#include "attention/decode_softmax.h"

/* Keys at a time for several rows: so many that 32 kB of keys stay near, and as much of values. They meet CHUNK_ROWS
 * rows at a time, whose queries and logits stay nearer. */
enum { BLOCK_BYTES = 32768, FEWEST = 32, MOST = 128, CHUNK_ROWS = 16 };

typedef struct scratch {
    decode_row_t *rows;        /* [DECODE_ROWS] */
    float *queries;            /* [DECODE_ROWS][width] */
    float *scores;             /* [rows of a chunk][block], see block_of() */
    float *keys;               /* [MOST][width]: keys that are not read in place */
    float *values;             /* [MOST][out_stride]: the same for values */
    float *part;               /* [out_stride]: of the sum of one row's values */
    uint16_t *query_words;     /* [DECODE_ROWS][width]: of decode_i8.h, and so the next three */
    float *query_scales;       /* [DECODE_ROWS] */
    uint16_t *words;           /* [rows of a chunk][block + 2], of weights */
    float *scales;             /* [CHUNK_ROWS] */
    int64_t width, out_stride; /* dim and value_dim rounded up to whole vectors */
} scratch_t;

static int64_t out_stride(const attn_problem_t *problem) {
    return attn_round_up(problem->value_dim, VF_LANES);
}

static scratch_t lay_out_decode_task(const attn_problem_t *problem, attn_arena_t *arena) {
    scratch_t space = {.width = attn_round_up(problem->dim, VF_LANES),
                       .out_stride = out_stride(problem)};
    space.rows = attn_arena_take(arena, DECODE_ROWS, sizeof(decode_row_t));
    space.queries = attn_arena_take(arena, space.width, DECODE_ROWS * sizeof(float));
    space.scores = attn_arena_take(arena, attn_max(CHUNK_ROWS * MOST, DECODE_SPLIT), sizeof(float));
    space.keys = attn_arena_take(arena, space.width, MOST * sizeof(float));
    space.values = attn_arena_take(arena, space.out_stride, MOST * sizeof(float));
    space.part = attn_arena_take(arena, space.out_stride, sizeof(float));
    if (problem->kv_dtype != ATTN_I8) return space;
    space.query_words = attn_arena_take(arena, space.width, DECODE_ROWS * sizeof(uint16_t));
    space.query_scales = attn_arena_take(arena, DECODE_ROWS, sizeof(float));
    space.words = attn_arena_take(arena, attn_max(CHUNK_ROWS * (MOST + 2), DECODE_SPLIT + 2),
                                  sizeof(uint16_t));
    space.scales = attn_arena_take(arena, CHUNK_ROWS, sizeof(float));
    return space;
}

static void scratch(const attn_problem_t *problem, attn_arena_t *arena) {
    lay_out_decode_task(problem, arena);
}

/* Whether rows are read where they are: not when their elements are apart. */
static int in_place(const attn_tensor_t *tensor) { return tensor->stride[3] == 1; }

/* Keys at a time. (gcc makes a version of attend_head() for one row of what follows from this.) */
static int64_t block_of(const decode_task_t *task) {
    const attn_head_t *head = task->head;
    const attn_problem_t *problem = head->problem;
    const int copied = !in_place(&head->io->key) || !in_place(&head->io->value);
    if (task->count == 1 && !copied) return DECODE_SPLIT;
    const int64_t keys = BLOCK_BYTES / (problem->dim * attn_dtype_size(problem->kv_dtype));
    return attn_min(MOST, attn_max(FEWEST, keys / FEWEST * FEWEST));
}

/* Rows that meet a block at a time: equal shares of whole groups, so that none is left alone. */
static int64_t chunk_of(const decode_task_t *task) {
    const int64_t chunks = (task->count - 1) / CHUNK_ROWS + 1;
    return chunks == 1 ? task->count : attn_round_up((task->count - 1) / chunks + 1, DECODE_GROUP);
}

/* Which query a row of a task is. */
static attn_place_t place_of(const decode_task_t *task, int64_t row) {
    const attn_queries_t all = attn_all_queries(task->head);
    return attn_place_of(task->head, &all, task->first + row);
}

/* Whole vectors. */
static void clear(float *to, int64_t count) {
    for (int64_t i = 0; i < count; i += VF_LANES) vf_store(to + i, vf_zero());
}

ATTN_RARE_STEP void begin_rows(const decode_task_t *task, const scratch_t *space) {
    const attn_head_t *head = task->head;
    const attn_problem_t *problem = head->problem;
    const int64_t rows = task->count;
    clear(space->queries, rows * space->width);
    clear(space->part, space->out_stride);
    clear(space->scores, chunk_of(task) * block_of(task));
    for (int64_t r = 0; r < rows; r++) {
        decode_row_t *row = &space->rows[r];
        decode_row_begin(row);
        exact_read_query(head, place_of(task, r), space->queries + r * space->width,
                         head->scale * ATTN_LOG4_E);
        if (head->integers)
            space->query_scales[r] =
                decode_to_words(space->queries + r * space->width, space->width,
                                decode_level(problem->dim), space->query_words + r * space->width);
    }
}

#endif
