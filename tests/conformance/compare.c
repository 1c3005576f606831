/*
 * The library's numbers must be within its own error bound of exact attention, and within that plus
 * the expectation's of what is expected. The expectation was computed in the arrays' own type
 * (NumPy): every operation rounds to it, but sums of f16 and bf16 run in f32. Bounds: exact.c.
 */
#include "attention.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ONNX's numbers of element types. */
enum { ONNX_FLOAT16 = 10, ONNX_BFLOAT16 = 16 };

static double roundoff(attn_dtype_t dtype) {
    return dtype == ATTN_F16 ? 0x1p-11 : dtype == ATTN_BF16 ? 0x1p-8 : 0x1p-24;
}

static arithmetic_t expected_arithmetic(const attention_case_t *c) {
    const double precision = c->attributes[SOFTMAX_PRECISION];
    double u = roundoff(c->problem.dtype);
    if (precision == ONNX_FLOAT16) u = fmax(u, roundoff(ATTN_F16));
    if (precision == ONNX_BFLOAT16) u = fmax(u, roundoff(ATTN_BF16));
    return (arithmetic_t){.u = u,
                          .sum_u = roundoff(ATTN_F32),
                          .exponent = 1,
                          .steps = 8, /* exp 5 (2.5 ulp in f32), sum, quotient, product */
                          .tiny = u == roundoff(ATTN_F16) ? 0x1p-25 : 0x1p-126};
}

/* Counts what is compared and keeps the worst. */
typedef struct tally {
    int64_t numbers, wrong;
    double worst, nearest; /* largest difference, largest share of the allowed one */
} tally_t;

static void compare(tally_t *tally, double actual, double wanted, double bound, const char *name,
                    const int64_t at[4]) {
    const double off = fabs(actual - wanted);
    tally->numbers++;
    if (actual == wanted || (isnan(actual) && isnan(wanted))) return;
    if (off <= bound) {
        tally->worst = fmax(tally->worst, off);
        tally->nearest = fmax(tally->nearest, off / bound);
        return;
    }
    if (tally->wrong++ < 5)
        fprintf(stderr,
                "%s(%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                ") is %.9g, %.9g is wanted, allowed error %.3g\n",
                name, at[0], at[1], at[2], at[3], actual, wanted, bound);
}

/* Each number with what its type's rounding adds. */
static void compare_both(tally_t *tally, const attention_case_t *c, double actual, double exact,
                         double wanted, double own, double theirs, const char *name,
                         const int64_t at[4]) {
    const attn_dtype_t dtype = c->problem.dtype;
    if (isfinite(exact)) theirs += typed_rounding(dtype, fabs(exact) + theirs);
    compare(tally, actual, exact, own, name, at);
    compare(tally, actual, wanted, own + theirs, name, at);
}

static int64_t expected_index(const array_file_t *array, const attn_problem_t *p,
                              const int64_t at[4]) {
    const int64_t width = array->shape[array->rank - 1];
    if (array->rank == 4) return ((at[0] * p->heads + at[1]) * p->queries + at[2]) * width + at[3];
    return (at[0] * p->queries + at[2]) * width + at[1] * (width / p->heads) + at[3];
}

static void compare_row(tally_t *tally, const attention_case_t *c, const exact_t *own,
                        const exact_t *theirs, const int64_t row[3]) {
    const attn_problem_t *p = &c->problem;
    const array_file_t *y = &c->arrays[ARRAY_Y], *scores = &c->arrays[ARRAY_SCORES];
    for (int64_t k = 0; k < p->value_dim; k++) {
        const int64_t at[4] = {row[0], row[1], row[2], k};
        compare_both(tally, c, typed_get(&c->io.out, at[0], at[1], at[2], k), own->out[k],
                     array_number(y, expected_index(y, p, at)), exact_out_bound(own, p, k),
                     theirs->out_bound[k], "Y", at);
    }
    for (int64_t j = 0; scores->data && j < p->keys; j++) {
        const int64_t at[4] = {row[0], row[1], row[2], j};
        const int weights = p->scores == ATTN_SCORES_WEIGHTS;
        compare_both(tally, c, typed_get(&c->io.scores, at[0], at[1], at[2], j),
                     exact_score(own, p->scores, j),
                     array_number(scores, expected_index(scores, p, at)),
                     exact_score_bound(own, p->scores, j),
                     weights ? theirs->weight_bound[j] : theirs->score_bound[p->scores][j],
                     "qk_matmul_output", at);
    }
}

static int has_shape(const array_file_t *array, const int64_t *shape, int rank, const char *name) {
    int same = array->rank == rank;
    for (int k = 0; same && k < rank; k++) same = array->shape[k] == shape[k];
    if (!same) fprintf(stderr, "%s has another shape than is expected\n", name);
    return same;
}

/* Key or value with its past: copied, so equal. */
static void compare_present(tally_t *tally, const array_file_t *expected, const attn_tensor_t *t,
                            const char *name) {
    if (!expected->data) return;
    if (!has_shape(expected, t->shape, 4, name)) {
        tally->wrong++;
        return;
    }
    const int64_t *shape = t->shape;
    for (int64_t i = 0; i < expected->count; i++) {
        const int64_t at[4] = {i / shape[3] / shape[2] / shape[1],
                               i / shape[3] / shape[2] % shape[1], i / shape[3] % shape[2],
                               i % shape[3]};
        compare(tally, typed_get(t, at[0], at[1], at[2], at[3]), array_number(expected, i), 0, name,
                at);
    }
}

static int shapes_fit(const attention_case_t *c) {
    const attn_problem_t *p = &c->problem;
    const array_file_t *y = &c->arrays[ARRAY_Y], *scores = &c->arrays[ARRAY_SCORES];
    const int64_t four[4] = {p->batch, p->heads, p->queries, p->value_dim};
    const int64_t three[3] = {p->batch, p->queries, p->heads * p->value_dim};
    const int64_t matrix[4] = {p->batch, p->heads, p->queries, p->keys};
    const int rank = c->arrays[ARRAY_Q].rank;
    return has_shape(y, rank == 4 ? four : three, rank, "Y") &&
           (!scores->data || has_shape(scores, matrix, 4, "qk_matmul_output"));
}

int attention_compare(const attention_case_t *c) {
    const attn_problem_t *p = &c->problem;
    const arithmetic_t arithmetic = expected_arithmetic(c);
    tally_t tally = {0};
    if (!shapes_fit(c)) return 1;
    exact_t own = exact_create(p), theirs = exact_create(p);
    for (int64_t row[3] = {0}; row[0] < p->batch; row[0]++)
        for (row[1] = 0; row[1] < p->heads; row[1]++)
            for (row[2] = 0; row[2] < p->queries; row[2]++) {
                exact_row(&own, p, &c->io, &EXACT_F32, row[0], row[1], row[2]);
                exact_row(&theirs, p, &c->io, &arithmetic, row[0], row[1], row[2]);
                compare_row(&tally, c, &own, &theirs, row);
            }
    exact_destroy(&own);
    exact_destroy(&theirs);
    compare_present(&tally, &c->arrays[ARRAY_PRESENT_KEY], &c->io.key, "present_key");
    compare_present(&tally, &c->arrays[ARRAY_PRESENT_VALUE], &c->io.value, "present_value");
    printf("%" PRId64 " comparisons, %" PRId64
           " wrong; largest difference %.2g, %.0f%% of allowed\n",
           tally.numbers, tally.wrong, tally.worst, 100 * tally.nearest);
    return tally.wrong > 0;
}
