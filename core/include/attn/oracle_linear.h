/*
 * attn/oracle_linear.h: linear attention in double precision and plain C, token by token,
 * straight from the recurrences: the truth for all feature maps and rules of the backend
 * `linear`. Part of attn::oracle.
 *
 *     S_t = A_t S_{t-1} + phi(k_t) u_t^T,   z_t = A_t z_{t-1} + phi(k_t)
 *     A_t = diag(exp(decay_t)), or I
 *     u_t = v_t, or with a delta rule beta_t (v_t - (A_t S_{t-1})^T phi(k_t))
 *     o_i = phi(q_i)^T S_t / phi(q_i)^T z_t, or without a normaliser phi(q_i)^T S_t,
 *
 * t being the last key that query i sees. (Rules: ONNX LinearAttention; arXiv:2312.06635,
 * 2406.06484, 2412.06464.) Beside each number stands how far a computation in float may be from
 * it. All functions are [any thread], with scratch of their own.
 */
#ifndef ATTN_ORACLE_LINEAR_H
#define ATTN_ORACLE_LINEAR_H

#include "attn/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** phi, in the order of the parameter `feature_map`; the scale multiplies the query first. */
enum attn_oracle_map_code {
    ATTN_ORACLE_ELU1,  /**< elu(x) + 1 */
    ATTN_ORACLE_LIN,   /**< x */
    ATTN_ORACLE_RELU,  /**< max(x, 0) */
    ATTN_ORACLE_RELU2, /**< max(x, 0)^2 */
    ATTN_ORACLE_EXP,   /**< e^x */
    /** exp(w_f.x - |x|^2/2) / sqrt(features), query and key times sqrt(scale) */
    ATTN_ORACLE_FAVOR,
    /** 1, x, x_k^2 / sqrt 2, x_k x_l (k < l): phi(x).phi(y) = 1 + x.y + (x.y)^2/2 */
    ATTN_ORACLE_TAYLOR2
};

/** In the order of the parameter `rule`. */
enum attn_oracle_rule_code {
    ATTN_ORACLE_RULE_LINEAR,
    ATTN_ORACLE_RULE_GATED,
    ATTN_ORACLE_RULE_DELTA,
    ATTN_ORACLE_RULE_GATED_DELTA
};

/** Which form. Arrays as the backend's own (attn/ext/inputs.h); NULL: absent. */
typedef struct attn_oracle_linear {
    int32_t map, rule, normalise;
    int32_t retnet; /**< without `decay`: log(1 - 2^(-5-h)) of key/value head h, arXiv:2307.08621 */
    int64_t features; /**< of favor */
    uint64_t seed;    /**< of favor's directions */
    const attn_tensor_t *decay, *beta, *state, *state_z;
} attn_oracle_linear_t;

/** What a head comes to; a pointer that is NULL is not wanted. Bounds are of float arithmetic. */
typedef struct attn_oracle_rows {
    double *out, *out_bound;               /**< [n][dv] */
    double *normaliser, *normaliser_bound; /**< [n]; of rows without normaliser 1 and 0 */
    double *state, *state_bound;           /**< [features][dv], after all keys that count */
    double *z, *z_bound;                   /**< [features], the same */
} attn_oracle_rows_t;

/** Length of phi(x). */
int64_t attn_oracle_linear_features(const attn_oracle_linear_t *form, int64_t dim);

/** Doubles of scratch that the functions below need. */
int64_t attn_oracle_linear_scratch(const attn_oracle_linear_t *form, const attn_problem_t *problem);

/**
 * One query head. Reads io->query, key, value, lengths. A row without keys and state is zeros.
 */
void attn_oracle_linear_head(const attn_oracle_linear_t *form, const attn_problem_t *problem,
                             const attn_io_t *io, int64_t batch, int64_t head,
                             const attn_oracle_rows_t *rows, double *scratch);

/**
 * The row of the implied n x m matrix: weights[m] with out = weights V (and what the state
 * gave), and bounds[m] unless NULL. From the last key seen backwards: r = phi(q); w_t = r.(u_t's
 * factor of v_t); r = A_t (r - beta_t phi(k_t) phi(k_t).r).
 */
void attn_oracle_linear_weights(const attn_oracle_linear_t *form, const attn_problem_t *problem,
                                const attn_io_t *io, int64_t batch, int64_t head, int64_t query,
                                double *weights, double *bounds, double *scratch);

/**
 * A sum of products, what its terms come to without their signs, and what float's features are
 * off by moves it by, in units of rounding. Where no number passes more than D roundings, it is
 * off by D absolute + error such units.
 */
typedef struct attn_oracle_sum {
    double value, absolute, error;
} attn_oracle_sum_t;

/** Of a key/value head: dL/d of its arrays, in rows without gaps. */
typedef struct attn_oracle_linear_gradients {
    double unit, roundings;   /**< of float, and D: by these normalisers that drown are told */
    attn_oracle_sum_t *query; /**< [query heads of the group][n][d] */
    attn_oracle_sum_t *key;   /**< [m][d] */
    attn_oracle_sum_t *value; /**< [m][dv] */
    attn_oracle_sum_t *decay; /**< [m][features] */
    attn_oracle_sum_t *beta;  /**< [m] */
    attn_oracle_sum_t *state, *state_z; /**< [features][dv], [features] */
} attn_oracle_linear_gradients_t;

/** Doubles of scratch for it: a state a token. */
int64_t attn_oracle_linear_backward_scratch(const attn_oracle_linear_t *form,
                                            const attn_problem_t *problem);

/**
 * Gradients of a loss whose gradient by out is `gradient`, of one key/value head. With R =
 * dL/dS_t, from the last key backwards, over the queries that see it last:
 *     R += phi(q) G^T, G = dL/d(phi(q)^T S),   dL/dphi(q) = S_t G
 *     du = R^T k,   dk = R u,   dv = beta du,   dbeta = du.(v - P^T k),   P = A_t S_{t-1}
 *     R = R - beta k du^T,  dk -= beta P du (delta rules),   ddecay = rows of R.P,   R = A_t R
 * z is a column of S whose u is 1. A row whose normaliser is below float's normal numbers is
 * zeros, and passes nothing on.
 */
void attn_oracle_linear_backward(const attn_oracle_linear_t *form, const attn_problem_t *problem,
                                 const attn_io_t *io, const attn_tensor_t *gradient, int64_t batch,
                                 int64_t kv_head, const attn_oracle_linear_gradients_t *to,
                                 double *scratch);

#ifdef __cplusplus
}
#endif
#endif
