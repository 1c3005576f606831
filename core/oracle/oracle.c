/*
 * Exact softmax attention, straight from its formula (attn/oracle.h).
 *
 * Written to be checked by eye: one loop per sum, double precision, no blocking and no tricks but
 * the subtraction of the row's maximum, without which exp overflows.
 */
#include "attn/oracle.h"

#include <math.h>
#include <stddef.h>

static double element(const attn_tensor_t *tensor, int64_t batch, int64_t head, int64_t row,
                      int64_t column) {
    const float *data = tensor->data;
    return data[batch * tensor->stride[0] + head * tensor->stride[1] + row * tensor->stride[2] +
                column * tensor->stride[3]];
}

static double scale_of(const attn_problem_t *problem) {
    return isnan(problem->scale) ? 1.0 / sqrt((double)problem->dim) : (double)problem->scale;
}

void attn_oracle_row(const attn_problem_t *problem, const attn_io_t *io, int64_t batch,
                     int64_t head, int64_t query, double *out, double *lse, double *weights,
                     double *magnitude, double *scratch) {
    const int64_t kv_head = head / (problem->heads / problem->kv_heads);
    const int64_t limit = attn_causal_limit(problem, query);
    const double scale = scale_of(problem);

    double maximum = -INFINITY;
    for (int64_t j = 0; j < limit; j++) {
        double dot = 0;
        for (int64_t k = 0; k < problem->dim; k++)
            dot += element(&io->query, batch, head, query, k) *
                   element(&io->key, batch, kv_head, j, k);
        scratch[j] = scale * dot;
        if (scratch[j] > maximum) maximum = scratch[j];
    }

    double sum = 0;
    for (int64_t j = 0; j < limit; j++) {
        scratch[j] = exp(scratch[j] - maximum);
        sum += scratch[j];
    }
    if (lse) *lse = limit == 0 ? -INFINITY : maximum + log(sum);

    for (int64_t c = 0; c < problem->value_dim; c++) {
        out[c] = 0;
        if (magnitude) magnitude[c] = 0;
    }
    for (int64_t j = 0; j < limit; j++) {
        const double weight = scratch[j] / sum;
        for (int64_t c = 0; c < problem->value_dim; c++) {
            const double term = weight * element(&io->value, batch, kv_head, j, c);
            out[c] += term;
            if (magnitude) magnitude[c] += fabs(term);
        }
    }
    for (int64_t j = 0; weights && j < problem->keys; j++)
        weights[j] = j < limit ? scratch[j] / sum : 0;
}

static int all_finite(const double *row, int64_t count) {
    for (int64_t c = 0; c < count; c++)
        if (!isfinite(row[c])) return 0;
    return 1;
}

double attn_oracle_error(const attn_problem_t *problem, const attn_io_t *io, int64_t stride,
                         double *scratch) {
    if (!scratch) return -1;
    if (stride < 1) stride = 1;
    double *exact = scratch + problem->keys;
    double difference = 0, norm = 0;
    for (int64_t b = 0; b < problem->batch; b++) {
        for (int64_t h = 0; h < problem->heads; h++) {
            for (int64_t i = 0; i < problem->queries; i += stride) {
                attn_oracle_row(problem, io, b, h, i, exact, NULL, NULL, NULL, scratch);
                if (!all_finite(exact, problem->value_dim)) continue;
                for (int64_t c = 0; c < problem->value_dim; c++) {
                    const double delta = element(&io->out, b, h, i, c) - exact[c];
                    difference += delta * delta;
                    norm += exact[c] * exact[c];
                }
            }
        }
    }
    if (difference == 0) return 0; // also where the exact output is all zeros
    return sqrt(difference / norm);
}
