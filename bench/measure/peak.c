/* measure/peak.c: see peak.h. */
#include "measure/peak.h"

#include "measure/measure.h"
#include "measure/peak_kernels.h"

#include "attn/support.h"

#include <math.h>
#include <stdlib.h>

/* The best of many short tries: a peak is what the machine can do when nothing disturbs it. */
enum { TRIES = 40, READS = 5, SMALL_BYTES = 64 << 20 };
static const double try_seconds = 2e-3;

static double best_rate(const struct peak_variant *variant) {
    volatile float sink; /* so that no loop is dropped as useless */
    double best = 0;
    int64_t steps = 1 << 12;
    for (int attempt = 0; attempt < TRIES;) {
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

double peak_gflops(attn_tier_t tier) {
    const peak_kernels_t *kernels = peak_kernels(tier);
    double best = 0;
    for (int i = 0; i < PEAK_VARIANTS; i++) {
        const double rate = best_rate(&kernels->multiply_add[i]);
        if (rate > best) best = rate;
    }
    return 1e-9 * best;
}

double peak_dot_gops(attn_tier_t tier, int bytes) {
    const struct peak_variant *dots = &peak_kernels(tier)->dots[bytes - 1];
    return dots->run ? 1e-9 * best_rate(dots) : NAN;
}

/* An array for reading, of so many bytes or as many as there is memory for. */
static float *make_array(size_t bytes, int64_t *count) {
    float *data = NULL;
    while (!(data = malloc(bytes)) && bytes > 1 << 20) bytes /= 2;
    *count = data ? (int64_t)(bytes / sizeof *data) : 0;
    for (int64_t i = 0; i < *count; i++) data[i] = 1; /* untouched pages share one of zeros */
    return data;
}

/* Bytes a second, in 1e9, over so many rounds of the array. */
static double read_rate(const struct peak_order *order, const float *data, int64_t count,
                        int64_t rounds) {
    volatile float sink;
    const double start = measure_clock();
    for (int64_t i = 0; i < rounds; i++) sink = order->run(data, count);
    const double seconds = measure_clock() - start;
    (void)sink;
    return 1e-9 * (double)rounds * (double)count * (double)sizeof *data / seconds;
}

int peak_reads(attn_tier_t tier, int rounds, peak_read_t reads[PEAK_MOST_READS]) {
    const struct peak_order *orders = peak_kernels(tier)->read;
    int64_t count;
    float *data = make_array(PEAK_BYTES, &count);
    for (int i = 0; i < PEAK_READS; i++)
        reads[i] = (peak_read_t){orders[i].stretches, orders[i].ahead, orders[i].once, 0};
    for (int attempt = 0; data && attempt < rounds * PEAK_READS; attempt++) {
        const int i = attempt % PEAK_READS; /* by turns */
        reads[i].gbps = fmax(reads[i].gbps, read_rate(&orders[i], data, count, 1));
    }
    free(data);
    return count ? PEAK_READS : 0;
}

double peak_read_gbps(attn_tier_t tier) {
    const struct peak_order *orders = peak_kernels(tier)->read;
    int64_t count;
    float *data = make_array(PEAK_BYTES, &count);
    double best = 0;
    int order = 0;
    for (int attempt = 0; data && attempt < PEAK_READS + READS; attempt++) {
        const int i = attempt < PEAK_READS ? attempt : order; /* all of them, then the best */
        const double rate = read_rate(&orders[i], data, count, 1);
        if (rate > best) best = rate, order = i;
    }
    free(data);
    return best;
}

double peak_read_size_gbps(attn_tier_t tier, size_t bytes) {
    const struct peak_order *in_order = &peak_kernels(tier)->read[0];
    int64_t count;
    float *data = make_array(bytes, &count);
    double best = 0;
    const int64_t rounds = attn_max(1, SMALL_BYTES / (int64_t)bytes);
    for (int attempt = 0; data && attempt < READS; attempt++)
        best = fmax(best, read_rate(in_order, data, count, rounds));
    free(data);
    return best;
}

double peak_update_gbps(attn_tier_t tier) {
    static float data[PEAK_STATE_BYTES / sizeof(float)];
    const peak_kernels_t *kernels = peak_kernels(tier);
    const int64_t count = (int64_t)(PEAK_STATE_BYTES / sizeof *data), rounds = 100;
    double best = 0;
    for (int attempt = 0; attempt < 10 * TRIES; attempt++) {
        const double start = measure_clock();
        for (int64_t i = 0; i < rounds; i++) kernels->update(data, count);
        const double bytes = 2 * (double)rounds * (double)PEAK_STATE_BYTES;
        const double rate = bytes / (measure_clock() - start);
        if (rate > best) best = rate;
    }
    return 1e-9 * best;
}
