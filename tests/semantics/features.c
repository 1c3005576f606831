/* Every feature of softmax alone and with every other, on both sides of the border to decoding. */
#include "trial.h"

#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* What a feature changes of a problem and its arrays. */
typedef struct feature {
    const char *name;
    void (*apply)(attn_problem_t *problem, look_t *look);
} feature_t;

static void top_left(attn_problem_t *p, look_t *f) { (void)f, p->causal = ATTN_CAUSAL_TOP_LEFT; }
static void bottom_right(attn_problem_t *p, look_t *f) {
    (void)f, p->causal = ATTN_CAUSAL_BOTTOM_RIGHT;
}
static void past(attn_problem_t *p, look_t *f) { (void)f, p->past = p->keys / 3 + 1; }
static void far_past(attn_problem_t *p, look_t *f) { (void)f, p->past = p->keys + 20; }
static void early(attn_problem_t *p, look_t *f) { (void)f, p->past = -(p->queries / 2 + 1); }
static void window(attn_problem_t *p, look_t *f) {
    (void)f, p->window_left = 7, p->window_right = 4;
}
static void left_window(attn_problem_t *p, look_t *f) { (void)f, p->window_left = 3; }
static void right_window(attn_problem_t *p, look_t *f) { (void)f, p->window_right = 0; }
static void softcap(attn_problem_t *p, look_t *f) { (void)f, p->softcap = 1.5f; }
static void bias(attn_problem_t *p, look_t *f) { (void)f, p->inputs |= ATTN_INPUT_BIAS; }
static void row_bias(attn_problem_t *p, look_t *f) {
    p->inputs |= ATTN_INPUT_BIAS, f->bias_axes = 4;
}
static void shared_bias(attn_problem_t *p, look_t *f) {
    p->inputs |= ATTN_INPUT_BIAS, f->bias_axes = 3;
}
static void mask(attn_problem_t *p, look_t *f) { (void)f, p->inputs |= ATTN_INPUT_MASK; }
static void shared_mask(attn_problem_t *p, look_t *f) {
    p->inputs |= ATTN_INPUT_MASK, f->mask_axes = 2;
}
static void row_mask(attn_problem_t *p, look_t *f) {
    p->inputs |= ATTN_INPUT_MASK, f->mask_axes = 7;
}
static void lengths(attn_problem_t *p, look_t *f) { (void)f, p->inputs |= ATTN_INPUT_KV_LENGTHS; }
static void grouped(attn_problem_t *p, look_t *f) { (void)f, p->kv_heads = 2; }
static void one_group(attn_problem_t *p, look_t *f) { (void)f, p->kv_heads = 1; }
static void sinks(attn_problem_t *p, look_t *f) { (void)f, p->inputs |= ATTN_INPUT_SINKS; }
static void slopes(attn_problem_t *p, look_t *f) { (void)f, p->inputs |= ATTN_INPUT_SLOPES; }
static void f16(attn_problem_t *p, look_t *f) { (void)f, p->dtype = p->kv_dtype = ATTN_F16; }
static void bf16(attn_problem_t *p, look_t *f) { (void)f, p->dtype = p->kv_dtype = ATTN_BF16; }
static void bf16_query(attn_problem_t *p, look_t *f) { (void)f, p->dtype = ATTN_BF16; }
static void f16_cache(attn_problem_t *p, look_t *f) { (void)f, p->kv_dtype = ATTN_F16; }
static void i8_cache(attn_problem_t *p, look_t *f) { (void)f, p->kv_dtype = ATTN_I8; }
static void scale(attn_problem_t *p, look_t *f) { (void)f, p->scale = -0.4f; }
static void raw(attn_problem_t *p, look_t *f) { f->scores = 1, p->scores = ATTN_SCORES_RAW; }
static void capped(attn_problem_t *p, look_t *f) { f->scores = 1, p->scores = ATTN_SCORES_CAPPED; }
static void masked(attn_problem_t *p, look_t *f) { f->scores = 1, p->scores = ATTN_SCORES_MASKED; }
static void weights(attn_problem_t *p, look_t *f) {
    f->scores = 1, p->scores = ATTN_SCORES_WEIGHTS;
}

#define FEATURE(name)                                                                              \
    { #name, name }
static const feature_t FEATURES[] = {
    FEATURE(top_left), FEATURE(bottom_right), FEATURE(past),        FEATURE(far_past),
    FEATURE(early),    FEATURE(window),       FEATURE(left_window), FEATURE(right_window),
    FEATURE(softcap),  FEATURE(bias),         FEATURE(row_bias),    FEATURE(shared_bias),
    FEATURE(mask),     FEATURE(shared_mask),  FEATURE(row_mask),    FEATURE(lengths),
    FEATURE(grouped),  FEATURE(one_group),    FEATURE(sinks),       FEATURE(slopes),
    FEATURE(f16),      FEATURE(bf16),         FEATURE(bf16_query),  FEATURE(f16_cache),
    FEATURE(i8_cache), FEATURE(scale),        FEATURE(raw),         FEATURE(capped),
    FEATURE(masked),   FEATURE(weights),
};
enum { FEATURE_COUNT = TEST_COUNT(FEATURES) };

/* Sizes on both sides of 16 rows (queries times group), and around vectors, panels and blocks. */
static const struct {
    int64_t n, m, d, dv;
} SIZES[] = {
    {1, 67, 19, 21}, {3, 5, 8, 33},   {4, 131, 5, 3},   {5, 40, 16, 17},
    {16, 65, 7, 9},  {17, 33, 24, 5}, {29, 131, 9, 18}, {14, 14, 37, 16},
};

static attn_problem_t plain_problem(size_t size) {
    return fixture_problem(2, 4, SIZES[size].n, SIZES[size].m, SIZES[size].d, SIZES[size].dv);
}

static look_t drawn_look(uint64_t number) {
    return (look_t){.layout = (layout_t)fixture_draw(3 * number, LAYOUT_COUNT),
                    .lse = fixture_draw(3 * number + 1, 3) != 0};
}

/* The two contradictions that features can make; problem.c's own tests are in refuse.c. */
static int contradicts(const attn_problem_t *p) {
    return (p->past && p->causal == ATTN_CAUSAL_BOTTOM_RIGHT) ||
           (p->causal != ATTN_CAUSAL_NONE && p->window_right > 0);
}

/* What a small build has not. */
static int is_left_out(const attn_problem_t *p, const look_t *look) {
    return ATTN_SMALL && (p->dtype != ATTN_F32 || p->kv_dtype != ATTN_F32 || look->scores);
}

static void alone(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    uint64_t number = 5000;
    for (size_t s = 0; s < TEST_COUNT(SIZES); s++)
        for (size_t f = 0; f < FEATURE_COUNT; f++) {
            attn_problem_t problem = plain_problem(s);
            look_t look = drawn_look(++number);
            FEATURES[f].apply(&problem, &look);
            if (is_left_out(&problem, &look)) continue;
            trial_check(context, &problem, &look, FEATURES[f].name);
            if (trial_has_gradients(context, &problem) && test_takes_case())
                trial_check_gradients(context, &problem, &look);
        }
    attn_context_destroy(context);
}

static void in_pairs(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    uint64_t number = 10000;
    for (size_t f = 0; f < FEATURE_COUNT; f++)
        for (size_t g = f + 1; g < FEATURE_COUNT; g++) {
            attn_problem_t problem =
                plain_problem((size_t)fixture_draw(++number, (int64_t)TEST_COUNT(SIZES)));
            look_t look = drawn_look(++number);
            char name[64];
            FEATURES[f].apply(&problem, &look);
            FEATURES[g].apply(&problem, &look);
            if (contradicts(&problem) || is_left_out(&problem, &look)) continue;
            snprintf(name, sizeof name, "%s and %s", FEATURES[f].name, FEATURES[g].name);
            trial_check(context, &problem, &look, name);
        }
    attn_context_destroy(context);
}

/* Unless a small build would refuse the problem. */
static void apply_known(const feature_t *feature, attn_problem_t *problem, look_t *look) {
    const attn_problem_t before = *problem;
    const look_t looked = *look;
    feature->apply(problem, look);
    if (!is_left_out(problem, look)) return;
    *problem = before;
    *look = looked;
}

/* A third of all features at a time. */
static void in_crowds(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(2);
    for (uint64_t number = 0; number < 250; number++) {
        const uint64_t first = 100000 + 100 * number;
        attn_problem_t problem =
            fixture_problem(1 + fixture_draw(first, 3), 4, 1 + fixture_draw(first + 1, 24),
                            1 + fixture_draw(first + 2, 150), 1 + fixture_draw(first + 3, 40),
                            1 + fixture_draw(first + 4, 40));
        look_t look = drawn_look(first / 3 + 2);
        for (size_t f = 0; f < FEATURE_COUNT; f++)
            if (fixture_draw(first + 10 + f, 3) == 0) apply_known(&FEATURES[f], &problem, &look);
        if (problem.causal == ATTN_CAUSAL_BOTTOM_RIGHT) problem.past = 0;
        if (problem.causal != ATTN_CAUSAL_NONE && problem.window_right > 0)
            problem.window_right = 0;
        char name[32];
        snprintf(name, sizeof name, "crowd %" PRIu64, number);
        trial_check(context, &problem, &look, name);
    }
    attn_context_destroy(context);
}

/* attn_weights() with every feature that changes weights. */
static void weights_of_features(void **state) {
    (void)state;
    if (ATTN_SMALL) return; /* it tells no weights */
    attn_context_t *context = fixture_context(1);
    uint64_t number = 20000;
    for (size_t f = 0; f < FEATURE_COUNT; f++)
        for (size_t s = 0; s < TEST_COUNT(SIZES); s += 3) {
            attn_problem_t problem = plain_problem(s);
            look_t look = drawn_look(++number);
            FEATURES[f].apply(&problem, &look);
            if (!test_takes_case()) continue;
            trial_t trial = trial_create(&problem, &look);
            trial_label(&trial, FEATURES[f].name);
            attn_plan_t *plan = trial_plan(context, &problem);
            trial_check_weights(plan, &trial);
            attn_plan_destroy(plan);
            trial_destroy(&trial);
        }
    attn_context_destroy(context);
}

/* Rules may be given by strides of zero and below. */
static void unusual_strides(void **state) {
    (void)state;
    static const int64_t queries[] = {3, 30};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(queries); s++) {
        attn_problem_t problem = fixture_problem(2, 4, queries[s], 45, 8, 5);
        problem.inputs = ATTN_INPUT_BIAS | ATTN_INPUT_MASK | ATTN_INPUT_SLOPES | ATTN_INPUT_SINKS |
                         ATTN_INPUT_KV_LENGTHS;
        const look_t look = {.lse = 1};
        trial_t trial = trial_create(&problem, &look);
        attn_io_t *io = &trial.io;
        trial_label(&trial, "strides of zero and below");
        io->bias.stride[1] = 0;
        io->bias.data = (float *)io->bias.data + 44 * io->bias.stride[3];
        io->bias.stride[3] = -io->bias.stride[3];
        io->mask.stride[2] = 0;
        io->mask.stride[0] = 0;
        io->slopes.stride[1] = 0;
        io->sinks.data = (float *)io->sinks.data + 3;
        io->sinks.stride[1] = -1;
        io->kv_lengths.stride[0] = 0;
        trial_solve(context, &trial);
        trial_compare(&trial);
        trial_destroy(&trial);
    }
    attn_context_destroy(context);
}

SEMANTICS_MAIN(cmocka_unit_test(alone), cmocka_unit_test(in_pairs), cmocka_unit_test(in_crowds),
               cmocka_unit_test(weights_of_features), cmocka_unit_test(unusual_strides))
