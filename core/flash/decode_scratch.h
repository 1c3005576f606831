/*
 * flash/decode_scratch.h: what a few queries of a key/value head have in memory while they are decoded: their rows, as
 * floats and as integers, and a block of logits and weights. A part of decode_kernels.c, compiled once per tier.
 */
#ifndef ATTN_FLASH_DECODE_SCRATCH_H
#define ATTN_FLASH_DECODE_SCRATCH_H

#include "flash/kernels.h"

#include "simd/decode.h"
#include "simd/decode_row.h"

/* Keys at a time for several rows: so many that 32 kB of keys stay near, and as much of values. */
enum { BLOCK_BYTES = 32768, FEWEST = 32, MOST = 128 };

typedef struct scratch {
    decode_row_t *rows;        /* [DECODE_ROWS] */
    float *queries;            /* [DECODE_ROWS][width] */
    float *scores;             /* [rows][block], see block_of() */
    float *keys;               /* [MOST][width]: keys that are not read in place */
    float *values;             /* [MOST][out_stride]: the same for values */
    float *part;               /* [out_stride]: of the sum of one row's values */
    uint16_t *query_words;     /* [DECODE_ROWS][width]: of decode_bytes.h, and so the next three */
    uint16_t *words;           /* [rows][block + 2], of weights */
    float *query_scales;       /* [DECODE_ROWS] */
    float *scales;             /* [DECODE_ROWS] */
    int64_t width, out_stride; /* dim and value_dim rounded up to whole vectors */
} scratch_t;

static int64_t out_stride(const attn_problem_t *problem) {
    return tile_round_up(problem->value_dim, VF_LANES);
}

static scratch_t lay_out(const attn_problem_t *problem, attn_arena_t *arena) {
    scratch_t space = {.width = tile_round_up(problem->dim, VF_LANES),
                       .out_stride = out_stride(problem)};
    space.rows = attn_arena_take(arena, DECODE_ROWS, sizeof(decode_row_t));
    space.queries = attn_arena_take(arena, space.width, DECODE_ROWS * sizeof(float));
    space.scores =
        attn_arena_take(arena, tile_max(DECODE_ROWS * MOST, DECODE_SPLIT), sizeof(float));
    space.keys = attn_arena_take(arena, space.width, MOST * sizeof(float));
    space.values = attn_arena_take(arena, space.out_stride, MOST * sizeof(float));
    space.part = attn_arena_take(arena, space.out_stride, sizeof(float));
    if (!ATTN_QUANTISED || problem->kv_dtype != ATTN_I8) return space;
    space.query_words = attn_arena_take(arena, space.width, DECODE_ROWS * sizeof(uint16_t));
    space.words = attn_arena_take(arena, tile_max(DECODE_ROWS * (MOST + 2), DECODE_SPLIT + 2),
                                  sizeof(uint16_t));
    space.query_scales = attn_arena_take(arena, DECODE_ROWS, sizeof(float));
    space.scales = attn_arena_take(arena, DECODE_ROWS, sizeof(float));
    return space;
}

static void scratch(const attn_problem_t *problem, attn_arena_t *arena) { lay_out(problem, arena); }

/* Whether rows are read where they are: not when their elements are apart, or as decode_load_first_()
 * and decode_dtype() leave them to us. */
static int in_place(const attn_tensor_t *tensor, int64_t columns) {
    return tensor->stride[3] == 1 &&
           (!ATTN_COMPACT || (tensor->dtype == ATTN_F32 && columns % VF_LANES == 0));
}

static int64_t row_count(const attn_problem_t *problem) {
    return problem->heads / problem->kv_heads * problem->queries;
}

/* Keys at a time. (gcc makes a version of attend() for one row of what follows from this.) */
static int64_t block_of(const attn_head_t *head) {
    const attn_problem_t *problem = head->problem;
    const int copied =
        !in_place(&head->io->key, problem->dim) || !in_place(&head->io->value, problem->value_dim);
    if (row_count(problem) == 1 && !copied) return DECODE_SPLIT;
    const int64_t keys = BLOCK_BYTES / (problem->dim * attn_dtype_size(problem->kv_dtype));
    return tile_min(MOST, tile_max(FEWEST, keys / FEWEST * FEWEST));
}

static int64_t head_of_row(const attn_head_t *head, int64_t row) {
    const attn_problem_t *problem = head->problem;
    return head->kv_head * (problem->heads / problem->kv_heads) + row / problem->queries;
}

/* Whole vectors. */
static void clear(float *to, int64_t count) {
    for (int64_t i = 0; i < count; i += VF_LANES) vf_store(to + i, vf_zero());
}

ATTN_SMALL_STEP void begin_rows(const attn_head_t *head, const scratch_t *space, float *out) {
    const attn_problem_t *problem = head->problem;
    const int64_t rows = row_count(problem);
    clear(space->queries, rows * space->width);
    clear(out, rows * space->out_stride);
    clear(space->part, space->out_stride);
    clear(space->scores, rows * block_of(head));
    for (int64_t r = 0; r < rows; r++) {
        decode_row_t *row = &space->rows[r];
        const int64_t query_head = head_of_row(head, r), query = r % problem->queries;
        decode_row_begin(row);
        flash_read_queries(head, query_head, query, 1, space->queries + r * space->width, 0,
                           head->scale * ATTN_LOG4_E);
        if (ATTN_QUANTISED && head->integers)
            space->query_scales[r] =
                decode_to_words(space->queries + r * space->width, space->width,
                                decode_level(problem->dim), space->query_words + r * space->width);
    }
}

#endif
