/* cli/check/more.c: checks of what is hidden, of streams and gradients, and of what plans tell. */
#include "cli/check/checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hidden keys -------------------------------------------------------------------------------- */

enum { SHOWN = 13, HIDDEN_KEYS = 29 };

/* Keys from number SHOWN on become what they must not matter as. */
static void set_hidden(scene_t *scene, float number) {
    scene_array_t *arrays[] = {&scene->key, &scene->value};
    for (int a = 0; a < 2; a++) {
        const attn_tensor_t *t = &arrays[a]->tensor;
        for (int64_t i = 0; i < scene_count(t); i++)
            if (i / t->shape[3] % t->shape[2] >= SHOWN) *scene_at(t, i) = number;
    }
}

/* How keys are hidden: by causal (the queries are as many as are shown), lengths or a mask. */
static const struct {
    const char *name;
    uint64_t feature;
    uint32_t input;
} ways[] = {{"causal", ATTN_FEATURE_CAUSAL, 0},
            {"key lengths", ATTN_FEATURE_KV_LENGTHS, ATTN_INPUT_KV_LENGTHS},
            {"masks", ATTN_FEATURE_MASK, ATTN_INPUT_MASK}};

static int hide(const check_context_t *check, int way, result_t *result) {
    static const int64_t lengths[2] = {SHOWN, SHOWN};
    unsigned char mask[HIDDEN_KEYS];
    attn_problem_t problem = scene_problem(2, 2, 2, SHOWN, HIDDEN_KEYS, 9, 10);
    scene_t shown, hidden = {.plan = NULL};
    for (int j = 0; j < HIDDEN_KEYS; j++) mask[j] = j < SHOWN;
    if (ways[way].input == 0) problem.causal = ATTN_CAUSAL_TOP_LEFT;
    problem.inputs = ways[way].input;
    scene_t *scenes[] = {&shown, &hidden};
    attn_status_t status = ATTN_OK;
    for (int k = 0; k < 2 && status == ATTN_OK; k++) {
        status = scene_open(scenes[k], check, check->one, &problem, SCENE_PACKED);
        if (status != ATTN_OK) continue;
        set_hidden(scenes[k], k ? NAN : 0.0f);
        if (problem.inputs & ATTN_INPUT_KV_LENGTHS)
            scenes[k]->io.kv_lengths = attn_tensor_lengths(lengths, 2);
        if (problem.inputs & ATTN_INPUT_MASK)
            scenes[k]->io.mask = attn_tensor_bhnd_of(ATTN_BOOL, mask, 1, 1, 1, HIDDEN_KEYS);
        status = scene_run(scenes[k]);
    }
    char what[80];
    snprintf(what, sizeof what, "keys hidden by %s, that are 0 and NaN", ways[way].name);
    if (status == ATTN_OK)
        check_same(result, &shown.out.tensor, &hidden.out.tensor, scene_tolerance(check, &problem),
                   what);
    else if (status != ATTN_ERROR_UNSUPPORTED)
        check_say(result, CHECK_FAILED, "%s: %s", ways[way].name,
                  shown.error.message[0] ? shown.error.message : hidden.error.message);
    scene_close(&shown), scene_close(&hidden);
    return status != ATTN_ERROR_UNSUPPORTED;
}

void check_hidden(const check_context_t *check, result_t *result) {
    int count = 0;
    for (int way = 0; way < 3; way++)
        if (check->backend->features & ways[way].feature) count += hide(check, way, result);
    if (!count) check_say(result, CHECK_SKIPPED, "it has no causal masks, key lengths or masks");
}

/* ---- streams ------------------------------------------------------------------------------------ */

/* Tokens [first, first + count) of an array of tokens. */
static attn_tensor_t tokens_of(const attn_tensor_t *whole, int64_t first, int64_t count) {
    attn_tensor_t part = *whole;
    part.data = (float *)part.data + first * part.stride[2];
    part.shape[2] = count;
    return part;
}

static attn_status_t feed(attn_stream_t *stream, scene_t *scene, const attn_tensor_t *out,
                          int64_t first, int64_t count) {
    attn_io_t tokens, query;
    attn_io_init(&tokens), attn_io_init(&query);
    tokens.key = tokens_of(&scene->io.key, first, count);
    tokens.value = tokens_of(&scene->io.value, first, count);
    query.query = tokens_of(&scene->io.query, first, count);
    query.out = tokens_of(out, first, count);
    const attn_status_t status = attn_stream_append(stream, &tokens, &scene->error);
    return status ? status : attn_stream_query(stream, &query, &scene->error);
}

/* Tokens in pieces of several lengths, a fork that forgets the last ones and gets them again: as one run. */
static attn_status_t feed_all(attn_stream_t *stream, scene_t *scene, const attn_tensor_t *out) {
    static const int64_t pieces[] = {5, 1, 1, 7, 1, 16, 1, 1};
    attn_status_t status = ATTN_OK;
    int64_t first = 0;
    for (int k = 0; status == ATTN_OK && k < 8; first += pieces[k++])
        status = feed(stream, scene, out, first, pieces[k]);
    return status;
}

void check_streams(const check_context_t *check, result_t *result) {
    enum { TOKENS = 33 };
    attn_problem_t problem = scene_problem(2, 2, 2, TOKENS, TOKENS, 12, 11);
    scene_t scene = {.plan = NULL};
    scene_array_t answers = {.block = NULL};
    attn_stream_t *stream = NULL;
    if (!(check->backend->features & ATTN_FEATURE_CAUSAL)) {
        check_say(result, CHECK_SKIPPED, "it has no causal masks");
        return;
    }
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    attn_status_t status = scene_open(&scene, check, check->one, &problem, SCENE_PACKED);
    if (status == ATTN_OK) status = scene_run(&scene);
    if (status == ATTN_OK && !scene_allocate(&answers, &scene.out.tensor, SCENE_TOKENS))
        status = attn_fail(&scene.error, ATTN_ERROR_MEMORY, "no memory for the answers");
    const int has_plan = status == ATTN_OK;
    if (status == ATTN_OK)
        status = attn_stream_create(check->one, check->backend->id, &problem, check->params,
                                    check->param_count, TOKENS, &stream, &scene.error);
    if (has_plan && status == ATTN_ERROR_UNSUPPORTED)
        check_say(result, CHECK_SKIPPED, "%s", scene.error.message);
    else if (status == ATTN_OK)
        status = feed_all(stream, &scene, &answers.tensor);
    if (status == ATTN_OK)
        check_same(result, &scene.out.tensor, &answers.tensor, scene_tolerance(check, &problem),
                   "one run and a stream");
    else if (stream || !has_plan)
        check_say(result, CHECK_FAILED, "%s", scene.error.message);
    const char *wrong = scene_wrong(&answers, 1);
    if (status == ATTN_OK && wrong)
        check_say(result, CHECK_FAILED, "answers of a stream: %s", wrong);
    attn_stream_destroy(stream);
    free(answers.block);
    scene_close(&scene);
}

/* ---- gradients ---------------------------------------------------------------------------------- */

enum { OUT_GRADIENT = 200, DIRECTION = 300 };

/* The loss: the sum of out times fixed numbers. */
static double loss(scene_t *scene, uint64_t seed, result_t *result) {
    double sum = 0;
    if (scene_run(scene) != ATTN_OK) check_say(result, CHECK_FAILED, "%s", scene->error.message);
    for (int64_t i = 0; i < scene_count(&scene->out.tensor); i++)
        sum +=
            (double)*scene_at(&scene->out.tensor, i) * (double)scene_number(seed, OUT_GRADIENT, i);
    return sum;
}

/* The loss's slope where array `number` goes along a direction, by a difference over +-step. */
static double slope(scene_t *scene, int number, double step, uint64_t seed, result_t *result) {
    const attn_tensor_t *t = attn_io_array(&scene->io, (uint32_t)number);
    double ends[2];
    for (int k = 0; k < 2; k++) {
        for (int64_t i = 0; i < scene_count(t); i++)
            *scene_at(t, i) = scene_number(seed, (uint64_t)(100 + number), i) +
                              (float)(k ? step : -step) * scene_number(seed, DIRECTION, i);
        ends[k] = loss(scene, seed, result);
    }
    for (int64_t i = 0; i < scene_count(t); i++)
        *scene_at(t, i) = scene_number(seed, (uint64_t)(100 + number), i);
    return (ends[1] - ends[0]) / (2 * step);
}

static void compare_slope(const check_context_t *check, scene_t *scene,
                          const scene_array_t *gradient, int number, result_t *result) {
    static const char *const names[] = {"query", "key", "value"};
    const double step = 0x1p-5;
    double sum = 0, absolute = 0;
    for (int64_t i = 0; i < scene_count(&gradient->tensor); i++) {
        const double term = (double)*scene_at(&gradient->tensor, i) *
                            (double)scene_number(check->seed, DIRECTION, i);
        sum += term, absolute += fabs(term);
    }
    const double wide = slope(scene, number, step, check->seed, result);
    const double narrow = slope(scene, number, step / 2, check->seed, result);
    /* A step's own error falls with its square: what is left of it once it is taken away is far below what the two
     * differ by. Outputs are off by their tolerance, here one of `count` at random, and gradients by as much. */
    const double count = (double)scene_count(&scene->out.tensor);
    const double rounding = scene_tolerance(check, &scene->problem);
    const double tolerance = fabs(wide - narrow) + rounding * (sqrt(count) / step + absolute);
    const double wanted = (4 * narrow - wide) / 3;
    if (!(fabs(sum - wanted) <= tolerance))
        check_say(result, CHECK_FAILED,
                  "gradient of %s along a direction is %.9g, differences give %.9g, within %.3g",
                  names[number], sum, wanted, tolerance);
}

static int declares(const attn_backend_t *backend) {
    return (backend->features & ATTN_FEATURE_BACKWARD) != 0;
}

void check_gradients(const check_context_t *check, result_t *result) {
    attn_problem_t problem = scene_problem(1, 2, 2, 7, 9, 8, 5);
    scene_t scene;
    scene_array_t out_gradient = {.block = NULL}, gradients[3] = {{.block = NULL}};
    attn_io_t wanted;
    if (!declares(check->backend)) {
        check_say(result, CHECK_SKIPPED, "it has no gradients");
        return;
    }
    problem.backward = 1;
    attn_status_t status = scene_open(&scene, check, check->one, &problem, SCENE_PACKED);
    attn_io_init(&wanted);
    if (status == ATTN_OK && scene_allocate(&out_gradient, &scene.out.tensor, SCENE_TOKENS)) {
        for (int64_t i = 0; i < scene_count(&out_gradient.tensor); i++)
            *scene_at(&out_gradient.tensor, i) = scene_number(check->seed, OUT_GRADIENT, i);
        wanted.out = out_gradient.tensor;
        for (int a = 0; a < 3; a++)
            if (scene_allocate(&gradients[a], attn_io_array(&scene.io, (uint32_t)a), SCENE_TOKENS))
                *attn_io_array(&wanted, (uint32_t)a) = gradients[a].tensor;
        status = scene_run(&scene);
    }
    if (status == ATTN_OK) status = attn_backward(scene.plan, &scene.io, &wanted, &scene.error);
    if (status != ATTN_OK)
        check_say(result, status == ATTN_ERROR_UNSUPPORTED ? CHECK_SKIPPED : CHECK_FAILED, "%s",
                  scene.error.message);
    for (int a = 0; status == ATTN_OK && a < 3; a++) {
        const char *wrong = scene_wrong(&gradients[a], 1);
        if (wrong) check_say(result, CHECK_FAILED, "gradient %d: %s", a, wrong);
        compare_slope(check, &scene, &gradients[a], a, result);
    }
    free(out_gradient.block);
    for (int a = 0; a < 3; a++) free(gradients[a].block);
    scene_close(&scene);
}

/* ---- what is told -------------------------------------------------------------------------------- */

static void check_facts(const scene_t *scene, result_t *result) {
    attn_fact_t fact = {.struct_size = sizeof fact};
    for (uint32_t i = 0; i < 1000 && attn_plan_fact(scene->plan, i, &fact); i++)
        if (!fact.name[0] || !fact.label[0])
            check_say(result, CHECK_FAILED, "fact %u has no name or label", i);
}

void check_told(const check_context_t *check, result_t *result) {
    const attn_problem_t problem = scene_problem(2, 3, 3, 17, 19, 8, 8);
    const double pairs = 2.0 * 3 * 17 * 19;
    scene_t scene;
    attn_cost_t cost = {.struct_size = sizeof cost};
    if (scene_open(&scene, check, check->one, &problem, SCENE_PACKED) != ATTN_OK) {
        check_say(result, CHECK_SKIPPED, "%s", scene.error.message);
    } else {
        const char *kernel = attn_plan_kernel(scene.plan);
        if (!kernel || !kernel[0]) check_say(result, CHECK_FAILED, "the plan names no kernel");
        check_facts(&scene, result);
        const attn_status_t status = attn_plan_cost(scene.plan, &cost, &scene.error);
        if (status != ATTN_OK)
            check_say(result, CHECK_SKIPPED, "%s", scene.error.message);
        else if (cost.flops <= 0 || !(cost.bytes > 0) || cost.pairs < 0 || cost.pairs > pairs)
            check_say(result, CHECK_FAILED, "cost: %g flops, %g bytes, %g of %g pairs", cost.flops,
                      cost.bytes, cost.pairs, pairs);
        else if (!cost.form || !cost.form[0])
            check_say(result, CHECK_FAILED, "the cost has no form");
    }
    scene_close(&scene);
}
