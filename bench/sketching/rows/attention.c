/* rows/attention.c: attention on sketches beside exact attention. */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct attention {
    problem_t problem;
    const attn_context_t *context;
    float *value, *out;
} attention_t;

static attn_status_t attend(const attention_t *attention, float *x, int64_t dim) {
    const int64_t n = attention->problem.x.rows;
    attn_problem_t problem;
    attn_plan_t *plan;
    attn_error_t error;
    attn_problem_init(&problem, 1, 1, n, n, dim, 64);
    problem.scale = 1;
    if (attn_plan_create(attention->context, "softmax", &problem, NULL, 0, &plan, &error))
        return ATTN_ERROR_MEMORY;
    attn_io_t io = {.struct_size = sizeof io};
    io.query = io.key = attn_tensor_bhnd(x, 1, 1, n, dim);
    io.value = attn_tensor_bhnd(attention->value, 1, 1, n, 64);
    io.out = attn_tensor_bhnd(attention->out, 1, 1, n, 64);
    io.workspace_size = attn_plan_workspace_size(plan);
    io.workspace = aligned_alloc(ATTN_ALIGNMENT, io.workspace_size);
    const attn_status_t status = io.workspace ? attn_run(plan, &io, &error) : ATTN_ERROR_MEMORY;
    free(io.workspace);
    attn_plan_destroy(plan);
    return status;
}

static attn_status_t attend_exactly(void *data) {
    attention_t *attention = data;
    return attend(attention, (float *)(uintptr_t)attention->problem.x.dense,
                  attention->problem.x.columns);
}

static attn_status_t attend_sketched(void *data) {
    attention_t *attention = data;
    sketching_result_t result;
    attn_error_t error;
    attn_status_t status = sketching_sketch(&attention->problem.features,
                                            &attention->problem.options, &result, &error);
    if (status == ATTN_OK) status = attend(attention, result.y, result.size);
    sketching_result_destroy(&result);
    return status;
}

static attn_context_t *create_context(void) {
    attn_context_t *context;
    attn_error_t error;
    if (attn_context_create(NULL, &context, &error)) exit(1);
    return context;
}

void rows_symmetric(void) {
    static const enum sketching_method methods[] = {SKETCHING_LEVERAGE, SKETCHING_OSNAP};
    attn_context_t *context = create_context();
    attention_t attention = {.problem = rows_dense(512, 65536), .context = context};
    problem_t *problem = &attention.problem;
    attention.value = rows_normals(512 * 64, 5);
    attention.out = rows_room(512 * 64, sizeof *attention.out);
    if (!sketching_features_create(&problem->x, &problem->features)) exit(1);
    const double exact = rows_time(attend_exactly, &attention);
    problem->options.size = 4096;
    problem->options.sparsity = 1;
    problem->options.factor = 360; /* 16 columns of a JL matrix, buckets for 4 n */
    for (size_t m = 0; m < 2; m++) {
        char what[128], beside[96];
        problem->options.method = methods[m];
        const double seconds = rows_time(attend_sketched, &attention);
        snprintf(what, sizeof what, "symmetric attention n = 512, d = 65536 by %s to m = 4096",
                 sketching_names[methods[m]]);
        snprintf(beside, sizeof beside, "exact %.3g ms: %.3g times", exact * 1e3, exact / seconds);
        rows_say(what, seconds, beside);
    }
    rows_release(problem);
    free(attention.value);
    free(attention.out);
    attn_context_destroy(context);
}

/* ---- sketched queries and keys ------------------------------------------------------------------------- */

enum { HEADS = 8, TOKENS = 4096, DIM = 128, SKETCHED = 64 };

/* A plan with its arrays. */
typedef struct prepared {
    attn_plan_t *plan;
    attn_io_t io;
} prepared_t;

static attn_status_t run(void *data) {
    const prepared_t *prepared = data;
    attn_error_t error;
    return attn_run(prepared->plan, &prepared->io, &error);
}

static double time_plan(const attn_context_t *context, const char *method, int64_t dim, int causal,
                        float *const arrays[4]) {
    const attn_param_t params[] = {{"method", method}, {"size", "64"}};
    prepared_t prepared = {.io = {.struct_size = sizeof prepared.io}};
    attn_io_t *io = &prepared.io;
    attn_problem_t problem;
    attn_error_t error;
    attn_problem_init(&problem, 1, HEADS, TOKENS, TOKENS, dim, DIM);
    problem.causal = causal ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_NONE;
    if (attn_plan_create(context, method ? "sketch" : "softmax", &problem, params, method ? 2 : 0,
                         &prepared.plan, &error))
        exit(1);
    io->query = attn_tensor_bhnd(arrays[0], 1, HEADS, TOKENS, dim);
    io->key = attn_tensor_bhnd(arrays[1], 1, HEADS, TOKENS, dim);
    io->value = attn_tensor_bhnd(arrays[2], 1, HEADS, TOKENS, DIM);
    io->out = attn_tensor_bhnd(arrays[3], 1, HEADS, TOKENS, DIM);
    io->workspace_size = attn_plan_workspace_size(prepared.plan);
    io->workspace = aligned_alloc(ATTN_ALIGNMENT, io->workspace_size);
    if (!io->workspace) exit(1);
    const double seconds = rows_time(run, &prepared);
    free(io->workspace);
    attn_plan_destroy(prepared.plan);
    return seconds;
}

void rows_sketched(void) {
    static const char *const methods[] = {NULL, "gaussian", "ams", "osnap", "srht", "leverage"};
    attn_context_t *context = create_context();
    float *arrays[4];
    for (uint64_t i = 0; i < 4; i++) arrays[i] = rows_normals(HEADS * TOKENS * DIM, 6 + i);
    for (int causal = 0; causal < 2; causal++) {
        char what[128], beside[96];
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            const char *name = methods[m] ? methods[m] : "none: given the sketches";
            const double exact = time_plan(context, NULL, DIM, causal, arrays);
            const double seconds =
                time_plan(context, methods[m], methods[m] ? DIM : SKETCHED, causal, arrays);
            snprintf(what, sizeof what, "%s attention, n = 4096, d = dv = 128 to 64, H = 8 by %s",
                     causal ? "causal" : "full", name);
            snprintf(beside, sizeof beside, "exact %.4g ms: %.3f of it, 0.75 by the count",
                     exact * 1e3, seconds / exact);
            rows_say(what, seconds, beside);
        }
    }
    for (int i = 0; i < 4; i++) free(arrays[i]);
    attn_context_destroy(context);
}
