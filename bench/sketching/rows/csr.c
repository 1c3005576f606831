/* rows/csr.c: time over the elements of a CSR. */
#include "rows.h"

#include "attn/random.h"

#include <stdio.h>
#include <stdlib.h>

static attn_status_t pass(void *data) {
    const problem_t *problem = data;
    const int64_t stored = sketching_stored(&problem->x);
    float sums[16] = {0};
    int32_t places[16] = {0};
    for (int64_t at = 0; at + 16 <= stored; at += 16)
        for (int l = 0; l < 16; l++) {
            sums[l] += problem->x.data[at + l];
            places[l] ^= problem->x.indices[at + l];
        }
    for (int l = 0; l < 16; l++) problem->scores[l] = (double)sums[l] + places[l];
    return ATTN_OK;
}

static attn_status_t sketch_from_csr(void *data) {
    problem_t *problem = data;
    problem->features = (sketching_features_t){.x = &problem->x};
    return rows_sketch(data);
}

/* Every 1 / density-th column on the average, by random steps. */
static problem_t sparse(int64_t rows, int64_t columns, int64_t every) {
    const int64_t most = rows * (columns / every + 1) * 2;
    int64_t *starts = rows_room(rows + 1, sizeof *starts), used = 0;
    int32_t *indices = rows_room(most, sizeof *indices);
    float *data = rows_room(most, sizeof *data);
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = -1; used < most; used++) {
            j += 1 + (int64_t)(attn_random_u64(1, 3, (uint64_t)used) % (uint64_t)(2 * every - 1));
            if (j >= columns) break;
            indices[used] = (int32_t)j;
            data[used] = (float)(1e-3 * attn_random_normal(1, 4, (uint64_t)used));
        }
        starts[i + 1] = used;
    }
    problem_t problem = {
        .x = {
            .rows = rows, .columns = columns, .starts = starts, .indices = indices, .data = data}};
    problem.scores = rows_room(columns, sizeof *problem.scores);
    problem.options = (sketching_options_t){.solver = algebra_best(),
                                            .eps = 0.5,
                                            .delta = 0.1,
                                            .size = 4096,
                                            .sparsity = 1,
                                            .method = SKETCHING_OSNAP};
    return problem;
}

static void release_sparse(problem_t *problem) {
    free((void *)(uintptr_t)problem->x.starts);
    free((void *)(uintptr_t)problem->x.indices);
    free((void *)(uintptr_t)problem->x.data);
    free(problem->scores);
}

/* Time, elements, and the time of a pass over each of them. */
typedef struct timed {
    double seconds, stored, pass;
} timed_t;

static timed_t time_csr(int64_t rows, int64_t columns, int64_t every) {
    problem_t problem = sparse(rows, columns, every);
    timed_t timed = {.seconds = rows_time(sketch_from_csr, &problem),
                     .stored = (double)sketching_stored(&problem.x)};
    timed.pass = rows_time(pass, &problem) / timed.stored;
    release_sparse(&problem);
    return timed;
}

/*
 * Few elements, yet some in each page of Y: what the draws of d features and the n m numbers of Y take. A pass at
 * memory speed is one over the most elements: fewer lie in the last cache.
 */
void rows_csr(void) {
    enum { ROWS = 512, COLUMNS = 1000000, DENSITIES = 3 };
    const timed_t few = time_csr(ROWS, COLUMNS, 6400);
    timed_t timed[DENSITIES];
    for (int i = 0; i < DENSITIES; i++) timed[i] = time_csr(ROWS, COLUMNS, 400 >> i);
    for (int i = 0; i < DENSITIES; i++) {
        char what[96], beside[128];
        const double stored = timed[i].stored, seconds = timed[i].seconds;
        const double each = (seconds - few.seconds) / (stored - few.stored);
        snprintf(what, sizeof what, "CSR 512 x 10^6, %.3g elements, osnap s = 1 to 4096", stored);
        snprintf(beside, sizeof beside,
                 "ten passes %.3g ms; %.3g ns an element beside %.3g ms for d and n m",
                 10 * timed[DENSITIES - 1].pass * stored * 1e3, each * 1e9,
                 (few.seconds - each * few.stored) * 1e3);
        rows_say(what, seconds, beside);
    }
}
