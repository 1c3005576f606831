/*
 * What softmax with precision int16 or int8 computes (core/attention/quantised.h), in plain C: the same
 * integers. Since S = Q mean + Qint K'int times scales, it is exact attention of other arrays: queries
 * [s Qint, Q] with keys [t K'int, mean], twice as long, and values u Vint; all rules are then those of
 * support/exact.h.
 *
 * Of a few queries with keys and values in i8 queries are [s Qint, Q], keys [K, 0], and values as they are.
 */
#ifndef ATTN_TESTS_QUANTISED_ORACLE_H
#define ATTN_TESTS_QUANTISED_ORACLE_H

#include "trial.h"

/** As core/attention/quantised.h has it: rows of a key/value head from which on products are of integers. */
enum { QUANTISED_ROWS = 96 };

/** What multiplies a problem's queries and keys. */
typedef enum quantised_way {
    WAY_FLOATS, /**< few queries, decoded or not */
    WAY_BYTES, /**< few that are decoded, over keys and values in i8, which are multiplied as they are */
    WAY_INTEGERS /**< many */
} quantised_way_t;

quantised_way_t quantised_way(const attn_problem_t *problem);

typedef struct quantised {
    attn_problem_t problem;
    attn_io_t io;
    float *query, *key, *value;
    double weight_level; /**< the largest integer that a weight becomes */
    int few;
} quantised_t;

/** Of a trial's inputs; `bytes` is 1 or 2. */
quantised_t quantised_create(const trial_t *trial, int bytes);
void quantised_destroy(quantised_t *quantised);

/** Fail unless out, lse and scores of the trial, which was run, are those; of many rows some are compared. */
void quantised_compare(const quantised_t *quantised, const trial_t *trial);

/** Fail unless attn_weights() of a plan gives those weights. */
void quantised_check_weights(const quantised_t *quantised, const attn_plan_t *plan, trial_t *trial);

#endif
