/* Arrays as other element types: every half there is, ties, overflow, NaN; i8 with scales. */
#include "attn/random.h"
#include "support/fixture.h"
#include "support/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a half stands for, in double: `mantissa` bits behind the point. */
static double half_value(uint16_t half, int mantissa, int bias) {
    const int exponent = (half & 0x7fff) >> mantissa;
    const double fraction = (double)(half & ((1 << mantissa) - 1)) / (double)(1 << mantissa);
    const double size =
        exponent ? ldexp(1.0 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);
    return half & 0x8000 ? -size : size;
}

static uint16_t half_of(attn_dtype_t dtype, float number) {
    uint16_t half = 0xdead;
    assert_int_equal(attn_from_f32(&half, dtype, &number, 1, NULL), ATTN_OK);
    return half;
}

static float float_of(attn_dtype_t dtype, uint16_t half) {
    float number = -1.0f;
    assert_int_equal(attn_to_f32(&number, &half, dtype, 1, NULL), ATTN_OK);
    return number;
}

static const struct {
    attn_dtype_t dtype;
    int mantissa, bias;
} HALVES[] = {{ATTN_F16, 10, 15}, {ATTN_BF16, 7, 127}};

/* All 65536: exact to f32, the same bits back, and from halfway to the next the even one. */
static void every_half(void **state) {
    (void)state;
    for (size_t t = 0; t < TEST_COUNT(HALVES); t++) {
        const attn_dtype_t dtype = HALVES[t].dtype;
        const uint16_t infinity = (uint16_t)(0x7fff >> HALVES[t].mantissa << HALVES[t].mantissa);
        for (uint32_t bits = 0; bits < 65536; bits++) {
            const uint16_t half = (uint16_t)bits, size = half & 0x7fff;
            const float number = float_of(dtype, half);
            test_label("%s %04x", attn_dtype_name(dtype), bits);
            if (size > infinity) {
                assert_true(isnan(number));
                assert_true((half_of(dtype, number) & 0x7fff) > infinity);
                continue;
            }
            if (size < infinity)
                assert_true((double)number == half_value(half, HALVES[t].mantissa, HALVES[t].bias));
            else
                assert_true(isinf(number));
            assert_int_equal(half_of(dtype, number), half);
            if (size >= infinity) continue;
            /* The largest half's neighbour would be an infinity: the middle is as far as from the one below. */
            const double here = half_value(half, HALVES[t].mantissa, HALVES[t].bias);
            const double next =
                half_value((uint16_t)(half + 1), HALVES[t].mantissa, HALVES[t].bias);
            const float middle = (float)((here + next) / 2.0);
            if ((double)middle != (here + next) / 2.0) continue; /* below f32's subnormals */
            assert_int_equal(half_of(dtype, middle), half & 1 ? half + 1 : half);
            assert_int_equal(half_of(dtype, nextafterf(middle, 0.0f)), half);
            assert_int_equal(
                half_of(dtype, nextafterf(middle, half & 0x8000 ? -INFINITY : INFINITY)), half + 1);
        }
    }
}

static void beyond_the_type(void **state) {
    (void)state;
    assert_int_equal(half_of(ATTN_F16, 65504.0f), 0x7bff);
    assert_int_equal(half_of(ATTN_F16, 65520.0f), 0x7c00);
    assert_int_equal(half_of(ATTN_F16, -FLT_MAX), 0xfc00);
    assert_int_equal(half_of(ATTN_F16, -INFINITY), 0xfc00);
    assert_int_equal(half_of(ATTN_BF16, FLT_MAX), 0x7f80);
    assert_int_equal(half_of(ATTN_BF16, -INFINITY), 0xff80);
    assert_int_equal(half_of(ATTN_F16, -0.0f), 0x8000);
    assert_true(isnan(float_of(ATTN_F16, half_of(ATTN_F16, NAN))));
    assert_true(isnan(float_of(ATTN_BF16, half_of(ATTN_BF16, NAN))));
    const float numbers[] = {1.5f, NAN};
    float copy[2] = {0};
    assert_int_equal(attn_from_f32(copy, ATTN_F32, numbers, 2, NULL), ATTN_OK);
    assert_memory_equal(copy, numbers, sizeof copy);
}

static void refusals(void **state) {
    (void)state;
    float number = 1.0f, scale = 5.0f;
    int8_t byte = 3;
    attn_error_t error = {0};
    fixture_expect(attn_from_f32(&byte, ATTN_I8, &number, 1, &error), &error, ATTN_ERROR_DTYPE,
                   "i8|attn_quantise_i8");
    fixture_expect(attn_to_f32(&number, &byte, 99, 1, &error), &error, ATTN_ERROR_DTYPE, "99");
    fixture_expect(attn_from_f32(&byte, ATTN_F16, &number, -1, &error), &error, ATTN_ERROR_SHAPE,
                   "-1");
    static const int64_t sizes[][2] = {{-1, 1}, {1, -1}, {INT64_C(1) << 40, INT64_C(1) << 40}};
    for (size_t i = 0; i < TEST_COUNT(sizes); i++)
        fixture_expect(attn_quantise_i8(&byte, &scale, &number, sizes[i][0], sizes[i][1], &error),
                       &error, ATTN_ERROR_SHAPE, "rows");
    const float rows[] = {1.0f, 2.0f, 3.0f, NAN, 1.0f, INFINITY};
    int8_t bytes[6] = {7, 7, 7, 7, 7, 7};
    float scales[3] = {9.0f, 9.0f, 9.0f};
    fixture_expect(attn_quantise_i8(bytes, scales, rows, 2, 2, &error), &error, ATTN_ERROR_RANGE,
                   "row 1|column 1|nan");
    fixture_expect(attn_quantise_i8(bytes, scales, rows + 4, 1, 2, &error), &error,
                   ATTN_ERROR_RANGE, "row 0|column 1|inf");
    for (int i = 0; i < 6; i++) assert_int_equal(bytes[i], 7);
    assert_true(scales[0] == 9.0f && scales[1] == 9.0f);
}

/* Every number comes back within half a scale, rows are apart, and scales are as runs need them. */
static void quantised_rows(void **state) {
    (void)state;
    enum { ROWS = 40, COLUMNS = 33 };
    float numbers[ROWS * COLUMNS], scales[ROWS];
    int8_t bytes[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        const int exponent = -149 + 7 * (i / COLUMNS);
        numbers[i] = (float)ldexp(attn_random_uniform(test_seed(), 71, (uint64_t)i) * 2.0 - 1.0,
                                  exponent < 127 ? exponent : 127);
        if (i / COLUMNS == 3) numbers[i] = 0.0f;
    }
    numbers[ROWS * COLUMNS - 1] = FLT_MAX;
    assert_int_equal(attn_quantise_i8(bytes, scales, numbers, ROWS, COLUMNS, NULL), ATTN_OK);
    for (int r = 0; r < ROWS; r++) {
        float largest = 0.0f;
        test_label("row %d", r);
        assert_true(scales[r] >= FLT_MIN && isfinite(scales[r]));
        for (int c = 0; c < COLUMNS; c++) {
            const float number = numbers[r * COLUMNS + c];
            const int byte = bytes[r * COLUMNS + c];
            largest = fmaxf(largest, fabsf(number));
            assert_true(byte >= -127);
            /* The quotient and the scale are rounded: each moves up to 127.5 steps by 2^-24. */
            const double off = fabs((double)number / (double)scales[r] - (double)byte);
            if (!(off <= 0.5 + 2.0 * 127.5 * 0x1p-24)) test_fail("column %d is off by %g", c, off);
        }
        if (largest / 127.0f > FLT_MIN) assert_true(scales[r] == largest / 127.0f);
    }
}

TEST_MAIN(cmocka_unit_test(every_half), cmocka_unit_test(beyond_the_type),
          cmocka_unit_test(refusals), cmocka_unit_test(quantised_rows))
