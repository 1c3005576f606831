/* Queries are few: every rank answers all of them with its own keys, and the answers meet in a tree. */
#include "plan.h"

#include <string.h>

/* Queries of all ranks, (B, H, n, d) in f32: each rank writes its own, the others add zeros' bits to them. */
static void gather_queries(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    const attn_mpi_rows_t *own = &plan->query_rows;
    const int64_t count = p->batch * p->heads * p->queries * p->dim;
    attn_tensor_t all = attn_tensor_bhnd(plan->query, p->batch, p->heads, p->queries, p->dim);
    memset(plan->query, 0, (size_t)count * sizeof(float));
    for (int q = 0; q < CHUNKS; q++) {
        const attn_tensor_t from =
            attn_mpi_slice(run->io->query, 2, q ? own->count[0] : 0, own->count[q]);
        const attn_tensor_t to = attn_mpi_slice(all, 2, own->first[q], own->count[q]);
        if (own->count[q]) attn_mpi_widen(&to, &from);
    }
    MPI_Allreduce(MPI_IN_PLACE, plan->query, (int)count, MPI_INT32_T, MPI_BOR, plan->comm);
    run->query = all;
}

static void send_sum(attn_mpi_plan_t *plan, int to) {
    MPI_Send(plan->out, (int)plan->sum_size, MPI_BYTE, to, 1, plan->comm);
    plan->times.bytes_sent += (double)plan->sum_size;
}

/* The sum of rank `from` behind this rank's. */
static void receive_sum(mpi_run_t *run, int from) {
    attn_mpi_plan_t *plan = run->plan;
    const attn_part_t sum = attn_mpi_sum(plan, plan->out, plan->lse);
    const double start = MPI_Wtime();
    MPI_Recv(plan->received, (int)plan->sum_size, MPI_BYTE, from, 1, plan->comm, MPI_STATUS_IGNORE);
    plan->times.waiting += MPI_Wtime() - start;
    const size_t lse_at = (size_t)((char *)plan->lse - (char *)plan->out);
    const attn_part_t parts[2] = {sum, attn_mpi_sum(plan, (float *)(void *)plan->received,
                                                    (double *)(void *)(plan->received + lse_at))};
    attn_mpi_combine(plan->context, parts, 2, &sum.out, &sum.lse);
}

/* In every step a rank takes the sum of the one `step` behind it: those in between are in that already, in order. */
static void reduce(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    for (int step = 1; step < plan->size; step *= 2) {
        if (plan->rank % (2 * step)) {
            send_sum(plan, plan->rank - step);
            break;
        }
        if (plan->rank + step < plan->size) receive_sum(run, plan->rank + step);
    }
    MPI_Bcast(plan->out, (int)plan->sum_size, MPI_BYTE, 0, plan->comm);
}

void attn_mpi_tree(mpi_run_t *run) {
    const kv_block_t own = attn_mpi_own_block(run);
    gather_queries(run);
    attn_mpi_attend(run, &own);
    reduce(run);
}
