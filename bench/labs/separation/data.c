/* labs/separation/data.c: the data sets D0 and D1 (arXiv:2310.11685, Definitions 3.8, D.1 and F.1). */
#include "labs/separation/separation.h"

#include "attn/random.h"

#include <math.h>
#include <string.h>

/* What the draws of a trial are for: streams of their own. */
enum purpose { PURPOSE_SIGNS, PURPOSE_ENTRIES, PURPOSE_PLACES };

/* Places drawn in each data set. */
enum place { PLACE_KEY, PLACE_QUERY };

/* ---- random signs and places ------------------------------------------------------------------- */

void separation_signs(uint64_t seed, uint64_t stream, float *signs, int64_t count) {
    static const float four[16][4] = {
        {-1, -1, -1, -1}, {1, -1, -1, -1}, {-1, 1, -1, -1}, {1, 1, -1, -1},
        {-1, -1, 1, -1},  {1, -1, 1, -1},  {-1, 1, 1, -1},  {1, 1, 1, -1},
        {-1, -1, -1, 1},  {1, -1, -1, 1},  {-1, 1, -1, 1},  {1, 1, -1, 1},
        {-1, -1, 1, 1},   {1, -1, 1, 1},   {-1, 1, 1, 1},   {1, 1, 1, 1},
    };
    for (int64_t block = 0; block * 128 < count; block++) {
        uint32_t bits[4];
        attn_random_bits(seed, stream, (uint64_t)block, bits);
        const int64_t last = count < (block + 1) * 128 ? count : (block + 1) * 128;
        int64_t i = block * 128;
        for (; i + 4 <= last; i += 4)
            memcpy(signs + i, four[bits[i % 128 / 32] >> (i % 32) & 15], sizeof four[0]);
        for (; i < last; i++) signs[i] = bits[i % 128 / 32] >> (i % 32) & 1 ? 1.0f : -1.0f;
    }
}

static int64_t draw_place(const separation_t *what, const lab_point_t *point, uint64_t trial,
                          int set, enum place place) {
    const uint64_t stream = lab_stream(point, trial, PURPOSE_PLACES);
    const double u =
        attn_random_uniform(point->run->seed, stream, (uint64_t)(2 * set + (int)place));
    const int64_t i = (int64_t)(u * (double)what->n);
    return i < what->n ? i : what->n - 1; /* u n may have been rounded up */
}

/* ---- regression ---------------------------------------------------------------------------------- */

/*
 * Column 0 of `key` is Ax in D0, column 1 in D1: uniform in [log n, 1.4 log n]; in D1 one entry is
 * 4 log n. Queries e_0 and e_1 read them, so that both data sets share one problem and its value y.
 */
static void draw_regression(const separation_t *what, const lab_point_t *point, uint64_t trial,
                            const separation_arrays_t *arrays) {
    const uint64_t seed = point->run->seed, stream = lab_stream(point, trial, PURPOSE_ENTRIES);
    const double log_n = log((double)what->n), step = 0.4 * log_n * 0x1p-32;
    for (int64_t i = 0; i < 2 * what->n; i += 4) {
        uint32_t bits[4];
        attn_random_bits(seed, stream, (uint64_t)(i / 4), bits);
        for (int64_t k = 0; k < 4 && i + k < 2 * what->n; k++)
            arrays->key[i + k] = (float)(log_n + step * ((double)bits[k] + 0.5));
    }
    arrays->key[2 * draw_place(what, point, trial, 1, PLACE_KEY) + 1] = (float)(4 * log_n);
    memcpy(arrays->query, (const float[4]){1, 0, 0, 1}, 4 * sizeof(float));
}

/* ---- self-attention ------------------------------------------------------------------------------ */

/* Row i of A1 = A2 = A3. */
static void self_row(const separation_t *what, double a, int64_t i, int64_t place, float *row) {
    const double unit = sqrt(log((double)what->n));
    memset(row, 0, (size_t)what->d * sizeof *row);
    if (i == place) row[0] = (float)(a * unit);
    row[1 + i % (what->d - 2)] = (float)(what->b * unit);
    row[what->d - 1] = (float)(what->c * unit);
}

/* Row i of A1 X for all-ones X: the sum of A1's row, in all columns. */
static void self_ones_row(const separation_t *what, double a, int64_t i, int64_t place,
                          float *row) {
    const double unit = sqrt(log((double)what->n));
    const float sum = (float)((i == place ? a : 0) * unit + what->b * unit + what->c * unit);
    for (int64_t k = 0; k < what->d; k++) row[k] = sum;
}

/* ---- cross-attention ----------------------------------------------------------------------------- */

static void cross_key_row(const separation_t *what, int64_t i, int64_t place, float *row) {
    memset(row, 0, (size_t)what->d * sizeof *row);
    row[0] = i == place ? 1.0f : 0.0f;
    row[1 + i % (what->d - 1)] = 1.0f;
}

static void cross_query_row(const separation_t *what, double a, int64_t i, int64_t place,
                            float *row) {
    const double log_n = log((double)what->n);
    row[0] = i == place ? (float)(a * log_n) : 0.0f;
    for (int64_t k = 1; k < what->d; k++) row[k] = (float)log_n;
}

/* ---- trials -------------------------------------------------------------------------------------- */

/*
 * The row of A1 that query q is. When rows are asked once each: the first of its kind that is not the
 * special one, or the special one itself (for the last query, and for a kind that has no other row).
 */
static int64_t row_of(const separation_t *what, int64_t q, int64_t place) {
    if (!what->distinct) return q;
    const int64_t kinds = what->net == SEPARATION_SELF ? what->d - 2 : 1;
    if (q == what->queries - 1) return place;
    if (q != place) return q;
    return q + kinds < what->n ? q + kinds : place;
}

static void draw_set(const separation_t *what, const lab_point_t *point, uint64_t trial, int set,
                     float *query, float *key, int shared) {
    const double a = what->a[set];
    const int64_t place = draw_place(what, point, trial, set, PLACE_KEY);
    const int64_t row =
        what->net == SEPARATION_CROSS ? draw_place(what, point, trial, set, PLACE_QUERY) : place;
    for (int64_t i = 0; i < what->n; i++, key += what->d) {
        if (what->net == SEPARATION_CROSS)
            cross_key_row(what, i, place, key);
        else
            self_row(what, a, i, place, key);
    }
    for (int64_t q = 0; !shared && q < what->queries; q++, query += what->d) {
        const int64_t i = row_of(what, q, row);
        if (what->net == SEPARATION_CROSS)
            cross_query_row(what, a, i, row, query);
        else if (what->net == SEPARATION_SELF)
            self_row(what, a, i, row, query);
        else
            self_ones_row(what, a, i, row, query);
    }
}

void separation_draw(const separation_t *what, const lab_point_t *point, uint64_t trial,
                     const separation_arrays_t *arrays) {
    const int regression = what->net == SEPARATION_REGRESSION;
    separation_signs(point->run->seed, lab_stream(point, trial, PURPOSE_SIGNS), arrays->signs,
                     (regression ? what->n : what->d) * what->stride);
    if (regression) {
        draw_regression(what, point, trial, arrays);
        return;
    }
    const int shared = arrays->query == arrays->key;
    for (int set = 0; set < 2; set++)
        draw_set(what, point, trial, set, arrays->query + set * what->queries * what->d,
                 arrays->key + set * what->n * what->d, shared);
}
