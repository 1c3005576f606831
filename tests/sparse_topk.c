/*
 * sparse over the blocks that a run chooses: as a mask of all pairs would, which says the same. Queries and
 * keys are small whole numbers, so that sums are exact, and many blocks weigh the same.
 */
#include "sparse_scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct topk {
    int64_t block, local, top;
} topk_t;

static int64_t floor_of(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/* ---- the oracle ----------------------------------------------------------------------------------- */

static double scaled_key(const attn_io_t *io, int64_t b, int64_t h, int64_t j, int64_t k) {
    const double key = typed_get(&io->key, b, h, j, k);
    return io->key_scales.data ? key * typed_get(&io->key_scales, b, h, j, 0) : key;
}

/* The queries of a block of positions, the block of keys, and whether one sees the other. */
static int64_t row_of(const topk_t *topk, const scene_t *s, int64_t b, int64_t i) {
    return floor_of(exact_position(&s->problem, &s->io, b, i), topk->block);
}

static int sees_block(const topk_t *topk, const scene_t *s, const int64_t at[3], int64_t column) {
    attn_problem_t unmasked = s->problem, *p = &unmasked;
    p->inputs &= ~(uint32_t)ATTN_INPUT_MASK; /* which has no say */
    for (int64_t i = 0; i < p->queries; i++)
        for (int64_t j = column * topk->block; j < p->keys && j < (column + 1) * topk->block; j++)
            if (row_of(topk, s, at[0], i) == at[2] && exact_sees(p, &s->io, at[0], at[1], i, j))
                return 1;
    return 0;
}

/* The mean query times the mean key, but for how many queries there are. */
static double score_of(const topk_t *topk, const scene_t *s, const int64_t at[3], int64_t column) {
    const attn_problem_t *p = &s->problem;
    const int64_t kv_head = at[1] / (p->heads / p->kv_heads);
    const int64_t length = p->inputs & ATTN_INPUT_KV_LENGTHS
                               ? (int64_t)typed_get(&s->io.kv_lengths, at[0], 0, 0, 0)
                               : p->keys;
    const int64_t first = column * topk->block;
    const int64_t last = first + topk->block < length ? first + topk->block : length;
    double score = 0;
    for (int64_t k = 0; k < p->dim; k++) {
        double query = 0, key = 0;
        for (int64_t i = 0; i < p->queries; i++)
            if (row_of(topk, s, at[0], i) == at[2])
                query += typed_get(&s->io.query, at[0], at[1], i, k);
        for (int64_t j = first; j < last; j++) key += scaled_key(&s->io, at[0], kv_head, j, k);
        score += query * key;
    }
    return score / (double)(last - first);
}

/* Which blocks of keys the block `at` (batch, head, row) of queries has. */
static void choose(const topk_t *topk, const scene_t *s, const int64_t at[3], int *kept) {
    const int64_t columns = (s->problem.keys - 1) / topk->block + 1;
    double scores[256];
    assert_true(columns <= 256);
    for (int64_t c = 0; c < columns; c++) {
        kept[c] = c - at[2] < topk->local && at[2] - c < topk->local;
        scores[c] = !kept[c] && sees_block(topk, s, at, c) ? score_of(topk, s, at, c) : NAN;
    }
    for (int64_t t = 0; t < topk->top; t++) {
        int64_t best = -1;
        for (int64_t c = 0; c < columns; c++)
            if (!isnan(scores[c]) && (best < 0 || scores[c] > scores[best])) best = c;
        if (best < 0) return;
        kept[best] = 1;
        scores[best] = NAN;
    }
}

static void fill_mask(const topk_t *topk, scene_t *s) {
    const attn_problem_t *p = &s->problem;
    int kept[256];
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->heads; h++)
            for (int64_t i = 0; i < p->queries; i++) {
                const int64_t row = row_of(topk, s, b, i);
                if (i == 0 || row != row_of(topk, s, b, i - 1))
                    choose(topk, s, SHAPE(b, h, row, 0), kept);
                for (int64_t j = 0; j < p->keys; j++)
                    typed_set(&s->kept, b, h, i, j,
                              kept[j / topk->block] && exact_sees(p, &s->io, b, h, i, j));
            }
}

static void check(const attn_context_t *context, const attn_problem_t *problem, uint64_t number,
                  int64_t block) {
    const topk_t topk = {block, 1 + (int64_t)(number % 2), (int64_t)(number % 4)};
    scene_t s = scene_create(problem, number);
    snprintf(s.settings, sizeof s.settings,
             "pattern=topk,block=%" PRId64 ",local=%" PRId64 ",top=%" PRId64, block, topk.local,
             topk.top);
    fill_mask(&topk, &s);
    scene_spoil_values(&s);
    scene_check(context, &s);
}

static void equals_a_mask(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{70, 70}, {1, 100}, {37, 90}, {90, 37}, {5, 3}, {1, 1}};
    static const int64_t blocks[] = {1, 3, 8, 20};
    attn_context_t *context = fixture_context(2);
    uint64_t number = 0;
    for (size_t n = 0; n < TEST_COUNT(sizes); n++)
        for (size_t k = 0; k < TEST_COUNT(blocks); k++)
            for (int turn = 0; turn < 6; turn++, number++) {
                const attn_problem_t problem = scene_problem(number, sizes[n], 11);
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
    assert_true(cost.computed == 2 * (others + 8 * 64));
    assert_true(fixture_fact(plan, "top", -1) == 3);
    attn_plan_destroy(plan);
    plan = fixture_plan(context, "sparse", &problem, "pattern=topk,block=8,top=100");
    assert_true(fixture_fact(plan, "top", -1) == 8); /* as many as there are */
    attn_plan_destroy(plan);
    for (int causal = 0; causal < 2;
         causal++) { /* a short last block is chosen or not: runs decide */
        problem = fixture_problem(1, 2, 61, 61, 4, 4);
        problem.causal = causal ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_NONE;
        plan = fixture_plan(context, "sparse", &problem, "pattern=topk,block=8,top=3");
        assert_int_equal(attn_plan_cost(plan, &cost, &error), ATTN_OK);
        assert_true(isnan(cost.pairs) == !causal && isnan(cost.computed) == !causal);
        attn_plan_destroy(plan);
    }
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
        &error, ATTN_ERROR_UNSUPPORTED, "topk has no streams");
    problem.causal = ATTN_CAUSAL_NONE; /* random blocks of later tokens, too */
    fixture_expect(
        fixture_try_stream(context, "sparse", &problem, "pattern=bigbird", 30, &stream, &error),
        &error, ATTN_ERROR_UNSUPPORTED, "bigbird has no streams without causal");
    problem.own_inputs = 1;
    fixture_expect(
        fixture_try_stream(context, "sparse", &problem, "pattern=blocks", 30, &stream, &error),
        &error, ATTN_ERROR_UNSUPPORTED, "blocks has no streams");
    fixture_refuse_plan(context, "sparse", &problem, "pattern=topk", ATTN_ERROR_ARGUMENT,
                        "pattern blocks");
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(equals_a_mask), cmocka_unit_test(lists_that_are_not_made),
          cmocka_unit_test(cost_and_facts), cmocka_unit_test(refuses))
