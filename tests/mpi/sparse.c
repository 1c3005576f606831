/* Sparse over ranks: every pattern that is split, with every rule, against exact attention under the pattern. */
#include "back.h"

#include "support/fixture.h"

#include <stdio.h>
#include <string.h>

/* ---- patterns of positions ---------------------------------------------------------------------- */

#define PATTERN(kind, text, ...)                                                                   \
    {                                                                                              \
        "sparse", "pattern=" text, { .form = FORM_SPARSE, .pattern = PATTERN_##kind, __VA_ARGS__ } \
    }
static const trial_subject_t SUBJECTS[] = {
    PATTERN(BAND, "band,block=5,local=2,global=2", .block = 5, .local = 2, .global = 2),
    PATTERN(BAND, "band,block=7,local=1,global=0", .block = 7, .local = 1),
    PATTERN(FIXED, "fixed,block=4,local=2,global=1", .block = 4, .local = 2, .global = 1),
    PATTERN(STRIDED, "strided,block=3,local=2,stride=3", .block = 3, .local = 2, .stride = 3),
    PATTERN(WINDOW, "window,block=3,local=3", .block = 3, .local = 3),
    PATTERN(LONGFORMER, "longformer,block=3,local=2,global=4", .block = 3, .local = 2, .global = 4),
    PATTERN(DILATED, "dilated,block=2,local=2,stride=3", .block = 2, .local = 2, .stride = 3),
    PATTERN(BIGBIRD, "bigbird,block=4,local=1,global=1,random=2,seed=7", .block = 4, .local = 1,
            .global = 1, .random = 2, .seed = 7),
};
enum { KINDS = 12, VARIANTS = 4 };

static void add_rules(attn_problem_t *p, int kind) {
    trial_set_rules(p, kind);
    if (kind == 9) p->dtype = p->kv_dtype = ATTN_BF16, p->causal = ATTN_CAUSAL_TOP_LEFT;
    if (kind == 10) p->dtype = ATTN_F16, p->inputs = ATTN_INPUT_SINKS, p->past = -4;
    if (kind == 11)
        p->causal = ATTN_CAUSAL_BOTTOM_RIGHT, p->inputs = ATTN_INPUT_KV_LENGTHS, p->kv_heads = 2;
}

/* Blocks that are drawn are those of the first query's block on. */
static int is_split(const formula_t *formula, const attn_problem_t *p) {
    const int has_lengths = p->inputs & ATTN_INPUT_KV_LENGTHS;
    if (formula->pattern != PATTERN_BIGBIRD) return 1;
    if (formula->block > p->keys) return 0;
    return attn_query_position(p, p->keys, 0) % formula->block == 0 &&
           !(p->causal == ATTN_CAUSAL_BOTTOM_RIGHT && has_lengths);
}

static void refuse(const attn_context_t *context, const attn_problem_t *problem) {
    attn_param_t params[FIXTURE_SETTINGS];
    attn_mpi_plan_t *plan = NULL;
    attn_error_t error = {0};
    char text[256];
    snprintf(text, sizeof text, "%s", trial_subject()->settings);
    const uint32_t count = fixture_settings(text, params);
    fixture_expect(attn_mpi_plan_create(context, MPI_COMM_WORLD, "sparse", problem, params, count,
                                        NULL, &plan, &error),
                   &error, ATTN_ERROR_UNSUPPORTED, "rank 0: mpi: pattern=bigbird|not split");
    assert_null(plan);
}

static void check(const attn_context_t *context, const attn_problem_t *problem, uint64_t number) {
    const look_t look = {.layout = (layout_t)(number % LAYOUT_COUNT),
                         .bias_axes = (int)(number % 8),
                         .mask_axes = (int)(number / 3 % 8),
                         .lse = number % 3 != 0};
    const int variant = (int)(number % VARIANTS);
    shard_check(context, problem, &look, 1 + variant % 2, 1 + variant / 2);
    if (number % 5 || !trial_has_gradients(context, problem)) return;
    back_job_t job = {context, 1 + variant % 2};
    trial_check_gradients_by(problem, &look, back_steps(), back_solve, &job);
}

static void patterns_are_those_of_the_whole(void **state) {
    static const int64_t sizes[][2] = {{3, 37}, {45, 45}, {45, 90}, {64, 64}, {90, 33}};
    attn_context_t *context = fixture_context(2);
    uint64_t number = 0;
    (void)state;
    for (size_t s = 0; s < TEST_COUNT(SUBJECTS); s++)
        for (int kind = 0; kind < KINDS; kind++)
            for (size_t n = 0; n < TEST_COUNT(sizes); n++) {
                attn_problem_t problem = fixture_problem(2, 4, sizes[n][0], sizes[n][1], 7, 10);
                trial_subject_t subject = SUBJECTS[s];
                formula_t *formula = &subject.formula;
                add_rules(&problem, kind);
                formula->among = (problem.keys - 1) / formula->block + 1;
                formula->causal = problem.causal != ATTN_CAUSAL_NONE;
                number++;
                if (!test_takes_case()) continue;
                trial_set_subject(&subject);
                if (is_split(formula, &problem))
                    check(context, &problem, number);
                else
                    refuse(context, &problem);
                trial_set_subject(NULL);
            }
    attn_context_destroy(context);
}

/* ---- blocks that the caller lists ------------------------------------------------------------------- */

enum { BLOCK = 4, BLOCKS = 12, OWN = 4 };

/* What is listed for a block of queries. */
static int lists(int64_t row, int64_t column) {
    return (row * 5 + column * 3) % 4 == 0 || row == column;
}

static int keeps(const void *pattern, int64_t position, int64_t key) {
    (void)pattern;
    return lists(position / BLOCK, key / BLOCK);
}

static void add_input(const attn_context_t *context, attn_problem_t *problem, const char *name) {
    attn_error_t error = {0};
    if (attn_problem_add_input(problem, attn_backend_find(context, "sparse"), name, &error))
        test_fail("%s", error.message);
}

static shard_t listed_shard(trial_t *trial, attn_mpi_plan_t *plan,
                            const attn_tensor_t *const *own) {
    shard_t shard = shard_create(trial, plan);
    trial_label(trial, "lists");
    shard.io.own = own, shard.io.own_count = OWN;
    shard_run(&shard);
    shard_compare_under(&shard, keeps);
    return shard;
}

/* The last rank brings a list that is wrong. */
static void expect(shard_t *shard, attn_mpi_plan_t *plan, attn_tensor_t *list, attn_tensor_t wrong,
                   attn_status_t status, const char *words) {
    const attn_tensor_t right = *list;
    attn_error_t error = {0};
    if (ranks_rank() == ranks_size() - 1) *list = wrong;
    fixture_expect(attn_mpi_run(plan, &shard->io, &error), &error, status, words);
    *list = right;
}

static void check_mask(const attn_context_t *context, attn_problem_t problem, const look_t *look,
                       int variant) {
    add_input(context, &problem, "block_mask");
    trial_t trial = shard_trial(&problem, look);
    attn_mpi_plan_t *plan = ranks_plan(context, &problem, 1 + variant % 2, 1 + variant / 2);
    typed_t mask = typed_create(ATTN_BOOL, LAYOUT_BHND, (int64_t[]){1, 4, BLOCKS, BLOCKS});
    for (int64_t h = 0; h < 4; h++)
        for (int64_t i = 0; i < BLOCKS; i++)
            for (int64_t j = 0; j < BLOCKS; j++) typed_set(&mask, 0, h, i, j, lists(i, j));
    typed_seal(&mask);
    const attn_tensor_t *own[OWN] = {&mask.tensor};
    shard_t shard = listed_shard(&trial, plan, own);
    attn_tensor_t narrow = mask.tensor, none = mask.tensor;
    narrow.shape[3]--, none.data = NULL;
    expect(&shard, plan, &mask.tensor, narrow, ATTN_ERROR_SHAPE, "rank |block_mask: shape");
    expect(&shard, plan, &mask.tensor, none, ATTN_ERROR_ARGUMENT, "rank |block_mask: is missing");
    typed_check(&mask, "block_mask");
    typed_destroy(&mask);
    shard_destroy(&shard);
    attn_mpi_plan_destroy(plan);
    trial_destroy(&trial);
}

static void check_csr(const attn_context_t *context, attn_problem_t problem, const look_t *look,
                      int variant) {
    add_input(context, &problem, "block_starts");
    add_input(context, &problem, "block_columns");
    trial_t trial = shard_trial(&problem, look);
    attn_mpi_plan_t *plan = ranks_plan(context, &problem, 1 + variant % 2, 1 + variant / 2);
    typed_t starts = typed_create(ATTN_I64, LAYOUT_BHND, (int64_t[]){1, 1, 1, BLOCKS + 1});
    typed_t columns =
        typed_create(ATTN_I64, LAYOUT_BHND, (int64_t[]){2, 1, 1, (int64_t)BLOCKS * BLOCKS});
    int64_t count = 0;
    for (int64_t i = 0; i < BLOCKS; i++) {
        typed_set(&starts, 0, 0, 0, i, (double)count);
        for (int64_t j = 0; j < BLOCKS; j++)
            for (int64_t b = 0; lists(i, j) && b < 2; b++, count += b == 2)
                typed_set(&columns, b, 0, 0, count, (double)j);
    }
    typed_set(&starts, 0, 0, 0, BLOCKS, (double)count);
    for (; count < (int64_t)BLOCKS * BLOCKS; count++)
        for (int64_t b = 0; b < 2; b++) typed_set(&columns, b, 0, 0, count, -1);
    const attn_tensor_t *own[OWN] = {NULL, &starts.tensor, &columns.tensor};
    shard_t shard = listed_shard(&trial, plan, own);
    attn_tensor_t shorter = starts.tensor, back = columns.tensor;
    shorter.shape[3]--;
    back.stride[3] = 0;
    expect(&shard, plan, &starts.tensor, shorter, ATTN_ERROR_SHAPE, "rank |block_starts: shape");
    if (shard.queries.total && variant < 2)
        expect(&shard, plan, &columns.tensor, back, ATTN_ERROR_RANGE,
               "rank |block_columns|must be above");
    typed_destroy(&starts);
    typed_destroy(&columns);
    shard_destroy(&shard);
    attn_mpi_plan_destroy(plan);
    trial_destroy(&trial);
}

/** Lists for all pairs of blocks, and in compressed rows; of the last block of queries and keys there is a part. */
static void lists_are_cut(void **state) {
    attn_context_t *context = fixture_context(1);
    const trial_subject_t subject = {"sparse", "pattern=blocks,block=4", {.form = FORM_SOFTMAX}};
    const look_t look = {.lse = 1};
    (void)state;
    for (int variant = 0; variant < VARIANTS; variant++) {
        attn_problem_t problem =
            fixture_problem(2, 4, BLOCK * BLOCKS - 3, BLOCK * BLOCKS - 1, 7, 10);
        problem.kv_heads = 2;
        if (variant % 2) problem.causal = ATTN_CAUSAL_TOP_LEFT;
        trial_set_subject(&subject);
        check_mask(context, problem, &look, variant);
        check_csr(context, problem, &look, variant);
        trial_set_subject(NULL);
    }
    attn_context_destroy(context);
}

/* ---- halos ------------------------------------------------------------------------------------------- */

/** A block goes as far as the pattern sees it. */
static void patterns_shorten_the_ring(void **state) {
    static const trial_subject_t near[] = {
        PATTERN(WINDOW, "window,block=4,local=2", .block = 4, .local = 2),
        PATTERN(BAND, "band,block=4,local=2,global=0", .block = 4, .local = 2),
        PATTERN(DILATED, "dilated,block=2,local=2,stride=2", .block = 2, .local = 2, .stride = 2),
    };
    attn_context_t *context = fixture_context(1);
    const look_t look = {.lse = 1};
    attn_problem_t problem = fixture_problem(1, 2, 160, 160, 4, 4);
    attn_mpi_times_t times = {.struct_size = sizeof times};
    (void)state;
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    for (size_t s = 0; s < TEST_COUNT(near); s++) {
        trial_set_subject(&near[s]);
        trial_t trial = shard_trial(&problem, &look);
        attn_mpi_plan_t *plan = ranks_plan(context, &problem, 0, ATTN_MPI_WAY_RING);
        shard_t shard = shard_create(&trial, plan);
        shard_run(&shard);
        shard_compare(&shard);
        assert_true(attn_mpi_plan_times(plan, &times));
        assert_int_equal(times.hops, ranks_size() < 2 ? ranks_size() : 2);
        shard_destroy(&shard);
        attn_mpi_plan_destroy(plan);
        trial_destroy(&trial);
        trial_set_subject(NULL);
    }
    attn_context_destroy(context);
}

RANKS_MAIN(cmocka_unit_test(patterns_are_those_of_the_whole), cmocka_unit_test(lists_are_cut),
           cmocka_unit_test(patterns_shorten_the_ring))
