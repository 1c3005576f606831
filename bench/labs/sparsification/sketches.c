/* labs/sparsification/sketches.c: see sketches.h. */
#include "labs/sparsification/sketches.h"

#include "attn/random.h"
#include "labs/statistics.h"
#include "number/format.h"
#include "sketching/sketch.h"

const char *const sketch_names[SKETCHES] = {"gaussian", "ams", "osnap", "leverage", "srht"};

enum { STREAM_SEEDS = 450 }; /* beside those of symmetric.c, far from its trials */

uint64_t sketch_seed(uint64_t seed, uint64_t trial) {
    return attn_random_u64(seed, (uint64_t)STREAM_SEEDS << 32, trial) >> 11;
}

void sketch_note_exponents(const double *rows, uint32_t count, uint32_t width, uint32_t seconds,
                           uint32_t methods, uint32_t nonzero, char *text, size_t size) {
    size_t used = 0;
    for (uint32_t method = 0; method < methods && count > 1 && used < size; method++) {
        const exponent_t exponent =
            statistics_exponent_of_columns(rows, count, width, nonzero, seconds + method);
        const int wrote =
            attn_format(text + used, size - used, "%s%s %.2f (%.2f to %.2f)",
                        method ? ", " : "time ~ nnz(X)^p, p: ", sketching_names[method],
                        exponent.value, exponent.low, exponent.high);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}
