/* What a plan says of its cost: the pairs counted one by one, and at sizes where that would take for ever. */
#include "support/fixture.h"
#include "support/reference.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/** The sequences of the large problems: one array of them still fits in an address space. */
static const int64_t LONG = PTRDIFF_MAX / 256 + 1;

static double pairs_of(const attn_context_t *context, const char *backend,
                       const attn_problem_t *problem, const char *settings) {
    attn_plan_t *plan = fixture_plan(context, backend, problem, settings);
    attn_cost_t cost = {.struct_size = sizeof cost};
    assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
    attn_plan_destroy(plan);
    return cost.pairs;
}

static void expect_pairs(const attn_context_t *context, const char *backend,
                         const attn_problem_t *p, const char *settings, double expected) {
    test_label("%s %s: n %" PRId64 " m %" PRId64 " causal %d past %" PRId64 " window %" PRId64
               ",%" PRId64,
               backend, settings ? settings : "", p->queries, p->keys, p->causal, p->past,
               p->window_left, p->window_right);
    const double pairs = pairs_of(context, backend, p, settings);
    if (pairs != expected) test_fail("%.17g pairs, not %.17g", pairs, expected);
}

static int64_t draw(int64_t count) {
    static uint64_t index;
    return fixture_draw(index++, count);
}

/** Short, n and m independent, so that rows with no key and with all keys are common. */
static attn_problem_t short_problem(void) {
    attn_problem_t problem =
        fixture_problem(1 + draw(2), 2 * (1 + draw(2)), 1 + draw(24), 1 + draw(24), 3, 2);
    problem.kv_heads = 1 + draw(2);
    problem.causal = (int32_t)draw(3);
    return problem;
}

/** With a past, windows, and arrays that the plan cannot know and count for nothing. */
static attn_problem_t short_problem_with_rules(void) {
    attn_problem_t problem = short_problem();
    if (problem.causal != ATTN_CAUSAL_BOTTOM_RIGHT) problem.past = draw(2) * draw(40);
    problem.window_left = draw(26) - 1;
    problem.window_right = problem.causal ? draw(2) - 1 : draw(26) - 1;
    if (draw(4) == 0) problem.inputs = ATTN_INPUT_KV_LENGTHS;
    return problem;
}

/** Queries and output, and of each key/value head so many keys and values: of i8 with their scales. */
static double bytes_of(const attn_problem_t *p, double keys) {
    const double query = (double)attn_dtype_size(p->dtype), width = (double)(p->dim + p->value_dim);
    const double key = (double)attn_dtype_size(p->kv_dtype) * width + (p->kv_dtype == ATTN_I8) * 8;
    return (double)(p->batch * p->heads * p->queries) * query * width +
           (double)(p->batch * p->kv_heads) * keys * key;
}

static void expect_bytes(const attn_context_t *context, const char *backend,
                         const attn_problem_t *p, const char *settings, double expected) {
    attn_plan_t *plan = fixture_plan(context, backend, p, settings);
    attn_cost_t cost = {.struct_size = sizeof cost};
    assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
    attn_plan_destroy(plan);
    test_label("%s %s: n %" PRId64 " m %" PRId64 " causal %d past %" PRId64 " window %" PRId64
               ",%" PRId64,
               backend, settings ? settings : "", p->queries, p->keys, p->causal, p->past,
               p->window_left, p->window_right);
    if (cost.bytes != expected) test_fail("%.17g bytes, not %.17g", cost.bytes, expected);
}

/** Keys that some query sees by position, counted one by one. */
static double keys_seen(const attn_problem_t *problem) {
    double seen = 0;
    for (int64_t j = 0; j < problem->keys; j++)
        for (int64_t i = 0; i < problem->queries; i++) {
            int64_t first, last;
            attn_key_range(problem, problem->keys, i, &first, &last);
            if (first > j || j >= last) continue;
            seen++;
            break;
        }
    return seen;
}

static void windows_pair_by_pair(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int trial = 0; trial < 5000; trial++) {
        const attn_problem_t problem = short_problem_with_rules();
        double seen = 0;
        for (int64_t i = 0; i < problem.queries; i++) {
            int64_t first, last;
            attn_key_range(&problem, problem.keys, i, &first, &last);
            seen += (double)(last - first);
        }
        expect_pairs(context, "softmax", &problem, NULL,
                     seen * (double)(problem.batch * problem.heads));
    }
    attn_context_destroy(context);
}

/** Bytes are of the keys that are seen, once for all query heads that share them, in every type. */
static void bytes_of_the_keys_seen(void **state) {
    (void)state;
    static const attn_dtype_t dtypes[] = {ATTN_F32, ATTN_F16, ATTN_BF16, ATTN_I8};
    attn_context_t *context = fixture_context(1);
    for (int trial = 0; trial < 5000; trial++) {
        attn_problem_t problem = short_problem_with_rules();
        problem.kv_dtype = dtypes[draw(4)];
        problem.dtype = problem.kv_dtype == ATTN_I8 ? ATTN_F32 : problem.kv_dtype;
        expect_bytes(context, "softmax", &problem, NULL, bytes_of(&problem, keys_seen(&problem)));
    }
    for (int trial = 0; trial < 1000; trial++) {
        const attn_problem_t problem = short_problem();
        const double seen = keys_seen(&problem);
        expect_bytes(context, "linear", &problem, NULL, bytes_of(&problem, seen));
        expect_bytes(context, "sketch", &problem, "method=gaussian,size=2",
                     bytes_of(&problem, seen));
        const double hidden = (double)problem.keys - seen; /* which scores are of, too */
        expect_bytes(context, "sketch", &problem, "method=leverage,size=2",
                     bytes_of(&problem, seen) +
                         4 * hidden * (double)(problem.dim * problem.kv_heads * problem.batch));
    }
    attn_context_destroy(context);
}

/** What linear attention adds up is of the tokens that some query sees. */
static void linear_work_is_of_the_keys_seen(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t one = fixture_problem(1, 2, 1, 4096, 8, 8), all = one;
    one.causal = ATTN_CAUSAL_TOP_LEFT, all.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    attn_problem_t alone = fixture_problem(1, 2, 1, 1, 8, 8);
    attn_cost_t costs[3];
    const attn_problem_t *problems[3] = {&one, &all, &alone};
    for (int i = 0; i < 3; i++) {
        costs[i] = (attn_cost_t){.struct_size = sizeof costs[i]};
        attn_plan_t *plan = fixture_plan(context, "linear", problems[i], NULL);
        assert_int_equal(attn_plan_cost(plan, &costs[i], NULL), ATTN_OK);
        attn_plan_destroy(plan);
    }
    assert_true(costs[0].flops == costs[2].flops && costs[1].flops > 1000 * costs[0].flops);
    attn_context_destroy(context);
}

static double seen_pairs(const formula_t *formula, const attn_problem_t *problem) {
    double seen = 0;
    for (int64_t i = 0; i < problem->queries; i++)
        for (int64_t j = 0; j < problem->keys; j++) seen += reference_sees(formula, problem, i, j);
    return seen * (double)(problem->batch * problem->heads);
}

static void patterns_pair_by_pair(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int trial = 0; trial < 10000; trial++) {
        const attn_problem_t problem = trial % 2 ? short_problem() : short_problem_with_rules();
        formula_t formula = {.form = FORM_SPARSE, .block = 1 + draw(9), .local = 1 + draw(4)};
        formula.global = draw(10);
        char settings[96];
        snprintf(settings, sizeof settings, "block=%" PRId64 ",local=%" PRId64 ",global=%" PRId64,
                 formula.block, formula.local, formula.global);
        expect_pairs(context, "sparse", &problem, settings, seen_pairs(&formula, &problem));
    }
    attn_context_destroy(context);
}

static void causal_pair_by_pair(void **state) {
    (void)state;
    static const formula_t dense = {.form = FORM_SOFTMAX};
    attn_context_t *context = fixture_context(1);
    for (int trial = 0; trial < 1000; trial++) {
        const attn_problem_t problem = short_problem();
        const double seen = seen_pairs(&dense, &problem);
        expect_pairs(context, "linear", &problem, NULL, seen);
        expect_pairs(context, "sketch", &problem, "size=2", seen);
    }
    attn_context_destroy(context);
}

/** Keys of a head that some query keeps. */
static double kept_keys(const formula_t *formula, const attn_problem_t *problem) {
    double kept = 0;
    for (int64_t j = 0; j < problem->keys; j++)
        for (int64_t i = 0; i < problem->queries; i++)
            if (reference_sees(formula, problem, i, j)) {
                kept++;
                break;
            }
    return kept;
}

static void bytes_of_the_keys_that_patterns_keep(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int trial = 0; trial < 5000; trial++) {
        const attn_problem_t problem = trial % 2 ? short_problem() : short_problem_with_rules();
        formula_t formula = {.form = FORM_SPARSE, .block = 1 + draw(9), .local = 1 + draw(4)};
        formula.global = draw(10);
        char settings[96];
        snprintf(settings, sizeof settings, "block=%" PRId64 ",local=%" PRId64 ",global=%" PRId64,
                 formula.block, formula.local, formula.global);
        expect_bytes(context, "sparse", &problem, settings,
                     bytes_of(&problem, kept_keys(&formula, &problem)));
    }
    /* Of more keys than are marked, a single query still keeps each once. */
    attn_problem_t decode = fixture_problem(1, 4, 1, 1 << 20, 8, 8);
    decode.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    expect_bytes(context, "sparse", &decode, "block=64,global=0", bytes_of(&decode, 64));
    attn_context_destroy(context);
}

/** Exact integers, rounded once: what stands for the difference of two far larger sums, too. */
static void long_sequences(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const double n = (double)LONG, w = 1000;
    attn_problem_t problem = fixture_problem(1, 1, LONG, LONG, 1, 1);
    expect_pairs(context, "softmax", &problem, NULL, n * n);
    expect_pairs(context, "linear", &problem, NULL, n * n);
    problem.causal = ATTN_CAUSAL_TOP_LEFT; // n is a power of 2: products with it are exact
    expect_pairs(context, "softmax", &problem, NULL, n / 2 * n + n / 2);
    expect_pairs(context, "linear", &problem, NULL, n / 2 * n + n / 2);
    problem.window_left = 1000;
    expect_pairs(context, "softmax", &problem, NULL, n * (w + 1) - w * (w + 1) / 2);
    problem.causal = ATTN_CAUSAL_NONE, problem.window_right = 1000;
    expect_pairs(context, "softmax", &problem, NULL, n * (2 * w + 1) - w * (w + 1));

    problem.window_right = -1; // query i sees the keys from i + 5 on
    problem.queries = 3, problem.past = INT64_MAX / 4, problem.window_left = problem.past - 5;
    expect_pairs(context, "softmax", &problem, NULL, (double)(3 * LONG - 5 - 6 - 7));
    problem.window_left = 5;
    expect_pairs(context, "softmax", &problem, NULL, 0);
    attn_context_destroy(context);
}

static void long_patterns(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const double n = (double)LONG, b = 65536;
    attn_problem_t problem = fixture_problem(1, 1, LONG, LONG, 1, 1);
    expect_pairs(context, "sparse", &problem, "block=65536,global=0",
                 n * (2 * b - 1) - b * (b - 1));
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    expect_pairs(context, "sparse", &problem, "block=65536,global=0", n * b - b * (b - 1) / 2);

    // The list of global keys and a head are in memory: q blocks with one global key each.
    const double q = sizeof(void *) > 4 ? 0x1p18 : 0x1p4;
    problem.queries = problem.keys = (int64_t)(b * q);
    expect_pairs(context, "sparse", &problem, "block=65536,global=1",
                 q * b * b - b * (b - 1) / 2 + b * (q - 1) * (q - 2) / 2 + q - 1);
    attn_context_destroy(context);
}

/** What a plan does not count it does not know: pairs of dense attention are no pattern's. */
static void more_queries_than_are_counted(void **state) {
    (void)state;
    static const char *const patterns[] = {"fixed",   "strided", "window", "longformer",
                                           "bigbird", "dilated", "topk",   "topkeys"};
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, (1 << 24) + 1, 64, 1, 1);
    for (size_t p = 0; p < TEST_COUNT(patterns); p++) {
        char settings[64];
        attn_cost_t cost = {.struct_size = sizeof cost};
        snprintf(settings, sizeof settings, "pattern=%s", patterns[p]);
        test_label("%s", settings);
        attn_plan_t *plan = fixture_plan(context, "sparse", &problem, settings);
        assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
        attn_plan_destroy(plan);
        if (!isnan(cost.pairs) || !isnan(cost.computed) || !isnan(cost.flops))
            test_fail("%.17g pairs, %.17g computed", cost.pairs, cost.computed);
    }
    // Eq. 6 has a formula: key j is seen by the first j + 64 queries
    expect_pairs(context, "sparse", &problem, "block=64,global=0", 64.0 * 64 + 64.0 * 63 / 2);
    attn_context_destroy(context);
}

/* Blocks of one key: nor does it count for ever. What topk chooses of them is as many for each. */
static void more_runs_than_are_counted(void **state) {
    (void)state;
    static const char *const settings[] = {
        "pattern=strided,block=1", "pattern=strided,block=1,local=65536",
        "pattern=strided,block=1,stride=2", "pattern=bigbird,block=1,random=20"};
    attn_context_t *context = fixture_context(1);
    const int64_t n = 1 << 20;
    attn_problem_t problem = fixture_problem(1, 1, n, n, 1, 1);
    for (size_t p = 0; p < TEST_COUNT(settings); p++)
        if (!isnan(pairs_of(context, "sparse", &problem, settings[p])))
            test_fail("%s is counted", settings[p]);
    expect_pairs(context, "sparse", &problem, "pattern=topk,block=1,top=8", 9.0 * (double)n);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(bytes_of_the_keys_seen),
          cmocka_unit_test(linear_work_is_of_the_keys_seen),
          cmocka_unit_test(bytes_of_the_keys_that_patterns_keep),
          cmocka_unit_test(windows_pair_by_pair), cmocka_unit_test(patterns_pair_by_pair),
          cmocka_unit_test(causal_pair_by_pair), cmocka_unit_test(long_sequences),
          cmocka_unit_test(long_patterns), cmocka_unit_test(more_queries_than_are_counted),
          cmocka_unit_test(more_runs_than_are_counted))
