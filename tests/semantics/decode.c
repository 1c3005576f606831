/* Decoding: splits of keys and their combining, the border to prefill, and any number of threads. */
#include "trial.h"

#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>

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

/* Asking for scores takes the way of prefill: the same output within both ways' bounds. */
static void scores_while_decoding(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int32_t stage = 0; stage < 4; stage++)
        for (int64_t n = 1; n <= 6; n++) {
            attn_problem_t problem = fixture_problem(1, 4, n, SPLIT + 60, 6, 7);
            problem.kv_heads = 2;
            problem.scores = stage;
            problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
            problem.inputs = n % 2 ? ATTN_INPUT_SINKS : ATTN_INPUT_MASK;
            const look_t look = {.layout = LAYOUT_PADDED, .lse = 1, .scores = 1};
            trial_check(context, &problem, &look, "scores while decoding");
        }
    attn_context_destroy(context);
}

SEMANTICS_MAIN(cmocka_unit_test(several_splits), cmocka_unit_test(maximum_in_any_split),
               cmocka_unit_test(the_border), cmocka_unit_test(every_number_of_rows),
               cmocka_unit_test(all_dimensions), cmocka_unit_test(threads_change_no_bit),
               cmocka_unit_test(scores_while_decoding))
