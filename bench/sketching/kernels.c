/* sketching/kernels.c: see kernels.h. Compiled once per tier. */
#include "sketching/kernels.h"

#include "simd/tile.h"
#include "sketching/draw.h"

enum { VECTORS = 2, LANES = VECTORS * VF_LANES, COLUMNS = 4 };

/* Four columns for some features: sums stay in registers, a row of X is loaded once for all of them. */
static void four_columns(const float *values, int64_t stride, const float *matrix, int64_t rows,
                         double *squares) {
    vf sums[COLUMNS][VECTORS];
    float square[LANES];
    ATTN_UNROLL
    for (int c = 0; c < COLUMNS; c++) {
        ATTN_UNROLL
        for (int v = 0; v < VECTORS; v++) sums[c][v] = vf_set1(0);
    }
    for (int64_t r = 0; r < rows; r++) {
        const float *row = values + r * stride, *factors = matrix + r * COLUMNS;
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

/*
 * Some blocks of LANES features, the rows of each side by side: where d is a power of two, X's lie in one set of
 * the cache. Several blocks, so that memory is read in pieces of some lines.
 */
static void copy_blocks(const float *values, int64_t stride, int64_t rows, int64_t blocks,
                        float *copy) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t b = 0; b < blocks; b++) {
            ATTN_UNROLL
            for (int v = 0; v < VECTORS; v++)
                vf_store(copy + (b * rows + r) * LANES + v * VF_LANES,
                         vf_load(values + r * stride + b * LANES + v * VF_LANES));
        }
}

/* Terms of four columns that are not 0 for certain. */
static int64_t rows_of_four(const int32_t *last) {
    int64_t rows = 0;
    for (int i = 0; i < COLUMNS; i++) rows = last[i] + 1 > rows ? last[i] + 1 : rows;
    return rows;
}

/* What four_columns() does for the features behind the last whole vectors. */
static void square_of(const float *values, int64_t stride, const float *matrix, int64_t rows,
                      double *square) {
    float sum[COLUMNS] = {0}, four = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int i = 0; i < COLUMNS; i++) sum[i] += matrix[r * COLUMNS + i] * values[r * stride];
    for (int i = 0; i < COLUMNS; i++) four += sum[i] * sum[i];
    *square += (double)four;
}

static void squares(const float *values, int64_t stride, int64_t width, const float *matrix,
                    int64_t rows, const int32_t *last, int64_t columns, float *copy,
                    double *result) {
    const int64_t most = SKETCHING_COPIED / LANES, whole = width / LANES;
    for (int64_t done = 0; done < whole; done += most) {
        const int64_t blocks = tile_min(most, whole - done);
        copy_blocks(values + done * LANES, stride, rows, blocks, copy);
        for (int64_t b = 0; b < blocks; b++)
            for (int64_t c = 0; c < columns; c += COLUMNS)
                four_columns(copy + b * rows * LANES, LANES, matrix + c * rows,
                             rows_of_four(last + c), result + (done + b) * LANES);
    }
    for (int64_t f = whole * LANES; f < width; f++)
        for (int64_t c = 0; c < columns; c += COLUMNS)
            square_of(values + f, stride, matrix + c * rows, rows_of_four(last + c), result + f);
}

/* Some vectors of a row into a bucket. */
ATTN_INLINE void add_vectors(int vectors, vf weight, const float *row, float *bucket) {
    vf sums[4];
    ATTN_UNROLL
    for (int v = 0; v < vectors; v++)
        sums[v] =
            vf_add(vf_load(bucket + v * VF_LANES), vf_mul(weight, vf_load(row + v * VF_LANES)));
    ATTN_UNROLL
    for (int v = 0; v < vectors; v++) vf_store(bucket + v * VF_LANES, sums[v]);
}

ATTN_INLINE void add_row(float weight, const float *row, int64_t columns, float *bucket) {
    const vf weights = vf_set1(weight);
    int64_t c = 0;
    for (; c + 4 * VF_LANES <= columns; c += 4 * VF_LANES)
        add_vectors(4, weights, row + c, bucket + c);
    for (; c + VF_LANES <= columns; c += VF_LANES) add_vectors(1, weights, row + c, bucket + c);
    for (; c < columns; c++) bucket[c] += weight * row[c];
}

ATTN_INLINE void add_rows(const float *rows, int64_t count, int64_t columns,
                          const attn_sketch_entry_t *entries, int64_t sparsity, float *embedded) {
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = j * sparsity; i < (j + 1) * sparsity; i++)
            add_row(entries[i].weight, rows + j * columns, columns,
                    embedded + entries[i].column * columns);
}

static void embed(const float *rows, int64_t count, int64_t columns,
                  const attn_sketch_entry_t *entries, int64_t sparsity, float *embedded) {
    if (columns == SKETCHING_ROWS)
        add_rows(rows, count, SKETCHING_ROWS, entries, sparsity, embedded);
    else
        add_rows(rows, count, columns, entries, sparsity, embedded);
}

static void turn(const float *values, int64_t stride, int64_t width, int64_t rows, float *panel) {
    tile_pack(panel, SKETCHING_ROWS, rows, width, values, stride, 1, 1.0f);
}

static void draw(attn_sketch_entry_t *entries, const attn_sketch_part_t *part, int64_t sparsity) {
    draw_embedding(entries, part, sparsity);
}

const sketching_kernels_t ATTN_KERNEL(attn_sketching_kernels) = {
    .draw = draw, .embed = embed, .turn = turn, .squares = squares};
