/* rows/scores.c: leverage scores, and the deterministic sparsifier. */
#include "rows.h"

#include "sketching/approximate.h"
#include "sketching/scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* As a sketch does: a quarter of delta for each of the embedding and the JL matrix. */
static attn_status_t scores_approximately(void *data) {
    static const double delta = 0.1 / 4;
    problem_t *problem = data;
    sketching_triangle_t triangle;
    const attn_status_t status =
        sketching_triangle_embedded(&problem->features, ATTN_SCORES_FACTOR, delta, 1, &triangle);
    if (status) return status;
    const int done = sketching_scores_projected(&problem->features, &triangle, ATTN_SCORES_FACTOR,
                                                delta, 1, problem->scores);
    sketching_triangle_destroy(&triangle);
    return done ? ATTN_OK : ATTN_ERROR_MEMORY;
}

static attn_status_t scores_exactly(void *data) {
    problem_t *problem = data;
    sketching_basis_t basis;
    if (!sketching_basis_exact(&problem->features, algebra_best(), &basis))
        return ATTN_ERROR_MEMORY;
    const int done = sketching_scores(&problem->features, &basis, problem->scores);
    sketching_basis_destroy(&basis);
    return done ? ATTN_OK : ATTN_ERROR_MEMORY;
}

void rows_scores(void) {
    for (int64_t n = 64; n <= 128; n *= 2) {
        char what[96], beside[96];
        problem_t problem = rows_dense(n, 65536);
        if (!sketching_features_create(&problem.x, &problem.features)) exit(1);
        snprintf(what, sizeof what, "leverage scores (Algorithm 2), 65536 x %d", (int)n);
        const double near = rows_time(scores_approximately, &problem);
        snprintf(beside, sizeof beside, "QR by %s %.4g ms", algebra_best()->name,
                 1e3 * rows_time(scores_exactly, &problem));
        rows_say(what, near, n == 64 ? 9e-3 : 25e-3, beside);
        rows_release(&problem);
    }
}

enum { LENGTHS = 3 };

static double seconds_of(int64_t d) {
    problem_t problem = rows_dense(64, d);
    if (!sketching_features_create(&problem.x, &problem.features)) exit(1);
    problem.options.method = SKETCHING_DETERMINISTIC;
    problem.options.size = 1024;
    const double seconds = rows_time(rows_sketch, &problem);
    rows_release(&problem);
    return seconds;
}

/* Time over d: a line that does not begin at 0, as each step inverts its matrices, n x n, whatever d is. */
void rows_deterministic(void) {
    static const double lengths[LENGTHS] = {2048, 4096, 8192};
    double seconds[LENGTHS];
    for (int i = 0; i < LENGTHS; i++) seconds[i] = seconds_of((int64_t)lengths[i]);
    const line_t line = rows_line(lengths, seconds, LENGTHS);
    for (int i = 0; i < LENGTHS; i++) {
        char what[96], beside[160];
        const double d = lengths[i], off = seconds[i] / (line.start + line.slope * d) - 1;
        snprintf(what, sizeof what, "deterministic sparsifier n = 64, d = %.0f, m = 1024", d);
        snprintf(beside, sizeof beside,
                 "%+.1f%% off %.3g ms + %.3g us a feature, asked 15%%: %s; a feature takes %.3g of "
                 "one of 2048",
                 100 * off, line.start * 1e3, line.slope * 1e6, rows_verdict(fabs(off) <= 0.15),
                 seconds[i] / d / (seconds[0] / lengths[0]));
        rows_say(what, seconds[i], d == 4096 ? 5 : NAN, beside);
    }
}
