/* See embedding_kernels.h. Compiled once per tier. */
#include "embedding_kernels.h"

#include "draw.h"
#include "gemm/tile.h"

enum { LANES = VF_LANES, COLUMNS = ATTN_EMBED_COLUMNS, LINE = 16 };
enum { GRAM_ROWS = VF_LANES < 16 ? 4 : 16 /* whose sums fit the registers */ };

/*
 * Some columns for a vector of features: sums stay in registers, a row of X is loaded once for all of them. Products
 * and sums that are not fused keep multipliers and adders busy side by side, and each factor, used once, comes from
 * memory with its product. `next`, or 0, is asked for meanwhile, a line of each row.
 */
ATTN_INLINE vf some_columns(const float *values, const float *matrix, int64_t rows, uintptr_t next,
                            int64_t stride) {
    vf sums[COLUMNS], square = vf_zero();
    ATTN_UNROLL
    for (int c = 0; c < COLUMNS; c++) sums[c] = vf_zero();
    for (int64_t r = 0; r < rows; r++) {
        const vf row = vf_load(values + r * LANES);
        if (VF_FETCHES && next) vf_prefetch(next + (uintptr_t)(r * stride) * sizeof *values);
        ATTN_UNROLL
        for (int c = 0; c < COLUMNS; c++)
            sums[c] = vf_add(sums[c], vf_mul(vf_set1(matrix[r * COLUMNS + c]), row));
    }
    ATTN_UNROLL
    for (int c = 0; c < COLUMNS; c++) square = vf_add(square, vf_mul(sums[c], sums[c]));
    return square;
}

/* Asks for what is taken next: `width` features of each row. */
ATTN_INLINE void ask(const float *values, int64_t stride, int64_t width, int64_t rows) {
    for (int64_t r = 0; VF_FETCHES && r < rows; r++)
        for (int64_t f = 0; f < width; f += LINE)
            vf_prefetch((uintptr_t)values + (uintptr_t)(r * stride + f) * sizeof *values);
}

/*
 * Some blocks of LANES features, the rows of each side by side: where d is a power of two, X's lie in one set of
 * the cache. Several blocks, so that memory is read in pieces of some lines.
 */
static void copy_blocks(const float *values, int64_t stride, int64_t rows, int64_t blocks,
                        float *copy) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t b = 0; b < blocks; b++)
            vf_store(copy + (b * rows + r) * LANES, vf_load(values + r * stride + b * LANES));
}

/* Terms of some columns that are not 0 for certain. */
static int64_t terms_of(const int32_t *last) {
    int64_t rows = 0;
    for (int i = 0; i < COLUMNS; i++) rows = last[i] + 1 > rows ? last[i] + 1 : rows;
    return rows;
}

static void all_columns(const float *values, const float *matrix, int64_t rows, const int32_t *last,
                        int64_t columns, uintptr_t next, int64_t stride, double *result) {
    float squares[LANES];
    vf sum = vf_zero();
    for (int64_t c = 0; c < columns - COLUMNS; c += COLUMNS)
        sum = vf_add(sum, some_columns(values, matrix + c * rows, terms_of(last + c), 0, 0));
    const int64_t c = columns - COLUMNS;
    sum = vf_add(sum, some_columns(values, matrix + c * rows, terms_of(last + c), next, stride));
    vf_store(squares, sum);
    for (int f = 0; f < LANES; f++) result[f] = (double)squares[f];
}

/* The same for one of the features behind the last whole vector. */
static float square_of(const float *values, int64_t stride, const float *matrix, int64_t rows,
                       const int32_t *last, int64_t columns) {
    float square = 0;
    for (int64_t c = 0; c < columns; c += COLUMNS, matrix += COLUMNS * rows) {
        const int64_t terms = terms_of(last + c);
        float sums[COLUMNS] = {0}, some = 0;
        for (int64_t r = 0; r < terms; r++)
            for (int i = 0; i < COLUMNS; i++)
                sums[i] += matrix[r * COLUMNS + i] * values[r * stride];
        for (int i = 0; i < COLUMNS; i++) some += sums[i] * sums[i];
        square += some;
    }
    return square;
}

static void squares(const float *values, int64_t stride, int64_t width, const float *matrix,
                    int64_t rows, const int32_t *last, int64_t columns, float *copy,
                    double *result) {
    const int64_t most = ATTN_EMBED_COPIED / LANES, whole = width / LANES;
    for (int64_t done = 0; done < whole; done += most) {
        const int64_t blocks = attn_min(most, whole - done);
        const float *chunk = values + done * LANES;
        const uintptr_t ahead = (uintptr_t)chunk + ATTN_EMBED_COPIED * sizeof *chunk;
        copy_blocks(chunk, stride, rows, blocks, copy);
        for (int64_t b = 0; b < blocks; b++)
            all_columns(copy + b * rows * LANES, matrix, rows, last, columns,
                        ahead + (uintptr_t)(b * LANES) * sizeof *chunk, stride,
                        result + (done + b) * LANES);
    }
    for (int64_t f = whole * LANES; f < width; f++)
        result[f] = (double)square_of(values + f, stride, matrix, rows, last, columns);
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
    if (columns == ATTN_EMBED_ROWS && sparsity == ATTN_EMBED_PLACES)
        add_rows(rows, count, ATTN_EMBED_ROWS, entries, ATTN_EMBED_PLACES, embedded);
    else if (columns == ATTN_EMBED_ROWS)
        add_rows(rows, count, ATTN_EMBED_ROWS, entries, sparsity, embedded);
    else
        add_rows(rows, count, columns, entries, sparsity, embedded);
}

static void turn(const float *values, int64_t stride, int64_t width, int64_t rows, float *panel) {
    ask(values + width, stride, width, rows);
    tile_pack(panel, ATTN_EMBED_ROWS, rows, width, values, stride, 1, 1.0f);
}

/* Some rows of the tile, and all columns. */
ATTN_INLINE void gram_rows(const float *a, const float *b, int64_t count, double *tile) {
    enum { V = ATTN_EMBED_ROWS / LANES };
    vf sums[GRAM_ROWS][V];
    float results[ATTN_EMBED_ROWS];
    ATTN_UNROLL
    for (int r = 0; r < GRAM_ROWS; r++) {
        ATTN_UNROLL
        for (int v = 0; v < V; v++) sums[r][v] = vf_zero();
    }
    for (int64_t t = 0; t < count; t++, a += ATTN_EMBED_ROWS, b += ATTN_EMBED_ROWS) {
        ATTN_UNROLL
        for (int r = 0; r < GRAM_ROWS; r++) {
            const vf factor = vf_set1(a[r]);
            ATTN_UNROLL
            for (int v = 0; v < V; v++)
                sums[r][v] = vf_add(sums[r][v], vf_mul(factor, vf_load(b + v * LANES)));
        }
    }
    ATTN_UNROLL
    for (int r = 0; r < GRAM_ROWS; r++) {
        ATTN_UNROLL
        for (int v = 0; v < V; v++) vf_store(results + v * LANES, sums[r][v]);
        for (int c = 0; c < ATTN_EMBED_ROWS; c++)
            tile[r * ATTN_EMBED_ROWS + c] += (double)results[c];
    }
}

static void gram(const float *a, const float *b, int64_t count, double *tile) {
    for (int r = 0; r < ATTN_EMBED_ROWS; r += GRAM_ROWS)
        gram_rows(a + r, b, count, tile + r * ATTN_EMBED_ROWS);
}

/* Some terms at a time, one after the other, so that `row` is read and written once for them. */
static void eliminate(double *restrict row, const double *restrict above, int64_t stride,
                      int64_t terms, int64_t columns) {
    int64_t k = 0;
    for (; k + 4 <= terms; k += 4) {
        const double *a = above + k * stride, *b = a + stride, *c = b + stride, *d = c + stride;
        const double x = a[0], y = b[0], z = c[0], w = d[0];
        for (int64_t i = 0; i < columns; i++)
            row[i] = (((row[i] - x * a[i]) - y * b[i]) - z * c[i]) - w * d[i];
    }
    for (; k < terms; k++) {
        const double *a = above + k * stride, x = a[0];
        for (int64_t i = 0; i < columns; i++) row[i] -= x * a[i];
    }
}

static void draw(attn_sketch_entry_t *entries, const attn_sketch_part_t *part, int64_t sparsity) {
    draw_embedding(entries, part, sparsity);
}

const embedding_kernels_t ATTN_KERNEL(attn_embedding_kernels) = {.draw = draw,
                                                                 .embed = embed,
                                                                 .turn = turn,
                                                                 .gram = gram,
                                                                 .eliminate = eliminate,
                                                                 .squares = squares};
