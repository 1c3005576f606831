/*
 * A plugin whose runs have arrays of all kinds, for the command line: two backends that say of each
 * array what arrived.
 */
#include "attn/ext/inputs.h"
#include "attn/ext/params.h"
#include "attn/support.h"

#include <string.h>

typedef struct own_plan {
    attn_backend_plan_t base; /* first: what the host sees of it */
    const attn_host_t *host;
    attn_problem_t problem;
    int64_t blocks;
} own_plan_t;

enum { GAINS, FIELD, TABLE, STATE, COUNTS };

static const attn_array_info_t gains = {
    .struct_size = sizeof gains,
    .role = ATTN_ROLE_INPUT,
    .presence = ATTN_PRESENCE_NAMED,
    .dtype = ATTN_F32,
    .axes = {ATTN_AXIS_ONE, ATTN_AXIS_HEADS, ATTN_AXIS_ONE, ATTN_AXIS_ONE},
    .name = "gains",
    .help = "one for each head",
};
static const attn_array_info_t field = {
    .struct_size = sizeof field,
    .role = ATTN_ROLE_INPUT,
    .presence = ATTN_PRESENCE_NAMED,
    .dtype = ATTN_F32,
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_HEADS, ATTN_AXIS_QUERIES, ATTN_AXIS_ONE},
    .broadcast = 1,
    .name = "field",
    .help = "one for each query",
};
static const attn_array_info_t table = {
    .struct_size = sizeof table,
    .role = ATTN_ROLE_INPUT,
    .presence = ATTN_PRESENCE_NAMED,
    .dtype = ATTN_F32,
    .axes = {ATTN_AXIS_ONE, ATTN_AXIS_ONE, ATTN_AXIS_PLAN, ATTN_AXIS_VALUE_DIM},
    .flags = ATTN_ARRAY_UNIT_STRIDE,
    .name = "block_table",
    .help = "a row for each block of keys",
};
static const attn_array_info_t state = {
    .struct_size = sizeof state,
    .role = ATTN_ROLE_OUTPUT,
    .presence = ATTN_PRESENCE_OPTIONAL,
    .dtype = ATTN_F32,
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_KV_HEADS, ATTN_AXIS_DIM, ATTN_AXIS_VALUE_DIM},
    .name = "state",
    .help = "K^T V",
};
static const attn_array_info_t counts = {
    .struct_size = sizeof counts,
    .role = ATTN_ROLE_OUTPUT,
    .presence = ATTN_PRESENCE_OPTIONAL,
    .dtype = ATTN_I64,
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_ONE, ATTN_AXIS_ONE, ATTN_AXIS_ONE},
    .name = "counts",
    .help = "of an element type that files have not",
};
static const attn_array_info_t gates = {
    .struct_size = sizeof gates,
    .role = ATTN_ROLE_INPUT,
    .presence = ATTN_PRESENCE_REQUIRED,
    .dtype = ATTN_F32,
    .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_ONE, ATTN_AXIS_ONE, ATTN_AXIS_ONE},
    .name = "gates",
    .help = "one for each batch",
};

static float *at(const attn_tensor_t *t, int64_t b, int64_t h, int64_t i, int64_t c) {
    return (float *)t->data + (t->shape[0] > 1 ? b * t->stride[0] : 0) + h * t->stride[1] +
           i * t->stride[2] + c * t->stride[3];
}

static float own_at(const attn_tensor_t *t, int64_t b, int64_t h, int64_t i, int64_t c) {
    return t ? *at(t, b, h, i, c) : 0.0f;
}

/* gain + 8 field + 64 sum_r (r + 1) table_r: small whole numbers stay exact, and tell where from. */
static float result(const own_plan_t *plan, const attn_io_t *io, const int64_t index[4]) {
    const attn_tensor_t *rows = attn_own_array(io, TABLE);
    float sum = own_at(attn_own_array(io, GAINS), 0, index[1], 0, 0) +
                8.0f * own_at(attn_own_array(io, FIELD), index[0], index[1], index[2], 0);
    for (int64_t r = 0; rows && r < plan->blocks; r++)
        sum += 64.0f * (float)(r + 1) * *at(rows, 0, 0, r, index[3]);
    return sum;
}

static void sum_state(const attn_problem_t *p, const attn_io_t *io, const attn_tensor_t *sums) {
    for (int64_t cell = 0; cell < p->batch * p->kv_heads * p->dim * p->value_dim; cell++) {
        const int64_t e = cell % p->value_dim, c = cell / p->value_dim % p->dim;
        const int64_t h = cell / p->value_dim / p->dim % p->kv_heads;
        const int64_t b = cell / p->value_dim / p->dim / p->kv_heads;
        float sum = 0.0f;
        for (int64_t j = 0; j < p->keys; j++)
            sum += *at(&io->key, b, h, j, c) * *at(&io->value, b, h, j, e);
        *at(sums, b, h, c, e) = sum;
    }
}

static attn_status_t run(const attn_backend_plan_t *base, const attn_io_t *io,
                         attn_error_t *error) {
    const own_plan_t *plan = (const own_plan_t *)base;
    const attn_problem_t *p = &plan->problem;
    const attn_tensor_t *sums = attn_own_array(io, STATE);
    (void)error;
    for (int64_t cell = 0; cell < p->batch * p->heads * p->queries * p->value_dim; cell++) {
        const int64_t row = cell / p->value_dim;
        const int64_t index[4] = {row / p->queries / p->heads, row / p->queries % p->heads,
                                  row % p->queries, cell % p->value_dim};
        *at(&io->out, index[0], index[1], index[2], index[3]) = result(plan, io, index);
    }
    if (sums) sum_state(p, io, sums);
    return ATTN_OK;
}

static attn_status_t run_gated(const attn_backend_plan_t *base, const attn_io_t *io,
                               attn_error_t *error) {
    const attn_problem_t *p = &((const own_plan_t *)base)->problem;
    (void)error;
    for (int64_t cell = 0; cell < p->batch * p->heads * p->queries * p->value_dim; cell++) {
        const int64_t row = cell / p->value_dim, b = row / p->queries / p->heads;
        *at(&io->out, b, row / p->queries % p->heads, row % p->queries, cell % p->value_dim) =
            own_at(attn_own_array(io, 0), b, 0, 0, 0);
    }
    return ATTN_OK;
}

static void destroy(attn_backend_plan_t *base) {
    attn_host_release(((own_plan_t *)base)->host, base);
}

static attn_status_t make(const attn_host_t *host, const attn_problem_t *problem, int64_t block,
                          attn_status_t (*run_it)(const attn_backend_plan_t *, const attn_io_t *,
                                                  attn_error_t *),
                          attn_backend_plan_t **result, attn_error_t *error) {
    own_plan_t *plan = attn_host_allocate(host, sizeof *plan);
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for the plan");
    *plan = (own_plan_t){
        .base = {.struct_size = sizeof plan->base, .run = run_it, .destroy = destroy},
        .host = host,
        .problem = *problem,
        .blocks = (problem->keys + block - 1) / block,
    };
    *result = &plan->base;
    return ATTN_OK;
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    return make(host, problem, values[0].integer, run, result, error);
}

static attn_status_t make_gated(const attn_host_t *host, const attn_problem_t *problem,
                                const attn_value_t *values, attn_backend_plan_t **result,
                                attn_error_t *error) {
    (void)values;
    return make(host, problem, 1, run_gated, result, error);
}

static void shape(const attn_backend_plan_t *base, uint32_t index, int64_t shape[4]) {
    if (index == TABLE) shape[2] = ((const own_plan_t *)base)->blocks;
}

static const void *get_extension(const char *id) {
    static const attn_param_info_t block = {
        .struct_size = sizeof block,
        .type = ATTN_PARAM_INTEGER,
        .name = "block",
        .label = "block",
        .help = "keys for each row of block_table",
        .unit = "keys",
        .minimum = 1.0,
        .maximum = 64.0,
        .initial = 4.0,
    };
    static const attn_array_info_t *const arrays[] = {
        [GAINS] = &gains, [FIELD] = &field, [TABLE] = &table, [STATE] = &state, [COUNTS] = &counts};
    static const attn_ext_inputs_t inputs = {sizeof inputs, 5, arrays, shape};
    static const attn_ext_params_t params = {sizeof params, 1, &block};
    if (strcmp(id, ATTN_EXT_INPUTS) == 0) return &inputs;
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return &params;
    return NULL;
}

static const void *get_extension_of_gated(const char *id) {
    static const attn_array_info_t *const arrays[] = {&gates};
    static const attn_ext_inputs_t inputs = {sizeof inputs, 1, arrays, NULL};
    return strcmp(id, ATTN_EXT_INPUTS) == 0 ? &inputs : NULL;
}

static const attn_backend_t own = {
    .struct_size = sizeof(attn_backend_t),
    .features = ATTN_FEATURE_GROUPED_HEADS,
    .id = "org.example.own",
    .name = "Own arrays",
    .version = "1",
    .description = "Says what arrived.",
    .reference = "",
    .plan = make_plan,
    .get_extension = get_extension,
};
static const attn_backend_t gated = {
    .struct_size = sizeof(attn_backend_t),
    .features = ATTN_FEATURE_GROUPED_HEADS,
    .id = "org.example.gated",
    .name = "Gated",
    .version = "1",
    .description = "Needs an array of its own.",
    .reference = "",
    .plan = make_gated,
    .get_extension = get_extension_of_gated,
};

static const attn_backend_t *const backends[] = {&own, &gated};
ATTN_PLUGIN(own, backends);
