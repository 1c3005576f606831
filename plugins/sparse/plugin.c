/*
 * sparse: softmax attention over the pattern of Eq. 6 (pattern.h), with cost and memory that follow
 * the kept pairs: the driver of core/flash/ with that pattern.
 */
#include "attn/ext/facts.h"
#include "attn/ext/params.h"
#include "flash/driver.h"
#include "pattern.h"
#include "stream/cached.h"

#include <string.h>

typedef struct sparse_plan {
    flash_plan_t flash;
    sparse_pattern_t pattern;
    int64_t global_keys[]; /* their positions */
} sparse_plan_t;

/* ---- extensions --------------------------------------------------------------------------------- */

static void cost(const attn_backend_plan_t *base, attn_cost_t *cost) {
    const sparse_plan_t *plan = (const sparse_plan_t *)base;
    attn_flash_cost(&plan->flash, attn_sparse_pairs(&plan->pattern, &plan->flash.problem), cost);
    cost->form = "n (k B + c m / B) (d + dv)";
}

static int32_t fact(const attn_backend_plan_t *base, uint32_t index, attn_fact_t *fact) {
    const sparse_pattern_t *pattern = &((const sparse_plan_t *)base)->pattern;
    switch (index) {
    case 0:
        fact->name = "block", fact->label = "block size B", fact->number = (double)pattern->block;
        return 1;
    case 1:
        fact->name = "local", fact->label = "local blocks k", fact->number = (double)pattern->local;
        return 1;
    case 2:
        fact->name = "global", fact->label = "global keys a block c";
        fact->number = (double)pattern->global;
        return 1;
    default:
        return 0;
    }
}

static const attn_param_info_t params[] = {
    {
        .struct_size = sizeof(attn_param_info_t),
        .type = ATTN_PARAM_INTEGER,
        .name = "block",
        .label = "block size",
        .help = "B of Eq. 6: keys a block",
        .unit = "keys",
        .minimum = 0,
        .maximum = 65536,
        .initial = 0,
        .automatic = "2^floor(log2 sqrt m)",
    },
    {
        .struct_size = sizeof(attn_param_info_t),
        .type = ATTN_PARAM_INTEGER,
        .name = "local",
        .label = "local blocks",
        .help = "k of Eq. 6: each query sees the last k*B keys",
        .unit = "blocks",
        .minimum = 1,
        .maximum = 65536,
        .initial = 1,
    },
    {
        .struct_size = sizeof(attn_param_info_t),
        .type = ATTN_PARAM_INTEGER,
        .name = "global",
        .label = "global keys",
        .help = "c of Eq. 6: the last c keys of every block are seen by all",
        .unit = "keys",
        .minimum = 0,
        .maximum = 65536,
        .initial = 1,
    },
};
enum { BLOCK, LOCAL, GLOBAL, PARAMETERS };

static const attn_backend_t sparse_backend;

static uint64_t bytes_of(const sparse_pattern_t *pattern) {
    return sizeof(sparse_plan_t) + (uint64_t)pattern->base.gathered * sizeof(int64_t);
}

static uint64_t plan_bytes(const attn_backend_plan_t *base) {
    return bytes_of(&((const sparse_plan_t *)base)->pattern);
}

/* An automatic block is that of the most tokens, so that it stays what it is. */
static attn_status_t make_stream(const attn_host_t *host, const attn_problem_t *problem,
                                 const attn_value_t *values, attn_backend_stream_t **stream,
                                 attn_error_t *error) {
    attn_value_t fixed[PARAMETERS];
    memcpy(fixed, values, sizeof fixed);
    if (!fixed[BLOCK].integer) fixed[BLOCK].integer = attn_sparse_block(problem->keys);
    const attn_cached_t cached = {
        .host = host,
        .backend = &sparse_backend,
        .problem = problem,
        .values = fixed,
        .count = PARAMETERS,
        .plan_bytes = plan_bytes,
        .period = fixed[BLOCK].integer,
    };
    return attn_cached_stream(&cached, stream, error);
}

static const void *get_extension(const char *id) {
    static const attn_ext_params_t declared = {
        .struct_size = sizeof declared,
        .count = sizeof params / sizeof params[0],
        .params = params,
    };
    static const attn_ext_cost_t costs = {.struct_size = sizeof costs, .cost = cost};
    static const attn_ext_facts_t facts = {.struct_size = sizeof facts, .fact = fact};
    static const attn_ext_stream_t streams = {.struct_size = sizeof streams, .create = make_stream};
    if (strcmp(id, ATTN_EXT_STREAM) == 0) return &streams;
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return &declared;
    if (strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &attn_flash_weights;
    if (strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    if (strcmp(id, ATTN_EXT_FACTS) == 0) return &facts;
    return NULL;
}

/* ---- plan --------------------------------------------------------------------------------------- */

static sparse_plan_t *allocate(const attn_host_t *host, const sparse_pattern_t *pattern) {
    const int64_t count = pattern->base.gathered;
    sparse_plan_t *plan = attn_host_allocate(host, (size_t)bytes_of(pattern));
    if (!plan) return NULL;
    plan->pattern = *pattern;
    plan->pattern.base.map = plan->global_keys;
    for (int64_t g = 0; g < count; g++) plan->global_keys[g] = attn_sparse_global_key(pattern, g);
    return plan;
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    const int64_t block =
        values[BLOCK].integer ? values[BLOCK].integer : attn_sparse_block(problem->keys);
    const sparse_pattern_t pattern =
        attn_sparse_pattern(problem->keys, block, values[LOCAL].integer, values[GLOBAL].integer);
    sparse_plan_t *plan = allocate(host, &pattern);
    return attn_flash_plan("sparse", host, problem, plan ? &plan->flash : NULL,
                           plan ? &plan->pattern.base : NULL, result, error);
}

static const attn_backend_t sparse_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features = FLASH_FEATURES,
    .id = "sparse",
    .name = "Sparse",
    .version = "0.1.0",
    .description = "Softmax over a local band of blocks and the last keys of every block.",
    .reference = "Do Efficient Transformers Really Save Computation?, Eq. 6",
    .plan = make_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&sparse_backend};
ATTN_PLUGIN(sparse, backends);
