/*
 * What a query does not see does not exist: NaN and infinities in hidden keys, values, biases and
 * scores change nothing, and a row that sees nothing is zeros.
 */
#include "trial.h"

#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Decoding, decoding several rows, a head's tile and more than a task. */
static const int64_t QUERIES[] = {1, 5, 23, 130};

static const double POISONS[] = {NAN, INFINITY, -INFINITY};

/* Ways to hide keys; `hide` sets up rules of a problem and `set` the arrays' contents. */
typedef struct way {
    const char *name;
    void (*hide)(attn_problem_t *problem);
    void (*set)(trial_t *trial);
} way_t;

static void nothing(trial_t *trial) { (void)trial; }
static void by_top_left(attn_problem_t *p) { p->causal = ATTN_CAUSAL_TOP_LEFT; }
static void by_bottom_right(attn_problem_t *p) { p->causal = ATTN_CAUSAL_BOTTOM_RIGHT; }
static void by_window(attn_problem_t *p) { p->past = 9, p->window_left = 4, p->window_right = 2; }
static void by_lengths(attn_problem_t *p) { p->inputs |= ATTN_INPUT_KV_LENGTHS; }
static void by_mask(attn_problem_t *p) { p->inputs |= ATTN_INPUT_MASK; }
static void by_bias(attn_problem_t *p) { p->inputs |= ATTN_INPUT_BIAS; }
static void by_mask_with_bias(attn_problem_t *p) { p->inputs |= ATTN_INPUT_MASK | ATTN_INPUT_BIAS; }
static void by_lengths_with_bias(attn_problem_t *p) {
    p->inputs |= ATTN_INPUT_KV_LENGTHS | ATTN_INPUT_BIAS | ATTN_INPUT_SLOPES;
}
static void by_window_with_cap(attn_problem_t *p) { by_window(p), p->softcap = 2; }

static void short_lengths(trial_t *trial) {
    for (int64_t b = 0; b < trial->problem.batch; b++)
        typed_set(&trial->lengths, b, 0, 0, 0, (double)(b * trial->problem.keys / 2));
}

/* A bias that is NaN wherever another rule hides the key. */
static void poisoned_bias(trial_t *trial) {
    const attn_problem_t *p = &trial->problem;
    if (p->inputs & ATTN_INPUT_KV_LENGTHS) short_lengths(trial);
    trial_t other = *trial;
    other.problem.inputs &= ~(uint32_t)ATTN_INPUT_BIAS;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->heads; h++)
            for (int64_t i = 0; i < p->queries; i++)
                for (int64_t j = 0; j < p->keys; j++)
                    if (!trial_sees(&other, b, h, i, j))
                        typed_set(&trial->bias, b, h, i, j, POISONS[(i + j) % 3]);
}

static const way_t WAYS[] = {
    {"top-left", by_top_left, nothing},
    {"bottom-right", by_bottom_right, nothing},
    {"window", by_window, nothing},
    {"window and softcap", by_window_with_cap, nothing},
    {"key lengths", by_lengths, short_lengths},
    {"mask", by_mask, nothing},
    {"bias", by_bias, nothing},
    {"mask, bias", by_mask_with_bias, poisoned_bias},
    {"key lengths, bias, slopes", by_lengths_with_bias, poisoned_bias},
};

static int any_row_sees(const trial_t *trial, int64_t batch, int64_t kv_head, int64_t key) {
    const attn_problem_t *p = &trial->problem;
    const int64_t group = p->heads / p->kv_heads;
    for (int64_t h = kv_head * group; h < (kv_head + 1) * group; h++)
        for (int64_t i = 0; i < p->queries; i++)
            if (trial_sees(trial, batch, h, i, key)) return 1;
    return 0;
}

/*
 * Poison keys and values: all that no row sees, and of the others every `step`-th (0: none). A seen
 * key or its value, not both: a logit of -inf has weight 0, and 0 times NaN is nobody's promise.
 */
static void poison(trial_t *trial, int64_t step) {
    const attn_problem_t *p = &trial->problem;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->kv_heads; h++)
            for (int64_t j = 0; j < p->keys; j++) {
                const int seen = any_row_sees(trial, b, h, j);
                const double bad = POISONS[j % 3];
                if (seen && (step == 0 || j % step != step / 2)) continue;
                if (!seen || j % 2) typed_set(&trial->key, b, h, j, j % p->dim, seen ? NAN : bad);
                if (!seen || j % 2 == 0) typed_set(&trial->value, b, h, j, j % p->value_dim, bad);
            }
}

static void check_hidden(int64_t step, attn_dtype_t dtype) {
    attn_context_t *context = fixture_context(1);
    for (size_t n = 0; n < TEST_COUNT(QUERIES); n++)
        for (size_t w = 0; w < TEST_COUNT(WAYS); w++) {
            if (!test_takes_case()) continue;
            attn_problem_t problem = fixture_problem(2, 2, QUERIES[n], 70, 6, 19);
            problem.kv_heads = 1 + (int64_t)(w % 2);
            problem.dtype = problem.kv_dtype = dtype;
            problem.scores = (int32_t)((w + n) % 4);
            WAYS[w].hide(&problem);
            const look_t look = {.layout = (layout_t)((w + n) % LAYOUT_COUNT),
                                 .lse = 1,
                                 .scores = n % 2 == 0 && w % 2 == 0};
            trial_t trial = trial_create(&problem, &look);
            trial_label(&trial, WAYS[w].name);
            WAYS[w].set(&trial);
            poison(&trial, step);
            trial_solve(context, &trial);
            trial_compare(&trial);
            trial_destroy(&trial);
        }
    attn_context_destroy(context);
}

static void unseen_by_all(void **state) {
    (void)state;
    check_hidden(0, ATTN_F32);
    check_hidden(0, ATTN_F16);
}

/* Rows that see a poisoned key have what IEEE 754 gives; the others do not notice. */
static void seen_by_some(void **state) {
    (void)state;
    check_hidden(13, ATTN_F32);
    check_hidden(29, ATTN_BF16);
}

/* Zeros exactly, whatever hides the keys; lse is -inf, or the sink. */
static void rows_that_see_nothing(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t n = 0; n < TEST_COUNT(QUERIES); n++)
        for (int rule = 0; rule < 8; rule++) {
            if (!test_takes_case()) continue;
            attn_problem_t problem = fixture_problem(1, 2, QUERIES[n], 40, 7, 9);
            problem.inputs = rule & 1 ? ATTN_INPUT_SINKS : 0;
            if (rule / 2 == 0) problem.inputs |= ATTN_INPUT_MASK;
            if (rule / 2 == 1) problem.inputs |= ATTN_INPUT_BIAS;
            if (rule / 2 == 2) problem.inputs |= ATTN_INPUT_KV_LENGTHS;
            if (rule / 2 == 3) problem.past = 100, problem.window_left = 10;
            const look_t look = {.layout = LAYOUT_PADDED,
                                 .mask_axes = 7,
                                 .bias_axes = 7,
                                 .lse = 1,
                                 .scores = (int)(n % 2)};
            problem.scores = ATTN_SCORES_WEIGHTS;
            trial_t trial = trial_create(&problem, &look);
            trial_label(&trial, "rows that see nothing");
            for (int64_t j = 0; j < 40; j++) {
                if (rule / 2 == 0) typed_set(&trial.mask, 0, 0, 0, j, 0);
                if (rule / 2 == 1) typed_set(&trial.bias, 0, 0, 0, j, -INFINITY);
            }
            if (rule / 2 == 2) typed_set(&trial.lengths, 0, 0, 0, 0, 0);
            poison(&trial, 0);
            trial_solve(context, &trial);
            for (int64_t h = 0; h < 2; h++)
                for (int64_t i = 0; i < problem.queries; i++) {
                    const double lse = typed_get(&trial.lse.tensor, 0, h, i, 0);
                    const double expected =
                        rule & 1 ? typed_get(&trial.sinks.tensor, 0, h, 0, 0) : -INFINITY;
                    /* rounded to base 4 (constant and product) and back */
                    compare_number(lse, expected, 0x1p-22 * fabs(expected), "lse",
                                   (int64_t[4]){0, h, i, 0});
                    for (int64_t c = 0; c < 9; c++)
                        assert_true(typed_get(&trial.out.tensor, 0, h, i, c) == 0);
                }
            trial_compare(&trial);
            trial_destroy(&trial);
        }
    attn_context_destroy(context);
}

/* Scales of tokens past a sequence's length are never used, and may be anything. */
static void scales_past_the_length(void **state) {
    (void)state;
    static const double anything[] = {0, -1, NAN, INFINITY};
    attn_context_t *context = fixture_context(1);
    for (size_t n = 0; n < TEST_COUNT(QUERIES); n++) {
        attn_problem_t problem = fixture_problem(2, 2, QUERIES[n], 50, 7, 9);
        problem.kv_dtype = ATTN_I8;
        problem.inputs = ATTN_INPUT_KV_LENGTHS;
        const look_t look = {.layout = LAYOUT_PADDED, .lse = 1};
        trial_t trial = trial_create(&problem, &look);
        trial_label(&trial, "scales past the length");
        for (int64_t b = 0; b < 2; b++) {
            typed_set(&trial.lengths, b, 0, 0, 0, (double)(20 + 13 * b));
            for (int64_t h = 0; h < 2; h++)
                for (int64_t j = 20 + 13 * b; j < 50; j++) {
                    typed_set(&trial.key_scales, b, h, j, 0, anything[j % 4]);
                    typed_set(&trial.value_scales, b, h, j, 0, anything[(j + 1) % 4]);
                }
        }
        trial_solve(context, &trial);
        trial_compare(&trial);
        trial_destroy(&trial);
    }
    attn_context_destroy(context);
}

/* Values that no row sees, beside others that some see, change no bit of any row: nobody knows what stands behind the
 * tokens of a stream. */
static void unseen_values_change_no_bit(void **state) {
    (void)state;
    enum { ROWS = 97, COUNT = 130, WIDTH = 9 };
    static double before[ROWS][WIDTH];
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, ROWS, COUNT, 7, WIDTH);
    const look_t look = {.layout = LAYOUT_BHND};
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    trial_t trial = trial_create(&problem, &look);
    trial_label(&trial, "unseen values that are not finite");
    for (int spoilt = 0; spoilt < 2; spoilt++) {
        for (int64_t j = ROWS; spoilt && j < COUNT; j++)
            typed_set(&trial.value, 0, 0, j, j % WIDTH, j % 2 ? NAN : (double)INFINITY);
        trial_solve(context, &trial);
        for (int64_t i = 0; i < ROWS; i++)
            for (int64_t c = 0; c < WIDTH; c++) {
                const double out = typed_get(&trial.out.tensor, 0, 0, i, c);
                if (spoilt && out != before[i][c])
                    test_fail("row %d, column %d: %.9g, with finite values %.9g", (int)i, (int)c,
                              out, before[i][c]);
                before[i][c] = out;
            }
    }
    trial_destroy(&trial);
    attn_context_destroy(context);
}

/*
 * The most negative finite number as a bias is no mask: programs write it for one, and where it is
 * all a row has, its keys count alike, as in any computation that adds it to the logits.
 */
static void lowest_bias(void **state) {
    (void)state;
    static const double lowest[] = {-3.4028234663852886e38, -1e38, -2.5e38};
    attn_context_t *context = fixture_context(1);
    for (size_t n = 0; n < TEST_COUNT(QUERIES); n++)
        for (size_t l = 0; l < TEST_COUNT(lowest); l++) {
            attn_problem_t problem = fixture_problem(1, 1, QUERIES[n], 33, 7, 9);
            problem.inputs = ATTN_INPUT_BIAS;
            const look_t look = {.layout = LAYOUT_BHND};
            trial_t trial = trial_create(&problem, &look);
            trial_label(&trial, "lowest bias");
            for (int64_t i = 0; i < problem.queries; i++)
                for (int64_t j = 0; j < 33; j++)
                    typed_set(&trial.bias, 0, 0, i, j, i % 2 == 0 || j > 20 ? lowest[l] : 0);
            trial_solve(context, &trial);
            const double off = (2 * 33 + 24) * 0x1p-24 + trial_arithmetic(&trial).value;
            for (int64_t i = 0; i < problem.queries; i++)
                for (int64_t c = 0; c < 9; c++) {
                    double sum = 0, absolute = 0, seen = 0;
                    for (int64_t j = 0; j < 33; j++) {
                        const double value = typed_get(&trial.value.tensor, 0, 0, j, c);
                        if (!trial_sees(&trial, 0, 0, i, j)) continue;
                        sum += value;
                        absolute += fabs(value);
                        seen++;
                    }
                    const double out = typed_get(&trial.out.tensor, 0, 0, i, c);
                    if (seen == 0)
                        assert_true(out == 0);
                    else if (i % 2 == 0) /* equal weights: what is left are exact.c's sums */
                        compare_number(out, sum / seen, off * absolute / seen, "out",
                                       (int64_t[4]){0, 0, i, c});
                    assert_true(isfinite(out));
                }
            trial_destroy(&trial);
        }
    attn_context_destroy(context);
}

/* ---- work ---------------------------------------------------------------------------------------- */

/* Bytes of its workspace that a run changes. */
static uint64_t touched_bytes(const attn_context_t *context, const attn_problem_t *problem) {
    attn_plan_t *plan = fixture_plan(context, "softmax", problem, "");
    arrays_t arrays = arrays_create(problem, LAYOUT_BHND, 0);
    int64_t lengths[2] = {5, 40};
    if (problem->inputs & ATTN_INPUT_KV_LENGTHS)
        arrays.io.kv_lengths = attn_tensor_lengths(lengths, problem->batch);
    arrays_give_workspace(&arrays, plan);
    const uint64_t size = arrays.io.workspace_size;
    unsigned char *before = malloc(size);
    assert_non_null(before);
    memcpy(before, arrays.io.workspace, size);
    arrays_run(&arrays, plan); /* gives it another one, filled alike */
    const unsigned char *space = arrays.io.workspace;
    uint64_t touched = 0;
    for (uint64_t i = 0; i < size; i++) touched += space[i] != before[i];
    free(before);
    arrays_destroy(&arrays);
    attn_plan_destroy(plan);
    return touched;
}

/* Keys that no query sees by position or length are not packed either: of longer sequences a run has no more work. */
static void unseen_keys_cost_nothing(void **state) {
    (void)state;
    enum { QUERIES_PACKED = 70, SHORT = 256, LONG = 2048, DIM = 16 };
    attn_context_t *context = fixture_context(1);
    for (int way = 0; way < 3; way++) {
        uint64_t touched[2];
        for (int i = 0; i < 2; i++) {
            attn_problem_t problem =
                fixture_problem(2, 1, QUERIES_PACKED, i ? LONG : SHORT, DIM, DIM);
            if (way == 0) problem.causal = ATTN_CAUSAL_TOP_LEFT;
            if (way == 1) problem.past = problem.keys - 100, problem.window_left = 9;
            if (way == 1) problem.window_right = 3;
            if (way == 2) problem.inputs = ATTN_INPUT_KV_LENGTHS;
            touched[i] = touched_bytes(context, &problem);
        }
        /* A panel more where a window begins elsewhere in one; a quarter of all that are hidden is too many. */
        const uint64_t hidden = (LONG - SHORT) * DIM * sizeof(float);
        if (touched[1] > touched[0] + hidden / 4)
            test_fail("way %d: %" PRIu64 " bytes of workspace, %" PRIu64 " with more hidden keys",
                      way, touched[0], touched[1]);
    }
    attn_context_destroy(context);
}

SEMANTICS_MAIN(cmocka_unit_test(unseen_by_all), cmocka_unit_test(seen_by_some),
               cmocka_unit_test(rows_that_see_nothing), cmocka_unit_test(scales_past_the_length),
               cmocka_unit_test(lowest_bias), cmocka_unit_test(unseen_values_change_no_bit),
               cmocka_unit_test(unseen_keys_cost_nothing))
