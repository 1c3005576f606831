/* Keys cut into parts, a run of each, and all of them combined: what a single run of all keys means. */
#include "trial.h"

#include "attn/combine.h"
#include "support/combined.h"
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 7 };

/* A trial whose keys are cut at these places: part p has the keys [cuts[p], cuts[p + 1]), maybe none. */
typedef struct split {
    trial_t *trial;
    int count;
    int64_t cuts[MOST_PARTS + 1];
    typed_t outs[MOST_PARTS], lses[MOST_PARTS];
    attn_part_t parts[MOST_PARTS + 1]; /* the sinks last */
    int part_count;
} split_t;

/* ---- one part -------------------------------------------------------------------------------- */

/* Rows of keys, or columns of masks, of a part. */
static attn_tensor_t slice(attn_tensor_t tensor, int axis, int64_t first, int64_t count) {
    if (!tensor.data) return tensor;
    tensor.data =
        (char *)tensor.data + first * tensor.stride[axis] * (int64_t)attn_dtype_size(tensor.dtype);
    tensor.shape[axis] = count;
    return tensor;
}

/* Where the keys of the part begin, relative to a query at 0: what `past` is for. */
static attn_problem_t problem_of_part(const attn_problem_t *whole, int64_t first, int64_t count) {
    attn_problem_t part = *whole;
    part.keys = count;
    part.inputs &= ~(uint32_t)ATTN_INPUT_SINKS;
    part.past = whole->past - first;
    if (whole->causal == ATTN_CAUSAL_BOTTOM_RIGHT) {
        part.causal = ATTN_CAUSAL_TOP_LEFT;
        part.past = whole->keys - whole->queries - first;
    }
    return part;
}

static void run_part(const attn_context_t *context, const split_t *split, int p) {
    const attn_io_t *whole = &split->trial->io;
    const attn_problem_t *problem = &split->trial->problem;
    const int64_t first = split->cuts[p], count = split->cuts[p + 1] - first;
    int64_t lengths[8];
    trial_t part = {.problem = problem_of_part(problem, first, count), .io = *whole};
    for (int64_t b = 0; problem->inputs & ATTN_INPUT_KV_LENGTHS && b < problem->batch; b++) {
        const int64_t length = (int64_t)typed_get(&whole->kv_lengths, b, 0, 0, 0) - first;
        lengths[b] = length < 0 ? 0 : length < count ? length : count;
    }
    part.io.key = slice(whole->key, 2, first, count);
    part.io.value = slice(whole->value, 2, first, count);
    part.io.key_scales = slice(whole->key_scales, 2, first, count);
    part.io.value_scales = slice(whole->value_scales, 2, first, count);
    part.io.bias = slice(whole->bias, 3, first, count);
    part.io.mask = slice(whole->mask, 3, first, count);
    part.io.sinks.data = NULL;
    if (whole->kv_lengths.data) part.io.kv_lengths = attn_tensor_lengths(lengths, problem->batch);
    part.io.out = split->outs[p].tensor;
    part.io.lse = split->lses[p].tensor;
    attn_plan_t *plan = fixture_plan(context, "softmax", &part.problem, "");
    attn_error_t error = {0};
    trial_give_workspace(plan, &part);
    if (attn_run(plan, &part.io, &error)) test_fail("part %d: %s", p, error.message);
    trial_check_workspace(&part);
    free(part.workspace);
    attn_plan_destroy(plan);
}

/* A part without keys: what stands in its `out` is not read. */
static void leave_out_part(split_t *split, int p) {
    const attn_problem_t *problem = &split->trial->problem;
    FOR_EACH_ROW(problem, at) {
        typed_set(&split->lses[p], at[0], at[1], at[2], 0, (double)-INFINITY);
        for (int64_t c = 0; c < problem->value_dim; c++)
            typed_set(&split->outs[p], at[0], at[1], at[2], c, (double)NAN);
    }
}

static void solve_parts(const attn_context_t *context, split_t *split) {
    const attn_problem_t *p = &split->trial->problem;
    split->part_count = split->count;
    for (int i = 0; i < split->count; i++) {
        split->outs[i] = typed_create(ATTN_F32, (layout_t)(i % LAYOUT_COUNT),
                                      (int64_t[]){p->batch, p->heads, p->queries, p->value_dim});
        split->lses[i] = typed_create(ATTN_F32, (layout_t)((i + 1) % LAYOUT_COUNT),
                                      (int64_t[]){p->batch, p->heads, p->queries, 1});
        if (split->cuts[i + 1] > split->cuts[i])
            run_part(context, split, i);
        else
            leave_out_part(split, i);
        split->parts[i] = (attn_part_t){split->outs[i].tensor, split->lses[i].tensor};
    }
    if (p->inputs & ATTN_INPUT_SINKS)
        split->parts[split->part_count++] = (attn_part_t){.lse = split->trial->io.sinks};
}

static void free_parts(split_t *split) {
    for (int i = 0; i < split->count; i++) {
        typed_destroy(&split->outs[i]);
        typed_destroy(&split->lses[i]);
    }
}

/* ---- all parts ------------------------------------------------------------------------------- */

static void compare(const split_t *split) {
    const attn_problem_t *problem = &split->trial->problem;
    const attn_io_t *io = &split->trial->io;
    exact_t exact = exact_create(problem);
    FOR_EACH_ROW(problem, at) {
        exact_row(&exact, problem, io, &EXACT_F32, at[0], at[1], at[2]);
        combined_compare_row(&exact, problem, io, at, &io->out, &io->lse, at[2], 1);
    }
    exact_destroy(&exact);
}

/* Empty parts in between and at both ends. */
static void cut(split_t *split, int64_t keys, uint64_t number) {
    split->count = 1 + (int)fixture_draw(number, MOST_PARTS);
    split->cuts[0] = 0;
    for (int p = 1; p < split->count; p++)
        split->cuts[p] = split->cuts[p - 1] + fixture_draw(number * MOST_PARTS + (uint64_t)p,
                                                           keys - split->cuts[p - 1] + 1);
    split->cuts[split->count] = keys;
}

static void check(const attn_context_t *context, const attn_problem_t *problem, uint64_t number) {
    const look_t look = {.layout = (layout_t)(number % LAYOUT_COUNT),
                         .bias_axes = (int)number % 8,
                         .mask_axes = (int)(number / 3) % 8,
                         .lse = 1};
    trial_t trial = trial_create(problem, &look);
    attn_error_t error = {0};
    split_t split = {.trial = &trial};
    trial_label(&trial, "combined parts");
    cut(&split, problem->keys, number);
    solve_parts(context, &split);
    if (attn_combine(split.parts, split.part_count, &trial.io.out, &trial.io.lse, &error))
        test_fail("combine: %s", error.message);
    typed_check(&trial.out, "out");
    typed_check(&trial.lse, "lse");
    compare(&split);
    free_parts(&split);
    trial_destroy(&trial);
}

/* Every rule that a part sees in its own way. */
static void add_rules(attn_problem_t *p, int kind) {
    trial_set_rules(p, kind);
    if (kind == 9) p->kv_dtype = ATTN_BF16, p->causal = ATTN_CAUSAL_TOP_LEFT, p->past = -3;
}
enum { KINDS = 10 };

/** Every rule, with parts that begin before, among and behind the queries. */
static void parts_are_a_whole(void **state) {
    static const int64_t queries[] = {1, 3, 16, 37}, keys[] = {1, 5, 64, 131};
    attn_context_t *context = fixture_context(1);
    uint64_t number = 900;
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t n = 0; n < TEST_COUNT(queries); n++)
            for (size_t m = 0; m < TEST_COUNT(keys); m++) {
                attn_problem_t problem = fixture_problem(2, 4, queries[n], keys[m], 9, 70);
                add_rules(&problem, kind);
                number++;
                if (test_takes_case()) check(context, &problem, number);
            }
    attn_context_destroy(context);
}

/* ---- bits ------------------------------------------------------------------------------------ */

enum { ROWS = 8, WIDTH = 130 };

typedef struct numbers {
    float out[ROWS][WIDTH], lse[ROWS];
} numbers_t;

static attn_tensor_t out_of(numbers_t *numbers) {
    return attn_tensor_bhnd(&numbers->out[0][0], 1, 2, ROWS / 2, WIDTH);
}

static attn_tensor_t lse_of(numbers_t *numbers) {
    return attn_tensor_bhnd(numbers->lse, 1, 2, ROWS / 2, 1);
}

static attn_part_t part_of(numbers_t *numbers) {
    return (attn_part_t){out_of(numbers), lse_of(numbers)};
}

static numbers_t drawn(uint64_t first) {
    numbers_t numbers;
    for (int r = 0; r < ROWS; r++) {
        numbers.lse[r] = (float)fixture_draw(first++, 2001) / 300 - 3;
        for (int c = 0; c < WIDTH; c++)
            numbers.out[r][c] = (float)(fixture_draw(first++, 20001) - 10000) / 7000;
    }
    numbers.out[1][3] = -0.0f;
    return numbers;
}

static numbers_t without_keys(void) {
    numbers_t numbers;
    for (int r = 0; r < ROWS; r++) {
        numbers.lse[r] = -INFINITY;
        for (int c = 0; c < WIDTH; c++) numbers.out[r][c] = c & 1 ? NAN : INFINITY;
    }
    return numbers;
}

static void combine(const attn_part_t *parts, int64_t count, numbers_t *result) {
    const attn_tensor_t out = out_of(result), lse = lse_of(result);
    attn_error_t error = {0};
    if (attn_combine(parts, count, &out, &lse, &error)) test_fail("%s", error.message);
}

/** A part beside empty ones stays what it is, signs of zeros and all, wherever it stands. */
static void empty_parts_change_no_bit(void **state) {
    numbers_t some = drawn(40000), none = without_keys(), result;
    (void)state;
    for (int at = 0; at < 3; at++) {
        attn_part_t parts[3] = {part_of(&none), part_of(&none), part_of(&none)};
        parts[at] = part_of(&some);
        parts[(at + 1) % 3].out.data = NULL;
        memset(&result, 0x55, sizeof result);
        combine(parts, 3, &result);
        assert_memory_equal(&result, &some, sizeof some);
    }
}

/** Without any key: zeros, and -inf. */
static void all_parts_may_be_empty(void **state) {
    numbers_t none = without_keys(), result;
    const attn_part_t parts[2] = {part_of(&none), part_of(&none)};
    (void)state;
    for (int64_t count = 0; count <= 2; count++) {
        memset(&result, 0x55, sizeof result);
        combine(count ? parts : NULL, count, &result);
        for (int r = 0; r < ROWS; r++) {
            assert_true(result.lse[r] == -INFINITY);
            for (int c = 0; c < WIDTH; c++)
                assert_true(result.out[r][c] == 0 && !signbit(result.out[r][c]));
        }
    }
}

/** What a run makes NaN is NaN, in its row alone. */
static void one_part_spoils_a_row(void **state) {
    const float wrong[] = {NAN, INFINITY};
    (void)state;
    for (int i = 0; i < 2; i++)
        for (int at = 0; at < 2; at++) {
            numbers_t numbers[2] = {drawn(41000), drawn(42000)}, result;
            numbers[at].lse[5] = wrong[i];
            const attn_part_t parts[2] = {part_of(&numbers[0]), part_of(&numbers[1])};
            combine(parts, 2, &result);
            for (int r = 0; r < ROWS; r++) {
                assert_true(isnan(result.lse[r]) == (r == 5));
                for (int c = 0; c < WIDTH; c++) assert_true(isnan(result.out[r][c]) == (r == 5));
            }
        }
}

/** A result may stand where a part does, and an lse kept in double precision is not rounded on the way. */
static void in_place_and_step_by_step(void **state) {
    numbers_t numbers[3] = {drawn(43000), drawn(44000), drawn(45000)}, result, step = numbers[0];
    double lses[ROWS];
    attn_error_t error = {0};
    const attn_tensor_t out = out_of(&step);
    const attn_tensor_t lse = attn_tensor_bhnd_of(ATTN_F64, lses, 1, 2, ROWS / 2, 1);
    (void)state;
    for (int r = 0; r < ROWS; r++) lses[r] = (double)numbers[0].lse[r];
    combine((attn_part_t[]){part_of(&numbers[0]), part_of(&numbers[1]), part_of(&numbers[2])}, 3,
            &result);
    for (int p = 1; p < 3; p++) {
        const attn_part_t parts[2] = {{out, lse}, part_of(&numbers[p])};
        if (attn_combine(parts, 2, &out, &lse, &error)) test_fail("%s", error.message);
    }
    for (int r = 0; r < ROWS; r++) {
        assert_true(fabs((double)result.lse[r] - lses[r]) <= 0x1p-24 * fabs(lses[r]) * 1.001);
        for (int c = 0; c < WIDTH;
             c++) { /* one rounding of the result, two of what it is made of */
            double most = 0;
            for (int p = 0; p < 3; p++) most = fmax(most, fabs((double)numbers[p].out[r][c]));
            assert_true(fabs((double)result.out[r][c] - (double)step.out[r][c]) <=
                        3 * 0x1p-24 * most);
        }
    }
    numbers_t again = numbers[0];
    const attn_part_t parts[2] = {part_of(&again), part_of(&numbers[1])};
    numbers_t apart;
    combine((attn_part_t[]){part_of(&numbers[0]), part_of(&numbers[1])}, 2, &apart);
    combine(parts, 2, &again);
    assert_memory_equal(&again, &apart, sizeof again);
}

/** Halves are the numbers of f32, rounded once more. */
static void results_may_be_halves(void **state) {
    numbers_t numbers[2] = {drawn(46000), drawn(47000)}, result;
    const attn_part_t parts[2] = {part_of(&numbers[0]), part_of(&numbers[1])};
    const attn_dtype_t dtypes[] = {ATTN_F16, ATTN_BF16};
    (void)state;
    combine(parts, 2, &result);
    for (int i = 0; i < 2; i++) {
        uint16_t halves[ROWS * WIDTH], expected[ROWS * WIDTH];
        const attn_tensor_t out = attn_tensor_bhnd_of(dtypes[i], halves, 1, 2, ROWS / 2, WIDTH);
        assert_int_equal(attn_combine(parts, 2, &out, NULL, NULL), ATTN_OK);
        attn_from_f32(expected, dtypes[i], &result.out[0][0], ROWS * WIDTH, NULL);
        assert_memory_equal(halves, expected, sizeof halves);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

typedef struct call {
    numbers_t numbers[2], result;
    attn_part_t parts[2];
    int64_t count;
    attn_tensor_t out, lse;
} call_t;

static void no_out(call_t *c) { c->out.data = NULL; }
static void negative_count(call_t *c) { c->count = -1; }
static void out_of_i8(call_t *c) { c->out.dtype = ATTN_I8; }
static void out_of_f64(call_t *c) { c->parts[1].out.dtype = ATTN_F64; }
static void half_part(call_t *c) { c->parts[0].out.dtype = ATTN_BF16; }
static void lse_of_halves(call_t *c) { c->parts[1].lse.dtype = ATTN_F16; }
static void no_lse(call_t *c) { c->parts[1].lse.data = NULL; }
static void empty_out(call_t *c) { c->out.shape[1] = 0; }
static void other_rows(call_t *c) { c->parts[1].out.shape[2] = 3; }
static void repeated_out(call_t *c) { c->parts[0].out.shape[1] = 1; }
static void other_lse(call_t *c) { c->parts[0].lse.shape[3] = 2; }
static void lse_of_result_repeated(call_t *c) { c->lse.shape[2] = 1; }
static void tangled(call_t *c) { c->out.stride[3] = 0; }
static void misaligned(call_t *c) {
    c->parts[1].lse.data = (char *)c->parts[1].lse.data + 1, c->parts[1].lse.shape[2] = 1;
}
static void out_in_a_part(call_t *c) {
    c->out = c->parts[1].out, c->out.data = (float *)c->out.data + 1, c->out.shape[2] = 3;
    for (int p = 0; p < 2; p++) c->parts[p].out.shape[2] = c->parts[p].lse.shape[2] = 3;
    c->lse.shape[2] = 3;
}
static void lse_in_out(call_t *c) { c->lse.data = c->out.data; }
static void out_in_an_lse(call_t *c) { c->parts[0].lse.data = c->out.data; }
static void lse_in_a_part(call_t *c) { c->lse.data = c->parts[1].out.data; }

static const struct {
    void (*spoil)(call_t *call);
    attn_status_t status;
    const char *words;
} WRONG[] = {
    {no_out, ATTN_ERROR_ARGUMENT, "out|null"},
    {negative_count, ATTN_ERROR_ARGUMENT, "-1 parts"},
    {out_of_i8, ATTN_ERROR_DTYPE, "combine: out|i8|f32, f16 or bf16"},
    {out_of_f64, ATTN_ERROR_DTYPE, "part 1: out|f64|f32"},
    {half_part, ATTN_ERROR_DTYPE, "part 0: out|bf16"},
    {lse_of_halves, ATTN_ERROR_DTYPE, "part 1: lse|f16|f32 or f64"},
    {no_lse, ATTN_ERROR_ARGUMENT, "part 1: lse: is missing"},
    {empty_out, ATTN_ERROR_SHAPE, "out: axis 1 has 0"},
    {other_rows, ATTN_ERROR_SHAPE, "part 1: out|(1, 2, 3, 130)|(1, 2, 4, 130)"},
    {repeated_out, ATTN_ERROR_SHAPE, "part 0: out|(1, 1, 4, 130)"},
    {other_lse, ATTN_ERROR_SHAPE, "part 0: lse|(1, 2, 4, 2)|(1, 2, 4, 1)"},
    {lse_of_result_repeated, ATTN_ERROR_SHAPE, "combine: lse|(1, 2, 1, 1)"},
    {tangled, ATTN_ERROR_ARGUMENT, "out|overlap"},
    {misaligned, ATTN_ERROR_ARGUMENT, "part 1: lse|aligned"},
    {out_in_a_part, ATTN_ERROR_ARGUMENT, "part 1: out|shares memory with out"},
    {lse_in_out, ATTN_ERROR_ARGUMENT, "out shares memory with lse"},
    {out_in_an_lse, ATTN_ERROR_ARGUMENT, "part 0: lse|shares memory with out"},
    {lse_in_a_part, ATTN_ERROR_ARGUMENT, "part 1: out|shares memory with lse"},
};

/** One line says what was wrong, and nothing is written. */
static void wrong_arrays_are_refused(void **state) {
    static call_t call, before;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(WRONG); i++) {
        attn_error_t error = {0};
        call = (call_t){.numbers = {drawn(48000), drawn(49000)}, .count = 2};
        for (int p = 0; p < 2; p++) call.parts[p] = part_of(&call.numbers[p]);
        call.out = out_of(&call.result), call.lse = lse_of(&call.result);
        test_label("refusal %zu", i);
        WRONG[i].spoil(&call);
        before = call;
        fixture_expect(attn_combine(call.parts, call.count, &call.out, &call.lse, &error), &error,
                       WRONG[i].status, WRONG[i].words);
        assert_memory_equal(call.numbers, before.numbers, sizeof call.numbers);
        assert_memory_equal(&call.result, &before.result, sizeof call.result);
    }
    attn_error_t error = {0};
    fixture_expect(attn_combine(NULL, 1, &call.out, NULL, &error), &error, ATTN_ERROR_ARGUMENT,
                   "parts|null");
    fixture_expect(attn_combine(call.parts, 1, NULL, NULL, &error), &error, ATTN_ERROR_ARGUMENT,
                   "out|null");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_a_whole),         cmocka_unit_test(empty_parts_change_no_bit),
        cmocka_unit_test(all_parts_may_be_empty),    cmocka_unit_test(one_part_spoils_a_row),
        cmocka_unit_test(in_place_and_step_by_step), cmocka_unit_test(results_may_be_halves),
        cmocka_unit_test(wrong_arrays_are_refused),
    };
    if (!test_begin()) return TEST_SKIPPED;
    trial_next_subject(); /* softmax: parts of its keys are what can be combined */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
