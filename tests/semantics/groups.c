/*
 * Rows that read the same keys and values: query heads of a group, and heads or batches whose keys are the same memory.
 * They are computed together, each by rules of its own, and keys and values are made ready once for all.
 */
#include "trial.h"

#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>

static const int64_t GROUPS[] = {17, 32, 71};

/* Rules that differ from row to row, all at once or some of them. */
static void add_rules(attn_problem_t *p, int kind) {
    if (kind == 0 || kind == 1)
        p->inputs = ATTN_INPUT_BIAS | ATTN_INPUT_MASK | ATTN_INPUT_KV_LENGTHS | ATTN_INPUT_SINKS |
                    ATTN_INPUT_SLOPES;
    if (kind == 0) p->causal = ATTN_CAUSAL_BOTTOM_RIGHT, p->softcap = 2.5f;
    if (kind == 1) p->causal = ATTN_CAUSAL_TOP_LEFT, p->past = p->keys / 2, p->window_left = 40;
    if (kind == 2) p->inputs = ATTN_INPUT_SLOPES | ATTN_INPUT_SINKS, p->kv_dtype = ATTN_I8;
    if (kind == 3) p->inputs = ATTN_INPUT_MASK, p->dtype = p->kv_dtype = ATTN_BF16;
    if (kind == 4) p->inputs = ATTN_INPUT_KV_LENGTHS, p->causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    if (kind == 4) p->kv_dtype = ATTN_F16;
}
enum { KINDS = 5 };

static attn_problem_t problem_of(int64_t batch, int64_t group, int64_t kv_heads, int64_t queries,
                                 int kind) {
    const int64_t number = group + queries + kind;
    attn_problem_t problem = fixture_problem(batch, group * kv_heads, queries, 40 + number % 50,
                                             5 + number % 30, 4 + number % 37);
    problem.kv_heads = kv_heads;
    add_rules(&problem, kind);
    return problem;
}

/** Every rule is that of the row's own head and batch; of some cases gradients too. */
static void rules_of_each_row(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t g = 0; g < TEST_COUNT(GROUPS); g++)
        for (int64_t n = 1; n <= 5; n++)
            for (int i = 0; i < 2; i++) {
                const int kind = i ? 2 + (int)(GROUPS[g] + n) % 3 : (int)n % 2;
                attn_problem_t problem = problem_of(2, GROUPS[g], 1 + n % 2, n, kind);
                const int scores = (n + kind) % 3 == 0;
                const look_t look = {.layout = (layout_t)((n + kind) % LAYOUT_COUNT),
                                     .bias_axes = (int)n % 8,
                                     .mask_axes = kind,
                                     .lse = 1,
                                     .scores = scores};
                if (scores) problem.scores = (int32_t)n % 4;
                trial_check(context, &problem, &look, "rules of each row");
            }
    attn_context_destroy(context);
}

/** Gradients where one block of rows is of many heads, each with a bias, sink and slope of its own. */
static void gradients_of_each_row(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t g = 0; g < TEST_COUNT(GROUPS); g++)
        for (int64_t n = 1; n <= 5; n += 2) {
            attn_problem_t problem = problem_of(1, GROUPS[g], 1, n, (int)n % 2);
            if (!test_takes_case() || !trial_has_gradients(context, &problem)) continue;
            trial_check_gradients(context, &problem,
                                  &(look_t){.layout = (layout_t)(n % LAYOUT_COUNT),
                                            .bias_axes = (int)n % 4,
                                            .lse = 1});
        }
    attn_context_destroy(context);
}

/* ---- heads and batches that share memory -------------------------------------------------------- */

/* Keys and values of the trial's first batch or head are those of all. */
static void share(trial_t *trial, int batches, int heads) {
    attn_tensor_t *const arrays[] = {&trial->io.key, &trial->io.value, &trial->io.key_scales,
                                     &trial->io.value_scales};
    for (size_t i = 0; i < TEST_COUNT(arrays); i++) {
        if (batches) arrays[i]->stride[0] = 0;
        if (heads) arrays[i]->stride[1] = 0;
    }
}

static void shared_memory(void **state) {
    (void)state;
    static const int64_t sizes[][4] = {{3, 4, 4, 1},  {20, 2, 2, 1},  {7, 6, 2, 3},
                                       {71, 1, 1, 1}, {2, 17, 17, 5}, {9, 8, 4, 30}};
    attn_context_t *context = fixture_context(2);
    for (size_t s = 0; s < TEST_COUNT(sizes); s++)
        for (int how = 1; how < 4; how++)
            for (int kind = ((int)s + how) % 2; kind < KINDS; kind += 2) {
                if (!test_takes_case()) continue;
                const int64_t *size = sizes[s];
                attn_problem_t problem =
                    problem_of(size[0], size[1] / size[2], size[2], size[3], kind);
                const look_t look = {.layout = (layout_t)((s + (size_t)kind) % LAYOUT_COUNT),
                                     .lse = 1};
                trial_t trial = trial_create(&problem, &look);
                trial_label(&trial, how == 1 ? "shared batches" : "shared heads");
                share(&trial, how & 1, how & 2);
                trial_solve(context, &trial);
                trial_compare(&trial);
                trial_destroy(&trial);
            }
    attn_context_destroy(context);
}

/* ---- how often keys are made ready ---------------------------------------------------------------- */

/* An embedder's pool that counts tasks: of panels to pack and of rows to attend, or of splits to decode. */
static void counting(void *pool, int64_t tasks, attn_task_t *task, void *data) {
    *(int64_t *)pool += tasks;
    for (int64_t t = 0; t < tasks; t++) task(data, t, 0);
}

static int64_t count_tasks(trial_t *trial) {
    int64_t tasks = 0;
    const attn_ext_threads_t pool = {
        .struct_size = sizeof pool, .workers = 1, .pool = &tasks, .parallel_for = counting};
    const attn_context_options_t options = {.struct_size = sizeof options, .pool = &pool};
    attn_context_t *context = NULL;
    assert_int_equal(attn_context_create(&options, &context, NULL), ATTN_OK);
    trial_solve(context, trial);
    attn_context_destroy(context);
    return tasks;
}

/** Query i of one head to head i of one query. */
static void copy_queries(const trial_t *queries, trial_t *heads) {
    const int64_t *shape = queries->query.tensor.shape;
    for (int64_t i = 0; i < shape[2]; i++)
        for (int64_t k = 0; k < shape[3]; k++)
            typed_set(&heads->query, 0, i, 0, k, typed_get(&queries->query.tensor, 0, 0, i, k));
}

/** Heads of one query, and one head of as many, with the same keys and values: the same tasks, and the same bits. */
static void heads_cost_what_queries_do(void **state) {
    (void)state;
    if (!trial_is_dense()) return; /* a pattern's queries see by their positions */
    static const int64_t rows[] = {1, 2, 15, 16, 17, 32, 48, 49, 64, 71, 97, 128, 200};
    for (size_t r = 0; r < TEST_COUNT(rows); r++) {
        if (!test_takes_case()) continue;
        const look_t look = {.layout = LAYOUT_BHND, .lse = 1};
        const attn_problem_t one = fixture_problem(1, 1, rows[r], 1100, 9, 20);
        attn_problem_t many = fixture_problem(1, rows[r], 1, 1100, 9, 20);
        many.kv_heads = 1;
        trial_t queries = trial_create(&one, &look), heads = trial_create(&many, &look);
        trial_label(&heads, "heads as queries");
        copy_queries(&queries, &heads); /* keys and values are the same numbers anyway */
        const int64_t tasks = count_tasks(&queries);
        assert_int_equal(count_tasks(&heads), tasks);
        for (int64_t i = 0; i < rows[r]; i++)
            for (int64_t c = 0; c < 20; c++)
                assert_true(typed_get(&queries.out.tensor, 0, 0, i, c) ==
                            typed_get(&heads.out.tensor, 0, i, 0, c));
        trial_destroy(&queries);
        trial_destroy(&heads);
    }
}

/* Tasks of a problem whose batches share keys and values, if wanted. */
static int64_t tasks_of(const attn_problem_t *problem, int shared) {
    trial_t trial = trial_create(problem, &(look_t){.layout = LAYOUT_BHND});
    trial_label(&trial, "tasks");
    if (shared) share(&trial, 1, 0);
    const int64_t tasks = count_tasks(&trial);
    trial_destroy(&trial);
    return tasks;
}

/** What shares keys adds rows to tasks, not a task each. */
static void rows_share_tasks(void **state) {
    (void)state;
    const attn_problem_t alone = fixture_problem(1, 1, 1, 1100, 9, 20);
    const attn_problem_t batches = fixture_problem(40, 1, 1, 1100, 9, 20);
    assert_int_equal(tasks_of(&batches, 1), tasks_of(&alone, 0));
    for (int64_t n = 1; n <= 5; n += 4) {
        attn_problem_t some = fixture_problem(1, 131, n, 1100, 9, 20), twice = some;
        some.kv_heads = twice.kv_heads = 1;
        twice.heads = 2 * some.heads;
        assert_true(tasks_of(&twice, 0) - tasks_of(&some, 0) < 131 / 2);
    }
}

/** Any number of threads gives the same bits. */
static void threads_change_no_bit(void **state) {
    (void)state;
    for (int number = 0; number < 12; number++) {
        if (!test_takes_case()) continue;
        const attn_problem_t problem =
            problem_of(2, GROUPS[number % 3], 1, 1 + number % 5, number % KINDS);
        trial_t one = trial_create(&problem, &(look_t){.layout = LAYOUT_BNHD, .lse = 1});
        share(&one, number % 2, 0);
        for (int threads = 1; threads <= 3; threads++) {
            trial_t many = trial_create(&problem, &one.look);
            attn_context_t *context = fixture_context(threads);
            trial_label(&many, "threads");
            share(&many, number % 2, 0);
            trial_solve(context, threads == 1 ? &one : &many);
            if (threads > 1) typed_check_same(&one.out, &many.out, "out");
            if (threads > 1) typed_check_same(&one.lse, &many.lse, "lse");
            attn_context_destroy(context);
            trial_destroy(&many);
        }
        trial_destroy(&one);
    }
}

SEMANTICS_MAIN(cmocka_unit_test(rules_of_each_row), cmocka_unit_test(gradients_of_each_row),
               cmocka_unit_test(shared_memory), cmocka_unit_test(heads_cost_what_queries_do),
               cmocka_unit_test(rows_share_tasks), cmocka_unit_test(threads_change_no_bit))
