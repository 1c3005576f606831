/* Runs: every rank's arrays are checked before any of them is used. */
#include "plan.h"

#include "agree.h"
#include "states.h"

/* ---- the same on every rank ---------------------------------------------------------------------- */

static int64_t hash_of(const attn_tensor_t *tensor, int axis) {
    const size_t size = (size_t)attn_dtype_size(tensor->dtype);
    uint64_t hash = HASH_BEGIN;
    for (int64_t i = 0; tensor->data && i < tensor->shape[axis]; i++)
        hash = attn_mpi_hash(
            hash, (const char *)tensor->data + i * tensor->stride[axis] * (int64_t)size, size);
    return (int64_t)hash;
}

static attn_status_t compare(const attn_mpi_plan_t *plan, const attn_io_t *io,
                             const attn_io_t *gradients, attn_error_t *error) {
    const int64_t wanted =
        gradients ? (gradients->sinks.data ? 1 : 0) | (gradients->slopes.data ? 2 : 0) : 0;
    const fact_t facts[] = {
        {"which gradients of sinks and slopes they ask for", wanted, 1},
        {"kv_lengths", hash_of(&io->kv_lengths, 0), 1},
        {"sinks", hash_of(&io->sinks, 1), 1},
        {"slopes", hash_of(&io->slopes, 1), 1},
        {"which states they ask for", plan->states ? attn_mpi_states_wanted(plan, io) : 0, 1}};
    return attn_mpi_same(plan->comm, facts, (int)(sizeof facts / sizeof *facts), error);
}

/* ---- the run ----------------------------------------------------------------------------------------- */

/* Queries in f32, its own. */
static void take_queries(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    run->queries = plan->query_rows;
    run->query = run->io->query;
    if (!plan->query || !plan->rows) return;
    run->query = attn_tensor_bhnd(plan->query, p->batch, p->heads, plan->rows, p->dim);
    attn_mpi_widen(&run->query, &run->io->query);
}

static void solve(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    if (plan->states) {
        attn_mpi_states_run(run);
        return;
    }
    attn_mpi_begin(run);
    if (plan->way == ATTN_MPI_WAY_TREE) {
        run->queries = (attn_mpi_rows_t){.count = {plan->rows}, .total = plan->rows};
        attn_mpi_tree(run);
        return;
    }
    take_queries(run);
    attn_mpi_ring(run);
}

static void begin(mpi_run_t *run) {
    run->plan->times = (attn_mpi_times_t){.struct_size = sizeof run->plan->times};
}

static attn_status_t end(mpi_run_t *run, double start, attn_error_t *error) {
    if (run->status != ATTN_OK) *error = run->error;
    run->plan->times.total = MPI_Wtime() - start;
    run->plan->has_run = 1;
    return attn_mpi_agree(run->plan->comm, run->status, error);
}

attn_status_t attn_mpi_run(attn_mpi_plan_t *plan, const attn_io_t *given, attn_error_t *error) {
    attn_error_t own = {.status = ATTN_OK};
    attn_io_t io = {.struct_size = 0};
    if (!error) error = &own;
    if (!plan) return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: the plan is null");
    const double start = MPI_Wtime();
    attn_status_t status =
        attn_mpi_agree(plan->comm, attn_mpi_check(plan, given, &io, error), error);
    if (status == ATTN_OK) status = compare(plan, &io, NULL, error);
    if (status != ATTN_OK) return status;
    mpi_run_t run = {.plan = plan, .io = &io};
    run.takes_all = io.scores.data && plan->whole.scores < ATTN_SCORES_MASKED;
    MPI_Allreduce(MPI_IN_PLACE, &run.takes_all, 1, MPI_INT, MPI_MAX, plan->comm);
    begin(&run);
    solve(&run);
    status = end(&run, start, error);
    if (status != ATTN_OK) return status;
    attn_mpi_finish(&run, &plan->query_rows, plan->way == ATTN_MPI_WAY_TREE);
    plan->times.total = MPI_Wtime() - start;
    return ATTN_OK;
}

attn_status_t attn_mpi_backward(attn_mpi_plan_t *plan, const attn_io_t *given,
                                const attn_io_t *given_gradients, attn_error_t *error) {
    attn_error_t own = {.status = ATTN_OK};
    attn_io_t io = {.struct_size = 0}, gradients = {.struct_size = 0};
    if (!error) error = &own;
    if (!plan) return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: the plan is null");
    const double start = MPI_Wtime();
    attn_status_t status = attn_mpi_check(plan, given, &io, error);
    if (status == ATTN_OK)
        status = attn_mpi_check_backward(plan, &io, given_gradients, &gradients, error);
    status = attn_mpi_agree(plan->comm, status, error);
    if (status == ATTN_OK) status = compare(plan, &io, &gradients, error);
    if (status != ATTN_OK) return status;
    mpi_run_t run = {.plan = plan, .io = &io, .gradients = &gradients};
    io.scores.data = NULL; /* the run's */
    run.travels = gradients.key.data || gradients.value.data;
    MPI_Allreduce(MPI_IN_PLACE, &run.travels, 1, MPI_INT, MPI_MAX, plan->comm);
    begin(&run);
    if (plan->states) {
        attn_mpi_states_backward_run(&run);
    } else {
        take_queries(&run);
        attn_mpi_backward_run(&run);
    }
    status = end(&run, start, error);
    if (status != ATTN_OK) return status;
    if (plan->states)
        attn_mpi_states_backward_finish(&run);
    else
        attn_mpi_backward_finish(&run);
    plan->times.total = MPI_Wtime() - start;
    return ATTN_OK;
}
