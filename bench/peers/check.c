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
 * all features are positive, so the logits' place is taken by sums whose terms add up to themselves.
 */
#include "worker.h"

#include <attn/attn.h>
#include <attn/oracle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 64 }; /* a head */
static const double lambda = 8, roundoff = 0x1p-24;

typedef struct totals {
    double deviation, norm; /* squared */
    double worst;
    double *out, *magnitude, *scratch;
} totals_t;

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

static double feature(float x) { return x > 0 ? (double)x + 1 : exp((double)x); }

/* A row of linear attention, and the weighted mean of |values|. */
static void linear_row(const task_t *task, int64_t head, int64_t row, totals_t *totals) {
    const int64_t d = task->dim, shared = head / (task->heads / task->kv_heads);
    const float *query = task->query + (head * task->queries + row) * d;
    double normaliser = 0;
    for (int64_t c = 0; c < d; c++) totals->out[c] = totals->magnitude[c] = 0;
    for (int64_t k = 0; k < d; k++) totals->scratch[k] = feature(query[k]);
    for (int64_t j = 0; j < task_limit(task, row); j++) {
        const int64_t at = (shared * task->keys + j) * d;
        double weight = 0;
        for (int64_t k = 0; k < d; k++) weight += totals->scratch[k] * feature(task->key[at + k]);
        normaliser += weight;
        for (int64_t c = 0; c < d; c++) {
            totals->out[c] += weight * (double)task->value[at + c];
            totals->magnitude[c] += weight * fabs((double)task->value[at + c]);
        }
    }
    for (int64_t c = 0; c < d; c++) {
        totals->out[c] /= normaliser;
        totals->magnitude[c] /= normaliser;
    }
}

static void check_row(const task_t *task, const attn_problem_t *problem, const attn_io_t *io,
                      int64_t head, int64_t row, totals_t *totals) {
    if (task->linear)
        linear_row(task, head, row, totals);
    else
        attn_oracle_row(problem, io, 0, head, row, totals->out, NULL, NULL, totals->magnitude,
                        totals->scratch);
    const int64_t d = task->dim, at = (head * task->queries + row) * d;
    const int64_t shared = head / (task->heads / task->kv_heads), limit = task_limit(task, row);
    const double logit = task->linear ? 1
                                      : largest_logit(task, task->query + at,
                                                      task->key + shared * task->keys * d, limit);
    const double relative = 2 * lambda * roundoff * (sqrt((double)d) * logit + sqrt((double)limit));
    for (int64_t c = 0; c < d; c++) {
        const double deviation = fabs((double)task->out[at + c] - totals->out[c]);
        const double units = deviation / (relative * totals->magnitude[c]);
        totals->deviation += deviation * deviation;
        totals->norm += totals->out[c] * totals->out[c];
        if (!(units <= totals->worst)) totals->worst = units; /* a NaN stays */
    }
}

static int check(const task_t *task) {
    const int64_t h = task->heads, kv = task->kv_heads, n = task->queries, m = task->keys;
    attn_problem_t problem;
    attn_problem_init(&problem, 1, h, n, m, task->dim, task->dim);
    problem.kv_heads = kv;
    if (task->causal) problem.causal = ATTN_CAUSAL_TOP_LEFT;
    attn_io_t io = {.struct_size = sizeof io};
    io.query = attn_tensor_bhnd(task->query, 1, h, n, task->dim);
    io.key = attn_tensor_bhnd(task->key, 1, kv, m, task->dim);
    io.value = attn_tensor_bhnd(task->value, 1, kv, m, task->dim);
    double *room = calloc((size_t)(m + 3 * task->dim), sizeof *room);
    if (!room) return 1;
    totals_t totals = {.out = room, .magnitude = room + task->dim, .scratch = room + 2 * task->dim};
    const int64_t count = n < ROWS ? n : ROWS; /* evenly, the first and the last row among them */
    for (int64_t head = 0; head < h; head++)
        for (int64_t i = 0; i < count && !isnan(totals.worst); i++) {
            const int64_t row = count > 1 ? i * (n - 1) / (count - 1) : 0;
            check_row(task, &problem, &io, head, row, &totals);
        }
    printf("error %.9g worst %.9g\n", sqrt(totals.deviation / totals.norm), totals.worst);
    free(room);
    return 0;
}

int main(int count, char **arguments) {
    task_t task;
    about_t about = {"no memory"};
    if (task_read(&task, count, arguments, &about) || check(&task))
        return fprintf(stderr, "%s\n", about.text), 1;
    return 0;
}
