/*
 * Streams: the frame of what backends keep of tokens (attn.stream/1). It checks the arrays of each call, counts
 * the tokens, and heads the saved bytes.
 */
#include "attn/ext/stream.h"

#include "internal.h"

#include <string.h>

struct attn_stream {
    const attn_context_t *context;
    const attn_backend_t *backend;
    attn_problem_t problem; /* keys: the most tokens that fit */
    attn_backend_stream_t *kept;
    int64_t length;
    uint64_t appended; /* bits of the arrays, by number, that an append has and not a query */
    uint32_t own_count;
    attn_array_info_t own[]; /* the backend-specific tensors as they are declared */
};

/* ---- life ---------------------------------------------------------------------------------------- */

static uint64_t bit_of(uint32_t number) { return UINT64_C(1) << number; }

/* Inputs that a problem may name and a stream does not take. */
enum { OVER_KEYS = ATTN_INPUT_BIAS | ATTN_INPUT_MASK | ATTN_INPUT_KV_LENGTHS };

/* Their arrays, and scores, which are over the keys too. */
static uint64_t refused_arrays(void) {
    return bit_of(ATTN_ARRAY_BIAS) | bit_of(ATTN_ARRAY_MASK) | bit_of(ATTN_ARRAY_KV_LENGTHS) |
           bit_of(ATTN_ARRAY_SCORES);
}

/* `inputs`: some of OVER_KEYS, of which the first is named. */
static attn_status_t refuse_inputs(uint32_t inputs, attn_error_t *error) {
    attn_array_info_t info = {.struct_size = sizeof info};
    uint32_t number = ATTN_ARRAY_BIAS;
    while (attn_backend_array(NULL, number, &info) && !(info.bit & inputs)) number++;
    return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: streams take no %s: %s", info.name,
                     info.bit == ATTN_INPUT_KV_LENGTHS ? "they count their tokens themselves"
                                                       : "it is over the keys, which grow");
}

/* What the rules of a stream are, whose queries are those of the last tokens. */
static attn_status_t pose(attn_problem_t *problem, int64_t max_keys, attn_error_t *error) {
    const bool has_window = problem->window_left >= 0 || problem->window_right >= 0;
    if (max_keys < 1)
        return attn_fail(error, ATTN_ERROR_RANGE, "stream: max_keys is %lld, must be at least 1",
                         (long long)max_keys);
    if (problem->inputs & OVER_KEYS) return refuse_inputs(problem->inputs & OVER_KEYS, error);
    if (problem->past)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "stream: past is %lld, must be 0: what came before is appended",
                         (long long)problem->past);
    if (problem->backward)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "stream: backward is %d, must be 0: streams have no gradients",
                         problem->backward);
    if (has_window && problem->causal == ATTN_CAUSAL_NONE && problem->window_right != 0)
        return attn_fail(
            error, ATTN_ERROR_UNSUPPORTED,
            "stream: a window (%lld, %lld) needs causal, which aligns it with the last "
            "token",
            (long long)problem->window_left, (long long)problem->window_right);
    if (problem->inputs & ATTN_INPUT_SLOPES && problem->causal == ATTN_CAUSAL_NONE && !has_window)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "stream: slopes need causal, which aligns queries with the last tokens");
    problem->queries = 1;
    problem->keys = max_keys;
    if (problem->causal != ATTN_CAUSAL_NONE || has_window)
        problem->causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    return ATTN_OK;
}

static attn_status_t find_extension(const attn_backend_t *backend,
                                    const attn_ext_stream_t **extension, attn_error_t *error) {
    *extension = attn_extension(backend, ATTN_EXT_STREAM, sizeof **extension);
    if (*extension && (*extension)->create) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "backend '%.60s' has no streams", backend->id);
}

/* What a plugin made may be no stream. */
static attn_status_t check_kept(const attn_stream_t *stream, attn_error_t *error) {
    const attn_backend_stream_t *kept = stream->kept;
    if (kept && kept->append && kept->query && kept->truncate && kept->fork && kept->save &&
        kept->restore && kept->memory && kept->destroy)
        return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_PLUGIN, "backend '%.60s': its stream is malformed",
                     stream->backend->id);
}

/* Whether an append has the array, or else a query. */
static bool is_appended(const attn_array_info_t *info) {
    for (int k = 0; k < 4; k++)
        if (info->axes[k] == ATTN_AXIS_QUERIES) return false;
    for (int k = 0; k < 4; k++)
        if (info->axes[k] == ATTN_AXIS_KEYS) return true;
    return false;
}

static attn_scope_t scope_of(const attn_stream_t *stream, const attn_problem_t *problem) {
    const attn_backend_stream_t *kept = stream->kept;
    return (attn_scope_t){.problem = problem,
                          .backend = stream->backend,
                          .prepared = kept && ATTN_STRUCT_HAS(kept, plan) ? kept->plan : NULL,
                          .own = stream->own,
                          .own_count = stream->own_count};
}

/* A frame around nothing yet. */
static attn_status_t make(const attn_context_t *context, const attn_backend_t *backend,
                          const attn_problem_t *problem, attn_stream_t **result,
                          attn_error_t *error) {
    const uint32_t own = attn_own_count(backend);
    attn_stream_t *stream = attn_allocate(context, sizeof *stream + own * sizeof *stream->own);
    *result = stream;
    if (!stream) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a stream");
    *stream = (attn_stream_t){
        .context = context, .backend = backend, .problem = *problem, .own_count = own};
    attn_own_read(backend, stream->own);
    const attn_scope_t scope = scope_of(stream, problem);
    const attn_array_info_t *info;
    for (uint32_t i = 0; (info = attn_array_of(&scope, i)); i++)
        if (is_appended(info)) stream->appended |= bit_of(i);
    if (!attn_arrays_replaced(&scope)) return ATTN_OK;
    attn_release(context, stream);
    *result = NULL;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                     "stream: streams take no input in place of key or query");
}

attn_status_t attn_stream_create(const attn_context_t *context, const char *backend,
                                 const attn_problem_t *given, const attn_param_t *params,
                                 uint32_t param_count, int64_t max_keys, attn_stream_t **result,
                                 attn_error_t *error) {
    if (result) *result = NULL;
    if (!context || !backend || !given || !result || (param_count && !params))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "stream: the context, the backend, the problem, the parameters or the "
                         "result is null");
    attn_problem_t problem;
    attn_status_t status = attn_struct_take(&problem, sizeof problem, given, ATTN_PROBLEM_FIRST,
                                            "stream: problem", error);
    if (status == ATTN_OK) status = pose(&problem, max_keys, error);
    if (status != ATTN_OK) return status;
    attn_request_t request;
    status = attn_request_read(context, backend, &problem, params, param_count, &request, error);
    if (status != ATTN_OK) return status;
    const attn_ext_stream_t *extension;
    attn_stream_t *stream = NULL;
    status = find_extension(request.backend, &extension, error);
    if (status == ATTN_OK)
        status = make(context, request.backend, &request.problem, &stream, error);
    if (status == ATTN_OK)
        status = attn_answer(extension->create(&context->host, &stream->problem, request.values,
                                               &stream->kept, error),
                             error);
    attn_release(context, request.values);
    if (status == ATTN_OK) status = check_kept(stream, error);
    if (status == ATTN_OK)
        *result = stream;
    else
        attn_release(context, stream);
    return status;
}

void attn_stream_destroy(attn_stream_t *stream) {
    if (!stream) return;
    stream->kept->destroy(stream->kept);
    attn_release(stream->context, stream);
}

int64_t attn_stream_length(const attn_stream_t *stream) { return stream ? stream->length : 0; }

uint64_t attn_stream_memory(const attn_stream_t *stream) {
    if (!stream) return 0;
    return sizeof *stream + stream->own_count * sizeof *stream->own +
           stream->kept->memory(stream->kept);
}

/* ---- tokens and queries -------------------------------------------------------------------------- */

int32_t attn_stream_array(const attn_stream_t *stream, uint32_t number, attn_tensor_t *tensor) {
    if (!stream || !tensor) return 0;
    attn_problem_t problem = stream->problem;
    const attn_scope_t scope = scope_of(stream, &problem);
    const attn_array_info_t *info = attn_array_of(&scope, number);
    if (!info) return 0;
    if (is_appended(info)) problem.keys = 1;
    *tensor = attn_array_wanted(&scope, number, info);
    return 1;
}

/* The arrays of an append or a query: they are as `problem` says, and the others are absent. */
static attn_status_t check_arrays(const attn_stream_t *stream, const attn_problem_t *problem,
                                  const attn_io_t *io, bool appends, attn_error_t *error) {
    attn_scope_t scope = scope_of(stream, problem);
    scope.call = appends ? "an append" : "a query";
    const uint64_t unused = appends ? ~stream->appended : stream->appended;
    return attn_io_check(&scope, io, unused | refused_arrays(), error);
}

attn_status_t attn_stream_append(attn_stream_t *stream, const attn_io_t *given,
                                 attn_error_t *error) {
    if (!stream) return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: it is null");
    attn_io_t io;
    attn_status_t status = attn_io_read(&io, given, "io", error);
    if (status != ATTN_OK) return status;
    attn_problem_t problem = stream->problem;
    problem.keys = io.key.shape[2];
    if (io.key.data && problem.keys < 1)
        return attn_fail(error, ATTN_ERROR_SHAPE, "stream: key has %lld tokens, must be at least 1",
                         (long long)problem.keys);
    if (io.key.data && problem.keys > stream->problem.keys - stream->length)
        return attn_fail(
            error, ATTN_ERROR_RANGE, "stream: %lld tokens and %lld more, at most %lld fit",
            (long long)stream->length, (long long)problem.keys, (long long)stream->problem.keys);
    status = check_arrays(stream, &problem, &io, true, error);
    if (status != ATTN_OK) return status;
    status = attn_answer(stream->kept->append(stream->kept, &io, error), error);
    if (status == ATTN_OK) stream->length += problem.keys;
    return status;
}

attn_status_t attn_stream_query(attn_stream_t *stream, const attn_io_t *given,
                                attn_error_t *error) {
    if (!stream) return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: it is null");
    attn_io_t io;
    attn_report_t report, *result;
    attn_status_t status = attn_io_read(&io, given, "io", error);
    if (status != ATTN_OK) return status;
    attn_problem_t problem = stream->problem;
    problem.queries = io.query.shape[2];
    if (io.query.data && problem.queries < 1)
        return attn_fail(error, ATTN_ERROR_SHAPE, "stream: %lld queries, must be at least 1",
                         (long long)problem.queries);
    status = check_arrays(stream, &problem, &io, false, error);
    if (status == ATTN_OK) status = attn_report_begin(&io, &report, &result, error);
    if (status != ATTN_OK) return status;
    status = attn_answer(stream->kept->query(stream->kept, &io, error), error);
    attn_report_end(result, &report);
    return status;
}

attn_status_t attn_stream_truncate(attn_stream_t *stream, int64_t length, attn_error_t *error) {
    if (!stream) return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: it is null");
    if (length < 0 || length > stream->length)
        return attn_fail(error, ATTN_ERROR_RANGE, "stream: cannot truncate %lld tokens to %lld",
                         (long long)stream->length, (long long)length);
    const attn_status_t status =
        attn_answer(stream->kept->truncate(stream->kept, length, error), error);
    if (status == ATTN_OK) stream->length = length;
    return status;
}

/* ---- copies -------------------------------------------------------------------------------------- */

attn_status_t attn_stream_fork(const attn_stream_t *stream, attn_stream_t **copy,
                               attn_error_t *error) {
    if (copy) *copy = NULL;
    if (!stream || !copy)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: it or the result is null");
    attn_stream_t *fork;
    attn_status_t status = make(stream->context, stream->backend, &stream->problem, &fork, error);
    if (status != ATTN_OK) return status;
    fork->length = stream->length;
    status = attn_answer(stream->kept->fork(stream->kept, &fork->kept, error), error);
    if (status == ATTN_OK)
        *copy = fork;
    else
        attn_release(stream->context, fork);
    return status;
}

/* What stands before what the backend saved: enough to know whose it is. */
typedef struct saved {
    char magic[8], backend[32]; /* the id, or as much of it as fits */
    int64_t batch, kv_heads, dim, value_dim, dtype, length;
} saved_t;

static const char magic[8] = "attnst3"; /* the digit is the version of the format */
enum { VERSION = sizeof magic - 2 };
static const char no_stream[] = "stream: these bytes are no saved stream";

static saved_t header(const attn_stream_t *stream) {
    const attn_problem_t *problem = &stream->problem;
    saved_t saved = {
        .batch = problem->batch,
        .kv_heads = problem->kv_heads,
        .dim = problem->dim,
        .value_dim = problem->value_dim,
        .dtype = problem->kv_dtype,
        .length = stream->length,
    };
    memcpy(saved.magic, magic, sizeof magic);
    for (size_t i = 0; i < sizeof saved.backend - 1 && stream->backend->id[i]; i++)
        saved.backend[i] = stream->backend->id[i];
    return saved;
}

uint64_t attn_stream_save(const attn_stream_t *stream, void *buffer, uint64_t size) {
    if (!stream) return 0;
    const saved_t saved = header(stream);
    const uint64_t needed = sizeof saved + stream->kept->save(stream->kept, NULL);
    if (!buffer || size < needed) return needed;
    memcpy(buffer, &saved, sizeof saved);
    stream->kept->save(stream->kept, (char *)buffer + sizeof saved);
    return needed;
}

static attn_status_t check_header(const attn_stream_t *stream, const saved_t *saved,
                                  attn_error_t *error) {
    const saved_t own = header(stream);
    const int is_other = saved->magic[VERSION] != magic[VERSION]; /* the rest may stand elsewhere */
    if (memcmp(saved->magic, magic, VERSION) != 0 || saved->magic[VERSION + 1] ||
        (!is_other && (saved->length < 0 || saved->backend[sizeof saved->backend - 1])))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, no_stream);
    if (is_other)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "stream: these bytes are of version %d of a saved stream, not %d",
                         saved->magic[VERSION] - '0', magic[VERSION] - '0');
    if (memcmp(saved->backend, own.backend, sizeof own.backend) != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "stream: saved by backend '%s', this one is of '%s'", saved->backend,
                         own.backend);
    if (saved->batch != own.batch || saved->kv_heads != own.kv_heads || saved->dim != own.dim ||
        saved->value_dim != own.value_dim || saved->dtype != own.dtype)
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "stream: saved with another shape or dtype (%lld, %lld, d %lld, dv %lld, "
                         "dtype %lld)",
                         (long long)saved->batch, (long long)saved->kv_heads, (long long)saved->dim,
                         (long long)saved->value_dim, (long long)saved->dtype);
    if (saved->length > stream->problem.keys)
        return attn_fail(error, ATTN_ERROR_RANGE, "stream: %lld tokens, at most %lld fit",
                         (long long)saved->length, (long long)stream->problem.keys);
    return ATTN_OK;
}

attn_status_t attn_stream_restore(attn_stream_t *stream, const void *buffer, uint64_t size,
                                  attn_error_t *error) {
    if (!stream || !buffer)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: it or the saved bytes are null");
    saved_t saved;
    if (size < sizeof saved) return attn_fail(error, ATTN_ERROR_ARGUMENT, no_stream);
    memcpy(&saved, buffer, sizeof saved);
    attn_status_t status = check_header(stream, &saved, error);
    if (status == ATTN_OK)
        status =
            attn_answer(stream->kept->restore(stream->kept, (const char *)buffer + sizeof saved,
                                              size - sizeof saved, saved.length, error),
                        error);
    if (status == ATTN_OK) stream->length = saved.length;
    return status;
}
