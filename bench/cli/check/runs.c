/* cli/check/runs.c: checks of runs: sizes, memory, batches, threads. */
#include "cli/check/checks.h"

#include "attn/oracle.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int check_say(result_t *result, enum verdict verdict, const char *format, ...) {
    if (result->verdict == CHECK_FAILED) return 1;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->text, sizeof result->text, format, arguments);
    va_end(arguments);
    result->verdict = verdict;
    return verdict != CHECK_OK;
}

int check_same(result_t *result, const attn_tensor_t *a, const attn_tensor_t *b, double tolerance,
               const char *what) {
    for (int64_t i = 0; i < scene_count(a); i++) {
        const float x = *scene_at(a, i), y = *scene_at(b, i);
        if (memcmp(&x, &y, sizeof x) == 0) continue;
        if (fabs((double)x - (double)y) <= tolerance) continue;
        return check_say(
            result, CHECK_FAILED,
            "%s: number %lld of out is %.9g and %.9g, which may differ by %.3g (--tolerance)", what,
            (long long)i, (double)x, (double)y, tolerance);
    }
    return 0;
}

/* A scene that has run. */
static int solve(scene_t *scene, const check_context_t *check, const attn_context_t *context,
                 const attn_problem_t *p, enum scene_layout layout, result_t *result) {
    attn_status_t status = scene_open(scene, check, context, p, layout);
    if (status == ATTN_OK) status = scene_run(scene);
    if (status == ATTN_OK) return 1;
    check_say(result, status == ATTN_ERROR_UNSUPPORTED ? CHECK_SKIPPED : CHECK_FAILED,
              "n = %lld, m = %lld, d = %lld, dv = %lld: %s", (long long)p->queries,
              (long long)p->keys, (long long)p->dim, (long long)p->value_dim, scene->error.message);
    return 0;
}

/* Grouped heads where the backend has them. */
static attn_problem_t usual(const check_context_t *check) {
    const int grouped = (check->backend->features & ATTN_FEATURE_GROUPED_HEADS) != 0;
    return scene_problem(2, 4, grouped ? 2 : 4, 19, 37, 24, 20);
}

/* ---- sizes ------------------------------------------------------------------------------------ */

/* n, m, d, dv: ones, vectors of 4, 8 and 16 and one more or less, primes. */
static const int64_t sizes[][4] = {{1, 1, 1, 1},      {1, 37, 16, 16},  {37, 1, 16, 16},
                                   {1, 1, 31, 33},    {3, 5, 4, 4},     {7, 9, 7, 9},
                                   {15, 17, 15, 17},  {16, 16, 16, 16}, {31, 33, 31, 33},
                                   {13, 101, 29, 23}, {67, 64, 65, 63}, {2, 130, 64, 8}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static attn_problem_t of_size(int k) {
    const int64_t *s = sizes[k];
    return scene_problem(1, 2, 2, s[0], s[1], s[2], s[3]);
}

/* Every size runs, writes all of its output, and gives numbers. */
void check_runs(const check_context_t *check, result_t *result) {
    int ran = 0;
    for (int k = 0; k < SIZES; k++) {
        const attn_problem_t problem = of_size(k);
        scene_t scene;
        if (solve(&scene, check, check->one, &problem, SCENE_PACKED, result)) {
            ran++;
            const char *wrong = scene_wrong(&scene.out, 1);
            if (wrong && strstr(wrong, "written completely"))
                check_say(result, CHECK_FAILED, "n = %lld, m = %lld: out: %s",
                          (long long)problem.queries, (long long)problem.keys, wrong);
            for (int64_t i = 0; i < scene_count(&scene.out.tensor); i++)
                if (!isfinite(*scene_at(&scene.out.tensor, i)))
                    check_say(result, CHECK_FAILED, "n = %lld, m = %lld: number %lld of out is %g",
                              (long long)problem.queries, (long long)problem.keys, (long long)i,
                              (double)*scene_at(&scene.out.tensor, i));
        }
        scene_close(&scene);
    }
    if (ran) check_say(result, CHECK_OK, "%d of %d sizes", ran, SIZES);
}

/* Row i of head `head` against the weights that the backend tells, or against exact attention. */
static double expected(const attn_tensor_t *value, int64_t kv_head, int64_t m, int64_t c,
                       const float *weights) {
    double sum = 0;
    for (int64_t j = 0; j < m; j++)
        sum +=
            (double)weights[j] * (double)*scene_at(value, (kv_head * m + j) * value->shape[3] + c);
    return sum;
}

static int against_weights(const check_context_t *check, scene_t *scene, result_t *result) {
    const attn_problem_t *p = &scene->problem;
    float *rows = malloc((size_t)(p->queries * p->keys) * sizeof *rows);
    int said = !rows;
    for (int64_t h = 0; rows && !said && h < p->heads; h++) {
        const attn_status_t status = attn_weights(scene->plan, &scene->io, 0, h, 0, p->queries,
                                                  rows, p->keys, &scene->error);
        if (status != ATTN_OK) {
            said =
                check_say(result, status == ATTN_ERROR_UNSUPPORTED ? CHECK_SKIPPED : CHECK_FAILED,
                          "weights: %s", scene->error.message);
            break;
        }
        for (int64_t i = 0; !said && i < p->queries; i++)
            for (int64_t c = 0; !said && c < p->value_dim; c++) {
                const double wanted = expected(&scene->io.value, h / (p->heads / p->kv_heads),
                                               p->keys, c, rows + i * p->keys);
                const double got =
                    (double)*scene_at(&scene->out.tensor, (h * p->queries + i) * p->value_dim + c);
                if (!(fabs(got - wanted) <= scene_tolerance(check, p)))
                    said = check_say(result, CHECK_FAILED,
                                     "n = %lld, m = %lld, d = %lld: head %lld, query %lld, column "
                                     "%lld is %.9g, weights times V is %.9g",
                                     (long long)p->queries, (long long)p->keys, (long long)p->dim,
                                     (long long)h, (long long)i, (long long)c, got, wanted);
            }
    }
    free(rows);
    return said;
}

static int against_oracle(const check_context_t *check, scene_t *scene, result_t *result) {
    const attn_problem_t *p = &scene->problem;
    double *row = malloc((size_t)(p->keys + p->value_dim) * sizeof *row);
    int said = !row;
    for (int64_t i = 0; !said && i < p->heads * p->queries; i++) {
        attn_oracle_row(p, &scene->io, 0, i / p->queries, i % p->queries, row + p->keys, NULL, NULL,
                        NULL, row);
        for (int64_t c = 0; !said && c < p->value_dim; c++) {
            const double got = (double)*scene_at(&scene->out.tensor, i * p->value_dim + c);
            if (!(fabs(got - row[p->keys + c]) <= scene_tolerance(check, p)))
                said =
                    check_say(result, CHECK_FAILED,
                              "n = %lld, m = %lld, d = %lld: row %lld, column %lld is %.9g, exact "
                              "attention %.9g",
                              (long long)p->queries, (long long)p->keys, (long long)p->dim,
                              (long long)i, (long long)c, got, row[p->keys + c]);
        }
    }
    free(row);
    return said;
}

/* The result at each size: out = weights V; for softmax also what exact attention is. */
void check_corners(const check_context_t *check, result_t *result) {
    const int is_softmax = strcmp(check->backend->id, "softmax") == 0;
    int compared = 0;
    for (int k = 0; k < SIZES; k++) {
        const attn_problem_t problem = of_size(k);
        scene_t scene;
        if (solve(&scene, check, check->one, &problem, SCENE_PACKED, result)) {
            if (is_softmax && against_oracle(check, &scene, result)) compared--;
            compared += !against_weights(check, &scene, result);
        }
        scene_close(&scene);
    }
    if (compared > 0)
        check_say(result, CHECK_OK, "out is weights times V%s at %d sizes",
                  is_softmax ? ", and exact attention," : "", compared);
}

/* ---- memory ------------------------------------------------------------------------------------ */

void check_guards(const check_context_t *check, result_t *result) {
    const attn_problem_t problem = usual(check);
    for (int layout = 0; layout < SCENE_LAYOUTS; layout++) {
        scene_t scene;
        if (solve(&scene, check, check->many, &problem, (enum scene_layout)layout, result)) {
            const scene_array_t *arrays[] = {&scene.query, &scene.key, &scene.value, &scene.out,
                                             &scene.lse};
            static const char *const names[] = {"query", "key", "value", "out", "lse"};
            for (int i = 0; i < 5; i++) {
                const char *wrong = scene_wrong(arrays[i], i > 2);
                if (wrong)
                    check_say(result, CHECK_FAILED, "layout %d, %s: %s", layout, names[i], wrong);
            }
            for (int a = 0; a < 3; a++)
                for (int64_t i = 0; i < scene_count(&arrays[a]->tensor); i++)
                    if (*scene_at(&arrays[a]->tensor, i) !=
                        scene_number(check->seed, (uint64_t)(100 + a), i))
                        check_say(result, CHECK_FAILED, "layout %d: the run changed %s", layout,
                                  names[a]);
        }
        scene_close(&scene);
    }
}

void check_strides(const check_context_t *check, result_t *result) {
    const attn_problem_t problem = usual(check);
    scene_t packed, other;
    if (solve(&packed, check, check->one, &problem, SCENE_PACKED, result))
        for (int layout = 1; layout < SCENE_LAYOUTS; layout++) {
            char what[32];
            snprintf(what, sizeof what, "layout %d", layout);
            if (solve(&other, check, check->one, &problem, (enum scene_layout)layout, result))
                check_same(result, &packed.out.tensor, &other.out.tensor,
                           scene_tolerance(check, &problem), what);
            scene_close(&other);
        }
    scene_close(&packed);
}

/* Batch b of a run is a run of it alone. */
void check_batch(const check_context_t *check, result_t *result) {
    attn_problem_t problem = usual(check);
    problem.batch = 3;
    scene_t all, one;
    const int ran = solve(&all, check, check->one, &problem, SCENE_PACKED, result);
    problem.batch = 1;
    for (int64_t b = 0; ran && b < 3; b++) {
        attn_status_t status = scene_open(&one, check, check->one, &problem, SCENE_PACKED);
        for (int a = 0; status == ATTN_OK && a < 3; a++) {
            const attn_tensor_t *from = attn_io_array(&all.io, (uint32_t)a);
            attn_tensor_t *to = attn_io_array(&one.io, (uint32_t)a);
            const int64_t count = scene_count(to);
            for (int64_t i = 0; i < count; i++) *scene_at(to, i) = *scene_at(from, b * count + i);
        }
        if (status == ATTN_OK) status = scene_run(&one);
        attn_tensor_t part = all.out.tensor;
        part.data = (float *)part.data + b * part.stride[0], part.shape[0] = 1;
        if (status != ATTN_OK)
            check_say(result, CHECK_FAILED, "batch %lld alone: %s", (long long)b,
                      one.error.message);
        else
            check_same(result, &part, &one.out.tensor, scene_tolerance(check, &problem),
                       "a batch in a run of three and alone");
        scene_close(&one);
    }
    scene_close(&all);
}

/* ---- threads ------------------------------------------------------------------------------------ */

void check_threads(const check_context_t *check, result_t *result) {
    attn_problem_t problem = usual(check);
    scene_t one, many;
    if (attn_context_threads(check->many)->workers < 2) {
        check_say(result, CHECK_SKIPPED, "this build has no threads");
        return;
    }
    problem.queries = 150, problem.keys = 170;
    if (solve(&one, check, check->one, &problem, SCENE_PACKED, result)) {
        if (solve(&many, check, check->many, &problem, SCENE_PACKED, result))
            check_same(result, &one.out.tensor, &many.out.tensor, 0, "with 1 thread and with 4");
        scene_close(&many);
    }
    scene_close(&one);
}

/* The same plan, workspace and arrays once more: nothing is kept of a run. */
void check_again(const check_context_t *check, result_t *result) {
    const attn_problem_t problem = usual(check);
    scene_t scene, fresh = {.plan = NULL};
    if (solve(&scene, check, check->one, &problem, SCENE_PACKED, result) &&
        solve(&fresh, check, check->one, &problem, SCENE_PACKED, result)) {
        if (scene_run(&scene) != ATTN_OK)
            check_say(result, CHECK_FAILED, "the second run: %s", scene.error.message);
        check_same(result, &fresh.out.tensor, &scene.out.tensor, 0, "a first and a second run");
    }
    scene_close(&scene);
    scene_close(&fresh);
}
