/*
 * labs/softmax_regression/regression.h: softmax regression and what one step of it does to the target
 * (Li, Song, Xia, Yu, Zhou, arXiv:2304.13276, Definitions 4.1 to 4.4, Theorems 8.1 and 8.2).
 *
 *     f(x) = exp(Ax) / <exp(Ax), 1>,  c = f - b,  L(x) = |c|^2 / 2,
 *     grad L = A^T u,  u = f o c - f <f, c>.
 *
 * The paper prints u with a plus (Lemma 4.5, part 5) and an ascending step (section 5.1); both are
 * misprints, as central differences show. A and x are rounded to float at every step, so that the
 * plugin that evaluates f sees the same numbers as the formulas here do.
 */
#ifndef ATTN_LABS_SOFTMAX_REGRESSION_REGRESSION_H
#define ATTN_LABS_SOFTMAX_REGRESSION_REGRESSION_H

#include <stdint.h>

/** A problem and a point on its way. Everything stands in one block, `memory`. */
typedef struct regression {
    int64_t rows, dim; /* n, d */
    double radius;     /* R: |A| <= R (spectral), |x| <= R */
    double cap;        /* |A (x' - x)|_inf stays below: 0.01 in the theorems */
    double rate;       /* the step size that was accepted last */
    double *a, *b, *x; /* A (n x d), b (n), x (d) */
    double *f, *u;     /* at x */
    double *gradient;
    double *next, *moved, *trial; /* x' (d), A (x' - x) (n), f at a point that is tried (n) */
    double *memory;
} regression_t;

/** 0 when there is no memory. Draws A, b = f(x*) and x of trial `trial` of the seed. */
int regression_create(int64_t rows, int64_t dim, double radius, double cap, uint64_t seed,
                      uint64_t trial, regression_t *regression);

void regression_destroy(regression_t *regression);

/** f = softmax(A x). */
void regression_softmax(const regression_t *regression, const double *a, const double *x,
                        double *f);

/** L at f. */
double regression_loss(const regression_t *regression, const double *f);

/** Fill f, u and gradient at x. */
void regression_gradient(regression_t *regression);

/**
 * One step of gradient descent with backtracking (Armijo's rule), the gradient at x being there:
 * fills `next` and `moved`, leaves x. 0 when no step lowers the loss any more.
 */
int regression_step(regression_t *regression);

/** x := next. */
void regression_advance(regression_t *regression);

/** The loss of an f that is off by 4 roundings of float: below it a descent has arrived. */
double regression_arrival(const regression_t *regression);

/** Take so many steps and make the next one ready, with f, u and gradient; 0 where the descent arrives before. */
int regression_descend(regression_t *regression, int64_t steps);

/**
 * A direction (n x d) for A becomes A' = A + rate direction. `rate` makes the logits move as far as the
 * step to `next` moved them, |(A' - A) x| = |A (x' - x)|, or less where one of them would exceed the cap.
 * 0 when the direction does not move them.
 */
int regression_update(const regression_t *regression, double *direction);

/**
 * The same along -u x^T, the negative gradient of L in A: a gradient step on the data, and no layer of
 * attention, though token i moves along x by f_i (b_i - f_i + <f, c>), a weight of softmax attention
 * times a number. 0 when x = 0 or u = 0.
 */
int regression_data_update(const regression_t *regression, double *updated);

/** log10 of M = n^1.5 exp(10 R^2), the bound of Theorems 8.1 and 8.2. */
double regression_log_bound(int64_t rows, double radius);

/** log10 of 4 beta^-2 n^1.5 R exp(2 R^2), Lemmas 5.5 and 7.5, with beta = exp(-R^2) of Lemma 3.3. */
double regression_log_tight_bound(int64_t rows, double radius);

#endif
