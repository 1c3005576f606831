/* Linear attention: states from rank to rank (states.h). */
#include "states.h"

#include "attn/ext/inputs.h"

#include <stdlib.h>
#include <string.h>

/* ---- plans ------------------------------------------------------------------------------------------- */

attn_status_t attn_mpi_states_check(const attn_problem_t *problem,
                                    const attn_mpi_options_t *options, attn_error_t *error) {
    if (options->layout == ATTN_MPI_LAYOUT_ZIGZAG || options->way != ATTN_MPI_WAY_AUTO)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "mpi: linear passes states on: rows are contiguous, and there is no ring");
    if (problem->causal == ATTN_CAUSAL_NONE) return ATTN_OK;
    if (problem->queries != problem->keys)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "mpi: causal linear has as many queries as keys (%lld, not %lld)",
                         (long long)problem->keys, (long long)problem->queries);
    if (problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT && problem->inputs & ATTN_INPUT_KV_LENGTHS)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "mpi: bottom-right linear has no lengths: its queries would move");
    return ATTN_OK;
}

static int is_causal(const attn_mpi_plan_t *plan) { return plan->whole.causal != ATTN_CAUSAL_NONE; }

/* Numbers of the backend's own arrays. */
static attn_status_t find_arrays(const attn_mpi_plan_t *plan, states_t *s, attn_error_t *error) {
    static const char *const names[STATE_ARRAYS] = {"decay",   "beta",      "state",
                                                    "state_z", "state_out", "state_z_out"};
    const attn_backend_t *backend = attn_backend_find(plan->context, plan->backend);
    attn_array_info_t info = {.struct_size = sizeof info};
    int found = 0;
    for (uint32_t i = 0; attn_backend_array(backend, ATTN_ARRAY_OWN + i, &info); i++)
        for (int k = 0; k < STATE_ARRAYS; k++)
            if (strcmp(info.name, names[k]) == 0) s->index[k] = i, found++;
    if (found == STATE_ARRAYS) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "mpi: backend '%.60s' has no states to pass on",
                     plan->backend);
}

static uint32_t bit_of(const states_t *s, enum state_array array) { return 1u << s->index[array]; }

static attn_status_t make(const attn_mpi_plan_t *plan, const attn_problem_t *problem,
                          attn_plan_t **made, attn_error_t *error) {
    attn_problem_t p = *problem;
    p.backward = 0; /* those have plans of their own */
    return attn_plan_create(plan->context, plan->backend, &p, plan->params, plan->param_count, made,
                            error);
}

/* Heads differ where a rule counts them, so that they are planned together. */
static int counts_heads(const attn_mpi_plan_t *plan) {
    int counts = 0;
    for (uint32_t i = 0; i < plan->param_count; i++)
        if (strcmp(plan->params[i].name, "retnet") == 0) counts = plan->params[i].value[0] != '0';
    return counts;
}

/* A unit of heads with the rank's rows; one row where it has none, for its plan's sizes alone. */
static attn_problem_t problem_of(const attn_mpi_plan_t *plan, const states_t *s) {
    attn_problem_t p = plan->whole;
    if (s->at_once == 1)
        p.batch = p.kv_heads = 1, p.heads = plan->whole.heads / plan->whole.kv_heads;
    p.keys = attn_max(plan->key_rows.total, 1);
    p.queries = is_causal(plan) ? p.keys : 1;
    p.own_inputs &= bit_of(s, DECAY) | bit_of(s, BETA);
    if (is_causal(plan)) p.causal = ATTN_CAUSAL_TOP_LEFT, p.own_inputs |= bit_of(s, STATE);
    return p;
}

/* With a normaliser a state has a part more, which only the backend knows. */
static attn_status_t plan_keys(attn_mpi_plan_t *plan, states_t *s, attn_error_t *error) {
    attn_problem_t p = plan->whole, trial = plan->whole;
    trial.queries = trial.keys = 1;
    trial.own_inputs |= bit_of(s, STATE) | bit_of(s, STATE_Z);
    attn_plan_t *tried = NULL;
    s->has_z = make(plan, &trial, &tried, NULL) == ATTN_OK;
    attn_plan_destroy(tried);
    p = problem_of(plan, s);
    if (is_causal(plan) && s->has_z) p.own_inputs |= bit_of(s, STATE_Z);
    return make(plan, &p, &s->keys, error);
}

static attn_status_t plan_apply(attn_mpi_plan_t *plan, states_t *s, attn_error_t *error) {
    attn_problem_t p = plan->whole;
    if (is_causal(plan) || !plan->query_rows.total) return ATTN_OK;
    p.queries = plan->query_rows.total;
    p.keys = 1;
    p.inputs = ATTN_INPUT_KV_LENGTHS;
    p.own_inputs = bit_of(s, STATE) | (s->has_z ? bit_of(s, STATE_Z) : 0);
    return make(plan, &p, &s->apply, error);
}

attn_status_t attn_mpi_states_prepare(attn_mpi_plan_t *plan, attn_error_t *error) {
    attn_tensor_t state;
    states_t *s = plan->states = calloc(1, sizeof *s);
    if (!s) return attn_fail(error, ATTN_ERROR_MEMORY, "mpi: no memory for a plan");
    s->heads = plan->whole.batch * plan->whole.kv_heads;
    s->at_once = is_causal(plan) && !counts_heads(plan) ? 1 : s->heads;
    attn_status_t status = find_arrays(plan, s, error);
    if (status == ATTN_OK) status = plan_keys(plan, s, error);
    if (status == ATTN_OK) status = plan_apply(plan, s, error);
    if (status == ATTN_OK && plan->whole.backward)
        status = attn_mpi_states_prepare_back(plan, error);
    if (status != ATTN_OK) return status;
    attn_plan_array(s->keys, ATTN_ARRAY_OWN + s->index[STATE_OUT], &state);
    s->features = state.shape[2];
    s->size = (uint64_t)(s->features * (plan->whole.value_dim + (s->has_z ? 1 : 0)));
    if ((double)s->heads * (double)s->size < 0x1p31) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                     "mpi: a state of %.3g numbers is more than a message",
                     (double)s->heads * (double)s->size);
}

void attn_mpi_states_lay_out(attn_mpi_plan_t *plan, attn_arena_t *arena) {
    states_t *s = plan->states;
    const attn_problem_t *p = &plan->whole;
    const uint64_t state = s->size * sizeof(float);
    s->before = attn_arena_take(arena, s->heads, state);
    s->after = attn_arena_take(arena, s->heads, state);
    if (!is_causal(plan)) s->received = attn_arena_take(arena, s->heads, state);
    s->zeros = attn_arena_take(arena, attn_max(p->dim, p->value_dim + 1), sizeof(float));
    if (s->zeros)
        memset(s->zeros, 0, (size_t)attn_max(p->dim, p->value_dim + 1) * sizeof *s->zeros);
    s->row = attn_arena_take(arena, p->batch * p->heads, (uint64_t)p->value_dim * sizeof(float));
    s->requests = attn_arena_take(arena, s->heads, sizeof(MPI_Request));
    s->statuses = attn_arena_take(arena, s->heads, sizeof(MPI_Status));
    if (p->backward) attn_mpi_states_back_lay_out(plan, arena);
}

uint64_t attn_mpi_states_workspace(const attn_mpi_plan_t *plan) {
    const uint64_t keys = attn_plan_workspace_size(plan->states->keys);
    const uint64_t apply = attn_plan_workspace_size(plan->states->apply);
    const uint64_t back = attn_mpi_states_back_workspace(plan);
    return back > keys && back > apply ? back : keys > apply ? keys : apply;
}

void attn_mpi_states_destroy(attn_mpi_plan_t *plan) {
    if (!plan->states) return;
    attn_plan_destroy(plan->states->keys);
    attn_plan_destroy(plan->states->apply);
    attn_mpi_states_back_destroy(plan);
    free(plan->states);
}

/* ---- arrays ------------------------------------------------------------------------------------------ */

static const attn_tensor_t *own_of(const mpi_run_t *run, enum state_array array) {
    return attn_own_array(run->io, run->plan->states->index[array]);
}

int64_t attn_mpi_states_wanted(const attn_mpi_plan_t *plan, const attn_io_t *io) {
    const states_t *s = plan->states;
    return (attn_own_array(io, s->index[STATE_OUT]) ? 1 : 0) |
           (attn_own_array(io, s->index[STATE_Z_OUT]) ? 2 : 0);
}

/* States of heads from `first` on, as an array of a unit or of all heads; `z`: their normalisers. */
static attn_tensor_t states_in(const attn_mpi_plan_t *plan, float *states, int64_t first,
                               int is_whole, int z) {
    const states_t *s = plan->states;
    const attn_problem_t *p = &plan->whole;
    const int64_t size = (int64_t)s->size, columns = z ? 1 : p->value_dim;
    float *data = states + first * size + (z ? s->features * p->value_dim : 0);
    return (attn_tensor_t){
        .data = data,
        .dtype = ATTN_F32,
        .shape = {is_whole ? p->batch : 1, is_whole ? p->kv_heads : 1, s->features, columns},
        .stride = {p->kv_heads * size, size, columns, 1}};
}

attn_tensor_t attn_mpi_states_in(const attn_mpi_plan_t *plan, float *states, int z) {
    return states_in(plan, states, 0, 1, z);
}

/* Rows of a unit's heads of an array with heads (`group` 1) or query heads. */
static attn_tensor_t rows_of(const attn_mpi_plan_t *plan, attn_tensor_t tensor, int64_t head,
                             int64_t group) {
    const int64_t heads = plan->whole.kv_heads;
    if (!tensor.data || plan->states->at_once > 1) return tensor;
    if (tensor.shape[0] > 1) tensor = attn_mpi_slice(tensor, 0, head / heads, 1);
    if (tensor.shape[1] > 1 || heads * group == 1)
        tensor = attn_mpi_slice(tensor, 1, head % heads * group, group);
    return tensor;
}

/* Elements of one array to another of its shape. */
static void copy(const attn_tensor_t *to, const attn_tensor_t *from) {
    const int64_t *shape = from->shape;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t c = 0; c < shape[3]; c++)
                    ((float *)to->data)[b * to->stride[0] + h * to->stride[1] + i * to->stride[2] +
                                        c * to->stride[3]] =
                        ((const float *)from->data)[b * from->stride[0] + h * from->stride[1] +
                                                    i * from->stride[2] + c * from->stride[3]];
}

/* What the first rank begins with. */
void attn_mpi_states_take_given(const mpi_run_t *run, float *states) {
    const states_t *s = run->plan->states;
    memset(states, 0, (size_t)s->heads * s->size * sizeof *states);
    for (int z = 0; z <= s->has_z; z++) {
        const attn_tensor_t *given = own_of(run, z ? STATE_Z : STATE);
        const attn_tensor_t to = states_in(run->plan, states, 0, 1, z);
        if (given) copy(&to, given);
    }
}

static void give_wanted(const mpi_run_t *run) {
    for (int z = 0; z < 2; z++) {
        const attn_tensor_t *wanted = own_of(run, z ? STATE_Z_OUT : STATE_OUT);
        const attn_tensor_t from = states_in(run->plan, run->plan->states->after, 0, 1, z);
        if (wanted) copy(wanted, &from);
    }
}

/* ---- a unit -------------------------------------------------------------------------------------------- */

static attn_tensor_t one_row(const attn_mpi_plan_t *plan, attn_dtype_t dtype, int64_t heads,
                             int64_t columns) {
    return (attn_tensor_t){.data = plan->states->zeros,
                           .dtype = dtype,
                           .shape = {plan->whole.batch, heads, 1, columns}};
}

/* Keys of the rank that count in each batch of a unit. */
static attn_tensor_t lengths_of(const mpi_run_t *run, int64_t head) {
    const attn_mpi_plan_t *plan = run->plan;
    const attn_tensor_t *given = &run->io->kv_lengths;
    const int is_one = plan->states->at_once == 1;
    const int64_t batches = is_one ? 1 : plan->whole.batch;
    for (int64_t b = 0; b < batches; b++) {
        const int64_t of = is_one ? head / plan->whole.kv_heads : b;
        const int64_t length = ((const int64_t *)given->data)[of * given->stride[0]];
        plan->lengths[b] =
            attn_max(0, attn_min(length - plan->key_rows.first[0], plan->key_rows.total));
    }
    return attn_tensor_lengths(plan->lengths, batches);
}

static void note_rows(const mpi_run_t *run, const attn_report_t *report) {
    if (run->io->report) run->io->report->degenerate_rows += report->degenerate_rows;
}

/* The rank's rows of a unit: from the states before to those after. */
static void run_keys(mpi_run_t *run, int64_t head) {
    attn_mpi_plan_t *plan = run->plan;
    const states_t *s = plan->states;
    const attn_problem_t *p = &plan->whole;
    const int is_whole = s->at_once > 1 || s->heads == 1;
    const int64_t group = p->heads / p->kv_heads;
    attn_report_t report = {.struct_size = sizeof report};
    attn_error_t error;
    attn_tensor_t arrays[STATE_ARRAYS] = {{.data = NULL}};
    const attn_tensor_t *own[ATTN_MOST_OWN_ARRAYS] = {NULL};
    attn_io_t io;
    attn_io_init(&io);
    io.report = &report;
    io.query = is_causal(plan) ? rows_of(plan, run->io->query, head, group)
                               : one_row(plan, p->dtype, p->heads, p->dim);
    io.key = rows_of(plan, run->io->key, head, 1);
    io.value = rows_of(plan, run->io->value, head, 1);
    io.out = is_causal(plan)
                 ? rows_of(plan, run->io->out, head, group)
                 : attn_tensor_bhnd_of(p->dtype, s->row, p->batch, p->heads, 1, p->value_dim);
    if (p->inputs & ATTN_INPUT_KV_LENGTHS) io.kv_lengths = lengths_of(run, head);
    for (int gate = DECAY; gate <= BETA; gate++)
        if (own_of(run, (enum state_array)gate))
            arrays[gate] = rows_of(plan, *own_of(run, (enum state_array)gate), head, 1);
    for (int z = 0; z <= s->has_z; z++) {
        if (is_causal(plan)) arrays[STATE + z] = states_in(plan, s->before, head, is_whole, z);
        arrays[STATE_OUT + z] = states_in(plan, s->after, head, is_whole, z);
    }
    for (int k = 0; k < STATE_ARRAYS; k++)
        if (arrays[k].data) own[s->index[k]] = &arrays[k];
    io.own = own;
    io.own_count = ATTN_MOST_OWN_ARRAYS;
    io.workspace = plan->workspace;
    io.workspace_size = plan->workspace_size;
    attn_mpi_note(run, attn_run(s->keys, &io, &error), &error);
    if (is_causal(plan)) note_rows(run, &report);
}

/* ---- causal: a chain ------------------------------------------------------------------------------------ */

static void pass_on(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    const states_t *s = plan->states;
    const int count = (int)((uint64_t)s->at_once * s->size);
    int sent = 0;
    if (plan->rank == 0) attn_mpi_states_take_given(run, s->before);
    for (int64_t head = 0; head < s->heads; head += s->at_once) {
        float *before = s->before + (uint64_t)head * s->size;
        float *after = s->after + (uint64_t)head * s->size;
        double start = MPI_Wtime();
        if (plan->rank > 0)
            MPI_Recv(before, count, MPI_FLOAT, plan->rank - 1, 2, plan->comm, &s->statuses[0]);
        plan->times.waiting += MPI_Wtime() - start;
        start = MPI_Wtime();
        if (plan->key_rows.total)
            run_keys(run, head);
        else
            memcpy(after, before, (size_t)count * sizeof *after);
        plan->times.computing += MPI_Wtime() - start;
        if (plan->rank + 1 == plan->size) continue;
        MPI_Isend(after, count, MPI_FLOAT, plan->rank + 1, 2, plan->comm, &s->requests[sent++]);
        plan->times.bytes_sent += (double)count * sizeof(float);
    }
    MPI_Waitall(sent, s->requests, s->statuses);
    MPI_Bcast(s->after, (int)((uint64_t)s->heads * s->size), MPI_FLOAT, plan->size - 1, plan->comm);
}

/* ---- not causal: a sum ----------------------------------------------------------------------------------- */

/* In a tree, so that which sums are added does not depend on who is first. */
static void add_up(attn_mpi_plan_t *plan) {
    const states_t *s = plan->states;
    const int count = (int)((uint64_t)s->heads * s->size);
    for (int step = 1; step < plan->size; step *= 2) {
        if (plan->rank % (2 * step)) {
            MPI_Send(s->after, count, MPI_FLOAT, plan->rank - step, 2, plan->comm);
            plan->times.bytes_sent += (double)count * sizeof(float);
            break;
        }
        if (plan->rank + step >= plan->size) continue;
        MPI_Recv(s->received, count, MPI_FLOAT, plan->rank + step, 2, plan->comm, &s->statuses[0]);
        for (int i = 0; i < count; i++) s->after[i] += s->received[i];
    }
}

static void apply(mpi_run_t *run) {
    const attn_mpi_plan_t *plan = run->plan;
    const states_t *s = plan->states;
    const attn_problem_t *p = &plan->whole;
    attn_report_t report = {.struct_size = sizeof report};
    attn_error_t error;
    const attn_tensor_t states[2] = {states_in(plan, s->after, 0, 1, 0),
                                     states_in(plan, s->after, 0, 1, 1)};
    const attn_tensor_t *own[ATTN_MOST_OWN_ARRAYS] = {NULL};
    attn_io_t io;
    if (!s->apply) return;
    attn_io_init(&io);
    io.report = &report;
    io.query = run->io->query;
    io.key = one_row(plan, p->kv_dtype, p->kv_heads, p->dim);
    io.value = one_row(plan, p->kv_dtype, p->kv_heads, p->value_dim);
    io.out = run->io->out;
    memset(plan->lengths, 0, (size_t)p->batch * sizeof *plan->lengths);
    io.kv_lengths = attn_tensor_lengths(plan->lengths, p->batch);
    for (int z = 0; z <= s->has_z; z++) own[s->index[STATE + z]] = &states[z];
    io.own = own;
    io.own_count = ATTN_MOST_OWN_ARRAYS;
    io.workspace = plan->workspace;
    io.workspace_size = plan->workspace_size;
    attn_mpi_note(run, attn_run(s->apply, &io, &error), &error);
    note_rows(run, &report);
}

static void share_sum(mpi_run_t *run) {
    attn_mpi_plan_t *plan = run->plan;
    const states_t *s = plan->states;
    const int count = (int)((uint64_t)s->heads * s->size);
    memset(s->after, 0, (size_t)count * sizeof *s->after);
    if (plan->key_rows.total) run_keys(run, 0);
    add_up(plan);
    if (plan->rank == 0) {
        attn_mpi_states_take_given(run, s->before);
        for (int i = 0; i < count; i++) s->after[i] = s->before[i] + s->after[i];
    }
    MPI_Bcast(s->after, count, MPI_FLOAT, 0, plan->comm);
    apply(run);
}

void attn_mpi_states_run(mpi_run_t *run) {
    if (run->io->report) run->io->report->degenerate_rows = 0;
    if (is_causal(run->plan))
        pass_on(run);
    else
        share_sum(run);
    run->plan->times.hops = 1;
    give_wanted(run);
}
