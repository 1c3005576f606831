/* rows/attention.c: attention on sketches beside exact attention. */
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct attention {
    problem_t problem;
    const attn_context_t *context;
    float *value, *out;
} attention_t;

static attn_status_t attend_rows(const attention_t *attention, float *x, int64_t dim) {
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
    return attend_rows(attention, (float *)(uintptr_t)attention->problem.x.dense,
                       attention->problem.x.columns);
}

static attn_status_t attend_sketched(void *data) {
    attention_t *attention = data;
    sketching_result_t result;
    attn_error_t error;
    attn_status_t status = sketching_sketch(&attention->problem.features,
                                            &attention->problem.options, &result, &error);
    if (status == ATTN_OK) status = attend_rows(attention, result.y, result.size);
    sketching_result_destroy(&result);
    return status;
}

static attn_context_t *create_context(void) {
    attn_context_t *context;
    attn_error_t error;
    if (attn_context_create(NULL, &context, &error)) exit(1);
    return context;
}

/*
 * What is asked of scores: the factor F that they may be off by. 3 has no JL matrix, 64 one of 41 columns and 4 n features
 * embedded, 360 one of 24 columns.
 */
static const struct form {
    const char *name;
    enum sketching_method method;
    double factor;
} forms[] = {{"approximate, F = 3", SKETCHING_APPROXIMATE, 3},
             {"approximate, F = 64", SKETCHING_APPROXIMATE, 64},
             {"approximate, F = 360", SKETCHING_APPROXIMATE, 360},
             {"osnap, s = 1", SKETCHING_OSNAP, 0}};

enum { FORMS = sizeof forms / sizeof *forms };

/* How near the sketches of one seed are, which for n = 512 takes some seconds. */
static sketching_distance_t distance_of(const problem_t *problem) {
    sketching_result_t result;
    sketching_distance_t distance;
    if (sketching_sketch(&problem->features, &problem->options, &result, NULL) ||
        sketching_measure(&problem->features, algebra_best(), result.y, result.size, &distance,
                          NULL))
        exit(1);
    sketching_result_destroy(&result);
    return distance;
}

static void say_form(const struct form *form, const attention_t *attention, double seconds,
                     double exact) {
    const sketching_distance_t distance = distance_of(&attention->problem);
    char what[128], beside[192];
    snprintf(what, sizeof what, "symmetric attention n = 512, d = 65536 by %s to m = 4096",
             form->name);
    snprintf(beside, sizeof beside,
             "exact %.3g ms: %.3g times; distortion %.2g, an entry moves by %.2g at most%s",
             exact * 1e3, exact / seconds, distance.distortion, distance.entry,
             distance.distortion < 1 ? "" : ": 12 r bounds nothing");
    rows_say(what, seconds, form->method == SKETCHING_APPROXIMATE ? exact / 5 : NAN, beside);
}

void rows_symmetric(void) {
    attn_context_t *context = create_context();
    const problem_t problem = rows_dense(512, 65536);
    attention_t attention = {.problem = problem, .context = context}, sketched[FORMS];
    turn_t turns[FORMS + 1] = {[FORMS] = {attend_exactly, &attention, 0}};
    attention.value = rows_normals(512 * 64, 5);
    attention.out = rows_room(512 * 64, sizeof *attention.out);
    if (!sketching_features_create(&problem.x, &attention.problem.features)) exit(1);
    for (int f = 0; f < FORMS; f++) {
        sketching_options_t *options = &sketched[f].problem.options;
        sketched[f] = attention;
        options->size = 4096;
        options->sparsity = 1;
        options->method = forms[f].method;
        options->factor = forms[f].factor;
        turns[f] = (turn_t){attend_sketched, &sketched[f], 0};
    }
    rows_take_turns(turns, FORMS + 1);
    for (int f = 0; f < FORMS; f++)
        say_form(&forms[f], &sketched[f], turns[f].seconds, turns[FORMS].seconds);
    rows_release(&attention.problem);
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

static attn_status_t run_attention_once(void *data) {
    const prepared_t *prepared = data;
    attn_error_t error;
    return attn_run(prepared->plan, &prepared->io, &error);
}

static prepared_t prepare(const attn_context_t *context, const char *method, int64_t dim,
                          int causal, float *const arrays[4]) {
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
    return prepared;
}

/* Exact attention, and on what each method makes; of none it is exact attention on 64 features. */
static void say_sketched(const attn_context_t *context, int causal, float *const arrays[4]) {
    static const char *const methods[] = {NULL, "gaussian", "ams", "osnap", "srht", "leverage"};
    enum { METHODS = sizeof methods / sizeof *methods };
    prepared_t prepared[METHODS + 1];
    turn_t turns[METHODS + 1];
    for (int m = 0; m <= METHODS; m++) {
        const char *method = m < METHODS ? methods[m] : NULL;
        prepared[m] = prepare(context, method, m == 0 ? SKETCHED : DIM, causal, arrays);
        turns[m] = (turn_t){run_attention_once, &prepared[m], 0};
    }
    rows_take_turns(turns, METHODS + 1);
    const double exact = turns[METHODS].seconds;
    for (int m = 0; m < METHODS; m++) {
        char what[128], beside[96];
        const double seconds = turns[m].seconds, ratio = seconds / exact;
        snprintf(what, sizeof what, "%s attention, n = 4096, d = dv = 128 to 64, H = 8 by %s",
                 causal ? "causal" : "full", methods[m] ? methods[m] : "none: given the sketches");
        snprintf(beside, sizeof beside, "exact %.4g ms: %.3f of it, 0.83 allowed: %s", exact * 1e3,
                 ratio, rows_verdict(ratio <= 0.83));
        rows_say(what, seconds, 0.75 * exact, beside);
    }
    for (int m = 0; m <= METHODS; m++) {
        free(prepared[m].io.workspace);
        attn_plan_destroy(prepared[m].plan);
    }
}

void rows_sketched(void) {
    attn_context_t *context = create_context();
    float *arrays[4];
    for (uint64_t i = 0; i < 4; i++) arrays[i] = rows_normals(HEADS * TOKENS * DIM, 6 + i);
    for (int causal = 0; causal < 2; causal++) say_sketched(context, causal, arrays);
    for (int i = 0; i < 4; i++) free(arrays[i]);
    attn_context_destroy(context);
}
