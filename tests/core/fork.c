/*
 * fork(): a child has the memory of its parent's contexts and none of their threads. What it runs by them is right, in the
 * calling thread, now and later; it may destroy them, and make contexts with threads of its own.
 */
#include "support/backends.h"
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3, TASKS = 64, REPEATS = 20, CHILDREN = 20 };

typedef struct scene {
    attn_context_t *context;
    attn_plan_t *plan;
    attn_stream_t *stream;
    arrays_t arrays;
} scene_t;

static scene_t scene_open(void) {
    attn_problem_t problem = fixture_problem(1, 4, 70, 80, 16, 16);
    attn_error_t error = {0};
    scene_t scene = {.context = fixture_context(WORKERS)};
    scene.plan = fixture_plan(scene.context, "softmax", &problem, "");
    scene.arrays = arrays_create(&problem, LAYOUT_BHND, 0);
    arrays_give_workspace(&scene.arrays, scene.plan);
    if (fixture_try_stream(scene.context, "softmax", &problem, "", 1000, &scene.stream, &error))
        test_fail("%s", error.message);
    return scene;
}

static void scene_close(scene_t *scene) {
    attn_stream_destroy(scene->stream);
    attn_plan_destroy(scene->plan);
    attn_context_destroy(scene->context);
}

/* ---- what a child does: returns the number of what is wrong, 0 for nothing --------------------------- */

typedef struct watch {
    pthread_t caller;
    _Atomic int done, elsewhere;
} watch_t;

static void watch_task(void *data, int64_t task, uint32_t worker) {
    watch_t *watch = data;
    (void)task;
    watch->done++;
    if (!pthread_equal(watch->caller, pthread_self()) || worker != 0) watch->elsewhere++;
}

static int run_again(scene_t *scene, const float *expected) {
    const attn_tensor_t *out = &scene->arrays.io.out;
    const size_t size = (size_t)(out->shape[1] * out->shape[2] * out->shape[3]) * sizeof(float);
    const attn_ext_threads_t *threads = attn_context_threads(scene->context);
    for (int i = 0; i < REPEATS; i++) {
        watch_t watch = {.caller = pthread_self()};
        memset(out->data, 0, size);
        if (attn_run(scene->plan, &scene->arrays.io, NULL)) return 1;
        if (memcmp(out->data, expected, size) != 0) return 2;
        threads->parallel_for(threads->pool, TASKS, watch_task, &watch);
        if (watch.done != TASKS || watch.elsewhere) return 3;
    }
    return 0;
}

static int use_stream(scene_t *scene) {
    const attn_io_t *io = &scene->arrays.io;
    const attn_io_t tokens = {.struct_size = sizeof tokens, .key = io->key, .value = io->value};
    const attn_io_t question = {.struct_size = sizeof question, .query = io->query, .out = io->out};
    if (attn_stream_append(scene->stream, &tokens, NULL)) return 4;
    return attn_stream_query(scene->stream, &question, NULL) ? 5 : 0;
}

/* Threads of the child's own take part, sooner or later: no task ends before another thread has had one. */
static void meet(void *data, int64_t task, uint32_t worker) {
    watch_t *watch = data;
    (void)task;
    watch->done++;
    if (worker != 0) watch->elsewhere++;
    while (watch->done < 2) sched_yield();
}

static int make_another(void) {
    const attn_context_options_t options = {.struct_size = sizeof options, .threads = 2};
    attn_context_t *context = NULL;
    if (attn_context_create(&options, &context, NULL)) return 6;
    const attn_ext_threads_t *threads = attn_context_threads(context);
    watch_t watch = {.done = 0};
    threads->parallel_for(threads->pool, 2, meet, &watch);
    attn_context_destroy(context);
    return watch.done == 2 && watch.elsewhere == 1 ? 0 : 7;
}

/* ---- the parent ------------------------------------------------------------------------------------- */

/* A child that hangs is ended by its alarm, which is what went wrong. */
static pid_t start(int (*work)(scene_t *scene, const float *expected), scene_t *scene,
                   const float *expected) {
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child) return child;
    alarm(100);
    _exit(work(scene, expected));
}

static void require_success(pid_t child, const char *what) {
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) test_fail("%s: the child hangs (signal %d)", what, WTERMSIG(status));
    if (WEXITSTATUS(status)) test_fail("%s: number %d is wrong", what, WEXITSTATUS(status));
}

static int live(scene_t *scene, const float *expected) {
    int wrong = run_again(scene, expected);
    if (!wrong) wrong = use_stream(scene);
    if (!wrong) wrong = make_another();
    scene_close(scene);
    return wrong;
}

static float *copy_of(const attn_tensor_t *out) {
    const size_t size = (size_t)(out->shape[1] * out->shape[2] * out->shape[3]) * sizeof(float);
    float *copy = malloc(size);
    if (!copy) test_fail("the test itself has no memory");
    memcpy(copy, out->data, size);
    return copy;
}

static void a_child_computes_alone(void **state) {
    (void)state;
    scene_t scene = scene_open();
    assert_int_equal(attn_run(scene.plan, &scene.arrays.io, NULL), ATTN_OK);
    float *expected = copy_of(&scene.arrays.io.out);
    require_success(start(live, &scene, expected), "a child");
    assert_int_equal(attn_run(scene.plan, &scene.arrays.io, NULL), ATTN_OK); /* as before */
    free(expected);
    scene_close(&scene);
    arrays_destroy(&scene.arrays);
}

typedef struct runner {
    const attn_plan_t *plan;
    arrays_t arrays;
    _Atomic int stop, runs;
} runner_t;

static void *keep_running(void *argument) {
    runner_t *runner = argument;
    while (!runner->stop) {
        attn_run(runner->plan, &runner->arrays.io, NULL);
        runner->runs++;
    }
    return NULL;
}

/* Locks are held, workers are at work: whatever the child finds. */
static void forked_during_runs(void **state) {
    (void)state;
    scene_t scene = scene_open();
    assert_int_equal(attn_run(scene.plan, &scene.arrays.io, NULL), ATTN_OK);
    float *expected = copy_of(&scene.arrays.io.out);
    runner_t runner = {.plan = scene.plan};
    runner.arrays = arrays_create(attn_plan_problem(scene.plan), LAYOUT_BHND, 0);
    arrays_give_workspace(&runner.arrays, scene.plan);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, keep_running, &runner), 0);
    for (int i = 0; i < CHILDREN; i++) {
        const int runs = runner.runs;
        while (runner.runs == runs) sched_yield();
        require_success(start(live, &scene, expected), "a child during runs");
    }
    runner.stop = 1;
    pthread_join(thread, NULL);
    arrays_destroy(&runner.arrays);
    free(expected);
    scene_close(&scene);
    arrays_destroy(&scene.arrays);
}

TEST_MAIN(cmocka_unit_test(a_child_computes_alone), cmocka_unit_test(forked_during_runs))
