/* measure/peak_read.c: how fast memory is read, in several orders, by one thread or by two at once. See peak.h. */
#include "measure/measure.h"
#include "measure/peak.h"
#include "measure/peak_kernels.h"

#include "attn/support.h"

#include <math.h>
#include <stdlib.h>

enum { READS = 5, SMALL_BYTES = 64 << 20, MEGABYTE = 1 << 20 };

static size_t bytes_of(double share) {
    const double megabytes = fmax(1, share * (PEAK_BYTES / MEGABYTE));
    return (size_t)megabytes * MEGABYTE;
}

typedef struct reader {
    const struct peak_order *order;
    float *data;
    int64_t count, rounds;
    float sum;
} reader_t;

/* An array of so many bytes, or of as many as there is memory for. */
static reader_t make_reader(size_t bytes) {
    reader_t reader = {.rounds = 1};
    while (!(reader.data = malloc(bytes)) && bytes > 1 << 20) bytes /= 2;
    reader.count = reader.data ? (int64_t)(bytes / sizeof *reader.data) : 0;
    for (int64_t i = 0; i < reader.count; i++) /* untouched pages share one of zeros */
        reader.data[i] = 1;
    return reader;
}

static void read_all(reader_t *reader) {
    volatile float sink;
    for (int64_t i = 0; i < reader->rounds; i++)
        sink = reader->order->run(reader->data, reader->count);
    reader->sum = sink;
}

/* Bytes a second, in 1e9. */
static double rate_of(reader_t *reader, const struct peak_order *order) {
    reader->order = order;
    const double start = measure_clock();
    read_all(reader);
    const double bytes = (double)reader->rounds * (double)reader->count * sizeof *reader->data;
    return 1e-9 * bytes / (measure_clock() - start);
}

#if defined(__wasm__)

static double rate_of_two(reader_t *mine, reader_t *other, const struct peak_order *order) {
    (void)mine, (void)other, (void)order;
    return NAN;
}

#else

#include <pthread.h>

static void *run_reader(void *data) {
    read_all(data);
    return NULL;
}

/* NAN where there is no second thread. */
static double rate_of_two(reader_t *mine, reader_t *other, const struct peak_order *order) {
    pthread_t thread;
    mine->order = other->order = order;
    const double start = measure_clock();
    if (pthread_create(&thread, NULL, run_reader, other)) return NAN;
    read_all(mine);
    pthread_join(thread, NULL);
    const double bytes = (double)(mine->count + other->count) * sizeof *mine->data;
    return 1e-9 * bytes / (measure_clock() - start);
}

#endif

int peak_reads(attn_tier_t tier, int threads, int rounds, double share,
               peak_read_t reads[PEAK_MOST_READS]) {
    const struct peak_order *orders = peak_kernels(tier)->read;
    reader_t mine = make_reader(bytes_of(share)), other = {0};
    if (threads > 1) other = make_reader(bytes_of(share));
    int there = mine.data && (threads == 1 || other.data);
    for (int i = 0; i < PEAK_READS; i++)
        reads[i] = (peak_read_t){orders[i].stretches, orders[i].ahead, orders[i].once, 0};
    for (int attempt = 0; there && attempt < rounds * PEAK_READS; attempt++) {
        const int i = attempt % PEAK_READS; /* by turns */
        const double rate =
            threads == 1 ? rate_of(&mine, &orders[i]) : rate_of_two(&mine, &other, &orders[i]);
        there = !isnan(rate);
        reads[i].gbps = fmax(reads[i].gbps, rate);
    }
    free(mine.data);
    free(other.data);
    return there ? PEAK_READS : 0;
}

double peak_read_gbps(attn_tier_t tier, double share) {
    const struct peak_order *orders = peak_kernels(tier)->read;
    reader_t reader = make_reader(bytes_of(share));
    double best = 0;
    int order = 0;
    for (int attempt = 0; reader.data && attempt < PEAK_READS + READS; attempt++) {
        const int i = attempt < PEAK_READS ? attempt : order; /* all of them, then the best */
        const double rate = rate_of(&reader, &orders[i]);
        if (rate > best) best = rate, order = i;
    }
    free(reader.data);
    return best;
}

double peak_read_size_gbps(attn_tier_t tier, size_t bytes, double share) {
    const struct peak_order *in_order = &peak_kernels(tier)->read[0];
    reader_t reader = make_reader(bytes);
    double best = 0;
    reader.rounds = attn_max(1, (int64_t)(share * SMALL_BYTES) / (int64_t)bytes);
    for (int attempt = 0; reader.data && attempt < fmax(1, share * READS); attempt++)
        best = fmax(best, rate_of(&reader, in_order));
    free(reader.data);
    return best;
}
