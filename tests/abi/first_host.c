/*
 * A host of the ABI's first version, made of that version's headers alone, with today's template as its
 * plugin. Structs lie before memory that may not be touched: a plugin that reads what its own header
 * has and this host's has not ends the test.
 */
#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include "attn/ext/params.h"
#include "attn/ext/weights.h"
#include "attn/plugin.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants these before it. */
#include <setjmp.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADS = 2, QUERIES = 5, KEYS = 7, DIM = 3, VALUE_DIM = 4 };

/* A copy of the struct that ends where memory ends. */
static void *at_the_edge(const void *from, size_t size) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    return memcpy(pages + page - size, from, size);
}

static void release(void *at) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap((char *)((uintptr_t)at / page * page), 2 * page);
}

static attn_tensor_t tensor(float *data, int64_t rows, int64_t columns) {
    return (attn_tensor_t){
        .data = data,
        .dtype = ATTN_F32,
        .shape = {1, HEADS, rows, columns},
        .stride = {HEADS * rows * columns, rows * columns, columns, 1},
    };
}

static const void *offers_nothing(const attn_host_t *host, const char *id) {
    (void)host, (void)id;
    return NULL;
}

/* out = sum_j w_j v_j / sum_j w_j with w_j = exp(-|i - j| / 16), the default width. */
static void check_out(const float *out, const float *value) {
    for (int h = 0; h < HEADS; h++)
        for (int i = 0; i < QUERIES; i++)
            for (int c = 0; c < VALUE_DIM; c++) {
                double sum = 0, total = 0, magnitude = 0;
                for (int j = 0; j < KEYS; j++) {
                    const double weight = exp(-fabs((double)(i - j)) / 16.0);
                    const double term = weight * (double)value[(h * KEYS + j) * VALUE_DIM + c];
                    total += weight, sum += term, magnitude += fabs(term);
                }
                const double actual = (double)out[(h * QUERIES + i) * VALUE_DIM + c];
                assert_true(fabs(actual - sum / total) <= magnitude / total * 0x1p-23);
            }
}

static const attn_backend_t *load(void) {
    void *handle = dlopen(TEMPLATE_PATH, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    const attn_plugin_entry_t *entry = dlsym(handle, ATTN_PLUGIN_SYMBOL);
    assert_non_null(entry);
    assert_int_equal(entry->abi_major, ATTN_ABI_MAJOR);
    assert_true(entry->struct_size >= sizeof *entry && entry->backend_count == 1);
    assert_true(entry->backends[0]->struct_size >= sizeof(attn_backend_t));
    return entry->backends[0];
}

static void todays_template_works(void **state) {
    (void)state;
    static const attn_host_t host = {.struct_size = sizeof host,
                                     .name = "first",
                                     .version = "0",
                                     .get_extension = offers_nothing};
    const attn_backend_t *backend = load();
    const attn_ext_params_t *params = backend->get_extension(ATTN_EXT_PARAMS);
    assert_true(params->struct_size >= sizeof *params);
    assert_true(params->params[0].struct_size >= sizeof *params->params);
    const attn_value_t width = {.number = params->params[0].initial};
    const attn_problem_t problem = {.struct_size = sizeof problem,
                                    .dtype = ATTN_F32,
                                    .batch = 1,
                                    .heads = HEADS,
                                    .kv_heads = HEADS,
                                    .queries = QUERIES,
                                    .keys = KEYS,
                                    .dim = DIM,
                                    .value_dim = VALUE_DIM,
                                    .scale = NAN,
                                    .kv_dtype = ATTN_F32,
                                    .window_left = -1,
                                    .window_right = -1};
    attn_problem_t *given = at_the_edge(&problem, sizeof problem);
    attn_backend_plan_t *plan;
    if (backend->supports) assert_int_equal(backend->supports(given, NULL), ATTN_OK);
    assert_int_equal(backend->plan(&host, given, &width, &plan, NULL), ATTN_OK);
    assert_true(plan->struct_size >= sizeof *plan);

    static float query[HEADS * QUERIES * DIM], key[HEADS * KEYS * DIM];
    float value[HEADS * KEYS * VALUE_DIM], out[HEADS * QUERIES * VALUE_DIM], rows[KEYS];
    static _Alignas(64) char workspace[4096];
    for (int i = 0; i < HEADS * KEYS * VALUE_DIM; i++) value[i] = sinf((float)i);
    assert_true(plan->workspace_size <= sizeof workspace);
    const attn_io_t io = {.struct_size = sizeof io,
                          .query = tensor(query, QUERIES, DIM),
                          .key = tensor(key, KEYS, DIM),
                          .value = tensor(value, KEYS, VALUE_DIM),
                          .out = tensor(out, QUERIES, VALUE_DIM),
                          .workspace = workspace,
                          .workspace_size = sizeof workspace};
    attn_io_t *arrays = at_the_edge(&io, sizeof io);
    assert_int_equal(plan->run(plan, arrays, NULL), ATTN_OK);
    check_out(out, value);
    const attn_ext_weights_t *weights = backend->get_extension(ATTN_EXT_WEIGHTS);
    assert_int_equal(weights->rows(plan, arrays, 0, 0, 1, 1, rows, KEYS, NULL), ATTN_OK);
    plan->destroy(plan);
    release(arrays);
    release(given);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(todays_template_works)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
