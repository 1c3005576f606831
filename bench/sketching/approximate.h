/* sketching/approximate.h: the backend's Algorithm 2 (sketch/approximate.h), with memory of its own. */
#ifndef ATTN_SKETCHING_APPROXIMATE_H
#define ATTN_SKETCHING_APPROXIMATE_H

#include "sketch/approximate.h"
#include "sketching/x.h"

typedef attn_triangle_t sketching_triangle_t;

/** attn_triangle_of(). */
attn_status_t sketching_triangle_of(float *panels, int64_t size, int64_t n,
                                    sketching_triangle_t *triangle);

/** attn_triangle_embedded(). */
attn_status_t sketching_triangle_embedded(const sketching_features_t *features, double factor,
                                          double delta, uint64_t seed,
                                          sketching_triangle_t *triangle);

void sketching_triangle_destroy(sketching_triangle_t *triangle);

/** attn_scores_projected(). 0 when there is no memory. */
int sketching_scores_projected(const sketching_features_t *features,
                               const sketching_triangle_t *triangle, double factor, double delta,
                               uint64_t seed, double *scores);

/** attn_scores_embedded(). */
attn_status_t sketching_scores_embedded(const sketching_features_t *features, double factor,
                                        double delta, uint64_t seed, int64_t *rank, double *scores);

#endif
