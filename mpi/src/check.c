/* What a rank brings to a run or to its gradients is checked before any of it is used. */
#include "split.h"
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

/* A run's, and those of its gradients. */
typedef struct arrays {
    attn_io_t io, gradients;
    int is_back;
} arrays_t;

/* libattn's own checks, of a problem with this rank's rows. */
static attn_status_t check_with(const attn_mpi_plan_t *plan, const attn_problem_t *problem,
                                const arrays_t *arrays, attn_error_t *error) {
    const int is_own = plan->states || plan->split->kind == SPLIT_ALIKE;
    attn_plan_t *local = NULL;
    attn_status_t status =
        is_own ? attn_plan_create(plan->context, plan->backend, problem, plan->params,
                                  plan->param_count, &local, error)
               : attn_plan_create(plan->context, "softmax", problem, NULL, 0, &local, error);
    if (status == ATTN_OK)
        status = arrays->is_back
                     ? attn_check_backward(local, &arrays->io, &arrays->gradients, error)
                     : attn_check(local, &arrays->io, error);
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
    if (io->query.data || io->out.data || io->lse.data || io->scores.data)
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "mpi: a rank without queries takes no query, out, lse and scores");
    io->query = nothing(p->dtype, p->batch, p->heads, 1, p->dim);
    io->out = attn_tensor_bhnd_of(p->dtype, plan->row, p->batch, p->heads, 1, p->value_dim);
    return ATTN_OK;
}

static attn_status_t stand_in_keys(const attn_mpi_plan_t *plan, attn_io_t *io,
                                   attn_error_t *error) {
    const attn_problem_t *p = &plan->whole;
    if (io->key.data || io->value.data || io->key_scales.data || io->value_scales.data)
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "mpi: a rank without keys takes no key, no value and no scales of them");
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

/* What a rank without queries or keys has no gradients of. */
static attn_status_t stand_in_gradients(const attn_mpi_plan_t *plan, arrays_t *arrays,
                                        attn_error_t *error) {
    const attn_problem_t *p = &plan->whole;
    attn_io_t *gradients = &arrays->gradients;
    if (!plan->query_rows.total) {
        if (gradients->query.data || gradients->out.data)
            return attn_fail(error, ATTN_ERROR_SHAPE,
                             "mpi: a rank without queries takes no gradients of query and out");
        gradients->out = nothing(p->dtype, p->batch, p->heads, 1, p->value_dim);
        if (!plan->states)
            arrays->io.lse = attn_tensor_bhnd(plan->row + p->batch * p->heads * p->value_dim,
                                              p->batch, p->heads, 1, 1);
    }
    if (!plan->key_rows.total && (gradients->key.data || gradients->value.data))
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "mpi: a rank without keys takes no gradients of key and value");
    return ATTN_OK;
}

/* Its arrays of queries and keys, and that they do not overlap. */
static attn_status_t check_rows(const attn_mpi_plan_t *plan, const arrays_t *given,
                                attn_error_t *error) {
    const int64_t q = plan->query_rows.total, k = plan->key_rows.total;
    attn_problem_t problem = plan->whole;
    arrays_t checked = *given;
    attn_status_t status = ATTN_OK;
    gates_t gates;
    problem.queries = attn_max(q, 1);
    problem.keys = attn_max(k, 1);
    problem.inputs = 0;
    problem.backward = given->is_back;
    remove_rules(&checked.io);
    remove_rules(&checked.gradients);
    checked.io.scores.data = NULL;
    if (plan->split) problem.own_inputs = 0, checked.io.own = NULL;
    if (k && plan->whole.inputs & ATTN_INPUT_KV_LENGTHS) {
        count_own_keys(plan, &given->io);
        problem.inputs = ATTN_INPUT_KV_LENGTHS;
        checked.io.kv_lengths = attn_tensor_lengths(plan->lengths, problem.batch);
    }
    if (plan->states && !k) stand_in_gates(plan, &checked.io, &gates);
    if (!q) status = stand_in_queries(plan, &checked.io, error);
    if (status == ATTN_OK && !k) status = stand_in_keys(plan, &checked.io, error);
    if (status == ATTN_OK && given->is_back) status = stand_in_gradients(plan, &checked, error);
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

/* Gradients of rules alone. */
static void stand_in_all(const attn_mpi_plan_t *plan, const attn_problem_t *p, arrays_t *arrays) {
    attn_io_t *io = &arrays->io, *gradients = &arrays->gradients;
    io->query = nothing(ATTN_F32, p->batch, p->heads, p->queries, p->dim);
    io->key = nothing(ATTN_F32, p->batch, p->kv_heads, p->keys, p->dim);
    io->value = nothing(ATTN_F32, p->batch, p->kv_heads, p->keys, p->value_dim);
    io->out = attn_tensor_bhnd(plan->rows ? plan->out : plan->row, p->batch, p->heads, p->queries,
                               p->value_dim);
    io->lse.data = io->key_scales.data = io->value_scales.data = NULL;
    if (!arrays->is_back) return;
    io->lse = attn_tensor_bhnd(plan->rows ? (float *)(void *)plan->lse
                                          : plan->row + p->batch * p->heads * p->value_dim,
                               p->batch, p->heads, p->queries, 1);
    gradients->query.data = gradients->key.data = gradients->value.data = NULL;
    gradients->out = nothing(ATTN_F32, p->batch, p->heads, p->queries, p->value_dim);
}

/* Arrays over all keys, and those that every rank has whole. */
static attn_status_t check_rules(const attn_mpi_plan_t *plan, const arrays_t *given,
                                 attn_error_t *error) {
    const attn_io_t *io = &given->io;
    attn_problem_t p = plan->whole;
    arrays_t checked = *given;
    p.dtype = p.kv_dtype = ATTN_F32;
    p.backward = given->is_back;
    p.own_inputs = 0, checked.io.own = NULL;
    p.queries = attn_max(plan->rows, 1);
    attn_status_t status = check_pairs(plan, &io->mask, "mask", ATTN_INPUT_MASK, &p, error);
    if (status == ATTN_OK)
        status = check_pairs(plan, &io->bias, "bias", ATTN_INPUT_BIAS, &p, error);
    if (status != ATTN_OK) return status;
    stand_in_all(plan, &p, &checked);
    return check_with(plan, &p, &checked, error);
}

/* Of linear there are no other rules. */
static attn_status_t check_lengths(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                   attn_error_t *error) {
    const attn_tensor_t *lengths = &io->kv_lengths;
    const int64_t *shape = lengths->shape, most = plan->whole.keys;
    if (!(plan->whole.inputs & ATTN_INPUT_KV_LENGTHS) && !lengths->data) return ATTN_OK;
    if (!(plan->whole.inputs & ATTN_INPUT_KV_LENGTHS) || !lengths->data)
        return attn_fail(
            error, ATTN_ERROR_ARGUMENT, "kv_lengths: %s",
            lengths->data ? "given, but the problem does not name it as an input"
                          : "is missing: its data is NULL, and the problem names it as an input");
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
attn_status_t attn_mpi_check(const attn_mpi_plan_t *plan, const attn_io_t *given, attn_io_t *io,
                             attn_error_t *error) {
    if (!given) return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: io (attn_io_t) is null");
    if (!attn_struct_read(io, sizeof *io, given, ATTN_IO_FIRST))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "mpi: io: struct_size is %u, or a field behind it is set that this "
                         "library does not know: use attn_io_init()",
                         attn_struct_size(given));
    if (io->scores.data &&
        (plan->states || plan->split->kind != SPLIT_ALIKE || strcmp(plan->backend, "softmax") != 0))
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "mpi: scores of %.60s are not split over ranks, those of softmax are",
                         plan->backend);
    if (io->scores.data && plan->way == ATTN_MPI_WAY_TREE)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "mpi: scores are written in a ring, not in a tree: ask for way 1 (ring)");
    const arrays_t arrays = {.io = *io};
    attn_status_t status =
        plan->states ? check_lengths(plan, io, error) : check_rules(plan, &arrays, error);
    if (status == ATTN_OK && plan->split) status = attn_mpi_split_read_lists(plan, io, error);
    return status == ATTN_OK ? check_rows(plan, &arrays, error) : status;
}

attn_status_t attn_mpi_check_backward(const attn_mpi_plan_t *plan, const attn_io_t *io,
                                      const attn_io_t *given, attn_io_t *gradients,
                                      attn_error_t *error) {
    if (!plan->whole.backward)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "mpi: the plan's problem does not ask for gradients (backward)");
    if (!given) return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: gradients (attn_io_t) are null");
    if (!attn_struct_read(gradients, sizeof *gradients, given, ATTN_IO_FIRST))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "mpi: gradients: struct_size is %u, or a field behind it is set that this "
                         "library does not know: use attn_io_init()",
                         attn_struct_size(given));
    const arrays_t arrays = {.io = *io, .gradients = *gradients, .is_back = 1};
    const attn_status_t status = plan->states ? ATTN_OK : check_rules(plan, &arrays, error);
    return status == ATTN_OK ? check_rows(plan, &arrays, error) : status;
}
