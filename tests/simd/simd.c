/* The vector vocabulary against plain C, lane by lane (core/simd/simd.h, math.h). */
#include "kernels.h"
#include "support/fixture.h"
#include "support/test.h"

#include "attn/random.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LANES = SIMD_MOST_LANES, ROUNDS = 200 };
static const float MARK = -777.25f; // outside of every vector

static const simd_kernels_t *kernels(void) {
    attn_context_t *context = fixture_context(0);
    const attn_tier_t tier = attn_context_tier(context);
    attn_context_destroy(context);
    return attn_test_simd(tier);
}

static int same_bits(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }

static void fill(float *v, uint64_t stream, int round) {
    for (int l = 0; l < LANES; l++)
        v[l] = (float)attn_random_normal(test_seed(), stream, (uint64_t)(round * LANES + l));
}

/** Some rounds have a special number in one lane. */
static void spoil(float *v, int round) {
    static const float specials[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, FLT_MIN / 4, FLT_MAX};
    if (round % 3 == 0) v[round % LANES] = specials[round / 3 % (int)TEST_COUNT(specials)];
}

static void check_lane(float actual, float expected, int lane, const char *name) {
    if (isnan(expected) && isnan(actual)) return;
    if (!same_bits(actual, expected))
        test_fail("%s: lane %d is %.9g, not %.9g", name, lane, (double)actual, (double)expected);
}

static float plain(int operation, float a, float b) {
    switch (operation) {
    case SIMD_ADD:
        return a + b;
    case SIMD_SUB:
        return a - b;
    case SIMD_MUL:
        return a * b;
    case SIMD_DIV:
        return a / b;
    case SIMD_MAX:
        return a > b ? a : b; // b where either is NaN
    default:
        return a < b ? a : b;
    }
}

static void lane_by_lane(void **state) {
    (void)state;
    static const char *const names[] = {"add", "sub", "mul", "div", "max", "min"};
    const simd_kernels_t *k = kernels();
    for (int operation = SIMD_ADD; operation <= SIMD_MIN; operation++)
        for (int round = 0; round < ROUNDS; round++) {
            float a[LANES], b[LANES], result[LANES + 1];
            fill(a, 1, round);
            fill(b, 2, round);
            spoil(round % 2 ? a : b, round);
            result[k->lanes] = MARK;
            k->binary(operation, a, b, result);
            for (int l = 0; l < k->lanes; l++) {
                // Of +0 and -0 either is the larger one.
                if (operation >= SIMD_MAX && a[l] == 0 && b[l] == 0) continue;
                check_lane(result[l], plain(operation, a[l], b[l]), l, names[operation]);
            }
            assert_true(result[k->lanes] == MARK);
        }
}

static void one_by_one(void **state) {
    (void)state;
    const simd_kernels_t *k = kernels();
    float a[LANES], result[LANES];
    fill(a, 1, 0);
    k->unary(SIMD_COPY, a, result);
    for (int l = 0; l < k->lanes; l++) check_lane(result[l], a[l], l, "copy");
    k->unary(SIMD_ZERO, a, result);
    for (int l = 0; l < k->lanes; l++) check_lane(result[l], 0, l, "zero");
    k->unary(SIMD_SET1, a, result);
    for (int l = 0; l < k->lanes; l++) check_lane(result[l], a[0], l, "set1");
    for (int l = 0; l < LANES; l++) a[l] *= a[l];
    k->unary(SIMD_SQRT, a, result);
    for (int l = 0; l < k->lanes; l++) check_lane(result[l], sqrtf(a[l]), l, "sqrt");
}

/** Fused or not: one of the two roundings, nothing else. */
static void multiply_and_add(void **state) {
    (void)state;
    const simd_kernels_t *k = kernels();
    for (int round = 0; round < ROUNDS; round++) {
        float a[LANES], b[LANES], c[LANES], result[LANES];
        fill(a, 1, round);
        fill(b, 2, round);
        fill(c, 3, round);
        if (round % 2)
            for (int l = 0; l < LANES; l++) c[l] = -a[l] * b[l]; // leaves the product's rounding
        spoil(c, round);
        k->mul_add(a, b, c, result);
        for (int l = 0; l < k->lanes; l++) {
            const float fused = (float)((double)a[l] * (double)b[l] + (double)c[l]);
            const float product = a[l] * b[l], twice = product + c[l];
            if (isnan(fused) && isnan(result[l])) continue;
            // The double sum rounds once more than a fused one: a last bit of it may differ.
            const float slack = (fused == twice) ? 0.0f : fabsf(fused) * 0x1p-23f;
            if (!(fabsf(result[l] - fused) <= slack) && !same_bits(result[l], fused) &&
                !same_bits(result[l], twice))
                test_fail("lane %d is %.9g, neither %.9g nor %.9g", l, (double)result[l],
                          (double)fused, (double)twice);
        }
    }
}

static void selects_by_sign(void **state) {
    (void)state;
    const simd_kernels_t *k = kernels();
    for (int round = 0; round < ROUNDS; round++) {
        float a[LANES], b[LANES], c[LANES], result[LANES];
        fill(a, 1, round);
        fill(b, 2, round);
        fill(c, 3, round);
        spoil(c, round);
        k->select_positive(c, a, b, result);
        for (int l = 0; l < k->lanes; l++)
            check_lane(result[l], c[l] > 0 ? a[l] : b[l], l, "select");
    }
}

static void keeps_a_range(void **state) {
    (void)state;
    const simd_kernels_t *k = kernels();
    float v[LANES], result[LANES];
    fill(v, 1, 0);
    int64_t ends[LANES + 12] = {INT64_MIN, -INT64_C(5000000000), -1, INT64_C(5000000000),
                                INT64_MAX};
    size_t count = 5;
    for (int64_t e = 0; e <= k->lanes + 2; e++) ends[count++] = e;
    for (size_t f = 0; f < count; f++)
        for (size_t e = 0; e < count; e++) {
            k->keep(v, ends[f], ends[e], MARK, result);
            test_label("keep from %" PRId64 " to %" PRId64, ends[f], ends[e]);
            for (int l = 0; l < k->lanes; l++)
                check_lane(result[l], l >= ends[f] && l < ends[e] ? v[l] : MARK, l, "keep");
        }
}

/** Lanes past n are neither read (they are NaN here) nor written. */
static void first_lanes(void **state) {
    (void)state;
    const simd_kernels_t *k = kernels();
    for (int64_t n = 0; n <= k->lanes + 2; n++) {
        float source[LANES + 4], result[LANES], target[LANES + 4];
        test_label("first %" PRId64 " lanes", n);
        for (int l = 0; l < LANES + 4; l++) source[l] = l < n ? (float)(l + 1) : NAN;
        k->load_first(source, n, result);
        for (int l = 0; l < k->lanes; l++)
            check_lane(result[l], l < n ? (float)(l + 1) : 0, l, "load_first");
        for (int l = 0; l < LANES; l++) result[l] = (float)(l + 1);
        for (int l = 0; l < LANES + 4; l++) target[l] = MARK;
        k->store_first(target, result, n);
        for (int l = 0; l < LANES + 4; l++)
            check_lane(target[l], l < n && l < k->lanes ? (float)(l + 1) : MARK, l, "store_first");
    }
}

static void reductions(void **state) {
    (void)state;
    const simd_kernels_t *k = kernels();
    for (int round = 0; round < ROUNDS; round++) {
        float v[LANES];
        fill(v, 1, round);
        double sum = 0, absolute = 0;
        float largest = -INFINITY;
        for (int l = 0; l < k->lanes; l++) {
            sum += (double)v[l];
            absolute += fabs((double)v[l]);
            largest = v[l] > largest ? v[l] : largest;
        }
        const int64_t at[4] = {round, 0, 0, 0};
        compare_number((double)k->reduce_add(v), sum, (double)k->lanes * 0x1p-24 * absolute,
                       "reduce_add", at);
        assert_true(k->reduce_max(v) == largest);
    }
}

static void four_reductions(void **state) {
    (void)state;
    const simd_kernels_t *k = kernels();
    for (int round = 0; round < ROUNDS; round++) {
        float v[4 * LANES], sums[5] = {0, 0, 0, 0, MARK};
        for (int i = 0; i < 4; i++) fill(v + i * k->lanes, 1 + (uint64_t)i, round);
        k->reduce_add4(sums, v);
        for (int i = 0; i < 4; i++) {
            double sum = 0, absolute = 0;
            for (int64_t l = 0; l < k->lanes; l++) {
                sum += (double)v[i * k->lanes + l];
                absolute += fabs((double)v[i * k->lanes + l]);
            }
            const int64_t at[4] = {round, i, 0, 0};
            compare_number((double)sums[i], sum, (double)k->lanes * 0x1p-24 * absolute,
                           "reduce_add4", at);
        }
        assert_true(sums[4] == MARK);
    }
}

/** All signed bytes; f16 and bf16 are in semantics/numbers.c. */
static void bytes(void **state) {
    (void)state;
    const simd_kernels_t *k = kernels();
    for (int first = -128; first < 128; first += (int)k->lanes) {
        int8_t source[LANES];
        float result[LANES];
        for (int l = 0; l < k->lanes; l++) source[l] = (int8_t)(first + l);
        k->load_i8(source, result);
        for (int l = 0; l < k->lanes; l++) check_lane(result[l], (float)(first + l), l, "load_i8");
    }
}

/** Whatever lanes there are bits for, in order; nothing is written behind a vector. */
static void packed_lanes(void **state) {
    (void)state;
    const simd_kernels_t *k = kernels();
    for (uint32_t lanes = 0; lanes < UINT32_C(1) << k->lanes; lanes++) {
        float v[LANES], floats[LANES + 1];
        int32_t w[LANES], integers[LANES + 1];
        for (int l = 0; l < LANES; l++) v[l] = (float)(l + 1), w[l] = INT32_MAX - l * l;
        floats[k->lanes] = MARK, integers[k->lanes] = -1;
        k->pack_lanes(floats, v, integers, w, lanes);
        for (int l = 0, at = 0; l < k->lanes; l++) {
            if (!(lanes >> l & 1)) continue;
            check_lane(floats[at], v[l], l, "pack");
            assert_int_equal(integers[at++], w[l]);
        }
        assert_true(floats[k->lanes] == MARK && integers[k->lanes] == -1);
    }
}

/** Runs one function on one number in all lanes. */
static float apply(const simd_kernels_t *k, int operation, float x) {
    float v[LANES], result[LANES];
    for (int l = 0; l < LANES; l++) v[l] = x;
    k->unary(operation, v, result);
    for (int l = 1; l < k->lanes; l++) check_lane(result[l], result[0], l, "unary");
    return result[0];
}

/** Distance between floats next to `x`. */
static double spacing(double x) {
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
}

static void check_exponential(int operation, double low, double high, int steps,
                              double (*exact)(double)) {
    const simd_kernels_t *k = kernels();
    double worst = 0, relative = 0;
    for (int s = 0; s <= steps; s++) {
        const double jitter =
            s > 0 && s < steps ? attn_random_uniform(test_seed(), 7, (uint64_t)s) : 0;
        const float x = (float)(low + (high - low) * ((double)s + jitter) / (double)(steps + 1));
        const double expected = exact((double)x), actual = (double)apply(k, operation, x);
        const double off = fabs(actual - expected) / spacing(expected);
        worst = fmax(worst, off);
        relative = fmax(relative, fabs(actual - expected) / expected * 0x1p24);
        if (!(off <= 2.5 && relative <= 4)) // what math.h promises, and reference.c builds on
            test_fail("%.9g of %.9g is %.2f units in the last place off", actual, (double)x, off);
    }
    print_message("[%g, %g]: at most %.3f units in the last place, %.3f * 2^-24\n", low, high,
                  worst, relative);
}

static double exact_exp4(double x) { return exp2(2 * x); }
static double exact_exp(double x) { return exp(x); }

static void exponentials(void **state) {
    (void)state;
    test_label("exp4");
    check_exponential(SIMD_EXP4, -63, 0, 200000, exact_exp4);
    check_exponential(SIMD_EXP4, -0.5, 0.5, 100000, exact_exp4);
    check_exponential(SIMD_EXP4, 0, 63.745, 100000, exact_exp4);
    test_label("exp");
    check_exponential(SIMD_EXP, -87.3, 0, 200000, exact_exp);
    check_exponential(SIMD_EXP, -1, 1, 100000, exact_exp);
    check_exponential(SIMD_EXP, 0, 88.36, 100000, exact_exp);
}

/** Whole powers of 2 are exact, and what underflows is 0 or nearly so; NaN stays NaN. */
static void ends_of_exponentials(void **state) {
    (void)state;
    const simd_kernels_t *k = kernels();
    for (int n = -126; n < 128; n++)
        assert_true(apply(k, SIMD_EXP4, 0.5f * (float)n) == ldexpf(1, n));
    assert_true(apply(k, SIMD_EXP4, -0.0f) == 1 && apply(k, SIMD_EXP, 0.0f) == 1);
    assert_true(apply(k, SIMD_EXP4, FLT_MIN / 2) == 1);
    static const float low[] = {-127, -128, -150, -1e10f, -FLT_MAX, -INFINITY};
    for (size_t i = 0; i < TEST_COUNT(low); i++) {
        test_label("exponential of %g", (double)low[i]);
        assert_true(apply(k, SIMD_EXP4, 0.5f * low[i]) == 0);
        assert_true(apply(k, SIMD_EXP, low[i]) == 0);
    }
    for (float x = -63.45f; x < -63; x += 0.05f) {
        const float value = apply(k, SIMD_EXP4, x);
        assert_true(value >= 0 && value < FLT_MIN);
    }
    assert_true(isnan(apply(k, SIMD_EXP4, NAN)) && isnan(apply(k, SIMD_EXP, NAN)));
}

TEST_MAIN(cmocka_unit_test(lane_by_lane), cmocka_unit_test(one_by_one),
          cmocka_unit_test(multiply_and_add), cmocka_unit_test(selects_by_sign),
          cmocka_unit_test(keeps_a_range), cmocka_unit_test(first_lanes),
          cmocka_unit_test(reductions), cmocka_unit_test(four_reductions), cmocka_unit_test(bytes),
          cmocka_unit_test(packed_lanes), cmocka_unit_test(exponentials),
          cmocka_unit_test(ends_of_exponentials))
