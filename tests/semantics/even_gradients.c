/*
 * Gradients of rows whose logits are all the same large number: their weights are 1 / count whatever it is, and the
 * gradients those of the same row with logits of 0. That is the mask of -1e9 before a sequence that is padded on the
 * left, and whatever else lifts or lowers a whole row: its query, its sink.
 *
 * Logits are the same to the bit, so that no bound has their size in it. u is the unit roundoff of f32. A weight is off
 * by (count + 16) u of itself (a sum of that many terms, exp, a division), dP and D are sums of dv products of numbers
 * whose sizes come to A = max_j sum_c |dO_c v_jc|, D of an O that is off by as much as its weights; so that dS, P times
 * at most 2 A, is off by P A (4 count + 4 dv + 64) u. Sums over keys and over rows round once a term.
 *
 * Where products are of bf16 numbers, each is off by b of itself: dP by b A, D by b A for the values in O, dS by 2 b A
 * P, and the products of that, at most 2 A P (1 + b), by b once more. dV is off by b of each term.
 */
#include "trial.h"

#include "attn/attn.h"
#include "attn/oracle.h"
#include "support/compare.h"
#include "support/fixture.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = 2, QUERIES = 30, KEYS = 70, DIM = 5, VALUE_DIM = 6 };
enum { QUERY, KEY, VALUE, BIAS, SINKS, GRADIENTS };
enum { WAY_BIAS, WAY_QUERY, WAY_SINK, WAYS };

static const char *const NAMES[] = {"dQ", "dK", "dV", "dbias", "dsinks"};
static const char *const WAY_NAMES[] = {"by bias", "by queries", "by bias and sinks"};

typedef struct even {
    trial_t trial;
    typed_t out_gradient, gradients[GRADIENTS];
    double *sums[GRADIENTS],
        *sizes[GRADIENTS]; /* exact, and their terms without signs, with what dS is off by */
} even_t;

static double *doubles(const typed_t *array) {
    double *numbers = calloc(array->size + 1, sizeof *numbers);
    if (!numbers) test_fail("the test itself has no memory");
    return numbers;
}

/* Rows 2, 5, 8, ... have logits of 0, and key 3 is hidden from all. */
static double logit_of(int64_t i, double size) { return i % 3 == 2 ? 0 : size; }

static even_t even_create(int way, double size) {
    attn_problem_t problem = fixture_problem(1, HEADS, QUERIES, KEYS, DIM, VALUE_DIM);
    problem.kv_heads = 1;
    problem.backward = 1;
    problem.scale = 1.0f;
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    problem.inputs = ATTN_INPUT_BIAS | (way == WAY_SINK ? ATTN_INPUT_SINKS : 0);
    const look_t look = {.lse = 1};
    even_t even = {.trial = trial_create(&problem, &look)};
    trial_t *trial = &even.trial;
    for (int64_t h = 0; h < HEADS; h++)
        for (int64_t i = 0; i < QUERIES; i++) {
            for (int64_t k = 0; k < DIM; k++)
                typed_set(&trial->query, 0, h, i, k,
                          k == 0 && way == WAY_QUERY ? logit_of(i, size) : 0);
            for (int64_t j = 0; j < KEYS; j++)
                typed_set(&trial->bias, 0, h, i, j,
                          j == 3             ? (double)-INFINITY
                          : way == WAY_QUERY ? 0
                                             : logit_of(i, size));
        }
    for (int64_t j = 0; j < KEYS; j++) typed_set(&trial->key, 0, 0, j, 0, 1);
    for (int64_t h = 0; way == WAY_SINK && h < HEADS; h++)
        typed_set(&trial->sinks, 0, h, 0, 0, size);
    even.out_gradient = typed_create(ATTN_F32, LAYOUT_BHND, trial->out.tensor.shape);
    typed_fill(&even.out_gradient, 31, 1);
    const typed_t *const of[GRADIENTS] = {&trial->query, &trial->key, &trial->value, &trial->bias,
                                          &trial->sinks};
    for (int g = 0; g < GRADIENTS; g++) {
        if (!of[g]->block) continue;
        even.gradients[g] = typed_create(ATTN_F32, LAYOUT_BHND, of[g]->tensor.shape);
        even.sums[g] = doubles(&even.gradients[g]);
        even.sizes[g] = doubles(&even.gradients[g]);
    }
    return even;
}

static void even_destroy(even_t *even) {
    trial_destroy(&even->trial);
    typed_destroy(&even->out_gradient);
    for (int g = 0; g < GRADIENTS; g++) {
        typed_destroy(&even->gradients[g]);
        free(even->sums[g]);
        free(even->sizes[g]);
    }
}

/* ---- what they should be --------------------------------------------------------------------------- */

static void add(even_t *even, int g, int64_t head, int64_t row, int64_t column, double term,
                double size) {
    const int64_t *shape = even->gradients[g].tensor.shape;
    const int64_t at = (head * shape[2] + row) * shape[3] + column;
    if (!even->sums[g]) return;
    even->sums[g][at] += term;
    even->sizes[g][at] += size;
}

static const double FLOATS = (4.0 * (KEYS + HEADS * QUERIES) + 4 * VALUE_DIM + 64) * 0x1p-24;

/* The oracle's derivative by the sink, in double. */
static void check_oracle(const even_t *even, int64_t h, int64_t i, double by_sink, double size) {
    const trial_t *trial = &even->trial;
    double weights[KEYS], logits[KEYS], products[KEYS], scratch[KEYS + VALUE_DIM];
    if (!trial_is_dense()) return;
    const double found =
        attn_oracle_row_backward(&trial->problem, &trial->io, &even->out_gradient.tensor, 0, h, i,
                                 weights, logits, products, scratch);
    compare_number(found, by_sink, FLOATS * size * 0x1p-20, "oracle's dsink",
                   (int64_t[]){0, h, i, 0});
}

static void add_row(even_t *even, int64_t h, int64_t i, double size) {
    const double row = logit_of(i, size), sink = even->trial.sinks.block ? size : (double)-INFINITY;
    const double unit = exp(row - fmax(row, sink)), sink_unit = exp(sink - fmax(row, sink));
    double products[KEYS] = {0}, most = 0, mean = 0, sum = sink_unit;
    for (int64_t j = 0; j < KEYS; j++) {
        double absolute = 0;
        if (!trial_sees(&even->trial, 0, h, i, j)) continue;
        for (int64_t c = 0; c < VALUE_DIM; c++) {
            const double term = typed_get(&even->out_gradient.tensor, 0, h, i, c) *
                                typed_get(&even->trial.value.tensor, 0, 0, j, c);
            products[j] += term;
            absolute += fabs(term);
        }
        most = fmax(most, absolute);
        sum += unit;
        mean += unit * products[j];
    }
    if (sum == 0) return;
    mean /= sum;
    const double weight = unit / sum;
    for (int64_t j = 0; j < KEYS; j++) {
        const double logit = weight * (products[j] - mean), logit_size = weight * 2 * most;
        if (!trial_sees(&even->trial, 0, h, i, j)) continue;
        add(even, BIAS, h, i, j, logit, logit_size);
        for (int64_t k = 0; k < DIM; k++) {
            const double q = typed_get(&even->trial.query.tensor, 0, h, i, k);
            const double key = typed_get(&even->trial.key.tensor, 0, 0, j, k);
            add(even, QUERY, h, i, k, logit * key, logit_size * fabs(key));
            add(even, KEY, 0, j, k, logit * q, logit_size * fabs(q));
        }
        for (int64_t c = 0; c < VALUE_DIM; c++) {
            const double gradient = typed_get(&even->out_gradient.tensor, 0, h, i, c);
            add(even, VALUE, 0, j, c, weight * gradient, weight * fabs(gradient));
        }
    }
    check_oracle(even, h, i, -sink_unit / sum * mean, most);
    add(even, SINKS, h, 0, 0, -sink_unit / sum * mean, most);
}

/* Weights that no normal float holds may be 0. */
static const double TINY = HEADS * QUERIES * KEYS * 0x1p-120;

static void compare(const even_t *even) {
    const int parts = even->trial.bf16_parts;
    const double w = parts == 1 ? 0x1p-8 : parts == 2 ? 0x1p-16 : 0;
    const double off = 2 * w + w * w + (parts == 2 ? w : 0), share = FLOATS + off * (2 + off);
    for (int g = 0; g < GRADIENTS; g++) {
        if (!even->sums[g]) continue;
        const int64_t *shape = even->gradients[g].tensor.shape;
        for (int64_t h = 0, at = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t c = 0; c < shape[3]; c++, at++)
                    compare_number(typed_get(&even->gradients[g].tensor, 0, h, i, c),
                                   even->sums[g][at], share * even->sizes[g][at] + TINY, NAMES[g],
                                   (int64_t[]){0, h, i, c});
    }
}

/* ---- cases ------------------------------------------------------------------------------------------ */

static void run_back(const attn_context_t *context, even_t *even) {
    attn_plan_t *plan = trial_plan(context, &even->trial.problem);
    attn_error_t error = {0};
    trial_run(plan, &even->trial);
    const attn_io_t io = {.struct_size = sizeof io,
                          .out = even->out_gradient.tensor,
                          .query = even->gradients[QUERY].tensor,
                          .key = even->gradients[KEY].tensor,
                          .value = even->gradients[VALUE].tensor,
                          .bias = even->gradients[BIAS].tensor,
                          .sinks = even->gradients[SINKS].tensor};
    if (attn_backward(plan, &even->trial.io, &io, &error)) test_fail("%s", error.message);
    attn_plan_destroy(plan);
}

static void check(int threads, int way, double size) {
    test_label("%s, logits of %g, %d threads", WAY_NAMES[way], size, threads);
    attn_context_t *context = fixture_context(threads);
    even_t even = even_create(way, size);
    const int has_gradients = trial_has_gradients(context, &even.trial.problem);
    if (has_gradients) run_back(context, &even);
    for (int64_t h = 0; has_gradients && h < HEADS; h++)
        for (int64_t i = 0; i < QUERIES; i++) add_row(&even, h, i, size);
    if (has_gradients) compare(&even);
    even_destroy(&even);
    attn_context_destroy(context);
}

/* Products of an infinite size have no gradient to compare: |q| stays below what dK can hold. */
static void weights_are_shares_whatever_the_logits(void **state) {
    (void)state;
    static const double sizes[] = {-FLT_MAX, -1e30, -1e9, -1e6,   -1e4,   -300, -23,
                                   0,        23,    300,  0x1p20, 0x1p30, 1e30};
    for (int way = 0; way < WAYS; way++)
        for (size_t s = 0; s < TEST_COUNT(sizes); s++)
            if (fabs(sizes[s]) < 1e31 || way != WAY_QUERY) check(s % 2 ? 1 : 3, way, sizes[s]);
}

SEMANTICS_MAIN(cmocka_unit_test(weights_are_shares_whatever_the_logits))
