/* rows/csr.c: time over the elements of a CSR. */
#include "rows.h"

#include "attn/random.h"

#include <math.h>
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

/* osnap goes over rows; leverage, Algorithms 1 and 2, makes features of them first. */
static attn_status_t sketch_from_csr(void *data) {
    problem_t *problem = data;
    problem->features = (sketching_features_t){.x = &problem->x};
    if (problem->options.method != SKETCHING_OSNAP &&
        !sketching_features_create(&problem->x, &problem->features))
        return ATTN_ERROR_MEMORY;
    const attn_status_t status = rows_sketch(data);
    sketching_features_destroy(&problem->features);
    return status;
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

/* ---- by turns ------------------------------------------------------------------------------------------- */

enum { ROWS = 512, COLUMNS = 1000000, DENSITIES = 4 };

/* One column in so many on the average, the fewest elements first. */
static const int64_t every[DENSITIES] = {800, 400, 200, 100};

/* Time over the elements: a line that does not begin at 0, as whatever they are Y is written and more is done. */
static void say(const char *method, const double *elements, const turn_t *turns, double pass) {
    double seconds[DENSITIES];
    for (int i = 0; i < DENSITIES; i++) seconds[i] = turns[i].seconds;
    const line_t line = rows_line(elements, seconds, DENSITIES);
    for (int i = 0; i < DENSITIES; i++) {
        const double off = seconds[i] / (line.start + line.slope * elements[i]) - 1;
        const double ten = 10 * pass * elements[i];
        char what[96], beside[192];
        snprintf(what, sizeof what, "CSR 512 x 10^6, %.3g elements, %s to 4096", elements[i],
                 method);
        snprintf(beside, sizeof beside,
                 "ten passes %.3g ms: %.2f of it; %+.1f%% off %.3g ms + %.3g ns an element, asked "
                 "15%%: %s",
                 ten * 1e3, seconds[i] / ten, 100 * off, line.start * 1e3, line.slope * 1e9,
                 rows_verdict(fabs(off) <= 0.15));
        rows_say(what, seconds[i], 2 * ten, beside);
    }
}

/* A pass at memory speed is one over the most elements, as fewer lie in the last cache. */
void rows_csr(void) {
    static const struct {
        const char *name;
        enum sketching_method method;
    } methods[] = {{"osnap s = 1", SKETCHING_OSNAP}, {"approximate", SKETCHING_APPROXIMATE}};
    problem_t problems[DENSITIES];
    double elements[DENSITIES];
    for (int i = 0; i < DENSITIES; i++) {
        problems[i] = sparse(ROWS, COLUMNS, every[i]);
        elements[i] = (double)sketching_stored(&problems[i].x);
    }
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        turn_t turns[DENSITIES + 1] = {[DENSITIES] = {pass, &problems[DENSITIES - 1], 0}};
        for (int i = 0; i < DENSITIES; i++) {
            problems[i].options.method = methods[m].method;
            turns[i] = (turn_t){sketch_from_csr, &problems[i], 0};
        }
        rows_take_turns(turns, DENSITIES + 1);
        say(methods[m].name, elements, turns, turns[DENSITIES].seconds / elements[DENSITIES - 1]);
    }
    for (int i = 0; i < DENSITIES; i++) release_sparse(&problems[i]);
}
