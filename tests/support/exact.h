/*
 * Exact attention with all that a problem can ask for, row by row, straight from the words of
 * attn/types.h and apart from attn/oracle.h, with a bound on every number's error.
 */
#ifndef ATTN_TESTS_EXACT_H
#define ATTN_TESTS_EXACT_H

#include "attn/attn.h"

/** Whether a pattern has a key for a query at this key position, beside the problem's own rules. */
typedef int exact_pattern_t(const void *pattern, int64_t position, int64_t key);

/** How a computation rounds that is compared with the exact one. */
typedef struct arithmetic {
    double u;        /**< unit roundoff of each operation */
    double sum_u;    /**< the same inside of sums, which may be wider */
    double exponent; /**< how often the exponent of a weight is rounded */
    double rescale;  /**< how often the differences of running maxima are; 0: there are none */
    double steps;    /**< how often a weight is, from exp to its part of the output */
    double tiny;     /**< what a weight that underflows may lose */
    double logit;    /**< what each product of query and key may be off by, of itself, beside u */
    double value;    /**< the same of weight and value */
    double flush;    /**< below this, factors and products may be 0 */
} arithmetic_t;

/** The library's: f32, weights below the normal numbers may become 0. */
extern const arithmetic_t EXACT_F32;

/** The library's where products are of `parts` bf16 numbers for each float: query and key, weight and value. What is in
 * bf16 anyway is exact. */
arithmetic_t exact_bf16(const attn_problem_t *problem, int parts);

/** Of how many bf16 numbers a plan's products are, by the name of its kernel; 0: they are of floats. */
int exact_parts(const attn_plan_t *plan);

/** How a plan rounds that computes exact attention. */
arithmetic_t exact_arithmetic(const attn_plan_t *plan, const attn_problem_t *problem);

/** The oracle's: double throughout, two passes, so that no maximum runs. */
extern const arithmetic_t EXACT_F64;

enum { EXACT_STAGES = 3 /* raw, capped, masked */ };

typedef struct exact {
    double *out, *out_bound;       /**< dv; out's own rounding to its type is not in the bound */
    double *weight, *weight_bound; /**< m; 0 and 0 where the query does not see the key */
    double *score[EXACT_STAGES], *score_bound[EXACT_STAGES]; /**< m each, as attn_oracle_score() */
    double lse, lse_bound;
    int64_t seen;         /**< keys */
    exact_pattern_t *has; /**< set by the caller: what the row is confined to; NULL: nothing */
    const void *pattern;  /**< its first argument */
    double *query, *row;  /**< the row's query; what of a key or value is being looked at */
    double *kept;         /**< m: whether the query sees a key */
    double *memory;
} exact_t;

exact_t exact_create(const attn_problem_t *problem);
void exact_destroy(exact_t *exact);

/** Whether a query sees a key, by every rule of the problem. */
int exact_sees(const attn_problem_t *problem, const attn_io_t *io, int64_t batch, int64_t head,
               int64_t query, int64_t key);

/** The key position at which a query stands. */
int64_t exact_position(const attn_problem_t *problem, const attn_io_t *io, int64_t batch,
                       int64_t query);

/** Compute one row from io's inputs, with the bounds of this arithmetic. */
void exact_row(exact_t *exact, const attn_problem_t *problem, const attn_io_t *io,
               const arithmetic_t *arithmetic, int64_t batch, int64_t head, int64_t query);

/** What the row's out[column] in the problem's type may be off by. */
double exact_out_bound(const exact_t *exact, const attn_problem_t *problem, int64_t column);

/** The row's score of a key at a stage of attn_scores_code, and what it may be off by. */
double exact_score(const exact_t *exact, int32_t stage, int64_t key);
double exact_score_bound(const exact_t *exact, int32_t stage, int64_t key);

#endif
