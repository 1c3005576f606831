/* Arrays of normal numbers, marks behind them, and the kernels of the tier being tested. */
#ifndef ATTN_TESTS_LABS_NN_NUMBERS_H
#define ATTN_TESTS_LABS_NN_NUMBERS_H

#include "labs/nn/kernels.h"

#define NUMBERS_U 0x1p-24 /**< the unit roundoff of f32 */

const nn_kernels_t *numbers_kernels(void);

/** `count` normal numbers of a stream, and a mark; the caller frees them. */
float *numbers_make(int64_t count, uint64_t stream);

/** Fails where something was written behind the numbers. */
void numbers_check(const float *numbers, int64_t count, const char *what);

/** Fails unless |got - expected| <= tolerance. */
void numbers_near(double got, double expected, double tolerance, const char *what, int64_t index);

/** GeLU in its tanh form, in double precision. */
double numbers_gelu(double x);

/** The derivative of f(data, v) by v at `at`: central differences of order 4. */
double numbers_slope(double (*f)(const void *data, double v), const void *data, double at);

#endif
