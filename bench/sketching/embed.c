/* sketching/embed.c: see embed.h. */
#include "sketching/embed.h"

#include "attn/attn.h"
#include "attn/support.h"

#include <stdlib.h>
#include <string.h>

enum { PART = 256 }; /* features that are drawn at a time */

const sketching_kernels_t *sketching_kernels(void) {
    attn_tier_t tiers[16];
    const uint32_t all = attn_available_tiers(tiers, 16), count = all < 16 ? all : 16;
    const char *limit = getenv("ATTN_CPU");
    uint32_t chosen = count - 1;
    for (uint32_t i = 0; limit && i < count; i++)
        if (strcmp(attn_tier_name(tiers[i]), limit) == 0) chosen = i;
    return attn_sketching_kernels(tiers[chosen]);
}

static attn_sketch_part_t part_of(const sketching_embedding_t *s, int64_t first, int64_t count) {
    return (attn_sketch_part_t){first, count, s->size, s->seed};
}

int sketching_embed_rows(const sketching_embedding_t *s, const float *a, int64_t rows,
                         int64_t columns, float *result) {
    const sketching_kernels_t *kernels = sketching_kernels();
    attn_sketch_entry_t *entries = malloc(PART * (size_t)s->sparsity * sizeof *entries);
    if (!entries) return 0;
    memset(result, 0, (size_t)(s->size * columns) * sizeof *result);
    for (int64_t first = 0; first < rows; first += PART) {
        const attn_sketch_part_t part = part_of(s, first, attn_min(PART, rows - first));
        kernels->draw(entries, &part, s->sparsity);
        kernels->embed(a + first * columns, part.count, columns, entries, s->sparsity, result);
    }
    free(entries);
    return 1;
}

/* ---- features ---------------------------------------------------------------------------------------- */

/*
 * Some rows of X at a time, so that their buckets stay in the cache; each time all entries, which are fewer than
 * the elements of so many rows.
 */
static void embed_dense(const sketching_embedding_t *s, const sketching_x_t *x,
                        const attn_sketch_entry_t *entries, float *result) {
    const sketching_kernels_t *kernels = sketching_kernels();
    float panel[PART * SKETCHING_ROWS];
    for (int64_t row = 0; row < x->rows; row += SKETCHING_ROWS) {
        const int64_t rows = attn_min(SKETCHING_ROWS, x->rows - row);
        for (int64_t first = 0; first < x->columns; first += PART) {
            const int64_t count = attn_min(PART, x->columns - first);
            kernels->turn(x->dense + row * x->columns + first, x->columns, count, rows, panel);
            kernels->embed(panel, count, SKETCHING_ROWS, entries + first * s->sparsity, s->sparsity,
                           result + sketching_panel(s->size, row));
        }
    }
}

static int embed_all(const sketching_embedding_t *s, const sketching_x_t *x, float *result) {
    const attn_sketch_part_t all = part_of(s, 0, x->columns);
    const size_t entry = (size_t)s->sparsity * sizeof(attn_sketch_entry_t);
    attn_sketch_entry_t *entries = malloc((size_t)x->columns * entry);
    if (!entries) return 0;
    sketching_kernels()->draw(entries, &all, s->sparsity);
    embed_dense(s, x, entries, result);
    free(entries);
    return 1;
}

/* What the kernel does, for a feature of few elements. */
static void embed_feature(const sketching_embedding_t *s, const attn_block_t *block,
                          const attn_sketch_entry_t *entries, float *result) {
    for (int64_t i = 0; i < s->sparsity; i++)
        for (int64_t r = 0; r < block->count; r++)
            result[sketching_panel(s->size, block->rows[r]) + entries[i].column * SKETCHING_ROWS] +=
                entries[i].weight * block->values[r];
}

static int embed_sparse(const sketching_embedding_t *s, const sketching_features_t *features,
                        float *result) {
    const sketching_kernels_t *kernels = sketching_kernels();
    const sketching_x_t *x = features->x;
    attn_sketch_entry_t *entries = malloc(PART * (size_t)s->sparsity * sizeof *entries);
    if (!entries) return 0;
    for (int64_t first = 0; first < x->columns; first += PART) {
        const attn_sketch_part_t part = part_of(s, first, attn_min(PART, x->columns - first));
        kernels->draw(entries, &part, s->sparsity);
        for (int64_t j = 0; j < part.count; j++) {
            const attn_block_t block = attn_block(features, first + j);
            embed_feature(s, &block, entries + j * s->sparsity, result);
        }
    }
    free(entries);
    return 1;
}

int sketching_embed_features(const sketching_embedding_t *s, const sketching_features_t *features,
                             float *result) {
    const int64_t columns = attn_round_up(features->x->rows, SKETCHING_ROWS);
    memset(result, 0, (size_t)(s->size * columns) * sizeof *result);
    return features->x->dense ? embed_all(s, features->x, result)
                              : embed_sparse(s, features, result);
}
