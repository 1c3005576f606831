/* The slopes of ALiBi, of any number of heads. */
#include "internal.h"

#include <math.h>

/* Slope i of `count` heads, a power of two: 2^(-8 (i + 1) / count). */
static float slope(int64_t i, int64_t count) {
    return (float)exp2(-8.0 * (double)(i + 1) / (double)count);
}

attn_status_t attn_alibi_slopes(float *slopes, int64_t heads, attn_error_t *error) {
    if (!slopes) return attn_fail(error, ATTN_ERROR_ARGUMENT, "alibi slopes: the array is null");
    if (heads < 1)
        return attn_fail(error, ATTN_ERROR_RANGE, "alibi slopes: heads is %lld, must be at least 1",
                         (long long)heads);
    int64_t power = 1;
    while (power <= heads / 2) power *= 2;
    for (int64_t i = 0; i < power; i++) slopes[i] = slope(i, power);
    for (int64_t i = power; i < heads; i++) slopes[i] = slope(2 * (i - power), 2 * power);
    return ATTN_OK;
}
