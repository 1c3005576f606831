/* sketching/embed.c: see embed.h. */
#include "sketching/embed.h"

#include "attn/attn.h"

#include <stdlib.h>
#include <string.h>

const embedding_kernels_t *sketching_kernels(void) {
    attn_tier_t tiers[16];
    const uint32_t all = attn_available_tiers(tiers, 16), count = all < 16 ? all : 16;
    const char *limit = getenv("ATTN_CPU");
    uint32_t chosen = count - 1;
    for (uint32_t i = 0; limit && i < count; i++)
        if (strcmp(attn_tier_name(tiers[i]), limit) == 0) chosen = i;
    return attn_embedding_kernels(tiers[chosen]);
}

int sketching_embed_rows(const sketching_embedding_t *s, const float *a, int64_t rows,
                         int64_t columns, float *result) {
    attn_sketch_entry_t *entries =
        sketching_allocate(ATTN_EMBED_PART, s->sparsity, sizeof *entries);
    if (entries) attn_embed_rows(sketching_kernels(), s, a, rows, columns, entries, result);
    free(entries);
    return entries != NULL;
}

int sketching_embed_features(const sketching_embedding_t *s, const sketching_features_t *features,
                             float *result) {
    attn_sketch_entry_t *entries =
        sketching_allocate(attn_embed_entries(s, features->x), 1, sizeof *entries);
    const attn_embedded_t embedded = {*s, entries, result};
    if (entries) attn_embed_features(sketching_kernels(), features, &embedded, 1);
    free(entries);
    return entries != NULL;
}
