#include "trial.h"

#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const MAPS[MAPS_COUNT] = {"elu1", "lin", "relu", "relu2", "exp", "favor", "taylor2"};
const char *const RULES[RULES_COUNT] = {"linear", "gated", "delta", "gated_delta"};
static const char *const OWN_NAMES[OWN] = {"decay",   "beta",      "state",
                                           "state_z", "state_out", "state_z_out"};

trial_t trial_of(const attn_context_t *context, const attn_problem_t *problem, int map, int rule,
                 int normalise) {
    return (trial_t){
        .context = context,
        .problem = *problem,
        .form = {.map = map, .rule = rule, .normalise = normalise, .features = 21, .seed = 5}};
}

trial_t trial_draw(const attn_context_t *context, int map, int rule, int normalise,
                   uint64_t number) {
    const int64_t lanes = fixture_lanes(context);
    const int64_t dims[] = {1, lanes - 1, lanes, lanes + 1, 2 * lanes + 3, 19};
    const int64_t lengths[] = {1, 2, 5, 6, 7, 13, 25, 40, 48, 97, 150, 260};
    const int64_t count = rule ? 8 : 12; /* the plain rule goes by chunks of 48 */
    const attn_dtype_t types[] = {ATTN_F32, ATTN_F32, ATTN_F16, ATTN_BF16};
#define DRAW(count) fixture_draw(16 * number + __LINE__ % 16, count)
    const int64_t n = lengths[DRAW(count)];
    const int64_t m = lengths[DRAW(count)];
    const int64_t d = map == ATTN_ORACLE_TAYLOR2 ? 1 + DRAW(8) : dims[DRAW(6)];
    attn_problem_t problem =
        fixture_problem(1 + DRAW(2), 4, n, m, d, dims[fixture_draw(16 * number + 15, 6)]);
    problem.kv_heads = 1 << DRAW(3);
    problem.causal = rule ? (int32_t)(1 + DRAW(2)) : (int32_t)fixture_draw(16 * number + 14, 3);
    problem.dtype = types[DRAW(4)];
    problem.kv_dtype = types[DRAW(4)];
    if (DRAW(3) == 0) problem.inputs = ATTN_INPUT_KV_LENGTHS;
    if (DRAW(2)) problem.scale = 0.5f;
    trial_t trial = trial_of(context, &problem, map, rule, normalise);
    trial.layout = (layout_t)DRAW(LAYOUT_COUNT);
    trial.with_state = DRAW(2) == 0;
    trial.decay_by = (int)DRAW(4);
    if (is_wide(map) && trial.decay_by == DECAY_BY_COLUMN) trial.decay_by = DECAY_BY_HEAD;
#undef DRAW
    return trial;
}

static typed_t make(const trial_t *trial, attn_dtype_t dtype, int64_t b, int64_t h, int64_t i,
                    int64_t c) {
    return typed_create(dtype, trial->layout, (int64_t[4]){b, h, i, c});
}

static typed_t filled(const trial_t *trial, attn_dtype_t dtype, int64_t heads, int64_t rows,
                      int64_t columns, uint64_t stream) {
    typed_t array = make(trial, dtype, trial->problem.batch, heads, rows, columns);
    typed_fill(&array, stream, 1);
    return array;
}

#define FOR_EACH(array, b, h, i, c)                                                                \
    for (int64_t b = 0; b < (array)->tensor.shape[0]; b++)                                         \
        for (int64_t h = 0; h < (array)->tensor.shape[1]; h++)                                     \
            for (int64_t i = 0; i < (array)->tensor.shape[2]; i++)                                 \
                for (int64_t c = 0; c < (array)->tensor.shape[3]; c++)

static void make_gates(trial_t *trial) {
    const attn_problem_t *p = &trial->problem;
    const int64_t features = attn_oracle_linear_features(&trial->form, p->dim);
    if (is_gated(trial->form.rule) && trial->decay_by != DECAY_RETNET) {
        const int64_t columns = trial->decay_by == DECAY_BY_COLUMN ? p->dim : 1;
        typed_t *decay = &trial->own[DECAY];
        *decay = filled(trial, ATTN_F32, p->kv_heads,
                        trial->decay_by == DECAY_FOR_ALL_KEYS ? 1 : p->keys, columns, 4);
        FOR_EACH(decay, b, h, i, c)
        typed_set(decay, b, h, i, c, -0.4 * fabs(typed_get(&decay->tensor, b, h, i, c)));
    }
    trial->form.retnet = is_gated(trial->form.rule) && trial->decay_by == DECAY_RETNET;
    if (!is_delta(trial->form.rule)) return;
    typed_t *beta = &trial->own[BETA];
    *beta = make(trial, ATTN_F32, p->batch, p->kv_heads, p->keys, 1);
    uint64_t index = 0;
    FOR_EACH(beta, b, h, i, c)
    typed_set(beta, b, h, i, c, (double)fixture_draw(index++, 1000) / 8000 / (double)features);
}

void trial_make(trial_t *trial) {
    const attn_problem_t *p = &trial->problem;
    const int64_t features = attn_oracle_linear_features(&trial->form, p->dim);
    trial->query = filled(trial, p->dtype, p->heads, p->queries, p->dim, 1);
    trial->key = filled(trial, p->kv_dtype, p->kv_heads, p->keys, p->dim, 2);
    trial->value = filled(trial, p->kv_dtype, p->kv_heads, p->keys, p->value_dim, 3);
    trial->out = make(trial, p->dtype, p->batch, p->heads, p->queries, p->value_dim);
    make_gates(trial);
    if (trial->with_state) {
        trial->own[STATE] = filled(trial, ATTN_F32, p->kv_heads, features, p->value_dim, 6);
        trial->own[STATE_OUT] =
            make(trial, ATTN_F32, p->batch, p->kv_heads, features, p->value_dim);
    }
    if (trial->with_state && trial->form.normalise) {
        trial->own[STATE_Z] = filled(trial, ATTN_F32, p->kv_heads, features, 1, 7);
        trial->own[STATE_Z_OUT] = make(trial, ATTN_F32, p->batch, p->kv_heads, features, 1);
        typed_t *z = &trial->own[STATE_Z];
        FOR_EACH(z, b, h, i, c)
        typed_set(z, b, h, i, c, 2 + fabs(typed_get(&z->tensor, b, h, i, c)));
    }
    for (int a = 0; a < OWN; a++) {
        trial->tensors[a] = trial->own[a].block ? &trial->own[a].tensor : NULL;
        if (trial->own[a].block && a < STATE_OUT) trial->problem.own_inputs |= 1u << a;
    }
    trial->form.decay = trial->tensors[DECAY];
    trial->form.beta = trial->tensors[BETA];
    trial->form.state = trial->tensors[STATE];
    trial->form.state_z = trial->tensors[STATE_Z];
    if (p->inputs & ATTN_INPUT_KV_LENGTHS) {
        trial->lengths = typed_create(ATTN_I64, LAYOUT_BHND, (int64_t[4]){p->batch, 1, 1, 1});
        for (int64_t b = 0; b < p->batch; b++)
            typed_set(&trial->lengths, b, 0, 0, 0,
                      (double)fixture_draw((uint64_t)b + 90, p->keys + 1));
    }
    trial->report = (attn_report_t){.struct_size = sizeof trial->report};
    trial->io = (attn_io_t){.struct_size = sizeof trial->io,
                            .query = trial->query.tensor,
                            .key = trial->key.tensor,
                            .value = trial->value.tensor,
                            .out = trial->out.tensor,
                            .report = &trial->report,
                            .kv_lengths = trial->lengths.tensor,
                            .own = trial->tensors,
                            .own_count = OWN};
}

void trial_drop(trial_t *trial) {
    typed_t *const arrays[] = {&trial->query, &trial->key, &trial->value, &trial->out,
                               &trial->lengths};
    for (size_t i = 0; i < TEST_COUNT(arrays); i++)
        if (arrays[i]->block) typed_destroy(arrays[i]);
    for (int a = 0; a < OWN; a++)
        if (trial->own[a].block) typed_destroy(&trial->own[a]);
}

const char *trial_settings(const trial_t *trial, char text[160]) {
    snprintf(text, 160, "feature_map=%s,rule=%s,normaliser=%s,features=%d,seed=%d,retnet=%d",
             MAPS[trial->form.map], RULES[trial->form.rule], trial->form.normalise ? "on" : "off",
             (int)trial->form.features, (int)trial->form.seed, trial->form.retnet);
    return text;
}

void trial_label(const trial_t *trial) {
    const attn_problem_t *p = &trial->problem;
    test_label("%s %s%s: B %" PRId64 " H %" PRId64 "/%" PRId64 " n %" PRId64 " m %" PRId64
               " d %" PRId64 " dv %" PRId64
               " causal %d, %s over %s, state %d, decay %d, lengths %d",
               MAPS[trial->form.map], RULES[trial->form.rule],
               trial->form.normalise ? " normalised" : "", p->batch, p->heads, p->kv_heads,
               p->queries, p->keys, p->dim, p->value_dim, p->causal, attn_dtype_name(p->dtype),
               attn_dtype_name(p->kv_dtype), trial->with_state, trial->decay_by, (int)p->inputs);
}

/* ---- comparing ----------------------------------------------------------------------------------- */

static double *doubles(int64_t count) {
    double *memory = malloc((size_t)(count + 1) * sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static int drowns(double z, double bound) { return isfinite(bound) && fabs(z) <= bound; }

/* A part of a trial, and where its results stand. */
typedef struct part {
    const trial_t *trial;
    const attn_problem_t *problem;
    const attn_io_t *io;
    const attn_tensor_t *out, *state_out, *state_z_out;
} part_t;

static void compare_states(const part_t *part, const attn_oracle_rows_t *rows, int64_t b,
                           int64_t kv_head) {
    const int64_t dv = part->problem->value_dim;
    const attn_tensor_t *s = part->state_out, *z = part->state_z_out;
    for (int64_t k = 0; s && k < s->shape[2]; k++)
        for (int64_t c = 0; c < dv; c++)
            compare_number(typed_get(s, b, kv_head, k, c), rows->state[k * dv + c],
                           rows->state_bound[k * dv + c], "state_out",
                           (int64_t[4]){b, kv_head, k, c});
    for (int64_t k = 0; z && k < z->shape[2]; k++)
        compare_number(typed_get(z, b, kv_head, k, 0), rows->z[k], rows->z_bound[k], "state_z_out",
                       (int64_t[4]){b, kv_head, k, 0});
}

/* Returns how many rows have no value that float can tell. */
static int64_t compare_head(const part_t *part, int64_t b, int64_t h) {
    const attn_problem_t *p = part->problem;
    const attn_oracle_linear_t *form = &part->trial->form;
    const int64_t n = p->queries, dv = p->value_dim, group = p->heads / p->kv_heads;
    const int64_t features = attn_oracle_linear_features(form, p->dim);
    double *memory =
        doubles(2 * n * (dv + 1) + 2 * features * (dv + 1) + attn_oracle_linear_scratch(form, p));
    double *at = memory;
    attn_oracle_rows_t rows;
    rows.out = at, at += n * dv;
    rows.out_bound = at, at += n * dv;
    rows.normaliser = at, at += n;
    rows.normaliser_bound = at, at += n;
    rows.state = at, at += features * dv;
    rows.state_bound = at, at += features * dv;
    rows.z = at, at += features;
    rows.z_bound = at, at += features;
    attn_oracle_linear_head(form, p, part->io, b, h, &rows, at);
    int64_t drowned = 0;
    for (int64_t i = 0; i < n; i++) {
        const int is_empty = rows.out_bound[i * dv] == 0;
        if (!is_empty && drowns(rows.normaliser[i], rows.normaliser_bound[i])) {
            drowned++;
            continue;
        }
        for (int64_t c = 0; c < dv; c++) {
            const double exact = rows.out[i * dv + c], bound = rows.out_bound[i * dv + c];
            const double stored =
                p->dtype == ATTN_F32 ? 0 : typed_rounding(p->dtype, fabs(exact) + bound);
            compare_number(typed_get(part->out, b, h, i, c), exact, bound + stored, "out",
                           (int64_t[4]){b, h, i, c});
        }
    }
    if (h % group == 0) compare_states(part, &rows, b, h / group);
    free(memory);
    return drowned;
}

int64_t trial_compare_part(const trial_t *trial, const attn_problem_t *problem, const attn_io_t *io,
                           const attn_tensor_t *out, const attn_tensor_t *state_out,
                           const attn_tensor_t *state_z_out) {
    const part_t part = {trial, problem, io, out, state_out, state_z_out};
    int64_t drowned = 0;
    for (int64_t b = 0; b < problem->batch; b++)
        for (int64_t h = 0; h < problem->heads; h++) drowned += compare_head(&part, b, h);
    return drowned;
}

int64_t trial_compare(const trial_t *trial) {
    return trial_compare_part(trial, &trial->problem, &trial->io, &trial->out.tensor,
                              trial->tensors[STATE_OUT], trial->tensors[STATE_Z_OUT]);
}

/* ---- running ------------------------------------------------------------------------------------- */

attn_plan_t *trial_run(trial_t *trial) {
    char settings[160];
    attn_plan_t *plan =
        fixture_plan(trial->context, "linear", &trial->problem, trial_settings(trial, settings));
    const uint64_t size = attn_plan_workspace_size(plan);
    trial->io.workspace = aligned_alloc(64, (size / 64 + 1) * 64);
    trial->io.workspace_size = size;
    assert_non_null(trial->io.workspace);
    memset(trial->io.workspace, 0xFF, size);
    attn_error_t error = {0};
    if (attn_run(plan, &trial->io, &error) != ATTN_OK) test_fail("attn_run: %s", error.message);
    typed_check(&trial->out, "out");
    for (int a = STATE_OUT; a < OWN; a++)
        if (trial->own[a].block) typed_check(&trial->own[a], OWN_NAMES[a]);
    return plan;
}

void trial_end(trial_t *trial, attn_plan_t *plan) {
    free(trial->io.workspace);
    attn_plan_destroy(plan);
    trial_drop(trial);
}

/* ---- streams ------------------------------------------------------------------------------------- */

attn_tensor_t trial_rows(const attn_tensor_t *tensor, int64_t first, int64_t count) {
    attn_tensor_t part = *tensor;
    if (part.shape[2] == 1) return part; /* one for all */
    part.data = (char *)tensor->data + first * tensor->stride[2] * attn_dtype_size(tensor->dtype);
    part.shape[2] = count;
    return part;
}

attn_status_t trial_append(const trial_t *trial, attn_stream_t *stream, int64_t first,
                           int64_t count, attn_error_t *error) {
    attn_tensor_t gates[2];
    const attn_tensor_t *own[2] = {NULL, NULL};
    for (int a = DECAY; a <= BETA; a++) {
        if (!trial->tensors[a]) continue;
        gates[a] = trial_rows(trial->tensors[a], first, count);
        own[a] = &gates[a];
    }
    const attn_io_t io = {.struct_size = sizeof io,
                          .key = trial_rows(&trial->key.tensor, first, count),
                          .value = trial_rows(&trial->value.tensor, first, count),
                          .own = own,
                          .own_count = 2};
    return attn_stream_append(stream, &io, error);
}
