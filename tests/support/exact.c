/*
 * First-order error analysis (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition,
 * chapters 3 and 4); u is the unit roundoff, all constants are counted, none is tuned.
 *
 * Logits. d products, each rounded into a sum, and at most 8 roundings outside of it: the scale,
 * the change to base 4 and back, a quantised key times its token's scale:
 *     |a_j| <= (8 u + d u_sum) |scale| sum_k |q_k k_jk|.
 * Softcap S' = c tanh(S / c). Its slope is at most 1, so that an error of S stays what it is; S / c
 * rounds 3 times (quotient, c in base 4 twice); tanh is within 4e-7 < 7 u (core/simd/math.h), c and
 * the product add 2:
 *     |a'_j| <= |a_j| + 3 u |S_j| + 9 u |S'_j|.
 * Bias b and slope t |p - j|: at most 3 roundings each, one for their sum, one for the logit's:
 *     |a''_j| <= |a'_j| + 4 u (|b_j| + t |p - j|) + u |S''_j|.
 * Weights. The exponent S'' - m rounds, where m is what the running maximum is when the key is seen,
 * and so do the differences by which it moves on to its end, each up to 4 times with the change of
 * base. It may stay behind the largest logit M so far by a slack of at most 8 ln 2 < 6: the way from
 * S'' to its end is at most |S'' - M| and twice the slack long. A key that stands far below M, or was
 * seen when the running maximum stood far below M, has that error and no other key has:
 *     e_j = |a''_j| + 4 u |S''_j - M| + 4 u (|S''_j - M| + 12).
 * The same goes for the sink, which is a logit with one more rounding. A weight is least when its own
 * logit is low by e_j and all others are high by theirs, and largest the other way round: A-_j and
 * A+_j, also where an e_j is large (a logit of 1e9, say) but has nothing to decide.
 * Sums. exp is within 4 u (core/simd/math.h); a term passes at most m additions and, rescaled once in
 * a block of at least 16 keys by an exp and a product, at most 5 m/16 roundings for that; product with
 * the value and its scale, division and the merging of partial results take a few more:
 * s = 2 m u_sum + 24 u, once in the term and once in the normaliser:
 *     |dA_j| <= max(A+_j - A_j, A_j - A-_j) + 2 s / (1 - 2 s) A+_j + tiny,
 *     |dO_c| <= sum_j |v_jc| |dA_j|.
 * Underflow: exp below the smallest normal number may become 0 (tiny), and products with values below
 * it lose bits: 2^-149 each.
 * Products of bf16 numbers (core/gemm/bf16.h) are exact, but factors are sums of parts: of one, which is off by w = 2^-8
 * of it, or of two, off by w^2, and then the product of both second parts, each at most w, is left out. Three are all of a
 * float; what they leave out, 2^-26 of a product, is less than one of the roundings counted above. Where two products are
 * added to each other and then to the sum, each addition is off by 2 u (core/simd/arm.h), and so d of them by d u and 2 u
 * beside: once in a logit, once in an output. Query and key are
 * off by that before they are multiplied, weight and value after the normaliser has summed weights as they were. A factor
 * whose type is bf16 is one part. Denormals count as zero, in factors and in results: 2^-126 of the other factor for each
 * product, and twice 2^-126, of itself and of a sum.
 * The constants 4, 4 and 24 are those of arithmetic_t, for computations other than the library's.
 */
#include "exact.h"

#include "typed.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const arithmetic_t EXACT_F32 = {.u = 0x1p-24,
                                .sum_u = 0x1p-24,
                                .exponent = 4,
                                .rescale = 4,
                                .steps = 24,
                                .tiny = (double)FLT_MIN};

/* Denormal doubles are kept: a weight loses half of the last one. */
const arithmetic_t EXACT_F64 = {.u = 0x1p-53,
                                .sum_u = 0x1p-53,
                                .exponent = 1,
                                .steps = 8, /* exp, sum, quotient, product */
                                .tiny = 0x1p-1074};

/* (1 + left) (1 + right) - 1, and what is left out of it. */
static double both_off(double left, double right, double omitted) {
    return left + right + left * right + omitted;
}

arithmetic_t exact_bf16(const attn_problem_t *problem, int parts) {
    const double w = 0x1p-8, off = parts == 1 ? w : parts == 2 ? w * w : 0;
    const double query = problem->dtype == ATTN_BF16 ? 0 : off;
    const double key = problem->kv_dtype == ATTN_BF16 ? 0 : off;
    const int second = parts == 2; /* parts, which both factors have if they are not in bf16 */
    arithmetic_t arithmetic = EXACT_F32;
    const double sums = parts == 3 ? 0 : 2 * arithmetic.u; /* of tiles: each sum takes at most d */
    arithmetic.logit = sums + both_off(query, key, second && query > 0 && key > 0 ? w * w : 0);
    arithmetic.value = sums + both_off(off, key, second && key > 0 ? w * w : 0);
    arithmetic.flush = (double)FLT_MIN;
    return arithmetic;
}

int exact_parts(const attn_plan_t *plan) {
    const char *kernel = attn_plan_kernel(plan);
    if (strstr(kernel, " bf16x6 ")) return 3;
    if (strstr(kernel, " bf16x3 ")) return 2;
    return strstr(kernel, " bf16 ") != NULL;
}

arithmetic_t exact_arithmetic(const attn_plan_t *plan, const attn_problem_t *problem) {
    const int parts = exact_parts(plan);
    return parts ? exact_bf16(problem, parts) : EXACT_F32;
}

exact_t exact_create(const attn_problem_t *problem) {
    const int64_t m = problem->keys, d = problem->dim, dv = problem->value_dim;
    const int64_t count = (3 + 2 * EXACT_STAGES) * m + 3 * dv + 2 * d;
    exact_t exact = {.lse = 0};
    exact.memory = calloc((size_t)count, sizeof *exact.memory);
    if (!exact.memory) abort();
    double *next = exact.memory;
    exact.out = next, next += dv;
    exact.out_bound = next, next += dv;
    exact.query = next, next += d;
    exact.row = next, next += d + dv;
    exact.kept = next, next += m;
    exact.weight = next, next += m;
    exact.weight_bound = next, next += m;
    for (int s = 0; s < EXACT_STAGES; s++) {
        exact.score[s] = next, next += m;
        exact.score_bound[s] = next, next += m;
    }
    return exact;
}

void exact_destroy(exact_t *exact) {
    free(exact->memory);
    exact->memory = NULL;
}

/* ---- what is seen ---------------------------------------------------------------------------- */

static int64_t length_of(const attn_problem_t *problem, const attn_io_t *io, int64_t batch) {
    if (!(problem->inputs & ATTN_INPUT_KV_LENGTHS)) return problem->keys;
    return (int64_t)typed_get(&io->kv_lengths, batch, 0, 0, 0);
}

static int64_t position_of(const attn_problem_t *problem, int64_t length, int64_t query) {
    if (problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT) return query + length - problem->queries;
    return problem->past + query;
}

int64_t exact_position(const attn_problem_t *problem, const attn_io_t *io, int64_t batch,
                       int64_t query) {
    return position_of(problem, length_of(problem, io, batch), query);
}

/* By where a key stands among `length`, as seen from a position. */
static int reaches(const attn_problem_t *problem, int64_t length, int64_t position, int64_t key) {
    const int64_t ahead = key - position;
    if (key >= length) return 0;
    if (problem->window_left >= 0 && -ahead > problem->window_left) return 0;
    if (problem->window_right >= 0 && ahead > problem->window_right) return 0;
    return problem->causal == ATTN_CAUSAL_NONE || ahead <= 0;
}

static int shows(const attn_problem_t *problem, const attn_io_t *io, int64_t batch, int64_t head,
                 int64_t query, int64_t key) {
    if (problem->inputs & ATTN_INPUT_MASK && typed_get(&io->mask, batch, head, query, key) == 0)
        return 0;
    return !(problem->inputs & ATTN_INPUT_BIAS) ||
           typed_get(&io->bias, batch, head, query, key) != (double)-INFINITY;
}

int exact_sees(const attn_problem_t *problem, const attn_io_t *io, int64_t batch, int64_t head,
               int64_t query, int64_t key) {
    const int64_t length = length_of(problem, io, batch);
    return reaches(problem, length, position_of(problem, length, query), key) &&
           shows(problem, io, batch, head, query, key);
}

/* ---- logits ---------------------------------------------------------------------------------- */

/* Where a row is. */
typedef struct place {
    const attn_problem_t *problem;
    const attn_io_t *io;
    const arithmetic_t *arithmetic;
    const exact_t *exact; /* its pattern */
    int64_t batch, head, kv_head, query;
    int64_t length, position; /* of the keys, of the query among them */
    double slope;
} place_t;

static int sees(const place_t *at, int64_t key) {
    const exact_t *e = at->exact;
    return reaches(at->problem, at->length, at->position, key) &&
           shows(at->problem, at->io, at->batch, at->head, at->query, key) &&
           (!e->has || e->has(e->pattern, at->position, key));
}

/* A key or a value, times its scale where it is quantised. */
static void get_scaled(exact_t *e, const attn_tensor_t *tensor, const attn_tensor_t *scales,
                       const place_t *at, int64_t key) {
    typed_get_row(tensor, at->batch, at->kv_head, key, e->row);
    if (at->problem->kv_dtype != ATTN_I8) return;
    const double scale = typed_get(scales, at->batch, at->kv_head, key, 0);
    for (int64_t c = 0; c < tensor->shape[3]; c++) e->row[c] *= scale;
}

static void raw_score(exact_t *e, const place_t *at, int64_t key) {
    const attn_problem_t *problem = at->problem;
    const double d = (double)problem->dim;
    const double scale = isnan(problem->scale) ? 1 / sqrt(d) : (double)problem->scale;
    double dot = 0, absolute = 0, flushed = 0;
    get_scaled(e, &at->io->key, &at->io->key_scales, at, key);
    for (int64_t k = 0; k < problem->dim; k++) {
        const double term = e->query[k] * e->row[k];
        dot += term;
        absolute += fabs(term);
        flushed += 2 + fabs(e->query[k]) + fabs(e->row[k]);
    }
    const arithmetic_t *a = at->arithmetic;
    e->score[0][key] = scale * dot;
    e->score_bound[0][key] = (8 * a->u + d * a->sum_u + a->logit) * fabs(scale) * absolute;
    if (a->flush > 0) e->score_bound[0][key] += a->flush * fabs(scale) * flushed;
}

/* Also where denormal floats are zero. */
static double cap_of(const attn_problem_t *problem) {
    uint32_t bits;
    memcpy(&bits, &problem->softcap, sizeof bits);
    return bits & 0x7f800000u ? (double)problem->softcap : ldexp(bits & 0x7fffffu, -149);
}

static void capped_score(exact_t *e, const place_t *at, int64_t key) {
    const double u = at->arithmetic->u, cap = cap_of(at->problem);
    const double raw = e->score[0][key];
    e->score[1][key] = cap != 0 ? cap * tanh(raw / cap) : raw;
    e->score_bound[1][key] = e->score_bound[0][key];
    if (cap == 0) return;
    if (isinf(raw)) e->score_bound[1][key] = 0; /* it becomes c, from any infinity */
    if (isfinite(raw)) e->score_bound[1][key] += 3 * u * fabs(raw);
    e->score_bound[1][key] += 9 * u * fabs(e->score[1][key]);
}

static void masked_score(exact_t *e, const place_t *at, int64_t key) {
    const attn_problem_t *problem = at->problem;
    e->score[2][key] = -INFINITY;
    e->score_bound[2][key] = 0;
    e->kept[key] = sees(at, key);
    if (e->kept[key] == 0) return;
    double bias = 0, distance = 0;
    if (problem->inputs & ATTN_INPUT_BIAS)
        bias = typed_get(&at->io->bias, at->batch, at->head, at->query, key);
    if (problem->inputs & ATTN_INPUT_SLOPES)
        distance = at->slope * fabs((double)(at->position - key));
    const double score = e->score[1][key] + bias - distance, u = at->arithmetic->u;
    e->score[2][key] = score;
    e->score_bound[2][key] =
        e->score_bound[1][key] + u * (4 * (fabs(bias) + fabs(distance)) + fabs(score));
    e->seen++;
}

/* ---- weights and output ---------------------------------------------------------------------- */

static double sink_of(const place_t *at) {
    if (!(at->problem->inputs & ATTN_INPUT_SINKS)) return -INFINITY;
    return typed_get(&at->io->sinks, 0, at->head, 0, 0);
}

/* What the exponent of a logit this far below the largest rounds. */
static double exponent_error(const arithmetic_t *a, double below) {
    return a->exponent * a->u * below + a->rescale * a->u * (below + 12);
}

/* A sum of exponentials, too large or small for a double: its largest term, and the others. */
typedef struct log_sum {
    double largest, second, rest; /* exp(largest) + rest exp(second) */
} log_sum_t;

/* fmax() and fmin() without a call: both take the number beside a NaN. */
static double larger(double a, double b) { return a > b || isnan(b) ? a : b; }
static double smaller(double a, double b) { return a < b || isnan(b) ? a : b; }

static const log_sum_t NOTHING = {-INFINITY, -INFINITY, 0};

static log_sum_t log_sum_add(log_sum_t to, double x) {
    const double other = smaller(x, to.largest);
    to.largest = larger(x, to.largest);
    if (other == (double)-INFINITY) return to;
    if (other > to.second) {
        to.rest *= exp(to.second - other);
        to.second = other;
    }
    to.rest += exp(other - to.second);
    return to;
}

/* The logarithm of the sum without the term exp(own), which is in it. */
static double log_others(log_sum_t total, double own) {
    if (own >= total.largest) return total.second + log(total.rest);
    const double rest = total.rest * exp(total.second - total.largest) - exp(own - total.largest);
    return total.largest + log1p(fmax(0, rest));
}

static double log_whole(log_sum_t total) {
    if (total.rest == 0) return total.largest;
    return total.largest + log1p(total.rest * exp(total.second - total.largest));
}

/* exp(x) / (exp(x) + the others). */
static double share_of(double x, double others) { return 1 / (1 + exp(others - x)); }

/* The logarithms of the least and of the largest that the weights could be, before they are
 * divided; a weight of exactly 0 has no error. */
typedef struct ends {
    log_sum_t low, high;
} ends_t;

static void add_ends(ends_t *ends, double score, double error) {
    const double off = score == (double)-INFINITY ? 0 : error;
    ends->low = log_sum_add(ends->low, score - off);
    ends->high = log_sum_add(ends->high, score + off);
}

static void weigh(exact_t *e, const place_t *at) {
    const arithmetic_t *a = at->arithmetic;
    const double u = a->u, sink = sink_of(at);
    const int64_t m = at->problem->keys;
    double maximum = sink;
    for (int64_t j = 0; j < m; j++) maximum = fmax(maximum, e->score[2][j]);
    if (maximum == (double)-INFINITY) maximum = 0;

    ends_t ends = {NOTHING, NOTHING};
    double sum = exp(sink - maximum), *error = e->weight_bound;
    add_ends(&ends, sink, 2 * u * fabs(sink) + exponent_error(a, maximum - sink));
    for (int64_t j = 0; j < m; j++) {
        const double score = e->score[2][j];
        e->weight[j] = exp(score - maximum);
        error[j] = e->score_bound[2][j] + exponent_error(a, maximum - score);
        sum += e->weight[j];
        add_ends(&ends, score, error[j]);
    }
    const double sums = 2 * (double)m * a->sum_u + a->steps * u;
    for (int64_t j = 0; j < m; j++) {
        const double score = e->score[2][j];
        const int seen = score != (double)-INFINITY;
        const double weight = sum == 0 || !seen ? 0 : e->weight[j] / sum, off = error[j];
        e->weight[j] = weight;
        e->weight_bound[j] = 0;
        if (!seen) continue;
        const double low = share_of(score - off, log_others(ends.high, score + off));
        const double high = share_of(score + off, log_others(ends.low, score - off));
        e->weight_bound[j] =
            fmax(high - weight, weight - low) + 2 * sums / (1 - 2 * sums) * high + a->tiny;
    }
    e->lse = maximum + log(sum);
    e->lse_bound = fmax(log_whole(ends.high) - e->lse, e->lse - log_whole(ends.low)) +
                   sums / (1 - sums) + 4 * u * (fabs(maximum) + fabs(log(sum)) + 1);
}

static double products_off(const arithmetic_t *a, double weight, double value) {
    return a->value * weight * fabs(value) + a->flush * (2 + weight + fabs(value));
}

static void mix(exact_t *e, const place_t *at) {
    const arithmetic_t *a = at->arithmetic;
    for (int64_t c = 0; c < at->problem->value_dim; c++) e->out[c] = e->out_bound[c] = 0;
    for (int64_t j = 0; j < at->problem->keys; j++) {
        if (e->kept[j] == 0) continue;
        get_scaled(e, &at->io->value, &at->io->value_scales, at, j);
        for (int64_t c = 0; c < at->problem->value_dim; c++) {
            e->out[c] += e->weight[j] * e->row[c];
            e->out_bound[c] += e->weight_bound[j] * fabs(e->row[c]) + 0x1p-148;
            if (a->flush > 0)
                e->out_bound[c] += products_off(a, e->weight[j] + e->weight_bound[j], e->row[c]);
        }
    }
}

void exact_row(exact_t *exact, const attn_problem_t *problem, const attn_io_t *io,
               const arithmetic_t *arithmetic, int64_t batch, int64_t head, int64_t query) {
    const int64_t length = length_of(problem, io, batch);
    const int sloped = (problem->inputs & ATTN_INPUT_SLOPES) != 0;
    const place_t at = {.problem = problem,
                        .io = io,
                        .arithmetic = arithmetic,
                        .exact = exact,
                        .batch = batch,
                        .head = head,
                        .kv_head = head / (problem->heads / problem->kv_heads),
                        .query = query,
                        .length = length,
                        .position = position_of(problem, length, query),
                        .slope = sloped ? typed_get(&io->slopes, 0, head, 0, 0) : 0};
    exact->seen = 0;
    typed_get_row(&io->query, batch, head, query, exact->query);
    for (int64_t j = 0; j < problem->keys; j++) {
        raw_score(exact, &at, j);
        capped_score(exact, &at, j);
        masked_score(exact, &at, j);
    }
    weigh(exact, &at);
    mix(exact, &at);
}

double exact_out_bound(const exact_t *exact, const attn_problem_t *problem, int64_t column) {
    const double bound = exact->out_bound[column];
    if (problem->dtype == ATTN_F32) return bound;
    return bound + typed_rounding(problem->dtype, fabs(exact->out[column]) + bound);
}

double exact_score(const exact_t *exact, int32_t stage, int64_t key) {
    return stage == ATTN_SCORES_WEIGHTS ? exact->weight[key] : exact->score[stage][key];
}

/* Logits are rounded to base 4 and back, constant and product. */
double exact_score_bound(const exact_t *exact, int32_t stage, int64_t key) {
    if (stage == ATTN_SCORES_WEIGHTS) return exact->weight_bound[key];
    return exact->score_bound[stage][key] + 4 * EXACT_F32.u * fabs(exact->score[stage][key]);
}
