/*
 * Strides of axes of 1: any number, as nothing is ever that far away. Each backend says the same with them as with those
 * of an array without gaps, in runs, weights, gradients and streams; sanitizers see products that do not fit.
 */
#include "support/backends.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 64 };

static const int64_t FAR[] = {INT64_MAX, INT64_MIN, (int64_t)1 << 62, -((int64_t)1 << 61) - 1};

/* All arrays of one problem, each in room of its own, with strides of axes of 1 that are `far`; 0: as they are. */
typedef struct scene {
    attn_problem_t problem;
    float query[ROOM], key[ROOM], value[ROOM], out[ROOM], lse[ROOM];
    float out_gradient[ROOM], gradients[3][ROOM], weights[ROOM];
    attn_io_t io, back;
    void *workspace;
} scene_t;

static attn_tensor_t view(float *data, int64_t heads, int64_t rows, int64_t columns, int64_t far) {
    attn_tensor_t tensor = attn_tensor_bhnd(data, 1, heads, rows, columns);
    for (int k = 0; far && k < 4; k++)
        if (tensor.shape[k] == 1) tensor.stride[k] = far;
    return tensor;
}

static void fill(float *numbers, int64_t first) {
    for (int64_t i = 0; i < ROOM; i++) numbers[i] = (float)(first + i % 7) / 8 - 0.25f;
}

static void scene_open(scene_t *scene, const attn_problem_t *problem, int has_lse, int64_t far) {
    const attn_problem_t *p = problem;
    memset(scene, 0, sizeof *scene);
    scene->problem = *p;
    fill(scene->query, 1), fill(scene->key, 2), fill(scene->value, 3), fill(scene->out_gradient, 4);
    scene->io = (attn_io_t){.struct_size = sizeof scene->io,
                            .query = view(scene->query, p->heads, p->queries, p->dim, far),
                            .key = view(scene->key, p->kv_heads, p->keys, p->dim, far),
                            .value = view(scene->value, p->kv_heads, p->keys, p->value_dim, far),
                            .out = view(scene->out, p->heads, p->queries, p->value_dim, far)};
    if (has_lse) scene->io.lse = view(scene->lse, p->heads, p->queries, 1, far);
    scene->back =
        (attn_io_t){.struct_size = sizeof scene->back,
                    .out = view(scene->out_gradient, p->heads, p->queries, p->value_dim, far),
                    .query = view(scene->gradients[0], p->heads, p->queries, p->dim, far),
                    .key = view(scene->gradients[1], p->kv_heads, p->keys, p->dim, far),
                    .value = view(scene->gradients[2], p->kv_heads, p->keys, p->value_dim, far)};
}

static void require(attn_status_t status, const attn_error_t *error) {
    if (status != ATTN_OK) test_fail("%s", error->message);
}

static void run_plan(const attn_context_t *context, const subject_t *subject, scene_t *scene) {
    attn_plan_t *plan = fixture_plan(context, subject->backend, &scene->problem, subject->settings);
    attn_error_t error = {0};
    const size_t size = (size_t)attn_plan_workspace_size(plan);
    scene->workspace =
        aligned_alloc(ATTN_ALIGNMENT, size / ATTN_ALIGNMENT * ATTN_ALIGNMENT + ATTN_ALIGNMENT);
    assert_non_null(scene->workspace);
    scene->io.workspace = scene->workspace;
    scene->io.workspace_size = size;
    require(attn_run(plan, &scene->io, &error), &error);
    require(attn_weights(plan, &scene->io, 0, 0, 0, scene->problem.queries, scene->weights,
                         scene->problem.keys, &error),
            &error);
    if (scene->problem.backward)
        require(attn_backward(plan, &scene->io, &scene->back, &error), &error);
    free(scene->workspace);
    attn_plan_destroy(plan);
}

/* The first append makes room where there is none yet. */
static void run_stream(const attn_context_t *context, const subject_t *subject, scene_t *scene) {
    attn_problem_t problem = scene->problem;
    attn_stream_t *stream = NULL;
    attn_error_t error = {0};
    problem.backward = 0;
    const attn_status_t status = fixture_try_stream(context, subject->backend, &problem,
                                                    subject->settings, 64, &stream, &error);
    if (status == ATTN_ERROR_UNSUPPORTED) return;
    require(status, &error);
    attn_io_t tokens = scene->io, question = scene->io;
    tokens.query.data = tokens.out.data = tokens.lse.data = NULL;
    question.key.data = question.value.data = NULL;
    tokens.workspace = question.workspace = NULL;
    tokens.workspace_size = question.workspace_size = 0;
    require(attn_stream_append(stream, &tokens, &error), &error);
    require(attn_stream_query(stream, &question, &error), &error);
    require(attn_stream_append(stream, &tokens, &error), &error);
    require(attn_stream_truncate(stream, 0, &error), &error);
    attn_stream_destroy(stream);
}

static void expect_same(const scene_t *a, const scene_t *b) {
    assert_memory_equal(a->out, b->out, sizeof a->out);
    assert_memory_equal(a->lse, b->lse, sizeof a->lse);
    assert_memory_equal(a->weights, b->weights, sizeof a->weights);
    assert_memory_equal(a->gradients, b->gradients, sizeof a->gradients);
}

static void check(const attn_context_t *context, const subject_t *subject,
                  const attn_problem_t *problem) {
    const attn_backend_t *backend = attn_backend_find(context, subject->backend);
    const int has_lse = (backend->features & ATTN_FEATURE_LSE) != 0;
    scene_t near, far;
    for (int is_stream = 0; is_stream < 2; is_stream++) {
        scene_open(&near, problem, has_lse, 0);
        if (is_stream)
            run_stream(context, subject, &near);
        else
            run_plan(context, subject, &near);
        for (size_t f = 0; f < TEST_COUNT(FAR); f++) {
            test_label("%s %s, stride %lld", subject->backend, subject->settings,
                       (long long)FAR[f]);
            scene_open(&far, problem, has_lse, FAR[f]);
            if (is_stream)
                run_stream(context, subject, &far);
            else
                run_plan(context, subject, &far);
            expect_same(&near, &far);
        }
    }
}

static void axes_of_one_have_any_stride(void **state) {
    (void)state;
    static const int64_t sizes[][5] = {/* heads, n, m, d, dv */
                                       {1, 1, 1, 1, 1},
                                       {1, 1, 5, 8, 1},
                                       {2, 1, 1, 8, 4},
                                       {1, 5, 5, 8, 8},
                                       {2, 3, 1, 1, 1}};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++)
        for (size_t i = 0; i < TEST_COUNT(sizes); i++) {
            const int64_t *size = sizes[i];
            if (strcmp(SUBJECTS[s].backend, "sketch") == 0 && size[3] < 8) continue;
            attn_problem_t problem =
                fixture_problem(1, size[0], size[1], size[2], size[3], size[4]);
            const attn_backend_t *backend = attn_backend_find(context, SUBJECTS[s].backend);
            problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
            problem.backward = (backend->features & ATTN_FEATURE_BACKWARD) != 0;
            check(context, &SUBJECTS[s], &problem);
        }
    attn_context_destroy(context);
}

/* Sizes whose products do not fit make strides that do, and tensors that no plan takes. */
static void products_that_do_not_fit(void **state) {
    (void)state;
    const int64_t large = (int64_t)1 << 40;
    float number = 0;
    const attn_tensor_t rows = attn_tensor_bhnd(&number, large, large, large, large);
    const attn_tensor_t tokens = attn_tensor_bnhd(&number, large, large, large, large);
    assert_true(rows.stride[0] == INT64_MAX && rows.stride[1] == INT64_MAX);
    assert_true(rows.stride[2] == large && rows.stride[3] == 1);
    assert_true(tokens.stride[0] == INT64_MAX && tokens.stride[2] == INT64_MAX);
    assert_true(tokens.stride[1] == large && tokens.stride[3] == 1);
}

TEST_MAIN(cmocka_unit_test(axes_of_one_have_any_stride), cmocka_unit_test(products_that_do_not_fit))
