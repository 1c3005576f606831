/*
 * A stream: for each key/value head what tokens come to, (s, z), and the last ones as they came, with their
 * gates: those of the last append, since a causal query sees some of them, and before it a few, so that a state
 * is not written, and rounded, for each alone: decoding reads it, and those tokens beside it. So memory is that of
 * the state and the last append: what a longer one before it took is given back.
 */
#include "plan.h"
#include "stream/cache.h"

#include <string.h>

typedef struct stream {
    attn_backend_stream_t base;
    attn_problem_t problem;
    attn_value_t values[LINEAR_PARAMS]; /* the plan's */
    linear_plan_t *plan;
    void *workspace;
    int64_t before;         /* tokens in the states */
    int64_t last;           /* tokens of the last append: they are not in the states */
    attn_cache_t recent;    /* those behind them, */
    attn_cache_t gates;     /* and their decay and beta, as its keys and values */
    attn_io_t io, gates_io; /* of runs over the recent tokens */
    const attn_tensor_t *own[LINEAR_ARRAYS]; /* io's backend-specific tensors */
    linear_state_t *states;                  /* [batch * kv_heads] */
    uint64_t states_bytes;                   /* of these and their numbers */
} stream_t;

static int64_t head_count(const attn_problem_t *problem) {
    return problem->batch * problem->kv_heads;
}

static void destroy(attn_backend_stream_t *base) {
    stream_t *stream = (stream_t *)base;
    const attn_host_t *host = stream->recent.host;
    if (stream->states) attn_host_release(host, stream->states[0].s);
    attn_host_release(host, stream->states);
    attn_host_release(host, stream->workspace);
    attn_cache_free(&stream->recent);
    attn_cache_free(&stream->gates);
    if (stream->plan) stream->plan->base.destroy(&stream->plan->base);
    attn_host_release(host, stream);
}

static uint64_t numbers_bytes(const stream_t *stream) {
    return (uint64_t)head_count(&stream->problem) * stream->states[0].size * sizeof(float);
}

static uint64_t memory(const attn_backend_stream_t *base) {
    const stream_t *stream = (const stream_t *)base;
    const linear_form_t *form = &stream->plan->form;
    const uint64_t directions =
        form->directions ? (uint64_t)(form->directions_stride * stream->problem.dim) * sizeof(float)
                         : 0;
    return sizeof *stream + sizeof *stream->plan + directions + stream->plan->base.workspace_size +
           stream->states_bytes + attn_cache_memory(&stream->recent) +
           attn_cache_memory(&stream->gates);
}

/* ---- gates --------------------------------------------------------------------------------------- */

/* The gates of a run as key and value of a cache, axes of 1 stretched to all. */
static void take_gates(attn_io_t *result, const attn_cache_t *gates, const attn_io_t *io) {
    attn_tensor_t *const tensors[] = {&result->key, &result->value};
    for (uint32_t i = 0; i < 2; i++) {
        const attn_tensor_t *given = attn_own_array(io, i == 0 ? LINEAR_DECAY : LINEAR_BETA);
        const int64_t shape[4] = {gates->batch, gates->kv_heads, io->key.shape[2],
                                  gates->arrays[i].columns};
        if (given) *tensors[i] = *given;
        for (int k = 0; k < 4; k++) {
            if (tensors[i]->shape[k] == 1) tensors[i]->stride[k] = 0;
            tensors[i]->shape[k] = shape[k];
        }
    }
}

/* Before anything has changed. */
static attn_status_t check_gates(const stream_t *stream, const attn_io_t *io, attn_error_t *error) {
    attn_status_t status = attn_linear_arrays_check(stream->plan, io, error);
    for (int64_t h = 0; status == ATTN_OK && h < head_count(&stream->problem); h++)
        status = attn_linear_check_decay(stream->plan, io, h, error);
    return status;
}

/* ---- tokens and queries -------------------------------------------------------------------------- */

static void set_before(stream_t *stream, int64_t before) {
    stream->before = before;
    for (int64_t h = 0; h < head_count(&stream->problem); h++) {
        stream->states[h].keys = before;
        stream->states[h].pending.count = 0;
    }
}

static void forget(stream_t *stream) {
    memset(stream->states[0].s, 0, (size_t)numbers_bytes(stream));
    set_before(stream, 0);
}

/* The recent tokens need no more room than this. */
static void shrink(stream_t *stream, int64_t tokens) {
    attn_cache_shrink(&stream->recent, tokens);
    attn_cache_shrink(&stream->gates, tokens);
}

/* The first `count` of the recent tokens are in the states. */
static void drop_first(stream_t *stream, int64_t count) {
    attn_cache_drop(&stream->recent, 0, count);
    attn_cache_drop(&stream->gates, 0, count);
    stream->before += count;
}

/*
 * A run of so many queries over the recent tokens; with `keep` these go into the states. One query behind a few
 * tokens, at least one, leaves these beside the states, unless what all come to is asked for.
 */
static attn_status_t run_recent(stream_t *stream, const attn_io_t *given, int64_t queries, int keep,
                                attn_error_t *error) {
    attn_io_t *io = &stream->io, *gates = &stream->gates_io;
    linear_plan_t plan = *stream->plan;
    plan.problem.queries = queries;
    plan.problem.keys = stream->recent.length;
    attn_cache_view(&stream->recent, stream->recent.length, io);
    attn_cache_view(&stream->gates, stream->recent.length, gates);
    io->query = given->query;
    io->out = given->out;
    io->report = given->report;
    io->own = stream->own;
    stream->own[LINEAR_DECAY] = &gates->key;
    stream->own[LINEAR_BETA] = &gates->value;
    for (uint32_t i = LINEAR_STATE_OUT; i < LINEAR_ARRAYS; i++)
        stream->own[i] = attn_own_array(given, i);
    const int64_t few = plan.recurrence->rows + (stream->last == 1); /* first ones may be added */
    const int is_step = queries == 1 && stream->recent.length && stream->recent.length <= few &&
                        !keep && !stream->own[LINEAR_STATE_OUT] && !stream->own[LINEAR_STATE_Z_OUT];
    if (!is_step) return attn_linear_run_from(&plan, io, stream->states, keep, error);
    attn_linear_rules_step(&plan, io, stream->states);
    if (plan.problem.keys > plan.recurrence->rows) drop_first(stream, plan.recurrence->rows);
    return ATTN_OK;
}

static attn_status_t append(attn_backend_stream_t *base, const attn_io_t *given,
                            attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    const int64_t tokens = given->key.shape[2], length = stream->recent.length;
    /* The first of these may go into the states with a query, but not those of the last append. */
    const int is_step = length + tokens <= stream->plan->recurrence->rows + (tokens == 1);
    const int64_t most = is_step ? length + tokens : tokens;
    attn_status_t status = check_gates(stream, given, error);
    if (status == ATTN_OK) status = attn_cache_reserve(&stream->recent, most, error);
    if (status == ATTN_OK) status = attn_cache_reserve(&stream->gates, most, error);
    if (status != ATTN_OK) return status;
    if (!is_step) {
        const attn_io_t nothing = {.struct_size = sizeof nothing};
        if (length)
            run_recent(stream, &nothing, 0, 1, NULL); /* gates were checked when they came */
        drop_first(stream, length);
        set_before(stream, stream->before);
        shrink(stream, tokens);
    }
    attn_cache_store(&stream->recent, given);
    take_gates(&stream->gates_io, &stream->gates, given);
    attn_cache_store(&stream->gates, &stream->gates_io);
    stream->last = tokens;
    return ATTN_OK;
}

/* How many tokens came before the last append. Of a few of them there may be more than their sum: none is promised. */
static int64_t summed(const stream_t *stream) {
    return stream->before + stream->recent.length - stream->last;
}

static attn_status_t query(attn_backend_stream_t *base, const attn_io_t *given,
                           attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    const int64_t queries = given->query.shape[2];
    if (stream->problem.causal != ATTN_CAUSAL_NONE && summed(stream) &&
        queries > attn_max(stream->last, 1))
        return attn_fail(
            error, ATTN_ERROR_UNSUPPORTED,
            "linear: %lld queries, but of the tokens before the last append, of %lld, only their "
            "sum is kept, which the first queries do not see whole",
            (long long)queries, (long long)stream->last);
    return run_recent(stream, given, queries, 0, error);
}

static attn_status_t truncate_to(attn_backend_stream_t *base, int64_t length, attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    const int64_t kept = length ? summed(stream) : 0;
    if (length < kept)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "linear: cannot truncate to %lld tokens: of the first %lld, which came "
                         "before the last append, only their sum is kept",
                         (long long)length, (long long)kept);
    if (length == 0) forget(stream);
    const int64_t recent = length - stream->before;
    attn_cache_truncate(&stream->recent, recent);
    attn_cache_truncate(&stream->gates, recent);
    shrink(stream, recent);
    stream->last = length - kept;
    set_before(stream, stream->before); /* other tokens may be the next */
    return ATTN_OK;
}

/* ---- copies -------------------------------------------------------------------------------------- */

static attn_status_t fork_it(const attn_backend_stream_t *base, attn_backend_stream_t **result,
                             attn_error_t *error) {
    const stream_t *stream = (const stream_t *)base;
    attn_backend_stream_t *made = NULL;
    attn_status_t status =
        attn_linear_stream(stream->recent.host, &stream->problem, stream->values, &made, error);
    if (status != ATTN_OK) return status;
    stream_t *copy = (stream_t *)made;
    status = attn_cache_copy(&copy->recent, &stream->recent, error);
    if (status == ATTN_OK) status = attn_cache_copy(&copy->gates, &stream->gates, error);
    if (status != ATTN_OK) {
        destroy(made);
        return status;
    }
    memcpy(copy->states[0].s, stream->states[0].s, (size_t)numbers_bytes(stream));
    set_before(copy, stream->before);
    copy->last = stream->last;
    *result = made;
    return ATTN_OK;
}

/* What stands before the saved numbers and recent tokens: the form, and how many tokens the states and the last
 * append have. */
typedef struct saved {
    int64_t map, rule, normalise, features, seed, retnet, own_inputs;
    float key_scale;
    int32_t reserved;
    int64_t before, last;
} saved_t;

static saved_t header(const stream_t *stream) {
    const linear_form_t *form = &stream->plan->form;
    const int is_favor = form->map == LINEAR_FAVOR;
    return (saved_t){
        .map = (int64_t)form->map,
        .rule = (int64_t)form->rule,
        .normalise = form->normalise,
        .features = form->features,
        .seed = is_favor ? (int64_t)form->seed : 0,
        .retnet = form->retnet,
        .own_inputs = stream->problem.own_inputs,
        .key_scale = form->key_scale,
        .before = stream->before,
        .last = stream->last,
    };
}

/* Floats of a head's saved state: s, z, zabs. */
static int64_t saved_floats(const stream_t *stream) {
    return stream->plan->form.features * (stream->problem.value_dim + 2);
}

static uint64_t saved_states_bytes(const stream_t *stream) {
    return (uint64_t)(head_count(&stream->problem) * saved_floats(stream)) * sizeof(float);
}

/* One head's numbers in an order that no tier decides; to or from its state. */
static void copy_state(const stream_t *stream, linear_state_t *state, char *bytes, int is_saved) {
    const int64_t features = stream->plan->form.features, dv = stream->problem.value_dim;
    for (int64_t k = 0; k < features + 2; k++) {
        float *piece = k < features    ? state->s + k * state->stride
                       : k == features ? state->z
                                       : state->zabs;
        const size_t size = (size_t)(k < features ? dv : features) * sizeof(float);
        if (is_saved)
            memcpy(piece, bytes, size);
        else
            memcpy(bytes, piece, size);
        bytes += size;
    }
}

static void copy_states(const stream_t *stream, char *bytes, int is_saved) {
    for (int64_t h = 0; h < head_count(&stream->problem); h++)
        copy_state(stream, &stream->states[h],
                   bytes + (uint64_t)(h * saved_floats(stream)) * sizeof(float), is_saved);
}

static uint64_t save(const attn_backend_stream_t *base, void *bytes) {
    const stream_t *stream = (const stream_t *)base;
    const saved_t saved = header(stream);
    const uint64_t numbers = stream->before ? saved_states_bytes(stream) : 0;
    const uint64_t recent = attn_cache_bytes(&stream->recent, stream->recent.length);
    if (bytes) {
        char *at = (char *)bytes + sizeof saved;
        memcpy(bytes, &saved, sizeof saved);
        if (numbers) copy_states(stream, at, 0);
        attn_cache_save(&stream->recent, at + numbers);
        attn_cache_save(&stream->gates, at + numbers + recent);
    }
    return sizeof saved + numbers + recent +
           attn_cache_bytes(&stream->gates, stream->recent.length);
}

static attn_status_t check_header(const stream_t *stream, const saved_t *saved, int64_t length,
                                  attn_error_t *error) {
    const saved_t own = header(stream);
    const char *other = saved->map != own.map                 ? "feature_map"
                        : saved->rule != own.rule             ? "rule"
                        : saved->normalise != own.normalise   ? "normaliser"
                        : saved->features != own.features     ? "number of features"
                        : saved->seed != own.seed             ? "seed"
                        : saved->retnet != own.retnet         ? "retnet"
                        : saved->own_inputs != own.own_inputs ? "choice of gates"
                        : saved->key_scale != own.key_scale   ? "scale"
                                                              : NULL;
    if (saved->before < 0 || saved->before > length || saved->last < 0 ||
        saved->last > length - saved->before)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "linear: these bytes are damaged");
    if (!other) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_ARGUMENT, "linear: saved with another %s", other);
}

/* The decays of saved gates stand first. */
static attn_status_t check_saved_gates(const stream_t *stream, const char *bytes, int64_t tokens,
                                       attn_error_t *error) {
    const int64_t count =
        head_count(&stream->problem) * tokens * stream->gates.arrays[CACHE_KEY].columns;
    for (int64_t i = 0; i < count; i++) {
        float decay;
        memcpy(&decay, bytes + (uint64_t)i * sizeof decay, sizeof decay);
        if (decay > 0.0f)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "linear: these bytes are damaged: a decay is above 0");
    }
    return ATTN_OK;
}

static attn_status_t restore(attn_backend_stream_t *base, const void *bytes, uint64_t size,
                             int64_t length, attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    saved_t saved = {.before = -1};
    if (size >= sizeof saved) memcpy(&saved, bytes, sizeof saved);
    attn_status_t status = check_header(stream, &saved, length, error);
    if (status != ATTN_OK) return status;
    const int64_t tokens = length - saved.before;
    const uint64_t numbers = saved.before ? saved_states_bytes(stream) : 0;
    const uint64_t recent = attn_cache_bytes(&stream->recent, tokens);
    const uint64_t needed =
        sizeof saved + numbers + recent + attn_cache_bytes(&stream->gates, tokens);
    status = attn_cache_check_size(size, needed, length, error);
    if (status != ATTN_OK) return status;
    const char *at = (const char *)bytes + sizeof saved, *gates = at + numbers + recent;
    status = check_saved_gates(stream, gates, tokens, error);
    if (status == ATTN_OK) status = attn_cache_reserve(&stream->gates, tokens, error);
    if (status == ATTN_OK)
        status = attn_cache_restore(&stream->recent, at + numbers, tokens, error);
    if (status != ATTN_OK) return status;
    attn_cache_restore(&stream->gates, gates, tokens, NULL); /* has the room, and no scales */
    forget(stream);
    if (numbers) copy_states(stream, (char *)(uintptr_t)at, 1);
    set_before(stream, saved.before);
    stream->last = saved.last;
    shrink(stream, tokens);
    return ATTN_OK;
}

/* ---- making -------------------------------------------------------------------------------------- */

static attn_cache_t make_gates(const attn_host_t *host, const linear_plan_t *plan) {
    attn_problem_t gates = plan->problem;
    const uint32_t named = gates.own_inputs;
    const int64_t columns = linear_map_is_wide(plan->form.map) ? 1 : plan->problem.dim;
    gates.kv_dtype = ATTN_F32;
    gates.dim = named >> LINEAR_DECAY & 1 ? columns : 0;
    gates.value_dim = named >> LINEAR_BETA & 1;
    return attn_cache_make(host, &gates, 0);
}

/* States of zeros, in one piece of memory. */
static attn_status_t make_states(stream_t *stream, attn_error_t *error) {
    const linear_plan_t *plan = stream->plan;
    const int64_t heads = head_count(&stream->problem);
    attn_arena_t count = {.base = NULL}, one = {.base = NULL}, all = {.base = NULL};
    const linear_state_t state =
        plan->recurrence->take_state(&stream->problem, &plan->form, plan->recurrence->rows, &one);
    attn_arena_take(&all, heads, state.size * sizeof(float));
    attn_arena_take(&count, heads, sizeof *stream->states);
    float *numbers = NULL;
    if (!one.overflow && !all.overflow && !count.overflow) {
        stream->states = attn_host_allocate(stream->recent.host, (size_t)count.used);
        numbers = attn_host_allocate(stream->recent.host, (size_t)all.used);
        stream->states_bytes = count.used + all.used;
        stream->workspace =
            attn_host_allocate(stream->recent.host, (size_t)plan->base.workspace_size);
    }
    if (!stream->states || !numbers || !stream->workspace) {
        attn_host_release(stream->recent.host, numbers);
        attn_host_release(stream->recent.host, stream->states);
        stream->states = NULL;
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a stream");
    }
    for (int64_t h = 0; h < heads; h++)
        stream->states[h] = attn_linear_state_at(&state, numbers + (uint64_t)h * state.size);
    forget(stream);
    return ATTN_OK;
}

attn_status_t attn_linear_stream(const attn_host_t *host, const attn_problem_t *problem,
                                 const attn_value_t *values, attn_backend_stream_t **result,
                                 attn_error_t *error) {
    const uint32_t states = 1u << LINEAR_STATE | 1u << LINEAR_STATE_Z;
    attn_backend_plan_t *plan;
    if (attn_problem_copy(problem).own_inputs & states)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "linear: a stream begins without a state; restore one that was saved");
    attn_status_t status = attn_linear_plan(host, problem, values, &plan, error);
    if (status != ATTN_OK) return status;
    stream_t *stream = attn_host_allocate(host, sizeof *stream);
    if (!stream) {
        plan->destroy(plan);
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a stream");
    }
    *stream = (stream_t){
        .base = {.struct_size = sizeof stream->base,
                 .append = append,
                 .query = query,
                 .truncate = truncate_to,
                 .fork = fork_it,
                 .save = save,
                 .restore = restore,
                 .memory = memory,
                 .destroy = destroy,
                 .plan = plan},
        .io = {.struct_size = sizeof stream->io, .own_count = LINEAR_ARRAYS},
        .gates_io = {.struct_size = sizeof stream->gates_io},
        .problem = attn_problem_copy(problem),
        .plan = (linear_plan_t *)plan,
    };
    memcpy(stream->values, values, sizeof stream->values);
    stream->recent = attn_cache_make(host, &stream->problem, 0);
    stream->gates = make_gates(host, stream->plan);
    status = make_states(stream, error);
    stream->io.workspace = stream->workspace;
    if (status == ATTN_OK)
        *result = &stream->base;
    else
        destroy(&stream->base);
    return status;
}
