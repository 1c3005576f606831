/* labs/constructions/sparse_copy.c: COPY by three sparse layers (Lemma A.12); see construction.h. */
#include "attn/random.h"
#include "labs/constructions/construction.h"
#include "labs/layer.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_VECTORS = 300, STREAM_TARGET, STREAMS = 2 };

/* Behind a token's B slots: its block b, b^2, its place t in the block, its target's block, 1. */
enum { BLOCK, SQUARE, PLACE, TARGET_BLOCK, ONE, FIELDS };

typedef struct copy {
    const construction_t *what;
    int64_t length, block; /* L, B */
    int64_t *target;       /* p_i, from 0, at most i */
    matrix_t vectors, tokens, slots, out, wanted;
    double largest; /* of the logits */
    double norm;    /* of all layers' weights */
} copy_t;

static double draw(const copy_t *copy, uint64_t stream, int64_t index) {
    return attn_random_uniform(copy->what->seed, stream + copy->what->trial * STREAMS,
                               (uint64_t)index);
}

static void draw_inputs(copy_t *copy) {
    const int64_t d = copy->what->dim;
    for (int64_t i = 0; i < copy->length * d; i++)
        copy->vectors.data[i] =
            (float)((2 * draw(copy, STREAM_VECTORS, i) - 1) * copy->what->bound);
    for (int64_t i = 0; i < copy->length; i++) {
        copy->target[i] = (int64_t)(draw(copy, STREAM_TARGET, i) * (double)(i + 1));
        for (int64_t c = 0; c < d; c++)
            *matrix_at(&copy->wanted, i, c) = *matrix_at(&copy->vectors, copy->target[i], c);
    }
}

/* Layer 1, a perceptron alone: the vector goes into its slot; positions become blocks and places. */
static void first_layer(copy_t *copy) {
    const int64_t d = copy->what->dim, width = copy->block * d;
    for (int64_t i = 0; i < copy->length; i++) {
        float *token = matrix_at(&copy->tokens, i, 0), *fields = token + width;
        const int64_t block = i / copy->block + 1, place = i % copy->block;
        for (int64_t c = 0; c < d; c++) token[place * d + c] = *matrix_at(&copy->vectors, i, c);
        fields[BLOCK] = (float)block;
        fields[SQUARE] = (float)(block * block);
        fields[PLACE] = (float)(place + 1);
        fields[TARGET_BLOCK] = (float)(copy->target[i] / copy->block + 1);
        fields[ONE] = 1;
    }
}

/*
 * Logits lambda (2 factor b' b_j - factor b_j^2 + rated t_j) for b' in the query's field `block`: that
 * is lambda (rated t_j - factor (b' - b_j)^2), up to what all keys of a row have in common. lambda is
 * a whole number, and so all logits are whole: below 2^24 float has them exactly.
 */
static layer_t match_blocks(copy_t *copy, int block, double lambda, double factor, int rated) {
    static const attn_param_t params[] = {{"local", "1"}, {"global", "1"}};
    const int64_t width = copy->block * copy->what->dim;
    layer_t layer = layer_create("sparse", width + FIELDS, 3, width);
    layer.params = params;
    layer.param_count = 2;
    if (!layer.query.data || !layer.key.data || !layer.value.data) return layer;
    *matrix_at(&layer.query, 0, width + block) = (float)(2 * lambda * factor);
    *matrix_at(&layer.key, 0, width + BLOCK) = 1;
    *matrix_at(&layer.query, 1, width + ONE) = (float)(-lambda * factor);
    *matrix_at(&layer.key, 1, width + SQUARE) = 1;
    *matrix_at(&layer.query, 2, width + ONE) = rated ? (float)lambda : 0.0f;
    *matrix_at(&layer.key, 2, width + PLACE) = 1;
    for (int64_t o = 0; o < width; o++) *matrix_at(&layer.value, o, o) = 1;
    const double blocks = (double)(copy->length / copy->block + 1);
    copy->largest = fmax(copy->largest, 2 * lambda * factor * blocks * blocks);
    return layer;
}

static attn_status_t run_layer(const attn_context_t *context, copy_t *copy, layer_t *layer,
                               attn_error_t *error) {
    const attn_status_t status = layer_run(context, layer, &copy->tokens, &copy->slots, error);
    copy->norm = fmax(copy->norm, layer_norm(layer));
    layer_destroy(layer);
    return status;
}

/* The perceptron of layer 2: the mean of t vectors in t slots, times t, is those vectors. */
static void keep_slots(copy_t *copy) {
    const int64_t width = copy->slots.columns;
    for (int64_t i = 0; i < copy->length; i++) {
        float *token = matrix_at(&copy->tokens, i, 0);
        for (int64_t c = 0; c < width; c++)
            token[c] = *matrix_at(&copy->slots, i, c) * token[width + PLACE];
    }
}

/* The perceptron of layer 3 takes the slot of the target's place. */
static void take_slot(copy_t *copy) {
    const int64_t d = copy->what->dim;
    for (int64_t i = 0; i < copy->length; i++)
        for (int64_t c = 0; c < d; c++)
            *matrix_at(&copy->out, i, c) =
                *matrix_at(&copy->slots, i, copy->target[i] % copy->block * d + c);
}

/* ---- the same in double precision ---------------------------------------------------------------- */

/* Weights of the keys that Eq. 6 shows to token i (k = c = 1), for logits lambda (rated t_j - factor (b' - b_j)^2). */
static void weigh(const copy_t *copy, int64_t i, double block, double lambda, double factor,
                  double rated, double *weights) {
    double peak = -INFINITY, sum = 0;
    for (int64_t j = 0; j <= i; j++) {
        const int seen = j > i - copy->block || j % copy->block == copy->block - 1;
        const double off = block - (double)(j / copy->block + 1);
        const double place = (double)(j % copy->block + 1);
        weights[j] = seen ? lambda * (rated * place - factor * off * off) : -INFINITY;
        peak = fmax(peak, weights[j]);
    }
    for (int64_t j = 0; j <= i; j++) sum += weights[j] = exp(weights[j] - peak);
    for (int64_t j = 0; j <= i; j++) weights[j] /= sum;
}

/* Layer 2 of token i: the means of its block's slots, times its place. A token has its vector in one slot alone. */
static void exact_slots(const copy_t *copy, int64_t i, const double *weights, double *slots) {
    const int64_t d = copy->what->dim;
    for (int64_t k = 0; k < copy->block * d; k++) slots[k] = 0;
    for (int64_t j = 0; j <= i; j++)
        for (int64_t c = 0; c < d && weights[j] > 0; c++)
            slots[j % copy->block * d + c] += weights[j] * (double)(i % copy->block + 1) *
                                              (double)*matrix_at(&copy->vectors, j, c);
}

static double run_exact(const copy_t *copy, double second, double third) {
    const int64_t d = copy->what->dim, width = copy->block * d;
    double worst = 0, *weights = malloc((size_t)copy->length * sizeof *weights);
    double *slots = malloc((size_t)(copy->length * width) * sizeof *slots);
    for (int64_t i = 0; i < copy->length && weights && slots; i++) {
        weigh(copy, i, (double)(i / copy->block + 1), second, 1, 0, weights);
        exact_slots(copy, i, weights, slots + i * width);
    }
    for (int64_t i = 0; i < copy->length && weights && slots; i++) {
        const int64_t slot = copy->target[i] % copy->block * d;
        weigh(copy, i, (double)(copy->target[i] / copy->block + 1), third, (double)copy->block, 1,
              weights);
        for (int64_t c = 0; c < d; c++) {
            double mean = 0;
            for (int64_t j = 0; j <= i; j++) mean += weights[j] * slots[j * width + slot + c];
            worst = fmax(worst, fabs(mean - (double)*matrix_at(&copy->wanted, i, c)));
        }
    }
    if (!weights || !slots) worst = NAN;
    free(weights);
    free(slots);
    return worst;
}

/* ---- all layers ------------------------------------------------------------------------------------ */

static attn_status_t construct(const attn_context_t *context, copy_t *copy,
                               construction_error_t *result, attn_error_t *error) {
    const double bound = copy->what->bound, eps = copy->what->eps;
    /* Keys that a query sees: the band, the ends of blocks. */
    const double seen = (double)(copy->block + copy->length / copy->block);
    draw_inputs(copy);
    first_layer(copy);
    /* All V keys outside of the own block weigh V exp(-lambda) <= eps / (4 M), and move the mean of
     * the others by 2 M times that. */
    const double second = fmax(1, ceil(log(4 * bound * seen / eps)));
    layer_t layer = match_blocks(copy, BLOCK, second, 1, 0);
    attn_status_t status = run_layer(context, copy, &layer, error);
    if (status) return status;
    keep_slots(copy);
    /* A place more counts 1, a block off B: all other keys are 1 below the best, at least. */
    const double third = fmax(1, ceil(log(4 * (bound + eps) * seen / eps)));
    layer = match_blocks(copy, TARGET_BLOCK, third, (double)copy->block, 1);
    status = run_layer(context, copy, &layer, error);
    if (status) return status;
    take_slot(copy);
    const double logit = copy->largest < 0x1p24 ? 0 : 4 * 0x1p-24 * copy->largest;
    result->measured = matrix_distance(&copy->out, &copy->wanted);
    result->exact = run_exact(copy, second, third);
    result->norm = copy->norm;
    /* Both layers' weighted sums, the factor t, and logits that are not exact. */
    result->rounding = (4 * (seen + 8) + 1) * 0x1p-24 * (bound + eps) + eps * expm1(2 * logit);
    return ATTN_OK;
}

attn_status_t construct_sparse_copy(const attn_context_t *context, const construction_t *what,
                                    construction_error_t *result, attn_error_t *error) {
    copy_t copy = {.what = what, .length = what->blocks * what->blocks, .block = 1};
    while (4 * copy.block * copy.block <= copy.length) copy.block *= 2; /* the plugin's default */
    const int64_t width = copy.block * what->dim;
    copy.target = malloc((size_t)copy.length * sizeof *copy.target);
    copy.vectors = matrix_create(copy.length, what->dim);
    copy.tokens = matrix_create(copy.length, width + FIELDS);
    copy.slots = matrix_create(copy.length, width);
    copy.out = matrix_create(copy.length, what->dim);
    copy.wanted = matrix_create(copy.length, what->dim);
    attn_status_t status;
    if (copy.target && copy.vectors.data && copy.tokens.data && copy.slots.data && copy.out.data &&
        copy.wanted.data)
        status = construct(context, &copy, result, error);
    else
        status = attn_fail(error, ATTN_ERROR_MEMORY, "no memory for COPY's tokens");
    free(copy.target);
    matrix_destroy(&copy.vectors);
    matrix_destroy(&copy.tokens);
    matrix_destroy(&copy.slots);
    matrix_destroy(&copy.out);
    matrix_destroy(&copy.wanted);
    return status;
}
