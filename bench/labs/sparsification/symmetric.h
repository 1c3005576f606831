/*
 * labs/sparsification/symmetric.h: symmetric attention and its sketches (Deng, Mahadevan, Song, arXiv:2304.04397,
 * Lemmas 3.1 to 3.4): Q = K = X (n x d), d >> n, |X X^T|_inf <= r; where (1 - eps) X X^T <= Y Y^T <=
 * (1 + eps) X X^T, no entry of the attention matrix moves by more than 12 r.
 *
 * Y stays inside the plugin. Its logits are read from what the plugin gives away, S' = log A' + lse:
 * float's error there is about 2^-21, against entries of r.
 */
#ifndef ATTN_LABS_SPARSIFICATION_SYMMETRIC_H
#define ATTN_LABS_SPARSIFICATION_SYMMETRIC_H

#include "attn/attn.h"

/** X, its exact logits and weights, and room to measure in. */
typedef struct symmetric {
    int64_t rows, dim;       /* n, d */
    int64_t nonzero;         /* elements of X that are not 0 */
    double largest;          /* max |X X^T|, at most r */
    float *x;                /* n x d */
    float *value, *out;      /* n x 1: a run needs them, nothing reads them */
    float *weights, *lse;    /* n x n of the sketch, n */
    double *logits, *exact;  /* X X^T and its attention matrix */
    double *sketched, *work; /* S', and n x n + n */
    void *memory;
} symmetric_t;

/** How X is drawn. */
typedef struct symmetric_shape {
    int64_t rows, dim;
    double r;
    double decay;   /* feature k is scaled by (k + 1)^-decay: 0 for even leverage scores */
    double density; /* part of the elements that is not 0 */
    double spike;   /* by which one feature of 97 is larger than the others; 1 for none */
    uint64_t seed, trial;
} symmetric_shape_t;

/** Draw X: rows of length sqrt(r) that lean towards each other. 0 when there is no memory. */
int symmetric_create(const symmetric_shape_t *shape, symmetric_t *symmetric);

void symmetric_destroy(symmetric_t *symmetric);

/** One sketch. */
typedef struct sketch_request {
    const char *method;
    int64_t size;      /* m; 0: what the bound asks for eps and delta */
    double eps, delta; /* of the plugin, for size 0 */
    uint64_t seed;
} sketch_request_t;

/** What it does to X. */
typedef struct sketch_result {
    double size;       /* m */
    double error;      /* max |A' - A| */
    double distortion; /* least eps of the spectral statement */
    double logit;      /* max |S'_ij - S_ij| / (|x_i| |x_j|) */
    double frobenius;  /* |S' - S|_F / |X|_F^2 */
    double proof;      /* the largest 6 r (A + A')_ij, of which Lemma 3.4's proof makes 12 r */
    double share;      /* the largest |A' - A|_ij / (6 r (A + A')_ij) */
    double lemmas[4];  /* the largest part of what each of Lemmas 3.1 to 3.4 allows, below */
    int guaranteed;    /* the plan promises something for this size */
    int exact;         /* all features are kept */
} sketch_result_t;

/*
 * What the lemmas allow, A = X X^T, B = Y Y^T of distortion eps < 1, r = max |A|: |B_ij| <= (1 + eps) r (3.1);
 * |exp A - exp B|_ij <= 6 r min(exp A, exp B)_ij (3.2); the same of the sums of rows (3.3); 12 r for an entry of the
 * attention matrix (3.4).
 */
attn_status_t symmetric_sketch(const attn_context_t *context, symmetric_t *symmetric,
                               const sketch_request_t *request, sketch_result_t *result,
                               attn_error_t *error);

/** The same for a given sketch Y (n x size), by plain softmax attention. */
attn_status_t symmetric_compare(const attn_context_t *context, symmetric_t *symmetric,
                                const float *sketch, int64_t size, sketch_result_t *result,
                                attn_error_t *error);

/**
 * The same for the deterministic sketch of `size` > n features (Theorems 3.6 and 4.2): X diag(sqrt w) on
 * the features that the barrier method (sketching/barrier.h) gives weights w to. result->size is how many
 * they are.
 */
attn_status_t symmetric_deterministic(const attn_context_t *context, symmetric_t *symmetric,
                                      int64_t size, sketch_result_t *result, attn_error_t *error);

/** Features that the method's bound asks for eps and delta; NaN where that is not below dim. */
attn_status_t symmetric_asked(const attn_context_t *context, const symmetric_t *symmetric,
                              const sketch_request_t *request, double *size, attn_error_t *error);

/** What promises are about (plugins/sketch/bound.h). */
enum sketch_measure {
    SKETCH_DISTORTION, /**< (1 - eps) X X^T <= X' X'^T <= (1 + eps) X X^T: leverage's, and Theorem 4.2's */
    SKETCH_LOGIT,     /**< each logit within eps |x_i| |x_j|: gaussian's */
    SKETCH_FROBENIUS, /**< |S' - S|_F <= eps |X|_F^2: that of ams, osnap and srht */
    SKETCH_MEASURES
};

/** How far the sketch is off in this measure: to be compared with eps. */
double sketch_value(const sketch_result_t *result, enum sketch_measure measure);

/** What a method promises; SKETCH_MEASURES for a method that promises nothing known here. */
enum sketch_measure sketch_promise(const char *method);

/** Processor time of a run of the sketch plugin on X: median of as many as take `budget` seconds. */
attn_status_t symmetric_time(const attn_context_t *context, symmetric_t *symmetric,
                             const sketch_request_t *request, double budget, double *seconds,
                             attn_error_t *error);

/** The methods that the sketch plugin of this context declares, ended by NULL; NULL for none. */
const char *const *sketch_methods(const attn_context_t *context);

#endif
