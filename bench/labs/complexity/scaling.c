/* labs/complexity/scaling.c: see scaling.h. */
#include "labs/complexity/scaling.h"

#include "attn/random.h"
#include "attn/support.h"
#include "labs/head.h"
#include "measure/measure.h"
#include "number/format.h"

#include <math.h>
#include <stdlib.h>

enum { STREAM_INPUTS = 500, INPUTS = 3 };
enum { MEASURE_LEAST = 6 }; /* samples: the median of fewer has no 95% interval (measure.h) */

const char *scaling_backend(enum scaling_kind kind) {
    static const char *const backends[SCALING_BACKENDS] = {"softmax", "sparse", "linear", "sketch"};
    return backends[kind];
}

/* ---- memory: an allocator that counts ------------------------------------------------------------- */

static void *count_allocate(void *user, size_t size) {
    double *total = user;
    if (size > SIZE_MAX - ATTN_ALIGNMENT) return NULL;
    *total += (double)size;
    const size_t rounded = (size + ATTN_ALIGNMENT - 1) / ATTN_ALIGNMENT * ATTN_ALIGNMENT;
    return aligned_alloc(ATTN_ALIGNMENT, rounded ? rounded : ATTN_ALIGNMENT);
}

static void count_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/* ---- one run -------------------------------------------------------------------------------------- */

typedef struct trial {
    head_t head;
    float *inputs[INPUTS], *out; /* inputs[0] is what is freed */
    attn_error_t *error;
} trial_t;

static int allocate(trial_t *trial, const scaling_request_t *request) {
    const size_t count = (size_t)request->length * (size_t)request->dim;
    trial->inputs[0] = malloc((INPUTS + 1) * count * sizeof(float));
    if (!trial->inputs[0]) return 0;
    for (size_t i = 0; i < INPUTS * count; i++)
        trial->inputs[0][i] = (float)attn_random_normal(request->seed, STREAM_INPUTS, i);
    trial->inputs[1] = trial->inputs[0] + count;
    trial->inputs[2] = trial->inputs[1] + count;
    trial->out = trial->inputs[2] + count;
    return 1;
}

static attn_status_t run_plan_once(void *data) {
    trial_t *trial = data;
    return head_run(&trial->head, trial->inputs[0], trial->inputs[1], trial->inputs[2], trial->out,
                    NULL, trial->error);
}

static attn_status_t time_runs(trial_t *trial, const scaling_request_t *request,
                               scaling_t *result) {
    measure_t measure = {0};
    if (!allocate(trial, request))
        return attn_fail(trial->error, ATTN_ERROR_MEMORY, "no memory for %lld tokens of %lld",
                         (long long)request->length, (long long)request->dim);
    const attn_status_t status =
        measure_repeat_processor(run_plan_once, trial, request->budget, &measure);
    result->seconds = measure.median;
    if (measure.samples >= MEASURE_LEAST) {
        result->low = measure.low;
        result->high = measure.high;
    }
    free(trial->inputs[0]);
    return status;
}

static attn_status_t measure(const attn_context_t *context, const scaling_request_t *request,
                             const double *allocated, scaling_t *result, attn_error_t *error) {
    attn_problem_t problem =
        head_problem(request->length, request->length, request->dim, request->dim);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    trial_t trial = {.error = error};
    attn_status_t status =
        head_create(context, scaling_backend(request->kind), &problem, NULL, 0, &trial.head, error);
    if (status) return status;
    attn_cost_t cost = {.struct_size = sizeof cost};
    status = attn_plan_cost(trial.head.plan, &cost, error);
    result->flops = cost.flops;
    result->pairs = cost.pairs;
    result->working = *allocated + (double)attn_plan_workspace_size(trial.head.plan);
    result->arrays = 4.0 * (double)request->length * (double)request->dim * sizeof(float);
    if (!status && request->budget > 0) status = time_runs(&trial, request, result);
    head_destroy(&trial.head);
    return status;
}

attn_status_t scaling_measure(const scaling_request_t *request, scaling_t *result,
                              attn_error_t *error) {
    double allocated = 0;
    const attn_ext_memory_t memory = {.struct_size = sizeof memory,
                                      .user = &allocated,
                                      .allocate = count_allocate,
                                      .release = count_release};
    const attn_context_options_t options = {
        .struct_size = sizeof options,
        .memory = &memory,
        .cpu = request->context ? attn_tier_name(attn_context_tier(request->context)) : NULL,
    };
    attn_context_t *context;
    attn_status_t status = attn_context_create(&options, &context, error);
    if (status) return status;
    allocated = 0; /* the plan's alone */
    *result = (scaling_t){.seconds = NAN, .low = NAN, .high = NAN};
    status = measure(context, request, &allocated, result, error);
    attn_context_destroy(context);
    return status;
}

/* ---- the state ------------------------------------------------------------------------------------ */

/*
 * Keys that query number `length` gives weight, itself apart. Later queries see no other ones of them:
 * their band begins later, and the ends of blocks are the same. Queries of zeros weigh all alike.
 */
static attn_status_t count_seen(const attn_context_t *context, int64_t length, int64_t block,
                                double *tokens, attn_error_t *error) {
    char text[24];
    const attn_param_t params[] = {{"block", text}};
    attn_format(text, sizeof text, "%lld", (long long)block);
    attn_problem_t problem = head_problem(length + 1, length + 1, 1, 1);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    float *zeros = calloc((size_t)length + 1, sizeof *zeros);
    float *weights = calloc((size_t)length + 1, sizeof *weights);
    head_t head = {.plan = NULL};
    attn_status_t status;
    if (zeros && weights)
        status = head_create(context, "sparse", &problem, params, block > 0, &head, error);
    else
        status =
            attn_fail(error, ATTN_ERROR_MEMORY, "no memory for %lld tokens", (long long)length);
    if (!status) status = head_weights(&head, zeros, zeros, length, 1, weights, error);
    *tokens = 0;
    for (int64_t j = 0; j < length && !status; j++) *tokens += weights[j] > 0.0f;
    head_destroy(&head);
    free(zeros);
    free(weights);
    return status;
}

attn_status_t scaling_kept_tokens(const attn_context_t *context, enum scaling_kind kind,
                                  int64_t length, int64_t block, double *tokens,
                                  attn_error_t *error) {
    if (kind == SCALING_SPARSE) return count_seen(context, length, block, tokens, error);
    *tokens = kind == SCALING_SOFTMAX ? (double)length : 0;
    return ATTN_OK;
}

double scaling_state(enum scaling_kind kind, double tokens, double dim) {
    return kind == SCALING_LINEAR ? dim * dim + dim : 2 * tokens * dim;
}

double scaling_needed_dim(enum scaling_kind kind, double tokens, double length) {
    if (kind != SCALING_LINEAR) return ceil(length / (2 * tokens));
    double dim = floor(sqrt(length));
    while (dim > 1 && (dim - 1) * dim >= length) dim--;
    while (dim * (dim + 1) < length) dim++;
    return dim;
}

attn_status_t scaling_cache_bytes(const attn_context_t *context, int64_t length, int64_t dim,
                                  double *bytes, attn_error_t *error) {
    attn_problem_t problem = head_problem(1, 1, dim, dim);
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    attn_stream_t *stream;
    attn_status_t status =
        attn_stream_create(context, "softmax", &problem, NULL, 0, length, &stream, error);
    if (status) return status;
    float *zeros = calloc((size_t)(length * dim), sizeof *zeros);
    if (zeros) {
        const attn_tensor_t tokens = attn_tensor_bhnd(zeros, 1, 1, length, dim);
        const attn_io_t io = {.struct_size = sizeof io, .key = tokens, .value = tokens};
        status = attn_stream_append(stream, &io, error);
    } else {
        status =
            attn_fail(error, ATTN_ERROR_MEMORY, "no memory for %lld tokens", (long long)length);
    }
    *bytes = (double)attn_stream_memory(stream);
    free(zeros);
    attn_stream_destroy(stream);
    return status;
}
