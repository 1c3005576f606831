#include "matrices.h"

#include "attn/random.h"

#include <math.h>

void attn_sketch_gaussian(float *matrix, const attn_sketch_part_t *part) {
    const uint64_t stream = attn_sketch_stream(ATTN_SKETCH_GAUSSIAN, 0);
    const uint64_t first = (uint64_t)(part->first * part->size);
    double sigma = 1.0 / sqrt((double)part->size);
    for (int64_t i = 0; i < part->count * part->size; i++)
        matrix[i] = (float)(sigma * attn_random_normal(part->seed, stream, first + (uint64_t)i));
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

void attn_sketch_ams(float *matrix, const attn_sketch_part_t *part) {
    const uint64_t stream = attn_sketch_stream(ATTN_SKETCH_AMS, 0);
    const int64_t size = part->size;
    float magnitude = (float)(1.0 / sqrt((double)size));
    for (int64_t t = 0; t < size; t++) {
        uint64_t c[4];
        for (int i = 0; i < 4; i++)
            c[i] = reduce(attn_random_u64(part->seed, stream, (uint64_t)(4 * t + i)) >> 3);
        for (int64_t j = 0; j < part->count; j++) {
            uint64_t x = (uint64_t)(part->first + j), hash = c[3];
            for (int i = 2; i >= 0; i--) hash = reduce(multiply(hash, x) + c[i]);
            matrix[j * size + t] = hash & 1 ? magnitude : -magnitude;
        }
    }
}

/* ---- sparse embedding ------------------------------------------------------------------------ */

enum { WORDS = 4 }; /* of one draw */

int64_t attn_sketch_sparsity(int64_t size, int64_t asked) {
    const int64_t wanted = asked > 0 ? asked : WORDS;
    return size < wanted ? size : wanted;
}

static int is_taken(const attn_sketch_entry_t *entries, int64_t count, int64_t column) {
    for (int64_t i = 0; i < count; i++)
        if (entries[i].column == column) return 1;
    return 0;
}

/* A subset without replacement: Floyd's algorithm (Bentley and Floyd, "A sample of brilliance",
 * Communications of the ACM, 1987). A word times the range, shifted, is uniform to range / 2^32, and so is the
 * word's last bit for each place. */
void attn_sketch_osnap(attn_sketch_entry_t *entries, const attn_sketch_part_t *part,
                       int64_t sparsity) {
    const uint64_t stream = attn_sketch_stream(ATTN_SKETCH_OSNAP, 0);
    float magnitude = (float)(1.0 / sqrt((double)sparsity));
    for (int64_t j = 0; j < part->count; j++) {
        attn_sketch_entry_t *row = entries + j * sparsity;
        for (int64_t i = 0; i < sparsity; i++) {
            const uint64_t entry = (uint64_t)((part->first + j) * sparsity + i);
            uint32_t words[WORDS];
            attn_random_bits(part->seed, stream, entry / WORDS, words);
            const uint32_t word = words[entry % WORDS];
            int64_t last = part->size - sparsity + i;
            int64_t column = (int64_t)((uint64_t)word * (uint64_t)(last + 1) >> 32);
            if (is_taken(row, i, column)) column = last;
            row[i].column = (int32_t)column;
            row[i].weight = word & 1 ? magnitude : -magnitude;
        }
    }
}

void attn_sketch_identity(attn_sketch_entry_t *entries, int64_t dim) {
    for (int64_t j = 0; j < dim; j++) entries[j] = (attn_sketch_entry_t){(int32_t)j, 1};
}

/* ---- Hadamard -------------------------------------------------------------------------------- */

int64_t attn_sketch_order(int64_t dim) {
    int64_t order = 1;
    while (order < dim) order *= 2;
    return order;
}

/* Columns: the first steps of a shuffle (Fisher and Yates, 1938). */
void attn_sketch_srht(const attn_sketch_srht_t *srht, int64_t dim, int64_t size, uint64_t seed) {
    const uint64_t stream = attn_sketch_stream(ATTN_SKETCH_SRHT, 0);
    const int64_t order = attn_sketch_order(dim);
    const float magnitude = (float)(1.0 / sqrt((double)size));
    for (int64_t j = 0; j < order; j++) srht->columns[j] = (int32_t)j;
    for (int64_t t = 0; t < size; t++) {
        const double u = attn_random_uniform(seed, stream + 1, (uint64_t)t);
        const int64_t other = t + (int64_t)(u * (double)(order - t));
        const int32_t column = srht->columns[other];
        srht->columns[other] = srht->columns[t];
        srht->columns[t] = column;
    }
    for (int64_t j = 0; j < dim; j++)
        srht->weights[j] = attn_random_u64(seed, stream, (uint64_t)j) & 1 ? magnitude : -magnitude;
}
