/* sketching/distance.c: how near a sketch is; see sketch.h. */
#include "attn/plugin.h"
#include "sketching/scores.h"
#include "sketching/sketch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* X X^T, n x n, from the elements of each feature. */
static void fill_gram(const sketching_features_t *features, double *gram) {
    const int64_t n = features->x->rows;
    memset(gram, 0, (size_t)(n * n) * sizeof *gram);
    for (int64_t first = 0; first < features->x->columns;) {
        const sketching_block_t block = sketching_block(features, first);
        first += block.width;
        for (int64_t r = 0; r < block.count; r++)
            for (int64_t s = 0; s <= r; s++) {
                const float *a = block.values + r * block.stride;
                const float *b = block.values + s * block.stride;
                double sum = 0;
                for (int64_t f = 0; f < block.width; f++) sum += (double)a[f] * (double)b[f];
                gram[block.rows[r] * n + block.rows[s]] += sum;
            }
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) gram[j * n + i] = gram[i * n + j];
}

/* D^-1 exp(S) in place of S, row by row. */
static void soften(double *logits, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double *row = logits + i * n, most = row[0], sum = 0;
        for (int64_t j = 1; j < n; j++) most = fmax(most, row[j]);
        for (int64_t j = 0; j < n; j++) sum += row[j] = exp(row[j] - most);
        for (int64_t j = 0; j < n; j++) row[j] /= sum;
    }
}

/* form = N^T S N, rank x rank; `room` is n x rank. */
static void sandwich(const sketching_basis_t *basis, const double *s, double *room, double *form) {
    const int64_t n = basis->rows, k = basis->rank;
    memset(room, 0, (size_t)(n * k) * sizeof *room);
    memset(form, 0, (size_t)(k * k) * sizeof *form);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t c = 0; c < k; c++)
                room[i * k + c] += s[i * n + j] * basis->matrix[j * k + c];
    for (int64_t i = 0; i < n; i++)
        for (int64_t b = 0; b < k; b++)
            for (int64_t c = 0; c < k; c++)
                form[b * k + c] += basis->matrix[i * k + b] * room[i * k + c];
}

static int measure(const sketching_features_t *features, const algebra_solver_t *solver,
                   const sketching_features_t *sketch, sketching_basis_t *basis, double *room,
                   sketching_distance_t *distance) {
    const int64_t n = features->x->rows, square = n * n;
    double *exact = room, *near = exact + square, *form = near + square, *values = form + square;
    fill_gram(sketch, near);
    if (!sketching_basis_exact(features, solver, basis)) return 0;
    distance->rank = basis->rank;
    sandwich(basis, near, exact, form);
    if (basis->rank > 0 && !solver->eigen(form, basis->rank, values)) return 0;
    for (int64_t k = 0; k < basis->rank; k++)
        distance->distortion = fmax(distance->distortion, fabs(values[k] - 1));
    fill_gram(features, exact);
    soften(exact, n);
    soften(near, n);
    for (int64_t i = 0; i < square; i++)
        distance->entry = fmax(distance->entry, fabs(exact[i] - near[i]));
    return 1;
}

attn_status_t sketching_measure(const sketching_features_t *features,
                                const algebra_solver_t *solver, const float *y, int64_t size,
                                sketching_distance_t *distance, attn_error_t *error) {
    const int64_t n = features->x->rows;
    const sketching_x_t rows = {.rows = n, .columns = size, .dense = y};
    sketching_features_t sketch;
    sketching_basis_t basis = {.matrix = NULL};
    double *room = n < INT32_MAX ? calloc((size_t)(3 * n * n + n), sizeof *room) : NULL;
    *distance = (sketching_distance_t){.rank = 0};
    int done = sketching_features_create(&rows, &sketch) && room;
    done = done && measure(features, solver, &sketch, &basis, room, distance);
    sketching_features_destroy(&sketch);
    sketching_basis_destroy(&basis);
    free(room);
    if (done) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_MEMORY, "no memory to compare %lld x %lld logits",
                     (long long)n, (long long)n);
}
