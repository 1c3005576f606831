#include "matrices.h"

#include "attn/random.h"

#include <math.h>

void attn_sketch_gaussian(float *matrix, int64_t dim, int64_t size, uint64_t seed) {
    uint64_t stream = attn_sketch_stream(ATTN_SKETCH_GAUSSIAN, 0);
    double sigma = 1.0 / sqrt((double)size);
    for (int64_t i = 0; i < dim * size; i++)
        matrix[i] = (float)(sigma * attn_random_normal(seed, stream, (uint64_t)i));
}

/* ---- AMS ------------------------------------------------------------------------------------- */

#define MERSENNE_61 ((UINT64_C(1) << 61) - 1)

static uint64_t reduce(uint64_t x) {
    x = (x >> 61) + (x & MERSENNE_61);
    return x < MERSENNE_61 ? x : x - MERSENNE_61;
}

/* a b mod 2^61 - 1 for a, b below it, by halves of 32 bits: 2^61 is 1, so 2^64 is 8. */
static uint64_t multiply(uint64_t a, uint64_t b) {
    uint64_t a1 = a >> 32, a0 = a & UINT32_MAX, b1 = b >> 32, b0 = b & UINT32_MAX;
    uint64_t middle = a1 * b0 + a0 * b1; /* below 2^62 */
    uint64_t low = a0 * b0;
    uint64_t middle_low = (middle & ((UINT64_C(1) << 29) - 1)) << 32;
    return reduce(8 * (a1 * b1) + (middle >> 29) + middle_low + reduce(low));
}

void attn_sketch_ams(float *matrix, int64_t dim, int64_t size, uint64_t seed) {
    uint64_t stream = attn_sketch_stream(ATTN_SKETCH_AMS, 0);
    float magnitude = (float)(1.0 / sqrt((double)size));
    for (int64_t t = 0; t < size; t++) {
        uint64_t c[4];
        for (int i = 0; i < 4; i++)
            c[i] = reduce(attn_random_u64(seed, stream, (uint64_t)(4 * t + i)) >> 3);
        for (int64_t j = 0; j < dim; j++) {
            uint64_t x = (uint64_t)j, hash = c[3];
            for (int i = 2; i >= 0; i--) hash = reduce(multiply(hash, x) + c[i]);
            matrix[j * size + t] = hash & 1 ? magnitude : -magnitude;
        }
    }
}

/* ---- sparse embedding ------------------------------------------------------------------------ */

enum { MAX_SPARSITY = 4 }; /* the words of one draw */

int64_t attn_sketch_sparsity(int64_t size) { return size < MAX_SPARSITY ? size : MAX_SPARSITY; }

static int is_taken(const attn_sketch_entry_t *entries, int64_t count, int64_t column) {
    for (int64_t i = 0; i < count; i++)
        if (entries[i].column == column) return 1;
    return 0;
}

/* A subset without replacement: Floyd's algorithm (Bentley and Floyd, "A sample of brilliance",
 * Communications of the ACM, 1987). A word times the range, shifted, is uniform to range / 2^32. */
void attn_sketch_osnap(attn_sketch_entry_t *entries, int64_t dim, int64_t size, uint64_t seed) {
    uint64_t stream = attn_sketch_stream(ATTN_SKETCH_OSNAP, 0);
    int64_t sparsity = attn_sketch_sparsity(size);
    float magnitude = (float)(1.0 / sqrt((double)sparsity));
    for (int64_t j = 0; j < dim; j++) {
        attn_sketch_entry_t *row = entries + j * sparsity;
        uint32_t places[4], signs[4];
        attn_random_bits(seed, stream, 2 * (uint64_t)j, places);
        attn_random_bits(seed, stream, 2 * (uint64_t)j + 1, signs);
        for (int64_t i = 0; i < sparsity; i++) {
            int64_t last = size - sparsity + i;
            int64_t column = (int64_t)((uint64_t)places[i] * (uint64_t)(last + 1) >> 32);
            if (is_taken(row, i, column)) column = last;
            row[i].column = (int32_t)column;
            row[i].weight = signs[i] & 1 ? magnitude : -magnitude;
        }
    }
}
