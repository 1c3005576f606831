/*
 * Softmax on ranks: what each of them brings of a trial that every rank has whole.
 */
#ifndef ATTN_TESTS_SHARD_H
#define ATTN_TESTS_SHARD_H

#include "ranks.h"
#include "semantics/trial.h"

/** One rank's. */
typedef struct shard {
    trial_t *trial;
    attn_mpi_plan_t *plan;
    attn_mpi_rows_t queries, keys;
    typed_t query, key, value, key_scales, value_scales, mask, bias, out, lse, scores;
    attn_io_t io;
} shard_t;

/** Makes softmax the subject of trials. */
void shard_begin(void);

/** trial_create() of softmax. */
trial_t shard_trial(const attn_problem_t *problem, const look_t *look);

/** Its arrays, of the plan's rows. */
shard_t shard_create(trial_t *trial, attn_mpi_plan_t *plan);
void shard_destroy(shard_t *shard);

/** Run, which must succeed. Collective. */
void shard_run(shard_t *shard);

/** Fail unless this rank's rows are exact attention's. */
void shard_compare(const shard_t *shard);

/** The same under a pattern of the caller's, which has no use for its first argument. */
void shard_compare_under(const shard_t *shard, exact_pattern_t *pattern);

/** Rows of an array of the whole, those of two ranges; an array without rows is absent. */
typed_t shard_rows(const typed_t *whole, layout_t layout, const attn_mpi_rows_t *rows);

/** The same of a mask or a bias, which stays whole where one row is for all. */
typed_t shard_pairs(const typed_t *whole, layout_t layout, const attn_mpi_rows_t *rows);

/** Every rank's rows at their places in the whole, on every rank. Collective. */
void shard_gather(typed_t *whole, const typed_t *rows, const attn_mpi_rows_t *own);

/** A plan of the subject of trials, softmax unless another is set, that must succeed. Collective. */
attn_mpi_plan_t *ranks_plan(const attn_context_t *context, const attn_problem_t *problem,
                            int32_t layout, int32_t way);

/** A trial of the problem, run on all ranks and compared; none where queries in a tree would have masks or a bias by rows.
 * Collective. */
void shard_check(const attn_context_t *context, const attn_problem_t *problem, const look_t *look,
                 int32_t layout, int32_t way);

#endif
