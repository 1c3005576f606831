/* sketching/mix.c: see mix.h. */
#include "sketching/mix.h"

#include "attn/support.h"
#include "sketch/matrices.h"
#include "sketching/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a dense T, some rows at a time ------------------------------------------------------------------ */

/* What is needed on the way to Y. */
typedef struct mixing {
    const sketching_features_t *features;
    const sketching_options_t *options;
    sketching_result_t *result;
    double *sums;  /* n x m: Y in double */
    float *matrix; /* rows of T for a block of features */
    attn_sketch_srht_t srht;
} mixing_t;

static void fill_hadamard(const attn_sketch_srht_t *srht, const attn_sketch_part_t *part,
                          float *matrix) {
    for (int64_t j = 0; j < part->count; j++) {
        const int64_t feature = part->first + j;
        const float weight = srht->weights[feature];
        for (int64_t t = 0; t < part->size; t++)
            matrix[j * part->size + t] =
                attn_sketch_is_turned(feature, srht->columns[t]) ? -weight : weight;
    }
}

/* Y += features of a block times their rows of T. */
static void mix(const mixing_t *work, const attn_block_t *block) {
    const sketching_options_t *options = work->options;
    const int64_t size = work->result->size;
    const attn_sketch_part_t part = {block->first, block->width, size, options->seed};
    if (options->method == SKETCHING_GAUSSIAN)
        attn_sketch_gaussian(work->matrix, &part);
    else if (options->method == SKETCHING_AMS)
        attn_sketch_ams(work->matrix, &part);
    else
        fill_hadamard(&work->srht, &part, work->matrix);
    for (int64_t r = 0; r < block->count; r++) {
        double *sums = work->sums + block->rows[r] * size;
        for (int64_t f = 0; f < block->width; f++) {
            const double value = (double)block->values[r * block->stride + f];
            const float *row = work->matrix + f * size;
            for (int64_t t = 0; t < size; t++) sums[t] += (double)row[t] * value;
        }
    }
}

static int make_room(mixing_t *work) {
    const int64_t n = work->result->rows, size = work->result->size;
    const int64_t d = work->features->x->columns;
    work->sums = sketching_allocate(n, size, sizeof *work->sums);
    work->result->y = sketching_allocate(n, size, sizeof *work->result->y);
    work->matrix = sketching_allocate(ATTN_BLOCK_WIDTH, size, sizeof(float));
    if (work->options->method == SKETCHING_SRHT) {
        work->srht.columns =
            sketching_allocate(attn_sketch_order(d), 1, sizeof *work->srht.columns);
        work->srht.weights = sketching_allocate(d, 1, sizeof *work->srht.weights);
        if (!work->srht.columns || !work->srht.weights) return 0;
        attn_sketch_srht(&work->srht, d, size, work->options->seed);
    }
    return work->sums && work->result->y && work->matrix;
}

/* X by its features. */
static int mix_dense(mixing_t *work) {
    const int64_t elements = work->result->rows * work->result->size;
    if (!make_room(work)) return 0;
    for (int64_t first = 0; first < work->features->x->columns;) {
        const attn_block_t block = attn_block(work->features, first);
        first += block.width;
        if (block.count) mix(work, &block);
    }
    for (int64_t i = 0; i < elements; i++) work->result->y[i] = (float)work->sums[i];
    return 1;
}

/* ---- a sparse T, whole, and X row by row --------------------------------------------------------------- */

/*
 * An entry of T in half of its memory, of which a sparse X reads little in a line: its column, and in the lowest bit
 * whether it is negative.
 */
static uint32_t pack(attn_sketch_entry_t entry) {
    return (uint32_t)entry.column << 1 | (entry.weight < 0);
}

static int draw_packed(const attn_sketch_part_t *all, int64_t sparsity, uint32_t *packed) {
    enum { PART = 1024 };
    const embedding_kernels_t *kernels = sketching_kernels();
    attn_sketch_entry_t *entries = sketching_allocate(PART, sparsity, sizeof *entries);
    for (int64_t first = 0; entries && first < all->count; first += PART) {
        const attn_sketch_part_t part = {first, attn_min(PART, all->count - first), all->size,
                                         all->seed};
        kernels->draw(entries, &part, sparsity);
        for (int64_t e = 0; e < part.count * sparsity; e++)
            packed[first * sparsity + e] = pack(entries[e]);
    }
    free(entries);
    return entries != NULL;
}

static float signed_by(float value, uint32_t packed) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= packed << 31;
    memcpy(&value, &bits, sizeof bits);
    return value;
}

/* T of the sparse embedding. */
typedef struct scattering {
    attn_sketch_part_t all;
    int64_t sparsity;
    const uint32_t *packed; /* `sparsity` a feature, or NULL: drawn for each element */
} scattering_t;

static const uint32_t *packed_of(const scattering_t *t, int64_t feature, uint32_t *drawn) {
    const attn_sketch_part_t part = {feature, 1, t->all.size, t->all.seed};
    attn_sketch_entry_t entries[ATTN_SKETCH_MOST_SPARSITY];
    if (t->packed) return t->packed + feature * t->sparsity;
    attn_sketch_osnap(entries, &part, t->sparsity);
    for (int64_t k = 0; k < t->sparsity; k++) drawn[k] = pack(entries[k]);
    return drawn;
}

enum {
    AHEAD = 16
}; /* elements: what is asked for ahead comes from the last cache into the first */

/* A row of CSR or of a dense X into the columns of its features: in float, so that they stay in the first cache. */
static void embed_row(const sketching_x_t *x, int64_t i, const scattering_t *t, float *sums) {
    const int64_t start = x->dense ? i * x->columns : x->starts[i];
    const int64_t count = x->dense ? x->columns : x->starts[i + 1] - start;
    const float *values = (x->dense ? x->dense : x->data) + start;
    const int32_t *indices = x->dense ? NULL : x->indices + start;
    const float magnitude = (float)(1 / sqrt((double)t->sparsity));
    uint32_t drawn[ATTN_SKETCH_MOST_SPARSITY];
    for (int64_t at = 0; at < count; at++) {
        const uint32_t *entry = packed_of(t, indices ? indices[at] : at, drawn);
        const float value = magnitude * values[at];
        if (indices && t->packed && at + AHEAD < count)
            __builtin_prefetch(t->packed + indices[at + AHEAD] * t->sparsity);
        for (int64_t k = 0; k < t->sparsity; k++) sums[entry[k] >> 1] += signed_by(value, entry[k]);
    }
}

static void embed_rows(const sketching_x_t *x, const scattering_t *t, float *row, float *y) {
    const size_t size = (size_t)t->all.size;
    for (int64_t i = 0; i < x->rows; i++) {
        memset(row, 0, size * sizeof *row);
        embed_row(x, i, t, row);
        memcpy(y + (size_t)i * size, row, size * sizeof *row);
    }
}

static int embed(const sketching_x_t *x, const sketching_options_t *options,
                 sketching_result_t *result) {
    const int64_t size = result->size;
    scattering_t t = {.all = {0, x->columns, size, options->seed},
                      .sparsity = attn_sketch_sparsity(size, options->sparsity)};
    const int is_packed = !attn_sketch_draws_each(sketching_stored(x), x->columns);
    uint32_t *packed =
        is_packed ? sketching_allocate(x->columns, t.sparsity, sizeof *packed) : NULL;
    float *row = sketching_allocate(1, size, sizeof *row);
    float *y = result->y = sketching_allocate(x->rows, size, sizeof *y);
    t.packed = packed;
    const int done =
        y && row && (!is_packed || (packed && draw_packed(&t.all, t.sparsity, packed)));
    if (done) embed_rows(x, &t, row, y);
    free(row);
    free(packed);
    return done;
}

/* ---- Y ----------------------------------------------------------------------------------------------------- */

attn_status_t sketching_mix(const sketching_features_t *features,
                            const sketching_options_t *options, sketching_result_t *result,
                            attn_error_t *error) {
    mixing_t work = {.features = features, .options = options, .result = result};
    const int done =
        options->method == SKETCHING_OSNAP ? embed(features->x, options, result) : mix_dense(&work);
    free(work.sums);
    free(work.matrix);
    free(work.srht.columns);
    free(work.srht.weights);
    return done ? ATTN_OK : sketching_no_memory(features->x, error);
}
