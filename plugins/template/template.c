/*
 * A complete plugin to copy: attention by position alone. Query i weighs key j by
 * exp(-|i - j| / width), normalised over the keys it sees; queries and keys are not read.
 * (The distance term of ALiBi, arXiv:2108.12409, as the only logit.) The width is a parameter, or an
 * array of the plugin's own with one for each head.
 */
#include "attn/ext/backward.h"
#include "attn/ext/cost.h"
#include "attn/ext/inputs.h"
#include "attn/ext/params.h"
#include "attn/ext/weights.h"
#include "attn/pairs.h"
#include "attn/support.h"

#include <math.h>
#include <string.h>

typedef struct template_plan {
    attn_backend_plan_t base; /* first: what the host sees of it */
    const attn_host_t *host;
    attn_problem_t problem;
    double width;
} template_plan_t;

/* Arrays of its own, in the order of their declaration below. */
enum { WIDTHS };

static double width_of(const template_plan_t *plan, const attn_io_t *io, int64_t head) {
    const attn_tensor_t *widths = attn_own_array(io, WIDTHS);
    return widths ? (double)((const float *)widths->data)[head * widths->stride[1]] : plan->width;
}

/* Weights of query i, and the log of their sum; returns how many keys it sees, 0 to m. */
static int64_t weigh(const template_plan_t *plan, double width, int64_t i, double *weights,
                     double *lse) {
    const attn_problem_t *problem = &plan->problem;
    int64_t seen = attn_causal_limit(problem, i), position = i;
    if (problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT) position += problem->keys - problem->queries;
    int64_t nearest = position < seen ? position : seen - 1;
    double largest = -(double)(position - nearest) / width, sum = 0.0;
    for (int64_t j = 0; j < seen; j++)
        sum += weights[j] = exp(-fabs((double)(position - j)) / width - largest);
    for (int64_t j = 0; j < seen; j++) weights[j] /= sum;
    *lse = largest + log(sum);
    return seen;
}

static float *row_of(const attn_tensor_t *t, int64_t b, int64_t h, int64_t i) {
    return (float *)t->data + b * t->stride[0] + h * t->stride[1] + i * t->stride[2];
}

/* What the tasks of a run share. */
typedef struct call {
    const template_plan_t *plan;
    const attn_io_t *io;
} call_t;

/* One row of the output. No two tasks of a worker run at a time, so that each worker has a scratch row of its own;
 * rows do not depend on each other, so that any number of threads gives the same bits. */
static void run_row(void *data, int64_t task, uint32_t worker) {
    const template_plan_t *plan = ((const call_t *)data)->plan;
    const attn_io_t *io = ((const call_t *)data)->io;
    const attn_problem_t *p = &plan->problem;
    double *weights = (double *)io->workspace + worker * (p->keys + p->value_dim), lse;
    double *sums = weights + p->keys;
    int64_t i = task % p->queries, h = task / p->queries % p->heads;
    int64_t b = task / p->queries / p->heads;
    int64_t seen = weigh(plan, width_of(plan, io, h), i, weights, &lse);
    for (int64_t c = 0; c < p->value_dim; c++) sums[c] = 0.0; /* and so for a row without keys */
    for (int64_t j = 0; j < seen; j++) {
        const float *value = row_of(&io->value, b, h / (p->heads / p->kv_heads), j);
        for (int64_t c = 0; c < p->value_dim; c++)
            sums[c] += weights[j] * value[c * io->value.stride[3]];
    }
    float *out = row_of(&io->out, b, h, i);
    for (int64_t c = 0; c < p->value_dim; c++) out[c * io->out.stride[3]] = (float)sums[c];
    if (io->lse.data) *row_of(&io->lse, b, h, i) = (float)lse;
}

static attn_status_t run(const attn_backend_plan_t *base, const attn_io_t *io,
                         attn_error_t *error) {
    const template_plan_t *plan = (const template_plan_t *)base;
    const attn_problem_t *p = &plan->problem;
    call_t call = {plan, io};
    (void)error;
    attn_host_parallel_for(plan->host, p->batch * p->heads * p->queries, run_row, &call);
    return ATTN_OK;
}

static attn_status_t weight_rows(const attn_backend_plan_t *base, const attn_io_t *io,
                                 int64_t batch, int64_t head, int64_t first, int64_t count,
                                 float *rows, int64_t row_stride, attn_error_t *error) {
    const template_plan_t *plan = (const template_plan_t *)base;
    double *weights = io->workspace, lse;
    (void)batch, (void)error;
    for (int64_t r = 0; r < count; r++) {
        int64_t seen = weigh(plan, width_of(plan, io, head), first + r, weights, &lse);
        for (int64_t j = 0; j < plan->problem.keys; j++)
            rows[r * row_stride + j] = j < seen ? (float)weights[j] : 0.0f;
    }
    return ATTN_OK;
}

/* A gradient with zeros in it; 0 where it is not wanted. */
static int begin_gradient(const attn_tensor_t *gradient) {
    if (!gradient || !gradient->data) return 0;
    for (int64_t b = 0; b < gradient->shape[0]; b++)
        for (int64_t h = 0; h < gradient->shape[1]; h++)
            for (int64_t i = 0; i < gradient->shape[2]; i++)
                for (int64_t c = 0; c < gradient->shape[3]; c++)
                    row_of(gradient, b, h, i)[c * gradient->stride[3]] = 0.0f;
    return 1;
}

/*
 * Gradients through the row a_j = exp(l_j) / sum_k exp(l_k), l_j = -|p - j| / w, of query head h:
 * dV_j += a_j dO to `values`, and, as dl_j = a_j (dO.V_j - sum_k a_k dO.V_k), returned is
 * dw = sum_j dl_j |p - j| / w^2.
 */
static double row_backward(const template_plan_t *plan, const attn_io_t *io,
                           const attn_tensor_t *out_gradient, const int64_t at[3], double *weights,
                           double *values) {
    const attn_problem_t *p = &plan->problem;
    const int64_t b = at[0], h = at[1], i = at[2];
    const double width = width_of(plan, io, h);
    double lse, mean = 0.0, sum = 0.0, scaled = 0.0;
    const int64_t seen = weigh(plan, width, i, weights, &lse);
    const int64_t position = attn_query_position(p, p->keys, i);
    const float *out = row_of(out_gradient, b, h, i);
    for (int64_t j = 0; j < seen; j++) {
        const float *value = row_of(&io->value, b, h / (p->heads / p->kv_heads), j);
        double product = 0.0;
        for (int64_t c = 0; c < p->value_dim; c++) {
            const double gradient = out[c * out_gradient->stride[3]];
            product += gradient * (double)value[c * io->value.stride[3]];
            values[j * p->value_dim + c] += weights[j] * gradient;
        }
        const double distance = fabs((double)(position - j));
        mean += weights[j] * product;
        sum += weights[j] * product * distance;
        scaled += weights[j] * distance;
    }
    return (sum - mean * scaled) / (width * width);
}

/* All queries that read one key/value head, whose dV is summed in double. */
static void head_backward(const template_plan_t *plan, const attn_io_t *io,
                          const attn_io_t *gradients, int64_t b, int64_t kv_head, double *widths) {
    const attn_problem_t *p = &plan->problem;
    const attn_tensor_t *value = &gradients->value;
    const int64_t group = p->heads / p->kv_heads;
    double *weights = io->workspace, *values = weights + p->keys + p->value_dim;
    memset(values, 0, (size_t)(p->keys * p->value_dim) * sizeof *values);
    for (int64_t h = kv_head * group; h < (kv_head + 1) * group; h++)
        for (int64_t i = 0; i < p->queries; i++)
            widths[h] +=
                row_backward(plan, io, &gradients->out, (int64_t[]){b, h, i}, weights, values);
    for (int64_t j = 0; value->data && j < p->keys; j++)
        for (int64_t c = 0; c < p->value_dim; c++)
            row_of(value, b, kv_head, j)[c * value->stride[3]] =
                (float)values[j * p->value_dim + c];
}

static attn_status_t backward(const attn_backend_plan_t *base, const attn_io_t *io,
                              const attn_io_t *gradients, attn_error_t *error) {
    const template_plan_t *plan = (const template_plan_t *)base;
    const attn_problem_t *p = &plan->problem;
    const attn_tensor_t *widths = attn_own_array(gradients, WIDTHS);
    double *sums = (double *)io->workspace + p->keys + p->value_dim + p->keys * p->value_dim;
    (void)error;
    begin_gradient(&gradients->query); /* which no result depends on */
    begin_gradient(&gradients->key);
    memset(sums, 0, (size_t)p->heads * sizeof *sums);
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->kv_heads; h++) head_backward(plan, io, gradients, b, h, sums);
    for (int64_t h = 0; widths && h < p->heads; h++) *row_of(widths, 0, h, 0) = (float)sums[h];
    return ATTN_OK;
}

static void cost(const attn_backend_plan_t *base, attn_cost_t *cost) {
    const attn_problem_t *problem = &((const template_plan_t *)base)->problem;
    const double heads = (double)(problem->batch * problem->heads);
    const double kv_heads = (double)(problem->batch * problem->kv_heads);
    cost->pairs = attn_problem_pairs(problem);
    cost->flops = 2.0 * cost->pairs * (double)problem->value_dim;
    cost->bytes =
        sizeof(float) * (double)problem->value_dim *
        (heads * (double)problem->queries + kv_heads * (double)attn_problem_seen_keys(problem));
    cost->form = "n m dv";
}

static void destroy(attn_backend_plan_t *base) {
    attn_host_release(((template_plan_t *)base)->host, base);
}

/* Each worker's row of weights and sums; for gradients one, and those of a head's values and of all widths. */
static uint64_t workspace_of(const attn_host_t *host, const attn_problem_t *problem) {
    int64_t row = problem->keys + problem->value_dim, rows = row * attn_host_workers(host);
    int64_t head = problem->keys * problem->value_dim;
    int64_t backward = problem->backward ? row + head + problem->heads : 0;
    return (uint64_t)attn_max(rows, backward) * sizeof(double);
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *given,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    const attn_problem_t problem = attn_problem_copy(given);
    template_plan_t *plan = attn_host_allocate(host, sizeof *plan);
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "template: no memory for the plan");
    *plan = (template_plan_t){
        .base = {.struct_size = sizeof plan->base,
                 .workspace_size = workspace_of(host, &problem),
                 .kernel = "plain C",
                 .run = run,
                 .destroy = destroy},
        .host = host,
        .problem = problem,
        .width = values[0].number,
    };
    *result = &plan->base;
    return ATTN_OK;
}

static const void *get_extension(const char *id) {
    static const attn_param_info_t width = {
        .struct_size = sizeof width,
        .type = ATTN_PARAM_NUMBER,
        .name = "width",
        .label = "width",
        .help = "distance over which a key's weight falls by e",
        .unit = "keys",
        .minimum = 1.0,
        .maximum = 1e6,
        .initial = 16.0,
    };
    static const attn_array_info_t widths = {
        .struct_size = sizeof widths,
        .role = ATTN_ROLE_INPUT,
        .presence = ATTN_PRESENCE_NAMED,
        .dtype = ATTN_F32,
        .flags = ATTN_ARRAY_DIFFERENTIABLE,
        .axes = {ATTN_AXIS_ONE, ATTN_AXIS_HEADS, ATTN_AXIS_ONE, ATTN_AXIS_ONE},
        .elements = ATTN_ELEMENTS_POSITIVE,
        .name = "widths",
        .help = "each head's own width, in place of the parameter",
    };
    static const attn_array_info_t *const arrays[] = {[WIDTHS] = &widths};
    static const attn_ext_inputs_t inputs = {sizeof inputs, 1, arrays, NULL};
    static const attn_ext_params_t params = {sizeof params, 1, &width};
    static const attn_ext_backward_t gradients = {
        sizeof gradients, 0, 1u << ATTN_ARRAY_QUERY | 1u << ATTN_ARRAY_KEY | 1u << ATTN_ARRAY_VALUE,
        backward};
    static const attn_ext_weights_t weights = {sizeof weights, 0, weight_rows};
    static const attn_ext_cost_t costs = {sizeof costs, 0, cost};
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return &params;
    if (strcmp(id, ATTN_EXT_INPUTS) == 0) return &inputs;
    if (strcmp(id, ATTN_EXT_BACKWARD) == 0) return &gradients;
    if (strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &weights;
    if (strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    return NULL;
}

static const attn_backend_t template_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features =
        ATTN_FEATURE_CAUSAL | ATTN_FEATURE_GROUPED_HEADS | ATTN_FEATURE_LSE | ATTN_FEATURE_BACKWARD,
    .id = "org.libattn.template",
    .name = "Template",
    .version = "1.0.0",
    .description = "Attention by position alone: weights fall exponentially with distance.",
    .reference = "the distance term of ALiBi, arXiv:2108.12409",
    .plan = make_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&template_backend};
ATTN_PLUGIN(template, backends);
