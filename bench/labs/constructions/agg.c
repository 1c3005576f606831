/* labs/constructions/agg.c: AGG by one linear-attention layer (Lemma A.9); see construction.h. */
#include "attn/random.h"
#include "labs/constructions/construction.h"
#include "labs/layer.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_VECTORS = 100, STREAM_BLOCKS, STREAMS = 2 };

/* Blocks and wanted blocks of the tokens, counted from 0; token i is in block i / m. */
typedef struct agg {
    const construction_t *what;
    int64_t length;   /* L = m^2 */
    int64_t *wanted;  /* q_i - 1 */
    matrix_t tokens;  /* (xhat, e_block, e_wanted, 1) */
    matrix_t average; /* u */
} agg_t;

static double draw(const agg_t *agg, uint64_t stream, int64_t index) {
    return attn_random_uniform(agg->what->seed, stream + agg->what->trial * STREAMS,
                               (uint64_t)index);
}

static void fill_tokens(agg_t *agg) {
    const int64_t m = agg->what->blocks, d = agg->what->dim;
    for (int64_t i = 0; i < agg->length; i++) {
        float *token = matrix_at(&agg->tokens, i, 0);
        for (int64_t c = 0; c < d; c++)
            token[c] = (float)((2 * draw(agg, STREAM_VECTORS, i * d + c) - 1) * agg->what->bound);
        const int64_t block = i / m; /* any block up to its own: S_i is not empty then */
        agg->wanted[i] = (int64_t)(draw(agg, STREAM_BLOCKS, i) * (double)(block + 1));
        token[d + block] = 1;
        token[d + m + agg->wanted[i]] = 1;
        token[d + 2 * m] = 1;
    }
}

/*
 * What AGG asks for, `mean`, and the lemma's layer in double precision: a_ij takes two values, so that
 * a row needs the sum over S_i and the sum over all keys. Returns how far they are apart.
 */
static double fill_averages(agg_t *agg, double mu) {
    const int64_t m = agg->what->blocks, d = agg->what->dim;
    const double inside = 1 + (double)(m - 1) * exp(-2 * mu);
    const double outside = m > 1 ? 2 * exp(-mu) + (double)(m - 2) * exp(-2 * mu) : 0;
    double worst = 0;
    for (int64_t c = 0; c < d; c++) {
        double all = 0;
        for (int64_t i = 0; i < agg->length; i++) {
            const int64_t first = agg->wanted[i] * m;
            const int64_t last = first + m < i + 1 ? first + m : i + 1;
            double near = 0;
            all += (double)*matrix_at(&agg->tokens, i, c);
            for (int64_t j = first; j < last; j++) near += (double)*matrix_at(&agg->tokens, j, c);
            const double count = (double)(last - first), rest = (double)(i + 1) - count;
            const double layer =
                (inside * near + outside * (all - near)) / (inside * count + outside * rest);
            *matrix_at(&agg->average, i, c) = (float)(near / count);
            worst = fmax(worst, fabs(layer - near / count));
        }
    }
    return worst;
}

/* q = mu (e_wanted - 1), k = mu (e_block - 1), v = xhat. */
static layer_t make_layer(const agg_t *agg, double mu) {
    const int64_t m = agg->what->blocks, d = agg->what->dim, one = d + 2 * m;
    layer_t layer = layer_create("linear", one + 1, m, d);
    if (!layer.query.data || !layer.key.data || !layer.value.data) return layer;
    for (int64_t o = 0; o < m; o++) {
        *matrix_at(&layer.query, o, d + m + o) = *matrix_at(&layer.key, o, d + o) = (float)mu;
        *matrix_at(&layer.query, o, one) = *matrix_at(&layer.key, o, one) = -(float)mu;
    }
    for (int64_t o = 0; o < d; o++) *matrix_at(&layer.value, o, o) = 1;
    return layer;
}

/* The layer, through the plugin. */
static attn_status_t run_layer(const attn_context_t *context, const agg_t *agg, double mu,
                               construction_error_t *result, attn_error_t *error) {
    layer_t layer = make_layer(agg, mu);
    matrix_t out = matrix_create(agg->length, agg->what->dim);
    const attn_status_t status = layer_run(context, &layer, &agg->tokens, &out, error);
    if (!status) result->measured = matrix_distance(&out, &agg->average);
    result->norm = layer_norm(&layer);
    matrix_destroy(&out);
    layer_destroy(&layer);
    return status;
}

attn_status_t construct_agg(const attn_context_t *context, const construction_t *what,
                            construction_error_t *result, attn_error_t *error) {
    const double m = (double)what->blocks, mu = log(2 * what->bound * m * m * m / what->eps);
    agg_t agg = {.what = what, .length = what->blocks * what->blocks};
    agg.wanted = malloc((size_t)agg.length * sizeof *agg.wanted);
    agg.tokens = matrix_create(agg.length, what->dim + 2 * what->blocks + 1);
    agg.average = matrix_create(agg.length, what->dim);
    attn_status_t status;
    if (agg.wanted && agg.tokens.data && agg.average.data) {
        fill_tokens(&agg);
        result->exact = fill_averages(&agg, mu);
        /* Sums of at most L + m positive terms in numerator and normaliser, exp within 2 ulp. */
        result->rounding = 2 * (double)(agg.length + what->blocks + 8) * 0x1p-24 * what->bound;
        status = run_layer(context, &agg, mu, result, error);
    } else {
        status = attn_fail(error, ATTN_ERROR_MEMORY, "no memory for AGG's tokens");
    }
    free(agg.wanted);
    matrix_destroy(&agg.tokens);
    matrix_destroy(&agg.average);
    return status;
}
