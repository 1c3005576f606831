/*
 * labs/separation/separation.h: networks that tell two data sets apart with softmax attention and not with linear
 * attention (Deng, Song, Zhou, "Superiority of Softmax", arXiv:2310.11685).
 *
 * With phi(z) = max(z, 0), phi_tau(z) = max(z - tau, 0) and random signs y (m columns):
 *
 *     regression net    F = phi(sum_j phi_tau(<f(Ax), y_j>)),  f = u / <u, 1>,  tau = 1/4
 *     attention nets    F = phi(sum_i sum_l phi_tau(<c_i, y_l>)),
 *                       c = D^-1 u(A1 X A2^T) A3 V,  V = I
 *
 * u is exp (the backend softmax) or the identity (the backend linear with its feature map lin).
 * F > 0 just where the largest inner product is above tau.
 */
#ifndef ATTN_LABS_SEPARATION_SEPARATION_H
#define ATTN_LABS_SEPARATION_SEPARATION_H

#include "labs/lab.h"

enum {
    SEPARATION_BLOCK = 4
}; /**< columns of y come in whole blocks (a vector, for most compilers) */

/** Which network, on which data. */
enum separation_net {
    SEPARATION_REGRESSION, /**< Definition 3.8 */
    SEPARATION_SELF,       /**< Definition D.1, X = I */
    SEPARATION_SELF_ONES,  /**< Definition D.1, X = all ones */
    SEPARATION_CROSS,      /**< Definition F.1, X = I */
};

/** One point's parameters, with m known. */
typedef struct separation {
    enum separation_net net;
    int64_t n, d, m;
    int64_t stride;    /* of y: m, or for the attention nets m rounded up to whole blocks */
    double a[2], b, c; /* a[0] in D0, a[1] in D1 */
    double tau;
    int64_t trials;
    int distinct; /* rows of A1 that are the same are asked once; else all n */
    int64_t queries;
} separation_t;

/** Arrays of one trial. Head 0 is D0, head 1 is D1; of the regression net, query 0 and query 1. */
typedef struct separation_arrays {
    float *query; /* may be the same as key */
    float *key;   /* and value, but for the regression net */
    float *signs; /* y: n x m (the regression net's value) or d x stride */
    float *out;
} separation_arrays_t;

/** Draw trial `trial` of a point: data and signs, a function of (seed, lab, panel, x, trial) alone. */
void separation_draw(const separation_t *what, const lab_point_t *point, uint64_t trial,
                     const separation_arrays_t *arrays);

/** Random signs from 1 bit each: `count` numbers, +1 or -1. */
void separation_signs(uint64_t seed, uint64_t stream, float *signs, int64_t count);

/** What came out of one trial: by data set (D0, D1) and kind (exp, lin). */
typedef struct separation_result {
    double largest[2][2];  /* the largest inner product: F > 0 just where it is above tau */
    double rounding[2][2]; /* how far float rounding can move it */
    int64_t degenerate;    /* rows whose normaliser was 0 or drowned in rounding */
} separation_result_t;

/**
 * What trials come to for many tokens, exactly: the chance that softmax's network misses D1, that rows of nearly uniform
 * weights raise an alarm by their signs alone, in any of the networks, and that a trial succeeds.
 */
typedef struct separation_formula {
    double missed, alarm, success;
} separation_formula_t;

separation_formula_t separation_formula(const separation_t *what);

/**
 * Times log(n / delta), the least m with which the chance that no column of signs fires is below delta / n: a column
 * fires with probability 1/4 (attention, for a1 + c above the threshold and no other signs) or 1/2 (regression).
 */
double separation_least_factor(enum separation_net net);

/** How far float rounding can move what the networks of a data set compute, per unit of its absolute terms. */
double separation_rounding(const separation_t *what, int set);

/** Plans for a point's sizes, through both backends, and the arrays of one trial. One thread. */
typedef struct separation_nets separation_nets_t;

/** NULL and an error when it cannot be. `what` must outlive it. */
separation_nets_t *separation_create(const separation_t *what, const attn_context_t *context,
                                     attn_error_t *error);

void separation_destroy(separation_nets_t *nets);

/** Draw trial `trial` of the point and put it through all four networks. */
attn_status_t separation_try(separation_nets_t *nets, const lab_point_t *point, uint64_t trial,
                             separation_result_t *result, attn_error_t *error);

/** One point's parameters, those that follow others being filled in. */
separation_t separation_of(const lab_point_t *point);

#endif
