/* sparse's pattern bigbird: what must hold of the blocks it draws, whichever they are. */
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST = 48 };

/* Blocks of keys and of queries, and which ones are seen. */
typedef struct drawing {
    int64_t blocks, block, local, global, random, seed;
    int32_t causal;
    uint8_t kept[MOST][MOST];
} drawing_t;

static attn_plan_t *plan_of(const attn_context_t *context, const drawing_t *l) {
    const int64_t tokens = l->blocks * l->block;
    attn_problem_t problem = fixture_problem(1, 1, tokens, tokens, 1, 1);
    char settings[160];
    problem.causal = l->causal;
    snprintf(settings, sizeof settings,
             "pattern=bigbird,block=%" PRId64 ",local=%" PRId64 ",global=%" PRId64
             ",random=%" PRId64 ",seed=%" PRId64,
             l->block, l->local, l->global, l->random, l->seed);
    test_label("%s: %" PRId64 " blocks, causal %d", settings, l->blocks, l->causal);
    return fixture_plan(context, "sparse", &problem, settings);
}

/* A block is seen as a whole, but for what causal hides of it. */
static void look(const attn_context_t *context, drawing_t *l) {
    static float rows[3 * MOST * 3 * MOST];
    const int64_t tokens = l->blocks * l->block;
    attn_plan_t *plan = plan_of(context, l);
    arrays_t arrays = arrays_create(attn_plan_problem(plan), LAYOUT_BHND, 1);
    arrays_give_workspace(&arrays, plan);
    assert_int_equal(attn_weights(plan, &arrays.io, 0, 0, 0, tokens, rows, tokens, NULL), ATTN_OK);
    for (int64_t i = 0; i < tokens; i++)
        for (int64_t j = 0; j < tokens; j++) {
            uint8_t *kept = &l->kept[i / l->block][j / l->block];
            const int is_kept = rows[i * tokens + j] > 0;
            if (i % l->block == 0 && j % l->block == 0) *kept = (uint8_t)is_kept;
            if (l->causal && j > i ? is_kept : is_kept != *kept)
                test_fail("query %" PRId64 ", key %" PRId64 ": %d", i, j, is_kept);
        }
    arrays_destroy(&arrays);
    attn_plan_destroy(plan);
}

static int is_seen_anyway(const drawing_t *l, int64_t row, int64_t column) {
    return column < l->global || row < l->global ||
           (column - row < l->local && row - column < l->local);
}

static void count_drawn(const drawing_t *l) {
    for (int64_t row = 0; row < l->blocks; row++) {
        int64_t drawn = 0, others = 0;
        for (int64_t c = 0; c < (l->causal ? row + 1 : l->blocks); c++)
            if (!is_seen_anyway(l, row, c))
                others++, drawn += l->kept[row][c];
            else if (!l->kept[row][c])
                test_fail("row %" PRId64 " does not see block %" PRId64, row, c);
        if (drawn != (l->random < others ? l->random : others))
            test_fail("row %" PRId64 ": %" PRId64 " of %" PRId64 " blocks", row, drawn, others);
    }
}

/* As many different ones as are asked for, of those that are not seen anyway, and none of later tokens. */
static void as_many_as_asked(void **state) {
    (void)state;
    static const int64_t shapes[][4] = {{48, 1, 1, 0}, {40, 1, 2, 3}, {17, 3, 1, 1},
                                        {12, 2, 5, 0}, {6, 1, 1, 9},  {1, 3, 1, 0}};
    static const int64_t random[] = {0, 1, 3, 11, 37, 38, 39, 65536};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(shapes); s++)
        for (size_t r = 0; r < TEST_COUNT(random); r++)
            for (int32_t causal = 0; causal <= ATTN_CAUSAL_TOP_LEFT; causal++) {
                drawing_t l = {.blocks = shapes[s][0],
                               .block = shapes[s][1],
                               .local = shapes[s][2],
                               .global = shapes[s][3],
                               .random = random[r],
                               .seed = (int64_t)r,
                               .causal = causal};
                look(context, &l);
                count_drawn(&l);
            }
    attn_context_destroy(context);
}

/* Each row draws for itself: of 31 rows that see a block each with probability 3/31, more than half do once in 2e8. */
static void expect_different_rows(const drawing_t *l) {
    for (int64_t c = 0; c < l->blocks; c++) {
        int64_t times = 0;
        for (int64_t row = 0; row < l->blocks; row++) times += row != c && l->kept[row][c];
        if (times > 15) test_fail("block %" PRId64 " is drawn by %" PRId64 " rows", c, times);
    }
}

/* The seed alone decides. */
static void seeds(void **state) {
    (void)state;
    static const int64_t many[] = {0, 1, 2, (int64_t)1 << 32, ((int64_t)1 << 53) - 1};
    attn_context_t *context = fixture_context(1);
    drawing_t drawn[TEST_COUNT(many)];
    for (size_t s = 0; s < TEST_COUNT(many); s++) {
        drawn[s] = (drawing_t){.blocks = 32, .block = 1, .local = 1, .random = 3, .seed = many[s]};
        look(context, &drawn[s]);
        expect_different_rows(&drawn[s]);
        drawing_t again = drawn[s];
        look(context, &again);
        assert_memory_equal(again.kept, drawn[s].kept, sizeof again.kept);
        for (size_t other = 0; other < s; other++)
            if (memcmp(drawn[other].kept, drawn[s].kept, sizeof drawn[s].kept) == 0)
                test_fail("the same as with seed %" PRId64, many[other]);
    }
    attn_context_destroy(context);
}

/*
 * All blocks are drawn equally often: over `SEEDS` seeds a block is left to the 15 other rows, each of which
 * sees it with probability 1/5 and by itself, so that it is drawn 600 times with a deviation of 21.9; six of them
 * are exceeded once in 5e8. A row that never draws one of the blocks has probability 0.8^200.
 */
static void all_are_as_likely(void **state) {
    (void)state;
    enum { SEEDS = 200, BLOCKS = 16 };
    attn_context_t *context = fixture_context(1);
    int64_t times[BLOCKS][BLOCKS] = {{0}};
    for (int64_t seed = 0; seed < SEEDS; seed++) {
        drawing_t l = {.blocks = BLOCKS, .block = 1, .local = 1, .random = 3, .seed = seed};
        look(context, &l);
        for (int64_t row = 0; row < BLOCKS; row++)
            for (int64_t c = 0; c < BLOCKS; c++) times[row][c] += l.kept[row][c];
    }
    for (int64_t c = 0; c < BLOCKS; c++) {
        int64_t drawn = 0;
        for (int64_t row = 0; row < BLOCKS; row++) {
            if (times[row][c] == 0) test_fail("row %" PRId64 " never sees block %" PRId64, row, c);
            if (row != c) drawn += times[row][c];
        }
        if (fabs((double)drawn - 600) > 6 * 21.9)
            test_fail("block %" PRId64 " is drawn %" PRId64 " times", c, drawn);
    }
    attn_context_destroy(context);
}

/* Seconds; clock() is not to be had under WASI. */
static double now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Asking for more than there are costs no more than all: a million draws, where 64 tries for each block asked
 * for would be 4 thousand million. */
static void more_than_there_are(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const drawing_t l = {.blocks = 1024, .block = 1, .local = 1, .random = 65536};
    const double start = now();
    attn_plan_t *plan = plan_of(context, &l);
    const double seconds = now() - start;
    attn_cost_t cost = {.struct_size = sizeof cost};
    assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
    assert_true(cost.pairs == 1024.0 * 1024.0);
    if (seconds > 10) test_fail("the plan took %g seconds", seconds);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

/* Drawing costs what is drawn, 2^21 blocks; looking at all for each row would be 2.7e11 steps. */
static void many_blocks(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const drawing_t l = {.blocks = 1 << 19, .block = 1, .local = 1, .random = 4};
    const double start = now();
    attn_plan_destroy(plan_of(context, &l));
    const double seconds = now() - start;
    if (seconds > 10) test_fail("the plan took %g seconds", seconds);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(as_many_as_asked), cmocka_unit_test(seeds),
          cmocka_unit_test(all_are_as_likely), cmocka_unit_test(more_than_there_are),
          cmocka_unit_test(many_blocks))
