/* tanh and the element types: all 65536 numbers of f16 and bf16, and rounding to them. */
#include "numbers.h"

#include "support/typed.h"

#include "support/fixture.h"
#include "support/test.h"

#include "attn/random.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = 65536 };

static const numbers_kernels_t *kernels(void) {
    attn_context_t *context = fixture_context(0);
    const attn_tier_t tier = attn_context_tier(context);
    attn_context_destroy(context);
    return attn_test_numbers(tier);
}

static void *need(size_t size) {
    void *memory = malloc(size);
    if (!memory) test_fail("the test itself has no memory");
    return memory;
}

/* Below the largest error that math.h promises, relative to the exact value. */
static void hyperbolic_tangents(void **state) {
    (void)state;
    enum { COUNT = 1 << 20 };
    const numbers_kernels_t *k = kernels();
    float *x = need(COUNT * sizeof *x), *y = need(COUNT * sizeof *y);
    double worst = 0;
    for (int i = 0; i < COUNT; i++) { /* sizes from 2^-30 to 2^6, half of them around the seam */
        const double u = attn_random_uniform(test_seed(), 41, (uint64_t)i);
        const double size = i % 2 ? exp2(36 * u - 30) : 1.25 * u;
        x[i] = (float)(i % 4 < 2 ? size : -size);
    }
    k->tanh(x, y, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const double exact = tanh((double)x[i]), off = fabs((double)y[i] - exact) / fabs(exact);
        worst = fmax(worst, off);
        if (!(off <= 4e-7))
            test_fail("tanh(%.9g) is %.9g: %.3g off", (double)x[i], (double)y[i], off);
    }
    print_message("tanh: at most %.3g off, relative\n", worst);
    free(x);
    free(y);
}

static void ends_of_tangents(void **state) {
    (void)state;
    const numbers_kernels_t *k = kernels();
    static const float ends[][2] = {{INFINITY, 1},  {-INFINITY, -1},  {FLT_MAX, 1},
                                    {-FLT_MAX, -1}, {20, 1},          {-20, -1},
                                    {0, 0},         {1e-30f, 1e-30f}, {-1e-38f, -1e-38f}};
    for (size_t e = 0; e < TEST_COUNT(ends); e++) {
        float x[16], y[16];
        for (int l = 0; l < 16; l++) x[l] = l % 2 ? ends[e][0] : 0.5f;
        test_label("tanh(%g)", (double)ends[e][0]);
        x[0] = ends[e][0];
        k->tanh(x, y, k->lanes);
        assert_true(y[0] == ends[e][1]);
    }
    float x[16], y[16];
    for (int l = 0; l < 16; l++) x[l] = NAN;
    k->tanh(x, y, k->lanes);
    assert_true(isnan(y[0]) && isnan(y[k->lanes - 1]));
}

static attn_tensor_t row_of(void *data, attn_dtype_t dtype, int64_t count) {
    return (attn_tensor_t){
        .data = data, .dtype = dtype, .shape = {1, 1, 1, count}, .stride = {0, 0, 0, 1}};
}

static int same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* bf16 has denormals of f32, which any product makes zero where processors do so. f16 has none. */
static int is_lost(attn_dtype_t dtype, uint16_t half) {
    return test_flushes() && dtype == ATTN_BF16 && !(half & 0x7f80);
}

/* Every number of 16 bits becomes its value, and comes back as itself. */
static void all_halves(void **state) {
    (void)state;
    static const attn_dtype_t types[] = {ATTN_F16, ATTN_BF16};
    const numbers_kernels_t *k = kernels();
    uint16_t *halves = need(ALL * sizeof *halves), *again = need(2 * ALL * sizeof *again);
    float *wide = need(ALL * sizeof *wide);
    for (size_t t = 0; t < TEST_COUNT(types); t++)
        for (int64_t stride = 1; stride <= 2; stride++) {
            for (int i = 0; i < ALL; i++) halves[i] = (uint16_t)i;
            const attn_tensor_t exact = row_of(halves, types[t], ALL);
            const int64_t count = ALL / stride - 1; /* odd: the last vector is not whole */
            test_label("type %d, stride %d", types[t], (int)stride);
            k->row(wide, halves, types[t], stride, count, 1.0f);
            for (int64_t i = 0; i < count; i++)
                if (!is_lost(types[t], halves[i * stride]) &&
                    !same((double)wide[i], typed_get(&exact, 0, 0, 0, i * stride)))
                    test_fail("%04x is read as %.9g", (unsigned)(i * stride), (double)wide[i]);
            k->back(again, types[t], stride, wide, count);
            for (int64_t i = 0; i < count; i++)
                if (again[i * stride] != halves[i * stride] && !isnan(wide[i]) &&
                    !is_lost(types[t], halves[i * stride]))
                    test_fail("%04x comes back as %04x", halves[i * stride], again[i * stride]);
                else if (isnan(wide[i])) {
                    const attn_tensor_t back = row_of(again, types[t], 2 * ALL);
                    assert_true(isnan(typed_get(&back, 0, 0, 0, i * stride)));
                }
        }
    free(halves);
    free(again);
    free(wide);
}

/* Numbers between two halves go to the nearer one, from the middle to the even one. */
static void rounding_to_halves(void **state) {
    (void)state;
    static const attn_dtype_t types[] = {ATTN_F16, ATTN_BF16};
    const numbers_kernels_t *k = kernels();
    for (size_t t = 0; t < TEST_COUNT(types); t++)
        for (int i = 0; i < 0x7C00; i++) {
            uint16_t pair[2] = {(uint16_t)i, (uint16_t)(i + 1)};
            const attn_tensor_t tensor = row_of(pair, types[t], 2);
            const double low = typed_get(&tensor, 0, 0, 0, 0),
                         high = typed_get(&tensor, 0, 0, 0, 1);
            if (isinf(high) || is_lost(types[t], pair[0])) continue;
            const float middle = (float)(0.5 * (low + high)); /* has few bits: exact */
            const float numbers[6] = {nextafterf(middle, 0),  middle,  nextafterf(middle, INFINITY),
                                      -nextafterf(middle, 0), -middle, (float)low};
            const uint16_t even = pair[i & 1], sign = 0x8000;
            const uint16_t expected[6] = {
                pair[0], even, pair[1], (uint16_t)(pair[0] | sign), (uint16_t)(even | sign),
                pair[0]};
            enum { WHOLE = 3 * 6 }; /* more than a vector, and some left */
            float many[WHOLE];
            uint16_t rounded[WHOLE];
            for (int n = 0; n < WHOLE; n++) many[n] = numbers[n % 6];
            k->back(rounded, types[t], 1, many, WHOLE);
            for (int n = 0; n < WHOLE; n++)
                if (rounded[n] != expected[n % 6])
                    test_fail("%.9g becomes %04x, not %04x (type %d)", (double)many[n], rounded[n],
                              expected[n % 6], types[t]);
        }
}

static void ends_of_halves(void **state) {
    (void)state;
    const numbers_kernels_t *k = kernels();
    const float numbers[] = {65504, 65519.996f, 65520, 1e9f, INFINITY, -INFINITY, FLT_MAX, 1e-30f};
    const uint16_t f16[] = {0x7BFF, 0x7BFF, 0x7C00, 0x7C00, 0x7C00, 0xFC00, 0x7C00, 0};
    const uint16_t bf16[] = {0x4780, 0x4780, 0x4780, 0x4E6E, 0x7F80, 0xFF80, 0x7F80, 0x0DA2};
    uint16_t half[8];
    k->back(half, ATTN_F16, 1, numbers, 8);
    assert_memory_equal(half, f16, sizeof half);
    k->back(half, ATTN_BF16, 1, numbers, 8);
    assert_memory_equal(half, bf16, sizeof half);
}

/* A row of bytes times its token's scale: one rounding, of the product. */
static void scaled_bytes(void **state) {
    (void)state;
    const numbers_kernels_t *k = kernels();
    int8_t bytes[3 * 256];
    float row[256];
    for (int i = 0; i < 3 * 256; i++) bytes[i] = (int8_t)(i % 3 ? 99 : i / 3 - 128);
    for (int s = 0; s < 50; s++) {
        const float scale = (float)attn_random_uniform(test_seed(), 42, (uint64_t)s);
        k->row(row, bytes, ATTN_I8, 3, 256, scale);
        for (int i = 0; i < 256; i++) assert_true(row[i] == scale * (float)(i - 128));
    }
}

TEST_MAIN(cmocka_unit_test(hyperbolic_tangents), cmocka_unit_test(ends_of_tangents),
          cmocka_unit_test(all_halves), cmocka_unit_test(rounding_to_halves),
          cmocka_unit_test(ends_of_halves), cmocka_unit_test(scaled_bytes))
