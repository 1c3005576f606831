/*
 * NULL, handed to every function for every pointer: the rule of attn/attn.h. tests/headers/symbols.cmake
 * holds the list of NULLS(...) here to the library's symbols.
 */
#include "attn/combine.h"
#include "attn/statistics.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

/* What is right beside the NULL. */
static attn_context_t *context;
static attn_problem_t problem;
static attn_plan_t *plan;
static attn_stream_t *stream;
static float numbers[64], result[4];
static attn_tensor_t tensor, out; /* one query, or one token, and its answer */

#define NULLS(function) static void function##_null(void **state)
#define TEST(function) cmocka_unit_test(function##_null)

/** A call that is refused, and no worse without anybody to tell; the error is its last argument. */
#define REFUSED(function, ...)                                                                     \
    do {                                                                                           \
        attn_error_t error = {0};                                                                  \
        (void)state;                                                                               \
        test_label("%s(%s)", #function, #__VA_ARGS__);                                             \
        fixture_expect(function(__VA_ARGS__, &error), &error, ATTN_ERROR_ARGUMENT, "");            \
        assert_int_equal(function(__VA_ARGS__, NULL), ATTN_ERROR_ARGUMENT);                        \
    } while (0)

static void set_up(void **state) {
    (void)state;
    context = fixture_context(1);
    problem = fixture_problem(1, 1, 1, 1, 4, 4);
    plan = fixture_plan(context, "softmax", &problem, NULL);
    tensor = attn_tensor_bhnd(numbers, 1, 1, 1, 4);
    out = attn_tensor_bhnd(result, 1, 1, 1, 4);
    assert_int_equal(attn_stream_create(context, "softmax", &problem, NULL, 0, 8, &stream, NULL),
                     ATTN_OK);
}

static void tear_down(void **state) {
    (void)state;
    attn_stream_destroy(stream);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

/* No pointers: their numbers may be any. */
NULLS(attn_version) {
    (void)state;
    assert_non_null(attn_version());
}
NULLS(attn_status_name) {
    (void)state;
    assert_non_null(attn_status_name(-1));
}
NULLS(attn_tier_name) {
    (void)state;
    assert_non_null(attn_tier_name(-1));
}

NULLS(attn_context_create) {
    attn_context_t *made;
    REFUSED(attn_context_create, NULL, NULL);
    assert_int_equal(attn_context_create(NULL, &made, NULL), ATTN_OK);
    attn_context_destroy(made);
}

NULLS(attn_context_destroy) { (void)state, attn_context_destroy(NULL); }

NULLS(attn_context_tier) {
    (void)state;
    assert_int_equal(attn_context_tier(NULL), ATTN_TIER_SCALAR);
}

NULLS(attn_context_threads) {
    (void)state;
    assert_null(attn_context_threads(NULL));
}

NULLS(attn_available_tiers) {
    (void)state;
    assert_true(attn_available_tiers(NULL, 100) > 0);
}

NULLS(attn_backend_count) {
    (void)state;
    assert_int_equal(attn_backend_count(NULL), 0);
}

NULLS(attn_backend_at) {
    (void)state;
    assert_null(attn_backend_at(NULL, 0));
}

NULLS(attn_backend_find) {
    (void)state;
    assert_null(attn_backend_find(NULL, "softmax"));
    assert_null(attn_backend_find(context, NULL));
}

NULLS(attn_backend_origin) {
    (void)state;
    assert_null(attn_backend_origin(NULL, 0));
}

NULLS(attn_backend_param) {
    attn_param_info_t info = {.struct_size = sizeof info};
    (void)state;
    assert_false(attn_backend_param(NULL, 0, &info));
    assert_false(attn_backend_param(attn_backend_at(context, 0), 0, NULL));
}

NULLS(attn_backend_array) {
    attn_array_info_t info = {.struct_size = sizeof info};
    (void)state;
    assert_true(attn_backend_array(NULL, 0, &info)); /* the library's own */
    assert_false(attn_backend_array(NULL, ATTN_ARRAY_OWN, &info));
    assert_false(attn_backend_array(attn_backend_at(context, 0), 0, NULL));
}

NULLS(attn_io_array) {
    attn_io_t io = {.struct_size = sizeof io};
    (void)state;
    assert_null(attn_io_array(NULL, 0));
    assert_ptr_equal(attn_io_array(&io, ATTN_ARRAY_SCORES), &io.scores);
    assert_null(attn_io_array(&io, ATTN_ARRAY_OWN));
}

NULLS(attn_problem_add_input) {
    REFUSED(attn_problem_add_input, NULL, NULL, "bias");
    REFUSED(attn_problem_add_input, &problem, NULL, NULL);
}

NULLS(attn_plugin_load) {
    REFUSED(attn_plugin_load, NULL, "path");
    REFUSED(attn_plugin_load, context, NULL);
}

static const attn_plugin_entry_t entry = {.struct_size = sizeof entry, .abi_major = ATTN_ABI_MAJOR};

NULLS(attn_plugin_register) {
    REFUSED(attn_plugin_register, NULL, &entry, "origin");
    REFUSED(attn_plugin_register, context, NULL, "origin");
    assert_int_equal(attn_plugin_register(context, &entry, NULL, NULL), ATTN_ERROR_PLUGIN);
}

NULLS(attn_plugin_unregister) {
    REFUSED(attn_plugin_unregister, NULL, &entry);
    REFUSED(attn_plugin_unregister, context, NULL);
}

NULLS(attn_describe) {
    char text[4] = "abc";
    (void)state;
    assert_int_equal(attn_describe(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(attn_describe(NULL, NULL, 0), 0);
    assert_true(attn_describe(context, NULL, 0) > 0);
    assert_true(attn_describe(context, NULL, 100) > 0);
}

NULLS(attn_problem_init) { (void)state, attn_problem_init(NULL, 1, 1, 1, 1, 1, 1); }
NULLS(attn_problem_check) { REFUSED(attn_problem_check, NULL); }

NULLS(attn_tensor_bhnd) {
    (void)state;
    assert_null(attn_tensor_bhnd(NULL, 1, 1, 1, 1).data);
}

NULLS(attn_tensor_bnhd) {
    (void)state;
    assert_null(attn_tensor_bnhd(NULL, 1, 1, 1, 1).data);
}

NULLS(attn_tensor_bhnd_of) {
    (void)state;
    assert_null(attn_tensor_bhnd_of(ATTN_F16, NULL, 1, 1, 1, 1).data);
}

NULLS(attn_tensor_bnhd_of) {
    (void)state;
    assert_null(attn_tensor_bnhd_of(ATTN_I8, NULL, 1, 1, 1, 1).data);
}

NULLS(attn_tensor_lengths) {
    (void)state;
    assert_null(attn_tensor_lengths(NULL, 1).data);
}

NULLS(attn_tensor_heads) {
    (void)state;
    assert_null(attn_tensor_heads(NULL, 1).data);
}

NULLS(attn_from_f32) {
    uint16_t half;
    REFUSED(attn_from_f32, NULL, ATTN_F16, numbers, 1);
    REFUSED(attn_from_f32, &half, ATTN_F16, NULL, 1);
}

NULLS(attn_to_f32) {
    const uint16_t half = 0;
    REFUSED(attn_to_f32, NULL, &half, ATTN_F16, 1);
    REFUSED(attn_to_f32, numbers, NULL, ATTN_F16, 1);
}

NULLS(attn_quantise_i8) {
    int8_t row[4];
    float scale;
    REFUSED(attn_quantise_i8, NULL, &scale, numbers, 1, 4);
    REFUSED(attn_quantise_i8, row, NULL, numbers, 1, 4);
    REFUSED(attn_quantise_i8, row, &scale, NULL, 1, 4);
}

NULLS(attn_count_nonfinite) {
    const attn_tensor_t absent = attn_tensor_bhnd(NULL, 1, 1, 1, 1);
    (void)state;
    assert_int_equal(attn_count_nonfinite(NULL), 0);
    assert_int_equal(attn_count_nonfinite(&absent), 0);
}

NULLS(attn_alibi_slopes) { REFUSED(attn_alibi_slopes, NULL, 4); }

NULLS(attn_combine) {
    const attn_tensor_t absent = {0};
    const attn_part_t none = {absent, absent};
    REFUSED(attn_combine, NULL, 1, &out, NULL);
    REFUSED(attn_combine, &none, 1, &out, NULL);
    REFUSED(attn_combine, NULL, 0, NULL, NULL);
    REFUSED(attn_combine, NULL, 0, &absent, NULL);
}

NULLS(attn_plan_create) {
    attn_plan_t *made = plan;
    const attn_param_t nameless = {NULL, "1"}, empty = {"block", NULL};
    REFUSED(attn_plan_create, NULL, "softmax", &problem, NULL, 0, &made);
    assert_null(made);
    REFUSED(attn_plan_create, context, NULL, &problem, NULL, 0, &made);
    REFUSED(attn_plan_create, context, "softmax", NULL, NULL, 0, &made);
    REFUSED(attn_plan_create, context, "softmax", &problem, NULL, 1, &made);
    REFUSED(attn_plan_create, context, "sparse", &problem, &nameless, 1, &made);
    REFUSED(attn_plan_create, context, "sparse", &problem, &empty, 1, &made);
    REFUSED(attn_plan_create, context, "softmax", &problem, NULL, 0, NULL);
}

NULLS(attn_plan_destroy) { (void)state, attn_plan_destroy(NULL); }

NULLS(attn_plan_workspace_size) {
    (void)state;
    assert_int_equal(attn_plan_workspace_size(NULL), 0);
}

NULLS(attn_plan_kernel) {
    (void)state;
    assert_null(attn_plan_kernel(NULL));
}

NULLS(attn_plan_problem) {
    (void)state;
    assert_null(attn_plan_problem(NULL));
}

NULLS(attn_plan_cost) {
    attn_cost_t cost;
    REFUSED(attn_plan_cost, NULL, &cost);
    REFUSED(attn_plan_cost, plan, NULL);
}

NULLS(attn_plan_backend) {
    (void)state;
    assert_null(attn_plan_backend(NULL));
}

NULLS(attn_plan_array) {
    attn_tensor_t wanted;
    (void)state;
    assert_false(attn_plan_array(NULL, 0, &wanted));
    assert_false(attn_plan_array(plan, 0, NULL));
}

NULLS(attn_stream_array) {
    attn_tensor_t wanted;
    (void)state;
    assert_false(attn_stream_array(NULL, 0, &wanted));
    assert_false(attn_stream_array(stream, 0, NULL));
}

NULLS(attn_backward) {
    const attn_io_t io = {.struct_size = sizeof io};
    REFUSED(attn_backward, NULL, &io, &io);
    REFUSED(attn_backward, plan, NULL, &io);
    REFUSED(attn_backward, plan, &io, NULL);
}

NULLS(attn_plan_fact) {
    attn_fact_t fact;
    (void)state;
    assert_int_equal(attn_plan_fact(NULL, 0, &fact), 0);
    assert_int_equal(attn_plan_fact(plan, 0, NULL), 0);
}

/** Every array and the workspace in turn. */
NULLS(attn_run) {
    const attn_io_t io = {.struct_size = sizeof io,
                          .query = tensor,
                          .key = tensor,
                          .value = tensor,
                          .out = out,
                          .workspace = numbers,
                          .workspace_size = UINT64_MAX};
    attn_io_t bad[5] = {io, io, io, io, io};
    bad[0].query.data = bad[1].key.data = bad[2].value.data = bad[3].out.data = NULL;
    bad[4].workspace = NULL;
    REFUSED(attn_run, NULL, &io);
    REFUSED(attn_run, plan, NULL);
    for (int i = 0; i < 4; i++) REFUSED(attn_run, plan, &bad[i]);
    assert_int_equal(attn_run(plan, &bad[4], NULL), ATTN_ERROR_WORKSPACE);
}

NULLS(attn_check) {
    attn_io_t io = {
        .struct_size = sizeof io, .query = tensor, .key = tensor, .value = tensor, .out = out};
    REFUSED(attn_check, NULL, &io);
    REFUSED(attn_check, plan, NULL);
    assert_int_equal(attn_check(plan, &io, NULL), ATTN_OK);
    io.value.data = NULL;
    REFUSED(attn_check, plan, &io);
}

NULLS(attn_check_backward) {
    const attn_io_t io = {.struct_size = sizeof io, .query = tensor, .key = tensor};
    REFUSED(attn_check_backward, NULL, &io, &io);
    REFUSED(attn_check_backward, plan, NULL, &io);
    REFUSED(attn_check_backward, plan, &io, NULL);
}

NULLS(attn_weights) {
    attn_io_t io = {.struct_size = sizeof io, .query = tensor, .key = tensor};
    float row[1];
    REFUSED(attn_weights, NULL, &io, 0, 0, 0, 1, row, 1);
    REFUSED(attn_weights, plan, NULL, 0, 0, 0, 1, row, 1);
    REFUSED(attn_weights, plan, &io, 0, 0, 0, 1, NULL, 1);
    io.query.data = NULL;
    REFUSED(attn_weights, plan, &io, 0, 0, 0, 1, row, 1);
}

NULLS(attn_statistics_workspace_size) {
    (void)state;
    assert_int_equal(attn_statistics_workspace_size(NULL), 0);
}

NULLS(attn_plan_statistics) {
    static _Alignas(ATTN_ALIGNMENT) char workspace[1 << 16];
    float entropy[1];
    const attn_statistics_t wanted = {.struct_size = sizeof wanted, .entropy = entropy};
    attn_io_t io = {.struct_size = sizeof io,
                    .query = tensor,
                    .key = tensor,
                    .workspace = workspace,
                    .workspace_size = sizeof workspace};
    assert_true(attn_statistics_workspace_size(plan) <= sizeof workspace);
    assert_int_equal(attn_plan_statistics(plan, &io, 0, 0, 0, 1, &wanted, NULL), ATTN_OK);
    REFUSED(attn_plan_statistics, NULL, &io, 0, 0, 0, 1, &wanted);
    REFUSED(attn_plan_statistics, plan, NULL, 0, 0, 0, 1, &wanted);
    REFUSED(attn_plan_statistics, plan, &io, 0, 0, 0, 1, NULL);
    io.query.data = NULL;
    REFUSED(attn_plan_statistics, plan, &io, 0, 0, 0, 1, &wanted);
}

NULLS(attn_stream_create) {
    attn_stream_t *made = stream;
    REFUSED(attn_stream_create, NULL, "softmax", &problem, NULL, 0, 8, &made);
    assert_null(made);
    REFUSED(attn_stream_create, context, NULL, &problem, NULL, 0, 8, &made);
    REFUSED(attn_stream_create, context, "softmax", NULL, NULL, 0, 8, &made);
    REFUSED(attn_stream_create, context, "softmax", &problem, NULL, 1, 8, &made);
    REFUSED(attn_stream_create, context, "softmax", &problem, NULL, 0, 8, NULL);
}

NULLS(attn_stream_destroy) { (void)state, attn_stream_destroy(NULL); }

NULLS(attn_stream_length) {
    (void)state;
    assert_int_equal(attn_stream_length(NULL), 0);
}

NULLS(attn_stream_memory) {
    (void)state;
    assert_int_equal(attn_stream_memory(NULL), 0);
}

NULLS(attn_stream_append) {
    const attn_io_t io = {.struct_size = sizeof io, .key = tensor, .value = tensor};
    attn_io_t bad[2] = {io, io};
    bad[0].key.data = bad[1].value.data = NULL;
    REFUSED(attn_stream_append, NULL, &io);
    REFUSED(attn_stream_append, stream, NULL);
    for (int i = 0; i < 2; i++) REFUSED(attn_stream_append, stream, &bad[i]);
    assert_int_equal(attn_stream_length(stream), 0);
}

NULLS(attn_stream_query) {
    const attn_io_t io = {.struct_size = sizeof io, .query = tensor, .out = out};
    attn_io_t bad[2] = {io, io};
    bad[0].query.data = bad[1].out.data = NULL;
    REFUSED(attn_stream_query, NULL, &io);
    REFUSED(attn_stream_query, stream, NULL);
    for (int i = 0; i < 2; i++) REFUSED(attn_stream_query, stream, &bad[i]);
}

NULLS(attn_stream_truncate) { REFUSED(attn_stream_truncate, NULL, 0); }

NULLS(attn_stream_fork) {
    attn_stream_t *copy = stream;
    REFUSED(attn_stream_fork, NULL, &copy);
    assert_null(copy);
    REFUSED(attn_stream_fork, stream, NULL);
}

NULLS(attn_stream_save) {
    char bytes[8];
    (void)state;
    assert_int_equal(attn_stream_save(NULL, bytes, sizeof bytes), 0);
    assert_true(attn_stream_save(stream, NULL, 1000) > 0);
}

NULLS(attn_stream_restore) {
    const char bytes[8] = "";
    REFUSED(attn_stream_restore, NULL, bytes, sizeof bytes);
    REFUSED(attn_stream_restore, stream, NULL, 0);
}

TEST_MAIN(cmocka_unit_test(set_up), TEST(attn_version), TEST(attn_status_name),
          TEST(attn_tier_name), TEST(attn_context_create), TEST(attn_context_destroy),
          TEST(attn_context_tier), TEST(attn_context_threads), TEST(attn_available_tiers),
          TEST(attn_backend_count), TEST(attn_backend_at), TEST(attn_backend_find),
          TEST(attn_backend_origin), TEST(attn_backend_param), TEST(attn_backend_array),
          TEST(attn_io_array), TEST(attn_problem_add_input), TEST(attn_plan_backend),
          TEST(attn_plan_array), TEST(attn_stream_array), TEST(attn_backward),
          TEST(attn_plugin_load), TEST(attn_plugin_register), TEST(attn_plugin_unregister),
          TEST(attn_describe), TEST(attn_problem_init), TEST(attn_problem_check),
          TEST(attn_tensor_bhnd), TEST(attn_tensor_bnhd), TEST(attn_tensor_bhnd_of),
          TEST(attn_tensor_bnhd_of), TEST(attn_tensor_lengths), TEST(attn_tensor_heads),
          TEST(attn_from_f32), TEST(attn_to_f32), TEST(attn_quantise_i8),
          TEST(attn_count_nonfinite), TEST(attn_alibi_slopes), TEST(attn_combine),
          TEST(attn_plan_create), TEST(attn_plan_destroy), TEST(attn_plan_workspace_size),
          TEST(attn_plan_kernel), TEST(attn_plan_problem), TEST(attn_plan_cost),
          TEST(attn_plan_fact), TEST(attn_run), TEST(attn_check), TEST(attn_check_backward),
          TEST(attn_weights), TEST(attn_statistics_workspace_size), TEST(attn_plan_statistics),
          TEST(attn_stream_create), TEST(attn_stream_destroy), TEST(attn_stream_length),
          TEST(attn_stream_memory), TEST(attn_stream_append), TEST(attn_stream_query),
          TEST(attn_stream_truncate), TEST(attn_stream_fork), TEST(attn_stream_save),
          TEST(attn_stream_restore), cmocka_unit_test(tear_down))
