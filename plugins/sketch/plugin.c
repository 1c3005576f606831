/*
 * sketch: softmax attention on sketched features, S ~ scale * (Q T)(K T)^T with T in R^{d x s}.
 *
 * A plan chooses s, draws T (except for leverage sampling, which depends on the data) and makes a
 * softmax plan for the problem with s features. With s >= d there is nothing to gain: T = I.
 */
#include "attn/ext/cost.h"
#include "attn/ext/facts.h"
#include "attn/ext/params.h"
#include "attn/ext/weights.h"
#include "attn/pairs.h"
#include "bound.h"
#include "choose.h"
#include "listed.h"
#include "number/format.h"
#include "plan.h"
#include "softmax/softmax.h"

#include <math.h>
#include <string.h>

enum { MAX_SIZE = 65536 };

/* ---- parameters ----------------------------------------------------------------------------------- */

enum parameter { METHOD, SIZE, EPS, DELTA, SEED, RANK, SPARSITY, FACTOR, ELEMENTS };

static const char *const methods[] = {"gaussian", "ams",           "osnap",       "leverage",
                                      "srht",     "deterministic", "approximate", NULL};

static const attn_param_info_t parameters[SKETCH_PARAMETERS] = {
    [METHOD] =
        {
            .struct_size = sizeof(attn_param_info_t),
            .type = ATTN_PARAM_CHOICE,
            .name = "method",
            .label = "method",
            .help = "how features are mixed, sampled (leverage, approximate) or weighed "
                    "(deterministic)",
            .unit = "",
            .maximum = 6,
            .choices = methods,
        },
    [SIZE] =
        {
            .struct_size = sizeof(attn_param_info_t),
            .type = ATTN_PARAM_INTEGER,
            .name = "size",
            .label = "sketch size",
            .help = "features that are left; all of them, or more: exact",
            .unit = "features",
            .maximum = MAX_SIZE,
            .automatic = "what the bound for eps and delta asks, or d/2",
        },
    [EPS] =
        {
            .struct_size = sizeof(attn_param_info_t),
            .type = ATTN_PARAM_NUMBER,
            .name = "eps",
            .label = "error",
            .help = "relative, of the logits, for the automatic size",
            .unit = "",
            .minimum = ATTN_SKETCH_LEAST_EPS,
            .maximum = ATTN_SKETCH_MOST,
            .initial = 0.5,
        },
    [DELTA] =
        {
            .struct_size = sizeof(attn_param_info_t),
            .type = ATTN_PARAM_NUMBER,
            .name = "delta",
            .label = "failure probability",
            .help = "that a head is without the guarantee",
            .unit = "",
            .minimum = ATTN_SKETCH_LEAST_DELTA,
            .maximum = ATTN_SKETCH_MOST,
            .initial = 0.1,
        },
    [SEED] =
        {
            .struct_size = sizeof(attn_param_info_t),
            .type = ATTN_PARAM_INTEGER,
            .name = "seed",
            .label = "seed",
            .help = "of the draws",
            .unit = "",
            .maximum = 9007199254740991.0, /* 2^53 - 1: 2^53 + 1 would be read as 2^53 */
        },
    [RANK] =
        {
            .struct_size = sizeof(attn_param_info_t),
            .type = ATTN_PARAM_INTEGER,
            .name = "rank",
            .label = "rank",
            .help = "of [Q; K] at most, n where Q = K: leverage, approximate, deterministic",
            .unit = "",
            .maximum = 2147483647.0,
            .automatic = "rows of [Q; K], at most d",
        },
    [SPARSITY] =
        {
            .struct_size = sizeof(attn_param_info_t),
            .type = ATTN_PARAM_INTEGER,
            .name = "sparsity",
            .label = "sparsity",
            .help = "osnap: features that each one goes into",
            .unit = "",
            .maximum = ATTN_SKETCH_MOST_SPARSITY,
            .automatic = "4, or all where there are fewer",
        },
    [FACTOR] =
        {
            .struct_size = sizeof(attn_param_info_t),
            .type = ATTN_PARAM_NUMBER,
            .name = "factor",
            .label = "factor",
            .help = "approximate: what scores may be off by, faster and of more features",
            .unit = "",
            .minimum = ATTN_SCORES_LEAST_FACTOR,
            .maximum = ATTN_SCORES_MOST_FACTOR,
            .initial = ATTN_SCORES_FACTOR,
        },
    [ELEMENTS] =
        {
            .struct_size = sizeof(attn_param_info_t),
            .type = ATTN_PARAM_INTEGER,
            .name = "elements",
            .label = "elements",
            .help = "of a sparse X: the length of x_data",
            .unit = "x_data",
            .maximum = 9007199254740991.0,
            .automatic = "none: Q and K are dense",
        },
};

/* ---- size and guarantee ---------------------------------------------------------------------------- */

static attn_sketch_promise_t promise_of(const sketch_plan_t *plan, const attn_value_t *values) {
    return (attn_sketch_promise_t){plan->method,         plan->problem.queries, plan->problem.keys,
                                   plan->rank,           values[DELTA].number,  plan->factor,
                                   attn_choose_sum(plan)};
}

static int is_deterministic(const sketch_plan_t *plan) {
    return plan->method == ATTN_SKETCH_DETERMINISTIC;
}

static int64_t choose_size(const sketch_plan_t *plan, const attn_value_t *values) {
    int64_t size = values[SIZE].integer, dim = plan->problem.dim;
    if (size == 0) {
        const attn_sketch_promise_t promise = promise_of(plan, values);
        double bound = attn_sketch_bound(&promise, values[EPS].number);
        size = bound < (double)dim ? (int64_t)bound : dim > 1 ? dim / 2 : 1;
        if (is_deterministic(plan) && bound >= (double)dim) return dim; /* half may be too few */
        if (size > MAX_SIZE) size = MAX_SIZE;
    }
    return size < dim ? size : dim;
}

static void describe_guarantee(sketch_plan_t *plan, const attn_value_t *values) {
    static const char *const promises[][2] = {
        [ATTN_SKETCH_GAUSSIAN] = {"all logits within", "scale |q| |k|"},
        [ATTN_SKETCH_AMS] = {"||S' - S||_F <=", "scale ||Q||_F ||K||_F in a head"},
        [ATTN_SKETCH_OSNAP] = {"||S' - S||_F <=", "scale ||Q||_F ||K||_F in a head"},
        [ATTN_SKETCH_SRHT] = {"||S' - S||_F <=", "scale ||Q||_F ||K||_F in a head"},
        [ATTN_SKETCH_LEVERAGE] = {"X' X'^T within 1 +-", "of X X^T, X = [Q; K]"},
        [ATTN_SKETCH_DETERMINISTIC] = {"X' X'^T within 1 +-", "of X X^T, X = [Q; K]"},
        [ATTN_SKETCH_APPROXIMATE] = {"X' X'^T within 1 +-", "of X X^T, X = [Q; K]"},
    };
    const attn_sketch_promise_t promise = promise_of(plan, values);
    double eps = attn_sketch_attained(&promise, plan->size), asked = 1.0;
    if (values[SIZE].integer == 0) {
        asked = values[EPS].number;
        eps = attn_sketch_bound(&promise, asked) <= (double)plan->size ? asked : 0.0;
    }
    char *text = plan->guarantee;
    const size_t room = sizeof plan->guarantee;
    if (plan->exact)
        attn_format(text, room, "exact: all %lld features are kept", (long long)plan->problem.dim);
    else if (eps > 0.0 && is_deterministic(plan))
        attn_format(text, room, "%s %.3g %s, always", promises[plan->method][0],
                    attn_sketch_round_up(eps, 3), promises[plan->method][1]);
    else if (eps > 0.0)
        attn_format(text, room, "%s %.3g %s, with probability %.9g", promises[plan->method][0],
                    attn_sketch_round_up(eps, 3), promises[plan->method][1],
                    1.0 - attn_sketch_round_up(promise.delta, 3));
    else
        attn_format(text, room, "none: the bound asks for %.0f of %lld features%s",
                    attn_sketch_bound(&promise, asked), (long long)plan->problem.dim,
                    values[SIZE].integer ? " (at eps = 1)" : "");
}

/* ---- plan ------------------------------------------------------------------------------------------- */

static void destroy(attn_backend_plan_t *base) {
    sketch_plan_t *plan = (sketch_plan_t *)base;
    if (plan->softmax) plan->softmax->destroy(plan->softmax);
    attn_host_release(plan->host, plan->matrix);
    attn_host_release(plan->host, plan->transposed);
    attn_host_release(plan->host, plan->entries);
    attn_host_release(plan->host, plan->srht.columns);
    attn_host_release(plan->host, plan->srht.weights);
    attn_host_release(plan->host, plan);
}

attn_problem_t attn_sketch_reduced(const sketch_plan_t *plan) {
    attn_problem_t small = plan->problem;
    small.dim = plan->size;
    if (isnan(small.scale)) small.scale = (float)(1.0 / sqrt((double)plan->problem.dim));
    return small;
}

/* Memory for `count` times `size` bytes of the plan, or NULL. */
static void *allocate(const attn_host_t *host, int64_t count, uint64_t size) {
    attn_arena_t arena = {.base = NULL};
    attn_arena_take(&arena, count, size);
    return arena.overflow ? NULL : attn_host_allocate(host, (size_t)arena.used);
}

/* For gradients. */
static int transpose(sketch_plan_t *plan) {
    const int64_t dim = plan->problem.dim, size = plan->size;
    plan->transposed = allocate(plan->host, dim, (uint64_t)size * sizeof *plan->transposed);
    if (!plan->transposed) return 0;
    for (int64_t t = 0; t < size; t++)
        for (int64_t j = 0; j < dim; j++)
            plan->transposed[t * dim + j] = plan->matrix[j * size + t];
    return 1;
}

/* A dense T that takes minutes to draw. */
static attn_status_t check_matrix(const sketch_plan_t *plan, attn_error_t *error) {
    const double bytes =
        (double)plan->problem.dim * (double)plan->size * (double)sizeof *plan->matrix;
    const int is_dense = plan->method == ATTN_SKETCH_GAUSSIAN || plan->method == ATTN_SKETCH_AMS;
    if (!is_dense || plan->exact || bytes <= 0x1p32) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_MEMORY,
                     "sketch: T of %s, %lld x %lld numbers, would take %.0f MB, 4295 at most: "
                     "method osnap takes a few numbers a feature, a smaller size fewer",
                     methods[plan->method], (long long)plan->problem.dim, (long long)plan->size,
                     bytes / 1e6);
}

static int draw(sketch_plan_t *plan) {
    const attn_host_t *host = plan->host;
    const attn_sketch_part_t all = {0, plan->problem.dim, plan->size, plan->seed};
    if (plan->exact) {
        plan->entries = allocate(host, all.count, sizeof *plan->entries);
        if (plan->entries) attn_sketch_identity(plan->entries, all.count);
        return plan->entries != NULL;
    }
    switch (plan->method) {
    case ATTN_SKETCH_OSNAP:
        if (attn_sketch_is_sparse(plan) && attn_sketch_draws_each(plan->elements, all.count))
            return 1; /* in each run */
        plan->entries = allocate(host, all.count, (uint64_t)plan->sparsity * sizeof *plan->entries);
        if (plan->entries) attn_sketch_osnap(plan->entries, &all, plan->sparsity);
        return plan->entries != NULL;
    case ATTN_SKETCH_SRHT:
        plan->srht.columns =
            allocate(host, attn_sketch_order(all.count), sizeof *plan->srht.columns);
        plan->srht.weights = allocate(host, all.count, sizeof *plan->srht.weights);
        if (!plan->srht.columns || !plan->srht.weights) return 0;
        attn_sketch_srht(&plan->srht, all.count, all.size, all.seed);
        return 1;
    case ATTN_SKETCH_LEVERAGE:
    case ATTN_SKETCH_DETERMINISTIC:
    case ATTN_SKETCH_APPROXIMATE:
        return 1; /* in each run */
    default:
        plan->matrix = allocate(host, all.count, (uint64_t)all.size * sizeof *plan->matrix);
        if (!plan->matrix) return 0;
        (plan->method == ATTN_SKETCH_AMS ? attn_sketch_ams : attn_sketch_gaussian)(plan->matrix,
                                                                                   &all);
        return !plan->problem.backward || transpose(plan);
    }
}

uint64_t attn_sketch_plan_bytes(const sketch_plan_t *plan) {
    const int64_t dim = plan->problem.dim;
    attn_arena_t matrix = {.base = NULL};
    if (plan->matrix) attn_arena_take(&matrix, dim * plan->size, sizeof *plan->matrix);
    if (plan->entries) attn_arena_take(&matrix, dim * plan->sparsity, sizeof *plan->entries);
    if (plan->srht.columns)
        attn_arena_take(&matrix, attn_sketch_order(dim) + dim, sizeof *plan->srht.columns);
    return sizeof *plan + matrix.used + attn_softmax_plan_bytes(plan->softmax);
}

static attn_status_t prepare(sketch_plan_t *plan, attn_error_t *error) {
    const attn_problem_t small = attn_sketch_reduced(plan);
    attn_status_t status = check_matrix(plan, error);
    if (status != ATTN_OK) return status;
    status = attn_softmax_backend.plan(plan->host, &small, NULL, &plan->softmax, error);
    if (status != ATTN_OK) return status;
    attn_arena_t arena = {.base = NULL};
    attn_sketch_workspace(plan, &arena);
    if (arena.overflow) return attn_fail(error, ATTN_ERROR_MEMORY, ATTN_NO_WORKSPACE, "sketch");
    plan->base.workspace_size = arena.used;
    if (!attn_sketch_makes(plan) || draw(plan)) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_MEMORY, "sketch: no memory for T of %lld x %lld",
                     (long long)plan->problem.dim, (long long)plan->size);
}

/* Of [Q; K]; a sparse X is both. */
static int64_t rank_of(const attn_problem_t *problem, int64_t known, int64_t elements) {
    const int64_t rank = attn_sketch_rank(problem, known);
    return elements ? attn_min(rank, problem->queries) : rank;
}

/* Those of a sparse X, 0 where queries and keys are dense. */
static attn_status_t read_elements(const attn_problem_t *problem, const attn_value_t *values,
                                   int64_t *elements, attn_error_t *error) {
    const attn_problem_t all = attn_problem_copy(problem);
    int named;
    *elements = values[ELEMENTS].integer;
    attn_status_t status = attn_csr_named(&all, *elements, &named, error);
    if (status != ATTN_OK) return status;
    if (!named) *elements = 0;
    if (named && all.backward)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "sketch: a sparse X has no gradients");
    if (named && values[METHOD].integer > ATTN_SKETCH_SRHT)
        return attn_fail(
            error, ATTN_ERROR_UNSUPPORTED,
            "sketch: method %s takes dense queries and keys; `attn sketch` has it for a sparse X",
            methods[values[METHOD].integer]);
    return ATTN_OK;
}

attn_status_t attn_sketch_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    int64_t elements = 0;
    attn_status_t status = ATTN_OK;
    status = read_elements(problem, values, &elements, error);
    if (status != ATTN_OK) return status;
    sketch_plan_t *plan = attn_host_allocate(host, sizeof *plan);
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a plan");
    *plan = (sketch_plan_t){
        .host = host,
        .kernels = attn_sketch_kernels(attn_host_tier(host)),
        .problem = attn_problem_copy(problem),
        .method = (enum attn_sketch_method)values[METHOD].integer,
        .rank = rank_of(problem, values[RANK].integer, elements),
        .seed = (uint64_t)values[SEED].integer,
        .elements = elements,
        .factor = values[FACTOR].number,
        .delta = values[DELTA].number,
    };
    plan->size = choose_size(plan, values);
    plan->exact = plan->size == problem->dim;
    plan->sparsity = plan->exact ? 1 : attn_sketch_sparsity(plan->size, values[SPARSITY].integer);
    plan->base = (attn_backend_plan_t){
        .struct_size = sizeof plan->base,
        .kernel = plan->kernels->name,
        .run = attn_sketch_run,
        .destroy = destroy,
    };
    describe_guarantee(plan, values);
    status = prepare(plan, error);
    if (status != ATTN_OK) {
        destroy(&plan->base);
        return status;
    }
    *result = &plan->base;
    return ATTN_OK;
}

/* ---- extensions --------------------------------------------------------------------------------------- */

/* An addition for each element and each of log2(order) steps. */
static double hadamard_flops(int64_t dim) {
    double steps = 0;
    for (int64_t order = 1; order < dim; order *= 2) steps++;
    return (double)attn_sketch_order(dim) * steps;
}

/* Of softmax on sketches, which has counted them as inputs: queries and keys of `rows` together. */
static void add_sparse_cost(const sketch_plan_t *plan, double rows, attn_cost_t *cost) {
    const double elements = (double)plan->elements, size = (double)plan->size;
    const double bytes = sizeof(float) + sizeof(int64_t);
    cost->bytes += bytes * elements + (double)sizeof(int64_t) * (rows / 2 + 1);
    cost->bytes -= rows * size * (double)sizeof(float);
    if (plan->method == ATTN_SKETCH_LEVERAGE && !plan->exact) {
        const double heads = rows / 2 / (double)plan->problem.queries;
        cost->flops += elements + heads * attn_listed_flops(plan->problem.queries,
                                                            plan->problem.dim, elements / heads);
        cost->form = "nnz min(n, d) + min(n, d)^3 + n m (s + dv)";
        cost->gradient_flops = 0;
        return;
    }
    cost->flops += 2.0 * elements * (attn_sketch_scatters(plan) ? (double)plan->sparsity : size);
    cost->gradient_flops = 0; /* it has none */
    cost->form = attn_sketch_scatters(plan) ? "nnz + n m (s + dv)" : "nnz s + n m (s + dv)";
}

/* Sketching, and the reduced problem; the bytes are those of the problem that was asked. */
static void cost(const attn_backend_plan_t *base, attn_cost_t *cost) {
    static const char *const forms[] = {
        [ATTN_SKETCH_GAUSSIAN] = "(n + m) d s + n m (s + dv)",
        [ATTN_SKETCH_AMS] = "(n + m) d s + n m (s + dv)",
        [ATTN_SKETCH_OSNAP] = "(n + m) d + n m (s + dv)",
        [ATTN_SKETCH_SRHT] = "(n + m) d log d + n m (s + dv)",
        [ATTN_SKETCH_LEVERAGE] = "d min(n + m, d)^2 + n m (s + dv)",
        [ATTN_SKETCH_DETERMINISTIC] = "s d min(n + m, d)^2 + n m (s + dv)",
        [ATTN_SKETCH_APPROXIMATE] = "(n + m) d min(n + m, log d) + (n + m)^3 + n m (s + dv)",
    };
    const sketch_plan_t *plan = (const sketch_plan_t *)base;
    const attn_problem_t *problem = &plan->problem;
    const attn_ext_cost_t *softmax = attn_softmax_backend.get_extension(ATTN_EXT_COST);
    softmax->cost(plan->softmax, cost);
    if (!attn_sketch_makes(plan)) return;

    const double dim = (double)problem->dim, size = (double)plan->size;
    const double kv_heads = (double)problem->batch * (double)problem->kv_heads;
    const double all_rows = kv_heads * (double)attn_leverage_rows(problem);
    if (attn_sketch_is_sparse(plan)) {
        add_sparse_cost(plan, all_rows, cost);
        return;
    }
    /* Keys that no query sees need no sketch, but what chooses features reads them. */
    const double hidden = kv_heads * (double)(problem->keys - attn_problem_seen_keys(problem));
    const double rows = all_rows - hidden;
    const int reads_all = plan->method == ATTN_SKETCH_LEVERAGE || attn_sketch_chooses(plan);
    cost->bytes += (rows * (dim - size) + (reads_all ? hidden * dim : 0)) * (double)sizeof(float);
    cost->form = forms[plan->method];
    const double reduced = cost->flops;
    if (plan->method == ATTN_SKETCH_OSNAP)
        cost->flops += 2.0 * rows * dim * (double)plan->sparsity;
    else if (plan->method == ATTN_SKETCH_SRHT)
        cost->flops += rows * (dim + hadamard_flops(problem->dim));
    else if (plan->method == ATTN_SKETCH_LEVERAGE)
        cost->flops += rows * size + kv_heads * attn_leverage_flops(problem);
    else if (attn_sketch_chooses(plan))
        cost->flops += rows * size + kv_heads * attn_choose_flops(plan);
    else
        cost->flops += 2.0 * rows * dim * size;
    cost->gradient_flops += 2.0 * (cost->flops - reduced); /* there and back, but drawn once */
    if (plan->method == ATTN_SKETCH_LEVERAGE)
        cost->gradient_flops -= kv_heads * attn_leverage_flops(problem);
    if (attn_sketch_chooses(plan)) cost->gradient_flops -= kv_heads * attn_choose_flops(plan);
}

static int32_t fact(const attn_backend_plan_t *base, uint32_t index, attn_fact_t *fact) {
    const sketch_plan_t *plan = (const sketch_plan_t *)base;
    fact->text = NULL;
    fact->number = 0.0;
    switch (index) {
    case 0:
        fact->name = "size";
        fact->label = is_deterministic(plan) && !plan->exact ? "size, at most" : "sketch size";
        fact->number = (double)plan->size;
        return 1;
    case 1:
        fact->name = "exact";
        fact->label = "all features kept";
        fact->text = plan->exact ? "yes" : "no";
        fact->number = plan->exact;
        return 1;
    case 2:
        fact->name = "guarantee";
        fact->label = "guarantee";
        fact->text = plan->guarantee;
        return 1;
    default:
        return 0;
    }
}

static void own_shape(const attn_backend_plan_t *base, uint32_t index, int64_t shape[4]) {
    const sketch_plan_t *plan = (const sketch_plan_t *)base;
    const attn_problem_t *problem = &plan->problem;
    shape[3] = plan->elements ? plan->elements : 1; /* 0: no run has it */
    if (index == SKETCH_INDPTR && plan->elements)
        shape[3] = problem->batch * problem->heads * problem->queries + 1;
}

static const void *get_extension(const char *id) {
    static const attn_ext_params_t params = {sizeof params, SKETCH_PARAMETERS, parameters};
    static const attn_ext_weights_t weights = {sizeof weights, 0, attn_sketch_weights};
    static const attn_ext_cost_t costs = {sizeof costs, 0, cost};
    static const attn_ext_facts_t facts = {sizeof facts, 0, fact};
    static const attn_array_info_t *const arrays[SKETCH_ARRAYS] = {
        &attn_sketch_arrays[0], &attn_sketch_arrays[1], &attn_sketch_arrays[2]};
    static const attn_ext_inputs_t inputs = {sizeof inputs, SKETCH_ARRAYS, arrays, own_shape};
    if (strcmp(id, ATTN_EXT_INPUTS) == 0) return &inputs;
    static const attn_ext_stream_t streams = {sizeof streams, 0, attn_sketch_make_stream};
    if (strcmp(id, ATTN_EXT_BACKWARD) == 0) return &attn_sketch_backward;
    if (strcmp(id, ATTN_EXT_STREAM) == 0) return &streams;
    if (strcmp(id, ATTN_EXT_PARAMS) == 0) return &params;
    if (strcmp(id, ATTN_EXT_WEIGHTS) == 0) return &weights;
    if (strcmp(id, ATTN_EXT_COST) == 0) return &costs;
    if (strcmp(id, ATTN_EXT_FACTS) == 0) return &facts;
    return NULL;
}

static const attn_backend_t attn_sketch_backend = {
    .struct_size = sizeof(attn_backend_t),
    .features =
        ATTN_FEATURE_CAUSAL | ATTN_FEATURE_GROUPED_HEADS | ATTN_FEATURE_LSE | ATTN_FEATURE_BACKWARD,
    .id = "sketch",
    .name = "Sketch",
    .version = "0.1.0",
    .description = "Softmax attention on fewer features: S ~ scale (Q T)(K T)^T, T random.",
    .reference = "arXiv:2304.04397, Definitions 2.4 to 2.6 and Algorithm 1",
    .plan = attn_sketch_plan,
    .get_extension = get_extension,
};

static const attn_backend_t *const backends[] = {&attn_sketch_backend};
ATTN_PLUGIN(sketch, backends);
