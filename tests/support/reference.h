/*
 * What each backend defines, row by row, in double precision and straight from the formulas, and
 * how far a correct computation in float may be from it: softmax and sparse are exact.h's, under a
 * pattern or none; linear is added here.
 */
#ifndef ATTN_TESTS_REFERENCE_H
#define ATTN_TESTS_REFERENCE_H

#include "exact.h"

typedef enum form { FORM_SOFTMAX, FORM_SPARSE, FORM_LINEAR } form_t;
typedef enum feature_map {
    MAP_ELU1,
    MAP_LIN,
    MAP_RELU,
    MAP_RELU2,
    MAP_EXP,
    MAP_COUNT
} feature_map_t;

/** sparse: which keys are kept, in the order of its parameter `pattern`. */
typedef enum formula_pattern {
    PATTERN_BAND,
    PATTERN_FIXED,
    PATTERN_STRIDED,
    PATTERN_WINDOW,
    PATTERN_LONGFORMER,
    PATTERN_BIGBIRD,
    PATTERN_DILATED,
    PATTERN_COUNT
} formula_pattern_t;

/** Which formula. */
typedef struct formula {
    form_t form;
    feature_map_t map;            /**< linear: phi */
    int64_t block, local, global; /**< sparse: B, k and c of Eq. 6 (efficient-transformers) */
    formula_pattern_t pattern;
    int64_t stride;
    int64_t random, among; /**< bigbird: blocks a row, drawn among the first so many */
    int causal;            /**< bigbird: those before its own alone */
    uint64_t seed;         /**< bigbird: of the draws */
} formula_t;

/** One row of the exact result, and the bound on each number's error. */
typedef struct reference {
    double *out, *out_bound;             /**< dv */
    double *weight, *weight_bound;       /**< m; 0 and 0 where the query does not see the key */
    double lse, lse_bound;               /**< of softmax and sparse */
    double normaliser, normaliser_bound; /**< linear: sum_j phi(q_i).phi(k_j) */
    int64_t kept;                        /**< keys the query sees */
    exact_t exact;                       /**< has the arrays */
} reference_t;

reference_t reference_create(const attn_problem_t *problem);
void reference_destroy(reference_t *reference);

/** Does the formula keep this key for a query at this key position? */
int reference_keeps(const formula_t *formula, int64_t position, int64_t key);

/** Does this query see this key under the formula and the problem's rules, when all keys count? */
int reference_sees(const formula_t *formula, const attn_problem_t *problem, int64_t query,
                   int64_t key);

/** Compute row `query` of one batch and head from io's query, key and value. */
void reference_row(reference_t *reference, const formula_t *formula, const attn_problem_t *problem,
                   const attn_io_t *io, int64_t batch, int64_t head, int64_t query);

#endif
