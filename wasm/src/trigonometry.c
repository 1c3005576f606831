/*
 * trigonometry.c: sin() and cos() for angles as the library has them, a twentieth of the C library's
 * size, which carries 2/pi to thousands of bits for angles up to the largest number.
 *
 * x = k pi/2 + r with |r| <= pi/4, pi/2 taken away in three parts of 33 bits, so that k times a part
 * is exact up to k = 2^20 (Cody and Waite, "Software Manual for the Elementary Functions", 1980);
 * then Taylor's series, whose first term left out is below 2^-60 of the result. The error stays
 * within 2 units in the last place of 1 up to |x| = 2^20, and within |x| 2^-52 beyond.
 */
#include <math.h>
#include <stdint.h>

/* Sum of (-1)^k r^(2k + first) / (2k + first)!, from the smallest term on. */
static double series(double r, int first, int last) {
    const double square = r * r;
    double sum = 1;
    for (int n = last; n > first; n -= 2) sum = 1 - square * sum / (n * (n - 1));
    return first ? r * sum : sum;
}

/* sin(x + quarters * pi/2). */
static double sine(double x, int64_t quarters) {
    if (!(fabs(x) < 0x1p52)) return x - x == 0 ? 0 : NAN; /* no angle is left in such a number */
    const double k = rint(x * 0x1.45f306dc9c883p-1);
    double r = x - k * 0x1.921fb544p+0;
    r -= k * 0x1.0b4611a6p-34;
    r -= k * 0x1.3198a2e037073p-69;
    quarters += (int64_t)k;
    const double size = quarters & 1 ? series(r, 0, 18) : series(r, 1, 19);
    return quarters & 2 ? -size : size;
}

double sin(double x) { return sine(x, 0); }
double cos(double x) { return sine(x, 1); }
