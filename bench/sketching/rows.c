/*
 * sketching/rows.c: times of the algorithms, one core, beside what is known: RandBLAS's sparse sketch written out
 * (its draws and its order of operations), Gram and Cholesky, QR, and exact attention. Prints Markdown; README.md of
 * plugins/sketch has a run of it.
 *
 *     taskset -c 1 build/native/bench/sketching/attn_sketch_rows [SECONDS]
 *     build/native/bench/sketching/attn_sketch_rows least     (the least m of distortion below 1)
 */
#include "algebra/solver.h"
#include "attn/attn.h"
#include "attn/random.h"
#include "measure/measure.h"
#include "sketch/matrices.h"
#include "sketching/scores.h"
#include "sketching/sketch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double budget = 1;

static void *room(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (memory) return memory;
    fputs("no memory\n", stderr);
    exit(1);
}

static float *normals(int64_t count, uint64_t stream) {
    float *x = room(count, sizeof *x);
    for (int64_t i = 0; i < count; i++) x[i] = (float)attn_random_normal(1, stream, (uint64_t)i);
    return x;
}

static double time_of(measure_call_t *call, void *data) {
    measure_t measure;
    if (measure_repeat_processor(call, data, budget, &measure)) {
        fputs("a call failed\n", stderr);
        exit(1);
    }
    return measure.median;
}

static void say(const char *what, double seconds, const char *beside) {
    printf("| %s | %.3g ms | %s |\n", what, seconds * 1e3, beside);
    fflush(stdout);
}

/* ---- a sparse sketch of a tall matrix ---------------------------------------------------------------------- */

/* S A for A (rows x columns), row-major: generate and apply. */
typedef struct tall {
    int64_t rows, columns, size, sparsity;
    const float *a;
    float *out;
    attn_sketch_entry_t *entries;
} tall_t;

static void apply(const tall_t *tall) {
    memset(tall->out, 0, (size_t)(tall->size * tall->columns) * sizeof(float));
    for (int64_t j = 0; j < tall->rows; j++) {
        const float *restrict row = tall->a + j * tall->columns;
        for (int64_t i = j * tall->sparsity; i < (j + 1) * tall->sparsity; i++) {
            const float weight = tall->entries[i].weight;
            float *restrict out = tall->out + tall->entries[i].column * tall->columns;
            for (int64_t c = 0; c < tall->columns; c++) out[c] += weight * row[c];
        }
    }
}

static attn_status_t embed(void *data) {
    const tall_t *tall = data;
    const attn_sketch_part_t all = {0, tall->rows, tall->size, 1};
    attn_sketch_osnap(tall->entries, &all, tall->sparsity);
    apply(tall);
    return ATTN_OK;
}

/* RandBLAS's fill_sparse: for each column Fisher and Yates on an index vector, undone after it. */
static attn_status_t embed_randblas(void *data) {
    const tall_t *tall = data;
    int64_t *index = room(tall->size, sizeof *index), pivots[64];
    for (int64_t i = 0; i < tall->size; i++) index[i] = i;
    for (int64_t j = 0; j < tall->rows; j++) {
        for (int64_t i = 0; i < tall->sparsity; i++) {
            uint32_t bits[4];
            attn_random_bits(1, 0, (uint64_t)(j * tall->sparsity + i), bits);
            const int64_t other = i + (int64_t)(bits[0] % (uint64_t)(tall->size - i));
            const int64_t kept = index[other];
            index[other] = index[i];
            index[i] = kept;
            pivots[i] = other;
            tall->entries[j * tall->sparsity + i] =
                (attn_sketch_entry_t){(int32_t)kept, bits[1] & 1 ? 1.0f : -1.0f};
        }
        for (int64_t i = tall->sparsity - 1; i >= 0; i--) {
            const int64_t kept = index[pivots[i]];
            index[pivots[i]] = index[i];
            index[i] = kept;
        }
    }
    free(index);
    apply(tall);
    return ATTN_OK;
}

static void sparse_rows(void) {
    tall_t tall = {.rows = 65536, .columns = 64, .size = 512};
    tall.a = normals(tall.rows * tall.columns, 1);
    tall.out = room(tall.size * tall.columns, sizeof(float));
    tall.entries = room(tall.rows * 8, sizeof *tall.entries);
    for (tall.sparsity = 1; tall.sparsity <= 8; tall.sparsity *= 8) {
        char what[96], beside[96];
        snprintf(what, sizeof what, "sparse embedding s = %d, 65536 x 64 to 512 rows",
                 (int)tall.sparsity);
        const double own = time_of(embed, &tall), other = time_of(embed_randblas, &tall);
        snprintf(beside, sizeof beside, "RandBLAS's algorithm %.3g ms", other * 1e3);
        say(what, own, beside);
    }
    free((void *)(uintptr_t)tall.a);
    free(tall.out);
    free(tall.entries);
}

/* ---- X --------------------------------------------------------------------------------------------------------- */

typedef struct problem {
    sketching_x_t x;
    sketching_features_t features;
    sketching_options_t options;
    double *scores, *scratch, *triangle;
    int64_t kept;
} problem_t;

static attn_status_t scores_approximately(void *data) {
    problem_t *problem = data;
    sketching_basis_t basis;
    if (!sketching_basis_embedded(&problem->features, algebra_best(), 1, &basis))
        return ATTN_ERROR_MEMORY;
    const int done =
        sketching_scores_projected(&problem->features, &basis, 0.1, 1, problem->scores);
    sketching_basis_destroy(&basis);
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

static attn_status_t sketch(void *data) {
    problem_t *problem = data;
    sketching_result_t result;
    attn_error_t error;
    const attn_status_t status =
        sketching_sketch(&problem->features, &problem->options, &result, &error);
    problem->kept = result.size;
    sketching_result_destroy(&result);
    return status;
}

static problem_t dense(int64_t rows, int64_t columns) {
    problem_t problem = {.x = {.rows = rows, .columns = columns}};
    float *x = normals(rows * columns, 2);
    for (int64_t i = 0; i < rows * columns; i++) x[i] *= (float)(0.2 / sqrt((double)columns));
    problem.x.dense = x;
    problem.scores = room(columns, sizeof *problem.scores);
    problem.options = (sketching_options_t){.solver = algebra_best(), .eps = 0.5, .delta = 0.1};
    return problem;
}

static void release(problem_t *problem) {
    sketching_features_destroy(&problem->features);
    free((void *)(uintptr_t)problem->x.dense);
    free(problem->scores);
}

static void score_rows(void) {
    for (int64_t n = 64; n <= 128; n *= 2) {
        char what[96], beside[96];
        problem_t problem = dense(n, 65536);
        if (!sketching_features_create(&problem.x, &problem.features)) exit(1);
        snprintf(what, sizeof what, "leverage scores (Algorithm 2), 65536 x %d", (int)n);
        const double near = time_of(scores_approximately, &problem);
        snprintf(beside, sizeof beside, "QR by %s %.4g ms", algebra_best()->name,
                 1e3 * time_of(scores_exactly, &problem));
        say(what, near, beside);
        release(&problem);
    }
}

static void deterministic_rows(void) {
    double first = 0;
    for (int64_t d = 2048; d <= 8192; d *= 2) {
        char what[96], beside[96];
        problem_t problem = dense(64, d);
        if (!sketching_features_create(&problem.x, &problem.features)) exit(1);
        problem.options.method = SKETCHING_DETERMINISTIC;
        problem.options.size = 1024;
        const double seconds = time_of(sketch, &problem);
        if (d == 2048) first = seconds / (double)d;
        snprintf(what, sizeof what, "deterministic sparsifier n = 64, d = %d, m = 1024", (int)d);
        snprintf(beside, sizeof beside, "%.3g a feature of that at d = 2048",
                 seconds / (double)d / first);
        say(what, seconds, beside);
        release(&problem);
    }
}

/* ---- CSR ------------------------------------------------------------------------------------------------------- */

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
    return sketch(data);
}

/* Every 1 / density-th column on the average, by random steps. */
static problem_t sparse(int64_t rows, int64_t columns, int64_t every) {
    const int64_t most = rows * (columns / every + 1) * 2;
    int64_t *starts = room(rows + 1, sizeof *starts), used = 0;
    int32_t *indices = room(most, sizeof *indices);
    float *data = room(most, sizeof *data);
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
    problem.scores = room(columns, sizeof *problem.scores);
    problem.options = (sketching_options_t){.solver = algebra_best(),
                                            .eps = 0.5,
                                            .delta = 0.1,
                                            .size = 4096,
                                            .sparsity = 1,
                                            .method = SKETCHING_OSNAP};
    return problem;
}

static void csr_rows(void) {
    double first = 0;
    for (int64_t every = 400; every >= 100; every /= 2) {
        char what[96], beside[128];
        problem_t problem = sparse(512, 1000000, every);
        const double stored = (double)sketching_stored(&problem.x);
        const double seconds = time_of(sketch_from_csr, &problem);
        const double ten = 10 * time_of(pass, &problem);
        if (every == 400) first = seconds / stored;
        snprintf(what, sizeof what, "CSR 512 x 10^6, %.3g elements, osnap s = 1 to 4096", stored);
        snprintf(beside, sizeof beside, "ten passes %.3g ms; %.3g an element of that of the first",
                 ten * 1e3, seconds / stored / first);
        say(what, seconds, beside);
        free((void *)(uintptr_t)problem.x.starts);
        free((void *)(uintptr_t)problem.x.indices);
        free((void *)(uintptr_t)problem.x.data);
        free(problem.scores);
    }
}

/* ---- symmetric attention ---------------------------------------------------------------------------------------- */

typedef struct attention {
    problem_t problem;
    const attn_context_t *context;
    float *value, *out;
} attention_t;

static attn_status_t attend(const attention_t *attention, float *x, int64_t dim) {
    const int64_t n = attention->problem.x.rows;
    attn_problem_t problem;
    attn_plan_t *plan;
    attn_error_t error;
    attn_problem_init(&problem, 1, 1, n, n, dim, 64);
    problem.scale = 1;
    if (attn_plan_create(attention->context, "softmax", &problem, NULL, 0, &plan, &error))
        return ATTN_ERROR_MEMORY;
    attn_io_t io = {.struct_size = sizeof io};
    io.query = io.key = attn_tensor_bhnd(x, 1, 1, n, dim);
    io.value = attn_tensor_bhnd(attention->value, 1, 1, n, 64);
    io.out = attn_tensor_bhnd(attention->out, 1, 1, n, 64);
    io.workspace_size = attn_plan_workspace_size(plan);
    io.workspace = aligned_alloc(ATTN_ALIGNMENT, io.workspace_size);
    const attn_status_t status = io.workspace ? attn_run(plan, &io, &error) : ATTN_ERROR_MEMORY;
    free(io.workspace);
    attn_plan_destroy(plan);
    return status;
}

static attn_status_t attend_exactly(void *data) {
    attention_t *attention = data;
    return attend(attention, (float *)(uintptr_t)attention->problem.x.dense,
                  attention->problem.x.columns);
}

static attn_status_t attend_sketched(void *data) {
    attention_t *attention = data;
    sketching_result_t result;
    attn_error_t error;
    attn_status_t status = sketching_sketch(&attention->problem.features,
                                            &attention->problem.options, &result, &error);
    if (status == ATTN_OK) status = attend(attention, result.y, result.size);
    sketching_result_destroy(&result);
    return status;
}

static void attention_rows(const attn_context_t *context) {
    static const enum sketching_method methods[] = {SKETCHING_LEVERAGE, SKETCHING_OSNAP};
    attention_t attention = {.problem = dense(512, 65536), .context = context};
    problem_t *problem = &attention.problem;
    attention.value = normals(512 * 64, 5);
    attention.out = room(512 * 64, sizeof *attention.out);
    if (!sketching_features_create(&problem->x, &problem->features)) exit(1);
    const double exact = time_of(attend_exactly, &attention);
    problem->options.size = 4096;
    problem->options.sparsity = 1;
    for (size_t m = 0; m < 2; m++) {
        char what[128], beside[96];
        problem->options.method = methods[m];
        const double seconds = time_of(attend_sketched, &attention);
        snprintf(what, sizeof what, "symmetric attention n = 512, d = 65536 by %s to m = 4096",
                 sketching_names[methods[m]]);
        snprintf(beside, sizeof beside, "exact %.3g ms: %.3g times", exact * 1e3, exact / seconds);
        say(what, seconds, beside);
    }
    release(problem);
    free(attention.value);
    free(attention.out);
}

/* ---- the least size --------------------------------------------------------------------------------------------- */

/* Rows of length sqrt(0.05); of spiked data one feature of 97 is 30 times as large. */
static problem_t small(int64_t n, int64_t d, int is_spiked) {
    problem_t problem = dense(n, d);
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

static void least_rows(void) {
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
                release(&problem);
            }
}

int main(int argc, char **argv) {
    attn_context_t *context;
    attn_error_t error;
    if (argc > 1 && strcmp(argv[1], "least") == 0) return least_rows(), 0;
    if (argc > 1) budget = atof(argv[1]);
    if (attn_context_create(NULL, &context, &error)) return puts(error.message), 1;
    printf("%s, algebra by %s\n\n| work | time | beside |\n|---|---|---|\n",
           attn_tier_name(attn_context_tier(context)), algebra_best()->name);
    sparse_rows();
    score_rows();
    csr_rows();
    deterministic_rows();
    attention_rows(context);
    attn_context_destroy(context);
    return 0;
}
