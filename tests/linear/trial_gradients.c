/*
 * A number may pass as many roundings as there are tokens, twice features and columns, and a few: once in the
 * state, once in the normaliser and its change, once in the sums of queries. Where states decay each
 * token rounds a few times more, and with a delta rule it takes a sum over features.
 */
#include "trial_gradients.h"

#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double U = 0x1p-24;

static double roundings(const trial_t *trial) {
    const attn_problem_t *p = &trial->problem;
    const double features = (double)attn_oracle_linear_features(&trial->form, p->dim);
    const double width = features + (double)p->value_dim;
    const double tokens =
        (double)(p->heads / p->kv_heads * p->queries) + 3 * (double)p->keys + 3 * 48;
    const double each = is_delta(trial->form.rule)   ? width + 10
                        : is_gated(trial->form.rule) ? 6
                                                     : 1;
    return each * tokens + 3 * width + 40;
}

static typed_t like(const trial_t *trial, const attn_tensor_t *of) {
    const layout_t layout = (layout_t)((trial->layout + 1) % LAYOUT_COUNT);
    return typed_create(of->dtype, layout, of->shape);
}

void way_make(way_back_t *way, trial_t *trial) {
    *way = (way_back_t){.trial = trial};
    trial->problem.backward = 1;
    way->out = like(trial, &trial->out.tensor);
    way->query = like(trial, &trial->query.tensor);
    way->key = like(trial, &trial->key.tensor);
    way->value = like(trial, &trial->value.tensor);
    typed_fill(&way->out, 31, 1);
    for (int a = 0; a <= STATE_Z; a++) {
        if (!trial->tensors[a]) continue;
        way->own[a] = like(trial, trial->tensors[a]);
        way->tensors[a] = &way->own[a].tensor;
    }
    way->io = (attn_io_t){.struct_size = sizeof way->io,
                          .out = way->out.tensor,
                          .query = way->query.tensor,
                          .key = way->key.tensor,
                          .value = way->value.tensor,
                          .own = way->tensors,
                          .own_count = OWN};
}

void way_drop(way_back_t *way) {
    typed_t *const arrays[] = {&way->out, &way->query, &way->key, &way->value};
    for (size_t i = 0; i < TEST_COUNT(arrays); i++) typed_destroy(arrays[i]);
    for (int a = 0; a < OWN; a++)
        if (way->own[a].block) typed_destroy(&way->own[a]);
}

attn_plan_t *way_run(way_back_t *way) {
    static const char *const names[OWN] = {"gradient of decay", "gradient of beta",
                                           "gradient of state", "gradient of state_z"};
    trial_t *trial = way->trial;
    attn_plan_t *plan = trial_run(trial);
    attn_error_t error = {0};
    memset(trial->io.workspace, 0xFF, trial->io.workspace_size);
    typed_seal(&way->out);
    if (attn_backward(plan, &trial->io, &way->io, &error)) test_fail("%s", error.message);
    typed_check(&way->out, "dL/dout");
    typed_check(&way->query, "gradient of query");
    typed_check(&way->key, "gradient of key");
    typed_check(&way->value, "gradient of value");
    for (int a = 0; a <= STATE_Z; a++)
        if (way->own[a].block) typed_check(&way->own[a], names[a]);
    return plan;
}

/* ---- comparing ------------------------------------------------------------------------------------- */

attn_oracle_linear_gradients_t way_oracle(const way_back_t *way, int64_t batch, int64_t kv_head,
                                          void **memory) {
    const trial_t *trial = way->trial;
    const attn_problem_t *p = &trial->problem;
    const int64_t features = attn_oracle_linear_features(&trial->form, p->dim);
    const int64_t group = p->heads / p->kv_heads, m = p->keys, dv = p->value_dim;
    const int64_t sums =
        group * p->queries * p->dim + m * (p->dim + dv + features + 1) + features * (dv + 1);
    attn_oracle_sum_t *at =
        malloc((size_t)sums * sizeof *at +
               (size_t)attn_oracle_linear_backward_scratch(&trial->form, p) * sizeof(double));
    if (!at) test_fail("the test itself has no memory");
    attn_oracle_linear_gradients_t to = {.unit = U, .roundings = roundings(trial)};
    *memory = at;
    to.query = at, at += group * p->queries * p->dim;
    to.key = at, at += m * p->dim;
    to.value = at, at += m * dv;
    to.decay = at, at += m * features;
    to.beta = at, at += m;
    to.state = at, at += features * dv;
    to.state_z = at, at += features;
    attn_oracle_linear_backward(&trial->form, p, &trial->io, &way->out.tensor, batch, kv_head, &to,
                                (double *)(void *)at);
    return to;
}

typedef struct place {
    const way_back_t *way;
    const char *name;
    int64_t b, h;
} place_t;

/* Numbers whose normalisers drown are of any size, which f16 need not have. */
static void compare_sum(const place_t *place, const typed_t *array, int64_t i, int64_t c,
                        attn_oracle_sum_t sum) {
    const attn_dtype_t dtype = array->tensor.dtype;
    double bound = U * (roundings(place->way->trial) * sum.absolute + sum.error) + 0x1p-120;
    if (!isfinite(bound) || (dtype == ATTN_F16 && fabs(sum.value) + bound > 65504)) return;
    if (dtype != ATTN_F32) bound += typed_rounding(dtype, fabs(sum.value) + bound);
    compare_number(typed_get(&array->tensor, place->b, place->h, i, c), sum.value, bound,
                   place->name, (int64_t[4]){place->b, place->h, i, c});
}

static void compare_rows(place_t place, const char *name, const typed_t *array,
                         const attn_oracle_sum_t *sums) {
    const int64_t *shape = array->tensor.shape;
    place.name = name;
    for (int64_t i = 0; array->block && i < shape[2]; i++)
        for (int64_t c = 0; c < shape[3]; c++)
            compare_sum(&place, array, i, c, sums[i * shape[3] + c]);
}

/* A gate that is one for all keys, or for all columns, has the sum. */
static void compare_gate(place_t place, const char *name, const typed_t *array,
                         const attn_oracle_sum_t *sums, int64_t columns) {
    const int64_t *shape = array->tensor.shape, keys = place.way->trial->problem.keys;
    place.name = name;
    for (int64_t i = 0; array->block && i < shape[2]; i++)
        for (int64_t c = 0; c < shape[3]; c++) {
            attn_oracle_sum_t sum = {0, 0, 0};
            for (int64_t j = 0; j < keys; j++)
                for (int64_t k = 0; k < columns; k++) {
                    if ((shape[2] > 1 && j != i) || (shape[3] > 1 && k != c)) continue;
                    sum.value += sums[j * columns + k].value;
                    sum.absolute += sums[j * columns + k].absolute;
                    sum.error += sums[j * columns + k].error;
                }
            compare_sum(&place, array, i, c, sum);
        }
}

void way_compare(const way_back_t *way) {
    const attn_problem_t *p = &way->trial->problem;
    const int64_t group = p->heads / p->kv_heads, rows = p->queries * p->dim;
    const int64_t features = attn_oracle_linear_features(&way->trial->form, p->dim);
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t kv_head = 0; kv_head < p->kv_heads; kv_head++) {
            void *memory;
            const attn_oracle_linear_gradients_t to = way_oracle(way, b, kv_head, &memory);
            place_t place = {.way = way, .b = b};
            for (int64_t h = 0; h < group; h++) {
                place.h = kv_head * group + h;
                compare_rows(place, "gradient of query", &way->query, to.query + h * rows);
            }
            place.h = kv_head;
            compare_rows(place, "gradient of key", &way->key, to.key);
            compare_rows(place, "gradient of value", &way->value, to.value);
            compare_rows(place, "gradient of state", &way->own[STATE], to.state);
            compare_rows(place, "gradient of state_z", &way->own[STATE_Z], to.state_z);
            compare_gate(place, "gradient of decay", &way->own[DECAY], to.decay, features);
            compare_gate(place, "gradient of beta", &way->own[BETA], to.beta, 1);
            free(memory);
        }
}
