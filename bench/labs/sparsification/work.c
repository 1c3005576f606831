/* labs/sparsification/work.c: operations of the deterministic sparsifier, counted; see lab.h. */
#include "labs/sparsification/lab.h"

#include "attn/support.h"
#include "sketching/barrier.h"
#include "sketching/basis.h"

#include <math.h>
#include <stdlib.h>

/* Additions and multiplications of a step, by the loops of sketch/barrier.c on these features. */
static double step_work(const sketching_features_t *features, const sketching_basis_t *basis) {
    const double n = (double)basis->rows, k = (double)basis->rank;
    const double inverses = 2 * k * k * k, forms = 2 * (k * k * (n + 1) / 2 + k * n * (n + 1) / 2);
    double rooms = 0;
    for (int64_t first = 0; first < features->x->columns;) {
        const attn_block_t block = attn_block(features, first);
        rooms += (double)block.width * (double)block.count * (double)(block.count + 3) / 2;
        first += block.width;
    }
    return 2 * (inverses + forms + rooms);
}

/* Of each feature the square of how many elements it has. */
static double sum_of_squares(const symmetric_t *symmetric) {
    double sum = 0;
    for (int64_t j = 0; j < symmetric->dim; j++) {
        double stored = 0;
        for (int64_t i = 0; i < symmetric->rows; i++)
            stored += symmetric->x[i * symmetric->dim + j] != 0;
        sum += stored * stored;
    }
    return sum;
}

static attn_status_t run(const sketching_features_t *features, double eps, double *row,
                         attn_error_t *error) {
    sketching_basis_t basis;
    attn_barrier_end_t end;
    double *weights = sketching_allocate(features->x->columns, 1, sizeof *weights);
    int done = weights && sketching_basis_exact(features, &algebra_plain, &basis);
    if (done) {
        const int64_t steps = (int64_t)attn_barrier_steps(basis.rank, eps);
        done = sketching_barrier(features, &basis, steps, weights, &end);
        if (done) {
            row[WORK] = (double)end.steps * step_work(features, &basis);
            row[WORK_STEPS] = (double)end.steps;
            row[WORK_DISTORTION] = end.distortion;
        }
    }
    if (weights) sketching_basis_destroy(&basis);
    free(weights);
    return done ? ATTN_OK : sketching_no_memory(features->x, error);
}

attn_status_t sparsification_work(const lab_point_t *point, double *row, attn_error_t *error) {
    const double n = point->values[ROWS], eps = point->values[EPS];
    symmetric_t symmetric;
    sketching_features_t features;
    attn_status_t status = sparsification_draw(point, 0, &symmetric, error);
    if (status) return status;
    const sketching_x_t x = {
        .rows = symmetric.rows, .columns = symmetric.dim, .dense = symmetric.x};
    row[WORK_BOUND] = sum_of_squares(&symmetric) + pow(n, 4) / (eps * eps);
    row[WORK_EPS] = eps;
    if (sketching_features_create(&x, &features))
        status = run(&features, eps, row, error);
    else
        status = sketching_no_memory(&x, error);
    sketching_features_destroy(&features);
    symmetric_destroy(&symmetric);
    return status;
}
