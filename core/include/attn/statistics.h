/*
 * attn/statistics.h: what rows of attention weights are like, without a matrix of queries by keys:
 * how spread a row is, how far it looks, which keys have most, and how much each key gets of all.
 * For every backend that tells its weights (attn.weights/1).
 *
 *     attn_statistics_t wanted = {.struct_size = sizeof wanted, .entropy = entropy};
 *     io.workspace_size = attn_statistics_workspace_size(plan);
 *     io.workspace = aligned_alloc(ATTN_ALIGNMENT, io.workspace_size);
 *     attn_plan_statistics(plan, &io, 0, 0, 0, n, &wanted, &error);
 */
#ifndef ATTN_STATISTICS_H
#define ATTN_STATISTICS_H

#include "attn/attn.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Where results go: your memory, or NULL for what you do not want. `count` is the number of queries
 * of the call, m the number of keys.
 *
 * Shares are weights divided by their row's sum. A row has none where its sum is 0 (no key is
 * visible), where a weight is below 0 (linear attention with some feature maps) or not finite; its
 * entropy and distance are then NaN.
 */
typedef struct attn_statistics {
    uint32_t struct_size;
    int32_t top; /**< how many keys a row has in top_keys and top_weights */
    /** [count] Sum of -p log2 p over the shares p, in bits: 0 where one key has all, log2 k where k
     *  keys have the same. */
    float *entropy;
    /** [count] How many tokens the keys are away from the query, on average by shares. A query
     *  stands where the problem's causal rule, past and KV lengths say (attn_query_position()). */
    float *distance;
    /** [m] Sum of the weights that all rows of the call give to each key. */
    double *column_mass;
    /** [count][top] The keys of the largest weights above 0, largest first, and of equal ones the
     *  first key first; -1 where there are no more. */
    int64_t *top_keys;
    float *top_weights; /**< [count][top] Their weights; 0 where there are no more. */
} attn_statistics_t;

/**
 * Bytes of workspace that attn_plan_statistics() needs, a multiple of ATTN_ALIGNMENT: those of the
 * plan, and room for some rows of weights. UINT64_MAX: it would not fit in memory. [any thread]
 */
ATTN_API uint64_t attn_statistics_workspace_size(const attn_plan_t *plan);

/**
 * Statistics of the weights that attn_weights() has for queries [first, first + count) of one batch
 * and query head. Computes queries times keys weights and keeps some rows of them at a time. The
 * same arrays give the same bits on any number of threads. `io` is as for attn_weights(), with a
 * larger workspace. Does not allocate. [any thread]
 *
 * Errors, beside those of attn_weights():
 * - ATTN_ERROR_ARGUMENT: `wanted` is NULL or of a size that there never was, results share memory
 *   with each other or with arrays of the call, or are not aligned to their elements.
 * - ATTN_ERROR_RANGE: `top` is below 0, or one of `top`, top_keys and top_weights is there without
 *   the others.
 */
ATTN_API attn_status_t attn_plan_statistics(const attn_plan_t *plan, const attn_io_t *io,
                                            int64_t batch, int64_t head, int64_t first,
                                            int64_t count, const attn_statistics_t *wanted,
                                            attn_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
