/* Each tier of this machine against plain double. */
#include "dot.h"

#include <attn/attn.h>

#include <math.h>
#include <stdio.h>

enum { MOST = 67 };

static int is_wrong(const dot_kernels_t *kernels, int64_t count) {
    float a[MOST], b[MOST], e[MOST];
    double sum = 0, absolute = 0;
    for (int64_t i = 0; i < count; i++) {
        a[i] = (float)(i % 7) / 3.0f - 1.0f, b[i] = (float)(i % 5) / 2.0f - 1.0f;
        sum += (double)a[i] * (double)b[i], absolute += fabs((double)a[i] * (double)b[i]);
    }
    kernels->exponentials(e, a, count);
    for (int64_t i = 0; i < count; i++)
        if (!(fabs((double)e[i] - exp((double)a[i])) <= 0x1p-21 * exp((double)a[i]))) return 1;
    return !(fabs((double)kernels->dot(a, b, count) - sum) <= (double)count * 0x1p-24 * absolute);
}

int main(void) {
    attn_tier_t tiers[16];
    const uint32_t count = attn_available_tiers(tiers, 16);
    for (uint32_t t = 0; t < count; t++) {
        const dot_kernels_t *kernels = dot_kernels(tiers[t]);
        for (int64_t n = 1; n <= MOST; n++)
            if (is_wrong(kernels, n)) return printf("wrong: %s, %d\n", kernels->tier, (int)n), 1;
        printf("%s by %s\n", attn_tier_name(tiers[t]), kernels->tier);
    }
    return 0;
}
