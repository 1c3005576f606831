/* What a call writes shares no memory with what it reads or writes beside it: refused, and nothing written. */
#include "support/fixture.h"
#include "support/test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const BACKENDS[] = {"softmax", "linear", "sparse", "sketch"};
enum { HEADS = 2, ROWS = 5, DIM = 4, SIZE = HEADS * ROWS * DIM, ROOM = 4096 };

typedef struct scene {
    attn_context_t *context;
    attn_plan_t *plan;
    float *room, *copy; /* all arrays are in `room` */
    attn_io_t io;
    bool has_lse;
} scene_t;

static attn_tensor_t at(scene_t *scene, int place) {
    return attn_tensor_bhnd(scene->room + place, 1, HEADS, ROWS, DIM);
}

static void *aligned(float *room) {
    return (char *)room + (ATTN_ALIGNMENT - (uintptr_t)room % ATTN_ALIGNMENT) % ATTN_ALIGNMENT;
}

static scene_t scene_open(const char *backend, int backward) {
    scene_t scene = {.context = fixture_context(1)};
    attn_problem_t problem = fixture_problem(1, HEADS, ROWS, ROWS, DIM, DIM);
    problem.backward = backward;
    scene.plan = fixture_plan(scene.context, backend, &problem, NULL);
    const uint64_t workspace = attn_plan_workspace_size(scene.plan);
    const size_t words = ROOM + (size_t)workspace / sizeof(float) + 64;
    scene.room = malloc(words * sizeof(float));
    scene.copy = malloc(ROOM * sizeof(float));
    assert_non_null(scene.room), assert_non_null(scene.copy);
    for (size_t i = 0; i < words; i++)
        scene.room[i] = (float)((double)fixture_draw(i, 2001) / 1000.0 - 1.0);
    attn_io_init(&scene.io);
    scene.io.query = at(&scene, 0), scene.io.key = at(&scene, SIZE);
    scene.io.value = at(&scene, 2 * SIZE), scene.io.out = at(&scene, 3 * SIZE);
    scene.has_lse = attn_plan_backend(scene.plan)->features & ATTN_FEATURE_LSE;
    if (scene.has_lse) scene.io.lse = attn_tensor_bhnd(scene.room + 4 * SIZE, 1, HEADS, ROWS, 1);
    scene.io.workspace = aligned(scene.room + ROOM);
    scene.io.workspace_size = workspace;
    return scene;
}

static void scene_close(scene_t *scene) {
    free(scene->room), free(scene->copy);
    attn_plan_destroy(scene->plan);
    attn_context_destroy(scene->context);
}

static void keep(scene_t *scene) { memcpy(scene->copy, scene->room, ROOM * sizeof(float)); }

static void expect_refusal(scene_t *scene, const attn_io_t *io, const char *words) {
    attn_error_t error = {0};
    keep(scene);
    fixture_expect(attn_run(scene->plan, io, &error), &error, ATTN_ERROR_ARGUMENT, words);
    assert_memory_equal(scene->room, scene->copy, ROOM * sizeof(float));
}

static void expect_run(scene_t *scene, const attn_io_t *io) {
    attn_error_t error = {0};
    if (attn_run(scene->plan, io, &error)) test_fail("%s", error.message);
}

static void outputs_of_runs(void **state) {
    (void)state;
    for (size_t b = 0; b < TEST_COUNT(BACKENDS); b++) {
        scene_t scene = scene_open(BACKENDS[b], 0);
        test_label("%s", BACKENDS[b]);
        attn_io_t io = scene.io;
        io.query = io.key = io.value; /* inputs may be one array */
        expect_run(&scene, &io);
        io = scene.io, io.out = io.query;
        expect_refusal(&scene, &io, "out|query");
        io.out = io.key;
        expect_refusal(&scene, &io, "out|key");
        io.out = at(&scene, 3 * SIZE - 1); /* the last number of value */
        expect_refusal(&scene, &io, "out|value");
        io.out = io.value;
        for (int k = 0; k < 4; k++) { /* the same memory from its end */
            io.out.data = (float *)io.out.data + (io.out.shape[k] - 1) * io.out.stride[k];
            io.out.stride[k] *= -1;
        }
        expect_refusal(&scene, &io, "out|value");
        if (scene.has_lse) {
            io = scene.io, io.lse.data = io.out.data;
            expect_refusal(&scene, &io, "out|lse");
            io.lse.data = (float *)io.key.data + 7;
            expect_refusal(&scene, &io, "lse|key");
        }
        io = scene.io;
        for (int i = 0; io.workspace_size && i < 4; i++) {
            io = scene.io;
            attn_io_array(&io, (uint32_t)i)->data = (float *)io.workspace + 3;
            expect_refusal(&scene, &io, i == 3 ? "workspace|out" : "workspace");
        }
        io = scene.io; /* behind what the plan needs of it anything may lie */
        io.workspace = aligned(scene.room + 5 * SIZE);
        io.workspace_size = UINT64_MAX;
        io.query.data = (char *)io.workspace + attn_plan_workspace_size(scene.plan);
        memset(io.query.data, 0, SIZE * sizeof(float));
        io.key.data = io.value.data = io.query.data;
        io.out.data = scene.room;
        if (io.lse.data) io.lse.data = scene.room + SIZE;
        if (attn_plan_workspace_size(scene.plan) + 8 * SIZE * sizeof(float) < ROOM * sizeof(float))
            expect_run(&scene, &io);
        scene_close(&scene);
    }
}

/* Packed q, k, v and out of each token: memory in turns, and no element twice. */
static void interleaved(void **state) {
    (void)state;
    for (size_t b = 0; b < TEST_COUNT(BACKENDS); b++) {
        scene_t scene = scene_open(BACKENDS[b], 0);
        attn_io_t io = scene.io;
        float apart[SIZE];
        attn_tensor_t *tensors[] = {&io.query, &io.key, &io.value, &io.out};
        test_label("%s", BACKENDS[b]);
        for (int i = 0; i < 4; i++) {
            tensors[i]->data = scene.room + i * HEADS * DIM;
            const int64_t stride[] = {ROWS * 4 * HEADS * DIM, DIM, 4 * HEADS * DIM, 1};
            memcpy(tensors[i]->stride, stride, sizeof stride);
        }
        expect_run(&scene, &io);
        for (int i = 0; i < SIZE; i++)
            apart[i] = ((float *)io.out.data)[i / DIM % HEADS * io.out.stride[1] +
                                              i / DIM / HEADS * io.out.stride[2] + i % DIM];
        io.out.data = (float *)io.out.data - 1; /* onto the last number of each value */
        expect_refusal(&scene, &io, "out|value");
        io.out = attn_tensor_bnhd(scene.room + 5 * SIZE, 1, HEADS, ROWS, DIM);
        expect_run(&scene, &io);
        assert_memory_equal(scene.room + 5 * SIZE, apart, sizeof apart);
        scene_close(&scene);
    }
}

static void mark(const attn_tensor_t *t, unsigned char *marks, const float *room, unsigned bit) {
    const int64_t base = (const float *)t->data - room;
    for (int64_t h = 0; h < HEADS; h++)
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t c = 0; c < DIM; c++)
                marks[base + h * t->stride[1] + i * t->stride[2] + c * t->stride[3]] |=
                    (unsigned char)bit;
}

/* Random strides of query and of out in one buffer: accepted just where no element is of both. */
static void every_arrangement(void **state) {
    (void)state;
    enum { ROUNDS = 4000 };
    scene_t scene = scene_open("softmax", 0);
    uint64_t draws = 100000;
    int shared = 0, between = 0;
    static const int order[][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3},
                                   {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
    for (int round = 0; round < ROUNDS; round++) {
        attn_io_t io = scene.io;
        attn_tensor_t *tensors[] = {&io.query, &io.out};
        for (int t = 0; t < 2; t++) {
            int64_t reach = 0;
            const int *axes = order[fixture_draw(draws++, 6)];
            tensors[t]->data = scene.room + 1500 + fixture_draw(draws++, 60);
            for (int k = 2; k >= 0; k--) {
                const int64_t step = reach + 1 + fixture_draw(draws++, 4);
                reach += (tensors[t]->shape[axes[k]] - 1) * step;
                tensors[t]->stride[axes[k]] = fixture_draw(draws++, 2) ? step : -step;
            }
        }
        for (int k = 1; round % 3 == 0 && k < 4; k++) io.out.stride[k] = io.query.stride[k];
        io.key.data = scene.room, io.value.data = scene.room + SIZE;
        io.lse.data = scene.room + ROOM - SIZE;
        unsigned char marks[ROOM] = {0};
        mark(&io.query, marks, scene.room, 1);
        mark(&io.out, marks, scene.room, 2);
        const bool meets = memchr(marks, 3, sizeof marks) != NULL;
        attn_error_t error = {0};
        const attn_status_t status = attn_check(scene.plan, &io, &error);
        test_label("arrangement %d", round);
        if ((status != ATTN_OK) != meets)
            test_fail("%s", status ? error.message : "accepted, though elements are shared");
        shared += meets;
        int first = 0, last = ROOM - 1; /* do their memories cross at all? */
        while (!(marks[first] & 2)) first++;
        while (!(marks[last] & 2)) last--;
        for (int i = first; !meets && i < last; i++)
            if (marks[i] == 1) {
                between++;
                break;
            }
    }
    assert_true(shared > ROUNDS / 20 && between > ROUNDS / 20);
    scene_close(&scene);
}

static void gradients(void **state) {
    (void)state;
    for (size_t b = 0; b < TEST_COUNT(BACKENDS); b++) {
        scene_t scene = scene_open(BACKENDS[b], 1);
        attn_error_t error = {0};
        attn_io_t wanted;
        test_label("%s", BACKENDS[b]);
        expect_run(&scene, &scene.io);
        attn_io_init(&wanted);
        wanted.out = scene.io.out; /* both are read */
        wanted.query = at(&scene, 5 * SIZE), wanted.key = at(&scene, 6 * SIZE);
        wanted.value = at(&scene, 7 * SIZE);
        if (attn_backward(scene.plan, &scene.io, &wanted, &error)) test_fail("%s", error.message);
        attn_io_t bad[] = {wanted, wanted, wanted, wanted, wanted};
        bad[0].query = scene.io.query;
        bad[1].key.data = (float *)wanted.query.data + SIZE - 1;
        bad[2].value = scene.io.out;
        bad[3].value.data = scene.io.workspace;
        bad[4].out.data = wanted.key.data;
        static const char *const words[] = {"gradient of query|query", "gradient of|query|key",
                                            "gradient of value|out", "workspace|value",
                                            "gradient of key|out"};
        keep(&scene);
        for (size_t i = 0; i < TEST_COUNT(bad); i++) {
            if (i == 3 && scene.io.workspace_size == 0) continue;
            fixture_expect(attn_backward(scene.plan, &scene.io, &bad[i], &error), &error,
                           ATTN_ERROR_ARGUMENT, words[i]);
            if (i != 3) /* it knows no workspace */
                fixture_expect(attn_check_backward(scene.plan, &scene.io, &bad[i], &error), &error,
                               ATTN_ERROR_ARGUMENT, words[i]);
            assert_memory_equal(scene.room, scene.copy, ROOM * sizeof(float));
        }
        assert_int_equal(attn_check_backward(scene.plan, &scene.io, &wanted, &error), ATTN_OK);
        assert_memory_equal(scene.room, scene.copy, ROOM * sizeof(float));
        scene_close(&scene);
    }
}

static void weights(void **state) {
    (void)state;
    for (size_t b = 0; b < TEST_COUNT(BACKENDS); b++) {
        scene_t scene = scene_open(BACKENDS[b], 0);
        attn_error_t error = {0};
        attn_io_t io = scene.io;
        test_label("%s", BACKENDS[b]);
        fixture_expect(
            attn_weights(scene.plan, &io, 0, 1, 0, ROWS, (float *)io.key.data + 3, ROWS, &error),
            &error, ATTN_ERROR_ARGUMENT, "weights|key");
        /* What is not read may be written, as value's memory. */
        if (attn_weights(scene.plan, &io, 0, 1, 0, ROWS, io.value.data, ROWS, &error))
            test_fail("%s", error.message);
        scene_close(&scene);
    }
}

static void streams(void **state) {
    (void)state;
    for (size_t b = 0; b < TEST_COUNT(BACKENDS); b++) {
        scene_t scene = scene_open(BACKENDS[b], 0);
        attn_error_t error = {0};
        attn_stream_t *stream;
        attn_problem_t problem = fixture_problem(1, HEADS, ROWS, ROWS, DIM, DIM);
        float answers[2][SIZE];
        problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        test_label("%s", BACKENDS[b]);
        if (attn_stream_create(scene.context, BACKENDS[b], &problem, NULL, 0, 100, &stream,
                               &error)) {
            fixture_expect(error.status, &error, ATTN_ERROR_UNSUPPORTED, "stream");
            scene_close(&scene);
            continue;
        }
        attn_io_t tokens, query;
        attn_io_init(&tokens), attn_io_init(&query);
        tokens.key = scene.io.key, tokens.value = scene.io.value;
        assert_int_equal(attn_stream_append(stream, &tokens, NULL), ATTN_OK);
        query.query = scene.io.query, query.out = scene.io.query;
        keep(&scene);
        fixture_expect(attn_stream_query(stream, &query, &error), &error, ATTN_ERROR_ARGUMENT,
                       "out|query");
        assert_memory_equal(scene.room, scene.copy, ROOM * sizeof(float));
        for (int i = 0; i < 2; i++) { /* the tokens are the stream's now */
            query.out = attn_tensor_bhnd(answers[i], 1, HEADS, ROWS, DIM);
            assert_int_equal(attn_stream_query(stream, &query, NULL), ATTN_OK);
            memset(tokens.key.data, 0xff, SIZE * sizeof(float));
            memset(tokens.value.data, 0xff, SIZE * sizeof(float));
        }
        assert_memory_equal(answers[0], answers[1], sizeof answers[0]);
        attn_stream_destroy(stream);
        scene_close(&scene);
    }
}

TEST_MAIN(cmocka_unit_test(outputs_of_runs), cmocka_unit_test(interleaved),
          cmocka_unit_test(every_arrangement), cmocka_unit_test(gradients),
          cmocka_unit_test(weights), cmocka_unit_test(streams))
