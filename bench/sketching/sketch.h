/*
 * sketching/sketch.h: Y (n x m) for X (n x d), m < d, with Y Y^T near X X^T: by each method of the sketch backend
 * (plugins/sketch) and by the deterministic sparsifier, and how near it is.
 *
 * Methods draw as the backend does, from attn/random.h: the same seed gives the same features everywhere.
 */
#ifndef ATTN_SKETCHING_SKETCH_H
#define ATTN_SKETCHING_SKETCH_H

#include "algebra/solver.h"
#include "sketching/x.h"

/** The first five are enum attn_sketch_method's. */
enum sketching_method {
    SKETCHING_GAUSSIAN,
    SKETCHING_AMS,
    SKETCHING_OSNAP,
    SKETCHING_LEVERAGE, /**< Algorithm 1: sampling by exact scores */
    SKETCHING_SRHT,
    SKETCHING_APPROXIMATE,   /**< the same by the scores of Algorithm 2 */
    SKETCHING_UNIFORM,       /**< the same by equal ones: a baseline, which promises nothing */
    SKETCHING_DETERMINISTIC, /**< Theorem 4.2 */
    SKETCHING_METHODS
};

/** "gaussian", "ams", ...: in the order of enum sketching_method. */
extern const char *const sketching_names[SKETCHING_METHODS];

typedef struct sketching_options {
    enum sketching_method method;
    const algebra_solver_t *solver; /**< NULL: the best, loaded where one is needed */
    double eps, delta;              /**< in (0, 1): see sketch/bound.h */
    int64_t size;                   /**< m; 0: what the method's bound asks for */
    int64_t sparsity;               /**< osnap; 0: 4 */
    uint64_t seed;
    double
        factor; /**< approximate: what scores may be off by, 2 to 1000: fewer operations, and a size
                      that grows with it; 0: 3 */
} sketching_options_t;

/** A sketch. */
typedef struct sketching_result {
    int64_t rows, size;             /**< n, m */
    float *y;                       /**< n x m */
    const algebra_solver_t *solver; /**< that was needed, or NULL */
    int is_exact;                   /**< m would have been d or more: Y = X */
    double asked;   /**< features that the bound asks for eps and delta; NaN for none */
    int64_t rank;   /**< of X as it was found; -1 where the method does not ask */
    double total;   /**< sum of the scores; NaN where there are none */
    double *scores; /**< d, of the methods that sample; else NULL */
    int64_t *kept;  /**< m features in the order of Y's columns, where they are X's; else NULL */
} sketching_result_t;

/** Whether eps, delta, factor and size are within their limits, which the error names. */
attn_status_t sketching_check_options(const sketching_options_t *options, attn_error_t *error);

/**
 * Make a sketch of an X that sketching_check() has passed; sketching_result_destroy() in any case. osnap goes over
 * the rows of X, and needs no more of `features` than `x`.
 */
attn_status_t sketching_sketch(const sketching_features_t *features,
                               const sketching_options_t *options, sketching_result_t *result,
                               attn_error_t *error);

void sketching_result_destroy(sketching_result_t *result);

/** How near Y is to X; memory for n d numbers, whether n or d is larger. */
typedef struct sketching_distance {
    double
        distortion; /**< of (X X^T)^+/2 Y Y^T (X X^T)^+/2 - I on the rows of X: its spectral norm */
    double entry;   /**< the largest |A' - A| of the attention matrices D^-1 exp(X X^T) */
    int64_t rank;   /**< of X */
} sketching_distance_t;

attn_status_t sketching_measure(const sketching_features_t *features,
                                const algebra_solver_t *solver, const float *y, int64_t size,
                                sketching_distance_t *distance, attn_error_t *error);

#endif
