/*
 * linear: every feature map, rule and normaliser against the oracle (attn/oracle_linear.h), number by
 * number within its bounds: outputs, states, weights.
 */
#include "attn/oracle_linear.h"
#include "support/fixture.h"
#include "support/test.h"
#include "support/typed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const MAPS[] = {"elu1", "lin", "relu", "relu2", "exp", "favor", "taylor2"};
static const char *const RULES[] = {"linear", "gated", "delta", "gated_delta"};
enum { MAPS_COUNT = TEST_COUNT(MAPS), RULES_COUNT = TEST_COUNT(RULES) };

static int is_gated(int rule) {
    return rule == ATTN_ORACLE_RULE_GATED || rule == ATTN_ORACLE_RULE_GATED_DELTA;
}

static int is_delta(int rule) { return rule >= ATTN_ORACLE_RULE_DELTA; }

/* The backend's own arrays, in its order. */
enum { DECAY, BETA, STATE, STATE_Z, STATE_OUT, STATE_Z_OUT, OWN };
static const char *const OWN_NAMES[OWN] = {"decay",   "beta",      "state",
                                           "state_z", "state_out", "state_z_out"};

typedef struct trial {
    const attn_context_t *context;
    attn_problem_t problem;
    attn_oracle_linear_t form;
    layout_t layout;
    int with_state, decay_by; /* 0: column, 1: head, 2: one for all keys of a head, 3: retnet */
    typed_t query, key, value, out, lengths, own[OWN];
    attn_report_t report;
    attn_io_t io;
    const attn_tensor_t *tensors[OWN];
} trial_t;

static trial_t trial_of(const attn_context_t *context, const attn_problem_t *problem, int map,
                        int rule, int normalise) {
    return (trial_t){
        .context = context,
        .problem = *problem,
        .form = {.map = map, .rule = rule, .normalise = normalise, .features = 21, .seed = 5}};
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

/* Decays around e^-0.3, and betas with which beta |phi(k)|^2 stays below 2. */
static void make_gates(trial_t *trial) {
    const attn_problem_t *p = &trial->problem;
    const int64_t features = attn_oracle_linear_features(&trial->form, p->dim);
    if (is_gated(trial->form.rule) && trial->decay_by < 3) {
        const int64_t columns = trial->decay_by == 0 ? p->dim : 1;
        typed_t *decay = &trial->own[DECAY];
        *decay =
            filled(trial, ATTN_F32, p->kv_heads, trial->decay_by == 2 ? 1 : p->keys, columns, 4);
        FOR_EACH(decay, b, h, i, c)
        typed_set(decay, b, h, i, c, -0.4 * fabs(typed_get(&decay->tensor, b, h, i, c)));
    }
    trial->form.retnet = is_gated(trial->form.rule) && trial->decay_by == 3;
    if (!is_delta(trial->form.rule)) return;
    typed_t *beta = &trial->own[BETA];
    *beta = make(trial, ATTN_F32, p->batch, p->kv_heads, p->keys, 1);
    uint64_t index = 0;
    FOR_EACH(beta, b, h, i, c)
    typed_set(beta, b, h, i, c, (double)fixture_draw(index++, 1000) / 8000 / (double)features);
}

static void make_arrays(trial_t *trial) {
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

static void drop(trial_t *trial) {
    typed_t *const arrays[] = {&trial->query, &trial->key, &trial->value, &trial->out,
                               &trial->lengths};
    for (size_t i = 0; i < TEST_COUNT(arrays); i++)
        if (arrays[i]->block) typed_destroy(arrays[i]);
    for (int a = 0; a < OWN; a++)
        if (trial->own[a].block) typed_destroy(&trial->own[a]);
}

static attn_plan_t *plan_of(const trial_t *trial) {
    char settings[160];
    snprintf(settings, sizeof settings,
             "feature_map=%s,rule=%s,normaliser=%s,features=%d,seed=%d,retnet=%d",
             MAPS[trial->form.map], RULES[trial->form.rule], trial->form.normalise ? "on" : "off",
             (int)trial->form.features, (int)trial->form.seed, trial->form.retnet);
    return fixture_plan(trial->context, "linear", &trial->problem, settings);
}

static void label(const trial_t *trial) {
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

static void compare_states(const trial_t *trial, const attn_oracle_rows_t *rows, int64_t b,
                           int64_t kv_head) {
    const int64_t dv = trial->problem.value_dim;
    const typed_t *s = &trial->own[STATE_OUT], *z = &trial->own[STATE_Z_OUT];
    for (int64_t k = 0; s->block && k < s->tensor.shape[2]; k++)
        for (int64_t c = 0; c < dv; c++)
            compare_number(typed_get(&s->tensor, b, kv_head, k, c), rows->state[k * dv + c],
                           rows->state_bound[k * dv + c], "state_out",
                           (int64_t[4]){b, kv_head, k, c});
    for (int64_t k = 0; z->block && k < z->tensor.shape[2]; k++)
        compare_number(typed_get(&z->tensor, b, kv_head, k, 0), rows->z[k], rows->z_bound[k],
                       "state_z_out", (int64_t[4]){b, kv_head, k, 0});
}

/* Returns how many rows have no value that float can tell. */
static int64_t compare_head(const trial_t *trial, int64_t b, int64_t h) {
    const attn_problem_t *p = &trial->problem;
    const int64_t n = p->queries, dv = p->value_dim;
    const int64_t features = attn_oracle_linear_features(&trial->form, p->dim);
    double *memory = doubles(2 * n * (dv + 1) + 2 * features * (dv + 1) +
                             attn_oracle_linear_scratch(&trial->form, p));
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
    attn_oracle_linear_head(&trial->form, p, &trial->io, b, h, &rows, at);
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
            compare_number(typed_get(&trial->out.tensor, b, h, i, c), exact, bound + stored, "out",
                           (int64_t[4]){b, h, i, c});
        }
    }
    if (h % (p->heads / p->kv_heads) == 0)
        compare_states(trial, &rows, b, h / (p->heads / p->kv_heads));
    free(memory);
    return drowned;
}

static void compare_weights_of(const trial_t *trial, const attn_plan_t *plan, int64_t b,
                               int64_t h) {
    const attn_problem_t *p = &trial->problem;
    const int64_t m = p->keys;
    double *memory = doubles(2 * m + attn_oracle_linear_scratch(&trial->form, p));
    float *rows = malloc((size_t)(p->queries * m) * sizeof *rows);
    assert_non_null(rows);
    attn_error_t error = {0};
    if (attn_weights(plan, &trial->io, b, h, 0, p->queries, rows, m, &error) != ATTN_OK)
        test_fail("attn_weights: %s", error.message);
    for (int64_t i = 0; i < p->queries; i++) {
        attn_oracle_linear_weights(&trial->form, p, &trial->io, b, h, i, memory, memory + m,
                                   memory + 2 * m);
        for (int64_t j = 0; j < m; j++) {
            if (isnan(memory[j]) || !(memory[m + j] >= 0)) continue; /* its normaliser drowns */
            compare_number((double)rows[i * m + j], memory[j], memory[m + j], "weights",
                           (int64_t[4]){b, h, i, j});
        }
    }
    free(rows);
    free(memory);
}

static void check(trial_t *trial, int with_weights) {
    make_arrays(trial);
    label(trial);
    attn_plan_t *plan = plan_of(trial);
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
    int64_t drowned = 0;
    for (int64_t b = 0; b < trial->problem.batch; b++)
        for (int64_t h = 0; h < trial->problem.heads; h++) {
            drowned += compare_head(trial, b, h);
            if (with_weights) compare_weights_of(trial, plan, b, h);
        }
    assert_true(trial->report.degenerate_rows <= drowned);
    free(trial->io.workspace);
    attn_plan_destroy(plan);
    drop(trial);
}

/* ---- tests --------------------------------------------------------------------------------------- */

/* A problem by chance, of awkward sizes. */
static trial_t draw(const attn_context_t *context, int map, int rule, int normalise,
                    uint64_t number) {
    const int64_t lanes = fixture_lanes(context);
    const int64_t dims[] = {1, lanes - 1, lanes, lanes + 1, 2 * lanes + 3, 19};
    const int64_t lengths[] = {1, 2, 5, 6, 7, 13, 25, 40};
    const attn_dtype_t types[] = {ATTN_F32, ATTN_F32, ATTN_F16, ATTN_BF16};
#define DRAW(count) fixture_draw(16 * number + __LINE__ % 16, count)
    const int64_t n = lengths[DRAW(8)];
    const int64_t m = lengths[DRAW(8)];
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
    if (map >= ATTN_ORACLE_FAVOR && trial.decay_by == 0) trial.decay_by = 1;
#undef DRAW
    return trial;
}

static void all_forms(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    uint64_t number = 0;
    for (int map = 0; map < MAPS_COUNT; map++)
        for (int rule = 0; rule < RULES_COUNT; rule++)
            for (int normalise = 0; normalise <= !is_delta(rule); normalise++)
                for (int k = 0; k < 12; k++, number++) {
                    if (!test_takes_case()) continue;
                    trial_t trial = draw(context, map, rule, normalise, number);
                    check(&trial, 1);
                }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(all_forms))
