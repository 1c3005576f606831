/* run.h: what a run and its gradients do alike: the workspace, and the problem on sketches. */
#ifndef ATTN_SKETCH_RUN_H
#define ATTN_SKETCH_RUN_H

#include "choose.h"

typedef struct sketch_space {
    float *query, *key;        /* sketches: (B, H, n, size) and (B, Hkv, m, size) */
    attn_sketch_draw_t *draws; /* leverage: [B*Hkv][size] */
    int64_t *ranks;            /* leverage: that were found, [B*Hkv] */
    int32_t *firsts, *nexts;   /* of draws by feature, where X is sparse: see sparse.h */
    char *scratch;             /* one for each worker */
    uint64_t scratch_size;
    char *softmax;
} sketch_space_t;

/** Takes a run's workspace of the arena. */
sketch_space_t attn_sketch_space(const sketch_plan_t *plan, attn_arena_t *arena);

/**
 * Leverage, deterministic: the draws of `count` key/value heads. The guarantee is void where their rank is above the plan's: an
 * error.
 */
attn_status_t attn_sketch_sample(const sketch_plan_t *plan, const attn_io_t *io,
                                 const sketch_space_t *space, int64_t first, int64_t count,
                                 attn_error_t *error);

/**
 * Writes the sketches of queries [first, first + count) of `heads` query heads, and of all keys that they read, into
 * `space`. Errors: [Q; K] has a higher rank than leverage was told, or a sparse X is no CSR.
 */
attn_status_t attn_sketch_heads(const sketch_plan_t *plan, const attn_io_t *io,
                                const sketch_space_t *space, int64_t first_head, int64_t heads,
                                int64_t first, int64_t count, attn_error_t *error);

/** The arrays of softmax's run: the sketches, with value and results of `io`. */
attn_io_t attn_sketch_io(const sketch_plan_t *plan, const attn_io_t *io,
                         const sketch_space_t *space);

/** What gradients need of the workspace besides. */
void attn_sketch_back_workspace(const sketch_plan_t *plan, attn_arena_t *arena);

#endif
