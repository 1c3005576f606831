/*
 * peers/recurrence.c: linear attention as its papers write it, s += phi(k) v^T, z += phi(k),
 * o = phi(q)^T s / phi(q)^T z with phi(x) = elu(x) + 1, in loops that a compiler makes vectors of: what one
 * gets without a library, in one thread.
 */
#include "worker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static float *state, *sums, *features; /* [dim][dim], [dim], [dim] */

int contender_open(const task_t *task, about_t *about) {
    if (!task->linear) {
        snprintf(about->text, sizeof about->text, "computes linear attention alone");
        return 1;
    }
    state = task_floats(task->dim * task->dim);
    sums = task_floats(task->dim);
    features = task_floats(task->dim);
    snprintf(about->text, sizeof about->text, "loops in C, -O3 -march=native -ffast-math");
    return !state || !sums || !features;
}

static void map(const float *restrict x, float *restrict to, int64_t d) {
    for (int64_t k = 0; k < d; k++) to[k] = x[k] > 0 ? x[k] + 1 : expf(x[k]);
}

static void add(const float *restrict key, const float *restrict value, float *restrict s,
                float *restrict z, float *restrict phi, int64_t d) {
    map(key, phi, d);
    for (int64_t k = 0; k < d; k++) {
        z[k] += phi[k];
        for (int64_t c = 0; c < d; c++) s[k * d + c] += phi[k] * value[c];
    }
}

static void read(const float *restrict query, const float *restrict s, const float *restrict z,
                 float *restrict phi, float *restrict out, int64_t d) {
    float normaliser = 0;
    map(query, phi, d);
    memset(out, 0, (size_t)d * sizeof *out);
    for (int64_t k = 0; k < d; k++) {
        normaliser += phi[k] * z[k];
        for (int64_t c = 0; c < d; c++) out[c] += phi[k] * s[k * d + c];
    }
    for (int64_t c = 0; c < d; c++) out[c] /= normaliser;
}

static void attend(const task_t *task, int64_t head) {
    const int64_t d = task->dim, shared = head / (task->heads / task->kv_heads);
    const float *key = task->key + shared * task->keys * d;
    const float *value = task->value + shared * task->keys * d;
    int64_t known = 0;
    memset(state, 0, (size_t)(d * d) * sizeof *state);
    memset(sums, 0, (size_t)d * sizeof *sums);
    for (int64_t i = 0; i < task->queries; i++) {
        const int64_t at = (head * task->queries + i) * d;
        for (; known < task_limit(task, i); known++)
            add(key + known * d, value + known * d, state, sums, features, d);
        read(task->query + at, state, sums, features, task->out + at, d);
    }
}

int contender_run(const task_t *task, about_t *about) {
    (void)about;
    for (int64_t head = 0; head < task->heads; head++) attend(task, head);
    return 0;
}
