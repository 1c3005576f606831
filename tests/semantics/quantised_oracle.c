#include "quantised_oracle.h"

#include "support/compare.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum {
    BLOCK = 192,  /* keys that share a mean, and values a scale in each column */
    SPLIT = 1024, /* keys of a few queries of which weights may share a scale */
};
static const double U = 0x1p-24, LN_4 = 1.38629436111989061883;
static const float LOG4_E = 0.72134752044448170368f;

/* As core/attention/decode.c has it. */
static int is_decoded(const attn_problem_t *p) {
    return p->heads / p->kv_heads * p->queries <= 48 &&
           (p->queries <= 16 || p->keys / 4 >= p->queries);
}

quantised_way_t quantised_way(const attn_problem_t *p) {
    if (p->heads / p->kv_heads * p->queries >= QUANTISED_ROWS) return WAY_INTEGERS;
    return p->kv_dtype == ATTN_I8 && is_decoded(p) ? WAY_BYTES : WAY_FLOATS;
}

static float *floats(int64_t count) {
    float *data = calloc((size_t)count, sizeof *data);
    if (!data) test_fail("the test itself has no memory");
    return data;
}

/* The largest integers whose products sum up to less than 2^31. */
static float level_of(int64_t most, int64_t terms) {
    const int64_t root = (int64_t)sqrt(2147483647.0 / (double)terms);
    return (float)(root < most ? root : most);
}

/* x to numbers on a grid of `level` steps each way. All operations round to f32 as attention/quantise.h says, or, of `few`
 * queries, attention/decode_i8.h: what is all but half a step goes up in one and down in the other. */
static void to_grid(float *x, int64_t count, float level, int few) {
    float size = 0, poison = 0;
    for (int64_t i = 0; i < count; i++) {
        size = fmaxf(size, fabsf(x[i]));
        poison += 0.0f * x[i];
    }
    const float step = size / level + poison, inverse = level / size;
    for (int64_t i = 0; i < count; i++) {
        const float steps = few ? x[i] * inverse : x[i] / size * level;
        x[i] = step * (size > 0 ? rintf(steps) : 0.0f);
    }
}

static float element(const attn_tensor_t *tensor, const attn_tensor_t *scales, int64_t b, int64_t h,
                     int64_t row, int64_t c) {
    const float scale = scales->data ? (float)typed_get(scales, b, h, row, 0) : 1.0f;
    return scale * (float)typed_get(tensor, b, h, row, c);
}

static int is_finite(const float *row, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(row[i])) return 0;
    return 1;
}

/* Queries as logits of base 4 have them, on the grid and as they are; both are told in base e, and twice as
 * large, as keys are halves. */
static void make_queries(quantised_t *q, const trial_t *trial, float level) {
    const attn_problem_t *p = &trial->problem;
    const attn_tensor_t none = {.data = NULL};
    const float scale = isnan(p->scale) ? (float)(1.0 / sqrt((double)p->dim)) : p->scale;
    float *row = q->query;
    FOR_EACH_ROW(p, at) {
        for (int64_t c = 0; c < p->dim; c++)
            row[c] = row[p->dim + c] =
                scale * LOG4_E * element(&trial->io.query, &none, at[0], at[1], at[2], c);
        to_grid(row, p->dim, level, q->few);
        for (int64_t c = 0; c < 2 * p->dim; c++) row[c] = (float)(2 * LN_4 * (double)row[c]);
        row += 2 * p->dim;
    }
}

/* Whether a query of the heads that share a key sees it. */
static int is_seen(const trial_t *trial, int64_t b, int64_t kv_head, int64_t key) {
    const attn_problem_t *p = &trial->problem;
    const int64_t group = p->heads / p->kv_heads;
    for (int64_t h = kv_head * group; h < (kv_head + 1) * group; h++)
        for (int64_t i = 0; i < p->queries; i++)
            if (exact_sees(p, &trial->io, b, h, i, key)) return 1;
    return 0;
}

/* Half of a block's keys, of which those that are `seen` count, less their mean on the grid, and of the mean: the
 * differences of whole ones could overflow. */
static void make_keys(float *rows, int64_t count, const int *seen, int64_t dim, float level) {
    int64_t finite = 0;
    for (int64_t j = 0; j < count; j++) finite += seen[j] && is_finite(rows + j * 2 * dim, dim);
    const float share = 0.5f / (float)(finite ? finite : 1);
    for (int64_t c = 0; c < dim; c++) {
        float half = 0;
        for (int64_t j = 0; j < count; j++)
            if (seen[j] && is_finite(rows + j * 2 * dim, dim))
                half += rows[j * 2 * dim + c] * share;
        for (int64_t j = 0; j < count; j++) rows[j * 2 * dim + dim + c] = half;
    }
    for (int64_t j = 0; j < count; j++) {
        float *row = rows + j * 2 * dim;
        for (int64_t c = 0; c < dim; c++) row[c] = 0.5f * row[c] - row[dim + c];
        to_grid(row, dim, level, 0);
    }
}

/* A block's values on the grid, column by column; what is not finite stays. */
static void make_values(float *rows, int64_t count, const int *seen, int64_t columns, float level) {
    float column[BLOCK];
    for (int64_t c = 0; c < columns; c++) {
        for (int64_t j = 0; j < count; j++)
            column[j] = seen[j] && isfinite(rows[j * columns + c]) ? rows[j * columns + c] : 0.0f;
        to_grid(column, count, level, 0);
        for (int64_t j = 0; j < count; j++)
            if (isfinite(rows[j * columns + c])) rows[j * columns + c] = column[j];
    }
}

static void make_head(quantised_t *q, const trial_t *trial, int64_t b, int64_t h, float key_level,
                      float value_level) {
    const attn_problem_t *p = &trial->problem;
    const int64_t head = b * p->kv_heads + h, dim = p->dim, columns = p->value_dim;
    float *keys = q->key + head * p->keys * 2 * dim, *values = q->value + head * p->keys * columns;
    for (int64_t j = 0; j < p->keys; j++) {
        for (int64_t c = 0; c < dim; c++)
            keys[j * 2 * dim + c] = element(&trial->io.key, &trial->io.key_scales, b, h, j, c);
        for (int64_t c = 0; c < columns; c++)
            values[j * columns + c] =
                element(&trial->io.value, &trial->io.value_scales, b, h, j, c);
    }
    for (int64_t i = 0; q->few && i < p->keys * 2 * dim; i++) keys[i] *= 0.5f;
    for (int64_t j = 0; !q->few && j < p->keys; j += BLOCK) {
        const int64_t count = p->keys - j < BLOCK ? p->keys - j : BLOCK;
        int seen[BLOCK];
        for (int64_t i = 0; i < count; i++) seen[i] = is_seen(trial, b, h, j + i);
        make_keys(keys + j * 2 * dim, count, seen, dim, key_level);
        make_values(values + j * columns, count, seen, columns, value_level);
    }
}

quantised_t quantised_create(const trial_t *trial, int bytes) {
    const attn_problem_t *p = &trial->problem;
    const int few = quantised_way(p) == WAY_BYTES;
    quantised_t q = {.problem = *p,
                     .io = trial->io,
                     .weight_level = few          ? 16383
                                     : bytes == 1 ? 255
                                                  : 4096,
                     .few = few};
    const int64_t most = 2147483647 / 128 / p->dim; /* whose products with bytes do so */
    const float key_level =
        few ? (float)(most < 32767 ? most : 32767) : level_of(bytes == 1 ? 127 : 32767, p->dim);
    q.query = floats(p->batch * p->heads * p->queries * 2 * p->dim);
    q.key = floats(p->batch * p->kv_heads * p->keys * 2 * p->dim);
    q.value = floats(p->batch * p->kv_heads * p->keys * p->value_dim);
    make_queries(&q, trial, key_level);
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->kv_heads; h++)
            make_head(&q, trial, b, h, key_level, bytes == 1 ? 127 : 2730);
    q.problem.dim = 2 * p->dim;
    q.problem.scale = 1.0f;
    q.problem.dtype = q.problem.kv_dtype = ATTN_F32;
    q.io.query = attn_tensor_bhnd(q.query, p->batch, p->heads, p->queries, 2 * p->dim);
    q.io.key = attn_tensor_bhnd(q.key, p->batch, p->kv_heads, p->keys, 2 * p->dim);
    q.io.value = attn_tensor_bhnd(q.value, p->batch, p->kv_heads, p->keys, p->value_dim);
    q.io.key_scales.data = q.io.value_scales.data = NULL;
    return q;
}

void quantised_destroy(quantised_t *q) {
    free(q->query);
    free(q->key);
    free(q->value);
}

/* ---- rounded weights ------------------------------------------------------------------------------ */

/* Keys whose weights share a scale. */
typedef struct share {
    int64_t first, last;
} share_t;

/* Of a few queries as core/attention/decode_scratch.h has it: one row takes a split at a time, where keys and values are
 * read in place; several rows take 32 kB of keys. */
static int64_t few_keys(const trial_t *trial) {
    const attn_problem_t *p = &trial->problem;
    const int in_place = trial->io.key.stride[3] == 1 && trial->io.value.stride[3] == 1;
    if (p->heads / p->kv_heads * p->queries == 1 && in_place) return SPLIT;
    const int64_t keys = 32768 / p->dim / 32 * 32;
    return keys < 32 ? 32 : keys > 128 ? 128 : keys;
}

/* What some query of the heads that share keys may see of from <= j < to, by ranges alone: blocks of a few queries
 * begin where that does. */
static share_t span_of(const trial_t *trial, int64_t batch, int64_t from, int64_t to) {
    const attn_problem_t *p = &trial->problem;
    share_t span = {to, from};
    attn_problem_t ranges = *p;
    ranges.inputs &= ATTN_INPUT_KV_LENGTHS;
    for (int64_t i = 0; i < p->queries; i++)
        for (int64_t j = from; j < to; j++) {
            if (!exact_sees(&ranges, &trial->io, batch, 0, i, j)) continue;
            if (j < span.first) span.first = j;
            if (j >= span.last) span.last = j + 1;
        }
    return span;
}

/* The share that begins at `first`, or at the first key behind it that is in any. */
static share_t share_at(const quantised_t *q, const trial_t *trial, int64_t batch, int64_t first) {
    const int64_t keys = q->problem.keys, whole = q->few ? SPLIT : BLOCK;
    const int64_t end = first - first % whole + whole;
    share_t share = {first, end < keys ? end : keys};
    if (!q->few) return share;
    share = span_of(trial, batch, share.first, share.last);
    if (share.last - share.first > few_keys(trial)) share.last = share.first + few_keys(trial);
    return share;
}

/* A weight before it is divided, in logarithms, and what it may be off by. */
typedef struct weight {
    double log, off, sign;
} weight_t;

/* Weights of a few queries have the scales of values in them. */
static weight_t weight_of(const quantised_t *q, const trial_t *trial, const exact_t *exact,
                          const int64_t at[4], int64_t key) {
    const attn_problem_t *p = &q->problem;
    const double score = exact->score[ATTN_SCORES_MASKED][key];
    const double below = exact->lse - score; /* at least as far as below the largest */
    weight_t weight = {score, exact->score_bound[ATTN_SCORES_MASKED][key] + 6 * U, 1};
    weight.off += EXACT_F32.exponent * U * fabs(below);
    if (!q->few || score == (double)-INFINITY) return weight;
    const int64_t kv_head = at[1] / (p->heads / p->kv_heads);
    const double scale = typed_get(&trial->value_scales.tensor, at[0], kv_head, key, 0);
    weight.log += log(fabs(scale));
    weight.sign = scale < 0 ? -1 : 1;
    return weight;
}

/* The largest of a share, and what it may be off by. */
static weight_t largest_of(const quantised_t *q, const trial_t *trial, const exact_t *exact,
                           const int64_t at[4], share_t share) {
    double low = (double)-INFINITY, high = low;
    weight_t largest = {low, 0, 1};
    for (int64_t j = share.first; j < share.last; j++) {
        const weight_t weight = weight_of(q, trial, exact, at, j);
        largest.log = fmax(largest.log, weight.log);
        low = fmax(low, weight.log - weight.off);
        high = fmax(high, weight.log + weight.off);
    }
    largest.off = fmax(high - largest.log, largest.log - low);
    return largest;
}

/* How many roundings the sum over all shares takes: a conversion, two products and an addition each, and the
 * exponential of what has become of the largest. */
static double roundings(const quantised_t *q) {
    return 24 + 8 * ceil((double)q->problem.keys / (q->few ? 32 : BLOCK));
}

/*
 * A share's weights are whole numbers, of which the largest is the level: what the double is nearest to, or, where it
 * stands as near to the middle between two as f32 may be wrong, either. Their sums with values are exact; what they are
 * worth is wrong as the largest weight and the row's sum are.
 */
static void add_share(const quantised_t *q, const trial_t *trial, exact_t *exact,
                      const int64_t at[4], share_t share) {
    const attn_problem_t *p = &q->problem;
    const int64_t kv_head = at[1] / (p->heads / p->kv_heads);
    const attn_tensor_t *values = q->few ? &trial->value.tensor : &q->io.value;
    const weight_t largest = largest_of(q, trial, exact, at, share);
    if (largest.log == (double)-INFINITY) return;
    const double worth = exp(largest.log - exact->lse) / q->weight_level;
    const double off =
        expm1(largest.off + exact->lse_bound + roundings(q) * U +
              (EXACT_F32.exponent + EXACT_F32.rescale) * U * (fabs(largest.log - exact->lse) + 12));
    for (int64_t j = share.first; j < share.last; j++) {
        const weight_t weight = weight_of(q, trial, exact, at, j);
        if (weight.log == (double)-INFINITY) continue;
        const double exactly = q->weight_level * exp(weight.log - largest.log);
        const double error = expm1(weight.off + largest.off);
        const double steps = rint(exactly), high = floor(exactly * (1 + error) + 0.5);
        const double low = ceil(exactly * (1 - error) - 0.5);
        const double step = fmax(fmin(high, q->weight_level) - steps, steps - fmax(low, 0));
        for (int64_t c = 0; c < p->value_dim; c++) {
            const double value = typed_get(values, at[0], kv_head, j, c);
            if (!isfinite(value)) {
                exact->out[c] += value;
                continue;
            }
            exact->out[c] += weight.sign * worth * steps * value;
            exact->out_bound[c] +=
                (worth * (step * (1 + off) + steps * off) + EXACT_F32.tiny) * fabs(value) +
                0x1p-148;
        }
    }
}

/* A row's output by weights that are rounded. */
static void mix_rounded(const quantised_t *q, const trial_t *trial, exact_t *exact,
                        const int64_t at[4]) {
    const attn_problem_t *p = &q->problem;
    if (!isfinite(exact->lse)) return;
    for (int64_t c = 0; c < p->value_dim; c++) exact->out[c] = exact->out_bound[c] = 0;
    for (int64_t first = 0; first < p->keys;) {
        const share_t share = share_at(q, trial, at[0], first);
        add_share(q, trial, exact, at, share);
        first = share.last > first ? share.last : first - first % SPLIT + SPLIT;
    }
}

static void compare_scores(const exact_t *exact, const trial_t *trial, const int64_t at[4]) {
    const int32_t stage = trial->problem.scores;
    for (int64_t j = 0; j < trial->problem.keys; j++)
        compare_number(typed_get(&trial->scores.tensor, at[0], at[1], at[2], j),
                       exact_score(exact, stage, j), exact_score_bound(exact, stage, j), "scores",
                       (int64_t[]){at[0], at[1], at[2], j});
}

void quantised_compare(const quantised_t *q, const trial_t *trial) {
    enum { MOST = 1 << 18 }; /* numbers that rows are computed of, however many there are */
    const attn_problem_t *p = &trial->problem;
    const int64_t rows = p->batch * p->heads * p->queries;
    const int64_t step = rows * p->keys * (p->dim + p->value_dim) / MOST + 1;
    int64_t number = p->keys; /* from where on decides which rows are compared */
    exact_t exact = exact_create(&q->problem);
    FOR_EACH_ROW(p, at) {
        if (number++ % step) continue;
        exact_row(&exact, &q->problem, &q->io, &EXACT_F32, at[0], at[1], at[2]);
        mix_rounded(q, trial, &exact, at);
        compare_exact_row(&exact, p, &trial->io, at);
        if (trial->scores.block) compare_scores(&exact, trial, at);
    }
    exact_destroy(&exact);
}

void quantised_check_weights(const quantised_t *q, const attn_plan_t *plan, trial_t *trial) {
    exact_t exact = exact_create(&q->problem);
    trial_compare_weights(plan, trial, &exact, &q->problem, &q->io);
    exact_destroy(&exact);
}
