/*
 * peers/check.c: is an output attention, or linear attention? Compares sampled rows with what is exact in
 * double precision and prints
 *
 *     error E worst W
 *
 * E: the relative error in the Frobenius norm. W: the largest deviation of an element in units of
 * what rounding can explain; above 1 the output is wrong.
 *
 * What rounding can explain, for o = sum_j A_j v_j computed in float with unit roundoff u: a sum of
 * k terms deviates by at most lambda sqrt(k) u times the sum of its absolute terms, but for a
 * probability of 2 k exp(-lambda^2 / 2) (Higham and Mary, "A New Approach to Probabilistic Rounding
 * Error Analysis", SIAM J. Sci. Comput. 41(5), 2019, Theorem 2.4). The logits are such sums over d
 * terms, their error is a relative error of the weights, and counts twice because it is also in the
 * normaliser; the sums over the weights, above and below the fraction bar, have m terms. Of linear attention
 * the oracle itself tells how far a computation in float may be off (core/oracle/linear.c). Where libattn is asked for
 * a precision of softmax, W is E in units of what that precision is allowed.
 */
#include "pattern.h"

#include <attn/oracle.h>
#include <attn/oracle_linear.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 64,   /* a head, of softmax, where each is computed by itself */
    LONG = 16384 /* from where of linear attention the first and the last head are enough */
};
static const double lambda = 8, roundoff = 0x1p-24;

typedef struct totals {
    double deviation, norm; /* squared */
    double worst;
    double *out, *magnitude, *scratch;
} totals_t;

/* Which keys a row keeps of a task that is sparse, by the weights that libattn tells. */
typedef struct keeper {
    attn_context_t *context;
    attn_plan_t *plan;
    attn_io_t io;
    float *weights;
    attn_tensor_t mask; /* the oracle's, of one row */
} keeper_t;

static int keeper_open(keeper_t *keeper, const task_t *task, const attn_problem_t *problem,
                       const attn_io_t *io) {
    pattern_t pattern;
    if (!task->sparse) return 0;
    pattern_read(&pattern, task);
    if (attn_context_create(NULL, &keeper->context, NULL) ||
        attn_plan_create(keeper->context, "sparse", problem, pattern.params, pattern.count,
                         &keeper->plan, NULL))
        return 1;
    keeper->io = *io;
    keeper->io.workspace_size = attn_plan_workspace_size(keeper->plan);
    keeper->io.workspace = task_floats((int64_t)(keeper->io.workspace_size / sizeof(float)) + 1);
    keeper->weights = task_floats(task->keys);
    keeper->mask = attn_tensor_bhnd(task_floats(task->keys), 1, 1, 1, task->keys);
    keeper->mask.dtype = ATTN_BOOL;
    return !keeper->io.workspace || !keeper->weights || !keeper->mask.data;
}

static void keeper_close(keeper_t *keeper) {
    attn_plan_destroy(keeper->plan);
    attn_context_destroy(keeper->context);
    free(keeper->io.workspace);
    free(keeper->weights);
    free(keeper->mask.data);
}

/* Puts the row's mask into the oracle's problem and arrays; returns how many keys it keeps. */
static int64_t keeper_look(keeper_t *keeper, const task_t *task, int64_t head, int64_t row,
                           attn_problem_t *problem, attn_io_t *io) {
    int64_t count = 0;
    if (!keeper->plan) return task_limit(task, row);
    attn_weights(keeper->plan, &keeper->io, 0, head, row, 1, keeper->weights, task->keys, NULL);
    uint8_t *kept = keeper->mask.data;
    for (int64_t j = 0; j < task->keys; j++) count += kept[j] = keeper->weights[j] > 0;
    problem->inputs |= ATTN_INPUT_MASK;
    io->mask = keeper->mask;
    return count;
}

/* The largest sum of absolute terms of a logit of this row. */
static double largest_logit(const task_t *task, const float *query, const float *keys,
                            int64_t limit) {
    double largest = 0;
    for (int64_t j = 0; j < limit; j++) {
        double sum = 0;
        for (int64_t c = 0; c < task->dim; c++)
            sum += fabs((double)query[c] * (double)keys[j * task->dim + c]);
        largest = fmax(largest, sum);
    }
    return largest / sqrt((double)task->dim);
}

static void count_element(totals_t *totals, double got, double exact, double explained) {
    const double deviation = fabs(got - exact);
    const double units = deviation == 0 ? 0 : deviation / explained; /* a row without keys is 0 */
    totals->deviation += deviation * deviation;
    totals->norm += exact * exact;
    if (!(units <= totals->worst)) totals->worst = units; /* a NaN stays */
}

static void check_row(const task_t *task, const attn_problem_t *given, const attn_io_t *arrays,
                      keeper_t *keeper, int64_t head, int64_t row, totals_t *totals) {
    attn_problem_t problem = *given;
    attn_io_t io = *arrays;
    const int64_t limit = task_limit(task, row);
    const int64_t terms = keeper_look(keeper, task, head, row, &problem, &io);
    attn_oracle_row(&problem, &io, 0, head, row, totals->out, NULL, NULL, totals->magnitude,
                    totals->scratch);
    const int64_t d = task->dim, index = head * task->queries + row;
    const int64_t shared = head / (task->heads / task->kv_heads);
    const float *out = task->out + index * task->value_dim;
    const double logit =
        largest_logit(task, task->query + index * d, task->key + shared * task->keys * d, limit);
    const double relative = 2 * lambda * roundoff * (sqrt((double)d) * logit + sqrt((double)terms));
    for (int64_t c = 0; c < task->value_dim; c++)
        count_element(totals, (double)out[c], totals->out[c], relative * totals->magnitude[c]);
}

static int check_rows(const task_t *task, const attn_problem_t *problem, const attn_io_t *io,
                      totals_t *totals) {
    const int64_t n = task->queries;
    double *room = calloc((size_t)(task->keys + 2 * task->value_dim), sizeof *room);
    keeper_t keeper = {.plan = NULL};
    if (!room || keeper_open(&keeper, task, problem, io)) return 1;
    totals->out = room;
    totals->magnitude = room + task->value_dim;
    totals->scratch = room + 2 * task->value_dim;
    const int64_t count = n < ROWS ? n : ROWS; /* evenly, the first and the last row among them */
    for (int64_t head = 0; head < task->heads; head++)
        for (int64_t i = 0; i < count && !isnan(totals->worst); i++)
            check_row(task, problem, io, &keeper, head, count > 1 ? i * (n - 1) / (count - 1) : 0,
                      totals);
    keeper_close(&keeper);
    free(room);
    return 0;
}

/* All rows of the heads that are looked at. */
static int check_linear(const task_t *task, const attn_problem_t *problem, const attn_io_t *io,
                        totals_t *totals) {
    const attn_tensor_t decay =
        attn_tensor_bhnd(task->decay, 1, task->kv_heads, task->keys, task->dim);
    const attn_tensor_t beta = attn_tensor_bhnd(task->beta, 1, task->kv_heads, task->keys, 1);
    const attn_oracle_linear_t form = {
        .map = task->linear->elu1 ? ATTN_ORACLE_ELU1 : ATTN_ORACLE_LIN,
        .rule = (int32_t)task->linear->rule,
        .normalise = task->linear->elu1,
        .decay = task->decay ? &decay : NULL,
        .beta = task->beta ? &beta : NULL,
    };
    const int64_t size = task->queries * task->dim;
    const int64_t step = task->keys < LONG || task->heads == 1 ? 1 : task->heads - 1;
    double *out = calloc((size_t)size, sizeof *out), *bound = calloc((size_t)size, sizeof *bound);
    double *scratch = calloc((size_t)attn_oracle_linear_scratch(&form, problem), sizeof *scratch);
    const attn_oracle_rows_t rows = {.out = out, .out_bound = bound};
    const int failed = !out || !bound || !scratch;
    for (int64_t head = 0; !failed && head < task->heads; head += step) {
        attn_oracle_linear_head(&form, problem, io, 0, head, &rows, scratch);
        for (int64_t i = 0; i < size; i++)
            count_element(totals, (double)task->out[head * size + i], out[i], bound[i]);
    }
    free(out);
    free(bound);
    free(scratch);
    return failed;
}

/*
 * The relative error that a precision may have, on standard normal numbers; 0: what rounding explains. A number in bf16
 * is off by 2^-8 of itself, one in two of them by 2^-16: queries, weights and the output are rounded so, and the errors
 * of each, which are independent, come to no more in the Frobenius norm.
 */
static double allowed(const task_t *task) {
    static const struct {
        const char *precision;
        double error;
    } errors[] = {{"int8", 2e-2}, {"int16", 1e-3}, {"bf16", 3 * 0x1p-8}, {"bf16x3", 3 * 0x1p-16}};
    for (size_t i = 0; task->precision && i < sizeof errors / sizeof *errors; i++)
        if (strcmp(task->precision, errors[i].precision) == 0) return errors[i].error;
    return 0;
}

static int check(const task_t *task) {
    const int64_t h = task->heads, kv = task->kv_heads, n = task->queries, m = task->keys;
    attn_problem_t problem;
    attn_problem_init(&problem, 1, h, n, m, task->dim, task->value_dim);
    problem.kv_heads = kv;
    if (task->causal) problem.causal = ATTN_CAUSAL_TOP_LEFT;
    if (task->linear && !task->linear->elu1) problem.scale = 1 / sqrtf((float)task->dim);
    attn_io_t io = {.struct_size = sizeof io};
    io.query = attn_tensor_bhnd(task->query, 1, h, n, task->dim);
    io.key = attn_tensor_bhnd(task->key, 1, kv, m, task->dim);
    io.value = attn_tensor_bhnd(task->value, 1, kv, m, task->value_dim);
    totals_t totals = {.worst = 0};
    if ((task->linear ? check_linear : check_rows)(task, &problem, &io, &totals)) return 1;
    const double error = sqrt(totals.deviation / totals.norm), limit = allowed(task);
    printf("error %.9g worst %.9g\n", error, limit > 0 ? error / limit : totals.worst);
    return 0;
}

int main(int count, char **arguments) {
    task_t task;
    about_t about = {"no memory"};
    if (task_read(&task, count, arguments, &about) || check(&task))
        return fprintf(stderr, "%s\n", about.text), 1;
    return 0;
}
