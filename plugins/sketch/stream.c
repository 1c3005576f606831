/*
 * A stream: softmax's, of sketched keys and queries. Keys are sketched when they come, so T may not depend
 * on the data; its size is that of a plan for the most tokens that the stream may get.
 */
#include "plan.h"
#include "softmax/softmax.h"
#include "stream/cached.h"

#include <math.h>
#include <string.h>

typedef struct stream {
    attn_backend_stream_t base;
    attn_problem_t problem;
    attn_value_t values[SKETCH_PARAMETERS];
    const attn_host_t *host;
    sketch_plan_t *plan;
    attn_backend_stream_t *inner; /* of the reduced problem */
    void *scratch;
    uint64_t scratch_size;
    float *rows; /* sketches of a call's keys or queries */
    uint64_t rows_size;
} stream_t;

static void destroy(attn_backend_stream_t *base) {
    stream_t *stream = (stream_t *)base;
    if (stream->inner) stream->inner->destroy(stream->inner);
    if (stream->plan) stream->plan->base.destroy(&stream->plan->base);
    attn_host_release(stream->host, stream->scratch);
    attn_host_release(stream->host, stream->rows);
    attn_host_release(stream->host, stream);
}

static uint64_t memory(const attn_backend_stream_t *base) {
    const stream_t *stream = (const stream_t *)base;
    return sizeof *stream + attn_sketch_plan_bytes(stream->plan) + stream->scratch_size +
           stream->rows_size + stream->inner->memory(stream->inner);
}

/* ---- tokens and queries -------------------------------------------------------------------------- */

/* Replace a call's rows by their sketches. */
static attn_status_t sketch(stream_t *stream, attn_tensor_t *tensor, attn_error_t *error) {
    const sketch_plan_t *plan = stream->plan;
    if (plan->exact) return ATTN_OK;
    attn_arena_t arena = {.base = NULL};
    attn_arena_take(&arena, tensor->shape[0] * tensor->shape[1] * tensor->shape[2],
                    (uint64_t)plan->size * sizeof(float));
    if (arena.used > stream->rows_size) {
        float *grown = arena.overflow ? NULL : attn_host_allocate(stream->host, (size_t)arena.used);
        if (!grown) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a stream");
        attn_host_release(stream->host, stream->rows);
        stream->rows = grown;
        stream->rows_size = arena.used;
    }
    attn_sketch_tensor(plan, tensor, stream->rows, stream->scratch);
    *tensor = attn_sketched(tensor, stream->rows, plan->size);
    return ATTN_OK;
}

static attn_status_t append(attn_backend_stream_t *base, const attn_io_t *given,
                            attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    attn_io_t io = *given;
    const attn_status_t status = sketch(stream, &io.key, error);
    return status == ATTN_OK ? stream->inner->append(stream->inner, &io, error) : status;
}

static attn_status_t query(attn_backend_stream_t *base, const attn_io_t *given,
                           attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    attn_io_t io = *given;
    const attn_status_t status = sketch(stream, &io.query, error);
    return status == ATTN_OK ? stream->inner->query(stream->inner, &io, error) : status;
}

static attn_status_t truncate_to(attn_backend_stream_t *base, int64_t length, attn_error_t *error) {
    attn_backend_stream_t *inner = ((stream_t *)base)->inner;
    return inner->truncate(inner, length, error);
}

/* ---- copies -------------------------------------------------------------------------------------- */

static attn_status_t fork_it(const attn_backend_stream_t *base, attn_backend_stream_t **result,
                             attn_error_t *error) {
    const stream_t *stream = (const stream_t *)base;
    attn_backend_stream_t *made = NULL, *inner = NULL;
    attn_status_t status =
        attn_sketch_make_stream(stream->host, &stream->problem, stream->values, &made, error);
    if (status != ATTN_OK) return status;
    stream_t *copy = (stream_t *)made;
    status = stream->inner->fork(stream->inner, &inner, error);
    if (status != ATTN_OK) {
        destroy(made);
        return status;
    }
    copy->inner->destroy(copy->inner);
    copy->inner = inner;
    *result = made;
    return ATTN_OK;
}

/* What makes sketches the same, before them. */
typedef struct saved {
    int64_t method, size, sparsity;
    uint64_t seed;
} saved_t;

static saved_t header(const stream_t *stream) {
    const sketch_plan_t *plan = stream->plan;
    const int64_t sparsity = plan->method == ATTN_SKETCH_OSNAP ? plan->sparsity : 0;
    return (saved_t){(int64_t)plan->method, plan->size, sparsity, plan->seed};
}

static uint64_t save(const attn_backend_stream_t *base, void *bytes) {
    const stream_t *stream = (const stream_t *)base;
    const saved_t saved = header(stream);
    if (bytes) memcpy(bytes, &saved, sizeof saved);
    return sizeof saved +
           stream->inner->save(stream->inner, bytes ? (char *)bytes + sizeof saved : NULL);
}

static attn_status_t restore(attn_backend_stream_t *base, const void *bytes, uint64_t size,
                             int64_t length, attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    const saved_t saved = header(stream);
    if (size < sizeof saved || memcmp(bytes, &saved, sizeof saved) != 0)
        return attn_fail(
            error, ATTN_ERROR_ARGUMENT,
            "sketch: saved with another method, size, sparsity or seed, or damaged bytes");
    return stream->inner->restore(stream->inner, (const char *)bytes + sizeof saved,
                                  size - sizeof saved, length, error);
}

/* ---- making -------------------------------------------------------------------------------------- */

static attn_status_t make_inner(stream_t *stream, attn_error_t *error) {
    attn_problem_t small = attn_sketch_reduced(stream->plan);
    small.queries = 1;
    const attn_cached_t cached = {.host = stream->host,
                                  .backend = &attn_softmax_backend,
                                  .problem = &small,
                                  .plan_bytes = attn_softmax_plan_bytes,
                                  .reach = small.window_left,
                                  .period = 1};
    return attn_cached_stream(&cached, &stream->inner, error);
}

static attn_status_t prepare(stream_t *stream, attn_error_t *error) {
    attn_problem_t all = stream->problem; /* each token may be a query */
    attn_backend_plan_t *plan;
    all.queries = all.keys;
    attn_status_t status = attn_sketch_plan(stream->host, &all, stream->values, &plan, error);
    if (status != ATTN_OK) return status;
    stream->plan = (sketch_plan_t *)plan;
    if (attn_sketch_samples(stream->plan) && !stream->plan->exact)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "sketch: leverage, approximate and deterministic see all tokens at once");
    attn_arena_t arena = {.base = NULL};
    attn_sketch_scratch(stream->plan, &arena);
    stream->scratch_size = arena.used;
    stream->scratch = attn_host_allocate(stream->host, (size_t)arena.used);
    if (!stream->scratch) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a stream");
    return make_inner(stream, error);
}

attn_status_t attn_sketch_make_stream(const attn_host_t *host, const attn_problem_t *problem,
                                      const attn_value_t *values, attn_backend_stream_t **result,
                                      attn_error_t *error) {
    stream_t *stream = attn_host_allocate(host, sizeof *stream);
    if (!stream) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a stream");
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
        .host = host,
    };
    memcpy(stream->values, values, sizeof stream->values);
    const attn_status_t status = prepare(stream, error);
    if (status == ATTN_OK)
        *result = &stream->base;
    else
        destroy(&stream->base);
    return status;
}
