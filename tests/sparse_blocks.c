/* sparse over blocks that a run's arrays list: as a mask of all pairs would, and what is refused. */
#include "attn/random.h"
#include "attn/support.h"
#include "support/fixture.h"
#include "support/test.h"
#include "support/typed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MASK, STARTS, COLUMNS, FULL, OWN };

/* A problem with random blocks, and the mask of all pairs that says the same. */
typedef struct scene {
    attn_problem_t problem, masked;
    int64_t block, rows, columns, batches, heads; /* the last two: of the lists */
    arrays_t arrays;
    typed_t mask, given;
    typed_t own[OWN];
    const attn_tensor_t *tensors[OWN];
    char settings[64];
} scene_t;

static int draw(uint64_t stream, const int64_t at[4], double share) {
    const uint64_t index = (uint64_t)(((at[0] * 8 + at[1]) * 512 + at[2]) * 512 + at[3]);
    return attn_random_uniform(test_seed(), stream, index) < share;
}

/* Whether a block is listed, and is full. */
static int lists(const scene_t *s, int64_t b, int64_t h, int64_t row, int64_t column) {
    const int64_t at[4] = {attn_min(b, s->batches - 1), attn_min(h, s->heads - 1), row, column};
    return row % 5 != 3 && draw(40, at, 0.4);
}

static int is_full(const scene_t *s, int64_t b, int64_t h, int64_t row, int64_t column) {
    return draw(
        41, (int64_t[]){attn_min(b, s->batches - 1), attn_min(h, s->heads - 1), row, column}, 0.5);
}

static void fill_lists(scene_t *s, int64_t b, int64_t h) {
    int64_t count = 0;
    for (int64_t row = 0; row < s->rows; row++) {
        typed_set(&s->own[STARTS], b, h, 0, row, (double)count);
        for (int64_t c = 0; c < s->columns; c++) {
            const int listed = lists(s, b, h, row, c);
            typed_set(&s->own[MASK], b, h, row, c, listed);
            if (!listed) continue;
            typed_set(&s->own[COLUMNS], b, h, 0, count, (double)c);
            typed_set(&s->own[FULL], b, h, 0, count++, is_full(s, b, h, row, c));
        }
    }
    typed_set(&s->own[STARTS], b, h, 0, s->rows, (double)count);
    for (; count < s->rows * s->columns; count++) { /* which no row has */
        typed_set(&s->own[COLUMNS], b, h, 0, count, -1);
        typed_set(&s->own[FULL], b, h, 0, count, 0);
    }
}

/* What the run's mask hides counts outside of full blocks alone, where they are told. */
static void fill_masks(scene_t *s, int by_lists) {
    const attn_problem_t *p = &s->problem;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->heads; h++)
            for (int64_t i = 0; i < p->queries; i++)
                for (int64_t j = 0; j < p->keys; j++) {
                    const int64_t row = i / s->block, column = j / s->block;
                    const int seen = draw(42, (int64_t[]){b, h, i, j}, 0.7);
                    const int whole = by_lists && is_full(s, b, h, row, column);
                    typed_set(&s->given, b, h, i, j, seen);
                    typed_set(&s->mask, b, h, i, j, lists(s, b, h, row, column) && (seen || whole));
                }
}

static scene_t create(const attn_problem_t *problem, int64_t block, const char *precision,
                      int by_lists, int shared) {
    scene_t s = {.problem = *problem, .masked = *problem, .block = block};
    s.rows = (problem->queries - 1) / block + 1, s.columns = (problem->keys - 1) / block + 1;
    s.batches = shared ? 1 : problem->batch, s.heads = shared ? 1 : problem->heads;
    s.masked.inputs |= ATTN_INPUT_MASK;
    s.problem.inputs |= ATTN_INPUT_MASK;
    s.problem.own_inputs = by_lists ? 1 << STARTS | 1 << COLUMNS | 1 << FULL : 1 << MASK;
    s.arrays = arrays_create(&s.problem, LAYOUT_BNHD, 1);
    const int64_t pairs[4] = {problem->batch, problem->heads, problem->queries, problem->keys};
    s.mask = typed_create(ATTN_BOOL, LAYOUT_BHND, pairs);
    s.given = typed_create(ATTN_BOOL, LAYOUT_PADDED, pairs);
    const int64_t all = s.rows * s.columns;
    const int64_t extents[OWN][2] = {{s.rows, s.columns}, {1, s.rows + 1}, {1, all}, {1, all}};
    for (int i = 0; i < OWN; i++)
        s.own[i] = typed_create(i == MASK || i == FULL ? ATTN_BOOL : ATTN_I64,
                                (layout_t)(i % LAYOUT_COUNT),
                                (int64_t[]){s.batches, s.heads, extents[i][0], extents[i][1]});
    for (int64_t b = 0; b < s.batches; b++)
        for (int64_t h = 0; h < s.heads; h++) fill_lists(&s, b, h);
    fill_masks(&s, by_lists);
    snprintf(s.settings, sizeof s.settings, "pattern=blocks,block=%" PRId64 ",precision=%s", block,
             precision);
    return s;
}

/* Into the struct where it stays. */
static void connect(scene_t *s) {
    for (int i = 0; i < OWN; i++)
        s->tensors[i] = s->problem.own_inputs >> i & 1 ? &s->own[i].tensor : NULL;
    s->arrays.io.mask = s->given.tensor;
    s->arrays.io.own = s->tensors;
    s->arrays.io.own_count = OWN;
}

static void destroy(scene_t *s) {
    arrays_destroy(&s->arrays);
    typed_destroy(&s->mask);
    typed_destroy(&s->given);
    for (int i = 0; i < OWN; i++) typed_destroy(&s->own[i]);
}

static void compare(const scene_t *s, const attn_plan_t *plan) {
    const arithmetic_t arithmetic = exact_arithmetic(plan, &s->problem);
    attn_io_t io = s->arrays.io;
    io.mask = s->mask.tensor;
    compare_exact(&s->masked, &io, &arithmetic);
}

static void equals_a_mask(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{70, 70}, {1, 100}, {37, 90}, {90, 37}, {5, 3}};
    static const int64_t blocks[] = {1, 3, 16, 20};
    static const char *const precisions[] = {"f32", "bf16", "bf16x3"};
    attn_context_t *context = fixture_context(2);
    int number = 0;
    for (size_t n = 0; n < TEST_COUNT(sizes); n++)
        for (size_t k = 0; k < TEST_COUNT(blocks); k++)
            for (int form = 0; form < 4; form++, number++) {
                attn_problem_t problem = fixture_problem(2, 4, sizes[n][0], sizes[n][1], 8, 20);
                problem.kv_heads = number % 3 ? 4 : 2;
                problem.causal = number % 3;
                if (blocks[k] > problem.keys || !test_takes_case()) continue;
                test_label("n %" PRId64 " m %" PRId64 " block %" PRId64 " form %d", sizes[n][0],
                           sizes[n][1], blocks[k], form);
                scene_t s =
                    create(&problem, blocks[k], precisions[number % 5 % 3], form & 1, form >> 1);
                connect(&s);
                attn_plan_t *plan = fixture_plan(context, "sparse", &s.problem, s.settings);
                arrays_run(&s.arrays, plan);
                compare(&s, plan);
                attn_plan_destroy(plan);
                destroy(&s);
            }
    attn_context_destroy(context);
}

/* What a run's arrays decide no plan knows. */
static void cost_is_not_known(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 20, 30, 4, 4);
    attn_cost_t cost = {.struct_size = sizeof cost};
    problem.own_inputs = 1 << MASK;
    attn_plan_t *plan = fixture_plan(context, "sparse", &problem, "pattern=blocks,block=10");
    assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
    assert_true(isnan(cost.pairs) && isnan(cost.computed) && isnan(cost.flops));
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

/* ---- what is refused ------------------------------------------------------------------------------ */

/* A run of 20 queries and 30 keys in blocks of 10, with one number of a list changed. */
static void refuse(const attn_context_t *context, int array, int64_t at, double number,
                   const char *words) {
    const attn_problem_t problem = fixture_problem(1, 2, 20, 30, 4, 4);
    attn_error_t error = {0};
    scene_t s = create(&problem, 10, "auto", 1, 0);
    connect(&s);
    for (int64_t c = 0; c < 6; c++) typed_set(&s.own[COLUMNS], 0, 1, 0, c, (double)(c % 3));
    for (int64_t r = 0; r < 3; r++) typed_set(&s.own[STARTS], 0, 1, 0, r, (double)(3 * r));
    attn_plan_t *plan = fixture_plan(context, "sparse", &s.problem, s.settings);
    arrays_run(&s.arrays, plan);
    typed_set(&s.own[array], 0, 1, 0, at, number);
    test_label("array %d, number %" PRId64 " is %g", array, at, number);
    fixture_expect(attn_run(plan, &s.arrays.io, &error), &error, ATTN_ERROR_RANGE, words);
    float rows[30];
    fixture_expect(attn_weights(plan, &s.arrays.io, 0, 1, 0, 1, rows, 30, &error), &error,
                   ATTN_ERROR_RANGE, words);
    attn_plan_destroy(plan);
    destroy(&s);
}

static void bad_lists(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    refuse(context, COLUMNS, 1, 0,
           "block_columns|head 1|row 0|block 0, must be above 0");             /* twice */
    refuse(context, COLUMNS, 3, 2, "row 1|block 1, must be above 2, below 3"); /* unsorted */
    refuse(context, STARTS, 1, 4,
           "row 0|block 0, must be above 2, below 3"); /* more than there are */
    refuse(context, COLUMNS, 5, 3, "block_columns|row 1|block 3, must be above");
    refuse(context, COLUMNS, 0, -1, "block_columns|row 0|block -1, must be above -1, below 3");
    refuse(context, COLUMNS, 4, 0x1p62, "block_columns|row 1");
    refuse(context, STARTS, 0, -1, "block_starts|row 0|-1");
    refuse(context, STARTS, 1, 7, "block_starts|row 0|7|6 entries");
    refuse(context, STARTS, 2, 2, "block_starts|row 1|3 to 2");
    refuse(context, STARTS, 2, 0x1p62, "block_starts|row 1");
    attn_context_destroy(context);
}

static void refuse_plan(const attn_context_t *context, uint32_t own, const char *settings,
                        attn_status_t status, const char *words) {
    attn_problem_t problem = fixture_problem(1, 2, 20, 30, 4, 4);
    problem.own_inputs = own;
    test_label("arrays %" PRIu32 ", %s", own, settings);
    fixture_refuse_plan(context, "sparse", &problem, settings, status, words);
}

static void bad_plans(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    refuse_plan(context, 0, "pattern=blocks,block=10", ATTN_ERROR_ARGUMENT, "block_mask|blocks");
    refuse_plan(context, 1 << STARTS, "pattern=blocks,block=10", ATTN_ERROR_ARGUMENT,
                "block_columns");
    refuse_plan(context, 1 << MASK | 1 << FULL, "pattern=blocks,block=10", ATTN_ERROR_ARGUMENT,
                "block_mask");
    refuse_plan(context, 1 << MASK, "block=10", ATTN_ERROR_ARGUMENT, "pattern");
    refuse_plan(context, 1 << MASK, "pattern=blocks,block=31", ATTN_ERROR_RANGE, "block|31|30");
    refuse_plan(context, 0, "block=65536,local=65536", ATTN_ERROR_RANGE, "local|block|2^31");
    attn_context_destroy(context);
}

static void bad_sizes(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 2, 20, 30, 4, 4);
    attn_error_t error = {0};
    scene_t s = create(&problem, 10, "auto", 0, 0);
    connect(&s);
    attn_plan_t *plan = fixture_plan(context, "sparse", &s.problem, s.settings);
    arrays_run(&s.arrays, plan);
    s.own[MASK].tensor.shape[3] = 2;
    fixture_expect(attn_run(plan, &s.arrays.io, &error), &error, ATTN_ERROR_SHAPE,
                   "block_mask|(1, 2, 2, 3)");
    s.own[MASK].tensor.shape[3] = 3;
    attn_plan_destroy(plan);
    destroy(&s);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(equals_a_mask), cmocka_unit_test(cost_is_not_known),
          cmocka_unit_test(bad_lists), cmocka_unit_test(bad_plans), cmocka_unit_test(bad_sizes))
