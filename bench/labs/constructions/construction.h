/*
 * labs/constructions/construction.h: layers with explicit weights that do what efficient-transformers' lemmas
 * promise ("Do Efficient Transformers Really Save Computation?", Appendix A): AGG by one
 * linear-attention layer (Lemma A.9), COPY by softmax attention (Lemma A.11) and by three sparse
 * layers (Lemma A.12). Attention is computed by the plugins; perceptrons (GeLU networks in the paper,
 * of error as small as wanted) are computed as the functions they stand for.
 */
#ifndef ATTN_LABS_CONSTRUCTIONS_CONSTRUCTION_H
#define ATTN_LABS_CONSTRUCTIONS_CONSTRUCTION_H

#include "attn/attn.h"

/** What is constructed: tokens of `dim` numbers within [-bound, bound], error `eps` promised. */
typedef struct construction {
    int64_t blocks; /* m: the sequence has L = m^2 tokens */
    int64_t dim;    /* d of the vectors that are averaged or copied */
    double bound;   /* M */
    double eps;
    uint64_t seed, trial;
} construction_t;

/** What came out. */
typedef struct construction_error {
    double measured; /* max |o - u| over all tokens and coordinates, through the plugin */
    double exact;    /* the same in double precision, without the plugin; NaN: no memory for it */
    double rounding; /* what float can add at most, by counting roundings */
    double norm;     /* the largest entry of the weights, in magnitude */
} construction_error_t;

typedef attn_status_t construct_t(const attn_context_t *context, const construction_t *what,
                                  construction_error_t *result, attn_error_t *error);

/**
 * AGG: token i, x_i = (xhat_i, e_{ceil(i/m)}, e_{q_i}, 1), gets the mean of the xhat_j with j <= i in
 * block q_i: q = mu e_{q_i} - mu, k = mu e_{ceil(i/m)} - mu, v = xhat, mu = ln(2 M m^3 / eps), under
 * phi = elu + 1 (exp, as nothing is above 0).
 */
construct_t construct_agg;

/**
 * COPY by softmax: u_i = v_j for the highest rated j <= i (the paper's matching set prints j < i; causal
 * attention sees token i itself, as the paper's own Eq. 6 does) with |q_i . k_j| <= rho (all others are at
 * -delta or below). Logits lambda (c q.k + r) with c = 3 M / delta, lambda = 4 ln(2 L M / eps) / delta
 * put every other key delta lambda / 4 below, for the delta and rho = delta^2 / (8 M) of Assumption
 * A.10. (The paper prints q.k < rho for the match; it is |q.k|. Its constants are in the cited lemma of
 * Feng et al.; these are ours.) Ratings are spread over [-M, M], so delta = 2 M / (L - 1).
 */
construct_t construct_copy;

/**
 * COPY by three sparse layers (k = c = 1, B = 2^floor(log2 sqrt L)): token i gets v_p for any p <= i.
 * 1: the token's vector goes into one of B slots (a perceptron alone). 2: uniform attention over the
 * tokens of the own block; times their number that is the block's vectors side by side. 3: attention
 * to the end of block ceil(p/B), or to itself when p is in its own block, and the slot of p is taken.
 * Tokens are B d + 5 numbers wide, as the proof's are: the lemma prints an embedding of size O(d).
 * (The paper's second layer attends to the last B tokens; Eq. 6 shows it the ends of all blocks too,
 * and for an end of block the previous end shares its slot: so blocks must match.)
 */
construct_t construct_sparse_copy;

#endif
