/*
 * Gradients of a run, number by number, with first-order bounds on their errors as in support/exact.c,
 * whose bounds of logits, lse and output they start from; u is the unit roundoff of f32.
 *
 * Weights are made anew, P = exp(S - lse): S and lse change base, the difference and the exponential
 * round (4 u, core/simd/math.h), so that with their own errors s and l
 *     |dP| <= P (exp(s + l + 4 u (|S| + |lse|)) (1 + 6 u) - 1) + tiny.
 * dP = dO . v and D = dO . O are sums of dv products, O is what the run wrote; with 2 roundings more
 *     g = (dv + 2) u (sum |dO v| + sum |dO O|) + sum |dO| bound(O),
 *     |d dS| <= dP_bound (|dP - D| + g) + P (g + u (|dP| + |D|)) + 2 u |dS|.
 * Softcap: 1 - t^2 with t = S' / c within S''s bound over c, and 4 roundings. Sums over keys, or over the queries
 * of all heads that share a key, round once a term and, from block to block, part to part and with the scale,
 * no oftener than once a term more, and 8 times.
 * Where products are of bf16 numbers, S, lse and O have the bounds of such (support/exact.c), and each product of two
 * factors is off by what they are rounded by, of itself: dO v, P dO, dS k and dS q.
 */
#include "trial.h"

#include "attn/attn.h"
#include "attn/oracle.h"
#include "support/combined.h"
#include "support/compare.h"
#include "support/fixture.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double U = 0x1p-24;

/* A sum and what it may be off by, and what its terms came to without their signs. */
typedef struct sum {
    double value, bound, absolute;
    int64_t terms;
} sum_t;

/* The gradient of one array: as computed, and what it should be. */
typedef struct side {
    typed_t array;
    sum_t *sums; /* in the order (batch, head, row, column) */
} side_t;

/* What each product may be off by, of itself, and factors and products below which may be 0. */
typedef struct rounded {
    double out_value, weight_out, logit_key, logit_query, flush;
} rounded_t;

typedef struct way_back {
    trial_t trial;
    rounded_t rounded;
    typed_t out; /* dL/dout */
    side_t query, key, value, bias, sinks, slopes;
    attn_io_t io; /* the gradients */
    double
        steps; /* of combining, where results are of parts of the keys (support/combined.h); 0: of all at once */
    exact_t exact;
    double *weights, *logits, *products, *scratch; /* the oracle's */
} way_back_t;

int trial_has_gradients(const attn_context_t *context, const attn_problem_t *problem) {
    const attn_backend_t *backend = attn_backend_find(context, trial_subject()->backend);
    return backend->features & ATTN_FEATURE_BACKWARD && problem->kv_dtype != ATTN_I8;
}

/* ---- arrays --------------------------------------------------------------------------------------- */

static side_t side_create(const typed_t *of, layout_t layout) {
    side_t side = {.sums = NULL};
    if (!of->block) return side;
    const int64_t *shape = of->tensor.shape;
    side.array = typed_create(of->tensor.dtype, layout, shape);
    side.sums = calloc((size_t)(shape[0] * shape[1] * shape[2] * shape[3] + 1), sizeof *side.sums);
    if (!side.sums) test_fail("the test itself has no memory");
    return side;
}

static void side_destroy(side_t *side) {
    typed_destroy(&side->array);
    free(side->sums);
}

/* Axes of 1 are the same for all. */
static sum_t *sum_at(const side_t *side, int64_t b, int64_t h, int64_t i, int64_t c) {
    const int64_t *shape = side->array.tensor.shape;
    if (shape[0] == 1) b = 0;
    if (shape[1] == 1) h = 0;
    if (shape[2] == 1) i = 0;
    return &side->sums[((b * shape[1] + h) * shape[2] + i) * shape[3] + c];
}

static double *doubles(int64_t count) {
    double *numbers = calloc((size_t)count + 1, sizeof *numbers);
    if (!numbers) test_fail("the test itself has no memory");
    return numbers;
}

static way_back_t way_create(const attn_problem_t *problem, const look_t *look) {
    attn_problem_t asked = *problem;
    look_t with_lse = *look;
    asked.backward = 1;
    with_lse.lse = 1;
    way_back_t way = {.trial = trial_create(&asked, &with_lse)};
    const layout_t layout = (layout_t)((look->layout + 1) % LAYOUT_COUNT);
    trial_t *trial = &way.trial;
    way.out = typed_create(problem->dtype, layout, trial->out.tensor.shape);
    typed_fill(&way.out, 31, 1);
    way.query = side_create(&trial->query, look->layout);
    way.key = side_create(&trial->key, layout);
    way.value = side_create(&trial->value, look->layout);
    way.bias = side_create(&trial->bias, layout);
    way.sinks = side_create(&trial->sinks, layout);
    way.slopes = side_create(&trial->slopes, layout);
    way.io = (attn_io_t){.struct_size = sizeof way.io,
                         .query = way.query.array.tensor,
                         .key = way.key.array.tensor,
                         .value = way.value.array.tensor,
                         .out = way.out.tensor,
                         .bias = way.bias.array.tensor,
                         .sinks = way.sinks.array.tensor,
                         .slopes = way.slopes.array.tensor};
    way.exact = trial_exact(trial);
    way.weights = doubles(problem->keys);
    way.logits = doubles(problem->keys);
    way.products = doubles(problem->keys);
    way.scratch = doubles(problem->keys + problem->value_dim);
    return way;
}

static void way_destroy(way_back_t *way) {
    side_t *const sides[] = {&way->query, &way->key,   &way->value,
                             &way->bias,  &way->sinks, &way->slopes};
    for (size_t i = 0; i < TEST_COUNT(sides); i++) side_destroy(sides[i]);
    typed_destroy(&way->out);
    trial_destroy(&way->trial);
    exact_destroy(&way->exact);
    free(way->weights);
    free(way->logits);
    free(way->products);
    free(way->scratch);
}

/* ---- what they should be --------------------------------------------------------------------------- */

/* A factor of many terms, with its error. */
typedef struct factor {
    double value, error;
} factor_t;

/* `off`: what the product is off by, of itself. */
static void add(sum_t *sum, factor_t factor, double other, double off, double flush) {
    const double most = fabs(factor.value) + factor.error;
    sum->value += factor.value * other;
    sum->bound += factor.error * fabs(other) + off * most * fabs(other);
    if (flush > 0) sum->bound += flush * (2 + most + fabs(other));
    sum->absolute += most * fabs(other);
    sum->terms++;
}

/* Of factors that are rounded to `parts` bf16 numbers, but where they are such anyway. */
static double off_by(int parts, int left_is_bf16, int right_is_bf16) {
    const double w = 0x1p-8, off = parts == 1 ? w : parts == 2 ? w * w : 0;
    const double left = left_is_bf16 ? 0 : off, right = right_is_bf16 ? 0 : off;
    const double omitted = parts == 2 && left > 0 && right > 0 ? w * w : 0;
    const double sums = parts == 3 ? 0 : 2 * U; /* two products at a time, as in support/exact.c */
    return sums + left + right + left * right + omitted;
}

static rounded_t rounded_of(const trial_t *trial) {
    const attn_problem_t *p = &trial->problem;
    const int parts = trial->bf16_parts;
    const int query = p->dtype == ATTN_BF16, key = p->kv_dtype == ATTN_BF16;
    if (!parts) return (rounded_t){.flush = 0};
    return (rounded_t){.out_value = off_by(parts, query, key),
                       .weight_out = off_by(parts, 0, query),
                       .logit_key = off_by(parts, 0, key),
                       .logit_query = off_by(parts, 0, query),
                       .flush = (double)FLT_MIN};
}

typedef struct row {
    int64_t b, h, kv_head, i;
    factor_t dot; /* D */
    double scale;
} row_t;

static factor_t dot_of(const way_back_t *way, const row_t *row) {
    const attn_problem_t *p = &way->trial.problem;
    const int64_t at[4] = {row->b, row->h, row->i, 0};
    factor_t dot = {0, 0};
    for (int64_t c = 0; c < p->value_dim; c++) {
        const double gradient = typed_get(&way->out.tensor, row->b, row->h, row->i, c);
        const double term = gradient * way->exact.out[c];
        dot.value += term;
        const double off =
            way->steps > 0 ? combined_out_bound(&way->exact, p, &way->trial.io, at, c, way->steps)
                           : exact_out_bound(&way->exact, p, c);
        dot.error += fabs(gradient) * off + (double)(p->value_dim + 2) * U * fabs(term);
    }
    return dot;
}

/* What the run's lse is off by: of parts each may be off by as much as the whole. */
static double lse_bound(const way_back_t *way) {
    return way->exact.lse_bound * (way->steps > 0 ? 2 : 1);
}

static factor_t weight_of(const way_back_t *way, int64_t key) {
    const exact_t *exact = &way->exact;
    const double weight = exact->weight[key], score = exact->score[2][key], lse = exact->lse;
    const double off =
        exact->score_bound[2][key] + lse_bound(way) + 4 * U * (fabs(score) + fabs(lse));
    return (factor_t){weight, weight * (exp(off) * (1 + 6 * U) - 1) + (double)FLT_MIN};
}

/* dL/dS of a key after bias. */
static factor_t logit_of(const way_back_t *way, const row_t *row, int64_t key, factor_t weight) {
    const attn_problem_t *p = &way->trial.problem;
    const rounded_t *rounded = &way->rounded;
    double product = 0, absolute = 0, flushed = 0;
    for (int64_t c = 0; c < p->value_dim; c++) {
        const double value = typed_get(&way->trial.value.tensor, row->b, row->kv_head, key, c);
        const double gradient = typed_get(&way->out.tensor, row->b, row->h, row->i, c);
        product += gradient * value;
        absolute += fabs(gradient * value);
        flushed += 2 + fabs(gradient) + fabs(value);
    }
    const double off = rounded->out_value * absolute + rounded->flush * flushed;
    const double change = product - row->dot.value;
    const double g = (double)(p->value_dim + 2) * U * absolute + off + row->dot.error;
    const double rounding = g + U * (fabs(product) + fabs(row->dot.value));
    const double logit = weight.value * change;
    return (factor_t){logit, weight.error * (fabs(change) + rounding) + weight.value * rounding +
                                 2 * U * fabs(logit)};
}

static factor_t product_of(const way_back_t *way, int64_t key, factor_t logit) {
    const double cap = test_number(way->trial.problem.softcap);
    if (cap == 0) return logit;
    const double tangent = way->exact.score[1][key] / cap;
    const double off = way->exact.score_bound[1][key] / fabs(cap) + 2 * U;
    const double slope = 1 - tangent * tangent, slope_off = off * (2 * fabs(tangent) + off) + 4 * U;
    return (factor_t){logit.value * slope, logit.error * (fabs(slope) + slope_off) +
                                               fabs(logit.value) * slope_off +
                                               U * fabs(logit.value * slope)};
}

static void add_key(way_back_t *way, const row_t *row, int64_t j) {
    const trial_t *trial = &way->trial;
    const attn_problem_t *p = &trial->problem;
    const rounded_t *off = &way->rounded;
    const factor_t weight = weight_of(way, j), logit = logit_of(way, row, j, weight);
    factor_t product = product_of(way, j, logit);
    product.value *= row->scale;
    product.error = product.error * fabs(row->scale);
    for (int64_t k = 0; k < p->dim; k++) {
        add(sum_at(&way->query, row->b, row->h, row->i, k), product,
            typed_get(&trial->key.tensor, row->b, row->kv_head, j, k), off->logit_key, off->flush);
        add(sum_at(&way->key, row->b, row->kv_head, j, k), product,
            typed_get(&trial->query.tensor, row->b, row->h, row->i, k), off->logit_query,
            off->flush);
    }
    for (int64_t c = 0; c < p->value_dim; c++)
        add(sum_at(&way->value, row->b, row->kv_head, j, c), weight,
            typed_get(&way->out.tensor, row->b, row->h, row->i, c), off->weight_out, off->flush);
    if (way->bias.sums) add(sum_at(&way->bias, row->b, row->h, row->i, j), logit, 1, 0, 0);
    if (way->slopes.sums)
        add(sum_at(&way->slopes, 0, row->h, 0, 0), logit,
            -fabs((double)(exact_position(p, &trial->io, row->b, row->i) - j)), 0, 0);
}

/* A logit without a value: dP is 0. */
static void add_sink(way_back_t *way, const row_t *row) {
    const double sink = typed_get(&way->trial.sinks.tensor, 0, row->h, 0, 0);
    const double off = lse_bound(way) + 4 * U * (fabs(sink) + fabs(way->exact.lse));
    const double weight = exp(sink - way->exact.lse), weight_off = weight * (exp(off) - 1);
    add(sum_at(&way->sinks, 0, row->h, 0, 0),
        (factor_t){-weight * row->dot.value,
                   weight_off * (fabs(row->dot.value) + row->dot.error) + weight * row->dot.error},
        1, 0, 0);
}

/* The oracle's derivative of the same row. */
static void check_oracle(way_back_t *way, const row_t *row) {
    const attn_problem_t *p = &way->trial.problem;
    if (!trial_is_dense() || !test_is_lowest_tier()) return;
    attn_oracle_row_backward(p, &way->trial.io, &way->out.tensor, row->b, row->h, row->i,
                             way->weights, way->logits, way->products, way->scratch);
    for (int64_t j = 0; j < p->keys; j++) {
        const int64_t at[4] = {row->b, row->h, row->i, j};
        factor_t logit = {0, 0}, product = {0, 0};
        if (trial_sees(&way->trial, row->b, row->h, row->i, j)) {
            logit = logit_of(way, row, j, weight_of(way, j));
            product = product_of(way, j, logit);
        }
        compare_number(way->logits[j], logit.value, logit.error * 0x1p-20, "oracle's dS", at);
        compare_number(way->products[j], product.value, product.error * 0x1p-20,
                       "oracle's d(scale q.k)", at);
    }
}

static void add_row(way_back_t *way, const row_t *at) {
    const attn_problem_t *p = &way->trial.problem;
    const arithmetic_t arithmetic = trial_arithmetic(&way->trial);
    row_t row = *at;
    exact_row(&way->exact, p, &way->trial.io, &arithmetic, row.b, row.h, row.i);
    row.dot = dot_of(way, &row);
    for (int64_t j = 0; j < p->keys; j++)
        if (trial_sees(&way->trial, row.b, row.h, row.i, j)) add_key(way, &row, j);
    if (way->sinks.sums) add_sink(way, &row);
    check_oracle(way, &row);
}

static void compare_side(const side_t *side, double steps, const char *name) {
    const int64_t *shape = side->array.tensor.shape;
    typed_check(&side->array, name);
    for (int64_t b = 0; side->sums && b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t c = 0; c < shape[3]; c++) {
                    const int64_t at[4] = {b, h, i, c};
                    const sum_t *sum = sum_at(side, b, h, i, c);
                    const double roundings = (double)(2 * sum->terms + 8) + steps;
                    double bound =
                        sum->bound + roundings * U * sum->absolute + (double)sum->terms * 0x1p-148;
                    bound += typed_rounding(side->array.tensor.dtype, fabs(sum->value) + bound);
                    compare_number(typed_get(&side->array.tensor, b, h, i, c), sum->value, bound,
                                   name, at);
                }
}

static void compare(way_back_t *way) {
    const attn_problem_t *p = &way->trial.problem;
    way->rounded = rounded_of(&way->trial);
    row_t row = {.scale = isnan(p->scale) ? 1 / sqrt((double)p->dim) : (double)p->scale};
    for (row.b = 0; row.b < p->batch; row.b++)
        for (row.h = 0; row.h < p->heads; row.h++)
            for (row.i = 0; row.i < p->queries; row.i++) {
                row.kv_head = row.h / (p->heads / p->kv_heads);
                add_row(way, &row);
            }
    compare_side(&way->query, way->steps, "gradient of query");
    compare_side(&way->key, way->steps, "gradient of key");
    compare_side(&way->value, way->steps, "gradient of value");
    if (way->bias.sums) compare_side(&way->bias, way->steps, "gradient of bias");
    if (way->sinks.sums) compare_side(&way->sinks, way->steps, "gradient of sinks");
    if (way->slopes.sums) compare_side(&way->slopes, way->steps, "gradient of slopes");
}

static void run_back(const attn_plan_t *plan, way_back_t *way) {
    attn_error_t error = {0};
    trial_run(plan, &way->trial);
    typed_seal(&way->out);
    trial_give_workspace(plan, &way->trial);
    if (attn_backward(plan, &way->trial.io, &way->io, &error)) test_fail("%s", error.message);
    typed_check(&way->out, "dL/dout");
    trial_check_workspace(&way->trial);
}

void trial_check_gradients(const attn_context_t *context, const attn_problem_t *problem,
                           const look_t *look) {
    way_back_t way = way_create(problem, look);
    attn_plan_t *plan = trial_plan(context, &way.trial.problem);
    trial_label(&way.trial, "gradients");
    run_back(plan, &way);
    compare(&way);
    attn_plan_destroy(plan);
    way_destroy(&way);
}

void trial_check_gradients_by(const attn_problem_t *problem, const look_t *look, double steps,
                              trial_back_t *solve, void *data) {
    way_back_t way = way_create(problem, look);
    way.steps = steps;
    trial_label(&way.trial, "gradients");
    typed_seal(&way.out);
    typed_t *const gradients[TRIAL_GRADIENTS] = {
        &way.out,        &way.query.array, &way.key.array,   &way.value.array,
        &way.bias.array, &way.sinks.array, &way.slopes.array};
    solve(data, &way.trial, gradients);
    compare(&way);
    way_destroy(&way);
}

/* The mask that keeps what has a weight; no weight of these sizes underflows. */
static void mask_by_weights(way_back_t *way, const attn_plan_t *plan) {
    trial_t *trial = &way->trial;
    const attn_problem_t *p = &trial->problem;
    float *weights = calloc((size_t)(p->queries * p->keys), sizeof *weights);
    attn_error_t error = {0};
    if (!weights) test_fail("the test itself has no memory");
    trial_give_workspace(plan, trial);
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->heads; h++) {
            if (attn_weights(plan, &trial->io, b, h, 0, p->queries, weights, p->keys, &error))
                test_fail("%s", error.message);
            for (int64_t i = 0; i < p->queries; i++)
                for (int64_t j = 0; j < p->keys; j++)
                    typed_set(&trial->mask, b, h, i, j, weights[i * p->keys + j] > 0);
        }
    free(weights);
}

void trial_check_chosen(const attn_context_t *context, const attn_problem_t *problem,
                        const look_t *look, const char *settings) {
    attn_problem_t masked = *problem, asked = *problem;
    masked.inputs |= ATTN_INPUT_MASK;
    asked.backward = 1;
    way_back_t way = way_create(&masked, look);
    attn_plan_t *plan = fixture_plan(context, "sparse", &asked, settings);
    const attn_tensor_t mask = way.trial.io.mask;
    trial_label(&way.trial, settings);
    way.trial.io.mask.data = NULL;
    mask_by_weights(&way, plan);
    run_back(plan, &way);
    way.trial.io.mask = mask;
    compare(&way);
    attn_plan_destroy(plan);
    way_destroy(&way);
}
