/*
 * peers/recurrence.c: linear attention as its papers write it, token by token, o = phi(q)^T s with
 *
 *     s = diag(a) s + phi(k) u^T,   u = v, or with a delta rule beta (v - (diag(a) s)^T phi(k)),
 *
 * and where there is a normaliser z = z + phi(k), o / phi(q)^T z; in loops that a compiler makes vectors of:
 * what one gets without a library, in one thread.
 */
#include "worker.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct state {
    float *s, *z; /* [dim][dim], [dim] */
} state_t;

static state_t states; /* of a stream, one for each key/value head, else of one head at a time */
static float *features, *keeps, *found; /* [dim] */

static state_t state_of(const task_t *task, int64_t number) {
    const int64_t d = task->dim;
    return (state_t){states.s + number * d * d, states.z + number * d};
}

static void map(const task_t *task, const float *restrict x, float scale, float *restrict to) {
    const int64_t d = task->dim;
    if (task->linear->elu1)
        for (int64_t k = 0; k < d; k++) to[k] = x[k] > 0 ? x[k] + 1 : expf(x[k]);
    else
        for (int64_t k = 0; k < d; k++) to[k] = scale * x[k];
}

/* s = s + phi u^T */
static void add(const float *restrict phi, const float *restrict u, float *restrict s, int64_t d) {
    for (int64_t k = 0; k < d; k++)
        for (int64_t c = 0; c < d; c++) s[k * d + c] += phi[k] * u[c];
}

/* s = diag(a) s + phi u^T */
static void decay_and_add(const float *restrict a, const float *restrict phi,
                          const float *restrict u, float *restrict s, int64_t d) {
    for (int64_t k = 0; k < d; k++)
        for (int64_t c = 0; c < d; c++) s[k * d + c] = a[k] * s[k * d + c] + phi[k] * u[c];
}

/* to = s^T phi */
static void find(const float *restrict phi, const float *restrict s, float *restrict to,
                 int64_t d) {
    memset(to, 0, (size_t)d * sizeof *to);
    for (int64_t k = 0; k < d; k++)
        for (int64_t c = 0; c < d; c++) to[c] += phi[k] * s[k * d + c];
}

/* s = diag(a) s, to = s^T phi */
static void decay_and_find(const float *restrict a, const float *restrict phi, float *restrict s,
                           float *restrict to, int64_t d) {
    memset(to, 0, (size_t)d * sizeof *to);
    for (int64_t k = 0; k < d; k++)
        for (int64_t c = 0; c < d; c++) {
            s[k * d + c] *= a[k];
            to[c] += phi[k] * s[k * d + c];
        }
}

/* Token number `token` of a key/value head. */
static void take(const task_t *task, int64_t shared, int64_t token, const state_t *state) {
    const int64_t d = task->dim, number = shared * task->keys + token;
    const float *value = task->value + number * d;
    const int decays = linear_decays(task->linear);
    map(task, task->key + number * d, 1, features);
    for (int64_t k = 0; decays && k < d; k++) keeps[k] = expf(task->decay[number * d + k]);
    if (linear_deltas(task->linear)) {
        if (decays)
            decay_and_find(keeps, features, state->s, found, d);
        else
            find(features, state->s, found, d);
        for (int64_t c = 0; c < d; c++) found[c] = task->beta[number] * (value[c] - found[c]);
        add(features, found, state->s, d);
    } else if (decays) {
        decay_and_add(keeps, features, value, state->s, d);
    } else {
        add(features, value, state->s, d);
    }
    for (int64_t k = 0; task->linear->elu1 && k < d; k++) state->z[k] += features[k];
}

/* The output of row `query` of a head. */
static void answer(const task_t *task, int64_t head, int64_t query, const state_t *state) {
    const int64_t d = task->dim, at = (head * task->queries + query) * d;
    float *out = task->out + at, normaliser = 0;
    map(task, task->query + at, 1 / sqrtf((float)d), features);
    find(features, state->s, out, d);
    if (!task->linear->elu1) return;
    for (int64_t k = 0; k < d; k++) normaliser += features[k] * state->z[k];
    for (int64_t c = 0; c < d; c++) out[c] /= normaliser;
}

static void attend_head(const task_t *task, int64_t head) {
    const int64_t d = task->dim, shared = head / (task->heads / task->kv_heads);
    const state_t state = state_of(task, 0);
    int64_t known = 0;
    memset(state.s, 0, (size_t)(d * d) * sizeof *state.s);
    memset(state.z, 0, (size_t)d * sizeof *state.z);
    for (int64_t i = 0; i < task->queries; i++) {
        while (known < task_limit(task, i)) take(task, shared, known++, &state);
        answer(task, head, i, &state);
    }
}

/* One token more. */
static void step(const task_t *task, int64_t shared) {
    const int64_t group = task->heads / task->kv_heads;
    const state_t state = state_of(task, shared);
    take(task, shared, task->keys - 1, &state);
    for (int64_t h = 0; h < group; h++) answer(task, shared * group + h, 0, &state);
}

int contender_open(const task_t *task, about_t *about) {
    const int64_t d = task->dim, count = task->stream ? task->kv_heads : 1;
    if (!task->linear) {
        snprintf(about->text, sizeof about->text, "computes linear attention alone");
        return 1;
    }
    states = (state_t){task_floats(count * d * d), task_floats(count * d)};
    features = task_floats(d);
    keeps = task_floats(d);
    found = task_floats(d);
    if (!states.s || !states.z || !features || !keeps || !found) return 1;
    for (int64_t h = 0; task->stream && h < task->kv_heads; h++) {
        const state_t state = state_of(task, h);
        for (int64_t j = 0; j + 1 < task->keys; j++) take(task, h, j, &state);
    }
#ifdef __FAST_MATH__
    snprintf(about->text, sizeof about->text, "loops in C, -O3 -march=native -ffast-math");
#else
    snprintf(about->text, sizeof about->text, "loops in C, -O3 -march=native");
#endif
    return 0;
}

int contender_run(const task_t *task, about_t *about) {
    (void)about;
    if (task->stream)
        for (int64_t h = 0; h < task->kv_heads; h++) step(task, h);
    else
        for (int64_t h = 0; h < task->heads; h++) attend_head(task, h);
    return 0;
}
