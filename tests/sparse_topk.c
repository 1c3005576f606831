/*
 * sparse over the blocks that a run chooses: as a mask of all pairs would, which says the same. Queries and
 * keys are small whole numbers, so that sums are exact, and many blocks weigh the same.
 */
#include "support/fixture.h"
#include "support/test.h"
#include "support/typed.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct scene {
    attn_problem_t problem, masked;
    int64_t block, local, top;
    arrays_t arrays; /* of the same sizes: workspace and lse */
    typed_t query, key, value, out, mask, lengths, key_scales, value_scales;
} scene_t;

static int64_t floor_of(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

static void fill(typed_t *array, uint64_t from) {
    const int64_t *shape = array->tensor.shape;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t k = 0; k < shape[3]; k++)
                    typed_set(array, b, h, i, k, (double)fixture_draw(from++, 3) - 1);
}

/* ---- the oracle ----------------------------------------------------------------------------------- */

static double scaled_key(const attn_io_t *io, int64_t b, int64_t h, int64_t j, int64_t k) {
    const double key = typed_get(&io->key, b, h, j, k);
    return io->key_scales.data ? key * typed_get(&io->key_scales, b, h, j, 0) : key;
}

/* The queries of a block of positions, the block of keys, and whether one sees the other. */
static int64_t row_of(const scene_t *s, const attn_io_t *io, int64_t b, int64_t i) {
    return floor_of(exact_position(&s->problem, io, b, i), s->block);
}

static int sees_block(const scene_t *s, const attn_io_t *io, const int64_t at[3], int64_t column) {
    const attn_problem_t *p = &s->problem;
    for (int64_t i = 0; i < p->queries; i++)
        for (int64_t j = column * s->block; j < p->keys && j < (column + 1) * s->block; j++)
            if (row_of(s, io, at[0], i) == at[2] && exact_sees(p, io, at[0], at[1], i, j)) return 1;
    return 0;
}

/* The mean query times the mean key, but for how many queries there are. */
static double score_of(const scene_t *s, const attn_io_t *io, const int64_t at[3], int64_t column) {
    const attn_problem_t *p = &s->problem;
    const int64_t kv_head = at[1] / (p->heads / p->kv_heads);
    const int64_t length = p->inputs & ATTN_INPUT_KV_LENGTHS
                               ? (int64_t)typed_get(&io->kv_lengths, at[0], 0, 0, 0)
                               : p->keys;
    const int64_t first = column * s->block;
    const int64_t last = first + s->block < length ? first + s->block : length;
    double score = 0;
    for (int64_t k = 0; k < p->dim; k++) {
        double query = 0, key = 0;
        for (int64_t i = 0; i < p->queries; i++)
            if (row_of(s, io, at[0], i) == at[2])
                query += typed_get(&io->query, at[0], at[1], i, k);
        for (int64_t j = first; j < last; j++) key += scaled_key(io, at[0], kv_head, j, k);
        score += query * key;
    }
    return score / (double)(last - first);
}

/* Which blocks of keys the block `at` (batch, head, row) of queries has. */
static void choose(const scene_t *s, const attn_io_t *io, const int64_t at[3], int *kept) {
    const int64_t columns = (s->problem.keys - 1) / s->block + 1;
    double scores[256];
    assert_true(columns <= 256);
    for (int64_t c = 0; c < columns; c++) {
        kept[c] = c - at[2] < s->local && at[2] - c < s->local;
        scores[c] = !kept[c] && sees_block(s, io, at, c) ? score_of(s, io, at, c) : NAN;
    }
    for (int64_t t = 0; t < s->top; t++) {
        int64_t best = -1;
        for (int64_t c = 0; c < columns; c++)
            if (!isnan(scores[c]) && (best < 0 || scores[c] > scores[best])) best = c;
        if (best < 0) return;
        kept[best] = 1;
        scores[best] = NAN;
    }
}

static void fill_mask(scene_t *s, const attn_io_t *io) {
    const attn_problem_t *p = &s->problem;
    int kept[256];
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->heads; h++)
            for (int64_t i = 0; i < p->queries; i++) {
                const int64_t row = row_of(s, io, b, i);
                if (i == 0 || row != row_of(s, io, b, i - 1))
                    choose(s, io, (int64_t[]){b, h, row}, kept);
                for (int64_t j = 0; j < p->keys; j++)
                    typed_set(&s->mask, b, h, i, j, kept[j / s->block]);
            }
}

/* ---- scenes ---------------------------------------------------------------------------------------- */

static typed_t scales_of(const attn_problem_t *p) {
    typed_t scales = {.block = NULL};
    if (p->kv_dtype != ATTN_I8) return scales;
    scales = typed_create(ATTN_F32, LAYOUT_BHND, (int64_t[]){p->batch, p->kv_heads, p->keys, 1});
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->kv_heads; h++)
            for (int64_t j = 0; j < p->keys; j++)
                typed_set(&scales, b, h, j, 0, j / 5 % 2 ? 2 : 0.5);
    return scales;
}

static scene_t create(const attn_problem_t *p, uint64_t number) {
    attn_problem_t plain = *p;
    plain.dtype = plain.kv_dtype = ATTN_F32;
    scene_t s = {.problem = *p, .masked = *p, .arrays = arrays_create(&plain, LAYOUT_BHND, 1)};
    const layout_t layout = (layout_t)(number % LAYOUT_COUNT);
    s.masked.inputs |= ATTN_INPUT_MASK;
    s.query = typed_create(p->dtype, layout, (int64_t[]){p->batch, p->heads, p->queries, p->dim});
    s.key = typed_create(p->kv_dtype, layout, (int64_t[]){p->batch, p->kv_heads, p->keys, p->dim});
    s.value = typed_create(p->kv_dtype, layout,
                           (int64_t[]){p->batch, p->kv_heads, p->keys, p->value_dim});
    s.out =
        typed_create(p->dtype, layout, (int64_t[]){p->batch, p->heads, p->queries, p->value_dim});
    s.mask =
        typed_create(ATTN_BOOL, LAYOUT_BHND, (int64_t[]){p->batch, p->heads, p->queries, p->keys});
    fill(&s.query, 100 * number);
    fill(&s.key, 200 * number);
    typed_fill(&s.value, 3, p->kv_dtype == ATTN_I8 ? 50 : 1);
    s.key_scales = scales_of(p);
    s.value_scales = scales_of(p);
    if (p->inputs & ATTN_INPUT_KV_LENGTHS) {
        s.lengths = typed_create(ATTN_I64, LAYOUT_BHND, (int64_t[]){p->batch, 1, 1, 1});
        for (int64_t b = 0; b < p->batch; b++)
            typed_set(&s.lengths, b, 0, 0, 0,
                      (double)fixture_draw(number + (uint64_t)b, p->keys + 1));
    }
    return s;
}

static void destroy(scene_t *s) {
    typed_t *typed[] = {&s->query, &s->key,     &s->value,      &s->out,
                        &s->mask,  &s->lengths, &s->key_scales, &s->value_scales};
    arrays_destroy(&s->arrays);
    for (size_t i = 0; i < TEST_COUNT(typed); i++) typed_destroy(typed[i]);
}

static attn_io_t io_of(const scene_t *s) {
    attn_io_t io = s->arrays.io;
    io.query = s->query.tensor, io.key = s->key.tensor, io.value = s->value.tensor;
    io.out = s->out.tensor;
    io.kv_lengths = s->lengths.tensor;
    io.key_scales = s->key_scales.tensor, io.value_scales = s->value_scales.tensor;
    return io;
}

static void compare(const scene_t *s, const attn_io_t *given) {
    attn_io_t io = *given;
    io.mask = s->mask.tensor;
    compare_exact(&s->masked, &io);
}

/* Weights of one head alone: 0 where the mask says so. */
static void compare_zeros(const scene_t *s, const attn_plan_t *plan, const attn_io_t *io) {
    const attn_problem_t *p = &s->problem;
    float rows[256];
    for (int64_t i = 0; i < p->queries; i += 7) {
        const int64_t b = p->batch - 1, h = p->heads - 1;
        assert_int_equal(attn_weights(plan, io, b, h, i, 1, rows, 256, NULL), ATTN_OK);
        for (int64_t j = 0; j < p->keys; j++)
            if (typed_get(&s->mask.tensor, b, h, i, j) == 0) assert_true(rows[j] == 0);
    }
}

static void check(const attn_context_t *context, const attn_problem_t *problem, uint64_t number,
                  int64_t block) {
    scene_t s = create(problem, number);
    char settings[96];
    attn_error_t error = {0};
    s.block = block;
    s.local = 1 + (int64_t)(number % 2);
    s.top = (int64_t)(number % 4);
    snprintf(settings, sizeof settings,
             "pattern=topk,block=%" PRId64 ",local=%" PRId64 ",top=%" PRId64, s.block, s.local,
             s.top);
    test_label("%s: n %" PRId64 " m %" PRId64 " causal %d number %" PRIu64, settings,
               problem->queries, problem->keys, problem->causal, number);
    attn_plan_t *plan = fixture_plan(context, "sparse", problem, settings);
    arrays_give_workspace(&s.arrays, plan);
    const attn_io_t io = io_of(&s);
    fill_mask(&s, &io);
    if (attn_run(plan, &io, &error)) test_fail("%s", error.message);
    typed_check(&s.out, "out");
    compare(&s, &io);
    compare_zeros(&s, plan, &io);
    attn_plan_destroy(plan);
    destroy(&s);
}

static void equals_a_mask(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{70, 70}, {1, 100}, {37, 90}, {90, 37}, {5, 3}, {1, 1}};
    static const int64_t blocks[] = {1, 3, 8, 20};
    static const attn_dtype_t types[][2] = {{ATTN_F32, ATTN_F32},
                                            {ATTN_F32, ATTN_F32},
                                            {ATTN_F16, ATTN_F16},
                                            {ATTN_BF16, ATTN_BF16},
                                            {ATTN_F32, ATTN_I8}};
    attn_context_t *context = fixture_context(2);
    uint64_t number = 0;
    for (size_t n = 0; n < TEST_COUNT(sizes); n++)
        for (size_t k = 0; k < TEST_COUNT(blocks); k++)
            for (int turn = 0; turn < 6; turn++, number++) {
                attn_problem_t problem = fixture_problem(2, 4, sizes[n][0], sizes[n][1], 11, 12);
                problem.kv_heads = number % 3 ? 4 : 2;
                problem.causal = turn % 3;
                problem.dtype = types[number % 5][0], problem.kv_dtype = types[number % 5][1];
                if (turn == 4) problem.window_left = 17;
                if (turn == 3) problem.past = 11;
                if (number % 2) problem.inputs |= ATTN_INPUT_KV_LENGTHS;
                if (test_takes_case()) check(context, &problem, number, blocks[k]);
            }
    attn_context_destroy(context);
}

/* ---- hosts that leave tasks out ------------------------------------------------------------------------ */

static void first_tasks(void *left, int64_t tasks, attn_task_t *task, void *data) {
    int64_t *count = left;
    for (int64_t t = 0; t<tasks && * count> 0; t++, --*count) task(data, t, 0);
}

/* A list that was not made is empty, also where it is walked over before tasks are handed out. */
static void lists_that_are_not_made(void **state) {
    (void)state;
    int64_t left;
    const attn_ext_threads_t pool = {
        .struct_size = sizeof pool, .workers = 1, .pool = &left, .parallel_for = first_tasks};
    const attn_context_options_t options = {.struct_size = sizeof options, .pool = &pool};
    attn_context_t *context;
    attn_error_t error = {0};
    assert_int_equal(attn_context_create(&options, &context, &error), ATTN_OK);
    const attn_problem_t problem = fixture_problem(2, 3, 1, 40, 4, 4);
    for (int64_t first = 0; first < 60; first += 7) {
        arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 0);
        attn_plan_t *plan = fixture_plan(context, "sparse", &problem, "pattern=topk,block=4,top=2");
        arrays_give_workspace(&arrays, plan);
        left = first;
        assert_int_equal(attn_run(plan, &arrays.io, &error), ATTN_OK);
        attn_plan_destroy(plan);
        arrays_destroy(&arrays);
    }
    attn_context_destroy(context);
}

/* ---- what a plan says ------------------------------------------------------------------------------- */

/* Before a block of 8 queries there are 0, 1, 2 ... blocks, of which it has 3 at most, and its own. */
static void cost_and_facts(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 64, 64, 4, 4);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    attn_plan_t *plan = fixture_plan(context, "sparse", &problem, "pattern=topk,block=8,top=3");
    attn_cost_t cost = {.struct_size = sizeof cost};
    attn_error_t error = {0};
    assert_int_equal(attn_plan_cost(plan, &cost, &error), ATTN_OK);
    const double others = (0 + 1 + 2 + 3 * 5) * 64, own = 8 * 36;
    assert_true(cost.pairs == 2 * (others + own));
    assert_true(cost.touched == 2 * (others + 8 * 64));
    assert_true(fixture_fact(plan, "top", -1) == 3);
    attn_plan_destroy(plan);
    plan = fixture_plan(context, "sparse", &problem, "pattern=topk,block=8,top=100");
    assert_true(fixture_fact(plan, "top", -1) == 8); /* as many as there are */
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

static void refuses(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 20, 30, 4, 4);
    attn_stream_t *stream = NULL;
    attn_error_t error = {0};
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    fixture_expect(
        fixture_try_stream(context, "sparse", &problem, "pattern=topk", 30, &stream, &error),
        &error, ATTN_ERROR_UNSUPPORTED, "topk|all tokens at once");
    problem.causal = ATTN_CAUSAL_NONE; /* random blocks of later tokens, too */
    fixture_expect(
        fixture_try_stream(context, "sparse", &problem, "pattern=bigbird", 30, &stream, &error),
        &error, ATTN_ERROR_UNSUPPORTED, "bigbird|all tokens at once");
    problem.own_inputs = 1;
    fixture_expect(
        fixture_try_stream(context, "sparse", &problem, "pattern=blocks", 30, &stream, &error),
        &error, ATTN_ERROR_UNSUPPORTED, "blocks|all tokens at once");
    fixture_refuse_plan(context, "sparse", &problem, "pattern=topk", ATTN_ERROR_ARGUMENT,
                        "pattern blocks");
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(equals_a_mask), cmocka_unit_test(lists_that_are_not_made),
          cmocka_unit_test(cost_and_facts), cmocka_unit_test(refuses))
