/*
 * Rows times a sketching matrix, whatever the strides of the rows. Compiled once per tier.
 */
#include "kernels.h"

#include "gemm/tile.h"

#include <string.h>

typedef struct scratch {
    float *input;  /* dense: [TILE_ROWS][dim]; sparse: [dim][PANEL] */
    float *output; /* dense: [TILE_ROWS][size rounded up]; sparse: [size][PANEL] */
} scratch_t;

static scratch_t lay_out_sketch_rows(int64_t dim, int64_t size, attn_arena_t *arena) {
    const uint64_t width = (uint64_t)attn_max(TILE_ROWS, PANEL);
    scratch_t scratch;
    scratch.input = attn_arena_take(arena, dim, width * sizeof(float));
    scratch.output = attn_arena_take(arena, attn_round_up(size, VF_LANES), width * sizeof(float));
    return scratch;
}

static void scratch_size(int64_t dim, int64_t size, attn_arena_t *arena) {
    lay_out_sketch_rows(dim, size, arena);
}

/* A tile's rows stay in the nearest cache while the matrix goes by. */
static void dense(const sketch_rows_t *rows, const float *matrix) {
    attn_arena_t arena = {.base = rows->scratch};
    const scratch_t scratch = lay_out_sketch_rows(rows->dim, rows->size, &arena);
    const int64_t stride = attn_round_up(rows->size, VF_LANES);
    const size_t input_bytes = (size_t)(TILE_ROWS * rows->dim) * sizeof(float);
    const size_t output_bytes = (size_t)(TILE_ROWS * stride) * sizeof(float);
    for (int64_t first = 0; first < rows->count; first += TILE_ROWS) {
        const int64_t count = attn_min(TILE_ROWS, rows->count - first);
        memset(scratch.input, 0, input_bytes);
        memset(scratch.output, 0, output_bytes);
        for (int64_t r = 0; r < count; r++) {
            const float *source = rows->source + (first + r) * rows->row_stride;
            for (int64_t j = 0; j < rows->dim; j++)
                scratch.input[r * rows->dim + j] = source[j * rows->column_stride];
        }
        tile_accumulate(TILE_ROWS, scratch.output, stride, scratch.input, rows->dim, matrix,
                        rows->size, 0, rows->dim, rows->size);
        for (int64_t r = 0; r < count; r++)
            memcpy(rows->out + (first + r) * rows->size, scratch.output + r * stride,
                   (size_t)rows->size * sizeof(float));
    }
}

/* Lanes are rows: each entry of the matrix adds one feature of a panel of rows to one column. */
static void sparse(const sketch_rows_t *rows, const attn_sketch_entry_t *entries,
                   int64_t sparsity) {
    attn_arena_t arena = {.base = rows->scratch};
    const scratch_t scratch = lay_out_sketch_rows(rows->dim, rows->size, &arena);
    for (int64_t first = 0; first < rows->count; first += PANEL) {
        const int64_t count = attn_min(PANEL, rows->count - first);
        tile_pack(scratch.input, PANEL, count, rows->dim, rows->source + first * rows->row_stride,
                  rows->row_stride, rows->column_stride, 1.0f);
        memset(scratch.output, 0, (size_t)(rows->size * PANEL) * sizeof(float));
        for (int64_t j = 0; j < rows->dim; j++) {
            const float *feature = scratch.input + j * PANEL;
            for (int64_t i = j * sparsity; i < (j + 1) * sparsity; i++) {
                float *column = scratch.output + (int64_t)entries[i].column * PANEL;
                const vf weight = vf_set1(entries[i].weight);
                ATTN_UNROLL
                for (int v = 0; v < TILE_VECTORS; v++)
                    vf_store(column + v * VF_LANES,
                             vf_mul_add(weight, vf_load(feature + v * VF_LANES),
                                        vf_load(column + v * VF_LANES)));
            }
        }
        tile_pack(rows->out + first * rows->size, rows->size, rows->size, count, scratch.output,
                  PANEL, 1, 1.0f);
    }
}

/* Lanes are rows, as above; butterflies go over features. */
static void butterflies(float *x, int64_t order) {
    for (int64_t half = 1; half < order; half *= 2)
        for (int64_t j = 0; j < order; j++) {
            if (j & half) continue;
            float *a = x + j * PANEL, *b = a + half * PANEL;
            ATTN_UNROLL
            for (int v = 0; v < TILE_VECTORS; v++) {
                const vf p = vf_load(a + v * VF_LANES), q = vf_load(b + v * VF_LANES);
                vf_store(a + v * VF_LANES, vf_add(p, q));
                vf_store(b + v * VF_LANES, vf_sub(p, q));
            }
        }
}

static void hadamard(const sketch_rows_t *rows, const attn_sketch_srht_t *srht) {
    attn_arena_t arena = {.base = rows->scratch};
    const int64_t order = attn_sketch_order(rows->dim);
    float *input = lay_out_sketch_rows(order, rows->size, &arena).input;
    for (int64_t first = 0; first < rows->count; first += PANEL) {
        const int64_t count = attn_min(PANEL, rows->count - first);
        memset(input, 0, (size_t)(order * PANEL) * sizeof(float));
        tile_pack(input, PANEL, count, rows->dim, rows->source + first * rows->row_stride,
                  rows->row_stride, rows->column_stride, 1.0f);
        for (int64_t j = 0; j < rows->dim; j++)
            for (int64_t r = 0; r < PANEL; r++) input[j * PANEL + r] *= srht->weights[j];
        butterflies(input, order);
        for (int64_t r = 0; r < count; r++)
            for (int64_t t = 0; t < rows->size; t++)
                rows->out[(first + r) * rows->size + t] = input[srht->columns[t] * PANEL + r];
    }
}

/* P^T goes to the columns that P took; H is symmetric. */
static void hadamard_back(const sketch_rows_t *rows, const attn_sketch_srht_t *srht) {
    attn_arena_t arena = {.base = rows->scratch};
    const int64_t order = attn_sketch_order(rows->size);
    float *mixed = lay_out_sketch_rows(order, rows->dim, &arena).input;
    for (int64_t first = 0; first < rows->count; first += PANEL) {
        const int64_t count = attn_min(PANEL, rows->count - first);
        const float *source = rows->source + first * rows->row_stride;
        float *out = rows->out + first * rows->size;
        memset(mixed, 0, (size_t)(order * PANEL) * sizeof(float));
        for (int64_t t = 0; t < rows->dim; t++)
            for (int64_t r = 0; r < count; r++)
                mixed[srht->columns[t] * PANEL + r] =
                    source[r * rows->row_stride + t * rows->column_stride];
        butterflies(mixed, order);
        for (int64_t r = 0; r < count; r++)
            for (int64_t j = 0; j < rows->size; j++)
                out[r * rows->size + j] = srht->weights[j] * mixed[j * PANEL + r];
    }
}

static void sample(const sketch_rows_t *rows, const attn_sketch_draw_t *draws) {
    for (int64_t r = 0; r < rows->count; r++) {
        const float *source = rows->source + r * rows->row_stride;
        for (int64_t t = 0; t < rows->size; t++)
            rows->out[r * rows->size + t] =
                draws[t].weight * source[draws[t].feature * rows->column_stride];
    }
}

static void elements(const sketch_elements_t *row, const float *matrix) {
    memset(row->out, 0, (size_t)row->size * sizeof *row->out);
    for (int64_t i = 0; i < row->count; i++) {
        const float value = row->values[i], *from = matrix + row->features[i] * row->size;
        int64_t t = 0;
        for (; t + VF_LANES <= row->size; t += VF_LANES)
            vf_store(row->out + t,
                     vf_mul_add(vf_set1(value), vf_load(from + t), vf_load(row->out + t)));
        for (; t < row->size; t++) row->out[t] += value * from[t];
    }
}

const sketch_kernels_t ATTN_KERNEL(attn_sketch_kernels) = {
    .name = TILE_NAME,
    .scratch = scratch_size,
    .dense = dense,
    .sparse = sparse,
    .hadamard = hadamard,
    .hadamard_back = hadamard_back,
    .sample = sample,
    .elements = elements,
};
