/* See numbers.h. */
#include "numbers.h"

#include "attn/random.h"
#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdlib.h>

static const float MARK = -777.25f;

const nn_kernels_t *numbers_kernels(void) {
    attn_context_t *context = fixture_context(0);
    const attn_tier_t tier = attn_context_tier(context);
    attn_context_destroy(context);
    return attn_nn_kernels(tier);
}

float *numbers_make(int64_t count, uint64_t stream) {
    float *numbers = malloc((size_t)(count + 1) * sizeof *numbers);
    assert_non_null(numbers);
    for (int64_t i = 0; i < count; i++)
        numbers[i] = (float)attn_random_normal(test_seed(), stream, (uint64_t)i);
    numbers[count] = MARK;
    return numbers;
}

void numbers_check(const float *numbers, int64_t count, const char *what) {
    if (numbers[count] != MARK) test_fail("%s: written behind its end", what);
}

void numbers_near(double got, double expected, double tolerance, const char *what, int64_t index) {
    if (!(fabs(got - expected) <= tolerance))
        test_fail("%s, element %" PRId64 ": %.9g, expected %.9g within %.3g", what, index, got,
                  expected, tolerance);
}

double numbers_gelu(double x) {
    return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

double numbers_slope(double (*f)(const void *data, double v), const void *data, double at) {
    const double h = 0x1p-14;
    const double near = (f(data, at + h) - f(data, at - h)) / (2 * h);
    const double far = (f(data, at + 2 * h) - f(data, at - 2 * h)) / (4 * h);
    return (4 * near - far) / 3;
}
