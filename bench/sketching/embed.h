/* sketching/embed.h: the backend's sparse embeddings (sketch/embed.h), by the kernels of this machine and with memory. */
#ifndef ATTN_SKETCHING_EMBED_H
#define ATTN_SKETCHING_EMBED_H

#include "sketch/embed.h"
#include "sketching/x.h"

/** Kernels of the machine's best tier, or of that which the environment's ATTN_CPU names: all give the same bits. */
const embedding_kernels_t *sketching_kernels(void);

typedef attn_embedding_t sketching_embedding_t;

/** attn_embed_rows(). 0 when there is no memory. */
int sketching_embed_rows(const sketching_embedding_t *s, const float *a, int64_t rows,
                         int64_t columns, float *result);

/** attn_embed_features() of one. 0 when there is no memory. */
int sketching_embed_features(const sketching_embedding_t *s, const sketching_features_t *features,
                             float *result);

#endif
