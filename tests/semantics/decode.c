/* Decoding: splits of keys and their combining, the border to prefill, any number of threads, scores and weights. */
#include "trial.h"

#include "support/compare.h"
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPLIT = 1024 /* keys a split, as core/attention/kernels.h has it */ };

static void several_splits(void **state) {
    (void)state;
    if (!trial_is_dense()) return; /* there are no splits */
    static const int64_t lengths[] = {SPLIT - 1, SPLIT, SPLIT + 1, 2 * SPLIT + 70, 4 * SPLIT};
    attn_context_t *context = fixture_context(2);
    for (size_t l = 0; l < TEST_COUNT(lengths); l++)
        for (int kind = 0; kind < 9; kind++) {
            attn_problem_t problem = fixture_problem(1, 4, 1 + kind % 4, lengths[l], 9, 10);
            problem.kv_heads = kind % 2 ? 1 : 4;
            if (kind == 1) problem.past = lengths[l] - 3, problem.window_left = 40;
            if (kind == 2) problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT, problem.window_left = SPLIT;
            if (kind == 3) problem.inputs = ATTN_INPUT_KV_LENGTHS | ATTN_INPUT_SINKS;
            if (kind == 4) problem.inputs = ATTN_INPUT_SLOPES, problem.past = lengths[l] - 1;
            if (kind == 5) problem.inputs = ATTN_INPUT_MASK | ATTN_INPUT_BIAS;
            if (kind == 6) problem.kv_dtype = ATTN_I8;
            if (kind == 7) problem.dtype = problem.kv_dtype = ATTN_BF16, problem.softcap = 3;
            if (kind == 8) problem.kv_dtype = ATTN_F16, problem.causal = ATTN_CAUSAL_TOP_LEFT;
            const look_t look = {.layout = (layout_t)(kind % LAYOUT_COUNT), .lse = 1};
            trial_check(context, &problem, &look, "several splits");
        }
    attn_context_destroy(context);
}

/* The largest logit in each of the splits in turn: sums must be rescaled both ways. */
static void maximum_in_any_split(void **state) {
    (void)state;
    if (!trial_is_dense()) return; /* there are no splits */
    attn_context_t *context = fixture_context(1);
    for (int64_t at = 5; at < 3 * SPLIT; at += SPLIT / 2) {
        if (!test_takes_case()) continue;
        attn_problem_t problem = fixture_problem(1, 2, 2, 3 * SPLIT, 8, 8);
        problem.inputs = at % 2 ? ATTN_INPUT_SINKS : 0;
        const look_t look = {.layout = LAYOUT_BHND, .lse = 1};
        trial_t trial = trial_create(&problem, &look);
        trial_label(&trial, "maximum in a split");
        for (int64_t k = 0; k < 8; k++) typed_set(&trial.key, 0, 0, at, k, 12);
        for (int64_t k = 0; k < 8; k++) typed_set(&trial.key, 0, 1, at, k, -12);
        trial_solve(context, &trial);
        trial_compare(&trial);
        trial_destroy(&trial);
    }
    attn_context_destroy(context);
}

/* 48 rows decode and 49 do not; of many queries only where keys are many more. */
static void the_border(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{1, 1, 15}, {1, 1, 16}, {1, 1, 17}, {4, 2, 8},  {4, 2, 9},
                                       {16, 1, 1}, {17, 1, 1}, {6, 2, 5},  {6, 2, 6},  {8, 1, 2},
                                       {7, 1, 2},  {5, 5, 16}, {12, 4, 5}, {32, 2, 1}, {34, 2, 1},
                                       {48, 1, 1}, {49, 1, 1}, {12, 1, 4}, {1, 1, 25}, {1, 1, 26}};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(sizes); s++)
        for (int kind = 0; kind < 6; kind++) {
            attn_problem_t problem = fixture_problem(1, sizes[s][0], sizes[s][2], 100, 17, 20);
            problem.kv_heads = sizes[s][1];
            problem.causal = kind % 3;
            if (kind >= 3) problem.inputs = ATTN_INPUT_BIAS | ATTN_INPUT_SLOPES;
            const look_t look = {.layout = (layout_t)(kind % LAYOUT_COUNT), .lse = 1};
            trial_check(context, &problem, &look, "the border");
        }
    attn_context_destroy(context);
}

/* Rows go in groups of 4, 2 and 1, or of 2 and 1: every number of them, each type, whole vectors and
 * tails, all rows seeing the same or not. */
static void every_number_of_rows(void **state) {
    (void)state;
    if (!trial_is_dense()) return; /* there are no groups */
    static const attn_dtype_t types[] = {ATTN_F32, ATTN_F16, ATTN_BF16, ATTN_I8};
    attn_context_t *context = fixture_context(1);
    for (int64_t rows = 1; rows <= 48; rows += rows < 18 ? 1 : 15)
        for (size_t t = 0; t < TEST_COUNT(types); t++)
            for (int kind = 0; kind < 4; kind++) {
                const int64_t dim = kind % 2 ? 64 : 37;
                const int64_t heads = kind / 2 ? 1 : rows; /* queries of one head, or heads */
                attn_problem_t problem =
                    fixture_problem(1, heads, rows / heads, 171, dim, 201 - dim);
                problem.kv_heads = 1;
                problem.kv_dtype = types[t];
                if (kind == 2) problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT, problem.window_left = 20;
                if (kind == 3) problem.inputs = ATTN_INPUT_MASK | ATTN_INPUT_KV_LENGTHS;
                const look_t look = {.layout = (layout_t)((rows + kind) % LAYOUT_COUNT), .lse = 1};
                trial_check(context, &problem, &look, "every number of rows");
            }
    attn_context_destroy(context);
}

/* Vector tails of every length in d and dv. */
static void all_dimensions(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int64_t d = 1; d <= 36; d++) {
        attn_problem_t problem = fixture_problem(1, 1, 1 + d % 7, 71, d, 37 - d);
        const look_t look = {.layout = (layout_t)(d % 4), .lse = 1};
        trial_check(context, &problem, &look, "dimensions");
        problem = fixture_problem(1, 2, 1, 71, 5, 4 * d + 1); /* many columns of one row */
        problem.kv_dtype = d % 2 ? ATTN_F16 : ATTN_I8;
        trial_check(context, &problem, &look, "dimensions");
    }
    attn_context_destroy(context);
}

/* ---- threads --------------------------------------------------------------------------------- */

static attn_problem_t rich_problem(int number) {
    attn_problem_t problem = fixture_problem(2, 4, number % 2 ? 4 : 70, 1500, 12, 20);
    problem.kv_heads = number % 3 ? 4 : 1;
    problem.softcap = number & 4 ? 2.0f : 0.0f;
    problem.causal = number & 1 ? ATTN_CAUSAL_BOTTOM_RIGHT : ATTN_CAUSAL_NONE;
    if (number & 2) problem.inputs = ATTN_INPUT_MASK | ATTN_INPUT_BIAS | ATTN_INPUT_KV_LENGTHS;
    if (number & 4) problem.inputs |= ATTN_INPUT_SINKS | ATTN_INPUT_SLOPES;
    if (number >= 6) problem.kv_dtype = ATTN_F16;
    problem.scores = number % 4;
    return problem;
}

static void threads_change_no_bit(void **state) {
    (void)state;
    for (int number = 0; number < 8; number++) {
        if (!test_takes_case()) continue;
        const attn_problem_t problem = rich_problem(number);
        const look_t look = {.layout = LAYOUT_BNHD, .lse = 1, .scores = number % 4 == 2};
        trial_t one = trial_create(&problem, &look);
        attn_context_t *context = fixture_context(1);
        trial_solve(context, &one);
        attn_context_destroy(context);
        for (int threads = 2; threads <= 3; threads++) {
            trial_t many = trial_create(&problem, &look);
            trial_label(&many, threads == 2 ? "two threads" : "three threads");
            context = fixture_context(threads);
            trial_solve(context, &many);
            typed_check_same(&one.out, &many.out, "out");
            typed_check_same(&one.lse, &many.lse, "lse");
            if (look.scores) typed_check_same(&one.scores, &many.scores, "scores");
            trial_destroy(&many);
            attn_context_destroy(context);
        }
        trial_destroy(&one);
    }
}

/* ---- order of memory ------------------------------------------------------------------------- */

/* Keys and values whose heads stand side by side in each token, of some heads or of many, and of one row or several. */
static attn_problem_t token_problem(int number) {
    static const attn_dtype_t types[] = {ATTN_F32, ATTN_F16, ATTN_BF16, ATTN_I8};
    static const int64_t kv_heads[] = {2, 3, 8, 9}, groups[] = {1, 2, 5, 7};
    const int64_t shared = kv_heads[number % 4], group = groups[number / 4 % 4];
    attn_problem_t problem =
        fixture_problem(1 + number % 2, shared * group, 1, SPLIT * (1 + number % 3) + 77, 40, 33);
    problem.kv_heads = shared;
    problem.kv_dtype = types[(number + number / 4) % 4];
    if (number % 3 == 0) problem.inputs = ATTN_INPUT_SLOPES | ATTN_INPUT_KV_LENGTHS;
    if (number % 3 == 1) problem.inputs = ATTN_INPUT_MASK | ATTN_INPUT_SINKS;
    if (number % 5 == 0) problem.window_left = 900, problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    return problem;
}

/* A row comes to the same bits whatever the order of its keys in memory, and by any number of threads. */
static void order_of_memory_changes_no_bit(void **state) {
    (void)state;
    for (int number = 0; number < 16; number++) {
        if (!test_takes_case()) continue;
        const attn_problem_t problem = token_problem(number);
        trial_t heads = trial_create(&problem, &(look_t){.layout = LAYOUT_BHND, .lse = 1});
        attn_context_t *context = fixture_context(1);
        trial_label(&heads, "head by head");
        trial_solve(context, &heads);
        trial_compare(&heads);
        attn_context_destroy(context);
        for (int threads = 1; threads <= 3; threads += 2) {
            trial_t tokens = trial_create(&problem, &(look_t){.layout = LAYOUT_BNHD, .lse = 1});
            context = fixture_context(threads);
            trial_label(&tokens, "token by token");
            trial_solve(context, &tokens);
            typed_check_same(&heads.out, &tokens.out, "out");
            typed_check_same(&heads.lse, &tokens.lse, "lse");
            trial_destroy(&tokens);
            attn_context_destroy(context);
        }
        trial_destroy(&heads);
    }
}

/* ---- scores and weights ---------------------------------------------------------------------- */

/* What several rows and heads see of splits, by stage `stage` and with kinds of keys and rules that differ. */
static attn_problem_t scored_problem(int32_t stage, int64_t n) {
    static const attn_dtype_t types[] = {ATTN_F32, ATTN_F16, ATTN_BF16, ATTN_I8};
    static const uint32_t inputs[] = {ATTN_INPUT_SINKS, ATTN_INPUT_MASK,
                                      ATTN_INPUT_BIAS | ATTN_INPUT_SLOPES, ATTN_INPUT_KV_LENGTHS};
    attn_problem_t problem = fixture_problem(2, 4, n, SPLIT + 60, 6, 7);
    problem.kv_heads = n % 2 ? 2 : 1;
    problem.scores = stage;
    problem.causal = n % 3 ? ATTN_CAUSAL_BOTTOM_RIGHT : ATTN_CAUSAL_NONE;
    problem.inputs = inputs[(n + stage) % 4];
    problem.kv_dtype = types[n % 4];
    if (n % 5 == 0) problem.softcap = 1.5f;
    return problem;
}

/* Scores of each stage are exact attention's, and asking for them changes no bit of the output. */
static void scores_while_decoding(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    for (int32_t stage = 0; stage < 4; stage++)
        for (int64_t n = 1; n <= 8; n++) {
            if (!test_takes_case()) continue;
            const attn_problem_t problem = scored_problem(stage, n);
            const layout_t layout = (layout_t)((n + stage) % LAYOUT_COUNT);
            const look_t with = {.layout = layout, .lse = 1, .scores = 1};
            const look_t without = {.layout = layout, .lse = 1};
            trial_t scored = trial_create(&problem, &with);
            trial_t alone = trial_create(&problem, &without);
            trial_label(&scored, "scores while decoding");
            trial_solve(context, &alone);
            trial_solve(context, &scored);
            trial_compare(&scored);
            typed_check_same(&alone.out, &scored.out, "out");
            typed_check_same(&alone.lse, &scored.lse, "lse");
            trial_destroy(&scored);
            trial_destroy(&alone);
        }
    attn_context_destroy(context);
}

/* Weights of some queries, rows apart, of any batch and head; what is between the rows stays. */
static void weights_of_some_queries(void **state) {
    (void)state;
    enum { APART = 5 };
    attn_context_t *context = fixture_context(1);
    for (int64_t n = 2; n <= 12; n += 2) {
        if (!test_takes_case()) continue;
        const attn_problem_t problem = scored_problem(ATTN_SCORES_WEIGHTS, n);
        const int64_t stride = problem.keys + APART, batch = n / 2 % 2, head = n / 2 % 4;
        const look_t look = {.layout = (layout_t)(n / 2 % LAYOUT_COUNT)};
        trial_t trial = trial_create(&problem, &look);
        trial_label(&trial, "weights of some queries");
        attn_plan_t *plan = trial_plan(context, &problem);
        trial_give_workspace(plan, &trial);
        float *rows = malloc((size_t)(n * stride) * sizeof *rows);
        if (!rows) test_fail("the test itself has no memory");
        for (int64_t i = 0; i < n * stride; i++) rows[i] = -7;
        attn_error_t error = {0};
        if (attn_weights(plan, &trial.io, batch, head, 1, n - 1, rows, stride, &error) != ATTN_OK)
            test_fail("attn_weights: %s", error.message);
        exact_t exact = trial_exact(&trial);
        const arithmetic_t arithmetic = trial_arithmetic(&trial);
        for (int64_t r = 0; r < n - 1; r++) {
            exact_row(&exact, &problem, &trial.io, &arithmetic, batch, head, 1 + r);
            for (int64_t j = 0; j < problem.keys; j++)
                compare_number((double)rows[r * stride + j], exact.weight[j], exact.weight_bound[j],
                               "weights", (int64_t[]){batch, head, 1 + r, j});
            for (int64_t j = problem.keys; j < stride; j++) assert_true(rows[r * stride + j] == -7);
        }
        trial_check_workspace(&trial);
        exact_destroy(&exact);
        free(rows);
        attn_plan_destroy(plan);
        trial_destroy(&trial);
    }
    attn_context_destroy(context);
}

/* Rows of a key/value head that units of bf16 multiply, in one split of the keys and in several: fewer rows are decoded in
 * f32, more are prefilled. */
static const struct {
    int64_t batch, heads, kv_heads, queries, keys, dim, value_dim;
    int kind; /* of rules */
    int packed;
} PACKED[] = {
    {1, 120, 8, 1, 150, 40, 24, 2, 0},    {1, 15, 1, 1, 150, 40, 24, 0, 0},
    {1, 16, 1, 1, 1500, 40, 24, 0, 1},    {1, 128, 8, 1, 150, 40, 24, 2, 1},
    {2, 64, 4, 1, 150, 40, 24, 6, 1},     {1, 32, 8, 4, 2100, 33, 35, 2, 1},
    {1, 128, 1, 1, 1100, 576, 512, 7, 1}, {2, 25, 1, 5, 1300, 9, 18, 4, 1},
    {1, 43, 1, 1, 1030, 64, 64, 5, 1},    {1, 30, 2, 4, 1100, 8, 70, 3, 1},
    {1, 129, 1, 1, 150, 40, 24, 0, 0},
};

static attn_problem_t packed_problem(size_t i, attn_dtype_t dtype) {
    attn_problem_t problem = fixture_problem(PACKED[i].batch, PACKED[i].heads, PACKED[i].queries,
                                             PACKED[i].keys, PACKED[i].dim, PACKED[i].value_dim);
    problem.kv_heads = PACKED[i].kv_heads;
    problem.dtype = problem.kv_dtype = dtype;
    trial_set_rules(&problem, PACKED[i].kind);
    problem.kv_heads = PACKED[i].kv_heads;
    return problem;
}

static void rows_that_are_packed(void **state) {
    (void)state;
    const char *settings = trial_subject()->settings;
    const int asked = strcmp(settings, "precision=bf16") == 0; /* in f32, too */
    if (!trial_is_dense() || (*settings && !asked)) return;
    for (size_t i = 0; i < TEST_COUNT(PACKED); i++) {
        if (!test_takes_case()) continue;
        attn_context_t *context = fixture_context(1 + i % 2);
        const int multiplies = fixture_multiplies_bf16(context);
        const attn_problem_t problem = packed_problem(i, asked ? ATTN_F32 : ATTN_BF16);
        trial_t trial =
            trial_create(&problem, &(look_t){.layout = (layout_t)(i % LAYOUT_COUNT), .lse = 1});
        trial_label(&trial, "rows that are packed");
        attn_plan_t *plan = trial_plan(context, &problem);
        const int few = PACKED[i].packed || PACKED[i].heads / PACKED[i].kv_heads < 16;
        assert_int_equal(exact_parts(plan), multiplies && (PACKED[i].packed || !few));
        if (multiplies) assert_int_equal(strstr(attn_plan_kernel(plan), "decode") != NULL, few);
        trial_run(plan, &trial);
        trial_compare(&trial);
        attn_plan_destroy(plan);
        trial_destroy(&trial);
        attn_context_destroy(context);
    }
}

/* Threads share the splits of one head, and change no bit. */
static void threads_share_packed_splits(void **state) {
    (void)state;
    if (!trial_is_dense() || *trial_subject()->settings) return;
    const attn_problem_t problem = packed_problem(6, ATTN_BF16);
    trial_t one = trial_create(&problem, &(look_t){.lse = 1});
    trial_t many = trial_create(&problem, &(look_t){.lse = 1});
    trial_t *const trials[] = {&one, &many};
    for (int t = 0; t < 2; t++) {
        attn_context_t *context = fixture_context(1 + 2 * t);
        trial_solve(context, trials[t]);
        attn_context_destroy(context);
    }
    typed_check_same(&one.out, &many.out, "out");
    typed_check_same(&one.lse, &many.lse, "lse");
    trial_destroy(&one);
    trial_destroy(&many);
}

/* A run over a long cache needs little workspace, and scores and weights of its plan no more. */
static void room_for_a_long_cache(void **state) {
    (void)state;
    /* A pattern's splits depend on its blocks, and other precisions decode alike. */
    if (!trial_is_dense() || *trial_subject()->settings) return;
    enum { KEYS = 32768, HEADS = 8, DIM = 128, MOST = 1 << 20 };
    attn_context_t *context = fixture_context(1);
    for (int64_t kv_heads = 1; kv_heads <= HEADS; kv_heads += HEADS - 1) {
        if (!test_takes_case()) continue;
        attn_problem_t problem = fixture_problem(1, HEADS, 1, KEYS, DIM, DIM);
        problem.kv_heads = kv_heads;
        problem.scores = kv_heads > 1 ? ATTN_SCORES_WEIGHTS : ATTN_SCORES_MASKED;
        trial_t trial = trial_create(&problem, &(look_t){.lse = 1, .scores = 1});
        trial_label(&trial, "room for a long cache");
        attn_plan_t *plan = trial_plan(context, &problem);
        assert_non_null(strstr(attn_plan_kernel(plan), "decode"));
        if (attn_plan_workspace_size(plan) > MOST)
            test_fail("%" PRIu64 " bytes of workspace", attn_plan_workspace_size(plan));
        trial_run(plan, &trial);
        trial_compare(&trial);
        if (kv_heads == 1) trial_check_weights(plan, &trial);
        attn_plan_destroy(plan);
        trial_destroy(&trial);
    }
    attn_context_destroy(context);
}

SEMANTICS_MAIN(cmocka_unit_test(several_splits), cmocka_unit_test(maximum_in_any_split),
               cmocka_unit_test(the_border), cmocka_unit_test(every_number_of_rows),
               cmocka_unit_test(all_dimensions), cmocka_unit_test(threads_change_no_bit),
               cmocka_unit_test(order_of_memory_changes_no_bit),
               cmocka_unit_test(scores_while_decoding), cmocka_unit_test(weights_of_some_queries),
               cmocka_unit_test(rows_that_are_packed),
               cmocka_unit_test(threads_share_packed_splits),
               cmocka_unit_test(room_for_a_long_cache))
