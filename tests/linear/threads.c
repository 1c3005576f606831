/* linear on many workers: chunks in parallel have the bits of one worker, for every way that queries and keys
 * lie to each other. */
#include "support/test.h"
#include "trial.h"

#include <inttypes.h>

/** An embedder's pool that takes tasks from the last to the first, each on the next worker. */
typedef struct backwards {
    uint32_t workers;
    int64_t jobs;
} backwards_t;

static void run_backwards(void *data, int64_t tasks, attn_task_t *task, void *task_data) {
    backwards_t *pool = data;
    pool->jobs++;
    for (int64_t t = tasks; t-- > 0;) task(task_data, t, (uint32_t)(t % pool->workers));
}

static attn_context_t *context_of(backwards_t *pool) {
    const attn_ext_threads_t threads = {.struct_size = sizeof threads,
                                        .workers = pool->workers,
                                        .pool = pool,
                                        .parallel_for = run_backwards};
    const attn_context_options_t options = {.struct_size = sizeof options, .pool = &threads};
    attn_context_t *context = NULL;
    assert_int_equal(attn_context_create(&options, &context, NULL), ATTN_OK);
    return context;
}

/** Solves with one worker and with many; returns how often the many were called together. */
static int64_t check(const attn_problem_t *problem, const char *setting, uint32_t workers) {
    backwards_t pool = {.workers = workers};
    attn_context_t *alone = fixture_context(1), *many = context_of(&pool);
    arrays_t expected = arrays_create(problem, LAYOUT_BHND, 0);
    arrays_t found = arrays_create(problem, LAYOUT_BHND, 0);
    test_label("%s n %" PRId64 " m %" PRId64 " H %" PRId64 "/%" PRId64 " causal %d workers %u",
               setting, problem->queries, problem->keys, problem->heads, problem->kv_heads,
               problem->causal, workers);
    fixture_solve(alone, "linear", setting, &expected);
    fixture_solve(many, "linear", setting, &found);
    array_check_same(&expected.out, &found.out, "out of many workers");
    assert_int_equal(expected.report.degenerate_rows, found.report.degenerate_rows);
    arrays_destroy(&expected);
    arrays_destroy(&found);
    attn_context_destroy(alone);
    attn_context_destroy(many);
    return pool.jobs;
}

static void chunks_in_parallel(void **state) {
    (void)state;
    /* Fewer and more queries than keys, whole chunks and parts, less and more than a round. */
    static const int64_t sizes[][2] = {{480, 480},   {500, 613}, {613, 500},
                                       {4000, 4001}, {30, 700},  {700, 300}};
    static const char *const settings[] = {"feature_map=elu1", "feature_map=lin"};
    for (size_t s = 0; s < TEST_COUNT(sizes); s++)
        for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++)
            for (int32_t grouped = 0; grouped < 2; grouped++) {
                if (!test_takes_case()) continue;
                attn_problem_t problem =
                    fixture_problem(1, 3, sizes[s][0], sizes[s][1], 7, s % 2 ? 9 : 8);
                if (grouped) problem.kv_heads = 1;
                problem.causal = causal;
                check(&problem, settings[s / 2 % 2], 2);
                check(&problem, settings[s / 2 % 2], 5);
            }
}

/** That they are in parallel at all: more than one job, where heads alone would be one. */
static void heads_alone_where_they_are_enough(void **state) {
    (void)state;
    attn_problem_t problem = fixture_problem(1, 4, 480, 480, 7, 8);
    assert_int_equal(check(&problem, "feature_map=elu1", 2), 1);
    problem = fixture_problem(1, 1, 480, 480, 7, 8);
    assert_true(check(&problem, "feature_map=elu1", 2) > 1);
    problem = fixture_problem(1, 1, 48, 48, 7, 8); /* nothing to share */
    assert_int_equal(check(&problem, "feature_map=elu1", 2), 1);
}

/** A trial of every map and element type, with states, lengths and groups by chance. */
static trial_t draw(const attn_context_t *context, int map, uint64_t number) {
    static const attn_dtype_t types[] = {ATTN_F32, ATTN_F16, ATTN_BF16};
#define DRAW(count) fixture_draw(8 * number + __LINE__ % 8, count)
    const int64_t n = 190 + DRAW(320);
    attn_problem_t problem = fixture_problem(1 + DRAW(2), 3, n, 190 + DRAW(320), 1 + number % 7, 9);
    problem.kv_heads = DRAW(2) ? 1 : 3;
    problem.causal = (int32_t)DRAW(3);
    problem.dtype = types[DRAW(3)];
    problem.kv_dtype = types[number / 2 % 3];
    if (DRAW(2)) problem.inputs = ATTN_INPUT_KV_LENGTHS;
    trial_t trial = trial_of(context, &problem, map, ATTN_ORACLE_RULE_LINEAR, number % 3 > 0);
    trial.with_state = number % 2 == 0;
    return trial;
#undef DRAW
}

static void all_forms_in_parallel(void **state) {
    (void)state;
    for (int map = 0; map < MAPS_COUNT; map++)
        for (uint64_t number = 0; number < 10; number++) {
            if (!test_takes_case()) continue;
            backwards_t pool = {.workers = 2 + (uint32_t)number % 4};
            attn_context_t *contexts[] = {fixture_context(1), context_of(&pool)};
            attn_plan_t *plans[2];
            trial_t trials[2];
            for (int i = 0; i < 2; i++) {
                trials[i] = draw(contexts[i], map, 10 * (uint64_t)map + number);
                trial_make(&trials[i]);
                trial_label(&trials[i]);
                plans[i] = trial_run(&trials[i]);
            }
            typed_check_same(&trials[0].out, &trials[1].out, "out of many workers");
            for (int a = STATE_OUT; a < OWN; a++)
                if (trials[0].tensors[a])
                    typed_check_same(&trials[0].own[a], &trials[1].own[a], "state of many workers");
            assert_int_equal(trials[0].report.degenerate_rows, trials[1].report.degenerate_rows);
            for (int i = 0; i < 2; i++) {
                trial_end(&trials[i], plans[i]);
                attn_context_destroy(contexts[i]);
            }
        }
}

TEST_MAIN(cmocka_unit_test(chunks_in_parallel), cmocka_unit_test(all_forms_in_parallel),
          cmocka_unit_test(heads_alone_where_they_are_enough))
