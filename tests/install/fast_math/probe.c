/* What -ffast-math and its parts would change, in a file that is compiled with libattn's own flags behind them. Names
 * what is changed and fails. What is read through `volatile` is not known while compiling. */
#include "ieee/ieee.h"

#include <math.h>
#include <stdio.h>

static volatile float zero = 0.0f, one = 1.0f, three = 3.0f, large = 0x1p60f, tiny = 0x1p-149f;

static int failures;

static void expect(int is_so, const char *what) {
    if (is_so) return;
    fprintf(stderr, "%s\n", what);
    failures++;
}

/* An array, so that sums may become those of a vector. */
static float sum_of(const volatile float *given) {
    float numbers[64], sum = 0.0f;
    for (int i = 0; i < 64; i++) numbers[i] = given[i];
    for (int i = 0; i < 64; i++) sum += numbers[i];
    return sum;
}

int main(void) {
    const float infinity = one / zero, nan = zero / zero, minus_zero = -zero, a = large, b = one;
    static volatile float numbers[64];
    numbers[0] = large;
    numbers[1] = -large;
    numbers[63] = one;
    for (int i = 2; i < 63; i += 2) numbers[i] = large, numbers[i + 1] = i < 62 ? -large : one;
    numbers[62] = 0.0f;

    expect(isinf(infinity) && !isfinite(infinity), "an infinity counts as finite");
    expect(isnan(nan) && nan != nan && !(nan < one), "NaN counts as a number");
    expect(isnan(infinity - infinity), "infinity - infinity is not NaN");
    expect((b + a) - a == 0.0f, "sums are in another order");
    expect(sum_of(numbers) == one, "sums of arrays are in another order");
    expect(signbit(minus_zero * one) && !signbit(minus_zero + zero), "zeros have no sign");
    float quotient = one, product;
    for (int i = 0; i < 8; i++)
        quotient = (float)(i + 5) / three,
        expect(quotient == (float)((double)(i + 5) / 3.0), "a quotient is a product");
    product = (1.0f + 0x1p-12f * b) * (1.0f + 0x1p-12f * b);
    expect(product * b - (1.0f + 0x1p-11f) == 0.0f, "a product and a sum are fused");
    expect(0.1 * (double)b != (double)(float)0.1, "constants have single precision");
    expect(tiny != 0.0f || tiny * large == 0.0f, "denormals are zero by the compiler");
    return failures != 0;
}
