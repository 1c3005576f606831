/* labs/constructions/copy.c: COPY by softmax attention (Lemma A.11); see construction.h. */
#include "attn/random.h"
#include "labs/constructions/construction.h"
#include "labs/layer.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_VECTORS = 200, STREAM_TARGET, STREAM_RANK, STREAMS = 3 };
enum { CLASSES = 4 };

/* A token: its vector, the class it asks for, its own class, noise, its rating, 1. */
enum { ASKS = 0, IS = CLASSES, NOISE = 2 * CLASSES, RATING, ONE, FIELDS };

typedef struct copy {
    const construction_t *what;
    int64_t length;
    double delta, rho;
    int64_t *class, *asks;
    int64_t *rank; /* of its rating, from 0 */
    matrix_t tokens, wanted;
} copy_t;

static double draw(const copy_t *copy, uint64_t stream, int64_t index) {
    return attn_random_uniform(copy->what->seed, stream + copy->what->trial * STREAMS,
                               (uint64_t)index);
}

/* Random order (Fisher and Yates). */
static void draw_ranks(copy_t *copy) {
    for (int64_t i = 0; i < copy->length; i++) copy->rank[i] = i;
    for (int64_t i = copy->length - 1; i > 0; i--) {
        const int64_t j = (int64_t)(draw(copy, STREAM_RANK, i) * (double)(i + 1));
        const int64_t kept = copy->rank[i];
        copy->rank[i] = copy->rank[j];
        copy->rank[j] = kept;
    }
}

/*
 * The worst that Assumption A.10 allows. Ratings are evenly over [-M, M]; a rank and the one below it,
 * 2k and 2k - 1, are of one class; the noise in q.k is against the first and for the second.
 */
static void fill_tokens(copy_t *copy) {
    const int64_t d = copy->what->dim;
    const double spacing = 2 * copy->what->bound / (double)(copy->length - 1);
    draw_ranks(copy);
    for (int64_t i = 0; i < copy->length; i++) {
        float *token = matrix_at(&copy->tokens, i, 0), *rest = token + d;
        for (int64_t c = 0; c < d; c++)
            token[c] = (float)((2 * draw(copy, STREAM_VECTORS, i * d + c) - 1) * copy->what->bound);
        copy->class[i] = (copy->rank[i] + 1) / 2 % CLASSES;
        /* The class of a token that is there: its matching set is not empty. */
        copy->asks[i] = copy->class[(int64_t)(draw(copy, STREAM_TARGET, i) * (double)(i + 1))];
        rest[ASKS + copy->asks[i]] = 1;
        rest[IS + copy->class[i]] = 1;
        rest[NOISE] = copy->rank[i] % 2 ? 1.0f : -1.0f;
        rest[RATING] = (float)((double)copy->rank[i] * spacing - copy->what->bound);
        rest[ONE] = 1;
    }
}

/* u_i = v_pos(i), pos(i) the highest rated of the matching set. */
static void fill_wanted(copy_t *copy) {
    const int64_t d = copy->what->dim;
    int64_t best[CLASSES];
    for (int c = 0; c < CLASSES; c++) best[c] = -1;
    for (int64_t i = 0; i < copy->length; i++) {
        int64_t *own = &best[copy->class[i]];
        if (*own < 0 || copy->rank[i] > copy->rank[*own]) *own = i;
        for (int64_t c = 0; c < d; c++)
            *matrix_at(&copy->wanted, i, c) = *matrix_at(&copy->tokens, best[copy->asks[i]], c);
    }
}

/*
 * q = lambda (c (delta + rho) (e_asks - 1), c, 1) and k = (e_is, rho noise, rating): q.k of the lemma is
 * 0 for the class that is asked for and -(delta + rho) for others, each with noise up to rho.
 */
static layer_t make_layer(const copy_t *copy, double lambda, double c) {
    const int64_t d = copy->what->dim;
    layer_t layer = layer_create("softmax", d + FIELDS, CLASSES + 2, d);
    if (!layer.query.data || !layer.key.data || !layer.value.data) return layer;
    const float gap = (float)(lambda * c * (copy->delta + copy->rho));
    for (int64_t o = 0; o < CLASSES; o++) {
        *matrix_at(&layer.query, o, d + ASKS + o) = gap;
        *matrix_at(&layer.query, o, d + ONE) = -gap;
        *matrix_at(&layer.key, o, d + IS + o) = 1;
    }
    *matrix_at(&layer.query, CLASSES, d + ONE) = (float)(lambda * c);
    *matrix_at(&layer.key, CLASSES, d + NOISE) = (float)copy->rho;
    *matrix_at(&layer.query, CLASSES + 1, d + ONE) = (float)lambda;
    *matrix_at(&layer.key, CLASSES + 1, d + RATING) = 1;
    for (int64_t o = 0; o < d; o++) *matrix_at(&layer.value, o, o) = 1;
    return layer;
}

static attn_status_t run_layer(const attn_context_t *context, const copy_t *copy, double lambda,
                               double c, construction_error_t *result, attn_error_t *error) {
    layer_t layer = make_layer(copy, lambda, c);
    matrix_t out = matrix_create(copy->length, copy->what->dim);
    const attn_status_t status = layer_run(context, &layer, &copy->tokens, &out, error);
    if (!status) result->measured = matrix_distance(&out, &copy->wanted);
    result->norm = layer_norm(&layer);
    matrix_destroy(&out);
    layer_destroy(&layer);
    return status;
}

/*
 * The lemma's layer in double precision: logits lambda (c q.k + r) of the tokens' fields, which are floats, and the mean
 * of the vectors by their exponentials. Returns how far it is from what is wanted.
 */
static double run_exact(const copy_t *copy, double lambda, double c) {
    const int64_t d = copy->what->dim;
    double worst = 0, *weights = malloc((size_t)copy->length * sizeof *weights);
    if (!weights) return NAN;
    for (int64_t i = 0; i < copy->length; i++) {
        double peak = -INFINITY, sum = 0;
        for (int64_t j = 0; j <= i; j++) {
            const float *rest = matrix_at(&copy->tokens, j, d);
            const double other = copy->class[j] == copy->asks[i] ? 0 : copy->delta + copy->rho;
            weights[j] =
                lambda * (c * ((double)rest[NOISE] * copy->rho - other) + (double)rest[RATING]);
            peak = fmax(peak, weights[j]);
        }
        for (int64_t j = 0; j <= i; j++) sum += weights[j] = exp(weights[j] - peak);
        for (int64_t k = 0; k < d; k++) {
            double mean = 0;
            for (int64_t j = 0; j <= i; j++)
                mean += weights[j] / sum * (double)*matrix_at(&copy->tokens, j, k);
            worst = fmax(worst, fabs(mean - (double)*matrix_at(&copy->wanted, i, k)));
        }
    }
    free(weights);
    return worst;
}

static double rounding(const copy_t *copy, double lambda, double c) {
    /* Terms of a logit, each from factors rounded to float, and their sum. */
    const double terms =
        lambda * (c * (copy->delta + copy->rho) + c * copy->rho + copy->what->bound);
    const double logit = (CLASSES + 5) * 0x1p-24 * terms;
    /* A key's weight is off by the factor exp(2 logit), and the weighted sum has L terms. */
    return copy->what->eps * expm1(2 * logit) +
           2 * (double)(copy->length + 8) * 0x1p-24 * copy->what->bound;
}

static attn_status_t construct(const attn_context_t *context, copy_t *copy,
                               construction_error_t *result, attn_error_t *error) {
    const double bound = copy->what->bound, length = (double)copy->length;
    copy->delta = 2 * bound / (length - 1) * (1 - 0x1p-10); /* ratings are rounded to float */
    copy->rho = copy->delta * copy->delta / (8 * bound);
    const double c = 3 * bound / copy->delta;
    const double lambda = 4 * log(2 * length * bound / copy->what->eps) / copy->delta;
    fill_tokens(copy);
    fill_wanted(copy);
    result->exact = run_exact(copy, lambda, c);
    result->rounding = rounding(copy, lambda, c);
    return run_layer(context, copy, lambda, c, result, error);
}

attn_status_t construct_copy(const attn_context_t *context, const construction_t *what,
                             construction_error_t *result, attn_error_t *error) {
    copy_t copy = {.what = what, .length = what->blocks * what->blocks};
    const size_t length = (size_t)copy.length;
    copy.class = malloc(length * sizeof *copy.class);
    copy.asks = malloc(length * sizeof *copy.asks);
    copy.rank = malloc(length * sizeof *copy.rank);
    copy.tokens = matrix_create(copy.length, what->dim + FIELDS);
    copy.wanted = matrix_create(copy.length, what->dim);
    attn_status_t status;
    if (copy.class && copy.asks && copy.rank && copy.tokens.data && copy.wanted.data)
        status = construct(context, &copy, result, error);
    else
        status = attn_fail(error, ATTN_ERROR_MEMORY, "no memory for COPY's tokens");
    free(copy.class);
    free(copy.asks);
    free(copy.rank);
    matrix_destroy(&copy.tokens);
    matrix_destroy(&copy.wanted);
    return status;
}
