/* labs/softmax_regression/layer.c: see layer.h. */
#include "labs/softmax_regression/layer.h"

#include "algebra/algebra.h"
#include "attn/support.h"
#include "labs/layer.h"

#include <math.h>
#include <stdlib.h>

static const attn_param_t linear_params[] = {{"feature_map", "lin"}, {"normaliser", "off"}};

/* (a_i, r_i) */
static matrix_t make_tokens(const regression_t *regression) {
    const int64_t n = regression->rows, d = regression->dim;
    const matrix_t tokens = matrix_create(n, d + 1);
    for (int64_t i = 0; i < n && tokens.data; i++) {
        for (int64_t k = 0; k < d; k++) *matrix_at(&tokens, i, k) = (float)regression->a[i * d + k];
        *matrix_at(&tokens, i, d) = -(float)regression->u[i];
    }
    return tokens;
}

/* W_Q = beta (I 0), W_K = (I 0), W_V = n eta / (beta |x|^2) (0 x); linear's without beta and n. */
static layer_t make_layer(const regression_t *regression, double beta) {
    const int64_t d = regression->dim;
    const double *x = regression->x, square = algebra_dot(x, x, d);
    const double share = beta > 0 ? (double)regression->rows / beta : 1;
    layer_t layer = layer_create(beta > 0 ? "softmax" : "linear", d + 1, d, d);
    layer.causal = ATTN_CAUSAL_NONE;
    if (beta == 0) layer.params = linear_params, layer.param_count = 2;
    if (!layer.query.data || !layer.key.data || !layer.value.data) return layer;
    for (int64_t k = 0; k < d; k++) {
        *matrix_at(&layer.query, k, k) = beta > 0 ? (float)beta : 1;
        *matrix_at(&layer.key, k, k) = 1;
        *matrix_at(&layer.value, k, d) = (float)(share * regression->rate * x[k] / square);
    }
    return layer;
}

/* By how much the layer's logits may be off. */
typedef struct off {
    double square, largest; /* of all, for the weights' expansion and rounding */
    double rounding;        /* the part of `square` that rounding alone would make */
} distance_t;

/* Of a row with scores that reach `range` from each other, its largest one being `score`; both times beta. */
static void add_row(const regression_t *regression, double beta, double score, double range,
                    double all, distance_t *off) {
    const double n = (double)regression->rows, d = (double)regression->dim;
    /* Sums over keys and columns, tokens, weights; one of attention has those of its logit twice. */
    const double roundings = (n + d + 16 + (beta > 0 ? 2 * (d + 3) * score : 0)) * 0x1p-24;
    const double share = regression->rate * all;
    const double rounding = share * roundings * (beta > 0 ? exp(range) / beta : score);
    const double rest = beta > 0 ? share * range * range / 2 * exp(range) / beta : 0;
    off->square += (rest + rounding) * (rest + rounding);
    off->largest = fmax(off->largest, rest + rounding);
    off->rounding += rounding * rounding;
}

static distance_t most(const regression_t *regression, double beta) {
    const int64_t n = regression->rows, d = regression->dim;
    const double times = beta > 0 ? beta : 1;
    double all = 0; /* |r|_1 */
    distance_t off = {0};
    for (int64_t i = 0; i < n; i++) all += fabs(regression->u[i]);
    for (int64_t i = 0; i < n; i++) {
        double low = INFINITY, high = -INFINITY, longest = 0;
        for (int64_t j = 0; j < n; j++) {
            const double *a = regression->a + i * d, *key = regression->a + j * d;
            const double score = times * algebra_dot(a, key, d);
            low = fmin(low, score);
            high = fmax(high, score);
            longest = fmax(longest, times * algebra_norm(a, d) * algebra_norm(key, d));
        }
        add_row(regression, beta, longest, high - low, all, &off);
    }
    return off;
}

/* |f - f'| for logits that are so far apart; `highest`: the largest entry of f. */
static double most_shift(const distance_t *off, double highest) {
    const double slope = fmin(0.5, highest * exp(2 * off->largest));
    return fmin(sqrt(2), slope * sqrt(off->square));
}

/* Both shifts; work: n d + d + 2 n. */
static void compare(const regression_t *regression, const matrix_t *out, double beta, double *work,
                    regression_alike_t *alike) {
    const int64_t n = regression->rows, d = regression->dim;
    double *updated = work, *next = updated + n * d, *turned = next + d, *after = turned + n;
    for (int64_t i = 0; i < n * d; i++) updated[i] = regression->a[i] + (double)out->data[i];
    for (int64_t k = 0; k < d; k++)
        next[k] = regression->x[k] - regression->rate * regression->gradient[k];
    regression_softmax(regression, updated, regression->x, turned);
    regression_softmax(regression, regression->a, next, after);
    double square = 0, highest = 0;
    for (int64_t i = 0; i < n; i++) {
        highest = fmax(highest, after[i]);
        square += (turned[i] - after[i]) * (turned[i] - after[i]);
        turned[i] -= regression->f[i];
        after[i] -= regression->f[i];
    }
    const distance_t off = most(regression, beta);
    const double logit = regression->radius * regression->radius; /* and more than one is */
    const double doubles = ((double)n + sqrt((double)n) * (double)d * logit) * 0x1p-52;
    const double shift = algebra_norm(after, n);
    alike->error = sqrt(square) / shift;
    alike->bound = (most_shift(&off, highest) + doubles) / shift;
    alike->rounding = (sqrt(off.rounding) / 2 + doubles) / shift;
    alike->cosine = algebra_cosine(after, turned, n);
}

attn_status_t regression_layer(const attn_context_t *context, const regression_t *regression,
                               double beta, regression_alike_t *alike, attn_error_t *error) {
    const int64_t n = regression->rows, d = regression->dim;
    layer_t layer = make_layer(regression, beta);
    matrix_t tokens = make_tokens(regression), out = matrix_create(n, d);
    double *work = malloc((size_t)(n * d + d + 2 * n) * sizeof *work);
    attn_status_t status = layer_run(context, &layer, &tokens, &out, error);
    if (!status && !work)
        status = attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a shift of %lld tokens",
                           (long long)n);
    if (!status) compare(regression, &out, beta, work, alike);
    free(work);
    matrix_destroy(&tokens);
    matrix_destroy(&out);
    layer_destroy(&layer);
    return status;
}
