/* Causal attention of keys that are all alike: row i is the mean of the values 0 to i. */
#include <attn/mpi.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 101, DIM = 8 };

static attn_status_t solve(const attn_context_t *context, attn_error_t *error) {
    attn_problem_t problem;
    attn_mpi_plan_t *plan;
    attn_mpi_rows_t rows;
    attn_io_t io;
    int rank;
    attn_problem_init(&problem, 1, 1, LENGTH, LENGTH, DIM, 1);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    attn_status_t status = attn_mpi_plan_create(context, MPI_COMM_WORLD, "softmax", &problem, NULL,
                                                0, NULL, &plan, error);
    if (status) return status;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    attn_mpi_query_rows(plan, rank, &rows);
    float *zeros = calloc((size_t)(rows.total * DIM) + 1, sizeof *zeros);
    float *value = calloc((size_t)rows.total + 1, sizeof *value);
    float *out = calloc((size_t)rows.total + 1, sizeof *out);
    int64_t at[LENGTH], count = 0;
    for (int part = 0; part < 2; part++)
        for (int64_t i = 0; i < rows.count[part]; i++) at[count++] = rows.first[part] + i;
    for (int64_t i = 0; value && i < count; i++) value[i] = (float)at[i];
    attn_io_init(&io);
    io.query = io.key = attn_tensor_bhnd(zeros, 1, 1, rows.total, DIM);
    io.value = attn_tensor_bhnd(value, 1, 1, rows.total, 1);
    io.out = attn_tensor_bhnd(out, 1, 1, rows.total, 1);
    status = attn_mpi_run(plan, &io, error);
    for (int64_t i = 0; !status && i < count; i++)
        if (!(fabs((double)out[i] - (double)at[i] / 2) <= 0x1p-24 * (LENGTH + 8) * LENGTH))
            status =
                attn_fail(error, ATTN_ERROR_ARGUMENT, "row %d is %g", (int)at[i], (double)out[i]);
    free(zeros);
    free(value);
    free(out);
    attn_mpi_plan_destroy(plan);
    return attn_mpi_agree(MPI_COMM_WORLD, status, error);
}

int main(int argc, char **argv) {
    attn_context_t *context = NULL;
    attn_error_t error = {0};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    attn_status_t status = attn_context_create(NULL, &context, &error);
    if (!status) status = solve(context, &error);
    attn_context_destroy(context);
    if (!rank) puts(status ? error.message : "all rows are right");
    MPI_Finalize();
    return status ? 1 : 0;
}
