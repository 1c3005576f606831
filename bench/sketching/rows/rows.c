/*
 * rows/rows.c: see rows.h. bench/RESULTS.md has a run of it.
 *
 *     bench/sketching/rows/run.sh [--scipy] [SECONDS] [SUBJECT...]
 */
#include "rows.h"

#include "attn/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double budget = 1;

void *rows_room(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (memory) return memory;
    fputs("no memory\n", stderr);
    exit(1);
}

float *rows_normals(int64_t count, uint64_t stream) {
    float *x = rows_room(count, sizeof *x);
    for (int64_t i = 0; i < count; i++) x[i] = (float)attn_random_normal(1, stream, (uint64_t)i);
    return x;
}

double rows_time(measure_call_t *call, void *data) {
    measure_t measure;
    if (measure_repeat_processor(call, data, budget, &measure)) {
        fputs("a call failed\n", stderr);
        exit(1);
    }
    return measure.median;
}

static double time_once(const turn_t *turn) {
    const double start = measure_processor_clock();
    if (turn->call(turn->data)) {
        fputs("a call failed\n", stderr);
        exit(1);
    }
    return measure_processor_clock() - start;
}

void rows_take_turns(turn_t *turns, int count) {
    double times[ROWS_TURNS][ROWS_MOST], spent = 0;
    int rounds = 0;
    while (rounds < ROWS_LEAST || (rounds < ROWS_MOST && spent < budget * count)) {
        for (int i = 0; i < count; i++) spent += times[i][rounds] = time_once(&turns[i]);
        rounds++;
    }
    for (int i = 0; i < count; i++) turns[i].seconds = measure_interval(times[i], rounds).median;
}

const char *rows_verdict(int is_reached) { return is_reached ? "reached" : "missed"; }

line_t rows_line(const double *x, const double *seconds, int count) {
    double mean = 0, middle = 0, xx = 0, xy = 0;
    for (int i = 0; i < count; i++) mean += x[i] / count, middle += seconds[i] / count;
    for (int i = 0; i < count; i++) {
        xx += (x[i] - mean) * (x[i] - mean);
        xy += (x[i] - mean) * (seconds[i] - middle);
    }
    return (line_t){middle - xy / xx * mean, xy / xx};
}

void rows_say(const char *what, double seconds, double most, const char *beside) {
    char asked[64] = "";
    if (!isnan(most))
        snprintf(asked, sizeof asked, "%.3g ms: %s", most * 1e3, rows_verdict(seconds <= most));
    printf("| %s | %.3g ms | %s | %s |\n", what, seconds * 1e3, asked, beside);
    fflush(stdout);
}

problem_t rows_dense(int64_t rows, int64_t columns) {
    problem_t problem = {.x = {.rows = rows, .columns = columns}};
    float *x = rows_normals(rows * columns, 2);
    for (int64_t i = 0; i < rows * columns; i++) x[i] *= (float)(0.2 / sqrt((double)columns));
    problem.x.dense = x;
    problem.scores = rows_room(columns, sizeof *problem.scores);
    problem.options = (sketching_options_t){.solver = algebra_best(), .eps = 0.5, .delta = 0.1};
    return problem;
}

void rows_release(problem_t *problem) {
    sketching_features_destroy(&problem->features);
    free((void *)(uintptr_t)problem->x.dense);
    free(problem->scores);
}

attn_status_t rows_sketch(void *data) {
    problem_t *problem = data;
    sketching_result_t result;
    attn_error_t error;
    const attn_status_t status =
        sketching_sketch(&problem->features, &problem->options, &result, &error);
    sketching_result_destroy(&result);
    return status;
}

/* ---- the command --------------------------------------------------------------------------------------- */

static const struct subject {
    const char *name;
    void (*rows)(void);
} subjects[] = {
    {"embedding", rows_embedding},
    {"scores", rows_scores},
    {"csr", rows_csr},
    {"deterministic", rows_deterministic},
    {"symmetric", rows_symmetric},
    {"sketched", rows_sketched},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static int is_wanted(const struct subject *subject, int count, char **names) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], subject->name) == 0) return 1;
    return count == 0;
}

static int is_subject(const char *name) {
    for (int i = 0; i < SUBJECTS; i++)
        if (strcmp(name, subjects[i].name) == 0) return 1;
    return 0;
}

/* Whether the first word is a number of seconds. */
static int reads_budget(const char *word) {
    char *end;
    const double seconds = strtod(word, &end);
    if (end == word || *end || !(seconds > 0)) return 0;
    budget = seconds;
    return 1;
}

static int refuse(const char *name) {
    fprintf(stderr, "'%s' is no number of seconds, and none of", name);
    for (int i = 0; i < SUBJECTS; i++) fprintf(stderr, " %s", subjects[i].name);
    fputc('\n', stderr);
    return 2;
}

int main(int argc, char **argv) {
    const int first = argc > 1 && reads_budget(argv[1]) ? 2 : 1;
    for (int i = first; i < argc; i++)
        if (!is_subject(argv[i])) return refuse(argv[i]);
    printf("algebra by %s: %s\n\n| work | time | asked | beside |\n|---|---|---|---|\n",
           algebra_best()->name, algebra_best()->library);
    for (int i = 0; i < SUBJECTS; i++)
        if (is_wanted(&subjects[i], argc - first, argv + first)) subjects[i].rows();
    return 0;
}
