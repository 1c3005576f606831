/*
 * What ranks cost: one line of JSON for each thing measured, from rank 0.
 *
 *     mpirun -n RANKS attn_mpi_measure QUERIES REPEATS
 *
 * - {"what": "network"}: latency and bandwidth between neighbours, when all of them send around the ring at once.
 * - {"what": "memory"}: of a rank, in MB: its arrays, two blocks of keys and values, its results so far, and what the
 *   system says that it had at most, beside MPI.
 * - {"what": "ring"}: a run of attention in each layout; of its longest rank the time, how long it waits for blocks, and
 *   "working", the processor time that it computes, which others at work beside it change little.
 *   "alone": how long it waits where there is nothing to compute (lengths of 0), which is what could be hidden.
 */
#include "attn/mpi.h"
#include "attn/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { HEADS = 8, KV_HEADS = 2, DIM = 64, MOST = 101 };

static int rank, size;

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

/* That of the longest rank. */
static double longest(double mine) {
    double most;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void fail(const char *what) {
    fprintf(stderr, "attn_mpi_measure: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- network ------------------------------------------------------------------------------------- */

/* Seconds of one step of the ring with messages of so many bytes. */
static double step_of(char *out, char *in, int bytes, int repeats) {
    double times[MOST];
    for (int i = 0; i < repeats; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        for (int k = 0; k < 4; k++)
            MPI_Sendrecv(out, bytes, MPI_BYTE, (rank + 1) % size, 0, in, bytes, MPI_BYTE,
                         (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        times[i] = longest((MPI_Wtime() - start) / 4);
    }
    return median_of(times, repeats);
}

static void measure_network(int repeats) {
    const int bytes = 1 << 24;
    char *out = calloc(2, (size_t)bytes);
    if (!out) fail("no memory");
    const double latency = step_of(out, out + bytes, 8, repeats);
    const double seconds = step_of(out, out + bytes, bytes, repeats);
    if (rank == 0)
        printf("{\"what\": \"network\", \"ranks\": %d, \"latency\": %.4g, \"bandwidth\": %.4g}\n",
               size, latency, bytes / (seconds - latency));
    free(out);
}

/* ---- rings ----------------------------------------------------------------------------------------- */

typedef struct ring {
    attn_mpi_plan_t *plan;
    attn_io_t io;
    int64_t lengths[1];
} ring_t;

static float *fill(int64_t count, uint64_t stream) {
    float *numbers = malloc((size_t)count * sizeof *numbers + 64);
    if (!numbers) fail("no memory");
    for (int64_t i = 0; i < count; i++)
        numbers[i] = (float)attn_random_uniform((uint64_t)rank, stream, (uint64_t)i) - 0.5f;
    return numbers;
}

static double run_once(ring_t *ring, attn_mpi_times_t *times) {
    attn_error_t error;
    MPI_Barrier(MPI_COMM_WORLD);
    if (attn_mpi_run(ring->plan, &ring->io, &error)) fail(error.message);
    *times = (attn_mpi_times_t){.struct_size = sizeof *times};
    attn_mpi_plan_times(ring->plan, times);
    return longest(times->total);
}

/* Of the longest rank: the fastest run, as other programs may have a core for a while; and medians. */
typedef struct cost {
    double total, waiting, working;
} cost_t;

static cost_t run_often(ring_t *ring, int repeats) {
    double totals[MOST], waits[MOST], works[MOST];
    attn_mpi_times_t times;
    run_once(ring, &times);
    for (int i = 0; i < repeats; i++) {
        totals[i] = run_once(ring, &times);
        waits[i] = longest(times.waiting);
        works[i] = longest(times.working);
    }
    median_of(totals, repeats);
    return (cost_t){totals[0], median_of(waits, repeats), median_of(works, repeats)};
}

static void measure_ring(const attn_context_t *context, int64_t length, int causal, int32_t layout,
                         int repeats) {
    attn_problem_t problem;
    attn_mpi_options_t options = {
        .struct_size = sizeof options, .layout = layout, .way = ATTN_MPI_WAY_RING};
    attn_mpi_rows_t rows;
    attn_error_t error;
    ring_t ring = {.lengths = {length}};
    attn_problem_init(&problem, 1, HEADS, length, length, DIM, DIM);
    problem.kv_heads = KV_HEADS;
    problem.causal = causal;
    problem.inputs = ATTN_INPUT_KV_LENGTHS;
    if (attn_mpi_plan_create(context, MPI_COMM_WORLD, "softmax", &problem, NULL, 0, &options,
                             &ring.plan, &error))
        fail(error.message);
    attn_mpi_query_rows(ring.plan, rank, &rows);
    float *const q = fill(HEADS * rows.total * DIM, 1), *const k =
                                                            fill(KV_HEADS * rows.total * DIM, 2);
    float *const v = fill(KV_HEADS * rows.total * DIM, 3), *const out =
                                                               fill(HEADS * rows.total * DIM, 4);
    attn_io_init(&ring.io);
    ring.io.query = attn_tensor_bhnd(q, 1, HEADS, rows.total, DIM);
    ring.io.key = attn_tensor_bhnd(k, 1, KV_HEADS, rows.total, DIM);
    ring.io.value = attn_tensor_bhnd(v, 1, KV_HEADS, rows.total, DIM);
    ring.io.out = attn_tensor_bhnd(out, 1, HEADS, rows.total, DIM);
    ring.io.kv_lengths = attn_tensor_lengths(ring.lengths, 1);
    const cost_t cost = run_often(&ring, repeats);
    ring.lengths[0] = 0;
    const cost_t alone = run_often(&ring, repeats);
    const double pairs = (double)length * (double)length * (causal ? 0.5 : 1);
    if (rank == 0)
        printf("{\"what\": \"ring\", \"ranks\": %d, \"length\": %lld, \"causal\": %d, \"layout\": "
               "\"%s\", \"seconds\": %.4g, \"waiting\": %.4g, \"working\": %.4g, \"alone\": %.4g, "
               "\"flops\": %.6g, \"heads\": %d, \"kv_heads\": %d, \"dim\": %d}\n",
               size, (long long)length, causal,
               layout == ATTN_MPI_LAYOUT_ZIGZAG ? "zigzag" : "contiguous", cost.total, cost.waiting,
               cost.working, alone.waiting, 2 * pairs * HEADS * 2 * DIM, HEADS, KV_HEADS, DIM);
    free(q), free(k), free(v), free(out);
    attn_mpi_plan_destroy(ring.plan);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

/* The most that this process had so far, in MB. */
static double peak(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024e-6;
}

/* A long sequence with a short window, so that blocks go round and there is little to compute. Before anything else: a
 * peak does not go down. */
static void measure_memory(const attn_context_t *context, int64_t length) {
    const double before = longest(peak());
    attn_problem_t problem;
    const attn_mpi_options_t options = {.struct_size = sizeof options,
                                        .layout = ATTN_MPI_LAYOUT_CONTIGUOUS,
                                        .way = ATTN_MPI_WAY_RING};
    attn_mpi_rows_t rows;
    attn_error_t error;
    ring_t ring = {.lengths = {length}};
    attn_mpi_times_t times;
    attn_problem_init(&problem, 1, HEADS, length, length, DIM, DIM);
    problem.kv_heads = KV_HEADS;
    problem.window_left = problem.window_right = 64;
    if (attn_mpi_plan_create(context, MPI_COMM_WORLD, "softmax", &problem, NULL, 0, &options,
                             &ring.plan, &error))
        fail(error.message);
    attn_mpi_query_rows(ring.plan, rank, &rows);
    float *const q = fill(HEADS * rows.total * DIM, 1);
    float *const k = fill(KV_HEADS * rows.total * DIM, 2);
    float *const v = fill(KV_HEADS * rows.total * DIM, 3);
    float *const out = fill(HEADS * rows.total * DIM, 4);
    attn_io_init(&ring.io);
    ring.io.query = attn_tensor_bhnd(q, 1, HEADS, rows.total, DIM);
    ring.io.key = attn_tensor_bhnd(k, 1, KV_HEADS, rows.total, DIM);
    ring.io.value = attn_tensor_bhnd(v, 1, KV_HEADS, rows.total, DIM);
    ring.io.out = attn_tensor_bhnd(out, 1, HEADS, rows.total, DIM);
    run_once(&ring, &times);
    const double most = longest(peak()) - before, row = (double)rows.total * DIM * sizeof(float);
    if (rank == 0)
        printf(
            "{\"what\": \"memory\", \"ranks\": %d, \"length\": %lld, \"arrays\": %.4g, \"blocks\": "
            "%.4g, \"sums\": %.4g, \"peak\": %.4g}\n",
            size, (long long)length, 1e-6 * 2 * (HEADS + KV_HEADS) * row,
            size > 1 ? 1e-6 * 4 * KV_HEADS * row : 0.0, 1e-6 * HEADS * row, most);
    free(q), free(k), free(v), free(out);
    attn_mpi_plan_destroy(ring.plan);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int64_t length = argc > 1 ? atoll(argv[1]) : 0;
    const int repeats = argc > 2 ? atoi(argv[2]) : 0;
    if (length < size || repeats < 1 || repeats > MOST)
        fail("usage: QUERIES (>= ranks) REPEATS (1 to 101)");
    attn_context_t *context;
    attn_error_t error;
    if (attn_context_create(NULL, &context, &error)) fail(error.message);
    measure_memory(context, 16 * length);
    if (size > 1) measure_network(repeats);
    measure_ring(context, length, ATTN_CAUSAL_NONE, ATTN_MPI_LAYOUT_CONTIGUOUS, repeats);
    measure_ring(context, length, ATTN_CAUSAL_TOP_LEFT, ATTN_MPI_LAYOUT_CONTIGUOUS, repeats);
    if (size > 1)
        measure_ring(context, length, ATTN_CAUSAL_TOP_LEFT, ATTN_MPI_LAYOUT_ZIGZAG, repeats);
    attn_context_destroy(context);
    MPI_Finalize();
    return 0;
}
