/* One plan run by several threads at a time, each with its own arrays and workspace. */
#include "support/backends.h"
#include "support/test.h"

#include <pthread.h>

enum { THREADS = 4, REPEATS = 8 };

typedef struct job {
    const attn_plan_t *plan;
    arrays_t arrays;
    attn_status_t status;
} job_t;

static void *work(void *argument) {
    job_t *job = argument;
    for (int i = 0; i < REPEATS && job->status == ATTN_OK; i++)
        job->status = attn_run(job->plan, &job->arrays.io, NULL);
    return NULL;
}

static job_t job_for(const attn_plan_t *plan) {
    job_t job = {.plan = plan, .arrays = arrays_create(attn_plan_problem(plan), LAYOUT_BNHD, 0)};
    arrays_give_workspace(&job.arrays, plan);
    return job;
}

static void check_subject(const attn_context_t *context, const subject_t *subject) {
    attn_problem_t problem = fixture_problem(1, 4, 70, 80, 16, 16);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    test_label("%s %s in %d threads", subject->backend, subject->settings, THREADS);
    attn_plan_t *plan = fixture_plan(context, subject->backend, &problem, subject->settings);
    job_t alone = job_for(plan), jobs[THREADS];
    work(&alone);
    assert_int_equal(alone.status, ATTN_OK);

    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++) jobs[t] = job_for(plan);
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, work, &jobs[t]), 0);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(jobs[t].status, ATTN_OK);
        array_check_same(&alone.arrays.out, &jobs[t].arrays.out, "out of two threads");
        arrays_check(&jobs[t].arrays);
        arrays_destroy(&jobs[t].arrays);
    }
    arrays_destroy(&alone.arrays);
    attn_plan_destroy(plan);
}

/** A context with a pool of its own: the pool serves one caller at a time, the others go alone. */
static void one_plan_many_threads(void **state) {
    (void)state;
    for (int workers = 1; workers <= 3; workers += 2) {
        attn_context_t *context = fixture_context(workers);
        for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++) check_subject(context, &SUBJECTS[s]);
        attn_context_destroy(context);
    }
}

/** Contexts share nothing: made, used and destroyed side by side. */
static void *live_a_life(void *argument) {
    (void)argument;
    attn_status_t worst = ATTN_OK;
    for (int i = 0; i < REPEATS; i++) {
        const attn_context_options_t options = {.struct_size = sizeof options, .threads = 2};
        attn_context_t *context = NULL;
        const attn_status_t status = attn_context_create(&options, &context, NULL);
        if (status != ATTN_OK) worst = status;
        attn_context_destroy(context);
    }
    return worst == ATTN_OK ? argument : NULL;
}

static void contexts_side_by_side(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    int marks[THREADS];
    for (int t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, live_a_life, &marks[t]), 0);
    for (int t = 0; t < THREADS; t++) {
        void *result = NULL;
        pthread_join(threads[t], &result);
        assert_ptr_equal(result, &marks[t]);
    }
}

TEST_MAIN(cmocka_unit_test(one_plan_many_threads), cmocka_unit_test(contexts_side_by_side))
