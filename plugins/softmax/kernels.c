/*
 * Exact attention for one head: tiles of queries against packed keys, online softmax
 * (simd/flash.h). Compiled once per tier.
 */
#include "kernels.h"

#include "simd/flash.h"

/* What a task works in. */
typedef struct scratch {
    flash_tile_t *tiles; /* [SOFTMAX_TILES] */
    float *queries;      /* [SOFTMAX_TILES][dim][TILE_ROWS] */
    float *out;          /* [SOFTMAX_TILES][TILE_ROWS][value_dim rounded up] */
    float *scores;       /* [TILE_ROWS][FLASH_KEYS] */
} scratch_t;

static scratch_t lay_out(const attn_problem_t *problem, attn_arena_t *arena) {
    const int64_t rows = SOFTMAX_TILES * TILE_ROWS;
    scratch_t scratch;
    scratch.tiles = attn_arena_take(arena, SOFTMAX_TILES, sizeof(flash_tile_t));
    scratch.queries = attn_arena_take(arena, problem->dim, rows * sizeof(float));
    scratch.out = attn_arena_take(arena, tile_round_up(problem->value_dim, VF_LANES),
                                  rows * sizeof(float));
    scratch.scores = attn_arena_take(arena, TILE_ROWS * FLASH_KEYS, sizeof(float));
    return scratch;
}

static void scratch_size(const attn_problem_t *problem, attn_arena_t *arena) {
    lay_out(problem, arena);
}

static void pack(const softmax_head_t *head, int64_t panel) {
    const attn_problem_t *problem = head->problem;
    const attn_tensor_t *key = &head->io->key, *value = &head->io->value;
    const int64_t first = panel * PANEL, count = tile_min(PANEL, problem->keys - first);
    tile_pack(head->panels + first * problem->dim, PANEL, count, problem->dim,
              (const float *)key->data + head->batch * key->stride[0] +
                  head->kv_head * key->stride[1] + first * key->stride[2],
              key->stride[2], key->stride[3], 1.0f);
    if (head->values != head->packed) return;
    const float *source = (const float *)value->data + head->batch * value->stride[0] +
                          head->kv_head * value->stride[1];
    for (int64_t j = first; j < first + count; j++)
        for (int64_t c = 0; c < problem->value_dim; c++)
            head->packed[j * problem->value_dim + c] =
                source[j * value->stride[2] + c * value->stride[3]];
}

/* Set up the task's tiles with packed queries and key ranges; returns how many there are. */
static int64_t prepare(const softmax_task_t *task, const scratch_t *scratch, int with_output) {
    const softmax_head_t *head = task->head;
    const attn_problem_t *problem = head->problem;
    const attn_tensor_t *query = &head->io->query;
    const int64_t out_stride = tile_round_up(problem->value_dim, VF_LANES);
    const int64_t tiles = (task->count + TILE_ROWS - 1) / TILE_ROWS;
    for (int64_t t = 0; t < tiles; t++) {
        flash_tile_t *tile = &scratch->tiles[t];
        const int64_t first = task->first + t * TILE_ROWS;
        const int64_t rows = tile_min(TILE_ROWS, task->first + task->count - first);
        float *packed = scratch->queries + t * TILE_ROWS * problem->dim;
        tile_pack(packed, TILE_ROWS, rows, problem->dim,
                  (const float *)query->data + head->batch * query->stride[0] +
                      task->query_head * query->stride[1] + first * query->stride[2],
                  query->stride[2], query->stride[3], head->scale * ATTN_LOG2_E);
        tile->dim = problem->dim;
        tile->value_dim = problem->value_dim;
        tile->query = packed;
        tile->out = with_output ? scratch->out + t * TILE_ROWS * out_stride : NULL;
        tile->out_stride = out_stride;
        tile->scores = scratch->scores;
        for (int64_t r = 0; r < TILE_ROWS; r++) {
            tile->first[r] = 0;
            tile->last[r] = r < rows ? attn_causal_limit(problem, first + r) : 0;
        }
        flash_begin(tile);
    }
    return tiles;
}

static void attend(const softmax_task_t *task) {
    attn_arena_t arena = {.base = task->scratch};
    const softmax_head_t *head = task->head;
    const attn_tensor_t *out = &head->io->out, *lse = &head->io->lse;
    const scratch_t scratch = lay_out(head->problem, &arena);
    const flash_segment_t keys = {head->panels, head->values, head->values_stride};
    flash_attend(scratch.tiles, prepare(task, &scratch, 1), &keys);
    for (int64_t i = 0; i < task->count; i++) {
        const int64_t row = task->first + i;
        float *target = (float *)out->data + head->batch * out->stride[0] +
                        task->query_head * out->stride[1] + row * out->stride[2];
        float row_lse = flash_end(&scratch.tiles[i / TILE_ROWS], (int)(i % TILE_ROWS), target,
                                  out->stride[3]);
        if (lse->data)
            ((float *)lse->data)[head->batch * lse->stride[0] + task->query_head * lse->stride[1] +
                                 row * lse->stride[2]] = row_lse;
    }
}

static void weights(const softmax_task_t *task, float *rows, int64_t stride) {
    attn_arena_t arena = {.base = task->scratch};
    const attn_problem_t *problem = task->head->problem;
    const scratch_t scratch = lay_out(problem, &arena);
    const flash_segment_t keys = {task->head->panels, NULL, 0};
    const int64_t tiles = prepare(task, &scratch, 0);
    for (int64_t i = 0; i < task->count; i++)
        for (int64_t j = 0; j < problem->keys; j++) rows[i * stride + j] = 0.0f;
    flash_attend(scratch.tiles, tiles, &keys);
    for (int64_t t = 0; t < tiles; t++)
        flash_weights(&scratch.tiles[t], &keys, NULL, rows + t * TILE_ROWS * stride, stride,
                      tile_min(TILE_ROWS, task->count - t * TILE_ROWS));
}

const softmax_kernels_t ATTN_KERNEL(attn_softmax_kernels) = {
    .name = TILE_NAME,
    .panel = PANEL,
    .rows = SOFTMAX_TILES * TILE_ROWS,
    .scratch = scratch_size,
    .pack = pack,
    .attend = attend,
    .weights = weights,
};
