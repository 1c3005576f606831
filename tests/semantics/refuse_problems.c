/* Problems that contradict themselves are refused by name, as is what a backend lacks. */
#include "trial.h"

#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>

/* ---- problems -------------------------------------------------------------------------------- */

static const int64_t FAR = INT64_MAX / 2;

static void past_twice(attn_problem_t *p) { p->causal = ATTN_CAUSAL_BOTTOM_RIGHT, p->past = 7; }
static void past_below(attn_problem_t *p) { p->past = -FAR; }
static void past_far(attn_problem_t *p) { p->past = FAR; }
static void causal_4(attn_problem_t *p) { p->causal = 4; }
static void causal_below(attn_problem_t *p) { p->causal = -1; }
static void left_below(attn_problem_t *p) { p->window_left = -2; }
static void right_below(attn_problem_t *p) { p->window_right = -9; }
static void left_far(attn_problem_t *p) { p->window_left = FAR; }
static void right_far(attn_problem_t *p) { p->window_right = FAR; }
static void right_of_causal(attn_problem_t *p) {
    p->causal = ATTN_CAUSAL_TOP_LEFT, p->window_right = 3;
}
static void right_of_corner(attn_problem_t *p) {
    p->causal = ATTN_CAUSAL_BOTTOM_RIGHT, p->window_right = 1;
}
static void cap_below(attn_problem_t *p) { p->softcap = -0.5f; }
static void cap_nan(attn_problem_t *p) { p->softcap = NAN; }
static void cap_infinite(attn_problem_t *p) { p->softcap = INFINITY; }
static void scale_infinite(attn_problem_t *p) { p->scale = -INFINITY; }
static void input_unknown(attn_problem_t *p) { p->inputs = 1u << 9; }
static void scores_4(attn_problem_t *p) { p->scores = 4; }
static void scores_below(attn_problem_t *p) { p->scores = -1; }
static void dtype_i8(attn_problem_t *p) { p->dtype = ATTN_I8; }
static void dtype_f64(attn_problem_t *p) { p->dtype = ATTN_F64; }
static void dtype_none(attn_problem_t *p) { p->dtype = 0; }
static void kv_bool(attn_problem_t *p) { p->kv_dtype = ATTN_BOOL; }
static void kv_f64(attn_problem_t *p) { p->kv_dtype = ATTN_F64; }
static void kv_unknown(attn_problem_t *p) { p->kv_dtype = 77; }

static const struct {
    void (*spoil)(attn_problem_t *problem);
    attn_status_t status;
    const char *words;
} PROBLEMS[] = {
    {past_twice, ATTN_ERROR_ARGUMENT, "past|7|bottom-right"},
    {past_below, ATTN_ERROR_RANGE, "past is -4611686018427387903, must be -(2^61 - 1)"},
    {past_far, ATTN_ERROR_RANGE, "past is 4611686018427387903, must be -(2^61 - 1)"},
    {causal_4, ATTN_ERROR_ARGUMENT, "causal|4"},
    {causal_below, ATTN_ERROR_ARGUMENT, "causal|-1"},
    {left_below, ATTN_ERROR_RANGE, "window|-2"},
    {right_below, ATTN_ERROR_RANGE, "window|-9"},
    {left_far, ATTN_ERROR_RANGE, "window|4611686018427387903|to 2^61 - 1"},
    {right_far, ATTN_ERROR_RANGE, "window|4611686018427387903|to 2^61 - 1"},
    {right_of_causal, ATTN_ERROR_ARGUMENT, "window|3|causal"},
    {right_of_corner, ATTN_ERROR_ARGUMENT, "window|1|causal"},
    {cap_below, ATTN_ERROR_RANGE, "softcap|-0.5"},
    {cap_nan, ATTN_ERROR_RANGE, "softcap|finite"},
    {cap_infinite, ATTN_ERROR_RANGE, "softcap|finite"},
    {scale_infinite, ATTN_ERROR_RANGE, "scale"},
    {input_unknown, ATTN_ERROR_ARGUMENT, "inputs|0x200"},
    {scores_4, ATTN_ERROR_ARGUMENT, "scores|4"},
    {scores_below, ATTN_ERROR_ARGUMENT, "scores|-1"},
    {dtype_i8, ATTN_ERROR_DTYPE, "dtype|5"},
    {dtype_f64, ATTN_ERROR_DTYPE, "dtype|2"},
    {dtype_none, ATTN_ERROR_DTYPE, "dtype|0"},
    {kv_bool, ATTN_ERROR_DTYPE, "kv_dtype|6"},
    {kv_f64, ATTN_ERROR_DTYPE, "kv_dtype|2"},
    {kv_unknown, ATTN_ERROR_DTYPE, "kv_dtype|77"},
};

static void wrong_problems(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(PROBLEMS); i++) {
        attn_problem_t problem = fixture_problem(1, 2, 3, 4, 5, 6);
        attn_error_t error = {0};
        test_label("problem %zu: %s", i, PROBLEMS[i].words);
        assert_int_equal(attn_problem_check(&problem, &error), ATTN_OK);
        PROBLEMS[i].spoil(&problem);
        fixture_expect(attn_problem_check(&problem, &error), &error, PROBLEMS[i].status,
                       PROBLEMS[i].words);
        fixture_refuse_plan(context, trial_subject()->backend, &problem, NULL, PROBLEMS[i].status,
                            PROBLEMS[i].words);
        assert_int_equal(attn_problem_check(&problem, NULL), PROBLEMS[i].status);
    }
    attn_context_destroy(context);
}

/* ---- backends -------------------------------------------------------------------------------- */

static void needs_causal(attn_problem_t *p) { p->causal = ATTN_CAUSAL_TOP_LEFT; }
static void needs_groups(attn_problem_t *p) { p->kv_heads = 1; }
static void needs_past(attn_problem_t *p) { p->past = 2; }
static void needs_window(attn_problem_t *p) { p->window_left = 2; }
static void needs_right_window(attn_problem_t *p) { p->window_right = 2; }
static void needs_softcap(attn_problem_t *p) { p->softcap = 2; }
static void needs_bias(attn_problem_t *p) { p->inputs = ATTN_INPUT_BIAS; }
static void needs_mask(attn_problem_t *p) { p->inputs = ATTN_INPUT_MASK; }
static void needs_lengths(attn_problem_t *p) { p->inputs = ATTN_INPUT_KV_LENGTHS; }
static void needs_sinks(attn_problem_t *p) { p->inputs = ATTN_INPUT_SINKS; }
static void needs_slopes(attn_problem_t *p) { p->inputs = ATTN_INPUT_SLOPES; }
static void needs_half(attn_problem_t *p) { p->dtype = ATTN_BF16; }
static void needs_half_cache(attn_problem_t *p) { p->kv_dtype = ATTN_F16; }
static void needs_i8(attn_problem_t *p) { p->kv_dtype = ATTN_I8; }

static const struct {
    uint64_t feature;
    void (*apply)(attn_problem_t *problem);
    const char *word;
} NEEDS[] = {
    {ATTN_FEATURE_CAUSAL, needs_causal, "causal"},
    {ATTN_FEATURE_GROUPED_HEADS, needs_groups, "grouped heads"},
    {ATTN_FEATURE_PAST, needs_past, "past"},
    {ATTN_FEATURE_WINDOW, needs_window, "window"},
    {ATTN_FEATURE_WINDOW, needs_right_window, "window"},
    {ATTN_FEATURE_SOFTCAP, needs_softcap, "softcap"},
    {ATTN_FEATURE_BIAS, needs_bias, "bias"},
    {ATTN_FEATURE_MASK, needs_mask, "mask"},
    {ATTN_FEATURE_KV_LENGTHS, needs_lengths, "key lengths"},
    {ATTN_FEATURE_SINKS, needs_sinks, "sinks"},
    {ATTN_FEATURE_SLOPES, needs_slopes, "ALiBi"},
    {ATTN_FEATURE_HALF, needs_half, "f16"},
    {ATTN_FEATURE_HALF, needs_half_cache, "f16"},
    {ATTN_FEATURE_INT8, needs_i8, "i8"},
};

/* What a backend does not declare it refuses by name; the subjects declare all. */
static void features_that_lack(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (uint32_t b = 0; b < attn_backend_count(context); b++) {
        const attn_backend_t *backend = attn_backend_at(context, b);
        for (size_t i = 0; i < TEST_COUNT(NEEDS); i++) {
            attn_problem_t problem = fixture_problem(1, 2, 8, 8, 4, 4);
            NEEDS[i].apply(&problem);
            attn_plan_t *plan = NULL;
            attn_error_t error = {0};
            const attn_status_t status =
                fixture_try_plan(context, backend->id, &problem, NULL, &plan, &error);
            test_label("%s and %s", backend->id, NEEDS[i].word);
            if ((backend->features & NEEDS[i].feature) == NEEDS[i].feature) {
                assert_int_equal(status, ATTN_OK);
                attn_plan_destroy(plan);
                continue;
            }
            char words[64];
            snprintf(words, sizeof words, "%s|%s", backend->id, NEEDS[i].word);
            fixture_expect(status, &error, ATTN_ERROR_UNSUPPORTED, words);
            assert_null(plan);
        }
    }
    const attn_backend_t *subject = attn_backend_find(context, trial_subject()->backend);
    for (size_t i = 0; i < TEST_COUNT(NEEDS); i++)
        assert_true((subject->features & NEEDS[i].feature) == NEEDS[i].feature);
    attn_context_destroy(context);
}

SEMANTICS_MAIN(cmocka_unit_test(wrong_problems), cmocka_unit_test(features_that_lack))
