/* Gradients of softmax over ranks: of every array that has one, against exact attention's of the whole sequence. */
#include "back.h"

#include "support/fixture.h"

/* ---- all rules ------------------------------------------------------------------------------------ */

static void add_rules(attn_problem_t *p, int kind) {
    trial_set_rules(p, kind);
    if (p->kv_dtype == ATTN_I8) p->kv_dtype = ATTN_F32; /* has no gradients */
    if (kind == 9) p->dtype = p->kv_dtype = ATTN_BF16, p->causal = ATTN_CAUSAL_TOP_LEFT;
    if (kind == 10) p->dtype = ATTN_F16, p->inputs = ATTN_INPUT_SINKS, p->past = -3;
    if (kind == 11)
        p->causal = ATTN_CAUSAL_BOTTOM_RIGHT, p->inputs = ATTN_INPUT_KV_LENGTHS, p->kv_heads = 2;
}
enum { KINDS = 12 };

/** Lengths that ranks do not divide, below and above their number. */
static void every_rule_is_that_of_the_whole(void **state) {
    static const int64_t queries[] = {1, 3, 45}, keys[] = {2, 37, 90};
    attn_context_t *context = fixture_context(2);
    uint64_t number = 0;
    (void)state;
    shard_begin();
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t n = 0; n < TEST_COUNT(queries); n++)
            for (size_t m = 0; m < TEST_COUNT(keys); m++)
                for (int32_t layout = 1; layout <= 2; layout++) {
                    attn_problem_t problem = fixture_problem(2, 4, queries[n], keys[m], 7, 10);
                    back_job_t job = {context, layout};
                    add_rules(&problem, kind);
                    number++;
                    if (!test_takes_case()) continue;
                    const look_t look = {.layout = (layout_t)(number % LAYOUT_COUNT),
                                         .bias_axes = (int)(number % 8),
                                         .mask_axes = (int)(number / 3 % 8)};
                    trial_check_gradients_by(&problem, &look, back_steps(), back_solve, &job);
                }
    attn_context_destroy(context);
}

/* ---- bits ---------------------------------------------------------------------------------------- */

enum { ARRAYS = 3 };

/* dQ, dK and dV of one call. */
static void go_back(attn_mpi_plan_t *plan, const shard_t *shard, typed_t arrays[ARRAYS]) {
    attn_io_t gradients;
    attn_error_t error = {0};
    attn_io_init(&gradients);
    for (int i = 0; i < ARRAYS; i++)
        if (arrays[i].block) typed_reset(&arrays[i]);
    gradients.out = shard->io.query;
    gradients.query = arrays[0].tensor;
    gradients.key = arrays[1].tensor;
    gradients.value = arrays[2].tensor;
    if (attn_mpi_backward(plan, &shard->io, &gradients, &error)) test_fail("%s", error.message);
}

/** As many ranks give the same bits, on any run and any number of threads. */
static void runs_repeat_their_bits(void **state) {
    attn_context_t *contexts[2] = {fixture_context(1), fixture_context(3)};
    attn_problem_t problem = fixture_problem(1, 4, 333, 333, 16, 16);
    const look_t look = {.lse = 1};
    typed_t arrays[2][ARRAYS];
    attn_mpi_plan_t *plans[2];
    (void)state;
    problem.causal = ATTN_CAUSAL_TOP_LEFT, problem.kv_heads = 2, problem.backward = 1;
    trial_t trial = shard_trial(&problem, &look);
    for (int i = 0; i < 2; i++) plans[i] = ranks_plan(contexts[i], &problem, 0, 0);
    shard_t shard = shard_create(&trial, plans[0]);
    const typed_t *const of[ARRAYS] = {&shard.query, &shard.key, &shard.value};
    for (int i = 0; i < 2 * ARRAYS; i++) arrays[i / ARRAYS][i % ARRAYS] = back_like(of[i % ARRAYS]);
    shard_run(&shard);
    go_back(plans[0], &shard, arrays[0]);
    for (int run = 0; run < 3; run++) {
        go_back(plans[1], &shard, arrays[1]);
        for (int i = 0; i < ARRAYS; i++) typed_check_same(&arrays[0][i], &arrays[1][i], "gradient");
    }
    for (int i = 0; i < 2 * ARRAYS; i++) typed_destroy(&arrays[i / ARRAYS][i % ARRAYS]);
    shard_destroy(&shard);
    for (int i = 0; i < 2; i++) {
        attn_mpi_plan_destroy(plans[i]);
        attn_context_destroy(contexts[i]);
    }
    trial_destroy(&trial);
}

RANKS_MAIN(cmocka_unit_test(every_rule_is_that_of_the_whole),
           cmocka_unit_test(runs_repeat_their_bits))
