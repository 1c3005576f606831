/*
 * Error bounds of the linear form, for one row; all sums run over the keys that the query sees, u is
 * float's unit roundoff, and the analysis that of exact.c, which has softmax's.
 *
 * O_c = sum_j u_j v_jc / sum_j u_j with u_j = phi(q).phi(k_j). Feature maps are exact (lin,
 * relu) or within 4 u (exp; x + 1 and squares round once); each product of features and value passes at most
 * m + d additions in any order, in the state or over the keys: relative to the absolute terms
 *       g = (m + d + 16) u,   |dN_c| <= g sum_j U_j |v_jc|,   |dZ| <= g sum_j U_j = G,
 *   with U_j = sum_k |phi(q)_k phi(k_j)_k|. With z = |Z| - G > 0
 *       |dO_c| <= (|dN_c| + |O_c| G) / z + u |O_c|.
 */
#include "reference.h"

#include "attn/random.h"
#include "test.h"
#include "typed.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static const double U = FLT_EPSILON / 2;
static const double SMALLEST = 0x1p-149; // float's least denormal number

reference_t reference_create(const attn_problem_t *problem) {
    reference_t r = {.exact = exact_create(problem)};
    r.out = r.exact.out;
    r.out_bound = r.exact.out_bound;
    r.weight = r.exact.weight;
    r.weight_bound = r.exact.weight_bound;
    return r;
}

void reference_destroy(reference_t *reference) { exact_destroy(&reference->exact); }

static int64_t floor_of(int64_t a, int64_t b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/** What bigbird's blocks of queries see whatever is drawn. */
static int is_seen_anyway(const formula_t *f, int64_t row, int64_t block) {
    const int64_t apart = row > block ? row - block : block - row;
    return apart < f->local || block < f->global || row < f->global;
}

/** Whether a block of keys is drawn for a block of queries: by lot among all that are left, the ranks of
 * `random` different ones (tests/sparse_bigbird.c has what must hold whichever they are). */
static int is_drawn(const formula_t *f, int64_t row, int64_t block) {
    enum { MOST = 256 };
    int64_t left[MOST], count = 0;
    int is_taken[MOST] = {0};
    const int64_t end = f->causal && row < f->among ? row : f->among;
    for (int64_t c = 0; c < end; c++) {
        if (is_seen_anyway(f, row, c)) continue;
        if (count == MOST) test_fail("more than %d blocks to draw from", MOST);
        left[count++] = c;
    }
    for (int64_t i = f->random < count ? count - f->random : 0; i < count; i++) {
        const uint64_t bits = attn_random_u64(f->seed, (uint64_t)row, (uint64_t)i);
        const uint64_t rank = bits % (uint64_t)(i + 1);
        is_taken[is_taken[rank] ? i : (int64_t)rank] = 1;
    }
    for (int64_t i = 0; i < count; i++)
        if (left[i] == block) return is_taken[i];
    return 0;
}

/** Counted from 0. */
int reference_keeps(const formula_t *f, int64_t position, int64_t key) {
    const int64_t distance = position > key ? position - key : key - position;
    const int is_near = distance < f->local * f->block;
    if (f->form != FORM_SPARSE) return 1;
    const int is_last = key % f->block >= f->block - f->global;
    const int64_t row = floor_of(position, f->block), block = key / f->block;
    const int64_t blocks = row > block ? row - block : block - row;
    switch (f->pattern) {
    case PATTERN_FIXED:
        return blocks < f->local || is_last;
    case PATTERN_STRIDED:
        return blocks < f->local || blocks % f->stride == 0;
    case PATTERN_WINDOW:
        return is_near;
    case PATTERN_LONGFORMER:
        return is_near || key < f->global || position < f->global;
    case PATTERN_BIGBIRD:
        return is_seen_anyway(f, row, block) || is_drawn(f, row, block);
    case PATTERN_DILATED:
        return distance % f->stride == 0 && distance / f->stride < f->local * f->block;
    default: /* Eq. 6 */
        return is_near || is_last;
    }
}

static int keeps(const void *formula, int64_t position, int64_t key) {
    return reference_keeps(formula, position, key);
}

int reference_sees(const formula_t *formula, const attn_problem_t *problem, int64_t query,
                   int64_t key) {
    int64_t first, last;
    attn_key_range(problem, problem->keys, query, &first, &last);
    return key >= first && key < last &&
           reference_keeps(formula, attn_query_position(problem, problem->keys, query), key);
}

static double phi(feature_map_t map, double x) {
    if (map == MAP_LIN) return x;
    if (map == MAP_RELU) return x < 0 ? 0 : x;
    if (map == MAP_RELU2) return x < 0 ? 0 : x * x;
    if (map == MAP_EXP) return exp(x);
    return x < 0 ? exp(x) : x + 1; // elu(x) + 1
}

typedef struct dot {
    double sum, absolute;
} dot_t;

/** phi(q) of the row. */
static void get_features(reference_t *r, const formula_t *f, const attn_problem_t *problem,
                         const attn_io_t *io, const int64_t at[3]) {
    const double scale = isnan(problem->scale) ? 1 : (double)problem->scale;
    double *query = r->exact.query;
    typed_get_row(&io->query, at[0], at[1], at[2], query);
    for (int64_t k = 0; k < problem->dim; k++) query[k] = phi(f->map, scale * query[k]);
}

/** phi(q).phi(k), and the same of absolute values. */
static dot_t dot_of(reference_t *r, const formula_t *f, const attn_problem_t *problem,
                    const attn_io_t *io, const int64_t at[3], int64_t key) {
    dot_t dot = {0, 0};
    typed_get_row(&io->key, at[0], at[1] / (problem->heads / problem->kv_heads), key, r->exact.row);
    for (int64_t k = 0; k < problem->dim; k++) {
        const double term = r->exact.query[k] * phi(f->map, r->exact.row[k]);
        dot.sum += term;
        dot.absolute += fabs(term);
    }
    return dot;
}

/** out and its bound from the weights and theirs. */
static void mix_values(reference_t *r, const formula_t *f, const attn_problem_t *problem,
                       const attn_io_t *io, const int64_t at[3]) {
    const int64_t kv_head = at[1] / (problem->heads / problem->kv_heads);
    double *value = r->exact.row;
    for (int64_t c = 0; c < problem->value_dim; c++) r->out[c] = r->out_bound[c] = 0;
    for (int64_t j = 0; j < problem->keys; j++) {
        if (!reference_sees(f, problem, at[2], j)) continue;
        typed_get_row(&io->value, at[0], kv_head, j, value);
        for (int64_t c = 0; c < problem->value_dim; c++) {
            r->out[c] += r->weight[j] * value[c];
            r->out_bound[c] += r->weight_bound[j] * fabs(value[c]) + 2 * SMALLEST;
        }
    }
}

static void softmax_row(reference_t *r, const formula_t *f, const attn_problem_t *problem,
                        const attn_io_t *io, const int64_t at[3]) {
    r->exact.has = keeps;
    r->exact.pattern = f;
    exact_row(&r->exact, problem, io, &EXACT_F32, at[0], at[1], at[2]);
    r->kept = r->exact.seen;
    r->lse = r->exact.lse;
    r->lse_bound = r->exact.lse_bound;
}

static void linear_weights(reference_t *r, const formula_t *f, const attn_problem_t *problem,
                           const attn_io_t *io, const int64_t at[3]) {
    const double g = (double)(problem->keys + problem->dim + 16) * U;
    double total = 0;
    r->normaliser = 0;
    for (int64_t j = 0; j < problem->keys; j++) {
        r->weight[j] = r->weight_bound[j] = 0;
        if (!reference_sees(f, problem, at[2], j)) continue;
        const dot_t dot = dot_of(r, f, problem, io, at, j);
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
    double *value = r->exact.row;
    for (int64_t c = 0; c < problem->value_dim; c++)
        r->out_bound[c] =
            fabs(r->out[c]) * (r->normaliser_bound / z + U) + 2 * SMALLEST * (double)problem->keys;
    for (int64_t j = 0; j < problem->keys; j++) {
        if (!reference_sees(f, problem, at[2], j)) continue;
        const double absolute = dot_of(r, f, problem, io, at, j).absolute;
        typed_get_row(&io->value, at[0], kv_head, j, value);
        for (int64_t c = 0; c < problem->value_dim; c++)
            r->out_bound[c] += g * absolute * fabs(value[c]) / z;
    }
}

void reference_row(reference_t *reference, const formula_t *formula, const attn_problem_t *problem,
                   const attn_io_t *io, int64_t batch, int64_t head, int64_t query) {
    const int64_t at[3] = {batch, head, query};
    if (formula->form != FORM_LINEAR) {
        softmax_row(reference, formula, problem, io, at);
        return;
    }
    reference->kept = 0;
    get_features(reference, formula, problem, io, at);
    linear_weights(reference, formula, problem, io, at);
    mix_values(reference, formula, problem, io, at);
    if (reference->kept) linear_out_bound(reference, formula, problem, io, at);
}
