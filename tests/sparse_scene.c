/* See sparse_scene.h. */
#include "sparse_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typed_t scene_draw(attn_dtype_t dtype, const int64_t shape[4], uint64_t from, int64_t count,
                   double least, double step) {
    typed_t array = typed_create(dtype, LAYOUT_BHND, shape);
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t k = 0; k < shape[3]; k++)
                    typed_set(&array, b, h, i, k,
                              least + step * (double)fixture_draw(from++, count));
    typed_seal(&array);
    return array;
}

static void draw_options(scene_t *s) {
    const attn_problem_t *p = &s->problem;
    const uint64_t from = 1000 * s->number;
    const int64_t *tokens = SHAPE(p->batch, p->kv_heads, p->keys, 1);
    if (p->inputs & ATTN_INPUT_MASK)
        s->mask = scene_draw(ATTN_BOOL, SHAPE(p->batch, 1, p->queries, p->keys), from, 2, 0, 1);
    if (p->inputs & ATTN_INPUT_BIAS)
        s->bias = scene_draw(ATTN_F32, SHAPE(1, p->heads, p->queries, p->keys), from + 1, 3, -1, 1);
    if (p->inputs & ATTN_INPUT_SLOPES)
        s->slopes = scene_draw(ATTN_F32, SHAPE(1, p->heads, 1, 1), from + 2, 3, 0, 0.25);
    if (p->inputs & ATTN_INPUT_SINKS)
        s->sinks = scene_draw(ATTN_F32, SHAPE(1, p->heads, 1, 1), from + 3, 5, -2, 2);
    if (p->inputs & ATTN_INPUT_KV_LENGTHS)
        s->lengths = scene_draw(ATTN_I64, SHAPE(p->batch, 1, 1, 1), from + 4, p->keys + 1, 0, 1);
    if (p->kv_dtype != ATTN_I8) return;
    s->key_scales = scene_draw(ATTN_F32, tokens, from + 5, 2, 1, 1);
    s->value_scales = scene_draw(ATTN_F32, tokens, from + 6, 2, 1, 1);
}

void scene_spoil_values(scene_t *s) {
    const attn_problem_t *p = &s->problem;
    if (p->kv_dtype == ATTN_I8 || s->number % 4 != 3) return;
    for (int64_t j = 2; j < p->keys; j += 5)
        typed_set(&s->value, j % p->batch, j % p->kv_heads, j, j % p->value_dim, NAN);
    typed_seal(&s->value);
}

static int any_row_keeps(const scene_t *s, int64_t batch, int64_t kv_head, int64_t key) {
    const int64_t group = s->problem.heads / s->problem.kv_heads;
    for (int64_t h = kv_head * group; h < (kv_head + 1) * group; h++)
        for (int64_t i = 0; i < s->problem.queries; i++)
            if (typed_get(&s->kept.tensor, batch, h, i, key) != 0) return 1;
    return 0;
}

void scene_spoil_keys(scene_t *s) {
    const attn_problem_t *p = &s->problem;
    if (p->kv_dtype == ATTN_I8 || s->io.scores.data) return;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->kv_heads; h++)
            for (int64_t j = 0; j < p->keys; j++) {
                if (any_row_keeps(s, b, h, j)) continue;
                typed_set(&s->key, b, h, j, j % p->dim, j % 2 ? NAN : (double)INFINITY);
                typed_set(&s->value, b, h, j, j % p->value_dim, NAN);
            }
    typed_seal(&s->key);
    typed_seal(&s->value);
}

scene_t scene_create(const attn_problem_t *p, uint64_t number) {
    const uint64_t from = 100 * number;
    const int64_t *pairs = SHAPE(p->batch, p->heads, p->queries, p->keys);
    scene_t s = {.problem = *p, .number = number};
    s.query = scene_draw(p->dtype, SHAPE(p->batch, p->heads, p->queries, p->dim), from, 3, -1, 1);
    s.key =
        scene_draw(p->kv_dtype, SHAPE(p->batch, p->kv_heads, p->keys, p->dim), from + 7, 3, -1, 1);
    s.value = scene_draw(p->kv_dtype, SHAPE(p->batch, p->kv_heads, p->keys, p->value_dim), from + 9,
                         9, -4, 1);
    s.out = typed_create(p->dtype, (layout_t)(number % LAYOUT_COUNT),
                         SHAPE(p->batch, p->heads, p->queries, p->value_dim));
    s.lse = typed_create(ATTN_F32, LAYOUT_BHND, SHAPE(p->batch, p->heads, p->queries, 1));
    s.scores = typed_create(ATTN_F32, LAYOUT_BHND, pairs);
    s.kept = typed_create(ATTN_BOOL, LAYOUT_BHND, pairs);
    draw_options(&s);
    s.io = (attn_io_t){.struct_size = sizeof s.io,
                       .query = s.query.tensor,
                       .key = s.key.tensor,
                       .value = s.value.tensor,
                       .out = s.out.tensor,
                       .lse = s.lse.tensor,
                       .mask = s.mask.tensor,
                       .bias = s.bias.tensor,
                       .slopes = s.slopes.tensor,
                       .sinks = s.sinks.tensor,
                       .kv_lengths = s.lengths.tensor,
                       .key_scales = s.key_scales.tensor,
                       .value_scales = s.value_scales.tensor};
    if (number % 3 == 0) s.io.scores = s.scores.tensor;
    return s;
}

void scene_destroy(scene_t *s) {
    typed_t *typed[] = {&s->query,  &s->key,     &s->value,      &s->out,          &s->lse,
                        &s->scores, &s->kept,    &s->mask,       &s->bias,         &s->slopes,
                        &s->sinks,  &s->lengths, &s->key_scales, &s->value_scales, &s->offset};
    for (size_t i = 0; i < TEST_COUNT(typed); i++) typed_destroy(typed[i]);
}

attn_problem_t scene_problem(uint64_t number, const int64_t sizes[2], int64_t dim) {
    static const attn_dtype_t types[][2] = {{ATTN_F32, ATTN_F32},
                                            {ATTN_F32, ATTN_F32},
                                            {ATTN_F16, ATTN_F16},
                                            {ATTN_BF16, ATTN_BF16},
                                            {ATTN_F32, ATTN_I8}};
    static const uint32_t inputs[] = {0,
                                      ATTN_INPUT_KV_LENGTHS,
                                      ATTN_INPUT_MASK,
                                      ATTN_INPUT_BIAS | ATTN_INPUT_SINKS,
                                      ATTN_INPUT_SLOPES,
                                      ATTN_INPUT_MASK | ATTN_INPUT_BIAS | ATTN_INPUT_KV_LENGTHS,
                                      0};
    attn_problem_t problem = fixture_problem(2, 4, sizes[0], sizes[1], dim, number % 2 ? 20 : 5);
    problem.kv_heads = number % 3 ? 4 : 2;
    problem.causal = (int32_t)(number % 6 % 3);
    problem.dtype = types[number % 5][0], problem.kv_dtype = types[number % 5][1];
    problem.inputs = inputs[number % 7];
    problem.scores = (int32_t)(number / 3 % 4);
    if (number % 7 == 6) problem.softcap = 30;
    if (number % 6 == 4) problem.window_left = 17;
    if (number % 6 == 3) problem.past = number % 12 == 3 ? 11 : -13;
    return problem;
}

/* ---- runs ----------------------------------------------------------------------------------------- */

/* Apart from what else goes by the number. */
static const char *precision_of(uint64_t number) {
    static const char *const precisions[] = {"auto", "bf16", "f32", "bf16x3"};
    return precisions[number / 5 % TEST_COUNT(precisions)];
}

attn_plan_t *scene_plan(const attn_context_t *context, const scene_t *s) {
    test_label("%s: n %lld m %lld causal %d inputs %x number %llu", s->settings,
               (long long)s->problem.queries, (long long)s->problem.keys, s->problem.causal,
               (unsigned)s->problem.inputs, (unsigned long long)s->number);
    char settings[sizeof s->settings + 32];
    snprintf(settings, sizeof settings, "%s,precision=%s", s->settings, precision_of(s->number));
    return fixture_plan(context, "sparse", &s->problem, settings);
}

void scene_run(const attn_plan_t *plan, scene_t *s) {
    attn_error_t error = {0};
    arrays_t memory = {.io = {.workspace = NULL}};
    arrays_give_workspace(&memory, plan);
    s->io.workspace = memory.io.workspace, s->io.workspace_size = memory.io.workspace_size;
    if (attn_run(plan, &s->io, &error)) test_fail("%s", error.message);
    typed_check(&s->out, "out");
    arrays_destroy(&memory);
}

/* ---- what they give --------------------------------------------------------------------------------- */

static void compare_weight(const exact_t *exact, double weight, const int64_t at[3], int64_t j) {
    compare_number(weight, exact->weight[j], exact->weight_bound[j], "weight",
                   SHAPE(at[0], at[1], at[2], j));
}

/* Scores as asked for: those of no kept key are nothing. */
static void compare_scores(const scene_t *s, const exact_t *exact, const int64_t at[3]) {
    const int32_t stage = s->problem.scores;
    for (int64_t j = 0; s->io.scores.data && j < s->problem.keys; j++) {
        const double score = typed_get(&s->io.scores, at[0], at[1], at[2], j);
        const int kept = typed_get(&s->kept.tensor, at[0], at[1], at[2], j) != 0;
        if (stage == ATTN_SCORES_WEIGHTS)
            compare_weight(exact, score, at, j);
        else if (stage == ATTN_SCORES_MASKED && !kept)
            compare_number(score, -INFINITY, 0, "score", SHAPE(at[0], at[1], at[2], j));
        else
            compare_number(score, exact_score(exact, stage, j), exact_score_bound(exact, stage, j),
                           "score", SHAPE(at[0], at[1], at[2], j));
    }
}

/* Some rows of one head, whose plan has not seen the others'. */
static void compare_rows(const attn_plan_t *plan, const scene_t *s, const attn_problem_t *p,
                         const attn_io_t *io) {
    exact_t exact = exact_create(p);
    arrays_t memory = {.io = {.workspace = NULL}};
    const arithmetic_t arithmetic = exact_arithmetic(plan, &s->problem);
    attn_io_t own = s->io;
    float *row = malloc((size_t)p->keys * sizeof *row);
    arrays_give_workspace(&memory, plan);
    own.workspace = memory.io.workspace, own.workspace_size = memory.io.workspace_size;
    for (int64_t i = 0; i < p->queries; i += 7) {
        const int64_t at[3] = {p->batch - 1, p->heads - 1, i};
        exact_row(&exact, p, io, &arithmetic, at[0], at[1], at[2]);
        assert_int_equal(attn_weights(plan, &own, at[0], at[1], i, 1, row, p->keys, NULL), ATTN_OK);
        for (int64_t j = 0; j < p->keys; j++) compare_weight(&exact, row[j], at, j);
    }
    arrays_destroy(&memory);
    exact_destroy(&exact);
    free(row);
}

void scene_compare(const attn_plan_t *plan, const scene_t *s) {
    const arithmetic_t arithmetic = exact_arithmetic(plan, &s->problem);
    attn_problem_t p = s->problem;
    attn_io_t io = s->io;
    p.inputs |= ATTN_INPUT_MASK;
    io.mask = s->kept.tensor;
    if (s->offset.tensor.data) p.inputs |= ATTN_INPUT_BIAS, io.bias = s->offset.tensor;
    exact_t exact = exact_create(&p);
    FOR_EACH_ROW(&p, at) {
        exact_row(&exact, &p, &io, &arithmetic, at[0], at[1], at[2]);
        compare_exact_row(&exact, &p, &io, at);
        compare_scores(s, &exact, at);
    }
    exact_destroy(&exact);
    compare_rows(plan, s, &p, &io);
}

void scene_check(const attn_context_t *context, scene_t *s) {
    attn_plan_t *plan = scene_plan(context, s);
    scene_run(plan, s);
    scene_compare(plan, s);
    attn_plan_destroy(plan);
    scene_destroy(s);
}
