/* sketching/approximate.c: see approximate.h. */
#include "sketching/approximate.h"

#include "sketching/embed.h"

#include <stdlib.h>

static int take_triangle(int64_t n, sketching_triangle_t *triangle) {
    attn_arena_t arena = {.base = NULL};
    attn_triangle_take(&arena, n, triangle);
    arena.base = sketching_room(&arena);
    if (!arena.base) return 0;
    arena.used = 0;
    attn_triangle_take(&arena, n, triangle);
    triangle->memory = arena.base;
    return 1;
}

/* NULL when there is no memory; free() it. */
static void *take_work(const sketching_x_t *x, double factor, double delta,
                       attn_scores_work_t *work) {
    attn_arena_t arena = {.base = NULL};
    attn_scores_take(&arena, x, factor, delta, work);
    arena.base = sketching_room(&arena);
    if (!arena.base) return NULL;
    arena.used = 0;
    attn_scores_take(&arena, x, factor, delta, work);
    return arena.base;
}

void sketching_triangle_destroy(sketching_triangle_t *triangle) {
    free(triangle->memory);
    *triangle = (sketching_triangle_t){.n = 0};
}

attn_status_t sketching_triangle_of(float *panels, int64_t size, int64_t n,
                                    sketching_triangle_t *triangle) {
    double *inverse = sketching_allocate(n, n, sizeof *inverse);
    *triangle = (sketching_triangle_t){.n = 0};
    attn_status_t status = ATTN_ERROR_MEMORY;
    if (inverse && take_triangle(n, triangle))
        status = attn_triangle_of(sketching_kernels(), panels, size, inverse, triangle);
    free(inverse);
    if (status) sketching_triangle_destroy(triangle);
    return status;
}

attn_status_t sketching_triangle_embedded(const sketching_features_t *features, double factor,
                                          double delta, uint64_t seed,
                                          sketching_triangle_t *triangle) {
    attn_scores_work_t work;
    *triangle = (sketching_triangle_t){.n = 0};
    if (!attn_is_embedded(features->x, factor, delta)) return ATTN_ERROR_RANGE;
    void *memory = take_work(features->x, factor, delta, &work);
    attn_status_t status = ATTN_ERROR_MEMORY;
    if (memory && take_triangle(features->x->rows, triangle))
        status = attn_triangle_embedded(sketching_kernels(), features, factor, delta, seed, &work,
                                        triangle);
    free(memory);
    if (status) sketching_triangle_destroy(triangle);
    return status;
}

int sketching_scores_projected(const sketching_features_t *features,
                               const sketching_triangle_t *triangle, double factor, double delta,
                               uint64_t seed, double *scores) {
    attn_scores_work_t work;
    void *memory = take_work(features->x, factor, delta, &work);
    if (memory)
        attn_scores_projected(sketching_kernels(), features, triangle, factor, delta, seed, &work,
                              scores);
    free(memory);
    return memory != NULL;
}

attn_status_t sketching_scores_embedded(const sketching_features_t *features, double factor,
                                        double delta, uint64_t seed, int64_t *rank,
                                        double *scores) {
    attn_scores_work_t work;
    sketching_triangle_t triangle = {.n = 0};
    if (!attn_is_embedded(features->x, factor, delta)) return ATTN_ERROR_RANGE;
    void *memory = take_work(features->x, factor, delta, &work);
    attn_status_t status = ATTN_ERROR_MEMORY;
    if (memory && take_triangle(features->x->rows, &triangle))
        status = attn_scores_embedded(sketching_kernels(), features, factor, delta, seed, &work,
                                      &triangle, scores);
    *rank = triangle.rank;
    free(memory);
    sketching_triangle_destroy(&triangle);
    return status;
}
