/*
 * Softmax regression (arXiv:2304.13276): the gradient against central differences, descent, and both
 * shifts against the bounds of Theorems 8.1 and 8.2.
 */
#include "algebra/algebra.h"
#include "attn/random.h"
#include "labs/softmax_regression/layer.h"
#include "labs/softmax_regression/lemmas.h"
#include "labs/softmax_regression/shifts.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

static regression_t problem(int64_t rows, int64_t dim, double radius, uint64_t trial) {
    regression_t regression;
    assert_true(regression_create(rows, dim, radius, 0.01, test_seed(), trial, &regression));
    return regression;
}

static double loss_at(regression_t *regression, const double *x) {
    regression_softmax(regression, regression->a, x, regression->trial);
    return regression_loss(regression, regression->trial);
}

/** A^T (f o c + f <f, c>), which Lemma 4.5 prints. */
static double printed_gradient(const regression_t *regression, int64_t k) {
    double mean = 0, sum = 0;
    for (int64_t i = 0; i < regression->rows; i++)
        mean += regression->f[i] * (regression->f[i] - regression->b[i]);
    for (int64_t i = 0; i < regression->rows; i++)
        sum += regression->a[i * regression->dim + k] * regression->f[i] *
               (regression->f[i] - regression->b[i] + mean);
    return sum;
}

/**
 * Along an axis the logits move at a rate of at most R, so that |f'|_1 <= 2R, |f''|_1 <= 2 (2R)^2 and
 * |f'''|_1 <= 6 (2R)^3, and |L'''| <= 3 |f'| |f''| + |c| |f'''| <= 144 R^3. The differences deviate by
 * h^2/6 of that, and by the rounding of two losses.
 */
static void gradient_is_that_of_central_differences(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{2, 1}, {16, 3}, {64, 8}, {33, 17}};
    static const double h = 0x1p-20, radius = 4;
    int misprint_seen = 0;
    for (size_t s = 0; s < TEST_COUNT(sizes); s++) {
        regression_t regression = problem(sizes[s][0], sizes[s][1], radius, s);
        regression_gradient(&regression);
        const double rounding =
            (double)(sizes[s][0] + 16) * 0x1p-52 * (1 + loss_at(&regression, regression.x)) / h;
        const double bound = 24 * h * h * radius * radius * radius + rounding;
        for (int64_t k = 0; k < regression.dim; k++) {
            const double at = regression.x[k];
            regression.x[k] = at + h;
            const double above = loss_at(&regression, regression.x);
            regression.x[k] = at - h;
            const double below = loss_at(&regression, regression.x);
            regression.x[k] = at;
            const double difference = (above - below) / (2 * h);
            if (!(fabs(regression.gradient[k] - difference) <= bound))
                test_fail("%d x %d, axis %d: %.12g, by differences %.12g", (int)regression.rows,
                          (int)regression.dim, (int)k, regression.gradient[k], difference);
            misprint_seen |= fabs(printed_gradient(&regression, k) - difference) > 100 * bound;
        }
        regression_destroy(&regression);
    }
    assert_true(misprint_seen); // the differences tell the sign
}

/** Every step lowers the loss; in the end it is a small part of what it was. */
static void descent_descends(void **state) {
    (void)state;
    for (uint64_t trial = 0; trial < 4; trial++) {
        regression_t regression = problem(64, 8, 4, trial);
        regression_gradient(&regression);
        const double start = regression_loss(&regression, regression.f);
        double last = start;
        for (int t = 0; t < 3000 && regression_step(&regression); t++) {
            regression_advance(&regression);
            regression_gradient(&regression);
            const double loss = regression_loss(&regression, regression.f);
            if (!(loss < last)) test_fail("step %d: loss %g after %g", t, loss, last);
            last = loss;
        }
        if (!(last < start / 100)) test_fail("loss %g became %g", start, last);
        regression_destroy(&regression);
    }
}

/** Shifts of one step under the bounds, as the theorems have them and sharply. */
static void check_shifts(const regression_t *regression, const shifts_t *shifts) {
    const double rounding = 16 * 0x1p-24, radius = regression->radius;
    const double bound = regression_log_bound(regression->rows, radius);
    const double tight = regression_log_tight_bound(regression->rows, radius);
    assert_true(tight < bound);
    if (!(shifts->deviation <= rounding))
        test_fail("the plugin's f is off by %g", shifts->deviation);
    if (!shifts_premises(regression, shifts)) test_fail("the premises do not hold");
    if (!(log10(shifts->weight / shifts->weight_step) <= tight)) test_fail("weight shift");
    /* The Jacobian diag(f) - f f^T is at most 1/2 long, and |A| <= R: this one can fail. */
    if (!(shifts->weight <= radius / 2 * shifts->weight_step + rounding))
        test_fail("weight shift %g of a step of %g", shifts->weight, shifts->weight_step);
    const shifts_update_t *const updates[] = {&shifts->gradient, &shifts->layer};
    for (int u = 0; u < 2; u++) {
        const double step = updates[u]->step, shift = updates[u]->shift;
        if (!(log10(shift / step) <= tight)) test_fail("update %d: shift", u);
        if (!(shift <= shifts->length / 2 * step + rounding))
            test_fail("update %d: shift %g of a step of %g", u, shift, step);
    }
}

/** One layer of self-attention, token by token: Q = K = V = A, scale 1/sqrt(d). */
static void exact_layer(const regression_t *regression, double *out) {
    const int64_t n = regression->rows, d = regression->dim;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0, largest = -INFINITY;
        const double *query = regression->a + i * d;
        for (int64_t j = 0; j < n; j++)
            largest = fmax(largest, algebra_dot(query, regression->a + j * d, d));
        for (int64_t k = 0; k < d; k++) out[i * d + k] = 0;
        for (int64_t j = 0; j < n; j++) {
            const double *key = regression->a + j * d;
            const double weight = exp((algebra_dot(query, key, d) - largest) / sqrt((double)d));
            sum += weight;
            for (int64_t k = 0; k < d; k++) out[i * d + k] += weight * key[k];
        }
        for (int64_t k = 0; k < d; k++) out[i * d + k] /= sum;
    }
}

/** The cosine of the weight step's shift and an update's in double precision. */
static double exact_cosine(const regression_t *regression, int layer) {
    const int64_t n = regression->rows;
    double *updated = calloc((size_t)(n * regression->dim + 3 * n), sizeof *updated);
    assert_non_null(updated);
    double *before = updated + n * regression->dim, *after = before + n, *turned = after + n;
    if (layer) exact_layer(regression, updated);
    assert_true(layer ? regression_update(regression, updated)
                      : regression_data_update(regression, updated));
    regression_softmax(regression, regression->a, regression->x, before);
    regression_softmax(regression, regression->a, regression->next, after);
    regression_softmax(regression, updated, regression->x, turned);
    for (int64_t i = 0; i < n; i++) {
        after[i] -= before[i];
        turned[i] -= before[i];
    }
    const double cosine = algebra_cosine(after, turned, n);
    free(updated);
    return cosine;
}

static void shifts_stay_below_the_bounds(void **state) {
    (void)state;
    static const double radii[] = {4, 6, 12};
    attn_context_t *context = fixture_context(1);
    int angles = 0;
    for (size_t r = 0; r < TEST_COUNT(radii); r++) {
        test_label("R = %g", radii[r]);
        regression_t regression = problem(48, 6, radii[r], r);
        shifts_probe_t probe;
        assert_int_equal(shifts_create(context, 48, 6, &probe, NULL), ATTN_OK);
        for (int t = 0; t < 100; t++) {
            shifts_t shifts;
            regression_gradient(&regression);
            if (!regression_step(&regression)) break;
            assert_int_equal(shifts_measure(&probe, &regression, &shifts, NULL), ATTN_OK);
            check_shifts(&regression, &shifts);
            /* Shifts of 100 times their rounding: an angle of at most 2 hundredths off. */
            if (shifts.told) {
                assert_true(fabs(shifts.gradient.cosine - exact_cosine(&regression, 0)) <= 0.02);
                assert_true(fabs(shifts.layer.cosine - exact_cosine(&regression, 1)) <= 0.02);
                angles++;
            }
            regression_advance(&regression);
        }
        shifts_destroy(&probe);
        regression_destroy(&regression);
    }
    assert_true(angles > 50);
    attn_context_destroy(context);
}

/** M as a double where it is one; finite where it is not. */
static void bounds_are_logarithms(void **state) {
    (void)state;
    const double expected = pow(64, 1.5) * exp(10 * 16.0);
    assert_true(fabs(regression_log_bound(64, 4) - log10(expected)) < 1e-9);
    const double tight = 4 * exp(2 * 16.0) * pow(64, 1.5) * 4 * exp(2 * 16.0);
    assert_true(fabs(regression_log_tight_bound(64, 4) - log10(tight)) < 1e-9);
    assert_true(isinf(exp(10 * 81.0)));
    assert_true(regression_log_bound(64, 9) > 308 && isfinite(regression_log_bound(64, 9)));
}

/* The lemmas' two sides as they are printed, in exponentials; a step too short breaks those that have it. */
static void lemmas_by_their_formulas(void **state) {
    (void)state;
    enum { N = 12 };
    static const double radius = 4;
    for (uint64_t draw = 0; draw < 20; draw++) {
        double logits[N], moved[N], u[N], v[N], change[N], shift[N], work[2 * N];
        double parts[LEMMAS], broken[LEMMAS], alpha = 0, other = 0;
        for (uint64_t i = 0; i < N; i++) {
            logits[i] = 3 * attn_random_normal(test_seed(), 40 + draw, i) - 4 * (double)(draw % 2);
            moved[i] = 0.01 * attn_random_normal(test_seed(), 80 + draw, i);
            alpha += u[i] = exp(logits[i]);
            other += v[i] = exp(logits[i] + moved[i]);
        }
        for (int i = 0; i < N; i++) change[i] = v[i] - u[i], shift[i] = v[i] / other - u[i] / alpha;
        const double step = algebra_norm(moved, N) / radius; /* no shorter one moves them so far */
        const double beta = fmin(1, fmin(alpha, other)), grown = fabs(other - alpha);
        const double turned = fabs(1 / other - 1 / alpha), length = algebra_norm(change, N);
        const double slope = 2 * sqrt(N) * radius * exp(radius * radius) * step;
        const double square = pow(N, 1.5) * exp(2 * radius * radius) * step / (beta * beta);
        const double expected[LEMMAS] = {
            [LEMMA_EXP] = length / slope,
            [LEMMA_SUM] = grown / (sqrt(N) * length),
            [LEMMA_INVERSE] = turned / (grown / (beta * beta)),
            [LEMMA_FIRST] = turned * algebra_norm(v, N) / (2 * square),
            [LEMMA_SECOND] = length / alpha / (slope / beta),
            [LEMMA_SHIFT] = algebra_norm(shift, N) / (4 * radius * square),
        };
        regression_lemmas(logits, moved, N, radius, step, work, parts);
        regression_lemmas(logits, moved, N, radius, step * 1e-30, work, broken);
        for (int l = 0; l < LEMMAS; l++) {
            test_label("draw %d, lemma %d", (int)draw, l);
            /* Differences of numbers that are 0.01 apart at least once lose about 2^-53 / 1e-5. */
            if (!(fabs(parts[l] - log10(expected[l])) <= 1e-9))
                test_fail("%.17g, expected %.17g", parts[l], log10(expected[l]));
            assert_true(parts[l] <= 0);
            const double more = l == LEMMA_SUM || l == LEMMA_INVERSE ? 0 : 30;
            assert_true(fabs(broken[l] - parts[l] - more) <= 1e-9);
        }
    }
}

/* exp(Ax) is e^900 times as large, which no double holds, and alpha with it. */
static void lemmas_of_large_logits(void **state) {
    (void)state;
    enum { N = 3 };
    static const double small[N] = {0.5, 1, 2}, large[N] = {900.5, 901, 902};
    static const double moved[N] = {0.01, -0.02, 0.005}, still[N] = {0, 0, 0};
    double work[2 * N], parts[LEMMAS], expected[LEMMAS], none[LEMMAS];
    regression_lemmas(small, moved, N, 4, 0.1, work, expected); /* alpha > 1: beta is 1 here, too */
    regression_lemmas(large, moved, N, 4, 0.1, work, parts);
    expected[LEMMA_EXP] += 900 / log(10);
    expected[LEMMA_INVERSE] -= 1800 / log(10);
    for (int l = 0; l < LEMMAS; l++)
        if (!(fabs(parts[l] - expected[l]) <= 1e-9))
            test_fail("lemma %d: %.17g, expected %.17g", l, parts[l], expected[l]);
    regression_lemmas(small, still, N, 4, 0.1, work, none);
    assert_true(none[LEMMA_INVERSE] == -(double)INFINITY && none[LEMMA_EXP] == -(double)INFINITY);
}

/**
 * What the layer adds to each logit, token by token: softmax attention of queries beta a_i, or with beta = 0 linear
 * attention, over values -u_j.
 */
static void exact_moves(const regression_t *regression, double beta, double *moves) {
    const int64_t n = regression->rows, d = regression->dim;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0, weights = 0;
        for (int64_t j = 0; j < n; j++) {
            const double score = algebra_dot(regression->a + i * d, regression->a + j * d, d);
            const double weight = beta > 0 ? exp(beta * score) : score;
            weights += weight;
            sum -= weight * regression->u[j];
        }
        moves[i] = regression->rate * (beta > 0 ? sum / weights * (double)n / beta : sum);
    }
}

/** f at logits A x + moves, by way of data of one column. */
static void exact_shift(const regression_t *regression, const double *moves, double *shift) {
    const int64_t n = regression->rows, d = regression->dim;
    static const double one[] = {1};
    regression_t column = {.rows = n, .dim = 1};
    double *logits = malloc((size_t)n * sizeof *logits);
    assert_non_null(logits);
    for (int64_t i = 0; i < n; i++)
        logits[i] = algebra_dot(regression->a + i * d, regression->x, d) + moves[i];
    regression_softmax(&column, logits, one, shift);
    for (int64_t i = 0; i < n; i++) shift[i] -= regression->f[i];
    free(logits);
}

/** The plugin's layer does what its formula says, and that is within the bound of the gradient step. */
static void a_layer_with_weights_is_a_gradient_step(void **state) {
    (void)state;
    enum { N = 48, D = 6 };
    static const double betas[] = {0, 0.001, 0.01, 0.1, 1, 10}, radii[] = {4, 12};
    attn_context_t *context = fixture_context(1);
    double moves[N], step[N], shift[N];
    int told = 0;
    for (uint64_t r = 0; r < TEST_COUNT(radii); r++) {
        regression_t regression = problem(N, D, radii[r], r);
        assert_true(regression_descend(&regression, 5));
        for (int i = 0; i < N; i++)
            moves[i] = -regression.rate * algebra_dot(regression.a + i * D, regression.gradient, D);
        exact_shift(&regression, moves, step);
        const double length = algebra_norm(step, N);
        for (size_t b = 0; b < TEST_COUNT(betas); b++) {
            test_label("R = %g, beta = %g", radii[r], betas[b]);
            regression_alike_t alike;
            assert_int_equal(regression_layer(context, &regression, betas[b], &alike, NULL), 0);
            exact_moves(&regression, betas[b], moves);
            exact_shift(&regression, moves, shift);
            const double cosine = algebra_cosine(shift, step, N);
            /* An angle turns by as much as a vector's end moves, by its length. */
            const double turned = 2 * alike.rounding * length / algebra_norm(shift, N);
            for (int i = 0; i < N; i++) shift[i] -= step[i];
            const double error = algebra_norm(shift, N) / length;
            if (!(fabs(alike.error - error) <= alike.rounding))
                test_fail("error %g, by the formula %g", alike.error, error);
            if (!(fabs(alike.cosine - cosine) <= turned))
                test_fail("cosine %g, by the formula %g", alike.cosine, cosine);
            if (!(alike.error <= alike.bound))
                test_fail("error %g, %g allowed", alike.error, alike.bound);
            told += alike.bound < 1;
        }
        regression_destroy(&regression);
    }
    assert_true(told >= 4); /* bounds that no shift the other way would keep */
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(gradient_is_that_of_central_differences),
          cmocka_unit_test(descent_descends), cmocka_unit_test(shifts_stay_below_the_bounds),
          cmocka_unit_test(bounds_are_logarithms), cmocka_unit_test(lemmas_by_their_formulas),
          cmocka_unit_test(lemmas_of_large_logits),
          cmocka_unit_test(a_layer_with_weights_is_a_gradient_step))
