#include "trial.h"

#include "attn/random.h"
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- subjects -------------------------------------------------------------------------------- */

/* A pattern that thins keys out, one that keeps all of them, most through its list, one of blocks, and
 * one whose keys are all gathered. */
static const trial_subject_t SUBJECTS[] = {
    {"softmax", "", {.form = FORM_SOFTMAX}},
    {"sparse",
     "block=5,local=2,global=2",
     {.form = FORM_SPARSE, .block = 5, .local = 2, .global = 2}},
    {"sparse",
     "block=7,local=1,global=7",
     {.form = FORM_SPARSE, .block = 7, .local = 1, .global = 7}},
    {"sparse",
     "pattern=strided,block=3,local=2,stride=3",
     {.form = FORM_SPARSE, .pattern = PATTERN_STRIDED, .block = 3, .local = 2, .stride = 3}},
    {"sparse",
     "pattern=dilated,block=2,local=2,stride=3",
     {.form = FORM_SPARSE, .pattern = PATTERN_DILATED, .block = 2, .local = 2, .stride = 3}},
    {"softmax", "precision=bf16", {.form = FORM_SOFTMAX}},
    {"softmax", "precision=bf16x3", {.form = FORM_SOFTMAX}},
    {"sparse",
     "block=5,local=2,global=2,precision=bf16",
     {.form = FORM_SPARSE, .block = 5, .local = 2, .global = 2}},
    {"sparse",
     "pattern=strided,block=3,local=2,stride=3,precision=bf16x3",
     {.form = FORM_SPARSE, .pattern = PATTERN_STRIDED, .block = 3, .local = 2, .stride = 3}},
};
static size_t turn; /* the subject's number, from 1 on */
static const trial_subject_t *other;

const trial_subject_t *trial_subject(void) { return other ? other : &SUBJECTS[turn - 1]; }

void trial_set_subject(const trial_subject_t *subject) { other = subject; }

int trial_is_dense(void) { return trial_subject()->formula.form == FORM_SOFTMAX; }

int trial_next_subject(void) {
    attn_context_t *context = fixture_context(1);
    const int bf16 = fixture_multiplies_bf16(context);
    int found = 0;
    while (!found && turn < TEST_COUNT(SUBJECTS)) {
        const trial_subject_t *subject = &SUBJECTS[turn++];
        const int is_bf16 = strstr(subject->settings, "bf16") != NULL;
        if (is_bf16 != bf16 && turn > 1)
            continue; /* the same f32 once more; the first is automatic */
        found = attn_backend_find(context, subject->backend) != NULL;
    }
    attn_context_destroy(context);
    return found;
}

attn_plan_t *trial_plan(const attn_context_t *context, const attn_problem_t *problem) {
    return fixture_plan(context, trial_subject()->backend, problem, trial_subject()->settings);
}

void trial_set_rules(attn_problem_t *p, int kind) {
    if (kind == 1) p->causal = ATTN_CAUSAL_TOP_LEFT;
    if (kind == 2) p->causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    if (kind == 3) p->causal = ATTN_CAUSAL_TOP_LEFT, p->past = p->keys / 3, p->window_left = 9;
    if (kind == 4) p->window_left = 5, p->window_right = 8;
    if (kind == 5) p->inputs = ATTN_INPUT_SLOPES, p->kv_heads = 1, p->softcap = 3;
    if (kind == 6) p->inputs = ATTN_INPUT_SINKS | ATTN_INPUT_MASK, p->kv_heads = 2;
    if (kind == 7) p->inputs = ATTN_INPUT_BIAS | ATTN_INPUT_KV_LENGTHS;
    if (kind == 8) p->inputs = ATTN_INPUT_KV_LENGTHS | ATTN_INPUT_SINKS, p->kv_dtype = ATTN_I8;
}

static int keeps(const void *formula, int64_t position, int64_t key) {
    return reference_keeps(formula, position, key);
}

exact_t trial_exact(const trial_t *trial) {
    exact_t exact = exact_create(&trial->problem);
    exact.has = keeps;
    exact.pattern = &trial_subject()->formula;
    return exact;
}

int trial_sees(const trial_t *trial, int64_t batch, int64_t head, int64_t query, int64_t key) {
    const attn_problem_t *p = &trial->problem;
    return exact_sees(p, &trial->io, batch, head, query, key) &&
           reference_keeps(&trial_subject()->formula, exact_position(p, &trial->io, batch, query),
                           key);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static double uniform(uint64_t stream, uint64_t index) {
    return attn_random_uniform(test_seed(), stream, index);
}

static typed_t scales_of(const attn_problem_t *p, layout_t layout, uint64_t stream) {
    typed_t scales = typed_create(ATTN_F32, layout, (int64_t[]){p->batch, p->kv_heads, p->keys, 1});
    uint64_t index = 0;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->kv_heads; h++)
            for (int64_t j = 0; j < p->keys; j++)
                typed_set(&scales, b, h, j, 0, 0.005 + 0.02 * uniform(stream, index++));
    return scales;
}

/* An axis k is 1 where bit k of `axes` says so. */
static typed_t broadcast_array(const attn_problem_t *p, attn_dtype_t dtype, layout_t layout,
                               int axes) {
    int64_t shape[4] = {p->batch, p->heads, p->queries, p->keys};
    for (int k = 0; k < 3; k++)
        if (axes >> k & 1) shape[k] = 1;
    return typed_create(dtype, layout, shape);
}

static void fill_bias(typed_t *bias) {
    const int64_t *shape = bias->tensor.shape;
    uint64_t index = 0;
    typed_fill(bias, 21, 1.5);
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t j = 0; j < shape[3]; j++)
                    if (i % 11 == 4 || uniform(22, index++) < 0.15)
                        typed_set(bias, b, h, i, j, -INFINITY);
}

static void fill_mask(typed_t *mask) {
    const int64_t *shape = mask->tensor.shape;
    uint64_t index = 0;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t j = 0; j < shape[3]; j++) {
                    const double drawn = uniform(23, index++);
                    typed_set(mask, b, h, i, j, i % 7 == 3 || drawn < 0.3 ? 0 : 1 + (j & 1));
                }
}

static void create_rules(trial_t *trial) {
    const attn_problem_t *p = &trial->problem;
    const layout_t layout = trial->look.layout;
    if (p->inputs & ATTN_INPUT_BIAS) {
        trial->bias = broadcast_array(p, ATTN_F32, layout, trial->look.bias_axes);
        fill_bias(&trial->bias);
    }
    if (p->inputs & ATTN_INPUT_MASK) {
        trial->mask = broadcast_array(p, ATTN_BOOL, layout, trial->look.mask_axes);
        fill_mask(&trial->mask);
    }
    if (p->inputs & ATTN_INPUT_KV_LENGTHS) {
        trial->lengths = typed_create(ATTN_I64, layout, (int64_t[]){p->batch, 1, 1, 1});
        for (int64_t b = 0; b < p->batch; b++)
            typed_set(&trial->lengths, b, 0, 0, 0,
                      floor(uniform(24, (uint64_t)b) * (double)(p->keys + 1)));
    }
    if (p->inputs & ATTN_INPUT_SINKS) {
        trial->sinks = typed_create(ATTN_F32, layout, (int64_t[]){1, p->heads, 1, 1});
        typed_fill(&trial->sinks, 25, 2);
    }
    if (p->inputs & ATTN_INPUT_SLOPES) {
        trial->slopes = typed_create(ATTN_F32, layout, (int64_t[]){1, p->heads, 1, 1});
        for (int64_t h = 0; h < p->heads; h++)
            typed_set(&trial->slopes, 0, h, 0, 0,
                      pow(2, -8.0 * (double)(h + 1) / (double)p->heads));
    }
}

trial_t trial_create(const attn_problem_t *p, const look_t *look) {
    trial_t trial = {.problem = *p, .look = *look};
    const layout_t layout = look->layout;
    const double deviation = p->kv_dtype == ATTN_I8 ? 50 : 1;
    trial.query =
        typed_create(p->dtype, layout, (int64_t[]){p->batch, p->heads, p->queries, p->dim});
    trial.key =
        typed_create(p->kv_dtype, layout, (int64_t[]){p->batch, p->kv_heads, p->keys, p->dim});
    trial.value = typed_create(p->kv_dtype, layout,
                               (int64_t[]){p->batch, p->kv_heads, p->keys, p->value_dim});
    trial.out =
        typed_create(p->dtype, layout, (int64_t[]){p->batch, p->heads, p->queries, p->value_dim});
    typed_fill(&trial.query, 1, 1);
    typed_fill(&trial.key, 2, deviation);
    typed_fill(&trial.value, 3, deviation);
    if (look->lse)
        trial.lse = typed_create(ATTN_F32, layout, (int64_t[]){p->batch, p->heads, p->queries, 1});
    if (look->scores) {
        const layout_t rows = layout == LAYOUT_TRANSPOSED ? LAYOUT_PADDED : layout;
        trial.scores =
            typed_create(ATTN_F32, rows, (int64_t[]){p->batch, p->heads, p->queries, p->keys});
    }
    if (p->kv_dtype == ATTN_I8) {
        trial.key_scales = scales_of(p, layout, 26);
        trial.value_scales = scales_of(p, layout, 27);
    }
    create_rules(&trial);
    trial.io = (attn_io_t){.struct_size = sizeof(attn_io_t),
                           .query = trial.query.tensor,
                           .key = trial.key.tensor,
                           .value = trial.value.tensor,
                           .out = trial.out.tensor,
                           .lse = trial.lse.tensor,
                           .bias = trial.bias.tensor,
                           .mask = trial.mask.tensor,
                           .kv_lengths = trial.lengths.tensor,
                           .sinks = trial.sinks.tensor,
                           .slopes = trial.slopes.tensor,
                           .key_scales = trial.key_scales.tensor,
                           .value_scales = trial.value_scales.tensor,
                           .scores = trial.scores.tensor};
    return trial;
}

enum { INPUTS = 10, OUTPUTS = 3 };

static void inputs_of(trial_t *trial, typed_t *inputs[INPUTS]) {
    typed_t *const all[INPUTS] = {
        &trial->query,   &trial->key,   &trial->value,  &trial->bias,       &trial->mask,
        &trial->lengths, &trial->sinks, &trial->slopes, &trial->key_scales, &trial->value_scales};
    memcpy(inputs, all, sizeof all);
}

static const char *const INPUT_NAMES[INPUTS] = {"query",      "key",         "value", "bias",
                                                "mask",       "kv_lengths",  "sinks", "slopes",
                                                "key_scales", "value_scales"};

void trial_destroy(trial_t *trial) {
    typed_t *inputs[INPUTS];
    inputs_of(trial, inputs);
    for (int i = 0; i < INPUTS; i++) typed_destroy(inputs[i]);
    typed_destroy(&trial->out);
    typed_destroy(&trial->lse);
    typed_destroy(&trial->scores);
    free(trial->workspace);
    memset(trial, 0, sizeof *trial);
}

void trial_label(const trial_t *trial, const char *what) {
    const attn_problem_t *p = &trial->problem;
    test_label("%s %s %s: B %" PRId64 " H %" PRId64 "/%" PRId64 " n %" PRId64 " m %" PRId64
               " d %" PRId64 " dv %" PRId64 " causal %d past %" PRId64 " window %" PRId64
               ",%" PRId64 " cap %g inputs %x dtypes %d,%d scale %g layout %d axes %d,%d scores %d",
               trial_subject()->backend, trial_subject()->settings, what, p->batch, p->heads,
               p->kv_heads, p->queries, p->keys, p->dim, p->value_dim, p->causal, p->past,
               p->window_left, p->window_right, (double)p->softcap, p->inputs, p->dtype,
               p->kv_dtype, (double)p->scale, (int)trial->look.layout, trial->look.bias_axes,
               trial->look.mask_axes, trial->look.scores ? p->scores : -1);
}

/* ---- running --------------------------------------------------------------------------------- */

enum { GUARD = 256, GUARD_BYTE = 0xA7 };

static size_t workspace_block(uint64_t size) {
    return GUARD + ((size_t)size + 63) / 64 * 64 + GUARD;
}

void trial_give_workspace(const attn_plan_t *plan, trial_t *trial) {
    const uint64_t size = attn_plan_workspace_size(plan);
    trial->bf16_parts = exact_parts(plan);
    free(trial->workspace);
    trial->workspace = aligned_alloc(64, workspace_block(size));
    if (!trial->workspace) test_fail("the test itself has no memory");
    memset(trial->workspace, GUARD_BYTE, workspace_block(size));
    memset(trial->workspace + GUARD, 0xFF, (size_t)size); /* NaN, to be written before it is read */
    trial->io.workspace = trial->workspace + GUARD;
    trial->io.workspace_size = size;
}

void trial_check_workspace(const trial_t *trial) {
    const size_t size = (size_t)trial->io.workspace_size;
    for (size_t i = 0; i < workspace_block(size); i++) {
        if (i == GUARD) i += size;
        if ((unsigned char)trial->workspace[i] != GUARD_BYTE)
            test_fail("byte %zu of the workspace's block (size %zu) was written", i, size);
    }
}

arithmetic_t trial_arithmetic(const trial_t *trial) {
    return trial->bf16_parts ? exact_bf16(&trial->problem, trial->bf16_parts) : EXACT_F32;
}

void trial_run(const attn_plan_t *plan, trial_t *trial) {
    typed_t *inputs[INPUTS];
    inputs_of(trial, inputs);
    for (int i = 0; i < INPUTS; i++) typed_seal(inputs[i]);
    typed_t *const outputs[OUTPUTS] = {&trial->out, &trial->lse, &trial->scores};
    for (int i = 0; i < OUTPUTS; i++)
        if (outputs[i]->block) typed_reset(outputs[i]);
    trial_give_workspace(plan, trial);
    attn_error_t error = {0};
    if (attn_run(plan, &trial->io, &error) != ATTN_OK) test_fail("attn_run: %s", error.message);
    for (int i = 0; i < INPUTS; i++) typed_check(inputs[i], INPUT_NAMES[i]);
    typed_check(&trial->out, "out");
    typed_check(&trial->lse, "lse");
    typed_check(&trial->scores, "scores");
    trial_check_workspace(trial);
}

void trial_solve(const attn_context_t *context, trial_t *trial) {
    attn_plan_t *plan = trial_plan(context, &trial->problem);
    trial_run(plan, trial);
    attn_plan_destroy(plan);
}

/* Tokens first <= j < last of keys, values and their scales. */
static attn_io_t tokens_of(const attn_io_t *all, int64_t first, int64_t last) {
    attn_io_t io = {.struct_size = sizeof io,
                    .key = all->key,
                    .value = all->value,
                    .key_scales = all->key_scales,
                    .value_scales = all->value_scales};
    attn_tensor_t *const arrays[] = {&io.key, &io.value, &io.key_scales, &io.value_scales};
    for (size_t i = 0; i < TEST_COUNT(arrays) && arrays[i]->data; i++) {
        arrays[i]->data = (char *)arrays[i]->data +
                          first * arrays[i]->stride[2] * attn_dtype_size(arrays[i]->dtype);
        arrays[i]->shape[2] = last - first;
    }
    return io;
}

void trial_run_stream(const attn_context_t *context, trial_t *trial, const char *settings) {
    const int64_t keys = trial->problem.keys, half = keys / 2;
    const attn_io_t *io = &trial->io;
    const attn_io_t asked = {
        .struct_size = sizeof asked, .query = io->query, .out = io->out, .lse = io->lse};
    attn_error_t error = {0};
    attn_stream_t *stream = NULL;
    attn_plan_t *plan = fixture_plan(context, trial_subject()->backend, &trial->problem, settings);
    trial->bf16_parts = exact_parts(plan); /* a stream's plans are of the same kind */
    attn_plan_destroy(plan);
    typed_reset(&trial->out);
    if (trial->lse.block) typed_reset(&trial->lse);
    attn_status_t status = fixture_try_stream(context, trial_subject()->backend, &trial->problem,
                                              settings, keys, &stream, &error);
    for (int part = half ? 0 : 1; part < 2 && status == ATTN_OK; part++) {
        const attn_io_t tokens = tokens_of(io, part ? half : 0, part ? keys : half);
        status = attn_stream_append(stream, &tokens, &error);
    }
    if (status != ATTN_OK || attn_stream_query(stream, &asked, &error) != ATTN_OK)
        test_fail("stream: %s", error.message);
    attn_stream_destroy(stream);
    typed_check(&trial->out, "out");
    typed_check(&trial->lse, "lse");
}

void trial_check(const attn_context_t *context, const attn_problem_t *problem, const look_t *look,
                 const char *what) {
    if (!test_takes_case()) return;
    trial_t trial = trial_create(problem, look);
    trial_label(&trial, what);
    trial_solve(context, &trial);
    trial_compare(&trial);
    trial_destroy(&trial);
    static int cases; /* one in four: exact gradients take as long as all the rest */
    if (cases++ % 4 == 0 && trial_has_gradients(context, problem))
        trial_check_gradients(context, problem, look);
}
