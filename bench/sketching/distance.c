/* sketching/distance.c: how near a sketch is; see sketch.h. */
#include "algebra/algebra.h"
#include "attn/plugin.h"
#include "attn/support.h"
#include "sketching/basis.h"
#include "sketching/sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the spectrum ------------------------------------------------------------------------------------ */

/* Of the sum of z z^T over the columns z of N^T Y. */
static int find_distortion(const sketching_features_t *features, const algebra_solver_t *solver,
                           const float *y, int64_t m, sketching_distance_t *distance) {
    double *images = sketching_images(features, solver, y, m, &distance->rank);
    const int64_t k = distance->rank;
    double *form = images ? sketching_allocate(k + 1, k, sizeof *form) : NULL;
    for (int64_t a = 0; a < k && form; a++)
        for (int64_t b = 0; b <= a; b++)
            form[a * k + b] = form[b * k + a] = algebra_dot(images + a * m, images + b * m, m);
    const int done = form && (k == 0 || solver->eigen(form, k, form + k * k));
    for (int64_t c = 0; c < k && done; c++)
        distance->distortion = fmax(distance->distortion, fabs(form[k * k + c] - 1));
    free(images);
    free(form);
    return done;
}

/* ---- the attention matrix ------------------------------------------------------------------------------ */

/* Rows [first, first + count) of X X^T. */
typedef struct gram_rows {
    int64_t first, count, n;
    double *rows;  /* count x n */
    double *panel; /* ATTN_BLOCK_WIDTH x n */
} gram_rows_t;

/* The first of a block's rows that is not below `row`. */
static int64_t find_row(const attn_block_t *block, int64_t row) {
    int64_t r = 0;
    while (r < block->count && block->rows[r] < row) r++;
    return r;
}

/* A feature of few elements. */
static void add_elements(const gram_rows_t *gram, const attn_block_t *block) {
    for (int64_t r = find_row(block, gram->first); r < block->count; r++) {
        const int64_t row = block->rows[r] - gram->first;
        const double value = (double)block->values[r];
        if (row >= gram->count) return;
        for (int64_t s = 0; s < block->count; s++)
            gram->rows[row * gram->n + block->rows[s]] += value * (double)block->values[s];
    }
}

/* Some features of a dense X, which the panel has one a row: products of four at a time. */
static void add_panel(const gram_rows_t *gram, const attn_block_t *block) {
    enum { STEP = 4 };
    const int64_t n = gram->n, width = attn_round_up(block->width, STEP);
    memset(gram->panel, 0, (size_t)(width * n) * sizeof *gram->panel);
    for (int64_t s = 0; s < n; s++)
        for (int64_t f = 0; f < block->width; f++)
            gram->panel[f * n + s] = (double)block->values[s * block->stride + f];
    for (int64_t r = 0; r < gram->count; r++)
        for (int64_t f = 0; f < width; f += STEP) {
            const double *p = gram->panel + f * n, *at = p + gram->first + r;
            const double a = at[0], b = at[n], c = at[2 * n], d = at[3 * n];
            double *restrict row = gram->rows + r * n;
            for (int64_t s = 0; s < n; s++)
                row[s] += (a * p[s] + b * p[n + s]) + (c * p[2 * n + s] + d * p[3 * n + s]);
        }
}

static void fill_gram(const sketching_features_t *features, const gram_rows_t *gram) {
    memset(gram->rows, 0, (size_t)(gram->count * gram->n) * sizeof *gram->rows);
    for (int64_t first = 0; first < features->x->columns;) {
        const attn_block_t block = attn_block(features, first);
        first += block.width;
        (features->x->dense ? add_panel : add_elements)(gram, &block);
    }
}

/* D^-1 exp(S) in place of S, row by row. */
static void soften(const gram_rows_t *gram) {
    for (int64_t i = 0; i < gram->count; i++) {
        double *row = gram->rows + i * gram->n, most = row[0], sum = 0;
        for (int64_t j = 1; j < gram->n; j++) most = fmax(most, row[j]);
        for (int64_t j = 0; j < gram->n; j++) sum += row[j] = exp(row[j] - most);
        for (int64_t j = 0; j < gram->n; j++) row[j] /= sum;
    }
}

/* So many rows at a time that memory is X's: all of them where there are no more rows than features. */
static int find_entry(const sketching_features_t *features, const sketching_features_t *sketch,
                      sketching_distance_t *distance) {
    enum { LEAST_ROWS = 64 };
    const int64_t n = features->x->rows;
    const int64_t most = attn_min(n, attn_max(features->x->columns, LEAST_ROWS));
    gram_rows_t exact = {.n = n}, near = {.n = n};
    double *room = sketching_allocate(2 * most + ATTN_BLOCK_WIDTH, n, sizeof *room);
    if (!room) return 0;
    exact.rows = room;
    near.rows = exact.rows + most * n;
    exact.panel = near.panel = near.rows + most * n;
    for (int64_t first = 0; first < n; first += most) {
        exact.first = near.first = first;
        exact.count = near.count = attn_min(most, n - first);
        fill_gram(features, &exact);
        fill_gram(sketch, &near);
        soften(&exact);
        soften(&near);
        for (int64_t at = 0; at < exact.count * n; at++)
            distance->entry = fmax(distance->entry, fabs(exact.rows[at] - near.rows[at]));
    }
    free(room);
    return 1;
}

attn_status_t sketching_measure(const sketching_features_t *features,
                                const algebra_solver_t *solver, const float *y, int64_t size,
                                sketching_distance_t *distance, attn_error_t *error) {
    const int64_t n = features->x->rows;
    const sketching_x_t rows = {.rows = n, .columns = size, .dense = y};
    sketching_features_t sketch = {.x = NULL};
    *distance = (sketching_distance_t){.rank = 0};
    const int done = n < INT32_MAX && sketching_features_create(&rows, &sketch) &&
                     find_distortion(features, solver, y, size, distance) &&
                     find_entry(features, &sketch, distance);
    sketching_features_destroy(&sketch);
    if (done) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_MEMORY, "no memory to compare %lld x %lld logits",
                     (long long)n, (long long)n);
}
