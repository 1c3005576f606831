/*
 * linear: attention through feature maps, with cost linear in n and m and a state that does not
 * grow.
 */
#include "attn/ext/cost.h"
#include "attn/ext/inputs.h"
#include "attn/ext/params.h"
#include "attn/ext/weights.h"
#include "attn/pairs.h"
#include "backward.h"
#include "plan.h"

#include <math.h>
#include <string.h>

/* ---- extensions --------------------------------------------------------------------------------- */

static attn_status_t weight_rows(const attn_backend_plan_t *base, const attn_io_t *io,
                                 int64_t batch, int64_t head, int64_t first, int64_t count,
                                 float *rows, int64_t row_stride, attn_error_t *error) {
    const linear_plan_t *plan = (const linear_plan_t *)base;
    attn_status_t status = attn_linear_arrays_check(plan, io, error);
    const int64_t kv_head = head / (plan->problem.heads / plan->problem.kv_heads);
    if (status == ATTN_OK)
        status = attn_linear_check_decay(plan, io, batch * plan->problem.kv_heads + kv_head, error);
    if (status != ATTN_OK) return status;
    attn_arena_t arena = {.base = io->workspace};
    const attn_head_t keys = attn_linear_head(plan, io, batch, kv_head);
    const attn_queries_t queries = {.head = head,
                                    .first = first,
                                    .count = count,
                                    .scratch = attn_linear_rules_space(plan, &arena).scratch};
    plan->recurrence->weights(&keys, &plan->form, &queries, rows, row_stride);
    return ATTN_OK;
}

static void cost(const attn_backend_plan_t *base, attn_cost_t *cost) {
    const linear_plan_t *plan = (const linear_plan_t *)base;
    const attn_problem_t *problem = &plan->problem;
    const double heads = (double)problem->batch * (double)problem->heads;
    const double kv_heads = (double)problem->batch * (double)problem->kv_heads;
    const double queries = (double)problem->queries, keys = (double)attn_problem_seen_keys(problem);
    const double dim = (double)problem->dim, value_dim = (double)problem->value_dim;
    const double features = (double)plan->form.features, z = plan->form.normalise ? 1 : 0;
    double token = features * (2.0 * value_dim + z);
    if (linear_has_decay(&plan->form)) token += features * (value_dim + z);
    if (linear_has_delta(&plan->form)) token += (2.0 * features + 2.0) * value_dim;
    cost->pairs = attn_problem_pairs(problem);
    cost->flops = 2.0 * heads * queries * features * (value_dim + z) + kv_heads * keys * token;
    cost->bytes = (double)attn_dtype_size(problem->dtype) * (dim + value_dim) * heads * queries +
                  (double)attn_dtype_size(problem->kv_dtype) * (dim + value_dim) * kv_heads * keys;
    cost->gradient_flops = 3.0 * cost->flops; /* readers: queries, keys, values */
    cost->form = "(n + m) d dv";
}

#define NAME(NAME, name, help, ...) name,
#define HELP(NAME, name, help, ...) " " name " " help ";"
const char *const attn_linear_maps[] = {LINEAR_MAPS(NAME) LINEAR_WIDE_MAPS(NAME) NULL};
static const char maps_help[] =
    "phi:" LINEAR_MAPS(HELP) LINEAR_WIDE_MAPS(HELP) " applied to queries and keys";
#undef NAME
#undef HELP

/* The order of values. */
enum { MAP, RULE, NORMALISER, FEATURES, SEED, RETNET };
enum { NORMALISER_AUTO, NORMALISER_ON, NORMALISER_OFF };
static const char *const normalisers[] = {"auto", "on", "off", NULL};

#define PARAM(kind, id, text, words, in, least, most, first, names)                                \
    {                                                                                              \
        .struct_size = sizeof(attn_param_info_t), .type = ATTN_PARAM_##kind, .name = id,           \
        .label = text, .help = words, .unit = in, .minimum = least, .maximum = most,               \
        .initial = first, .choices = names                                                         \
    }

static const attn_param_info_t params[LINEAR_PARAMS] = {
    [MAP] = PARAM(CHOICE, "feature_map", "feature map", maps_help, "", 0, LINEAR_MAP_COUNT - 1,
                  LINEAR_ELU1, attn_linear_maps),
    [RULE] = PARAM(CHOICE, "rule", "update rule",
                   "how a token changes the state: adds to it, what is there decays first (gated), "
                   "what its key finds is taken away first (delta), or both",
                   "", 0, LINEAR_RULE_GATED_DELTA, LINEAR_RULE_LINEAR, attn_linear_rules),
    [NORMALISER] = PARAM(CHOICE, "normaliser", "normaliser",
                         "divide by the sum of weights; auto: not with the delta rules", "", 0, 2,
                         NORMALISER_AUTO, normalisers),
    [FEATURES] = PARAM(INTEGER, "features", "random features", "of feature_map favor", "", 1, 65536,
                       256, NULL),
    [SEED] =
        PARAM(INTEGER, "seed", "seed", "of favor's random features: the same seed gives the same",
              "", 0, 9007199254740991.0, 1, NULL),
    [RETNET] = PARAM(BOOLEAN, "retnet", "RetNet's decay",
                     "with a gated rule and no array decay: head h keeps 1 - 2^(-5-h) a token", "",
                     0, 1, 0, NULL),
};
#undef PARAM

/* ---- arrays ------------------------------------------------------------------------------------- */

#define ARRAY(kind, when, head, row, column, may, slope, id, words)                                \
    {                                                                                              \
        .struct_size = sizeof(attn_array_info_t), .role = ATTN_ROLE_##kind, .flags = slope,        \
        .presence = ATTN_PRESENCE_##when, .dtype = ATTN_F32,                                       \
        .axes = {ATTN_AXIS_BATCH, ATTN_AXIS_##head, ATTN_AXIS_##row, ATTN_AXIS_##column},          \
        .broadcast = may, .name = id, .help = words                                                \
    }

static const attn_array_info_t own_arrays[LINEAR_ARRAYS] = {
    [LINEAR_DECAY] =
        ARRAY(INPUT, NAMED, KV_HEADS, KEYS, DIM, 15, ATTN_ARRAY_DIFFERENTIABLE, "decay",
              "gated: log of what the state keeps before a token is added, 0 or below; "
              "for each column of keys or all"),
    [LINEAR_BETA] = ARRAY(INPUT, NAMED, KV_HEADS, KEYS, ONE, 7, ATTN_ARRAY_DIFFERENTIABLE, "beta",
                          "delta: how much of what a token's key finds it replaces"),
    [LINEAR_STATE] =
        ARRAY(INPUT, NAMED, KV_HEADS, PLAN, VALUE_DIM, 0, ATTN_ARRAY_DIFFERENTIABLE, "state",
              "what tokens before the first came to; plan: the map's features"),
    [LINEAR_STATE_Z] = ARRAY(INPUT, NAMED, KV_HEADS, PLAN, ONE, 0, ATTN_ARRAY_DIFFERENTIABLE,
                             "state_z", "the same of the normaliser"),
    [LINEAR_STATE_OUT] = ARRAY(OUTPUT, OPTIONAL, KV_HEADS, PLAN, VALUE_DIM, 0, 0, "state_out",
                               "what all tokens come to"),
    [LINEAR_STATE_Z_OUT] = ARRAY(OUTPUT, OPTIONAL, KV_HEADS, PLAN, ONE, 0, 0, "state_z_out",
                                 "the same of the normaliser"),
};
#undef ARRAY

static void own_shape(const attn_backend_plan_t *base, uint32_t index, int64_t shape[4]) {
    if (index >= LINEAR_STATE) shape[2] = ((const linear_plan_t *)base)->form.features;
}

static const void *get_extension(const char *id) {
    static const attn_ext_params_t declared = {
        .struct_size = sizeof declared,
        .count = LINEAR_PARAMS,
        .params = params,
    };
    static const attn_ext_weights_t weights = {.struct_size = sizeof weights, .rows = weight_rows};
    static const attn_ext_cost_t costs = {.struct_size = sizeof costs, .cost = cost};
    static const attn_ext_stream_t streams = {.struct_size = sizeof streams,
                                              .create = attn_linear_stream};
    static const attn_array_info_t *const arrays[LINEAR_ARRAYS] = {&own_arrays[0], &own_arrays[1],
                                                                   &own_arrays[2], &own_arrays[3],
                                                                   &own_arrays[4], &own_arrays[5]};
    static const attn_ext_inputs_t inputs = {sizeof inputs, LINEAR_ARRAYS, arrays, own_shape};
    if (strcmp(id, ATTN_EXT_BACKWARD) == 0) return &attn_linear_backward_extension;
    if (strcmp(id, ATTN_EXT_INPUTS) == 0) return &inputs;
    if (strcmp(id, ATTN_EXT_STREAM) == 0) return &streams;
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return &declared;
    if (strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &weights;
    if (strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    return NULL;
}

/* ---- plan --------------------------------------------------------------------------------------- */

static void destroy(attn_backend_plan_t *base) {
    const linear_plan_t *plan = (const linear_plan_t *)base;
    attn_host_release(plan->host, (void *)(uintptr_t)plan->form.directions);
    attn_host_release(plan->host, base);
}

static double features_of(const attn_problem_t *problem, const attn_value_t *values) {
    return linear_map_features((linear_map_t)values[MAP].integer, (double)problem->dim,
                               (double)values[FEATURES].integer);
}

/* That counting a state's numbers, each a few times over, does not overflow. */
static attn_status_t check_size(const attn_problem_t *problem, const attn_value_t *values,
                                attn_error_t *error) {
    const double rest = 64; /* beside v, or of whole vectors */
    const double features = features_of(problem, values) + rest;
    if (features * ((double)problem->value_dim + rest) < 0x1p56) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_MEMORY,
                     "linear: a state of %lld columns of keys and %lld of values would not fit in "
                     "memory",
                     (long long)problem->dim, (long long)problem->value_dim);
}

static linear_form_t form_of(const attn_problem_t *problem, const attn_value_t *values) {
    linear_form_t form = {
        .map = (linear_map_t)values[MAP].integer,
        .rule = (linear_rule_t)values[RULE].integer,
        .retnet = (int)values[RETNET].integer,
        .seed = (uint64_t)values[SEED].integer,
        .key_scale = 1.0f,
    };
    form.features = (int64_t)features_of(problem, values);
    form.normalise = values[NORMALISER].integer == NORMALISER_ON ||
                     (values[NORMALISER].integer == NORMALISER_AUTO && !linear_has_delta(&form));
    /* The wide maps stand for exp(scale q.k): their scale is by default that of softmax. */
    form.query_scale = !isnan(problem->scale)         ? problem->scale
                       : linear_map_is_wide(form.map) ? 1.0f / sqrtf((float)problem->dim)
                                                      : 1.0f;
    if (form.map == LINEAR_FAVOR) { /* it takes |q|^2 and |k|^2 apart: best when they are alike */
        form.key_scale = sqrtf(fabsf(form.query_scale));
        form.query_scale = copysignf(form.key_scale, form.query_scale);
    }
    return form;
}

enum { WIDEST = 16 /* floats in a vector */ };

static attn_status_t draw_directions(linear_plan_t *plan, attn_error_t *error) {
    const int64_t dim = plan->problem.dim, features = plan->form.features;
    attn_arena_t room = {.base = NULL}, block = {.base = NULL};
    const int64_t stride = (features + WIDEST - 1) / WIDEST * WIDEST;
    attn_arena_take(&room, dim, (uint64_t)stride * sizeof(float));
    attn_arena_take(&block, attn_min(dim, features), (uint64_t)dim * sizeof(double));
    float *directions = NULL;
    double *scratch = NULL;
    if (!room.overflow && !block.overflow) {
        directions = attn_host_allocate(plan->host, (size_t)room.used);
        scratch = attn_host_allocate(plan->host, (size_t)block.used);
    }
    plan->form.directions = directions;
    plan->form.directions_stride = stride;
    if (directions && scratch)
        attn_linear_directions(directions, stride, scratch, dim, features, plan->form.seed);
    attn_host_release(plan->host, scratch);
    return directions && scratch
               ? ATTN_OK
               : attn_fail(error, ATTN_ERROR_MEMORY, "linear: no memory for random features");
}

/* The largest of the workspaces: weights and streams' single tokens are always of the second kind. */
static attn_status_t measure(linear_plan_t *plan, attn_error_t *error) {
    attn_arena_t plain = {.base = NULL}, rules = {.base = NULL}, back = {.base = NULL};
    const int is_plain = plan->form.rule == LINEAR_RULE_LINEAR;
    plan->has_segments = is_plain && attn_linear_has_segments(plan);
    if (is_plain) attn_linear_space(plan, &plain);
    attn_linear_rules_space(plan, &rules);
    if (plan->problem.backward) attn_linear_backward_space(plan, &back);
    if (plain.overflow || rules.overflow || back.overflow)
        return attn_fail(error, ATTN_ERROR_MEMORY, ATTN_NO_WORKSPACE, "linear");
    plan->base.workspace_size = plain.used > rules.used ? plain.used : rules.used;
    if (back.used > plan->base.workspace_size) plan->base.workspace_size = back.used;
    return ATTN_OK;
}

attn_status_t attn_linear_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    attn_status_t status = check_size(problem, values, error);
    if (status != ATTN_OK) return status;
    linear_plan_t *plan = attn_host_allocate(host, sizeof *plan);
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a plan");
    *plan = (linear_plan_t){
        .base = {.struct_size = sizeof plan->base, .run = attn_linear_run, .destroy = destroy},
        .host = host,
        .kernels = attn_linear_kernels(attn_host_tier(host)),
        .recurrence = attn_linear_recurrence(attn_host_tier(host)),
        .problem = attn_problem_copy(problem),
    };
    const attn_problem_t *copy = &plan->problem;
    plan->form = form_of(copy, values);
    plan->base.kernel =
        plan->form.rule == LINEAR_RULE_LINEAR ? plan->kernels->name : plan->recurrence->name;
    status = attn_linear_form_check(&plan->form, copy, error);
    if (status == ATTN_OK) status = measure(plan, error);
    if (status == ATTN_OK && plan->form.map == LINEAR_FAVOR) status = draw_directions(plan, error);
    if (status == ATTN_OK)
        *result = &plan->base;
    else
        destroy(&plan->base);
    return status;
}

static const attn_backend_t linear_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features = ATTN_FEATURE_CAUSAL | ATTN_FEATURE_GROUPED_HEADS | ATTN_FEATURE_HALF |
                ATTN_FEATURE_KV_LENGTHS | ATTN_FEATURE_BACKWARD,
    .id = "linear",
    .name = "Linear",
    .version = "0.1.0",
    .description =
        "Weights from feature maps: cost linear in the length, a state that does not grow.",
    .reference = "elu1: arXiv:2006.16236, Eq. 7; lin: arXiv:2310.11685, Def. 3.2; favor: "
                 "arXiv:2009.14794; taylor2: arXiv:2402.18668; rules: ONNX LinearAttention",
    .plan = attn_linear_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&linear_backend};
ATTN_PLUGIN(linear, backends);
