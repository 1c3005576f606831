/*
 * Structs that cross the boundary, cut to their first version and extended by fields that the library
 * does not know: a caller or a plugin of an older and of a newer minor version.
 *
 * A cut struct lies in memory of just its size (a sanitizer sees who reads on), with other bytes
 * behind it in the same block where that cannot be told otherwise.
 */
#include "abi.h"
#include "attn/ext/cost.h"
#include "attn/ext/facts.h"
#include "attn/support.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MORE = 24 }; /* bytes of fields to come */

/* A copy with this struct_size: of exactly these bytes; those behind `known` are `filling`. */
static void *resized(const void *from, uint32_t known, uint32_t size, int filling) {
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    memset(copy, filling, size);
    memcpy(copy, from, known < size ? known : size);
    memcpy(copy, &size, sizeof size);
    return copy;
}

/* One struct in the forms of other versions, for each of which `use` tells what the library says to it. */
typedef attn_status_t use_t(void *data, const void *form, attn_error_t *error);

static void in_all_forms(const char *name, const void *whole, uint32_t size, uint32_t first,
                         use_t *use, void *data) {
    const struct {
        uint32_t size;
        int filling;
        attn_status_t expected;
    } forms[] = {
        {first, 0, ATTN_OK},
        {size, 0, ATTN_OK},
        {size + MORE, 0, ATTN_OK},
        {size + MORE, 1, ATTN_ERROR_ARGUMENT},
        {size + 1, 255, ATTN_ERROR_ARGUMENT},
        {first - 1, 0, ATTN_ERROR_ARGUMENT},
        {8, 0, ATTN_ERROR_ARGUMENT},
    };
    for (size_t i = 0; i < TEST_COUNT(forms); i++) {
        attn_error_t error = {0};
        void *form = resized(whole, size, forms[i].size, forms[i].filling);
        test_label("%s of %u bytes (known %u, first %u)", name, forms[i].size, size, first);
        const attn_status_t status = use(data, form, &error);
        if (forms[i].expected == ATTN_OK && status != ATTN_OK) test_fail("%s", error.message);
        if (forms[i].expected != ATTN_OK) fixture_expect(status, &error, forms[i].expected, name);
        free(form);
    }
}

/* ---- what a caller gives -------------------------------------------------------------------------- */

typedef struct scene {
    attn_context_t *context;
    attn_plan_t *plan;
    arrays_t arrays;
} scene_t;

static attn_status_t use_options(void *data, const void *form, attn_error_t *error) {
    attn_context_t *context;
    (void)data;
    const attn_status_t status = attn_context_create(form, &context, error);
    attn_context_destroy(context);
    return status;
}

/* What the options point at. */
static attn_status_t use_pool(void *data, const void *form, attn_error_t *error) {
    attn_context_options_t options = {.struct_size = sizeof options, .pool = form};
    return use_options(data, &options, error);
}

static attn_status_t use_memory(void *data, const void *form, attn_error_t *error) {
    attn_context_options_t options = {.struct_size = sizeof options, .memory = form};
    return use_options(data, &options, error);
}

static void *allocate(void *user, size_t size) {
    (void)user;
    return attn_host_allocate(NULL, size);
}

static void release(void *user, void *memory) {
    (void)user;
    attn_host_release(NULL, memory);
}

static void services_of_the_caller(const attn_context_t *context) {
    const attn_ext_threads_t *pool = attn_context_threads(context);
    const attn_ext_memory_t memory = {
        .struct_size = sizeof memory, .allocate = allocate, .release = release};
    in_all_forms("pool", pool, sizeof *pool, sizeof *pool, use_pool, NULL);
    in_all_forms("memory", &memory, sizeof memory, sizeof memory, use_memory, NULL);
}

static attn_status_t use_problem(void *data, const void *form, attn_error_t *error) {
    const scene_t *scene = data;
    attn_plan_t *plan;
    assert_int_equal(attn_problem_check(form, NULL) == ATTN_OK,
                     attn_plan_create(scene->context, "softmax", form, NULL, 0, &plan, error) ==
                         ATTN_OK);
    if (!plan) return ATTN_ERROR_ARGUMENT;
    assert_int_equal(attn_plan_problem(plan)->struct_size, sizeof(attn_problem_t));
    assert_int_equal(attn_plan_problem(plan)->own_inputs, 0);
    assert_int_equal(attn_plan_problem(plan)->value_dim, scene->arrays.problem.value_dim);
    attn_plan_destroy(plan);
    return ATTN_OK;
}

static attn_status_t use_io(void *data, const void *form, attn_error_t *error) {
    scene_t *scene = data;
    arrays_reset(&scene->arrays);
    const attn_status_t status = attn_run(scene->plan, form, error);
    if (status == ATTN_OK) {
        const formula_t softmax = {.form = FORM_SOFTMAX};
        compare_output(&scene->arrays, &softmax);
    }
    float weights[6];
    assert_int_equal(attn_weights(scene->plan, form, 0, 0, 0, 1, weights, 6, NULL), status);
    return status;
}

void structs_of_the_caller(void **state) {
    (void)state;
    const attn_problem_t problem = fixture_problem(1, 1, 5, 6, 7, 8);
    scene_t scene = {.context = fixture_context(0), .arrays = arrays_create(&problem, 0, 1)};
    scene.plan = fixture_plan(scene.context, "softmax", &problem, NULL);
    arrays_give_workspace(&scene.arrays, scene.plan);
    const attn_context_options_t options = {.struct_size = sizeof options, .cpu = "scalar"};
    in_all_forms("options", &options, sizeof options, sizeof options, use_options, NULL);
    in_all_forms("problem", &problem, sizeof problem, ATTN_PROBLEM_FIRST, use_problem, &scene);
    in_all_forms("io", &scene.arrays.io, sizeof(attn_io_t), ATTN_IO_FIRST, use_io, &scene);
    services_of_the_caller(scene.context);
    attn_plan_destroy(scene.plan);
    arrays_destroy(&scene.arrays);
    attn_context_destroy(scene.context);
}

/* ---- what is filled for a caller ------------------------------------------------------------------- */

static int32_t fill_cost(const scene_t *scene, void *form) {
    return attn_plan_cost(scene->plan, form, NULL) == ATTN_OK;
}
static int32_t fill_fact(const scene_t *scene, void *form) {
    return attn_plan_fact(scene->plan, 0, form);
}
static int32_t fill_param(const scene_t *scene, void *form) {
    return attn_backend_param(attn_plan_backend(scene->plan), 0, form);
}
static int32_t fill_array(const scene_t *scene, void *form) {
    return attn_backend_array(attn_plan_backend(scene->plan), ATTN_ARRAY_BIAS, form);
}
static int32_t fill_report(const scene_t *scene, void *form) {
    attn_io_t io = scene->arrays.io;
    io.report = form;
    return attn_run(scene->plan, &io, NULL) == ATTN_OK;
}

void structs_that_are_filled(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t size, first; /* first: of the first version */
        int32_t (*fill)(const scene_t *, void *);
    } structs[] = {
        {"cost", sizeof(attn_cost_t), ATTN_COST_FIRST, fill_cost},
        {"fact", sizeof(attn_fact_t), sizeof(attn_fact_t), fill_fact},
        {"parameter", sizeof(attn_param_info_t), sizeof(attn_param_info_t), fill_param},
        {"array", sizeof(attn_array_info_t), ATTN_ARRAY_INFO_FIRST, fill_array},
        {"report", sizeof(attn_report_t), sizeof(attn_report_t), fill_report},
    };
    const attn_problem_t problem = fixture_problem(1, 1, 5, 6, 7, 8);
    scene_t scene = {.context = fixture_context(0), .arrays = arrays_create(&problem, 0, 1)};
    scene.plan = fixture_plan(scene.context, "sparse", &problem, NULL);
    arrays_give_workspace(&scene.arrays, scene.plan);
    for (size_t i = 0; i < TEST_COUNT(structs); i++) {
        const uint32_t size = structs[i].size, sizes[] = {size, size + MORE};
        for (size_t k = 0; k < TEST_COUNT(sizes); k++) {
            unsigned char *form = resized("", 0, sizes[k], 0xA5);
            test_label("%s with room for %u bytes", structs[i].name, sizes[k]);
            assert_true(structs[i].fill(&scene, form));
            assert_int_equal(attn_struct_size(form), sizes[k]);
            for (uint32_t b = size; b < sizes[k]; b++) assert_int_equal(form[b], 0xA5);
            free(form);
        }
        const uint32_t less = structs[i].first - 1;
        unsigned char *small = resized("", 0, less, 0xA5);
        test_label("%s with too little room", structs[i].name);
        assert_false(structs[i].fill(&scene, small));
        for (uint32_t b = sizeof(uint32_t); b < less; b++) assert_int_equal(small[b], 0xA5);
        free(small);
    }
    attn_plan_destroy(scene.plan);
    arrays_destroy(&scene.arrays);
    attn_context_destroy(scene.context);
}

/* ---- what a plugin gives --------------------------------------------------------------------------- */

static const void *params_list, *extension_of_cost;

static const void *get_extension(const char *id) {
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return params_list;
    return strcmp(id, ATTN_EXT_COST) == 0 ? extension_of_cost : NULL;
}

static attn_status_t no_plan(const attn_host_t *host, const attn_problem_t *problem,
                             const attn_value_t *values, attn_backend_plan_t **plan,
                             attn_error_t *error) {
    (void)host, (void)problem, (void)values, (void)plan;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "it plans nothing");
}

static attn_status_t use_backend(void *data, const void *form, attn_error_t *error) {
    attn_context_t *context = fixture_context(0);
    const attn_backend_t *backend = form;
    const attn_plugin_entry_t entry = {.struct_size = sizeof entry,
                                       .abi_major = ATTN_ABI_MAJOR,
                                       .backend_count = 1,
                                       .backends = &backend};
    (void)data;
    const attn_status_t status = attn_plugin_register(context, &entry, "backend", error);
    attn_context_destroy(context);
    return status == ATTN_ERROR_PLUGIN ? (error->status = ATTN_ERROR_ARGUMENT) : status;
}

/* Two parameters that are each `size` bytes: a plugin with another version of attn_param_info_t. */
static void parameters_of(uint32_t size, const attn_backend_t *backend) {
    attn_param_info_t info = {.struct_size = size,
                              .type = ATTN_PARAM_INTEGER,
                              .name = "first",
                              .label = "l",
                              .help = "h",
                              .unit = "",
                              .maximum = 9};
    char *list = calloc(2, size);
    assert_non_null(list);
    memcpy(list, &info, sizeof info);
    info.name = "second";
    memcpy(list + size, &info, sizeof info);
    const attn_ext_params_t params = {sizeof params, 2, (const attn_param_info_t *)(void *)list};
    params_list = &params;
    test_label("parameters of %u bytes", size);
    attn_param_info_t read = {.struct_size = sizeof read};
    assert_true(attn_backend_param(backend, 1, &read));
    assert_string_equal(read.name, "second");
    assert_int_equal(read.struct_size, sizeof read);
    assert_false(attn_backend_param(backend, 2, &read));
    params_list = NULL;
    free(list);
}

void structs_of_a_plugin(void **state) {
    (void)state;
    const attn_backend_t backend = {.struct_size = sizeof backend,
                                    .id = "org.example.backend",
                                    .name = "Backend",
                                    .version = "1",
                                    .plan = no_plan,
                                    .get_extension = get_extension};
    in_all_forms("backend", &backend, sizeof backend, sizeof backend, use_backend, NULL);
    parameters_of(sizeof(attn_param_info_t), &backend);
    parameters_of(sizeof(attn_param_info_t) + MORE, &backend);
}
