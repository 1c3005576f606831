/*
 * peers/peaks.c: what this machine can do at most: a line `NAME NUMBER` each, 1e9/s. `read2` is two
 * threads that read at the same time, which share the way to memory; the others are of one thread. `state` counts what is read and what is written.
 */
#include <attn/attn.h>
#include <measure/measure.h>
#include <measure/peak.h>
#include <measure/peak_kernels.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { READS = 5 };

typedef struct reader {
    float (*read)(const float *data, int64_t count);
    float *data, sum;
} reader_t;

static const int64_t count = (int64_t)(PEAK_BYTES / sizeof(float));

static void *read_all(void *data) {
    reader_t *reader = data;
    reader->sum = reader->read(reader->data, count);
    return NULL;
}

/* An array for each, which is touched: untouched pages share one of zeros. */
static int make_reader(reader_t *reader) {
    *reader = (reader_t){.data = malloc(PEAK_BYTES)};
    for (int64_t i = 0; reader->data && i < count; i++) reader->data[i] = 1;
    return reader->data != NULL;
}

static double read_by_two(attn_tier_t tier) {
    reader_t mine, other = {0};
    double best = 0;
    const int there = make_reader(&mine) && make_reader(&other);
    for (int i = 0; there && i < READS * PEAK_READS; i++) {
        pthread_t thread;
        mine.read = other.read = peak_kernels(tier)->read[i % PEAK_READS].run;
        const double start = measure_clock();
        if (pthread_create(&thread, NULL, read_all, &other)) break;
        read_all(&mine);
        pthread_join(thread, NULL);
        const double rate = 2 * (double)PEAK_BYTES / (measure_clock() - start);
        if (rate > best) best = rate;
    }
    free(mine.data);
    free(other.data);
    return 1e-9 * best;
}

int main(void) {
    attn_tier_t tiers[8];
    const uint32_t tier_count = attn_available_tiers(tiers, sizeof tiers / sizeof tiers[0]);
    if (tier_count == 0 || tier_count > sizeof tiers / sizeof tiers[0]) return 1;
    const attn_tier_t best = tiers[tier_count - 1];
    for (uint32_t i = 0; i < tier_count; i++)
        printf("%s %.6g\n", attn_tier_name(tiers[i]), peak_gflops(tiers[i]));
    printf("flops %.6g\n", peak_gflops(best));
    printf("read %.6g\n", peak_read_gbps(best));
    printf("state %.6g\n", peak_update_gbps(best));
    printf("read2 %.6g\n", read_by_two(best));
    return 0;
}
