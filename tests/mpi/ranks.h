/*
 * Tests on several ranks: a failure on one of them ends all.
 */
#ifndef ATTN_TESTS_RANKS_H
#define ATTN_TESTS_RANKS_H

#include "attn/mpi.h"
#include "semantics/trial.h"

/** What a rank brings of a trial that every rank has whole. */
typedef struct shard {
    trial_t *trial;
    attn_mpi_plan_t *plan;
    attn_mpi_rows_t queries, keys;
    typed_t query, key, value, key_scales, value_scales, mask, bias, out, lse;
    attn_io_t io;
} shard_t;

/** Its arrays, of the plan's rows. */
shard_t shard_create(trial_t *trial, attn_mpi_plan_t *plan);
void shard_destroy(shard_t *shard);

/** Run, which must succeed. Collective. */
void shard_run(shard_t *shard);

/** Fail unless this rank's rows are exact attention's. */
void shard_compare(const shard_t *shard);

/** A plan that must succeed. Collective. */
attn_mpi_plan_t *ranks_plan(const attn_context_t *context, const attn_problem_t *problem,
                            int32_t layout, int32_t way);

int ranks_rank(void);
int ranks_size(void);

/** main() of a test on ranks. */
#define RANKS_MAIN(...)                                                                            \
    int main(int argc, char **argv) {                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return ranks_main(argc, argv, tests, sizeof tests / sizeof *tests);                        \
    }
int ranks_main(int argc, char **argv, const struct CMUnitTest *tests, size_t count);

#endif
