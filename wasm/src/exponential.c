/*
 * exponential.c: e^x and its family, a tenth of the C library's size, which has tables of it.
 *
 * x = k ln 2 + r with |r| <= ln(2) / 2, ln 2 taken away in two parts, the first of 33 bits, so that k
 * times it is exact (Cody and Waite, "Software Manual for the Elementary Functions", 1980); then
 * Taylor's series, whose first term left out is below 2^-56 of the result. The error of exp() stays
 * within 1.5 units in the last place, that of expm1() and tanh() within 4; functions of single precision
 * are those of double, rounded.
 */
#include <math.h>

/* e^r - 1 for |r| <= 0.35. */
static double series(double r) {
    static const double inverse[] = {1.0 / 13, 1.0 / 12, 1.0 / 11, 0.1,  1.0 / 9, 0.125,
                                     1.0 / 7,  1.0 / 6,  0.2,      0.25, 1.0 / 3, 0.5};
    double sum = 1;
    for (int i = 0; i < 12; i++) sum = 1 + r * sum * inverse[i];
    return r * sum;
}

double exp(double x) {
    if (x != x) return x;
    if (x > 710) return INFINITY;
    if (x < -746) return 0;
    const double k = rint(x * 0x1.71547652b82fep+0);
    double r = x - k * 0x1.62e42feep-1;
    r -= k * 0x1.a39ef35793c76p-33;
    return ldexp(1 + series(r), (int)k);
}

double expm1(double x) { return fabs(x) < 0.35 ? series(x) : exp(x) - 1; }

double tanh(double x) {
    const double below = expm1(-2 * fabs(x)); /* e^-2|x| - 1 */
    return copysign(below / (below + 2), x);
}

float exp2f(float x) { return (float)exp((double)x * 0x1.62e42fefa39efp-1); }
float log2f(float x) { return (float)(log((double)x) * 0x1.71547652b82fep+0); }
