/*
 * Exact softmax attention, straight from its formula (attn/oracle.h).
 *
 * Written to be checked by eye: one loop per sum, double precision, no blocking and no tricks but
 * the subtraction of the row's maximum, without which exp overflows.
 */
#include "attn/oracle.h"

#include "element.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- elements ------------------------------------------------------------------------------------ */

/* Element of key or value: in i8 it is times its token's scale. */
static double scaled_element(const attn_tensor_t *tensor, const attn_tensor_t *scales,
                             int64_t batch, int64_t kv_head, int64_t row, int64_t column) {
    const double scale = scales->data ? oracle_element(scales, batch, kv_head, row, 0) : 1;
    return scale * oracle_element(tensor, batch, kv_head, row, column);
}

/* ---- logits -------------------------------------------------------------------------------------- */

static double scale_of(const attn_problem_t *problem) {
    return isnan(problem->scale) ? 1.0 / sqrt((double)problem->dim) : (double)problem->scale;
}

/* 0: none. */
static double cap_of(const attn_problem_t *problem) {
    uint32_t bits;
    memcpy(&bits, &problem->softcap, sizeof bits);
    return single_to_double(bits);
}

static int64_t keys_of(const attn_problem_t *problem, const attn_io_t *io, int64_t batch) {
    return problem->inputs & ATTN_INPUT_KV_LENGTHS
               ? (int64_t)oracle_element(&io->kv_lengths, batch, 0, 0, 0)
               : problem->keys;
}

/* Whether query i sees key j: by position, and by mask. A bias of -inf hides a key as well. */
static int is_seen(const attn_problem_t *problem, const attn_io_t *io, int64_t batch, int64_t head,
                   int64_t query, int64_t key) {
    int64_t first, last;
    attn_key_range(problem, keys_of(problem, io, batch), query, &first, &last);
    if (key < first || key >= last) return 0;
    if (problem->inputs & ATTN_INPUT_MASK && !oracle_element(&io->mask, batch, head, query, key))
        return 0;
    return !(problem->inputs & ATTN_INPUT_BIAS) ||
           oracle_element(&io->bias, batch, head, query, key) != -INFINITY;
}

double attn_oracle_score(const attn_problem_t *problem, const attn_io_t *io, int64_t batch,
                         int64_t head, int64_t query, int64_t key, int32_t stage) {
    const int64_t kv_head = head / (problem->heads / problem->kv_heads);
    double dot = 0;
    if (stage == ATTN_SCORES_MASKED && !is_seen(problem, io, batch, head, query, key))
        return -INFINITY;
    for (int64_t k = 0; k < problem->dim; k++)
        dot += oracle_element(&io->query, batch, head, query, k) *
               scaled_element(&io->key, &io->key_scales, batch, kv_head, key, k);
    double score = scale_of(problem) * dot;
    if (stage == ATTN_SCORES_RAW) return score;
    const double cap = cap_of(problem);
    if (cap != 0) score = cap * tanh(score / cap);
    if (stage == ATTN_SCORES_CAPPED) return score;
    if (problem->inputs & ATTN_INPUT_BIAS)
        score += oracle_element(&io->bias, batch, head, query, key);
    if (problem->inputs & ATTN_INPUT_SLOPES) {
        const int64_t keys = keys_of(problem, io, batch);
        const int64_t distance = attn_query_position(problem, keys, query) - key;
        score -= oracle_element(&io->slopes, 0, head, 0, 0) * fabs((double)distance);
    }
    return score;
}

/* A row's exp(S - shift) in scratch for the keys [first, last), and their sum with the sink's share. */
typedef struct row_sum {
    int64_t first, last;
    double shift, sink, sum;
} row_sum_t;

static row_sum_t weigh(const attn_problem_t *problem, const attn_io_t *io, int64_t batch,
                       int64_t head, int64_t query, double *scratch) {
    const double sink = problem->inputs & ATTN_INPUT_SINKS
                            ? oracle_element(&io->sinks, 0, head, 0, 0)
                            : (double)-INFINITY;
    row_sum_t row;
    attn_key_range(problem, keys_of(problem, io, batch), query, &row.first, &row.last);

    double maximum = sink;
    for (int64_t j = row.first; j < row.last; j++) {
        scratch[j] = attn_oracle_score(problem, io, batch, head, query, j, ATTN_SCORES_MASKED);
        if (scratch[j] > maximum) maximum = scratch[j];
    }
    row.shift = maximum == -INFINITY ? 0 : maximum; /* no key: every exp is 0 by itself */

    row.sink = row.sum = exp(sink - row.shift);
    for (int64_t j = row.first; j < row.last; j++) {
        scratch[j] = exp(scratch[j] - row.shift);
        row.sum += scratch[j];
    }
    return row;
}

void attn_oracle_row(const attn_problem_t *problem, const attn_io_t *io, int64_t batch,
                     int64_t head, int64_t query, double *out, double *lse, double *weights,
                     double *magnitude, double *scratch) {
    const int64_t kv_head = head / (problem->heads / problem->kv_heads);
    const row_sum_t row = weigh(problem, io, batch, head, query, scratch);
    const int64_t first = row.first, last = row.last;
    const double sum = row.sum;
    if (lse) *lse = row.shift + log(sum);

    for (int64_t c = 0; c < problem->value_dim; c++) {
        out[c] = 0;
        if (magnitude) magnitude[c] = 0;
    }
    for (int64_t j = first; j < last; j++) {
        if (!is_seen(problem, io, batch, head, query, j)) continue;
        const double weight = sum == 0 ? 0 : scratch[j] / sum;
        for (int64_t c = 0; c < problem->value_dim; c++) {
            const double term =
                weight * scaled_element(&io->value, &io->value_scales, batch, kv_head, j, c);
            out[c] += term;
            if (magnitude) magnitude[c] += fabs(term);
        }
    }
    for (int64_t j = 0; weights && j < problem->keys; j++)
        weights[j] = j >= first && j < last && sum != 0 ? scratch[j] / sum : 0;
}

/* d S' / d S of S' = c tanh(S / c). */
static double cap_slope(const attn_problem_t *problem, double score) {
    const double cap = cap_of(problem);
    if (cap == 0) return 1;
    const double tangent = tanh(score / cap);
    return 1 - tangent * tangent;
}

double attn_oracle_row_backward(const attn_problem_t *problem, const attn_io_t *io,
                                const attn_tensor_t *out_gradient, int64_t batch, int64_t head,
                                int64_t query, double *weights, double *logits, double *products,
                                double *scratch) {
    const int64_t kv_head = head / (problem->heads / problem->kv_heads);
    const row_sum_t row = weigh(problem, io, batch, head, query, scratch);
    double mean = 0;
    for (int64_t j = 0; j < problem->keys; j++) {
        logits[j] = products[j] = weights[j] = 0;
        if (j >= row.first && j < row.last && row.sum != 0) weights[j] = scratch[j] / row.sum;
        if (!is_seen(problem, io, batch, head, query, j)) continue;
        for (int64_t c = 0; c < problem->value_dim; c++)
            logits[j] += oracle_element(out_gradient, batch, head, query, c) *
                         scaled_element(&io->value, &io->value_scales, batch, kv_head, j, c);
        mean += weights[j] * logits[j];
    }
    for (int64_t j = 0; j < problem->keys; j++) {
        if (!is_seen(problem, io, batch, head, query, j)) continue;
        logits[j] = weights[j] * (logits[j] - mean);
        products[j] = logits[j] * cap_slope(problem, attn_oracle_score(problem, io, batch, head,
                                                                       query, j, ATTN_SCORES_RAW));
    }
    if (!(problem->inputs & ATTN_INPUT_SINKS)) return 0;
    return row.sum == 0 ? 0 : -row.sink / row.sum * mean;
}

static int all_finite(const double *row, int64_t count) {
    for (int64_t c = 0; c < count; c++)
        if (!isfinite(row[c])) return 0;
    return 1;
}

double attn_oracle_error(const attn_problem_t *problem, const attn_io_t *io, int64_t stride,
                         double *scratch) {
    if (!scratch || !attn_dtype_size(io->query.dtype) || !attn_dtype_size(io->key.dtype) ||
        !attn_dtype_size(io->value.dtype) || !attn_dtype_size(io->out.dtype))
        return -1;
    if (stride < 1) stride = 1;
    double *exact = scratch + problem->keys;
    double difference = 0, norm = 0;
    int has_rows = 0;
    for (int64_t b = 0; b < problem->batch; b++) {
        for (int64_t h = 0; h < problem->heads; h++) {
            for (int64_t i = 0; i < problem->queries; i += stride) {
                attn_oracle_row(problem, io, b, h, i, exact, NULL, NULL, NULL, scratch);
                if (!all_finite(exact, problem->value_dim)) continue;
                has_rows = 1;
                for (int64_t c = 0; c < problem->value_dim; c++) {
                    const double delta = oracle_element(&io->out, b, h, i, c) - exact[c];
                    difference += delta * delta;
                    norm += exact[c] * exact[c];
                }
            }
        }
    }
    if (has_rows && difference == 0) return 0; // also where the exact output is all zeros
    return sqrt(difference / norm);            // 0 / 0 where there was none
}
