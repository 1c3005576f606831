/* sketching/kernels.c: see kernels.h. Compiled once per tier. */
#include "sketching/kernels.h"

#include "simd/tile.h"

enum { VECTORS = 2, LANES = VECTORS * VF_LANES, COLUMNS = 4 };

/* Four columns for some features: sums stay in registers, a row of X is loaded once for all of them. */
static void four_columns(const float *values, int64_t stride, const float *matrix, int64_t columns,
                         int64_t rows, double *squares) {
    vf sums[COLUMNS][VECTORS];
    float square[LANES];
    ATTN_UNROLL
    for (int c = 0; c < COLUMNS; c++) {
        ATTN_UNROLL
        for (int v = 0; v < VECTORS; v++) sums[c][v] = vf_set1(0);
    }
    for (int64_t r = 0; r < rows; r++) {
        const float *row = values + r * stride, *factors = matrix + r * columns;
        ATTN_UNROLL
        for (int c = 0; c < COLUMNS; c++) {
            const vf factor = vf_set1(factors[c]);
            ATTN_UNROLL
            for (int v = 0; v < VECTORS; v++)
                sums[c][v] = vf_add(sums[c][v], vf_mul(factor, vf_load(row + v * VF_LANES)));
        }
    }
    ATTN_UNROLL
    for (int v = 0; v < VECTORS; v++) {
        vf sum = vf_set1(0);
        ATTN_UNROLL
        for (int c = 0; c < COLUMNS; c++) sum = vf_add(sum, vf_mul(sums[c][v], sums[c][v]));
        vf_store(square + v * VF_LANES, sum);
    }
    for (int f = 0; f < LANES; f++) squares[f] += (double)square[f];
}

static void squares(const float *values, int64_t stride, int64_t width, const float *matrix,
                    const int32_t *last, int64_t columns, double *result) {
    for (int64_t c = 0; c < columns; c += COLUMNS) {
        int64_t rows = 0;
        for (int i = 0; i < COLUMNS; i++) rows = last[c + i] + 1 > rows ? last[c + i] + 1 : rows;
        int64_t f = 0;
        for (; f + LANES <= width; f += LANES)
            four_columns(values + f, stride, matrix + c, columns, rows, result + f);
        for (; f < width; f++) {
            float square = 0;
            for (int i = 0; i < COLUMNS; i++) {
                float sum = 0;
                for (int64_t r = 0; r < rows; r++)
                    sum += matrix[r * columns + c + i] * values[r * stride + f];
                square += sum * sum;
            }
            result[f] += (double)square;
        }
    }
}

/* Features turned to lie side by side, so that one goes into its buckets by whole vectors. */
static void embed(const float *values, int64_t stride, int64_t width, int64_t rows,
                  const attn_sketch_entry_t *entries, int64_t sparsity, float *panel,
                  float *embedded) {
    const int64_t padded = sketching_padded(rows);
    tile_pack(panel, padded, rows, width, values, stride, 1, 1.0f);
    for (int64_t f = 0; f < width; f++)
        for (int64_t i = f * sparsity; i < (f + 1) * sparsity; i++) {
            const float *feature = panel + f * padded;
            float *bucket = embedded + entries[i].column * padded;
            const vf weight = vf_set1(entries[i].weight);
            for (int64_t r = 0; r < padded; r += VF_LANES)
                vf_store(bucket + r,
                         vf_add(vf_load(bucket + r), vf_mul(weight, vf_load(feature + r))));
        }
}

const sketching_kernels_t ATTN_KERNEL(attn_sketching_kernels) = {.embed = embed,
                                                                 .squares = squares};
