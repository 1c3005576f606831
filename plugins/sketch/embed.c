#include "embed.h"

#include "attn/support.h"

static attn_sketch_part_t part_of(const attn_embedding_t *s, int64_t first, int64_t count) {
    return (attn_sketch_part_t){s->first + first, count, s->size, s->seed};
}

int64_t attn_embed_entries(const attn_embedding_t *s, const attn_x_t *x) {
    return (x->dense ? x->columns : ATTN_EMBED_PART) * s->sparsity;
}

void attn_embed_rows(const embedding_kernels_t *kernels, const attn_embedding_t *s, const float *a,
                     int64_t rows, int64_t columns, attn_sketch_entry_t *entries, float *result) {
    memset(result, 0, (size_t)(s->size * columns) * sizeof *result);
    for (int64_t first = 0; first < rows; first += ATTN_EMBED_PART) {
        const attn_sketch_part_t part = part_of(s, first, attn_min(ATTN_EMBED_PART, rows - first));
        kernels->draw(entries, &part, s->sparsity);
        kernels->embed(a + first * columns, part.count, columns, entries, s->sparsity, result);
    }
}

/* ---- features ------------------------------------------------------------------------------------ */

/*
 * Some rows of X at a time, so that their buckets stay in the cache; each time all entries, which are fewer than
 * the elements of so many rows.
 */
static void embed_dense(const embedding_kernels_t *kernels, const attn_x_t *x,
                        const attn_embedded_t *all, int count) {
    float panel[ATTN_EMBED_PART * ATTN_EMBED_ROWS];
    for (int64_t row = 0; row < x->rows; row += ATTN_EMBED_ROWS) {
        const int64_t rows = attn_min(ATTN_EMBED_ROWS, x->rows - row);
        for (int64_t first = 0; first < x->columns; first += ATTN_EMBED_PART) {
            const int64_t width = attn_min(ATTN_EMBED_PART, x->columns - first);
            kernels->turn(x->dense + row * x->columns + first, x->columns, width, rows, panel);
            for (int i = 0; i < count; i++) {
                const attn_embedding_t *s = &all[i].s;
                kernels->embed(panel, width, ATTN_EMBED_ROWS, all[i].entries + first * s->sparsity,
                               s->sparsity, all[i].panels + attn_embed_panel(s->size, row));
            }
        }
    }
}

/* What the kernel does, for a feature of few elements. */
static void embed_feature(const attn_embedding_t *s, const attn_block_t *block,
                          const attn_sketch_entry_t *entries, float *result) {
    for (int64_t i = 0; i < s->sparsity; i++)
        for (int64_t r = 0; r < block->count; r++)
            result[attn_embed_panel(s->size, block->rows[r]) +
                   entries[i].column * ATTN_EMBED_ROWS] += entries[i].weight * block->values[r];
}

static void embed_sparse(const embedding_kernels_t *kernels, const attn_features_t *features,
                         const attn_embedded_t *embedded) {
    const int64_t columns = features->x->columns;
    const attn_embedding_t *s = &embedded->s;
    for (int64_t first = 0; first < columns; first += ATTN_EMBED_PART) {
        const attn_sketch_part_t part =
            part_of(s, first, attn_min(ATTN_EMBED_PART, columns - first));
        kernels->draw(embedded->entries, &part, s->sparsity);
        for (int64_t j = 0; j < part.count; j++) {
            const attn_block_t block = attn_block(features, first + j);
            embed_feature(s, &block, embedded->entries + j * s->sparsity, embedded->panels);
        }
    }
}

void attn_embed_features(const embedding_kernels_t *kernels, const attn_features_t *features,
                         const attn_embedded_t *all, int count) {
    const attn_x_t *x = features->x;
    for (int i = 0; i < count; i++) {
        const attn_sketch_part_t every = part_of(&all[i].s, 0, x->columns);
        const int64_t columns = attn_round_up(x->rows, ATTN_EMBED_ROWS);
        memset(all[i].panels, 0, (size_t)(every.size * columns) * sizeof *all[i].panels);
        if (x->dense)
            kernels->draw(all[i].entries, &every, all[i].s.sparsity);
        else
            embed_sparse(kernels, features, &all[i]);
    }
    if (x->dense) embed_dense(kernels, x, all, count);
}
