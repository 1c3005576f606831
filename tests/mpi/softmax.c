/* Softmax over ranks: every rule, element type and way, against exact attention of the whole sequence. */
#include "shard.h"

#include "support/fixture.h"

#include <inttypes.h>
#include <string.h>

/* ---- results ----------------------------------------------------------------------------------- */

static void add_rules(attn_problem_t *p, int kind) {
    trial_set_rules(p, kind);
    if (kind == 9) p->dtype = p->kv_dtype = ATTN_BF16, p->causal = ATTN_CAUSAL_TOP_LEFT;
    if (kind == 10) p->dtype = ATTN_F16, p->inputs = ATTN_INPUT_SINKS, p->past = -3;
    if (kind == 11)
        p->causal = ATTN_CAUSAL_BOTTOM_RIGHT, p->inputs = ATTN_INPUT_KV_LENGTHS, p->kv_heads = 2;
}
enum { KINDS = 12 };

static look_t look_of(uint64_t number) {
    return (look_t){.layout = (layout_t)(number % LAYOUT_COUNT),
                    .bias_axes = (int)(number % 8),
                    .mask_axes = (int)(number / 3 % 8),
                    .lse = number % 3 != 0,
                    .scores = number % 2 == 0};
}

static void check(const attn_context_t *context, const attn_problem_t *problem, uint64_t number,
                  int32_t layout, int32_t way) {
    look_t look = look_of(number);
    if (way == ATTN_MPI_WAY_TREE) look.scores = 0;
    shard_check(context, problem, &look, layout, way);
}

/** Lengths that ranks do not divide, below and above their number. */
static void every_rule_is_that_of_the_whole(void **state) {
    static const int64_t queries[] = {1, 3, 45}, keys[] = {2, 37, 90};
    attn_context_t *context = fixture_context(1);
    uint64_t number = 100;
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t n = 0; n < TEST_COUNT(queries); n++)
            for (size_t m = 0; m < TEST_COUNT(keys); m++)
                for (int32_t variant = 0; variant < 4; variant++) {
                    attn_problem_t problem = fixture_problem(2, 4, queries[n], keys[m], 7, 10);
                    add_rules(&problem, kind);
                    problem.scores = (int32_t)(number / 2 % 4);
                    number++;
                    if (!test_takes_case()) continue;
                    check(context, &problem, number, 1 + variant % 2, 1 + variant / 2);
                }
    attn_context_destroy(context);
}

/* ---- bits ---------------------------------------------------------------------------------------- */

/** As many ranks give the same bits, on any run and any number of threads. */
static void runs_repeat_their_bits(void **state) {
    attn_context_t *one = fixture_context(1), *three = fixture_context(3);
    (void)state;
    for (int32_t way = ATTN_MPI_WAY_RING; way <= ATTN_MPI_WAY_TREE; way++) {
        attn_problem_t problem = fixture_problem(1, 4, 70, 333, 16, 16);
        const look_t look = {.lse = 1};
        problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT, problem.kv_heads = 2;
        trial_t trial = shard_trial(&problem, &look);
        attn_mpi_plan_t *plans[2] = {ranks_plan(one, &problem, 0, way),
                                     ranks_plan(three, &problem, 0, way)};
        shard_t shards[2] = {shard_create(&trial, plans[0]), shard_create(&trial, plans[1])};
        trial_label(&trial, "the same bits");
        shard_run(&shards[0]);
        for (int run = 0; run < 3; run++) {
            shard_run(&shards[1]);
            if (!shards[0].out.block) continue;
            typed_check_same(&shards[0].out, &shards[1].out, "out");
            typed_check_same(&shards[0].lse, &shards[1].lse, "lse");
        }
        for (int i = 0; i < 2; i++) {
            shard_destroy(&shards[i]);
            attn_mpi_plan_destroy(plans[i]);
        }
        trial_destroy(&trial);
    }
    attn_context_destroy(three);
    attn_context_destroy(one);
}

/* ---- who has what --------------------------------------------------------------------------------- */

static void count_rows(const attn_mpi_plan_t *plan,
                       int32_t (*rows_of)(const attn_mpi_plan_t *, int32_t, attn_mpi_rows_t *),
                       int64_t all) {
    char seen[256] = {0};
    int64_t total = 0;
    attn_mpi_rows_t rows;
    for (int rank = 0; rank < ranks_size(); rank++) {
        assert_true(rows_of(plan, rank, &rows));
        assert_true(rows.total == rows.count[0] + rows.count[1]);
        total += rows.total;
        for (int c = 0; c < 2; c++)
            for (int64_t i = 0; i < rows.count[c]; i++) seen[rows.first[c] + i]++;
    }
    assert_true(total == all);
    for (int64_t i = 0; i < all; i++) assert_int_equal(seen[i], 1);
    assert_false(rows_of(plan, -1, &rows));
    assert_false(rows_of(plan, ranks_size(), &rows));
}

/** Every row is one rank's, in both layouts; and by itself a plan chooses what suits the problem. */
static void ranks_share_all_rows(void **state) {
    attn_context_t *context = fixture_context(1);
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        attn_problem_t problem = fixture_problem(1, 2, kind == 3 ? 1 : 101, 200, 4, 4);
        attn_mpi_options_t options = {.struct_size = sizeof options};
        if (kind) problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        if (kind == 2) problem.window_left = 20;
        attn_mpi_plan_t *plan = ranks_plan(context, &problem, 0, 0);
        assert_true(attn_mpi_plan_options(plan, &options));
        count_rows(plan, attn_mpi_query_rows, problem.queries);
        count_rows(plan, attn_mpi_key_rows, problem.keys);
        if (ranks_size() > 1) {
            assert_int_equal(options.layout,
                             kind == 1 ? ATTN_MPI_LAYOUT_ZIGZAG : ATTN_MPI_LAYOUT_CONTIGUOUS);
            assert_int_equal(options.way, kind == 3 ? ATTN_MPI_WAY_TREE : ATTN_MPI_WAY_RING);
        }
        attn_mpi_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

/** With a window a block goes as far as somebody sees it. */
static void windows_shorten_the_ring(void **state) {
    attn_context_t *context = fixture_context(1);
    const look_t look = {.lse = 1};
    attn_problem_t problem = fixture_problem(1, 2, 160, 160, 4, 4);
    attn_mpi_times_t times = {.struct_size = sizeof times};
    (void)state;
    for (int sides = 1; sides <= 2; sides++) {
        problem.window_left = 10;
        problem.window_right = sides == 2 ? 10 : 0;
        trial_t trial = shard_trial(&problem, &look);
        attn_mpi_plan_t *plan =
            ranks_plan(context, &problem, ATTN_MPI_LAYOUT_CONTIGUOUS, ATTN_MPI_WAY_RING);
        assert_false(attn_mpi_plan_times(plan, &times));
        shard_t shard = shard_create(&trial, plan);
        shard_run(&shard);
        shard_compare(&shard);
        assert_true(attn_mpi_plan_times(plan, &times));
        assert_int_equal(times.hops, ranks_size() < sides + 1 ? ranks_size() : sides + 1);
        shard_destroy(&shard);
        attn_mpi_plan_destroy(plan);
        trial_destroy(&trial);
    }
    attn_context_destroy(context);
}

/** Nor does it where lengths of a run move the queries. */
static void lengths_shorten_the_ring(void **state) {
    attn_context_t *context = fixture_context(1);
    const look_t look = {.lse = 1};
    attn_mpi_times_t times = {.struct_size = sizeof times};
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        attn_problem_t problem = fixture_problem(2, 2, 160, 160, 4, 4);
        problem.inputs = ATTN_INPUT_KV_LENGTHS;
        problem.window_left = 10, problem.window_right = 0;
        if (kind) problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
        trial_t trial = shard_trial(&problem, &look);
        for (int b = 0; b < 2; b++) typed_set(&trial.lengths, b, 0, 0, 0, 160 - b);
        attn_mpi_plan_t *plan =
            ranks_plan(context, &problem, ATTN_MPI_LAYOUT_CONTIGUOUS, ATTN_MPI_WAY_RING);
        shard_t shard = shard_create(&trial, plan);
        shard_run(&shard);
        shard_compare(&shard);
        assert_true(attn_mpi_plan_times(plan, &times));
        assert_int_equal(times.hops, ranks_size() < 2 ? ranks_size() : 2);
        shard_destroy(&shard);
        attn_mpi_plan_destroy(plan);
        trial_destroy(&trial);
    }
    attn_context_destroy(context);
}

RANKS_MAIN(cmocka_unit_test(every_rule_is_that_of_the_whole),
           cmocka_unit_test(runs_repeat_their_bits), cmocka_unit_test(ranks_share_all_rows),
           cmocka_unit_test(windows_shorten_the_ring), cmocka_unit_test(lengths_shorten_the_ring))
