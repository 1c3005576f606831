/*
 * Decoding: exact attention for a few queries (simd/decode.h). Compiled once per tier.
 *
 * The rows of one key/value head are the queries of all heads in its group, so that K and V are
 * read once for all of them: row g*queries + i is query i of the group's head g.
 */
#include "kernels.h"

#include "simd/decode.h"
#include "simd/flash_task.h"

enum { BLOCK = 64 /* keys at a time */ };

typedef struct scratch {
    flash_tile_t *tiles;       /* [DECODE_ROWS] */
    float *queries;            /* [DECODE_ROWS][TILE_ROWS][width] */
    float *out;                /* [DECODE_ROWS][TILE_ROWS][out_stride] */
    float *scores;             /* [TILE_ROWS][FLASH_KEYS] */
    float *keys;               /* [BLOCK][dim]: keys that are not f32 with unit stride */
    float *values;             /* [BLOCK][value_dim]: the same for values */
    int64_t width, out_stride; /* dim and value_dim rounded up to whole vectors */
} scratch_t;

static scratch_t lay_out(const attn_problem_t *problem, attn_arena_t *arena) {
    const uint64_t rows = DECODE_ROWS * TILE_ROWS * sizeof(float);
    scratch_t space = {.width = tile_round_up(problem->dim, VF_LANES),
                       .out_stride = tile_round_up(problem->value_dim, VF_LANES)};
    space.tiles = attn_arena_take(arena, DECODE_ROWS, sizeof(flash_tile_t));
    space.queries = attn_arena_take(arena, space.width, rows);
    space.out = attn_arena_take(arena, space.out_stride, rows);
    space.scores = attn_arena_take(arena, TILE_ROWS * FLASH_KEYS, sizeof(float));
    space.keys = attn_arena_take(arena, problem->dim, BLOCK * sizeof(float));
    space.values = attn_arena_take(arena, problem->value_dim, BLOCK * sizeof(float));
    return space;
}

static void scratch(const attn_problem_t *problem, attn_arena_t *arena) { lay_out(problem, arena); }

static int64_t out_stride(const attn_problem_t *problem) {
    return tile_round_up(problem->value_dim, VF_LANES);
}

static int64_t row_count(const attn_problem_t *problem) {
    return problem->heads / problem->kv_heads * problem->queries;
}

static int64_t head_of_row(const attn_head_t *head, int64_t row) {
    const attn_problem_t *problem = head->problem;
    return head->kv_head * (problem->heads / problem->kv_heads) + row / problem->queries;
}

/* One tile of rows; offsets (bias, mask, slope) belong to a head, so that where there are some a
 * tile ends with its head's queries. */
static int64_t begin_tile(const attn_head_t *head, const scratch_t *space, flash_tile_t *tile,
                          int64_t index, int64_t row) {
    const attn_problem_t *problem = head->problem;
    const int64_t query = row % problem->queries;
    const int64_t keys = attn_keys_of(problem, head->io, head->batch);
    float *queries = space->queries + index * TILE_ROWS * space->width;
    tile->rules = flash_rules(head, head_of_row(head, row), query);
    tile->rows = tile_min(TILE_ROWS, row_count(problem) - row);
    if (tile->rules.has_offsets) tile->rows = tile_min(tile->rows, problem->queries - query);
    tile->dim = problem->dim;
    tile->value_dim = problem->value_dim;
    tile->query = queries;
    tile->out = space->out + index * TILE_ROWS * space->out_stride;
    tile->out_stride = space->out_stride;
    tile->scores = space->scores;
    flash_begin(tile);
    for (int64_t i = 0; i < TILE_ROWS * space->width; i++) queries[i] = 0.0f;
    for (int64_t r = 0; r < TILE_ROWS; r++) {
        const int64_t at = row + tile_min(r, tile->rows - 1);
        attn_key_range(problem, keys, at % problem->queries, &tile->first[r], &tile->last[r]);
        if (r < tile->rows)
            flash_read_queries(head, head_of_row(head, at), at % problem->queries, 1,
                               queries + r * space->width, 0, head->scale * ATTN_LOG2_E);
    }
    return tile->rows;
}

/* `count` rows of key or value from `first` on, in f32 with unit stride: in place, or converted. */
static const float *rows_of(const attn_head_t *head, const attn_tensor_t *tensor,
                            const attn_tensor_t *scales, int64_t first, int64_t count,
                            int64_t columns, float *copy, int64_t *stride) {
    *stride = tensor->stride[2];
    if (tensor->dtype == ATTN_F32 && tensor->stride[3] == 1)
        return attn_row(tensor, head->batch, head->kv_head, first);
    *stride = columns;
    for (int64_t j = 0; j < count; j++)
        convert_row(copy + j * columns,
                    flash_at(tensor, attn_offset(tensor, head->batch, head->kv_head, first + j)),
                    tensor->dtype, tensor->stride[3], columns,
                    flash_token_scale(scales, head, first + j));
    return copy;
}

/* The keys [base, base + count) for one tile. */
static void step(flash_tile_t *tile, const scratch_t *space, int64_t base, int64_t count,
                 const float *keys, int64_t keys_stride, const float *values,
                 int64_t values_stride) {
    float keep[FLASH_ROWS];
    int64_t from[TILE_ROWS], to[TILE_ROWS];
    static const float zero[FLASH_ROWS] = {0};
    const int64_t whole = tile_round_up(count, VF_LANES);
    decode_dots(tile->rows, tile->dim, tile->query, space->width, keys, keys_stride, count,
                tile->scores, FLASH_KEYS);
    flash_shape(tile, base, whole);
    flash_softmax(tile, whole, zero, keep);
    for (int r = 0; r < TILE_ROWS; r++) {
        from[r] = tile_max(0, tile->first[r] - base);
        to[r] = tile_min(count, tile->last[r] - base);
    }
    if (tile->rows == 1 && !tile->rules.has_offsets) {
        decode_accumulate_row(tile->out, keep, tile->scores + from[0],
                              values + from[0] * values_stride, values_stride, to[0] - from[0],
                              tile->value_dim);
        return;
    }
    tile_accumulate_ranges(tile->out, tile->out_stride, keep, tile->scores, FLASH_KEYS, values,
                           values_stride, from, to, tile->rules.has_offsets, tile->value_dim);
}

static void attend(const attn_head_t *head, int64_t first, decode_partial_t *partial, float *out,
                   void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    const attn_problem_t *problem = head->problem;
    const scratch_t space = lay_out(problem, &arena);
    const int64_t end = tile_min(first + DECODE_CHUNK, problem->keys);
    int64_t tiles = 0;
    for (int64_t row = 0; row < row_count(problem); tiles++)
        row += begin_tile(head, &space, &space.tiles[tiles], tiles, row);
    for (int64_t i = 0; i < TILE_ROWS * FLASH_KEYS; i++) space.scores[i] = 0.0f;
    for (int64_t base = first; base < end; base += BLOCK) {
        const int64_t count = tile_min(BLOCK, end - base);
        const float *keys = NULL, *values = NULL;
        int64_t keys_stride = 0, values_stride = 0;
        for (int64_t t = 0; t < tiles; t++) {
            int64_t low, high;
            flash_span(&space.tiles[t], &low, &high);
            if (low >= base + count || high <= base) continue;
            if (!keys) {
                keys = rows_of(head, &head->io->key, &head->io->key_scales, base, count,
                               problem->dim, space.keys, &keys_stride);
                values = rows_of(head, &head->io->value, &head->io->value_scales, base, count,
                                 problem->value_dim, space.values, &values_stride);
            }
            step(&space.tiles[t], &space, base, count, keys, keys_stride, values, values_stride);
        }
    }
    for (int64_t t = 0, row = 0; t < tiles; row += space.tiles[t++].rows)
        for (int64_t r = 0; r < space.tiles[t].rows; r++) {
            const flash_tile_t *tile = &space.tiles[t];
            partial->max[row + r] = tile->max[r];
            partial->sum[row + r] = flash_sum(tile, r);
            memcpy(out + (row + r) * space.out_stride, tile->out + r * tile->out_stride,
                   (size_t)space.out_stride * sizeof(float));
        }
}

/* Sums of chunks add up once they are worth the same: times 2^(M_chunk - M). */
static void merge(const attn_head_t *head, int64_t chunks, const decode_partial_t *partials,
                  float *outs) {
    const attn_problem_t *problem = head->problem;
    const int64_t rows = row_count(problem), stride = out_stride(problem);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t query_head = head_of_row(head, row);
        const float sink = flash_sink_of(head, query_head);
        float *out = outs + row * stride, max = sink;
        for (int64_t c = 0; c < chunks; c++)
            max = partials[c].max[row] > max ? partials[c].max[row] : max;
        const float shift = max < -FLT_MAX ? 0.0f : max;
        float sum = exp2f(sink - shift);
        for (int64_t c = 0; c < chunks; c++) {
            const float factor = exp2f(partials[c].max[row] - shift);
            const float *part = outs + (c * rows + row) * stride;
            sum += factor * partials[c].sum[row];
            for (int64_t k = 0; k < problem->value_dim; k++)
                out[k] = (c ? out[k] : 0.0f) + factor * part[k];
        }
        const float scale = sum == 0.0f ? 0.0f : 1.0f / sum;
        for (int64_t k = 0; k < problem->value_dim; k++) out[k] *= scale;
        flash_write(head, query_head, row % problem->queries, out, (max + log2f(sum)) * ATTN_LN_2);
    }
}

const decode_kernels_t ATTN_KERNEL(attn_decode_kernels) = {
    .out_stride = out_stride,
    .scratch = scratch,
    .attend = attend,
    .merge = merge,
};
