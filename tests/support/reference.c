/*
 * Error bounds, for one row i; all sums run over the keys that the query sees.
 *
 * Softmax. A kernel computes logits S^_j = S_j + a_j, then p_j = exp(S^_j - M), then
 * O_c = sum_j p_j v_jc / sum_j p_j.
 *   Logits: a sum of d products rounds d times; a scale made in float, 1/sqrt(d), and multiplied in
 *   (3), and the change to base 4 (constant and product, 2) round 5 times more, so with one spare
 *       |a_j| <= (d + 6) u |scale| sum_k |q_k k_jk|.
 *   Exponents: S^_j - m, with the running maximum m when the key is seen, and the differences by
 *   which m moves on round as well, each with the change of base. m may stay below the largest logit
 *   so far by at most 8 ln 2 < 6 (core/simd/flash.h), so that this way is at most 12 longer than
 *   |S_j - M|, M = max S:
 *       |b_j| <= 4 u |S_j - M| + 4 u (|S_j - M| + 12).
 *   Hence p_j has the relative error e_j = exp(|a_j| + |b_j|) - 1 from its exponent: logits are
 *   where the magnitudes of Q and K enter.
 *   Sums: exp is within 4 u (core/simd/math.h); a term passes at most m additions and, rescaled once in a block
 *   of at least 16 keys by an exp and a product, at most 5 m/16 roundings for that; product with the
 *   value, division and the merging of partial results take a few more:
 *       s = (2 m + 16) u.
 *   The normaliser's relative error is the weighted mean of the terms', E = sum_j A_j e_j + s. So
 *       |dA_j| <= A_j (e_j + s + E) / (1 - E),   |dO_c| <= sum_j |v_jc| A_j (e_j + s + E) / (1 - E).
 *   Underflow: exp below the smallest normal number may become 0, and products below it lose bits:
 *   absolute errors of FLT_MIN for each weight and of 2^-149 for each product.
 *
 * Linear. O_c = sum_j u_j v_jc / sum_j u_j with u_j = phi(q).phi(k_j). Feature maps are exact (lin,
 * relu) or within 4 u (exp; x + 1 rounds once); each product of features and value passes at most
 * m + d additions in any order, in the state or over the keys: relative to the absolute terms
 *       g = (m + d + 16) u,   |dN_c| <= g sum_j U_j |v_jc|,   |dZ| <= g sum_j U_j = G,
 *   with U_j = sum_k |phi(q)_k phi(k_j)_k|. With z = |Z| - G > 0
 *       |dO_c| <= (|dN_c| + |O_c| G) / z + u |O_c|.
 */
#include "reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double U = FLT_EPSILON / 2;
static const double SMALLEST = 0x1p-149; // float's least denormal number

reference_t reference_create(const attn_problem_t *problem) {
    const int64_t m = problem->keys, dv = problem->value_dim;
    reference_t r = {0};
    r.memory = calloc((size_t)(2 * m + 2 * dv), sizeof *r.memory);
    if (!r.memory) abort();
    r.weight = r.memory;
    r.weight_bound = r.weight + m;
    r.out = r.weight_bound + m;
    r.out_bound = r.out + dv;
    return r;
}

void reference_destroy(reference_t *reference) {
    free(reference->memory);
    reference->memory = NULL;
}

static double element(const attn_tensor_t *t, int64_t b, int64_t h, int64_t i, int64_t c) {
    const float *data = t->data;
    return data[b * t->stride[0] + h * t->stride[1] + i * t->stride[2] + c * t->stride[3]];
}

/** Eq. 6, counted from 0; a query's position is moved by m - n in the bottom-right corner. */
static int sees_sparse(const formula_t *f, const attn_problem_t *problem, int64_t query,
                       int64_t key) {
    int64_t position = query;
    if (problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT) position += problem->keys - problem->queries;
    const int64_t distance = position > key ? position - key : key - position;
    return distance < f->local * f->block || key % f->block >= f->block - f->global;
}

int reference_sees(const formula_t *formula, const attn_problem_t *problem, int64_t query,
                   int64_t key) {
    if (key >= attn_causal_limit(problem, query)) return 0;
    return formula->form != FORM_SPARSE || sees_sparse(formula, problem, query, key);
}

static double phi(feature_map_t map, double x) {
    if (map == MAP_LIN) return x;
    if (map == MAP_RELU) return x < 0 ? 0 : x;
    return x < 0 ? exp(x) : x + 1; // elu(x) + 1
}

typedef struct dot {
    double sum, absolute;
} dot_t;

/** q.k or phi(q).phi(k), and the same of absolute values. */
static dot_t dot_of(const formula_t *f, const attn_problem_t *problem, const attn_io_t *io,
                    const int64_t at[3], int64_t key) {
    const int64_t kv_head = at[1] / (problem->heads / problem->kv_heads);
    const feature_map_t map = f->form == FORM_LINEAR ? f->map : MAP_LIN;
    const double scale =
        f->form != FORM_LINEAR || isnan(problem->scale) ? 1 : (double)problem->scale;
    dot_t dot = {0, 0};
    for (int64_t k = 0; k < problem->dim; k++) {
        const double term = phi(map, scale * element(&io->query, at[0], at[1], at[2], k)) *
                            phi(map, element(&io->key, at[0], kv_head, key, k));
        dot.sum += term;
        dot.absolute += fabs(term);
    }
    return dot;
}

/** out and its bound from the weights and theirs. */
static void mix_values(reference_t *r, const formula_t *f, const attn_problem_t *problem,
                       const attn_io_t *io, const int64_t at[3]) {
    const int64_t kv_head = at[1] / (problem->heads / problem->kv_heads);
    for (int64_t c = 0; c < problem->value_dim; c++) r->out[c] = r->out_bound[c] = 0;
    for (int64_t j = 0; j < problem->keys; j++) {
        if (!reference_sees(f, problem, at[2], j)) continue;
        for (int64_t c = 0; c < problem->value_dim; c++) {
            const double value = element(&io->value, at[0], kv_head, j, c);
            r->out[c] += r->weight[j] * value;
            r->out_bound[c] += r->weight_bound[j] * fabs(value) + 2 * SMALLEST;
        }
    }
}

static void softmax_weights(reference_t *r, const formula_t *f, const attn_problem_t *problem,
                            const attn_io_t *io, const int64_t at[3]) {
    const double d = (double)problem->dim, m = (double)problem->keys;
    const double scale = isnan(problem->scale) ? 1 / sqrt(d) : (double)problem->scale;
    double maximum = -INFINITY;
    for (int64_t j = 0; j < problem->keys; j++) {
        r->weight[j] = r->weight_bound[j] = 0;
        if (!reference_sees(f, problem, at[2], j)) continue;
        const dot_t dot = dot_of(f, problem, io, at, j);
        r->kept++;
        r->weight[j] = scale * dot.sum;
        r->weight_bound[j] = (d + 6) * U * fabs(scale) * dot.absolute;
        maximum = fmax(maximum, r->weight[j]);
    }
    double sum = 0;
    for (int64_t j = 0; j < problem->keys; j++) {
        if (!reference_sees(f, problem, at[2], j)) continue;
        const double below = maximum - r->weight[j];
        r->weight[j] = exp(-below);
        r->weight_bound[j] =
            r->weight[j] > 0 ? expm1(r->weight_bound[j] + 8 * U * below + 48 * U) : 0;
        sum += r->weight[j];
    }
    const double sums = (2 * m + 16) * U;
    double mean = sums;
    for (int64_t j = 0; j < problem->keys; j++) {
        if (!reference_sees(f, problem, at[2], j)) continue;
        r->weight[j] /= sum;
        mean += r->weight[j] * r->weight_bound[j];
    }
    for (int64_t j = 0; j < problem->keys; j++) {
        if (!reference_sees(f, problem, at[2], j)) continue;
        r->weight_bound[j] =
            r->weight[j] * (r->weight_bound[j] + sums + mean) / (1 - mean) + (double)FLT_MIN;
    }
    r->lse = r->kept ? maximum + log(sum) : -INFINITY;
    r->lse_bound = mean / (1 - mean) + 4 * U * (fabs(maximum) + log(sum) + 1);
}

static void linear_weights(reference_t *r, const formula_t *f, const attn_problem_t *problem,
                           const attn_io_t *io, const int64_t at[3]) {
    const double g = (double)(problem->keys + problem->dim + 16) * U;
    double total = 0;
    r->normaliser = 0;
    for (int64_t j = 0; j < problem->keys; j++) {
        r->weight[j] = r->weight_bound[j] = 0;
        if (!reference_sees(f, problem, at[2], j)) continue;
        const dot_t dot = dot_of(f, problem, io, at, j);
        r->kept++;
        r->weight[j] = dot.sum;
        r->weight_bound[j] = g * dot.absolute;
        r->normaliser += dot.sum;
        total += dot.absolute;
    }
    r->normaliser_bound = g * total;
    const double z = fabs(r->normaliser) - r->normaliser_bound;
    for (int64_t j = 0; j < problem->keys; j++) {
        if (!reference_sees(f, problem, at[2], j)) continue;
        r->weight[j] /= r->normaliser;
        const double relative = r->normaliser_bound / z + U;
        r->weight_bound[j] = r->weight_bound[j] / z + fabs(r->weight[j]) * relative;
    }
    r->lse = r->lse_bound = NAN;
}

/** The normaliser's error moves the whole row by one factor: |O_c| G/z, less than by each weight. */
static void linear_out_bound(reference_t *r, const formula_t *f, const attn_problem_t *problem,
                             const attn_io_t *io, const int64_t at[3]) {
    const double g = (double)(problem->keys + problem->dim + 16) * U;
    const double z = fabs(r->normaliser) - r->normaliser_bound;
    const int64_t kv_head = at[1] / (problem->heads / problem->kv_heads);
    for (int64_t c = 0; c < problem->value_dim; c++)
        r->out_bound[c] =
            fabs(r->out[c]) * (r->normaliser_bound / z + U) + 2 * SMALLEST * (double)problem->keys;
    for (int64_t j = 0; j < problem->keys; j++) {
        if (!reference_sees(f, problem, at[2], j)) continue;
        const double absolute = dot_of(f, problem, io, at, j).absolute;
        for (int64_t c = 0; c < problem->value_dim; c++)
            r->out_bound[c] += g * absolute * fabs(element(&io->value, at[0], kv_head, j, c)) / z;
    }
}

void reference_row(reference_t *reference, const formula_t *formula, const attn_problem_t *problem,
                   const attn_io_t *io, int64_t batch, int64_t head, int64_t query) {
    const int64_t at[3] = {batch, head, query};
    reference->kept = 0;
    if (formula->form == FORM_LINEAR)
        linear_weights(reference, formula, problem, io, at);
    else
        softmax_weights(reference, formula, problem, io, at);
    mix_values(reference, formula, problem, io, at);
    if (formula->form == FORM_LINEAR && reference->kept)
        linear_out_bound(reference, formula, problem, io, at);
}
