/* measure/peak.c: see peak.h. */
#include "measure/peak.h"

#include "measure/measure.h"
#include "measure/peak_bf16_kernels.h"
#include "measure/peak_kernels.h"

#include <math.h>

/* The best of many short tries: a peak is what the machine can do when nothing disturbs it. */
enum { TRIES = 40 };
static const double try_seconds = 2e-3;

double peak_share(double seconds) {
    const double enough = 0.1;
    return fmin(1, seconds / enough);
}

static double best_rate(const struct peak_variant *variant, double share) {
    volatile float sink; /* so that no loop is dropped as useless */
    double best = 0;
    int64_t steps = 1 << 12;
    for (int attempt = 0; attempt < fmax(1, share * TRIES);) {
        const double start = measure_clock();
        sink = variant->run(steps);
        const double seconds = measure_clock() - start;
        if (seconds < try_seconds) {
            steps *= 2;
            continue;
        }
        const double rate = (double)steps * (double)variant->flops_per_step / seconds;
        if (rate > best) best = rate;
        attempt++;
    }
    (void)sink;
    return best;
}

double peak_gflops(attn_tier_t tier, double share) {
    const peak_kernels_t *kernels = peak_kernels(tier);
    double best = 0;
    for (int i = 0; i < PEAK_VARIANTS; i++) {
        const double rate = best_rate(&kernels->multiply_add[i], share);
        if (rate > best) best = rate;
    }
    return 1e-9 * best;
}

double peak_dot_gops(attn_tier_t tier, int bytes, double share) {
    const struct peak_variant *tiles = peak_bytes_kernels(tier);
    const struct peak_variant *dots =
        bytes == 1 && tiles ? tiles : &peak_kernels(tier)->dots[bytes - 1];
    return dots->run ? 1e-9 * best_rate(dots, share) : NAN;
}

double peak_bf16_gflops(attn_tier_t tier, double share) {
    const struct peak_variant *products = peak_bf16_kernels(tier);
    return products ? 1e-9 * best_rate(products, share) : NAN;
}
