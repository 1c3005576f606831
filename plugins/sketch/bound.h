/*
 * bound.h: how many features a sketch needs for a guarantee, and which guarantee a size gives.
 *
 * n queries and m keys of one head, d features, X = [Q; K] stacked. For each method the bound is a
 * number of features s for which, with probability at least 1 - delta in each head,
 *   gaussian    every logit is within eps |q| |k| (times scale) of the exact one:
 *               s = 2 ln(4 n m / delta) / (eps^2/2 - eps^3/3). (Dasgupta and Gupta, 2003, on the
 *               norms of q + k and q - k, for all n m pairs; Lemma 5.1's JL matrix.)
 *   ams, osnap, srht
 *               ||S' - S||_F <= eps ||Q||_F ||K||_F (times scale): s = 2 / (eps^2 delta). All have
 *               E (<q', k'> - <q, k>)^2 <= 2 |q|^2 |k|^2 / s, and Markov's inequality does the rest.
 *               (Alon, Matias, Szegedy, 1996; Nelson and Nguyen, 2013. srht: of one column of H the
 *               product of sums with random signs has that moment; columns without replacement are
 *               no worse than with it.)
 *   leverage    (1 - eps) X X^T <= X' X'^T <= (1 + eps) X X^T: s = 3 eps^-2 r ln(2 r / delta), with
 *               r >= rank X. (Lemma 5.4 of Deng, Mahadevan, Song,
 *               arXiv:2304.04397; the constants are Tropp's, "User-friendly tail bounds for sums of
 *               random matrices", 2012, Theorem 1.1, for 0 < eps <= 1.) Where also every entry of
 *               scale X X^T is within r < 0.1, each attention weight moves by at most 12 r
 *               (Lemmas 3.1 to 3.4).
 *   deterministic
 *               the same, always: s = 4 r / eps^2 (Theorem 4.2), and for s > r features eps = 2 sqrt(q) / (q + 1), q = s / r
 *               (barrier.h).
 *   approximate leverage's for delta / 2, times factor sum / r: sampling by scores that are off by a factor of at most F is
 *               sampling with p_j >= score_j / (F sum). Half of delta is for the scores: a quarter for the embedding and one
 *               for the JL matrix. The sum of such scores is F r at most, and of exact ones r.
 */
#ifndef ATTN_SKETCH_BOUND_H
#define ATTN_SKETCH_BOUND_H

#include "attn/types.h"
#include "matrices.h"

/** eps and delta are in (0, 1): so near to its ends. */
#define ATTN_SKETCH_LEAST_EPS 1e-3
#define ATTN_SKETCH_LEAST_DELTA 1e-6
#define ATTN_SKETCH_MOST 0.999

/** What a bound is about. */
typedef struct attn_sketch_promise {
    enum attn_sketch_method method;
    int64_t queries, keys; /**< n, m of a head */
    int64_t rank;          /**< r: at least the rank of any [Q; K]; of methods that keep features */
    double delta;          /**< in (0, 1) */
    double factor;         /**< approximate: what scores may be off by */
    double sum;            /**< approximate: of the scores, at most */
} attn_sketch_promise_t;

/** The most that the rank of [Q; K] can be: min(d, its rows) and, above 0, the `known` rank. */
int64_t attn_sketch_rank(const attn_problem_t *problem, int64_t known);

/** Features that are needed for eps; a whole number, perhaps huge. Up to 1, where a promise has nothing left. */
double attn_sketch_bound(const attn_sketch_promise_t *promise, double eps);

/** That of leverage by scores that are off by a factor of at most `factor` and add up to `sum`. */
double attn_sketch_bound_approximate(const attn_sketch_promise_t *promise, double factor,
                                     double sum, double eps);

/** The smallest eps in (0, 1] that `size` features are enough for, or 0 when there is none. */
double attn_sketch_attained(const attn_sketch_promise_t *promise, int64_t size);

/**
 * The least number of `digits` decimal digits that is not below `value`, in (0, 1]: what is said of an error
 * must hold, so it is never rounded down. (A probability of success is 1 less the rounded failure.)
 */
double attn_sketch_round_up(double value, int digits);

#endif
