/* What ranks bring that does not go together: the same line on every rank, nothing written, and no rank left waiting. */
#include "shard.h"

#include "support/fixture.h"

#include <string.h>

/* The rank that does otherwise than the others; alone it has nobody to differ from. */
static int is_odd(void) { return ranks_rank() == ranks_size() - 1; }

/* All ranks have the first rank's line. */
static void check_line(const attn_error_t *error) {
    attn_error_t first = *error;
    MPI_Bcast(&first, (int)sizeof first, MPI_BYTE, 0, MPI_COMM_WORLD);
    assert_string_equal(error->message, first.message);
}

/* ---- plans --------------------------------------------------------------------------------------- */

typedef struct call {
    attn_problem_t problem;
    attn_mpi_options_t options;
    attn_param_t params[2];
    uint32_t param_count;
    const char *backend;
} call_t;

static void more_keys(call_t *c) { c->problem.keys++; }
static void other_type(call_t *c) { c->problem.kv_dtype = ATTN_BF16; }
static void other_corner(call_t *c) { c->problem.causal = ATTN_CAUSAL_TOP_LEFT; }
static void other_scale(call_t *c) { c->problem.scale = 0.5f; }
static void other_window(call_t *c) { c->problem.window_left = 3; }
static void other_inputs(call_t *c) { c->problem.inputs = ATTN_INPUT_SINKS; }
static void other_way(call_t *c) { c->options.way = ATTN_MPI_WAY_TREE; }
static void other_layout(call_t *c) { c->options.layout = ATTN_MPI_LAYOUT_ZIGZAG; }
static void a_parameter(call_t *c) {
    c->params[c->param_count++] = (attn_param_t){"precision", "f32"};
}

static void no_queries(call_t *c) { c->problem.queries = 0; }
static void unknown_layout(call_t *c) { c->options.layout = 3; }
static void unknown_way(call_t *c) { c->options.way = -1; }
static void sizeless(call_t *c) { c->options.struct_size = 0; }
static void short_options(call_t *c) { c->options.struct_size = 8; }
static void garbage(call_t *c) { c->options.struct_size = 0x7fffffff; }
static void reserved(call_t *c) { c->options.reserved = 5; }
static void choosing(call_t *c) {
    c->backend = "sparse", c->params[c->param_count++] = (attn_param_t){"pattern", "topk"};
}
static void choosing_keys(call_t *c) {
    c->backend = "sparse", c->params[c->param_count++] = (attn_param_t){"pattern", "topkeys"};
}
static void hashing(call_t *c) {
    c->backend = "sparse", c->params[c->param_count++] = (attn_param_t){"pattern", "lsh"};
}
static void looking(call_t *c) {
    c->backend = "sketch", c->params[c->param_count++] = (attn_param_t){"method", "leverage"};
}
static void other_backend(call_t *c) { c->backend = "org.example.other"; }
static void gradients(call_t *c) { c->problem.backward = 1; }
static void gradients_in_a_tree(call_t *c) {
    c->problem.backward = 1, c->options.way = ATTN_MPI_WAY_TREE;
}
static void gradients_of_a_rule(call_t *c) {
    c->problem.backward = 1, c->backend = "linear";
    c->params[c->param_count++] = (attn_param_t){"rule", "gated"};
}
static void unknown_parameter(call_t *c) {
    c->params[c->param_count++] = (attn_param_t){"blok", "3"};
}
static void nameless_parameter(call_t *c) {
    c->params[c->param_count++] = (attn_param_t){NULL, "3"};
}
static void no_backend(call_t *c) { c->backend = NULL; }

/* `differs`: the odd rank alone does so, or else all. */
static const struct {
    void (*spoil)(call_t *call);
    int differs;
    attn_status_t status;
    const char *words;
} CALLS[] = {
    {more_keys, 1, ATTN_ERROR_ARGUMENT, "ranks differ in keys (m): 50 to 51"},
    {other_type, 1, ATTN_ERROR_ARGUMENT, "ranks differ in the element type of keys"},
    {other_corner, 1, ATTN_ERROR_ARGUMENT, "ranks differ in causal: 0 to 1"},
    {other_scale, 1, ATTN_ERROR_ARGUMENT, "ranks differ in scale"},
    {other_window, 1, ATTN_ERROR_ARGUMENT, "ranks differ in window_left: -1 to 3"},
    {other_inputs, 1, ATTN_ERROR_ARGUMENT, "ranks differ in inputs"},
    {other_way, 1, ATTN_ERROR_ARGUMENT, "ranks differ in way"},
    {other_layout, 1, ATTN_ERROR_ARGUMENT, "ranks differ in layout"},
    {a_parameter, 1, ATTN_ERROR_ARGUMENT, "ranks differ in the number of parameters"},
    {no_queries, 1, ATTN_ERROR_SHAPE, "rank |queries"},
    {unknown_layout, 1, ATTN_ERROR_ARGUMENT, "rank |layout is 3"},
    {unknown_way, 0, ATTN_ERROR_ARGUMENT, "rank 0|way is -1"},
    {sizeless, 0, ATTN_ERROR_ARGUMENT, "rank 0|struct_size is 0, set it to sizeof|_options_t"},
    {short_options, 1, ATTN_ERROR_ARGUMENT, "rank |struct_size is 8, set it to sizeof"},
    {garbage, 0, ATTN_ERROR_ARGUMENT, "rank 0|struct_size is 2147483647, set it to sizeof"},
    {reserved, 0, ATTN_ERROR_ARGUMENT, "rank 0|reserved is 5, must be 0"},
    {choosing, 0, ATTN_ERROR_UNSUPPORTED, "rank 0|topk is not split|chooses among all keys"},
    {choosing_keys, 0, ATTN_ERROR_UNSUPPORTED, "rank 0|topkeys is not split"},
    {hashing, 0, ATTN_ERROR_UNSUPPORTED, "rank 0|lsh is not split"},
    {looking, 0, ATTN_ERROR_UNSUPPORTED, "rank 0|method=leverage is not split|all rows"},
    {other_backend, 0, ATTN_ERROR_UNSUPPORTED, "rank 0|org.example.other|not split"},
    {gradients, 1, ATTN_ERROR_ARGUMENT, "ranks differ in backward: 0 to 1"},
    {gradients_in_a_tree, 0, ATTN_ERROR_UNSUPPORTED, "rank 0|gradients|tree"},
    {gradients_of_a_rule, 0, ATTN_ERROR_UNSUPPORTED, "rank 0|gradients of linear|state_out"},
    {unknown_parameter, 0, ATTN_ERROR_NOT_FOUND, "rank 0|blok"},
    {nameless_parameter, 1, ATTN_ERROR_ARGUMENT, "rank |parameter 0"},
    {no_backend, 1, ATTN_ERROR_ARGUMENT, "rank |null"},
};

static void plans_that_differ(void **state) {
    attn_context_t *context = fixture_context(1);
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(CALLS); i++) {
        call_t call = {.problem = fixture_problem(1, 2, 40, 50, 4, 4),
                       .options = {.struct_size = sizeof call.options},
                       .backend = "softmax"};
        attn_mpi_plan_t *plan = NULL;
        attn_error_t error = {0};
        if (CALLS[i].differs && ranks_size() == 1 && strstr(CALLS[i].words, "differ")) continue;
        test_label("plan %zu", i);
        if (!CALLS[i].differs || is_odd()) CALLS[i].spoil(&call);
        const attn_status_t status =
            attn_mpi_plan_create(context, MPI_COMM_WORLD, call.backend, &call.problem, call.params,
                                 call.param_count, &call.options, &plan, &error);
        fixture_expect(status, &error, CALLS[i].status, CALLS[i].words);
        check_line(&error);
        assert_null(plan);
    }
    attn_context_destroy(context);
}

/** Options of a newer header: what they have more is zero, or unknown here. */
static void newer_options(void **state) {
    struct {
        attn_mpi_options_t options;
        int32_t more[2];
    } newer = {.options = {.struct_size = sizeof newer}};
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 2, 40, 50, 4, 4);
    (void)state;
    for (int32_t more = 0; more < 2; more++) {
        attn_mpi_plan_t *plan = NULL;
        attn_error_t error = {0};
        newer.more[1] = more;
        const attn_status_t status = attn_mpi_plan_create(
            context, MPI_COMM_WORLD, "softmax", &problem, NULL, 0, &newer.options, &plan, &error);
        if (more)
            fixture_expect(status, &error, ATTN_ERROR_ARGUMENT, "rank 0|newer header");
        else
            assert_int_equal(status, ATTN_OK);
        attn_mpi_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

/* ---- runs ------------------------------------------------------------------------------------------ */

static double wrong_numbers[2] = {3.5, 0};
static int64_t wrong_lengths[1] = {7};

static void no_key(shard_t *s) { s->io.key.data = NULL; }
static void fewer_rows(shard_t *s) { s->io.value.shape[2]--; }
static void half_query(shard_t *s) { s->io.query.dtype = ATTN_F16; }
static void tangled_out(shard_t *s) { s->io.out.stride[3] = 0; }
static void out_in_value(shard_t *s) { s->io.out.data = s->io.value.data; }
static void other_sinks(shard_t *s) {
    s->io.sinks.data = wrong_numbers;
    s->io.sinks.stride[1] = 0;
}
static void other_lengths(shard_t *s) { s->io.kv_lengths = attn_tensor_lengths(wrong_lengths, 1); }
static void long_lengths(shard_t *s) {
    static const int64_t too_many[1] = {51};
    s->io.kv_lengths = attn_tensor_lengths(too_many, 1);
}
static void narrow_mask(shard_t *s) { s->io.mask.shape[3]--; }
static void no_mask(shard_t *s) { s->io.mask.data = NULL; }
static void scores(shard_t *s) { s->io.scores = s->io.query; }
static void old_io(shard_t *s) { s->io.struct_size = 8; }
static void wide_lse(shard_t *s) { s->io.lse.shape[3] = 2; }

static const struct {
    void (*spoil)(shard_t *shard);
    attn_status_t status;
    const char *words;
} RUNS[] = {
    {no_key, ATTN_ERROR_ARGUMENT, "rank |key: is missing"},
    {fewer_rows, ATTN_ERROR_SHAPE, "rank |value: shape"},
    {half_query, ATTN_ERROR_DTYPE, "rank |query: dtype"},
    {tangled_out, ATTN_ERROR_ARGUMENT, "rank |out: with strides"},
    {out_in_value, ATTN_ERROR_ARGUMENT, "rank |shares memory"},
    {other_sinks, ATTN_ERROR_ARGUMENT, "ranks differ in sinks"},
    {other_lengths, ATTN_ERROR_ARGUMENT, "ranks differ in kv_lengths"},
    {long_lengths, ATTN_ERROR_RANGE, "rank |51 keys"},
    {narrow_mask, ATTN_ERROR_SHAPE, "rank |mask: shape"},
    {no_mask, ATTN_ERROR_ARGUMENT, "rank |mask"},
    {scores, ATTN_ERROR_SHAPE, "rank |scores"},
    {old_io, ATTN_ERROR_ARGUMENT, "rank |struct_size is 8"},
    {wide_lse, ATTN_ERROR_SHAPE, "rank |lse: shape"},
};

/** One rank's arrays are wrong: no rank writes, and the next run is well. */
static void runs_that_differ(void **state) {
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 40, 50, 4, 4);
    const look_t look = {.lse = 1};
    (void)state;
    problem.inputs = ATTN_INPUT_SINKS | ATTN_INPUT_KV_LENGTHS | ATTN_INPUT_MASK;
    trial_t trial = shard_trial(&problem, &look);
    typed_set(&trial.lengths, 0, 0, 0, 0, 44);
    attn_mpi_plan_t *plan = ranks_plan(context, &problem, 0, ATTN_MPI_WAY_RING);
    shard_t shard = shard_create(&trial, plan);
    const attn_io_t right = shard.io;
    for (size_t i = 0; i < TEST_COUNT(RUNS); i++) {
        attn_error_t error = {0};
        if (ranks_size() == 1 && strstr(RUNS[i].words, "differ")) continue;
        typed_reset(&shard.out), typed_reset(&shard.lse);
        test_label("run %zu", i);
        if (is_odd()) RUNS[i].spoil(&shard);
        fixture_expect(attn_mpi_run(plan, &shard.io, &error), &error, RUNS[i].status,
                       RUNS[i].words);
        check_line(&error);
        typed_check_untouched(&shard.out, "out");
        typed_check_untouched(&shard.lse, "lse");
        shard.io = right;
    }
    shard_run(&shard);
    shard_compare(&shard);
    shard_destroy(&shard);
    attn_mpi_plan_destroy(plan);
    trial_destroy(&trial);
    attn_context_destroy(context);
}

/* ---- gradients --------------------------------------------------------------------------------- */

typedef struct back {
    shard_t shard;
    attn_io_t gradients;
} back_t;

static void no_lse(back_t *b) { b->shard.io.lse.data = NULL; }
static void no_loss(back_t *b) { b->gradients.out.data = NULL; }
static void fewer_keys(back_t *b) { b->gradients.key.shape[2]--; }
static void half_value(back_t *b) { b->gradients.value.dtype = ATTN_F16; }
static void in_query(back_t *b) { b->gradients.query = b->shard.io.query; }
static void of_lse(back_t *b) { b->gradients.lse = b->shard.io.lse; }
static void fewer_sinks(back_t *b) { b->gradients.sinks.data = NULL; }
static void old_gradients(back_t *b) { b->gradients.struct_size = 8; }
static void wrong_arrays(back_t *b) { b->shard.io.key.data = NULL; }

static const struct {
    void (*spoil)(back_t *back);
    attn_status_t status;
    const char *words;
} BACKS[] = {
    {no_lse, ATTN_ERROR_ARGUMENT, "rank |lse of the run is missing"},
    {no_loss, ATTN_ERROR_ARGUMENT, "rank |gradient of out"},
    {fewer_keys, ATTN_ERROR_SHAPE, "rank |gradient of key"},
    {half_value, ATTN_ERROR_DTYPE, "rank |gradient of value"},
    {in_query, ATTN_ERROR_ARGUMENT, "rank |gradient of query|shares memory"},
    {of_lse, ATTN_ERROR_UNSUPPORTED, "rank |no gradient of lse"},
    {fewer_sinks, ATTN_ERROR_ARGUMENT, "ranks differ in which gradients"},
    {old_gradients, ATTN_ERROR_ARGUMENT, "rank |gradients: struct_size is 8"},
    {wrong_arrays, ATTN_ERROR_ARGUMENT, "rank |key: is missing"},
};

/** One rank's gradients are wrong: no rank writes, and the next call is well. */
static void gradients_that_differ(void **state) {
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 40, 50, 4, 4);
    const look_t look = {.lse = 1};
    attn_error_t error = {0};
    (void)state;
    problem.inputs = ATTN_INPUT_SINKS;
    trial_t trial = shard_trial(&problem, &look);
    attn_mpi_plan_t *forward = ranks_plan(context, &problem, 0, ATTN_MPI_WAY_RING);
    problem.backward = 1;
    attn_mpi_plan_t *plan = ranks_plan(context, &problem, 0, 0);
    back_t right = {.shard = shard_create(&trial, plan)};
    typed_t arrays[4];
    const typed_t *const like[4] = {&right.shard.query, &right.shard.key, &right.shard.value,
                                    &trial.sinks};
    for (int i = 0; i < 4; i++)
        arrays[i] = typed_create(ATTN_F32, LAYOUT_BHND, like[i]->tensor.shape);
    shard_run(&right.shard);
    attn_io_init(&right.gradients);
    right.gradients.out = right.shard.io.out; /* both are read */
    right.gradients.query = arrays[0].tensor, right.gradients.key = arrays[1].tensor;
    right.gradients.value = arrays[2].tensor, right.gradients.sinks = arrays[3].tensor;
    for (size_t i = 0; i < TEST_COUNT(BACKS); i++) {
        back_t back = right;
        if (ranks_size() == 1 && strstr(BACKS[i].words, "differ")) continue;
        test_label("gradients %zu", i);
        if (is_odd()) BACKS[i].spoil(&back);
        fixture_expect(attn_mpi_backward(plan, &back.shard.io, &back.gradients, &error), &error,
                       BACKS[i].status, BACKS[i].words);
        check_line(&error);
        for (int a = 0; a < 4; a++) typed_check_untouched(&arrays[a], "a gradient");
    }
    fixture_expect(attn_mpi_backward(forward, &right.shard.io, &right.gradients, &error), &error,
                   ATTN_ERROR_ARGUMENT, "rank 0|does not ask for gradients");
    fixture_expect(attn_mpi_backward(NULL, &right.shard.io, &right.gradients, &error), &error,
                   ATTN_ERROR_ARGUMENT, "plan|null");
    assert_int_equal(attn_mpi_backward(plan, &right.shard.io, &right.gradients, &error), ATTN_OK);
    for (int i = 0; i < 4; i++) {
        typed_check(&arrays[i], "a gradient");
        typed_destroy(&arrays[i]);
    }
    shard_destroy(&right.shard);
    attn_mpi_plan_destroy(forward);
    attn_mpi_plan_destroy(plan);
    trial_destroy(&trial);
    attn_context_destroy(context);
}

/** A program's own errors. */
static void programs_agree(void **state) {
    attn_error_t error = {0};
    (void)state;
    assert_int_equal(attn_mpi_agree(MPI_COMM_WORLD, ATTN_OK, NULL), ATTN_OK);
    assert_int_equal(attn_mpi_agree(MPI_COMM_WORLD, ATTN_OK, &error), ATTN_OK);
    const attn_status_t mine =
        is_odd() ? attn_fail(&error, ATTN_ERROR_RANGE, "the file is short") : ATTN_OK;
    fixture_expect(attn_mpi_agree(MPI_COMM_WORLD, mine, &error), &error, ATTN_ERROR_RANGE,
                   "rank |: the file is short");
    check_line(&error);
    assert_int_equal(attn_mpi_agree(MPI_COMM_WORLD, is_odd() ? ATTN_ERROR_MEMORY : ATTN_OK, NULL),
                     ATTN_ERROR_MEMORY);
}

/** NULL where nothing can be agreed on. */
static void nulls(void **state) {
    attn_mpi_rows_t rows;
    attn_mpi_options_t options = {.struct_size = sizeof options};
    attn_mpi_times_t times = {.struct_size = sizeof times};
    attn_error_t error = {0};
    (void)state;
    attn_mpi_plan_destroy(NULL);
    assert_false(attn_mpi_query_rows(NULL, 0, &rows));
    assert_false(attn_mpi_key_rows(NULL, 0, &rows));
    assert_false(attn_mpi_plan_options(NULL, &options));
    assert_false(attn_mpi_plan_times(NULL, &times));
    fixture_expect(attn_mpi_run(NULL, NULL, &error), &error, ATTN_ERROR_ARGUMENT, "plan|null");
    fixture_expect(
        attn_mpi_plan_create(NULL, MPI_COMM_NULL, NULL, NULL, NULL, 0, NULL, NULL, &error), &error,
        ATTN_ERROR_ARGUMENT, "MPI_COMM_NULL");
}

RANKS_MAIN(cmocka_unit_test(plans_that_differ), cmocka_unit_test(newer_options),
           cmocka_unit_test(runs_that_differ), cmocka_unit_test(gradients_that_differ),
           cmocka_unit_test(programs_agree), cmocka_unit_test(nulls))
