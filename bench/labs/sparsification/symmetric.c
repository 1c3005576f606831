/* labs/sparsification/symmetric.c: see symmetric.h. */
#include "labs/sparsification/symmetric.h"

#include "algebra/algebra.h"
#include "attn/random.h"
#include "attn/support.h"
#include "labs/head.h"
#include "measure/measure.h"
#include "number/format.h"
#include "number/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- X ------------------------------------------------------------------------------------------- */

enum { STREAM_X = 400, STREAM_LEAN, STREAM_KEPT, STREAMS = 3 };

/* Twice by the same code: to count bytes, and to take them. */
static void lay_out_symmetric(symmetric_t *symmetric, attn_arena_t *arena) {
    const int64_t n = symmetric->rows, d = symmetric->dim;
    symmetric->x = attn_arena_take(arena, n, (uint64_t)d * sizeof(float));
    symmetric->value = attn_arena_take(arena, n, sizeof(float));
    symmetric->out = attn_arena_take(arena, n, sizeof(float));
    symmetric->weights = attn_arena_take(arena, n, (uint64_t)n * sizeof(float));
    symmetric->lse = attn_arena_take(arena, n, sizeof(float));
    symmetric->logits = attn_arena_take(arena, n, (uint64_t)n * sizeof(double));
    symmetric->exact = attn_arena_take(arena, n, (uint64_t)n * sizeof(double));
    symmetric->sketched = attn_arena_take(arena, n, (uint64_t)n * sizeof(double));
    symmetric->work = attn_arena_take(arena, n, (uint64_t)(n + 1) * sizeof(double));
}

static void draw_row(symmetric_t *symmetric, const symmetric_shape_t *shape, int64_t i) {
    const uint64_t streams = shape->trial * STREAMS;
    float *row = symmetric->x + i * shape->dim;
    double square = 0;
    for (int64_t k = 0; k < shape->dim; k++) {
        const uint64_t index = (uint64_t)(i * shape->dim + k);
        const double scale = pow((double)(k + 1), -shape->decay) * (k % 97 == 5 ? shape->spike : 1);
        const double kept = attn_random_uniform(shape->seed, streams + STREAM_KEPT, index);
        const double own = attn_random_normal(shape->seed, streams + STREAM_X, index);
        const double all = attn_random_normal(shape->seed, streams + STREAM_LEAN, (uint64_t)k);
        row[k] = kept < shape->density ? (float)(scale * (own + 0.5 * all)) : 0.0f;
        square += (double)row[k] * (double)row[k];
    }
    /* A hair below sqrt(r): the product is rounded to float. A row of zeros stays one. */
    const double length = square > 0 ? sqrt(shape->r * (1 - 0x1p-20) / square) : 0;
    for (int64_t k = 0; k < shape->dim; k++) {
        row[k] = (float)((double)row[k] * length);
        symmetric->nonzero += row[k] != 0.0f;
    }
}

static void fill_exact(symmetric_t *symmetric) {
    const int64_t n = symmetric->rows, d = symmetric->dim;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            double dot = 0;
            for (int64_t k = 0; k < d; k++)
                dot += (double)symmetric->x[i * d + k] * (double)symmetric->x[j * d + k];
            symmetric->logits[i * n + j] = dot;
            symmetric->largest = fmax(symmetric->largest, fabs(dot));
            sum += symmetric->exact[i * n + j] = exp(dot);
        }
        for (int64_t j = 0; j < n; j++) symmetric->exact[i * n + j] /= sum;
    }
}

int symmetric_create(const symmetric_shape_t *shape, symmetric_t *symmetric) {
    attn_arena_t arena = {.base = NULL};
    *symmetric = (symmetric_t){.rows = shape->rows, .dim = shape->dim};
    lay_out_symmetric(symmetric, &arena);
    if (!arena.overflow) symmetric->memory = calloc(1, (size_t)arena.used);
    if (!symmetric->memory) return 0;
    arena = (attn_arena_t){.base = symmetric->memory};
    lay_out_symmetric(symmetric, &arena);
    for (int64_t i = 0; i < shape->rows; i++) draw_row(symmetric, shape, i);
    fill_exact(symmetric);
    return 1;
}

void symmetric_destroy(symmetric_t *symmetric) {
    free(symmetric->memory);
    *symmetric = (symmetric_t){.memory = NULL};
}

/* ---- sketches --------------------------------------------------------------------------------------- */

static attn_status_t make_head(const attn_context_t *context, const symmetric_t *symmetric,
                               const sketch_request_t *request, head_t *head, attn_error_t *error) {
    char size[24], eps[32], delta[32], seed[24], rank[24];
    const attn_problem_t problem =
        head_problem(symmetric->rows, symmetric->rows, symmetric->dim, 1);
    attn_format(size, sizeof size, "%lld", (long long)request->size);
    attn_format(seed, sizeof seed, "%llu", (unsigned long long)request->seed);
    attn_format(rank, sizeof rank, "%lld", (long long)symmetric->rows); /* as Q = K */
    const attn_param_t params[] = {{"method", request->method},
                                   {"size", size},
                                   {"seed", seed},
                                   {"rank", rank},
                                   {"eps", attn_number_text(request->eps, eps)},
                                   {"delta", attn_number_text(request->delta, delta)}};
    /* eps and delta only choose the automatic size. */
    return head_create(context, "sketch", &problem, params, request->size ? 4 : 6, head, error);
}

static int promises(const head_t *head) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t i = 0; attn_plan_fact(head->plan, i, &fact); i++)
        if (fact.text && strcmp(fact.name, "guarantee") == 0)
            return strncmp(fact.text, "none", 4) != 0;
    return 0;
}

static double row_length(const symmetric_t *symmetric, int64_t row) {
    return sqrt(symmetric->logits[row * symmetric->rows + row]);
}

/* Parts of what the lemmas allow; of the first, without its 1 + eps. */
static void measure_lemmas(const symmetric_t *symmetric, double lemmas[4]) {
    const int64_t n = symmetric->rows;
    const double r = symmetric->largest;
    for (int64_t i = 0; i < n; i++) {
        double exact = 0, near = 0;
        for (int64_t j = 0; j < n; j++) {
            const double a = symmetric->logits[i * n + j], b = symmetric->sketched[i * n + j];
            const double moved =
                fabs((double)symmetric->weights[i * n + j] - symmetric->exact[i * n + j]);
            exact += exp(a);
            near += exp(b);
            lemmas[0] = fmax(lemmas[0], fabs(b) / r);
            lemmas[1] = fmax(lemmas[1], expm1(fabs(a - b)) / (6 * r));
            lemmas[3] = fmax(lemmas[3], moved / (12 * r));
        }
        lemmas[2] = fmax(lemmas[2], fabs(exact - near) / (6 * r * fmin(exact, near)));
    }
}

/* Weights, logits and distortion of the sketch whose weights and lse are there. */
static void compare(symmetric_t *symmetric, sketch_result_t *result) {
    const int64_t n = symmetric->rows;
    double *sketched = symmetric->sketched, squares = 0, trace = 0;
    for (int64_t i = 0; i < n; i++) {
        trace += symmetric->logits[i * n + i];
        for (int64_t j = 0; j < n; j++) {
            const int64_t at = i * n + j;
            const double weight = (double)symmetric->weights[at];
            sketched[at] = log(weight) + (double)symmetric->lse[i];
            const double off = fabs(sketched[at] - symmetric->logits[at]);
            squares += off * off;
            const double moved = fabs(weight - symmetric->exact[at]);
            const double proof = 6 * symmetric->largest * (weight + symmetric->exact[at]);
            result->error = fmax(result->error, moved);
            result->proof = fmax(result->proof, proof);
            result->share = fmax(result->share, moved / proof);
            result->logit =
                fmax(result->logit, off / (row_length(symmetric, i) * row_length(symmetric, j)));
        }
    }
    result->frobenius = sqrt(squares) / trace;
    measure_lemmas(symmetric, result->lemmas);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            sketched[i * n + j] = sketched[j * n + i] =
                (sketched[i * n + j] + sketched[j * n + i]) / 2;
    memcpy(symmetric->work, symmetric->logits, (size_t)(n * n) * sizeof(double));
    result->distortion = algebra_distortion(symmetric->work, sketched, n, symmetric->work + n * n);
    result->lemmas[0] /= 1 + result->distortion;
}

/* Runs the head on the rows of a sketch, or on X for a head that sketches. */
static attn_status_t run_and_compare(const head_t *head, symmetric_t *symmetric, const float *rows,
                                     sketch_result_t *result, attn_error_t *error) {
    attn_status_t status =
        head_run(head, rows, rows, symmetric->value, symmetric->out, symmetric->lse, error);
    if (!status)
        status = head_weights(head, rows, rows, 0, symmetric->rows, symmetric->weights, error);
    if (!status) compare(symmetric, result);
    return status;
}

attn_status_t symmetric_compare(const attn_context_t *context, symmetric_t *symmetric,
                                const float *sketch, int64_t size, sketch_result_t *result,
                                attn_error_t *error) {
    head_t head;
    const attn_problem_t problem = head_problem(symmetric->rows, symmetric->rows, size, 1);
    attn_status_t status = head_create(context, "softmax", &problem, NULL, 0, &head, error);
    if (status) return status;
    *result = (sketch_result_t){.size = (double)size};
    status = run_and_compare(&head, symmetric, sketch, result, error);
    head_destroy(&head);
    return status;
}

attn_status_t symmetric_sketch(const attn_context_t *context, symmetric_t *symmetric,
                               const sketch_request_t *request, sketch_result_t *result,
                               attn_error_t *error) {
    head_t head;
    attn_status_t status = make_head(context, symmetric, request, &head, error);
    if (status) return status;
    *result = (sketch_result_t){.size = head_fact(&head, "size", NAN),
                                .guaranteed = promises(&head),
                                .exact = head_fact(&head, "exact", 0) != 0};
    status = run_and_compare(&head, symmetric, symmetric->x, result, error);
    head_destroy(&head);
    return status;
}

attn_status_t symmetric_asked(const attn_context_t *context, const symmetric_t *symmetric,
                              const sketch_request_t *request, double *size, attn_error_t *error) {
    sketch_request_t automatic = *request;
    head_t head;
    automatic.size = 0;
    const attn_status_t status = make_head(context, symmetric, &automatic, &head, error);
    if (status) return status;
    *size = promises(&head) ? head_fact(&head, "size", NAN) : NAN;
    head_destroy(&head);
    return ATTN_OK;
}

double sketch_value(const sketch_result_t *result, enum sketch_measure measure) {
    const double values[SKETCH_MEASURES] = {result->distortion, result->logit, result->frobenius};
    return values[measure];
}

enum sketch_measure sketch_promise(const char *method) {
    if (strcmp(method, "gaussian") == 0) return SKETCH_LOGIT;
    if (strcmp(method, "ams") == 0 || strcmp(method, "osnap") == 0 || strcmp(method, "srht") == 0)
        return SKETCH_FROBENIUS;
    if (strcmp(method, "leverage") == 0 || strcmp(method, "approximate") == 0 ||
        strcmp(method, "deterministic") == 0)
        return SKETCH_DISTORTION;
    return SKETCH_MEASURES;
}

const char *const *sketch_methods(const attn_context_t *context) {
    const attn_backend_t *backend = attn_backend_find(context, "sketch");
    attn_param_info_t info = {.struct_size = sizeof info};
    for (uint32_t i = 0; attn_backend_param(backend, i, &info); i++)
        if (strcmp(info.name, "method") == 0) return info.choices;
    return NULL;
}

/* ---- time --------------------------------------------------------------------------------------------- */

typedef struct timed {
    const symmetric_t *symmetric;
    const head_t *head;
    attn_error_t *error;
} timed_t;

static attn_status_t timed_run(void *data) {
    const timed_t *timed = data;
    const symmetric_t *symmetric = timed->symmetric;
    return head_run(timed->head, symmetric->x, symmetric->x, symmetric->value, symmetric->out, NULL,
                    timed->error);
}

static attn_status_t time_on(const attn_context_t *context, symmetric_t *symmetric,
                             const sketch_request_t *request, double budget, double *seconds,
                             attn_error_t *error) {
    head_t head;
    attn_status_t status = make_head(context, symmetric, request, &head, error);
    if (status) return status;
    timed_t timed = {symmetric, &head, error};
    measure_t measure = {0};
    status = measure_repeat_processor(timed_run, &timed, budget, &measure);
    *seconds = measure.median;
    head_destroy(&head);
    return status;
}

attn_status_t symmetric_time(const attn_context_t *context, symmetric_t *symmetric,
                             const sketch_request_t *request, double budget, double *seconds,
                             attn_error_t *error) {
    const attn_context_options_t options = {
        .struct_size = sizeof options,
        .cpu = attn_tier_name(attn_context_tier(context)),
    };
    attn_context_t *alone; /* without the run's threads: a thread's processor time is all of it */
    attn_status_t status = attn_context_create(&options, &alone, error);
    if (status) return status;
    status = time_on(alone, symmetric, request, budget, seconds, error);
    attn_context_destroy(alone);
    return status;
}
