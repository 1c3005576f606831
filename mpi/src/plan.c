/* Plans over ranks: what all of them have to have the same of, which rows each has, and its memory. */
#include "plan.h"

#include "agree.h"
#include "split.h"
#include "states.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the ranks have the same of --------------------------------------------------------------- */

static int64_t hash_of_text(const char *text) {
    return (int64_t)attn_mpi_hash(HASH_BEGIN, text, strlen(text) + 1);
}

static int64_t hash_of_params(const attn_param_t *params, uint32_t count) {
    uint64_t hash = HASH_BEGIN;
    for (uint32_t i = 0; i < count; i++) {
        hash = attn_mpi_hash(hash, params[i].name, strlen(params[i].name) + 1);
        hash = attn_mpi_hash(hash, params[i].value, strlen(params[i].value) + 1);
    }
    return (int64_t)hash;
}

static int64_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? 0x7fc00000 : (int64_t)bits;
}

/* What a rank was called with, checked for itself. */
typedef struct request {
    const char *backend;
    attn_problem_t problem;
    const attn_param_t *params;
    uint32_t param_count;
    attn_mpi_options_t options;
} request_t;

static attn_status_t compare(MPI_Comm comm, const request_t *r, attn_error_t *error) {
    const attn_problem_t *p = &r->problem;
    const fact_t facts[] = {
        {"the version of libattn", hash_of_text(attn_version()), 1},
        {"the backend", hash_of_text(r->backend), 1},
        {"batch", p->batch, 0},
        {"heads", p->heads, 0},
        {"kv_heads", p->kv_heads, 0},
        {"queries (n)", p->queries, 0},
        {"keys (m)", p->keys, 0},
        {"dim (d)", p->dim, 0},
        {"value_dim (dv)", p->value_dim, 0},
        {"the element type of queries", p->dtype, 1},
        {"the element type of keys", p->kv_dtype, 1},
        {"causal", p->causal, 0},
        {"scale", bits_of(p->scale), 1},
        {"softcap", bits_of(p->softcap), 1},
        {"past", p->past, 0},
        {"window_left", p->window_left, 0},
        {"window_right", p->window_right, 0},
        {"inputs: some bring a mask, a bias, lengths, sinks or slopes, others not", p->inputs, 1},
        {"the backend's own inputs", p->own_inputs, 1},
        {"scores", p->scores, 0},
        {"backward", p->backward, 0},
        {"the number of parameters", r->param_count, 0},
        {"parameters", hash_of_params(r->params, r->param_count), 1},
        {"layout", r->options.layout, 0},
        {"way", r->options.way, 0},
    };
    _Static_assert(sizeof facts / sizeof *facts <= MOST_FACTS, "room for all");
    return attn_mpi_same(comm, facts, (int)(sizeof facts / sizeof *facts), error);
}

/* ---- what is not split -------------------------------------------------------------------------- */

static int has_states(const char *backend) { return strcmp(backend, "linear") == 0; }

static attn_status_t check_request(const request_t *r, attn_error_t *error) {
    if (r->problem.backward && r->options.way == ATTN_MPI_WAY_TREE)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "mpi: gradients go round in a ring, not in a tree: leave way at 0");
    if (r->options.layout < ATTN_MPI_LAYOUT_AUTO || r->options.layout > ATTN_MPI_LAYOUT_ZIGZAG)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: layout is %d, must be 0, 1 or 2",
                         r->options.layout);
    if (r->options.way < ATTN_MPI_WAY_AUTO || r->options.way > ATTN_MPI_WAY_TREE)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: way is %d, must be 0, 1 or 2",
                         r->options.way);
    if (!has_states(r->backend)) return attn_mpi_split_check(r->backend, &r->problem, error);
    const attn_status_t status = attn_mpi_states_check(&r->problem, &r->options, error);
    return status == ATTN_OK && r->problem.backward
               ? attn_mpi_states_check_back(r->params, r->param_count, error)
               : status;
}

static attn_status_t read_options(const attn_mpi_options_t *given, attn_mpi_options_t *options,
                                  attn_error_t *error) {
    const uint32_t first = (uint32_t)offsetof(attn_mpi_options_t, reserved);
    const uint32_t size = attn_struct_size(given);
    if (size < first || size > ATTN_STRUCT_LIMIT)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "mpi: options: struct_size is %u, set it to sizeof(attn_mpi_options_t)",
                         size);
    if (!attn_struct_read(options, sizeof *options, given, first))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "mpi: the options are of a newer header: a field is set that this library "
                         "does not know");
    if (options->reserved)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: options: reserved is %d, must be 0",
                         options->reserved);
    return ATTN_OK;
}

static attn_status_t read_request(const attn_context_t *context, const char *backend,
                                  const attn_problem_t *problem, const attn_param_t *params,
                                  uint32_t count, const attn_mpi_options_t *options, request_t *r,
                                  attn_error_t *error) {
    memset(r, 0, sizeof *r);
    if (!context || !backend || (count && !params))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "mpi: the context, the backend id or the parameters are null");
    for (uint32_t i = 0; i < count; i++)
        if (!params[i].name || !params[i].value)
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: parameter %u has no name or value",
                             i);
    const attn_status_t status = attn_problem_check(problem, error);
    if (status != ATTN_OK) return status;
    attn_struct_read(&r->problem, sizeof r->problem, problem, ATTN_PROBLEM_FIRST);
    if (options && read_options(options, &r->options, error)) return ATTN_ERROR_ARGUMENT;
    r->backend = backend;
    r->params = params;
    r->param_count = count;
    return check_request(r, error);
}

/* ---- the way ------------------------------------------------------------------------------------------- */

/* A tree sends each query and its result about log2(p) times, a ring each key and value p - 1 times. */
static int tree_sends_less(const attn_problem_t *p, int size) {
    double steps = 1;
    while ((1 << (int)steps) < size) steps++;
    const double query = (double)p->heads * (double)(p->dim + p->value_dim + 2) * sizeof(float);
    const double key = (double)p->kv_heads * (double)(p->dim + p->value_dim) *
                       (double)attn_dtype_size(p->kv_dtype);
    const double block = (double)p->keys / size * key;
    return (double)p->queries * query * 2 * steps < block * (size - 1) &&
           (double)p->queries * query < block;
}

/* Sums and queries are one message each, of less than 2^31 bytes. */
static int fits_tree(const attn_problem_t *p) {
    return (double)p->batch * (double)p->heads * (double)p->queries *
               (double)(p->dim + p->value_dim + 2) * sizeof(float) <
           0x1p30;
}

static attn_status_t choose_way(attn_mpi_plan_t *plan, const attn_mpi_options_t *options,
                                attn_error_t *error) {
    const attn_problem_t *p = &plan->whole;
    const int has_rows = p->inputs & (ATTN_INPUT_MASK | ATTN_INPUT_BIAS) && p->queries > 1;
    plan->way = options->way;
    if (plan->way == ATTN_MPI_WAY_TREE && !fits_tree(p))
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "mpi: a tree is for few queries, not for %lld: leave way at 0",
                         (long long)p->queries);
    if (plan->way == ATTN_MPI_WAY_AUTO)
        plan->way = plan->size > 1 && !has_rows && !p->backward && fits_tree(p) &&
                            tree_sends_less(p, plan->size)
                        ? ATTN_MPI_WAY_TREE
                        : ATTN_MPI_WAY_RING;
    plan->layout = options->layout;
    if (plan->layout == ATTN_MPI_LAYOUT_AUTO)
        plan->layout = plan->way == ATTN_MPI_WAY_RING && p->causal != ATTN_CAUSAL_NONE &&
                               plan->split->bounds.window_left < 0
                           ? ATTN_MPI_LAYOUT_ZIGZAG
                           : ATTN_MPI_LAYOUT_CONTIGUOUS;
    return ATTN_OK;
}

attn_mpi_rows_t attn_mpi_rows_of(const attn_mpi_plan_t *plan, int64_t rows, int rank) {
    return attn_mpi_shard(plan->layout, rows, plan->split ? plan->split->unit : 1, rank,
                          plan->size);
}

int64_t attn_mpi_most_rows(const attn_mpi_plan_t *plan, int64_t rows) {
    int64_t most = 0;
    for (int rank = 0; rank < plan->size; rank++)
        most = attn_max(most, attn_mpi_rows_of(plan, rows, rank).total);
    return most;
}

/* ---- memory ------------------------------------------------------------------------------------------ */

/* Texts live in one block behind the parameters. */
static attn_status_t copy_texts(attn_mpi_plan_t *plan, const request_t *r, attn_error_t *error) {
    size_t size = r->param_count * sizeof *plan->params + strlen(r->backend) + 1;
    for (uint32_t i = 0; i < r->param_count; i++)
        size += strlen(r->params[i].name) + strlen(r->params[i].value) + 2;
    plan->params = malloc(size);
    if (!plan->params) return attn_fail(error, ATTN_ERROR_MEMORY, "mpi: no memory for a plan");
    char *text = (char *)(plan->params + r->param_count);
    plan->backend = strcpy(text, r->backend);
    text += strlen(text) + 1;
    plan->param_count = r->param_count;
    for (uint32_t i = 0; i < r->param_count; i++) {
        plan->params[i].name = strcpy(text, r->params[i].name);
        text += strlen(text) + 1;
        plan->params[i].value = strcpy(text, r->params[i].value);
        text += strlen(text) + 1;
    }
    return ATTN_OK;
}

/* Rows of the largest part of the queries that a block has. */
static int64_t most_rows(const attn_mpi_plan_t *plan) {
    if (plan->way == ATTN_MPI_WAY_TREE) return plan->rows;
    return attn_max(plan->query_rows.count[0], plan->query_rows.count[1]);
}

static void lay_out_workspace(attn_mpi_plan_t *plan, attn_arena_t *arena) {
    const attn_problem_t *p = &plan->whole;
    if (plan->states) {
        attn_mpi_states_lay_out(plan, arena);
        plan->row = plan->states->row;
        plan->lengths = attn_arena_take(arena, p->batch, sizeof(int64_t));
        return;
    }
    const int is_tree = plan->way == ATTN_MPI_WAY_TREE;
    const int64_t heads = p->batch * p->heads, rows = heads * plan->rows;
    const int64_t part_heads = is_tree ? heads : p->heads / p->kv_heads;
    const uint64_t out_size = (uint64_t)p->value_dim * sizeof(float);
    const uint64_t block = attn_mpi_kv_layout(p, attn_mpi_most_rows(plan, p->keys)).size;
    const uint64_t before = arena->used;
    plan->out = attn_arena_take(arena, rows, out_size);
    plan->lse = attn_arena_take(arena, rows, sizeof(double));
    plan->sum_size = arena->used - before;
    if (is_tree) plan->received = attn_arena_take(arena, 1, plan->sum_size);
    if (is_tree || p->dtype != ATTN_F32)
        plan->query = attn_arena_take(arena, rows, (uint64_t)p->dim * sizeof(float));
    for (int i = 0; !is_tree && plan->size > 1 && i < 2; i++)
        plan->blocks[i] = attn_arena_take(arena, 1, block);
    plan->part_out = attn_arena_take(arena, part_heads * most_rows(plan), out_size);
    plan->part_lse = attn_arena_take(arena, part_heads * most_rows(plan), sizeof(float));
    plan->row = attn_arena_take(arena, heads, out_size + sizeof(float));
    plan->lengths = attn_arena_take(arena, p->batch, sizeof(int64_t));
    attn_mpi_transfer_lay_out(&plan->moving, plan->comm, 2, block, arena);
    if (p->backward) attn_mpi_back_lay_out(plan, most_rows(plan), arena);
}

static attn_status_t take_memory(attn_mpi_plan_t *plan, attn_error_t *error) {
    attn_arena_t arena = {.base = NULL};
    uint64_t workspace = 0;
    lay_out_workspace(plan, &arena);
    if (plan->states) workspace = attn_mpi_states_workspace(plan);
    const attn_status_t status = plan->states ? ATTN_OK : attn_mpi_measure(plan, &workspace, error);
    if (status != ATTN_OK) return status;
    if (!arena.overflow) plan->memory = attn_host_allocate(NULL, (size_t)arena.used);
    if (plan->memory) plan->workspace = attn_host_allocate(NULL, (size_t)workspace + 1);
    if (!plan->memory || !plan->workspace)
        return attn_fail(error, ATTN_ERROR_MEMORY,
                         "mpi: no memory for a plan: %.0f MB for blocks of keys and results, %.0f "
                         "MB of workspace: take more ranks",
                         (double)arena.used / 1e6, (double)workspace / 1e6);
    arena = (attn_arena_t){.base = plan->memory};
    lay_out_workspace(plan, &arena);
    plan->workspace_size = workspace;
    return ATTN_OK;
}

static attn_status_t prepare(attn_mpi_plan_t *plan, const attn_context_t *context,
                             const request_t *r, attn_error_t *error) {
    plan->context = context;
    plan->whole = r->problem;
    attn_status_t status = copy_texts(plan, r, error);
    if (status == ATTN_OK && !has_states(r->backend)) status = attn_mpi_split_prepare(plan, error);
    if (status == ATTN_OK && !has_states(r->backend)) status = choose_way(plan, &r->options, error);
    if (status != ATTN_OK) return status;
    if (has_states(r->backend))
        plan->layout = ATTN_MPI_LAYOUT_CONTIGUOUS, plan->way = ATTN_MPI_WAY_STATES;
    attn_mpi_query_rows(plan, plan->rank, &plan->query_rows);
    attn_mpi_key_rows(plan, plan->rank, &plan->key_rows);
    plan->rows = plan->way == ATTN_MPI_WAY_TREE ? plan->whole.queries : plan->query_rows.total;
    if (plan->way == ATTN_MPI_WAY_RING) attn_mpi_plan_hops(plan);
    status = plan->way == ATTN_MPI_WAY_STATES ? attn_mpi_states_prepare(plan, error)
                                              : attn_mpi_split_draw(plan, error);
    return status == ATTN_OK ? take_memory(plan, error) : status;
}

/* ---- the calls ------------------------------------------------------------------------------------ */

/* Before anything can be agreed on. */
static attn_status_t check_mpi(MPI_Comm comm, attn_error_t *error) {
    int has_begun = 0, has_ended = 0, is_between = 0;
    MPI_Initialized(&has_begun);
    MPI_Finalized(&has_ended);
    if (!has_begun || has_ended)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: call MPI_Init first, MPI_Finalize last");
    if (comm == MPI_COMM_NULL)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: the communicator is MPI_COMM_NULL");
    MPI_Comm_test_inter(comm, &is_between);
    if (is_between)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: the communicator is of two groups");
    return ATTN_OK;
}

attn_status_t attn_mpi_plan_create(const attn_context_t *context, MPI_Comm comm,
                                   const char *backend, const attn_problem_t *problem,
                                   const attn_param_t *params, uint32_t param_count,
                                   const attn_mpi_options_t *options, attn_mpi_plan_t **result,
                                   attn_error_t *error) {
    attn_error_t own = {.status = ATTN_OK};
    request_t request;
    if (!error) error = &own;
    if (result) *result = NULL;
    attn_status_t status = check_mpi(comm, error);
    if (status != ATTN_OK) return status;
    status = read_request(context, backend, problem, params, param_count, options, &request, error);
    attn_mpi_plan_t *plan = status == ATTN_OK && result ? calloc(1, sizeof *plan) : NULL;
    if (status == ATTN_OK && !plan)
        status = result ? attn_fail(error, ATTN_ERROR_MEMORY, "mpi: no memory for a plan")
                        : attn_fail(error, ATTN_ERROR_ARGUMENT, "mpi: the result is null");
    status = attn_mpi_agree(comm, status, error);
    if (status == ATTN_OK) status = compare(comm, &request, error);
    if (status != ATTN_OK) {
        free(plan);
        return status;
    }
    MPI_Comm_dup(comm, &plan->comm);
    MPI_Comm_rank(comm, &plan->rank);
    MPI_Comm_size(comm, &plan->size);
    status = attn_mpi_agree(comm, prepare(plan, context, &request, error), error);
    if (status == ATTN_OK)
        *result = plan;
    else
        attn_mpi_plan_destroy(plan);
    return status;
}

void attn_mpi_plan_destroy(attn_mpi_plan_t *plan) {
    if (!plan) return;
    MPI_Comm_free(&plan->comm);
    attn_mpi_states_destroy(plan);
    attn_mpi_split_destroy(plan);
    attn_plan_destroy(plan->cached);
    attn_host_release(NULL, plan->workspace);
    attn_host_release(NULL, plan->memory);
    free(plan->params);
    free(plan);
}

static int32_t rows_of(const attn_mpi_plan_t *plan, int64_t all, int32_t rank,
                       attn_mpi_rows_t *rows) {
    if (rank < 0 || rank >= plan->size || !rows) return 0;
    *rows = attn_mpi_rows_of(plan, all, rank);
    return 1;
}

int32_t attn_mpi_query_rows(const attn_mpi_plan_t *plan, int32_t rank, attn_mpi_rows_t *rows) {
    return plan ? rows_of(plan, plan->whole.queries, rank, rows) : 0;
}

int32_t attn_mpi_key_rows(const attn_mpi_plan_t *plan, int32_t rank, attn_mpi_rows_t *rows) {
    return plan ? rows_of(plan, plan->whole.keys, rank, rows) : 0;
}

int32_t attn_mpi_plan_options(const attn_mpi_plan_t *plan, attn_mpi_options_t *options) {
    if (!plan || !options) return 0;
    const attn_mpi_options_t all = {
        .struct_size = sizeof all, .layout = plan->layout, .way = plan->way};
    return attn_struct_write(options, &all, sizeof all,
                             (uint32_t)offsetof(attn_mpi_options_t, reserved));
}

int32_t attn_mpi_plan_times(const attn_mpi_plan_t *plan, attn_mpi_times_t *times) {
    if (!plan || !times || !plan->has_run) return 0;
    return attn_struct_write(times, &plan->times, sizeof plan->times, (uint32_t)sizeof plan->times);
}
