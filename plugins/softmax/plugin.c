/* softmax: exact attention, A = D^-1 exp(S), O = A V: the code of core/attention/ without a pattern. */
#include "softmax.h"

#include "attention/backward.h"
#include "attention/quantised.h"
#include "attn/ext/params.h"
#include "attn/pairs.h"
#include "stream/cached.h"

#include <inttypes.h>
#include <string.h>

static void cost(const attn_backend_plan_t *base, attn_cost_t *cost) {
    const exact_plan_t *plan = (const exact_plan_t *)base;
    const double keys = (double)attn_problem_seen_keys(&plan->problem);
    attn_exact_cost(plan, attn_problem_pairs(&plan->problem), keys, keys, cost);
    cost->form = "n m (d + dv)";
}

#if !ATTN_SMALL
static const attn_param_info_t param_infos[] = {
    {
        .struct_size = sizeof(attn_param_info_t),
        .type = ATTN_PARAM_CHOICE,
        .name = "precision",
        .label = "Precision",
        .help = EXACT_PRECISION_HELP,
        .unit = "",
        .maximum = EXACT_INT8,
        .choices = attn_exact_precisions,
    },
};

static const attn_ext_params_t params = {
    .struct_size = sizeof(attn_ext_params_t),
    .count = sizeof param_infos / sizeof param_infos[0],
    .params = param_infos,
};

/* What integers are not there for; queries are multiplied as floats where they are few (quantised.h). */
static attn_status_t check_integers(const char *precision, const attn_problem_t *problem,
                                    attn_error_t *error) {
    const int is_decoded =
        attn_decode_fits(problem, NULL, DECODE_ROWS) && problem->kv_dtype == ATTN_I8;
    const int floats = !attn_quantised_fits(problem) && !is_decoded;
    if (!floats && problem->dim > QUANTISED_MOST_DIM)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "softmax: precision %s takes d up to %d, not %" PRId64, precision,
                         QUANTISED_MOST_DIM, problem->dim);
    return ATTN_OK;
}

/* Kernels of a plan; NULL: those of the tier, in f32. */
static attn_status_t choose(const attn_host_t *host, const attn_problem_t *problem,
                            const attn_value_t *values, const exact_kernels_t **kernels,
                            attn_error_t *error) {
    const quantised_kernels_t *quantised = attn_quantised_kernels(attn_host_tier(host));
    const int64_t precision = values ? values[0].integer : EXACT_F32; /* sketch's have no values */
    attn_status_t status = attn_exact_choose("softmax", host, problem, precision, kernels, error);
    if (status != ATTN_OK || precision < EXACT_INT16) return status;
    *kernels = precision == EXACT_INT8 ? &quantised->int8 : &quantised->int16;
    const exact_kernels_t *tiles = attn_int8_tile_kernels(attn_host_tier(host));
    if (precision == EXACT_INT8 && tiles && !attn_decode_fits(problem, NULL, DECODE_ROWS))
        *kernels = tiles;
    return check_integers(attn_exact_precisions[precision], problem, error);
}
#else
static const attn_ext_params_t params = {.struct_size = sizeof(attn_ext_params_t)};
#endif

uint64_t attn_softmax_plan_bytes(const attn_backend_plan_t *plan) {
    (void)plan; /* all alike */
    return sizeof(exact_plan_t);
}

static attn_status_t make_stream(const attn_host_t *host, const attn_problem_t *problem,
                                 const attn_value_t *values, attn_backend_stream_t **stream,
                                 attn_error_t *error) {
    const attn_cached_t cached = {.host = host,
                                  .backend = &attn_softmax_backend,
                                  .problem = problem,
                                  .values = values,
                                  .count = params.count,
                                  .plan_bytes = attn_softmax_plan_bytes,
                                  .reach = problem->window_left,
                                  .period = 1};
    return attn_cached_stream(&cached, stream, error);
}

static const void *get_extension(const char *id) {
    static const attn_ext_cost_t costs = {.struct_size = sizeof costs, .cost = cost};
    static const attn_ext_stream_t streams = {.struct_size = sizeof streams, .create = make_stream};
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_BACKWARD) == 0) return &attn_exact_backward;
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_STREAM) == 0) return &streams;
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &attn_exact_weights;
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    if (!ATTN_SMALL && strcmp(id, ATTN_EXT_PARAMS) == 0) return &params;
    return NULL;
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    const exact_kernels_t *kernels = NULL;
#if !ATTN_SMALL
    const attn_problem_t copy = attn_problem_copy(problem);
    const attn_status_t status = choose(host, &copy, values, &kernels, error);
    if (status != ATTN_OK) return status;
#else
    (void)values;
#endif
    return attn_exact_plan("softmax", host, problem, attn_host_allocate(host, sizeof(exact_plan_t)),
                           NULL, kernels, result, error);
}

const attn_backend_t attn_softmax_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features = EXACT_FEATURES | (ATTN_SMALL ? 0 : ATTN_FEATURE_BACKWARD),
    .id = "softmax",
    .name = "Softmax",
    .version = "0.1.0",
#if !ATTN_SMALL /* where nobody asks */
    .description = "Exact attention by the online softmax, in memory linear in n and m.",
    .reference = "A = D^-1 exp(Q K^T / sqrt(d)): arXiv:2310.11685, Eq. 1; online: arXiv:1805.02867",
#endif
    .plan = make_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&attn_softmax_backend};
ATTN_PLUGIN(softmax, backends);
