/*
 * A job over files that no rank reads whole: causal attention of q.npy, k.npy and v.npy, float32 (heads, length, dim) in C
 * order, to o.npy. Then each rank checks its last row in double precision.
 *
 *     mpirun -n 2 attn_mpi_example HEADS LENGTH DIM
 */
#include "attn/mpi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    int64_t heads, length, dim;
    int rank;
    attn_error_t error;
} job_t;

/* Where the elements of an .npy file begin; 0 where it is none. */
static long data_of(FILE *file) {
    unsigned char head[10] = {0};
    const size_t got = fread(head, 1, sizeof head, file);
    return got == sizeof head && memcmp(head, "\x93NUMPY\x01", 7) == 0
               ? 10L + head[8] + 256L * head[9]
               : 0;
}

/* Rows `rows` of all heads, (heads, total, dim); NULL, with an error, where they are not all there. */
static float *read_rows(job_t *job, const char *path, const attn_mpi_rows_t *rows) {
    const size_t row = (size_t)job->dim * sizeof(float);
    char *memory = malloc((size_t)(job->heads * rows->total) * row + 1), *to = memory;
    FILE *file = fopen(path, "rb");
    const long data = file ? data_of(file) : 0;
    int is_read = memory && data;
    for (int64_t h = 0; h < job->heads; h++)
        for (int part = 0; is_read && part < 2; part++) {
            const size_t size = (size_t)rows->count[part] * row;
            const long at = data + (long)((size_t)(h * job->length + rows->first[part]) * row);
            is_read = fseek(file, at, SEEK_SET) == 0 && fread(to, 1, size, file) == size;
            to += size;
        }
    if (file) fclose(file);
    if (is_read) return (float *)(void *)memory;
    free(memory);
    attn_fail(&job->error, ATTN_ERROR_ARGUMENT, "%s: its rows cannot be read", path);
    return NULL;
}

/* The same to a file that is there. */
static int write_rows(const job_t *job, const char *path, const attn_mpi_rows_t *rows,
                      const float *from) {
    const size_t row = (size_t)job->dim * sizeof(float);
    FILE *file = fopen(path, "r+b");
    const long data = file ? data_of(file) : 0;
    int is_written = data > 0;
    for (int64_t h = 0; h < job->heads; h++)
        for (int part = 0; is_written && part < 2; part++) {
            const size_t count = (size_t)(rows->count[part] * job->dim);
            const long at = data + (long)((size_t)(h * job->length + rows->first[part]) * row);
            is_written =
                fseek(file, at, SEEK_SET) == 0 && fwrite(from, sizeof(float), count, file) == count;
            from += count;
        }
    return file && fclose(file) == 0 && is_written;
}

/* The header of the result, as that of q.npy: all three files have one shape. */
static int make_result(const char *path, const char *like) {
    FILE *from = fopen(like, "rb"), *to = fopen(path, "wb");
    long left = from ? data_of(from) : 0;
    int is_made = left && to;
    if (from) rewind(from);
    for (; is_made && left; left--) is_made = putc(getc(from), to) != EOF;
    if (from) fclose(from);
    return to && fclose(to) == 0 && is_made;
}

/* Row `row` of head 0 from the formula, key by key from the file; how far out's row is from it. */
static double check_row(job_t *job, int64_t row, const float *query, const float *out) {
    double *sum = calloc((size_t)job->dim, sizeof *sum), weights = 0, most = 0;
    for (int64_t j = 0; sum && j <= row; j++) {
        job_t one = *job;
        const attn_mpi_rows_t at = {.first = {j, 0}, .count = {1, 0}, .total = 1};
        one.heads = 1;
        float *key = read_rows(&one, "k.npy", &at), *value = read_rows(&one, "v.npy", &at);
        double logit = 0;
        for (int64_t c = 0; c < job->dim; c++) logit += (double)query[c] * (double)key[c];
        const double weight = exp(logit / sqrt((double)job->dim));
        for (int64_t c = 0; c < job->dim; c++) sum[c] += weight * (double)value[c];
        weights += weight;
        free(key);
        free(value);
    }
    for (int64_t c = 0; sum && c < job->dim; c++)
        most = fmax(most, fabs(sum[c] / weights - (double)out[c]));
    free(sum);
    return most;
}

/* Every rank makes the same calls in the same order. Between them ranks agree that all are well. */
static attn_status_t solve(job_t *job, attn_context_t *context) {
    attn_problem_t problem;
    attn_problem_init(&problem, 1, job->heads, job->length, job->length, job->dim, job->dim);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    attn_mpi_plan_t *plan;
    attn_status_t status = attn_mpi_plan_create(context, MPI_COMM_WORLD, "softmax", &problem, NULL,
                                                0, NULL, &plan, &job->error);
    if (status) return status;

    attn_mpi_rows_t rows; /* of queries; those of keys are the same here, as there are as many */
    attn_mpi_query_rows(plan, job->rank, &rows);
    float *q = read_rows(job, "q.npy", &rows), *k = q ? read_rows(job, "k.npy", &rows) : NULL;
    float *v = k ? read_rows(job, "v.npy", &rows) : NULL;
    float *out = malloc((size_t)(job->heads * rows.total * job->dim) * sizeof(float) + 1);
    if (v && !out) attn_fail(&job->error, ATTN_ERROR_MEMORY, "no memory for the result");
    if (v && out && job->rank == 0 && !make_result("o.npy", "q.npy"))
        attn_fail(&job->error, ATTN_ERROR_ARGUMENT, "o.npy cannot be made");
    status = attn_mpi_agree(MPI_COMM_WORLD, job->error.status, &job->error);

    if (!status) {
        attn_io_t io;
        attn_io_init(&io);
        if (rows.total) { /* a rank without rows brings no arrays */
            io.query = attn_tensor_bhnd(q, 1, job->heads, rows.total, job->dim);
            io.key = attn_tensor_bhnd(k, 1, job->heads, rows.total, job->dim);
            io.value = attn_tensor_bhnd(v, 1, job->heads, rows.total, job->dim);
            io.out = attn_tensor_bhnd(out, 1, job->heads, rows.total, job->dim);
        }
        status = attn_mpi_run(plan, &io, &job->error);
    }
    if (!status) {
        if (!write_rows(job, "o.npy", &rows, out))
            attn_fail(&job->error, ATTN_ERROR_ARGUMENT, "o.npy cannot be written");
        status = attn_mpi_agree(MPI_COMM_WORLD, job->error.status, &job->error);
    }
    if (!status && rows.total) {
        const int part = rows.count[1] ? 1 : 0;
        const int64_t last = rows.first[part] + rows.count[part] - 1,
                      at = (rows.total - 1) * job->dim;
        printf("rank %d: %lld rows; row %lld is off by %.2g\n", job->rank, (long long)rows.total,
               (long long)last, check_row(job, last, q + at, out + at));
    }
    free(q);
    free(k);
    free(v);
    free(out);
    attn_mpi_plan_destroy(plan);
    return status;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    job_t job = {.error = {.status = ATTN_OK}};
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    if (argc == 4)
        job.heads = atoll(argv[1]), job.length = atoll(argv[2]), job.dim = atoll(argv[3]);
    attn_context_t *context = NULL;
    attn_status_t status = attn_context_create(NULL, &context, &job.error);
    status = attn_mpi_agree(MPI_COMM_WORLD, status, &job.error);
    if (!status) status = solve(&job, context);
    if (status && job.rank == 0) fprintf(stderr, "%s\n", job.error.message);
    attn_context_destroy(context);
    MPI_Finalize();
    return status ? 1 : 0;
}
