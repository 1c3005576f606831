/*
 * A stream: for each key/value head what all tokens before the last append add up to, (s, z), and the
 * tokens of that append as they came, since a causal query sees some of them. So memory does not grow
 * with the tokens.
 */
#include "plan.h"
#include "stream/cache.h"

#include <string.h>

typedef struct stream {
    attn_backend_stream_t base;
    attn_problem_t problem;
    attn_value_t map; /* of the plan's parameters */
    linear_plan_t *plan;
    void *workspace;
    int64_t before;      /* tokens in the sums */
    attn_cache_t recent; /* those behind them */
    linear_sums_t *sums; /* [batch * kv_heads] */
    float *numbers;      /* theirs: s, z, z_abs of one head after the other */
} stream_t;

static int64_t head_count(const attn_problem_t *problem) {
    return problem->batch * problem->kv_heads;
}

/* Floats of a head's sums. */
static int64_t sums_size(const attn_problem_t *problem) {
    return problem->dim * (problem->value_dim + 2);
}

/* The stream itself, its sums and their numbers, in one piece of memory. */
static uint64_t lay_out(const attn_problem_t *problem, attn_arena_t *arena, stream_t **stream,
                        linear_sums_t **sums, float **numbers) {
    const int64_t heads = head_count(problem);
    *stream = attn_arena_take(arena, 1, sizeof **stream);
    *sums = attn_arena_take(arena, heads, sizeof **sums);
    *numbers = attn_arena_take(arena, heads, (uint64_t)sums_size(problem) * sizeof **numbers);
    return arena->used;
}

static void destroy(attn_backend_stream_t *base) {
    stream_t *stream = (stream_t *)base;
    const attn_host_t *host = stream->recent.host;
    if (stream->plan) stream->plan->base.destroy(&stream->plan->base);
    attn_host_release(host, stream->workspace);
    attn_cache_free(&stream->recent);
    attn_host_release(host, stream);
}

static uint64_t memory(const attn_backend_stream_t *base) {
    const stream_t *stream = (const stream_t *)base;
    attn_arena_t arena = {.base = NULL};
    stream_t *none;
    linear_sums_t *sums;
    float *numbers;
    return lay_out(&stream->problem, &arena, &none, &sums, &numbers) + sizeof *stream->plan +
           stream->plan->base.workspace_size +
           attn_cache_bytes(&stream->recent, stream->recent.capacity);
}

/* A plan for so many queries over the recent tokens, and these. */
static linear_plan_t plan_of(const stream_t *stream, int64_t queries, attn_io_t *io) {
    linear_plan_t plan = *stream->plan;
    plan.problem.queries = queries;
    plan.problem.keys = stream->recent.length;
    attn_cache_view(&stream->recent, stream->recent.length, io);
    io->workspace = stream->workspace;
    return plan;
}

static void set_before(stream_t *stream, int64_t before) {
    stream->before = before;
    for (int64_t h = 0; h < head_count(&stream->problem); h++) stream->sums[h].keys = before;
}

/* ---- tokens and queries -------------------------------------------------------------------------- */

static attn_status_t append(attn_backend_stream_t *base, const attn_io_t *given,
                            attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    attn_io_t io = {.struct_size = sizeof io};
    const attn_status_t status = attn_cache_reserve(&stream->recent, given->key.shape[2], error);
    if (status != ATTN_OK) return status;
    if (stream->recent.length) {
        const linear_plan_t plan = plan_of(stream, 1, &io);
        attn_linear_add(&plan, &io, stream->sums);
        set_before(stream, stream->before + stream->recent.length);
    }
    attn_cache_drop(&stream->recent, stream->recent.length);
    attn_cache_store(&stream->recent, given);
    return ATTN_OK;
}

static attn_status_t query(attn_backend_stream_t *base, const attn_io_t *given,
                           attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    const int64_t queries = given->query.shape[2];
    if (stream->problem.causal != ATTN_CAUSAL_NONE && stream->before > 0 &&
        queries > stream->recent.length + 1)
        return attn_fail(
            error, ATTN_ERROR_UNSUPPORTED,
            "linear: %lld queries, but of the tokens before the last append (%lld) only "
            "their sum is kept, which the first queries do not see whole",
            (long long)queries, (long long)stream->recent.length);
    attn_io_t io = *given;
    const linear_plan_t plan = plan_of(stream, queries, &io);
    attn_linear_attend(&plan, &io, stream->sums);
    return ATTN_OK;
}

static attn_status_t truncate_to(attn_backend_stream_t *base, int64_t length, attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    if (length == 0) set_before(stream, 0);
    if (length < stream->before)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "linear: cannot truncate to %lld tokens: of the first %lld only their sum "
                         "is kept",
                         (long long)length, (long long)stream->before);
    stream->recent.length = length - stream->before;
    return ATTN_OK;
}

/* ---- copies -------------------------------------------------------------------------------------- */

static uint64_t numbers_bytes(const stream_t *stream) {
    return (uint64_t)(head_count(&stream->problem) * sums_size(&stream->problem)) * sizeof(float);
}

static attn_status_t fork_it(const attn_backend_stream_t *base, attn_backend_stream_t **result,
                             attn_error_t *error) {
    const stream_t *stream = (const stream_t *)base;
    attn_backend_stream_t *made = NULL;
    attn_status_t status =
        attn_linear_stream(stream->recent.host, &stream->problem, &stream->map, &made, error);
    if (status != ATTN_OK) return status;
    stream_t *copy = (stream_t *)made;
    status = attn_cache_copy(&copy->recent, &stream->recent, error);
    if (status != ATTN_OK) {
        destroy(made);
        return status;
    }
    memcpy(copy->numbers, stream->numbers, (size_t)numbers_bytes(stream));
    set_before(copy, stream->before);
    *result = made;
    return ATTN_OK;
}

/* What stands before the saved numbers and recent tokens. */
typedef struct saved {
    int64_t map, before;
} saved_t;

static uint64_t save(const attn_backend_stream_t *base, void *bytes) {
    const stream_t *stream = (const stream_t *)base;
    const saved_t saved = {stream->map.integer, stream->before};
    const uint64_t numbers = stream->before ? numbers_bytes(stream) : 0;
    if (bytes) {
        memcpy(bytes, &saved, sizeof saved);
        memcpy((char *)bytes + sizeof saved, stream->numbers, (size_t)numbers);
        attn_cache_save(&stream->recent, (char *)bytes + sizeof saved + numbers);
    }
    return sizeof saved + numbers + attn_cache_bytes(&stream->recent, stream->recent.length);
}

static attn_status_t restore(attn_backend_stream_t *base, const void *bytes, uint64_t size,
                             int64_t length, attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    saved_t saved = {-1, -1};
    if (size >= sizeof saved) memcpy(&saved, bytes, sizeof saved);
    if (saved.before < 0 || saved.before > length)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "linear: these bytes are damaged");
    if (saved.map != stream->map.integer)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "linear: saved with another feature_map");
    const uint64_t numbers = saved.before ? numbers_bytes(stream) : 0;
    const uint64_t needed =
        sizeof saved + numbers + attn_cache_bytes(&stream->recent, length - saved.before);
    if (size != needed)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "linear: %llu bytes, %lld saved tokens take %llu",
                         (unsigned long long)size, (long long)length, (unsigned long long)needed);
    const char *at = (const char *)bytes + sizeof saved;
    const attn_status_t status =
        attn_cache_restore(&stream->recent, at + numbers, length - saved.before, error);
    if (status != ATTN_OK) return status;
    memcpy(stream->numbers, at, (size_t)numbers);
    set_before(stream, saved.before);
    return ATTN_OK;
}

/* ---- making -------------------------------------------------------------------------------------- */

static attn_status_t make(const attn_host_t *host, const attn_problem_t *problem, stream_t **result,
                          attn_error_t *error) {
    attn_arena_t arena = {.base = NULL};
    stream_t *stream;
    linear_sums_t *sums;
    float *numbers;
    lay_out(problem, &arena, &stream, &sums, &numbers);
    if (!arena.overflow) arena.base = attn_host_allocate(host, (size_t)arena.used);
    if (!arena.base) return attn_fail(error, ATTN_ERROR_MEMORY, "linear: no memory for a stream");
    arena.used = 0;
    lay_out(problem, &arena, &stream, &sums, &numbers);
    *stream = (stream_t){
        .base = {.struct_size = sizeof stream->base,
                 .append = append,
                 .query = query,
                 .truncate = truncate_to,
                 .fork = fork_it,
                 .save = save,
                 .restore = restore,
                 .memory = memory,
                 .destroy = destroy},
        .problem = *problem,
        .recent = attn_cache_make(host, problem),
        .sums = sums,
        .numbers = numbers,
    };
    for (int64_t h = 0; h < head_count(problem); h++) {
        float *s = numbers + h * sums_size(problem), *z = s + problem->dim * problem->value_dim;
        sums[h] = (linear_sums_t){.s = s, .z = z, .z_abs = z + problem->dim};
    }
    *result = stream;
    return ATTN_OK;
}

attn_status_t attn_linear_stream(const attn_host_t *host, const attn_problem_t *problem,
                                 const attn_value_t *values, attn_backend_stream_t **result,
                                 attn_error_t *error) {
    stream_t *stream = NULL;
    attn_backend_plan_t *plan;
    attn_status_t status = make(host, problem, &stream, error);
    if (status != ATTN_OK) return status;
    stream->map = values[0];
    status = attn_linear_plan(host, problem, values, &plan, error);
    if (status == ATTN_OK) {
        stream->plan = (linear_plan_t *)plan;
        stream->workspace = attn_host_allocate(host, (size_t)plan->workspace_size);
        if (!stream->workspace)
            status = attn_fail(error, ATTN_ERROR_MEMORY, "linear: no memory for the workspace");
    }
    if (status == ATTN_OK)
        *result = &stream->base;
    else
        destroy(&stream->base);
    return status;
}
