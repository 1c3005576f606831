/* sketching/barrier.c: see barrier.h. */
#include "sketching/barrier.h"

#include <stdlib.h>

int sketching_barrier(const sketching_features_t *features, const sketching_basis_t *basis,
                      int64_t steps, double *weights, attn_barrier_end_t *end) {
    const sketching_x_t *x = features->x;
    const int64_t blocks = x->columns / ATTN_BLOCK_WIDTH + 1 + (x->dense ? 0 : sketching_stored(x));
    attn_barrier_work_t work;
    attn_arena_t arena = {.base = NULL};
    attn_barrier_take(&arena, x->rows, x->columns, blocks, &work);
    arena.base = sketching_room(&arena);
    if (!arena.base) return 0;
    arena.used = 0;
    attn_barrier_take(&arena, x->rows, x->columns, blocks, &work);
    attn_barrier_weights(features, basis, steps, &work, weights, end);
    free(arena.base);
    return 1;
}
