/* sketching/x.c: see x.h. */
#include "sketching/x.h"

#include "attn/support.h"
#include "sketch/csr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t sketching_stored(const sketching_x_t *x) {
    return x->dense ? x->rows * x->columns : x->starts[x->rows];
}

void *sketching_allocate(int64_t rows, int64_t columns, size_t size) {
    if (columns > 0 && rows > INT64_MAX / (int64_t)size / columns) return NULL;
    return calloc((size_t)(rows * columns) + 1, size);
}

void *sketching_room(const attn_arena_t *arena) {
    return arena->overflow ? NULL : sketching_allocate(1, (int64_t)arena->used, 1);
}

attn_status_t sketching_no_memory(const sketching_x_t *x, attn_error_t *error) {
    return attn_fail(error, ATTN_ERROR_MEMORY,
                     "no memory for what a sketch of this X, %lld x %lld, takes",
                     (long long)x->rows, (long long)x->columns);
}

/* ---- what is one ----------------------------------------------------------------------------------- */

static attn_status_t check_sizes(const sketching_x_t *x, attn_error_t *error) {
    if (x->rows < 1 || x->columns < 1)
        return attn_fail(error, ATTN_ERROR_SHAPE, "X: %lld x %lld, has to have a row and a feature",
                         (long long)x->rows, (long long)x->columns);
    if (x->columns > SKETCHING_MOST_COLUMNS)
        return attn_fail(error, ATTN_ERROR_SHAPE, "X: %lld features, 2^31 are the most",
                         (long long)x->columns);
    return ATTN_OK;
}

static attn_status_t check_row(const sketching_x_t *x, int64_t i, attn_error_t *error) {
    int64_t last = -1;
    for (int64_t at = x->starts[i]; at < x->starts[i + 1]; at++) {
        const int64_t column = x->indices[at];
        if (column <= last || column >= x->columns)
            return attn_csr_refuse(i, column, last, x->columns, error);
        last = column;
    }
    return ATTN_OK;
}

attn_status_t sketching_check(const sketching_x_t *x, int64_t stored, attn_error_t *error) {
    attn_status_t status = check_sizes(x, error);
    if (status == ATTN_OK && !x->dense)
        status = attn_csr_check_starts(x->starts, x->rows, stored, error);
    for (int64_t i = 0; i < x->rows && status == ATTN_OK && !x->dense; i++)
        status = check_row(x, i, error);
    if (status != ATTN_OK) return status;
    return attn_csr_check_finite(x->dense ? x->dense : x->data, sketching_stored(x), error);
}

attn_status_t sketching_check_places(const sketching_x_t *x, const int64_t *places, int64_t stored,
                                     attn_error_t *error) {
    const attn_csr_t csr = {x->rows, x->columns, stored, x->starts, places, x->data};
    const attn_status_t status = check_sizes(x, error);
    return status == ATTN_OK ? attn_csr_check(&csr, error) : status;
}

/* ---- by rows ---------------------------------------------------------------------------------------- */

double sketching_largest(const sketching_x_t *x) {
    double largest = 0;
    for (int64_t i = 0; i < x->rows; i++) largest = fmax(largest, attn_x_square(x, i));
    return largest;
}

/* ---- by features ------------------------------------------------------------------------------------ */

static int create_dense(sketching_features_t *features) {
    const int64_t n = features->x->rows;
    features->rows = sketching_allocate(n, 1, sizeof *features->rows);
    for (int64_t i = 0; features->rows && i < n; i++) features->rows[i] = (int32_t)i;
    return features->rows != NULL;
}

/* Counts, running sums, and each element to its place: rows come in order. */
static int create_sparse(sketching_features_t *features) {
    const sketching_x_t *x = features->x;
    const size_t stored = (size_t)sketching_stored(x), d = (size_t)x->columns;
    int64_t *next = calloc(d + 2, sizeof *next);
    features->starts = next;
    features->rows = malloc((stored + 1) * sizeof *features->rows);
    features->values = malloc((stored + 1) * sizeof *features->values);
    if (!next || !features->rows || !features->values) return 0;
    for (size_t at = 0; at < stored; at++) next[x->indices[at] + 2]++;
    for (size_t j = 2; j < d + 2; j++) next[j] += next[j - 1];
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t at = x->starts[i]; at < x->starts[i + 1]; at++) {
            const int64_t to = next[x->indices[at] + 1]++; /* ends where the next one begins */
            features->rows[to] = (int32_t)i;
            features->values[to] = x->data[at];
        }
    return 1;
}

int sketching_features_create(const sketching_x_t *x, sketching_features_t *features) {
    *features = (sketching_features_t){.x = x};
    if (x->dense ? create_dense(features) : create_sparse(features)) return 1;
    sketching_features_destroy(features);
    return 0;
}

void sketching_features_destroy(sketching_features_t *features) {
    free(features->starts);
    free(features->rows);
    free(features->values);
    *features = (sketching_features_t){.x = NULL};
}
