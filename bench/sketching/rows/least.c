/* rows/least.c: the least m that keeps the distortion below 1. */
#include "rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows of length sqrt(0.05); of spiked data one feature of 97 is 30 times as large. */
static problem_t small(int64_t n, int64_t d, int is_spiked) {
    problem_t problem = rows_dense(n, d);
    float *x = (float *)(uintptr_t)problem.x.dense;
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t j = 0; j < d; j++) {
            if (is_spiked && j % 97 == 5) x[i * d + j] *= 30;
            square += (double)x[i * d + j] * (double)x[i * d + j];
        }
        for (int64_t j = 0; j < d; j++) x[i * d + j] *= (float)sqrt(0.05 / square);
    }
    if (!sketching_features_create(&problem.x, &problem.features)) exit(1);
    return problem;
}

/* Whether the distortion is below 1, the premise of Lemmas 3.1 to 3.4, in 19 of 20 seeds at this size. */
static int is_enough(problem_t *problem, int64_t size) {
    enum { SEEDS = 20 };
    int failed = 0;
    problem->options.size = size;
    for (uint64_t seed = 0; seed < SEEDS && failed < 2; seed++) {
        sketching_result_t result;
        sketching_distance_t distance = {.distortion = INFINITY};
        attn_error_t error;
        problem->options.seed = seed;
        if (!sketching_sketch(&problem->features, &problem->options, &result, &error) &&
            sketching_measure(&problem->features, &algebra_plain, result.y, result.size, &distance,
                              &error))
            exit(1);
        failed += distance.distortion >= 1;
        sketching_result_destroy(&result);
    }
    return failed < 2;
}

/* The least m of a grid in steps of a tenth. */
static int64_t least(problem_t *problem, enum sketching_method method) {
    const int64_t d = problem->x.columns;
    int64_t size = problem->x.rows + 1;
    problem->options.method = method;
    while (size < d && !is_enough(problem, size)) size += 1 + size / 10;
    return size < d ? size : d;
}

void rows_least(void) {
    puts("\n| least m | gaussian | ams | osnap | leverage | srht | exact | uniform | deterministic "
         "|\n|---|---|---|---|---|---|---|---|---|");
    for (int is_spiked = 0; is_spiked < 2; is_spiked++)
        for (int64_t n = 4; n <= 32; n *= 2)
            for (int64_t d = 512; d <= 2048; d *= 4) {
                problem_t problem = small(n, d, is_spiked);
                printf("| %s, n = %d, d = %d |", is_spiked ? "spiked" : "flat", (int)n, (int)d);
                for (int m = 0; m < SKETCHING_METHODS; m++) {
                    const int64_t size = least(&problem, (enum sketching_method)m);
                    printf(size < d ? " %d |" : " all |", (int)size);
                    fflush(stdout);
                }
                puts("");
                rows_release(&problem);
            }
}
