/*
 * Gradients of linear attention over ranks, of states that are sums (rule `linear`).
 *
 * With G the gradient by the state that a rank's keys are added to, of all queries behind them on other ranks,
 *     dV_j = G^T phi(k_j),   dphi(k_j) = G v_j + G_z:
 * what a run of queries k_j with the state [G, G_z] and no keys gives, and its gradient by those queries when that of its
 * result is [v_j, 1]. So each rank needs the states before it, gives the gradient by these, and gets the sum of those
 * behind it: two chains of states, in the order of the ranks.
 */
#include "states.h"

#include "attn/ext/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_causal(const attn_mpi_plan_t *plan) { return plan->whole.causal != ATTN_CAUSAL_NONE; }

static const char *value_of(const attn_mpi_plan_t *plan, const char *name, const char *otherwise) {
    for (uint32_t i = 0; i < plan->param_count; i++)
        if (strcmp(plan->params[i].name, name) == 0) otherwise = plan->params[i].value;
    return otherwise;
}

/* ---- plans ------------------------------------------------------------------------------------------- */

static attn_status_t make(const attn_mpi_plan_t *plan, const attn_problem_t *problem,
                          const char *normaliser, attn_plan_t **made, attn_error_t *error) {
    attn_param_t *params = calloc((size_t)plan->param_count + 1, sizeof *params);
    if (!params) return attn_fail(error, ATTN_ERROR_MEMORY, "mpi: no memory for a plan");
    memcpy(params, plan->params, plan->param_count * sizeof *params);
    params[plan->param_count] = (attn_param_t){"normaliser", normaliser};
    const attn_status_t status =
        attn_plan_create(plan->context, plan->backend, problem, params,
                         plan->param_count + (normaliser ? 1 : 0), made, error);
    free(params);
    return status;
}

static uint32_t bit_of(const states_t *s, enum state_array array) { return 1u << s->index[array]; }

/* Rows of the rank in f32, from a state on. */
static attn_problem_t rows_problem(const attn_mpi_plan_t *plan, int64_t queries, int64_t keys) {
    const states_t *s = plan->states;
    attn_problem_t p = plan->whole;
    p.dtype = p.kv_dtype = ATTN_F32;
    p.queries = attn_max(queries, 1);
    p.keys = attn_max(keys, 1);
    p.own_inputs = bit_of(s, STATE) | (s->has_z ? bit_of(s, STATE_Z) : 0);
    if (is_causal(plan)) p.causal = ATTN_CAUSAL_TOP_LEFT;
    return p;
}

/* Its keys as queries of a state, with the normaliser's part as a column more. favor scales both sides. */
static attn_problem_t keys_problem(const attn_mpi_plan_t *plan) {
    const states_t *s = plan->states;
    attn_problem_t p = rows_problem(plan, plan->key_rows.total, 1);
    p.heads = p.kv_heads;
    p.value_dim += s->has_z;
    p.causal = ATTN_CAUSAL_NONE;
    p.inputs = ATTN_INPUT_KV_LENGTHS;
    p.own_inputs = bit_of(s, STATE);
    if (strcmp(value_of(plan, "feature_map", ""), "favor") != 0) p.scale = 1;
    return p;
}

attn_status_t attn_mpi_states_check_back(const attn_param_t *params, uint32_t count,
                                         attn_error_t *error) {
    const attn_mpi_plan_t given = {.params = (attn_param_t *)(uintptr_t)params,
                                   .param_count = count};
    if (strcmp(value_of(&given, "rule", "linear"), "linear") == 0) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                     "mpi: gradients of linear are split over ranks for rule=linear alone: states "
                     "that decay or are corrected need a gradient by state_out, which "
                     "attn_backward() does not have");
}

attn_status_t attn_mpi_states_prepare_back(attn_mpi_plan_t *plan, attn_error_t *error) {
    states_t *s = plan->states;
    attn_problem_t sums = rows_problem(plan, 1, plan->key_rows.total);
    attn_problem_t rows =
        rows_problem(plan, plan->query_rows.total, is_causal(plan) ? plan->key_rows.total : 1);
    const attn_problem_t keys = keys_problem(plan);
    sums.causal = ATTN_CAUSAL_NONE;
    sums.backward = 0;
    sums.own_inputs = 0;
    if (!is_causal(plan)) rows.inputs = ATTN_INPUT_KV_LENGTHS; /* no key */
    attn_status_t status = make(plan, &sums, NULL, &s->back.sums, error);
    if (status == ATTN_OK) status = make(plan, &rows, NULL, &s->back.rows, error);
    if (status == ATTN_OK) status = make(plan, &keys, "off", &s->back.keys, error);
    return status;
}

uint64_t attn_mpi_states_back_workspace(const attn_mpi_plan_t *plan) {
    const states_back_t *back = &plan->states->back;
    const attn_plan_t *const plans[] = {back->sums, back->rows, back->keys};
    uint64_t most = 0;
    for (int i = 0; i < 3; i++)
        if (attn_plan_workspace_size(plans[i]) > most) most = attn_plan_workspace_size(plans[i]);
    return most;
}

void attn_mpi_states_back_destroy(attn_mpi_plan_t *plan) {
    states_back_t *back = &plan->states->back;
    attn_plan_destroy(back->sums);
    attn_plan_destroy(back->rows);
    attn_plan_destroy(back->keys);
}

static float *take(attn_arena_t *arena, int64_t rows, int64_t columns) {
    return attn_arena_take(arena, rows, (uint64_t)columns * sizeof(float));
}

void attn_mpi_states_back_lay_out(attn_mpi_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *p = &plan->whole;
    states_t *s = plan->states;
    states_back_t *back = &s->back;
    const int64_t queries = p->batch * p->heads * plan->query_rows.total;
    const int64_t keys = s->heads * plan->key_rows.total, wide = p->value_dim + s->has_z;
    if (p->dtype != ATTN_F32) {
        back->query = take(arena, queries, p->dim);
        back->out = take(arena, queries, p->value_dim);
        back->out_gradient = take(arena, queries, p->value_dim);
    }
    if (p->kv_dtype != ATTN_F32) {
        back->key = take(arena, keys, p->dim);
        back->value = take(arena, keys, p->value_dim);
    }
    back->by_query = take(arena, queries, p->dim);
    back->by_key = take(arena, keys, p->dim);
    back->by_value = take(arena, keys, p->value_dim);
    back->more_by_key = take(arena, keys, p->dim);
    back->results = take(arena, keys, wide);
    back->factors = take(arena, keys, wide);
    back->by_state = take(arena, s->heads, (int64_t)s->size);
    back->behind = take(arena, s->heads, (int64_t)s->size);
    back->joined = take(arena, s->heads, s->features * wide);
    back->row = take(arena, p->batch * p->heads, wide);
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

static attn_tensor_t wide(float *room, const attn_tensor_t *tensor) {
    const int64_t *shape = tensor->shape;
    if (!room) return *tensor;
    const attn_tensor_t to = attn_tensor_bhnd(room, shape[0], shape[1], shape[2], shape[3]);
    attn_mpi_widen(&to, tensor);
    return to;
}

static attn_tensor_t rows_in(float *data, int64_t batch, int64_t heads, int64_t rows,
                             int64_t columns) {
    return attn_tensor_bhnd(data, batch, heads, rows, columns);
}

/* A row of zeros for all, of a query or a key that a run has not. */
static attn_tensor_t one_row(const attn_mpi_plan_t *plan, int64_t heads, int64_t columns) {
    return (attn_tensor_t){.data = plan->states->zeros,
                           .dtype = ATTN_F32,
                           .shape = {plan->whole.batch, heads, 1, columns}};
}

static void add_workspace(const attn_mpi_plan_t *plan, attn_io_t *io) {
    io->workspace = plan->workspace;
    io->workspace_size = plan->workspace_size;
}

static void set_lengths(const mpi_run_t *run, attn_io_t *io, int are_none) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_tensor_t *given = &run->io->kv_lengths;
    for (int64_t b = 0; b < plan->whole.batch; b++) {
        const int64_t length =
            given->data ? ((const int64_t *)given->data)[b * given->stride[0]] : plan->whole.keys;
        plan->lengths[b] =
            are_none
                ? 0
                : attn_max(0, attn_min(length - plan->key_rows.first[0], plan->key_rows.total));
    }
    io->kv_lengths = attn_tensor_lengths(plan->lengths, plan->whole.batch);
}

/* Numbers of a backend's own arrays, at their places. */
typedef struct own {
    attn_tensor_t tensors[2];
    const attn_tensor_t *arrays[ATTN_MOST_OWN_ARRAYS];
} own_t;

static void set_states(const attn_mpi_plan_t *plan, attn_io_t *io, own_t *own, float *states,
                       enum state_array first) {
    const states_t *s = plan->states;
    memset(own, 0, sizeof *own);
    for (int z = 0; z <= s->has_z; z++) {
        own->tensors[z] = attn_mpi_states_in(plan, states, z);
        own->arrays[s->index[first + z]] = &own->tensors[z];
    }
    io->own = own->arrays;
    io->own_count = ATTN_MOST_OWN_ARRAYS;
}

/* What this rank's keys add to the state. */
static void sum_keys(mpi_run_t *run, float *states) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    states_back_t *back = &plan->states->back;
    attn_error_t error;
    attn_io_t io;
    own_t own;
    attn_io_init(&io);
    io.query = one_row(plan, p->heads, p->dim);
    io.key = run->key;
    io.value = run->value;
    io.out = rows_in(back->row, p->batch, p->heads, 1, p->value_dim);
    if (p->inputs & ATTN_INPUT_KV_LENGTHS) set_lengths(run, &io, 0);
    set_states(plan, &io, &own, states, STATE_OUT);
    add_workspace(plan, &io);
    attn_mpi_note(run, attn_run(back->sums, &io, &error), &error);
}

/* Gradients by this rank's rows, and by the state before them. */
static void go_back(mpi_run_t *run) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    const states_t *s = plan->states;
    const states_back_t *back = &s->back;
    const int64_t queries = plan->query_rows.total, keys = plan->key_rows.total;
    attn_error_t error;
    attn_io_t io, gradients;
    own_t before, by_state;
    attn_io_init(&io);
    attn_io_init(&gradients);
    io.query = run->query;
    io.out = run->out;
    io.key = is_causal(plan) ? run->key : one_row(plan, p->kv_heads, p->dim);
    io.value = is_causal(plan) ? run->value : one_row(plan, p->kv_heads, p->value_dim);
    if (!is_causal(plan) || p->inputs & ATTN_INPUT_KV_LENGTHS)
        set_lengths(run, &io, !is_causal(plan));
    set_states(plan, &io, &before, s->before, STATE);
    add_workspace(plan, &io);
    gradients.out = run->out_gradient;
    gradients.query = rows_in(back->by_query, p->batch, p->heads, queries, p->dim);
    if (is_causal(plan)) {
        gradients.key = rows_in(back->by_key, p->batch, p->kv_heads, keys, p->dim);
        gradients.value = rows_in(back->by_value, p->batch, p->kv_heads, keys, p->value_dim);
    }
    set_states(plan, &gradients, &by_state, back->by_state, STATE);
    attn_mpi_note(run, attn_backward(back->rows, &io, &gradients, &error), &error);
}

/* [G, G_z], side by side. */
static void join_states(const attn_mpi_plan_t *plan) {
    const states_t *s = plan->states;
    const int64_t columns = plan->whole.value_dim, all = columns + s->has_z;
    for (int64_t h = 0; h < s->heads; h++) {
        const float *from = s->back.behind + h * (int64_t)s->size;
        float *to = s->back.joined + h * s->features * all;
        for (int64_t f = 0; f < s->features; f++) {
            memcpy(to + f * all, from + f * columns, (size_t)columns * sizeof *to);
            if (s->has_z) to[f * all + columns] = from[s->features * columns + f];
        }
    }
}

static const float *row_of(const attn_tensor_t *tensor, int64_t b, int64_t h, int64_t i) {
    return (const float *)tensor->data + b * tensor->stride[0] + h * tensor->stride[1] +
           i * tensor->stride[2];
}

/* [v, 1]. */
static void join_values(const mpi_run_t *run) {
    const attn_problem_t *p = &run->plan->whole;
    const int64_t columns = p->value_dim, has_z = run->plan->states->has_z;
    float *to = run->plan->states->back.factors;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->kv_heads; h++)
            for (int64_t j = 0; j < run->plan->key_rows.total; j++) {
                const float *from = row_of(&run->value, b, h, j);
                for (int64_t c = 0; c < columns; c++) *to++ = from[c * run->value.stride[3]];
                if (has_z) *to++ = 1;
            }
}

/* What queries of other ranks pass on to this rank's keys and values; keys that do not count get nothing. */
static void add_behind(const mpi_run_t *run) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    const states_back_t *back = &plan->states->back;
    const int64_t rows = plan->key_rows.total, all = p->value_dim + plan->states->has_z;
    attn_io_t io;
    attn_io_init(&io);
    set_lengths(run, &io, 0);
    for (int64_t at = 0; at < plan->states->heads * rows; at++) {
        if (at % rows >= plan->lengths[at / rows / p->kv_heads]) continue;
        for (int64_t c = 0; c < p->dim; c++)
            back->by_key[at * p->dim + c] += back->more_by_key[at * p->dim + c];
        for (int64_t c = 0; c < p->value_dim; c++)
            back->by_value[at * p->value_dim + c] += back->results[at * all + c];
    }
}

static void look_behind(mpi_run_t *run) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    const states_t *s = plan->states;
    const states_back_t *back = &s->back;
    const int64_t rows = plan->key_rows.total, all = p->value_dim + s->has_z;
    const attn_tensor_t state = rows_in(back->joined, p->batch, p->kv_heads, s->features, all);
    const attn_tensor_t *own[ATTN_MOST_OWN_ARRAYS] = {NULL};
    attn_error_t error;
    attn_io_t io, gradients;
    join_states(plan);
    join_values(run);
    own[s->index[STATE]] = &state;
    attn_io_init(&io);
    attn_io_init(&gradients);
    io.query = run->key;
    io.key = one_row(plan, p->kv_heads, p->dim);
    io.value = one_row(plan, p->kv_heads, all);
    io.out = rows_in(back->results, p->batch, p->kv_heads, rows, all);
    set_lengths(run, &io, 1);
    io.own = own;
    io.own_count = ATTN_MOST_OWN_ARRAYS;
    add_workspace(plan, &io);
    attn_mpi_note(run, attn_run(back->keys, &io, &error), &error);
    gradients.out = rows_in(back->factors, p->batch, p->kv_heads, rows, all);
    gradients.query = rows_in(back->more_by_key, p->batch, p->kv_heads, rows, p->dim);
    attn_mpi_note(run, attn_backward(back->keys, &io, &gradients, &error), &error);
    add_behind(run);
}

/* ---- chains --------------------------------------------------------------------------------------------- */

/* `own` of all ranks before this one, from the first on, or behind it, from the last on: to `sums`, which the rank at the
 * end has of all. `sums` is what the first of them begins with. */
static void chain(attn_mpi_plan_t *plan, float *sums, const float *own, int step, float *all) {
    const states_t *s = plan->states;
    const uint64_t count = (uint64_t)s->heads * s->size;
    const int from = plan->rank - step, to = plan->rank + step;
    const int last = step > 0 ? plan->size - 1 : 0;
    const double start = MPI_Wtime();
    if (from >= 0 && from < plan->size)
        MPI_Recv(sums, (int)count, MPI_FLOAT, from, 5, plan->comm, &s->statuses[0]);
    plan->times.waiting += MPI_Wtime() - start;
    for (uint64_t i = 0; i < count; i++) all[i] = sums[i] + own[i];
    if (plan->rank != last) {
        MPI_Send(all, (int)count, MPI_FLOAT, to, 5, plan->comm);
        plan->times.bytes_sent += (double)(count * sizeof(float));
    }
    MPI_Bcast(all, (int)count, MPI_FLOAT, last, plan->comm);
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

void attn_mpi_states_backward_run(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    const states_t *s = plan->states;
    const states_back_t *back = &s->back;
    const size_t size = (size_t)s->heads * s->size * sizeof(float);
    const int64_t keys = s->heads * plan->key_rows.total;
    const double start = MPI_Wtime();
    if (plan->query_rows.total) {
        run->query = wide(back->query, &run->io->query);
        run->out = wide(back->out, &run->io->out);
        run->out_gradient = wide(back->out_gradient, &run->gradients->out);
    }
    if (plan->key_rows.total) {
        run->key = wide(back->key, &run->io->key);
        run->value = wide(back->value, &run->io->value);
    }
    memset(s->after, 0, size);
    if (plan->key_rows.total) sum_keys(run, s->after);
    attn_mpi_states_take_given(run, s->before);
    chain(plan, s->before, s->after, 1, back->behind);
    if (!is_causal(plan)) memcpy(s->before, back->behind, size);
    memset(back->by_state, 0, size);
    memset(back->by_key, 0, (size_t)(keys * plan->whole.dim) * sizeof(float));
    memset(back->by_value, 0, (size_t)(keys * plan->whole.value_dim) * sizeof(float));
    if (plan->query_rows.total) go_back(run);
    memset(back->behind, 0, size);
    chain(plan, back->behind, back->by_state, -1, s->after);
    if (!is_causal(plan)) memcpy(back->behind, s->after, size);
    if (plan->key_rows.total) look_behind(run);
    plan->times.hops = 1;
    plan->times.computing = MPI_Wtime() - start - plan->times.waiting;
}

void attn_mpi_states_backward_finish(mpi_run_t *run) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_problem_t *p = &plan->whole;
    const states_t *s = plan->states;
    const states_back_t *back = &s->back;
    const attn_io_t *to = run->gradients;
    const int64_t queries = plan->query_rows.total, keys = plan->key_rows.total;
    const attn_tensor_t query = rows_in(back->by_query, p->batch, p->heads, queries, p->dim);
    const attn_tensor_t key = rows_in(back->by_key, p->batch, p->kv_heads, keys, p->dim);
    const attn_tensor_t value = rows_in(back->by_value, p->batch, p->kv_heads, keys, p->value_dim);
    if (to->query.data) attn_mpi_narrow(&to->query, &query);
    if (to->key.data) attn_mpi_narrow(&to->key, &key);
    if (to->value.data) attn_mpi_narrow(&to->value, &value);
    for (int z = 0; z <= s->has_z; z++) {
        const attn_tensor_t *wanted = attn_own_array(to, s->index[STATE + z]);
        const attn_tensor_t all = attn_mpi_states_in(plan, s->after, z);
        if (wanted) attn_mpi_narrow(wanted, &all);
    }
}
