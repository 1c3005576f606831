/* labs/separation/net.c: the networks on one trial's data; see separation.h. */
#include "labs/head.h"
#include "labs/separation/separation.h"

#include "attn/support.h"

#include <math.h>
#include <stdlib.h>

enum { KIND_EXP, KIND_LIN, KINDS };

struct separation_nets {
    const separation_t *what;
    head_t heads[KINDS];
    separation_arrays_t arrays;
    float *value;  /* the signs or the keys */
    float *sums;   /* <c, y_l> for all l */
    float *top;    /* the largest <c_i, y_l> over rows i so far, for each l */
    float *memory; /* all arrays */
};

/* ---- plans and arrays -------------------------------------------------------------------------- */

static attn_problem_t problem_of(const separation_t *what) {
    attn_problem_t problem;
    if (what->net == SEPARATION_REGRESSION)
        attn_problem_init(&problem, 1, 1, 2, what->n, 2, what->m);
    else
        attn_problem_init(&problem, 1, 2, what->queries, what->n, what->d, what->d);
    problem.scale = 1;
    return problem;
}

static float *take(float **memory, int64_t count) {
    float *piece = *memory;
    *memory += count;
    return piece;
}

static attn_status_t make_arrays(separation_nets_t *nets, attn_error_t *error) {
    const separation_t *what = nets->what;
    const attn_problem_t *problem = &nets->heads[0].problem;
    const int regression = what->net == SEPARATION_REGRESSION;
    const int shared = what->net == SEPARATION_SELF && !what->distinct;
    const int64_t keys = problem->heads * what->n * problem->dim;
    const int64_t queries = shared ? 0 : problem->heads * problem->queries * problem->dim;
    const int64_t signs = (regression ? what->n : what->d) * what->stride;
    const int64_t out = problem->heads * problem->queries * problem->value_dim;
    float *memory =
        calloc((size_t)(keys + queries + signs + out + 2 * what->stride), sizeof *memory);
    if (!memory)
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a trial with n = %lld",
                         (long long)what->n);
    nets->memory = memory;
    nets->arrays.key = take(&memory, keys);
    nets->arrays.query = shared ? nets->arrays.key : take(&memory, queries);
    nets->arrays.signs = take(&memory, signs);
    nets->arrays.out = take(&memory, out);
    nets->sums = take(&memory, what->stride);
    nets->top = take(&memory, what->stride);
    nets->value = regression ? nets->arrays.signs : nets->arrays.key;
    return ATTN_OK;
}

void separation_destroy(separation_nets_t *nets) {
    if (!nets) return;
    for (int kind = 0; kind < KINDS; kind++) head_destroy(&nets->heads[kind]);
    free(nets->memory);
    free(nets);
}

separation_nets_t *separation_create(const separation_t *what, const attn_context_t *context,
                                     attn_error_t *error) {
    static const attn_param_t lin[] = {{"feature_map", "lin"}};
    const attn_problem_t problem = problem_of(what);
    separation_nets_t *nets = calloc(1, sizeof *nets);
    if (!nets) {
        attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a network");
        return NULL;
    }
    nets->what = what;
    if (head_create(context, "softmax", &problem, NULL, 0, &nets->heads[KIND_EXP], error) ||
        head_create(context, "linear", &problem, lin, 1, &nets->heads[KIND_LIN], error) ||
        make_arrays(nets, error)) {
        separation_destroy(nets);
        return NULL;
    }
    return nets;
}

static attn_status_t attend_net(separation_nets_t *nets, int kind, int64_t *degenerate,
                                attn_error_t *error) {
    const head_t *head = &nets->heads[kind];
    const attn_problem_t *problem = &head->problem;
    const int64_t heads = problem->heads, n = problem->queries, m = problem->keys;
    attn_report_t report = {.struct_size = sizeof report};
    const attn_io_t io = {
        .struct_size = sizeof io,
        .query = attn_tensor_bhnd(nets->arrays.query, 1, heads, n, problem->dim),
        .key = attn_tensor_bhnd(nets->arrays.key, 1, heads, m, problem->dim),
        .value = attn_tensor_bhnd(nets->value, 1, heads, m, problem->value_dim),
        .out = attn_tensor_bhnd(nets->arrays.out, 1, heads, n, problem->value_dim),
        .workspace = head->workspace,
        .workspace_size = attn_plan_workspace_size(head->plan),
        .report = &report,
    };
    const attn_status_t status = attn_run(head->plan, &io, error);
    *degenerate += report.degenerate_rows;
    return status;
}

/* ---- decisions ----------------------------------------------------------------------------------- */

/* F of one data set: the largest inner product, and the largest sum of its absolute terms. */
typedef struct largest {
    float product, size;
} largest_t;

static float largest_of(const float *numbers, int64_t count) {
    float largest = -INFINITY;
    for (int64_t i = 0; i < count; i++)
        if (numbers[i] > largest) largest = numbers[i];
    return largest;
}

/* sums[l] += <c, y_l> for 4 rows of y, so that sums are loaded and stored once for them. */
static void add_4(float *restrict sums, const float *restrict c, const float *restrict y,
                  int64_t stride) {
    const float *restrict y1 = y + stride, *restrict y2 = y1 + stride, *restrict y3 = y2 + stride;
    for (int64_t l = 0; l < stride; l++)
        sums[l] += (c[0] * y[l] + c[1] * y1[l]) + (c[2] * y2[l] + c[3] * y3[l]);
}

/* sums[l] = <c, y_l> for all l. */
static void multiply(const separation_t *what, const float *c, const float *y, float *sums) {
    const int64_t stride = what->stride;
    int64_t k = 0;
    for (int64_t l = 0; l < stride; l++) sums[l] = 0;
    for (; k + 4 <= what->d; k += 4) add_4(sums, c + k, y + k * stride, stride);
    for (; k < what->d; k++)
        for (int64_t l = 0; l < stride; l++) sums[l] += c[k] * y[k * stride + l];
}

/* <c_i, y_l> over all rows i and columns l. */
static largest_t attention_largest(const separation_nets_t *nets, const float *rows) {
    const separation_t *what = nets->what;
    float *sums = nets->sums, *top = nets->top, size = 0;
    for (int64_t l = 0; l < what->stride; l++) top[l] = -INFINITY;
    for (int64_t i = 0; i < what->queries; i++, rows += what->d) {
        float absolute = 0;
        for (int64_t k = 0; k < what->d; k++) absolute += fabsf(rows[k]);
        multiply(what, rows, nets->arrays.signs, sums);
        for (int64_t l = 0; l < what->stride; l++) top[l] = sums[l] > top[l] ? sums[l] : top[l];
        if (absolute > size) size = absolute;
    }
    return (largest_t){.product = largest_of(top, what->m), .size = size};
}

static largest_t largest_in(const separation_nets_t *nets, int set) {
    const separation_t *what = nets->what;
    const float *out = nets->arrays.out;
    if (what->net == SEPARATION_REGRESSION) /* weights of one sign: their sum is 1 */
        return (largest_t){.product = largest_of(out + set * what->m, what->m), .size = 1};
    return attention_largest(nets, out + set * what->queries * what->d);
}

/* The largest logit of a data set, by absolute value. */
static double largest_logit(const separation_t *what, int set) {
    const double log_n = log((double)what->n), a = what->a[set], b = what->b, c = what->c;
    switch (what->net) {
    case SEPARATION_REGRESSION:
        return set ? 4 * log_n : 1.4 * log_n;
    case SEPARATION_SELF:
        return (a * a + b * b + c * c) * log_n;
    case SEPARATION_SELF_ONES:
        return (a + b + c) * (a + b + c) * log_n;
    default:
        return (a + 1) * log_n;
    }
}

/*
 * How far float rounding can move an inner product, per unit of its absolute terms. Numerator and
 * normaliser each add n terms and the product d: by Higham and Mary (2019, Theorem 2.4) that is off by
 * more than lambda sqrt(n) roundings with a probability below 2 exp(-lambda^2 / 2), here 3e-8. A logit
 * has at most 3 terms that are not 0, is off by 4 roundings of its size, and that is a relative error
 * of numerator and normaliser. A few more for exp, the division and the data themselves.
 */
double separation_rounding(const separation_t *what, int set) {
    const double lambda = 6, sums = 2 * sqrt((double)what->n) + sqrt((double)what->d);
    return 0x1p-24 * (lambda * sums + 8 * largest_logit(what, set) + 16);
}

attn_status_t separation_try(separation_nets_t *nets, const lab_point_t *point, uint64_t trial,
                             separation_result_t *result, attn_error_t *error) {
    const separation_t *what = nets->what;
    *result = (separation_result_t){.degenerate = 0};
    separation_draw(what, point, trial, &nets->arrays);
    for (int kind = 0; kind < KINDS; kind++) {
        const attn_status_t status = attend_net(nets, kind, &result->degenerate, error);
        if (status) return status;
        for (int set = 0; set < 2; set++) {
            const largest_t largest = largest_in(nets, set);
            result->largest[set][kind] = (double)largest.product;
            result->rounding[set][kind] = separation_rounding(what, set) * (double)largest.size;
        }
    }
    return ATTN_OK;
}
