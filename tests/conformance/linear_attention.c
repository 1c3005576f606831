/*
 * One case of ONNX's operator tests for `LinearAttention` (opset 27), through the C API.
 *
 *     linear_attention update_rule=delta q_num_heads=4 kv_num_heads=4 query=in0.npy ... output=out0.npy
 *
 * Attributes, inputs and expected outputs by their ONNX names. Exit status as attention.c's.
 *
 * ONNX LinearAttention is the backend `linear` with the map `lin` and no normaliser, causal, and with
 * scale 1/sqrt(d) where the attribute is 0 or absent. Heads stand side by side: (B, n, H d). The
 * library's numbers must be within the oracle's bounds, and within those and their type's rounding,
 * twice, of what is expected, which was computed in f32.
 */
#include "attn/oracle_linear.h"

#include "npy.h"
#include "support/typed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY, KEY, VALUE, PAST_STATE, DECAY, BETA, OUTPUT, PRESENT_STATE, ARRAYS };
static const char *const ARRAY_NAMES[ARRAYS] = {"query", "key",  "value",  "past_state",
                                                "decay", "beta", "output", "present_state"};
static const char *const RULES[] = {"linear", "gated", "delta", "gated_delta"};

/* The backend-specific tensors, in its order; there are two more, of the normaliser. */
enum { OWN_DECAY, OWN_BETA, OWN_STATE, OWN_STATE_Z, OWN_STATE_OUT, OWN };

typedef struct linear_case {
    array_file_t arrays[ARRAYS];
    array_file_t out, state; /* the library's */
    int64_t q_heads, kv_heads;
    double scale;
    attn_oracle_linear_t form;
    attn_problem_t problem;
    attn_io_t io;
    attn_tensor_t own[OWN];
    const attn_tensor_t *tensors[OWN];
    int64_t numbers, wrong;
    double nearest; /* largest share of what is allowed */
} linear_case_t;

/* ---- the command line ---------------------------------------------------------------------------- */

static int set_attribute(linear_case_t *c, const char *name, size_t length, const char *value) {
    const char *const names[] = {"q_num_heads", "kv_num_heads", "scale", "chunk_size"};
    for (int i = 0; i < 4; i++) {
        if (strlen(names[i]) != length || strncmp(names[i], name, length) != 0) continue;
        const double number = strtod(value, NULL);
        if (i == 0) c->q_heads = (int64_t)number;
        if (i == 1) c->kv_heads = (int64_t)number;
        if (i == 2) c->scale = number;
        return 1; /* chunk_size is a hint */
    }
    if (length != strlen("update_rule") || strncmp(name, "update_rule", length) != 0) return 0;
    for (c->form.rule = 0; c->form.rule < 4; c->form.rule++)
        if (strcmp(RULES[c->form.rule], value) == 0) return 1;
    die("%s: an unknown rule", value);
}

static void read_argument(linear_case_t *c, const char *argument) {
    const char *equals = strchr(argument, '=');
    if (!equals) die("%s: name=value is wanted", argument);
    const size_t length = (size_t)(equals - argument);
    if (set_attribute(c, argument, length, equals + 1)) return;
    for (int i = 0; i < ARRAYS; i++)
        if (strlen(ARRAY_NAMES[i]) == length && strncmp(ARRAY_NAMES[i], argument, length) == 0) {
            c->arrays[i] = array_read(equals + 1);
            return;
        }
    die("%s: neither an attribute nor an array of LinearAttention", argument);
}

/* ---- the problem --------------------------------------------------------------------------------- */

/* (B, n, H c) as (B, H, n, c) by strides. */
static attn_tensor_t view(const array_file_t *array, int64_t heads, const char *name) {
    const int64_t *shape = array->shape;
    if (array->rank != 3 || heads < 1 || shape[2] % heads != 0)
        die("%s has rank %d and %" PRId64 " heads", name, array->rank, heads);
    const int64_t width = shape[2] / heads;
    return (attn_tensor_t){.data = array->data,
                           .dtype = array->dtype,
                           .shape = {shape[0], heads, shape[1], width},
                           .stride = {shape[1] * shape[2], width, shape[2], 1}};
}

static attn_tensor_t view_state(const array_file_t *array, const char *name) {
    const int64_t *shape = array->shape;
    if (array->rank != 4) die("%s has rank %d", name, array->rank);
    return (attn_tensor_t){
        .data = array->data,
        .dtype = array->dtype,
        .shape = {shape[0], shape[1], shape[2], shape[3]},
        .stride = {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1}};
}

/* Gates and states are f32. */
static void widen(array_file_t *array) {
    if (!array->data || array->dtype == ATTN_F32) return;
    array_file_t narrow = *array;
    *array = array_convert(&narrow, ATTN_F32);
    array_free(&narrow);
}

static void bring_own(linear_case_t *c, int own, int array, int64_t heads) {
    const array_file_t *file = &c->arrays[array];
    if (!file->data) return;
    c->own[own] = array == PAST_STATE
                      ? view_state(file, ARRAY_NAMES[array])
                      : view(file, file->shape[2] < heads ? 1 : heads, ARRAY_NAMES[array]);
    c->problem.own_inputs |= 1u << own;
    c->tensors[own] = &c->own[own];
}

static void set_up(linear_case_t *c) {
    attn_io_t *io = &c->io;
    static const int needed[] = {QUERY, KEY, VALUE, OUTPUT, PRESENT_STATE};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!c->arrays[needed[i]].data) die("%s is missing", ARRAY_NAMES[needed[i]]);
    io->struct_size = sizeof *io;
    io->query = view(&c->arrays[QUERY], c->q_heads, "query");
    io->key = view(&c->arrays[KEY], c->kv_heads, "key");
    io->value = view(&c->arrays[VALUE], c->kv_heads, "value");
    attn_problem_t *p = &c->problem;
    attn_problem_init(p, io->query.shape[0], c->q_heads, io->query.shape[2], io->key.shape[2],
                      io->query.shape[3], io->value.shape[3]);
    p->kv_heads = c->kv_heads;
    p->dtype = io->query.dtype;
    p->kv_dtype = io->key.dtype;
    p->causal = ATTN_CAUSAL_TOP_LEFT;
    p->scale = c->scale != 0 ? (float)c->scale : 1.0f / sqrtf((float)p->dim);
    widen(&c->arrays[PAST_STATE]);
    widen(&c->arrays[DECAY]);
    widen(&c->arrays[BETA]);
    bring_own(c, OWN_STATE, PAST_STATE, c->kv_heads);
    if (c->form.rule % 2) bring_own(c, OWN_DECAY, DECAY, c->kv_heads);
    if (c->form.rule / 2) bring_own(c, OWN_BETA, BETA, c->kv_heads);
    c->out = array_new(p->dtype, 3, c->arrays[OUTPUT].shape);
    c->state = array_new(ATTN_F32, 4, c->arrays[PRESENT_STATE].shape);
    io->out = view(&c->out, c->q_heads, "output");
    c->own[OWN_STATE_OUT] = view_state(&c->state, "present_state");
    c->tensors[OWN_STATE_OUT] = &c->own[OWN_STATE_OUT];
    io->own = c->tensors;
    io->own_count = OWN;
    c->form.decay = c->tensors[OWN_DECAY];
    c->form.beta = c->tensors[OWN_BETA];
    c->form.state = c->tensors[OWN_STATE];
}

static void solve(linear_case_t *c, attn_context_t *context) {
    attn_error_t error = {0};
    attn_plan_t *plan = NULL;
    const attn_param_t params[] = {
        {"feature_map", "lin"}, {"normaliser", "off"}, {"rule", RULES[c->form.rule]}};
    if (attn_plan_create(context, "linear", &c->problem, params, 3, &plan, &error) != ATTN_OK)
        die("%s", error.message);
    c->io.workspace_size = attn_plan_workspace_size(plan);
    c->io.workspace = aligned_alloc(
        ATTN_ALIGNMENT, (size_t)(c->io.workspace_size / ATTN_ALIGNMENT + 1) * ATTN_ALIGNMENT);
    if (!c->io.workspace) die("no memory for the workspace");
    if (attn_run(plan, &c->io, &error) != ATTN_OK) die("%s", error.message);
    free(c->io.workspace);
    attn_plan_destroy(plan);
}

/* ---- comparing ----------------------------------------------------------------------------------- */

static void compare(linear_case_t *c, double actual, double wanted, double bound, const char *what,
                    const int64_t at[4]) {
    c->numbers++;
    if (actual == wanted) return;
    const double off = fabs(actual - wanted);
    if (off <= bound) {
        c->nearest = fmax(c->nearest, off / bound);
        return;
    }
    if (c->wrong++ < 5)
        fprintf(stderr,
                "%s(%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                ") is %.9g, %.9g is wanted, allowed error %.3g\n",
                what, at[0], at[1], at[2], at[3], actual, wanted, bound);
}

/* Against the oracle, and against what is expected in its own type. */
static void compare_both(linear_case_t *c, const attn_tensor_t *actual, const attn_tensor_t *wanted,
                         double exact, double bound, const char *what, const int64_t at[4]) {
    const double x = typed_get(actual, at[0], at[1], at[2], at[3]);
    const double y = typed_get(wanted, at[0], at[1], at[2], at[3]);
    const double own =
        actual->dtype == ATTN_F32 ? 0 : typed_rounding(actual->dtype, fabs(exact) + bound);
    const double theirs = typed_rounding(wanted->dtype, fabs(exact) + bound);
    compare(c, x, exact, bound + own, what, at);
    compare(c, x, y, 2 * bound + own + theirs, what, at);
}

static void compare_head(linear_case_t *c, int64_t b, int64_t h) {
    const attn_problem_t *p = &c->problem;
    const int64_t n = p->queries, d = p->dim, dv = p->value_dim, group = p->heads / p->kv_heads;
    const int64_t count = 2 * (n + d) * dv + attn_oracle_linear_scratch(&c->form, p);
    double *memory = malloc((size_t)count * sizeof *memory);
    if (!memory) die("no memory for %" PRId64 " numbers", count);
    const attn_oracle_rows_t rows = {.out = memory,
                                     .out_bound = memory + n * dv,
                                     .state = memory + 2 * n * dv,
                                     .state_bound = memory + (2 * n + d) * dv};
    attn_oracle_linear_head(&c->form, p, &c->io, b, h, &rows, memory + 2 * (n + d) * dv);
    const attn_tensor_t output = view(&c->arrays[OUTPUT], p->heads, "output");
    const attn_tensor_t present = view_state(&c->arrays[PRESENT_STATE], "present_state");
    for (int64_t i = 0; i < n * dv; i++)
        compare_both(c, &c->io.out, &output, rows.out[i], rows.out_bound[i], "output",
                     (int64_t[4]){b, h, i / dv, i % dv});
    for (int64_t k = 0; h % group == 0 && k < d * dv; k++)
        compare_both(c, &c->own[OWN_STATE_OUT], &present, rows.state[k], rows.state_bound[k],
                     "present_state", (int64_t[4]){b, h / group, k / dv, k % dv});
    free(memory);
}

int main(int count, char **arguments) {
    static linear_case_t c;
    attn_context_t *context = NULL;
    attn_error_t error = {0};
    if (attn_context_create(NULL, &context, &error) != ATTN_OK) {
        printf("SKIPPED: %s\n", error.message);
        return error.status == ATTN_ERROR_UNSUPPORTED ? 77 : 1;
    }
    c.form = (attn_oracle_linear_t){.map = ATTN_ORACLE_LIN, .rule = ATTN_ORACLE_RULE_GATED_DELTA};
    for (int i = 1; i < count; i++) read_argument(&c, arguments[i]);
    set_up(&c);
    solve(&c, context);
    attn_context_destroy(context);
    for (int64_t b = 0; b < c.problem.batch; b++)
        for (int64_t h = 0; h < c.problem.heads; h++) compare_head(&c, b, h);
    printf("%" PRId64 " comparisons, %" PRId64 " wrong; %.0f%% of allowed\n", c.numbers, c.wrong,
           100 * c.nearest);
    for (int i = 0; i < ARRAYS; i++) array_free(&c.arrays[i]);
    array_free(&c.out);
    array_free(&c.state);
    return c.wrong > 0;
}
