/* A run: every rank's arrays are checked before any of them is used. */
#include "plan.h"

#include "agree.h"
#include "states.h"

#include "attn/ext/inputs.h"

#include <string.h>

/* ---- arrays ------------------------------------------------------------------------------------------ */

/* Stands for an array that is checked elsewhere, or that a rank without rows has not: one element, whatever the shape. */
static attn_tensor_t nothing(attn_dtype_t dtype, int64_t batch, int64_t heads, int64_t rows,
                             int64_t columns) {
    static float one[2] = {1, 1};
    return (attn_tensor_t){.data = one, .dtype = dtype, .shape = {batch, heads, rows, columns}};
}

/* libattn's own checks, of a problem with this rank's rows. */
static attn_status_t check_with(const attn_mpi_plan_t *plan, const attn_problem_t *problem,
                                const attn_io_t *io, attn_error_t *error) {
    attn_plan_t *local = NULL;
    attn_status_t status = attn_plan_create(plan->context, plan->backend, problem, plan->params,
                                            plan->param_count, &local, error);
    if (status == ATTN_OK) status = attn_check(local, io, error);
    attn_plan_destroy(local);
    return status;
}

static void remove_rules(attn_io_t *io) {
    attn_tensor_t *const rules[] = {&io->bias, &io->mask, &io->kv_lengths, &io->sinks, &io->slopes};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        *rules[i] = (attn_tensor_t){.data = NULL};
}

static attn_status_t stand_in_queries(const attn_mpi_plan_t *plan, attn_io_t *io,
                                      attn_error_t *error) {
    const attn_problem_t *p = &plan->whole;
    if (io->query.data || io->out.data || io->lse.data)
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "mpi: query, out and lse have no data on a rank without queries");
    io->query = nothing(p->dtype, p->batch, p->heads, 1, p->dim);
    io->out = attn_tensor_bhnd_of(p->dtype, plan->row, p->batch, p->heads, 1, p->value_dim);
    return ATTN_OK;
}

static attn_status_t stand_in_keys(const attn_mpi_plan_t *plan, attn_io_t *io,
                                   attn_error_t *error) {
    const attn_problem_t *p = &plan->whole;
    if (io->key.data || io->value.data || io->key_scales.data || io->value_scales.data)
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "mpi: key, value and their scales have no data on a rank without keys");
    io->key = nothing(p->kv_dtype, p->batch, p->kv_heads, 1, p->dim);
    io->value = nothing(p->kv_dtype, p->batch, p->kv_heads, 1, p->value_dim);
    if (p->kv_dtype == ATTN_I8)
        io->key_scales = io->value_scales = nothing(ATTN_F32, p->batch, p->kv_heads, 1, 1);
    return ATTN_OK;
}

/* How many of its own keys count: the first of them, in any layout. */
static void count_own_keys(const attn_mpi_plan_t *plan, const attn_io_t *io) {
    for (int64_t b = 0; b < plan->whole.batch; b++) {
        const int64_t length = ((const int64_t *)io->kv_lengths.data)[b * io->kv_lengths.stride[0]];
        plan->lengths[b] = 0;
        for (int k = 0; k < CHUNKS; k++)
            plan->lengths[b] +=
                attn_max(0, attn_min(length - plan->key_rows.first[k], plan->key_rows.count[k]));
    }
}

/* A rank without keys has no rows of gates either: what stands for them is the same for all. */
typedef struct gates {
    attn_tensor_t none;
    const attn_tensor_t *own[ATTN_MOST_OWN_ARRAYS];
} gates_t;

static void stand_in_gates(const attn_mpi_plan_t *plan, attn_io_t *io, gates_t *gates) {
    *gates = (gates_t){.none = nothing(ATTN_F32, 1, 1, 1, 1)};
    gates->none.data = plan->states->zeros;
    for (uint32_t i = 0; i < ATTN_MOST_OWN_ARRAYS; i++) gates->own[i] = attn_own_array(io, i);
    for (int gate = DECAY; gate <= BETA; gate++) {
        const uint32_t index = plan->states->index[gate];
        if (plan->whole.own_inputs >> index & 1 && !gates->own[index])
            gates->own[index] = &gates->none;
    }
    io->own = gates->own;
    io->own_count = ATTN_MOST_OWN_ARRAYS;
}

/* Its arrays of queries and keys, and that they do not overlap. */
static attn_status_t check_rows(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                attn_error_t *error) {
    const int64_t q = plan->query_rows.total, k = plan->key_rows.total;
    attn_problem_t problem = plan->whole;
    attn_io_t checked = *io;
    attn_status_t status = ATTN_OK;
    gates_t gates;
    problem.queries = attn_max(q, 1);
    problem.keys = attn_max(k, 1);
    problem.inputs = 0;
    remove_rules(&checked);
    if (k && plan->whole.inputs & ATTN_INPUT_KV_LENGTHS) {
        count_own_keys(plan, io);
        problem.inputs = ATTN_INPUT_KV_LENGTHS;
        checked.kv_lengths = attn_tensor_lengths(plan->lengths, problem.batch);
    }
    if (plan->states && !k) stand_in_gates(plan, &checked, &gates);
    if (!q) status = stand_in_queries(plan, &checked, error);
    if (status == ATTN_OK && !k) status = stand_in_keys(plan, &checked, error);
    return status == ATTN_OK ? check_with(plan, &problem, &checked, error) : status;
}

/* A mask or a bias of queries that this rank computes; it may lack them where it computes none. */
static attn_status_t check_pairs(const attn_mpi_plan_t *plan, const attn_tensor_t *tensor,
                                 const char *name, uint32_t bit, attn_problem_t *problem,
                                 attn_error_t *error) {
    if (!plan->rows && !tensor->data) problem->inputs &= ~bit;
    if (plan->way != ATTN_MPI_WAY_TREE || !tensor->data || tensor->shape[2] == 1) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_SHAPE,
                     "mpi: %s has %lld rows; where all ranks answer all queries (way: tree) it has "
                     "one, the same for all",
                     name, (long long)tensor->shape[2]);
}

/* Arrays over all keys, and those that every rank has whole. */
static attn_status_t check_rules(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                 attn_error_t *error) {
    attn_problem_t p = plan->whole;
    attn_io_t checked = *io;
    p.dtype = p.kv_dtype = ATTN_F32;
    p.queries = attn_max(plan->rows, 1);
    attn_status_t status = check_pairs(plan, &io->mask, "mask", ATTN_INPUT_MASK, &p, error);
    if (status == ATTN_OK)
        status = check_pairs(plan, &io->bias, "bias", ATTN_INPUT_BIAS, &p, error);
    if (status != ATTN_OK) return status;
    checked.query = nothing(ATTN_F32, p.batch, p.heads, p.queries, p.dim);
    checked.key = nothing(ATTN_F32, p.batch, p.kv_heads, p.keys, p.dim);
    checked.value = nothing(ATTN_F32, p.batch, p.kv_heads, p.keys, p.value_dim);
    checked.out = attn_tensor_bhnd(plan->rows ? plan->out : plan->row, p.batch, p.heads, p.queries,
                                   p.value_dim);
    checked.lse.data = checked.key_scales.data = checked.value_scales.data = NULL;
    return check_with(plan, &p, &checked, error);
}

/* Of linear there are no other rules. */
static attn_status_t check_lengths(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                   attn_error_t *error) {
    const attn_tensor_t *lengths = &io->kv_lengths;
    const int64_t *shape = lengths->shape, most = plan->whole.keys;
    if (!(plan->whole.inputs & ATTN_INPUT_KV_LENGTHS) && !lengths->data) return ATTN_OK;
    if (!(plan->whole.inputs & ATTN_INPUT_KV_LENGTHS) || !lengths->data)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "kv_lengths: %s",
                         lengths->data ? "the problem does not name them" : "no data");
    if (lengths->dtype != ATTN_I64 || (uintptr_t)lengths->data % sizeof(int64_t))
        return attn_fail(error, ATTN_ERROR_DTYPE, "kv_lengths: must be aligned i64");
    if (shape[0] != plan->whole.batch || shape[1] * shape[2] * shape[3] != 1)
        return attn_fail(error, ATTN_ERROR_SHAPE, "kv_lengths: must be one for each batch");
    for (int64_t b = 0; b < shape[0]; b++) {
        const int64_t length = ((const int64_t *)lengths->data)[b * lengths->stride[0]];
        if (length < 0 || length > most)
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "kv_lengths: sequence %lld has %lld keys, must be 0 to %lld",
                             (long long)b, (long long)length, (long long)most);
    }
    return ATTN_OK;
}

/* The rules first: with lengths that are right, rows can be counted. */
static attn_status_t check(const attn_mpi_plan_t *plan, const attn_io_t *given, attn_io_t *io,
                           attn_error_t *error) {
    if (!given) return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: io (attn_io_t) is null");
    if (!attn_struct_read(io, sizeof *io, given, ATTN_IO_FIRST))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "mpi: io: struct_size is %u, or a field behind it is set that this "
                         "library does not know: use attn_io_init()",
                         attn_struct_size(given));
    if (io->scores.data)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "mpi: scores have a column for every key: not over ranks");
    const attn_status_t status =
        plan->states ? check_lengths(plan, io, error) : check_rules(plan, io, error);
    return status == ATTN_OK ? check_rows(plan, io, error) : status;
}

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
                             attn_error_t *error) {
    const fact_t facts[] = {
        {"kv_lengths", hash_of(&io->kv_lengths, 0), 1},
        {"sinks", hash_of(&io->sinks, 1), 1},
        {"slopes", hash_of(&io->slopes, 1), 1},
        {"which states they ask for", plan->states ? attn_mpi_states_wanted(plan, io) : 0, 1}};
    return attn_mpi_same(plan->comm, facts, (int)(sizeof facts / sizeof *facts), error);
}

/* ---- the run ----------------------------------------------------------------------------------------- */

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
    run->queries = plan->query_rows;
    run->query = run->io->query;
    if (plan->query && plan->rows) {
        const attn_problem_t *p = &plan->whole;
        run->query = attn_tensor_bhnd(plan->query, p->batch, p->heads, plan->rows, p->dim);
        attn_mpi_widen(&run->query, &run->io->query);
    }
    attn_mpi_ring(run);
}

attn_status_t attn_mpi_run(attn_mpi_plan_t *plan, const attn_io_t *given, attn_error_t *error) {
    attn_error_t own = {.status = ATTN_OK};
    attn_io_t io = {.struct_size = 0};
    if (!error) error = &own;
    if (!plan) return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: the plan is null");
    const double start = MPI_Wtime();
    attn_status_t status = attn_mpi_agree(plan->comm, check(plan, given, &io, error), error);
    if (status == ATTN_OK) status = compare(plan, &io, error);
    if (status != ATTN_OK) return status;
    mpi_run_t run = {.plan = plan, .io = &io};
    plan->times = (attn_mpi_times_t){.struct_size = sizeof plan->times};
    solve(&run);
    if (run.status != ATTN_OK) *error = run.error;
    status = attn_mpi_agree(plan->comm, run.status, error);
    if (status == ATTN_OK) attn_mpi_finish(&run, &plan->query_rows, plan->way == ATTN_MPI_WAY_TREE);
    plan->times.total = MPI_Wtime() - start;
    plan->has_run = 1;
    return status;
}
