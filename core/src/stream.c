/*
 * Streams: a KV cache in the order (batch, head, token, column), and a plan for its capacity.
 *
 * The plan is made for as many keys as the cache has room for, with key lengths that say how many
 * count; so it lasts until the cache grows. Bottom-right alignment puts the last query at the last
 * token.
 */
#include "internal.h"
#include "number/number.h"

#include <float.h>
#include <string.h>

/* One growing array: `heads` (batch * kv_heads) blocks of `capacity` rows of `row` bytes. */
typedef struct cache {
    char *data;
    uint64_t row;
} cache_t;

enum { KEY, VALUE, KEY_SCALE, VALUE_SCALE, CACHES, FIRST_CAPACITY = 64 };

struct attn_stream {
    const attn_context_t *context;
    char *backend;
    attn_problem_t problem; /* queries and keys: of the plan */
    attn_plan_t *plan;      /* NULL until a query comes */
    void *workspace;
    int64_t max_keys, capacity, length;
    int64_t *lengths; /* [batch], all `length` */
    cache_t caches[CACHES];
};

static uint64_t blocks(const attn_stream_t *stream) {
    return (uint64_t)(stream->problem.batch * stream->problem.kv_heads);
}

static void set_rows(attn_stream_t *stream) {
    const attn_problem_t *problem = &stream->problem;
    const uint64_t size = (uint64_t)attn_dtype_size(problem->kv_dtype);
    stream->caches[KEY].row = (uint64_t)problem->dim * size;
    stream->caches[VALUE].row = (uint64_t)problem->value_dim * size;
    if (problem->kv_dtype != ATTN_I8) return;
    stream->caches[KEY_SCALE].row = stream->caches[VALUE_SCALE].row = sizeof(float);
}

/* ---- life ---------------------------------------------------------------------------------------- */

static void drop_plan(attn_stream_t *stream) {
    attn_plan_destroy(stream->plan);
    attn_release(stream->context, stream->workspace);
    stream->plan = NULL;
    stream->workspace = NULL;
}

/* A plan for `queries` queries at the present capacity, unless that is what there is. */
static attn_status_t prepare(attn_stream_t *stream, int64_t queries, attn_error_t *error) {
    if (stream->plan && stream->problem.queries == queries &&
        stream->problem.keys == stream->capacity)
        return ATTN_OK;
    drop_plan(stream);
    stream->problem.queries = queries;
    stream->problem.keys = stream->capacity;
    attn_status_t status = attn_plan_create(stream->context, stream->backend, &stream->problem,
                                            NULL, 0, &stream->plan, error);
    if (status != ATTN_OK) return status;
    stream->workspace = attn_allocate(stream->context, attn_plan_workspace_size(stream->plan));
    if (stream->workspace) return ATTN_OK;
    drop_plan(stream);
    return attn_fail(error, ATTN_ERROR_MEMORY, "stream: no memory for the workspace");
}

static attn_status_t create(const attn_context_t *context, const char *backend,
                            const attn_problem_t *problem, int64_t max_keys, attn_stream_t **result,
                            attn_error_t *error) {
    attn_stream_t *stream = attn_allocate(context, sizeof *stream);
    if (!stream) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a stream");
    *stream = (attn_stream_t){.context = context, .problem = *problem, .max_keys = max_keys};
    set_rows(stream);
    stream->backend = attn_copy_text(context, backend);
    stream->lengths = attn_allocate(context, (size_t)problem->batch * sizeof(int64_t));
    if (stream->backend && stream->lengths) {
        memset(stream->lengths, 0, (size_t)problem->batch * sizeof(int64_t));
        *result = stream;
        return ATTN_OK;
    }
    attn_stream_destroy(stream);
    return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a stream");
}

attn_status_t attn_stream_create(const attn_context_t *context, const char *backend,
                                 const attn_problem_t *given, int64_t max_keys,
                                 attn_stream_t **result, attn_error_t *error) {
    if (result) *result = NULL;
    if (!context || !backend || !given || !result)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "stream: the context, the backend, the problem or the result is null");
    if (max_keys < 1)
        return attn_fail(error, ATTN_ERROR_RANGE, "stream: max_keys is %lld, must be at least 1",
                         (long long)max_keys);
    attn_problem_t full;
    const attn_problem_t *problem = &full;
    attn_status_t status =
        attn_struct_take(&full, sizeof full, given, ATTN_PROBLEM_FIRST, "stream: problem", error);
    if (status != ATTN_OK) return status;
    if (problem->inputs || problem->own_inputs || problem->past)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "stream: a stream has no other inputs (0x%x) and no past (%lld)",
                         problem->inputs | problem->own_inputs, (long long)problem->past);
    const bool has_window = problem->window_left >= 0 || problem->window_right >= 0;
    if (has_window && problem->causal == ATTN_CAUSAL_NONE && problem->window_right != 0)
        return attn_fail(
            error, ATTN_ERROR_UNSUPPORTED,
            "stream: a window (%lld, %lld) needs causal, which aligns it with the last "
            "token",
            (long long)problem->window_left, (long long)problem->window_right);
    full.queries = 1;
    full.keys = max_keys;
    full.inputs = ATTN_INPUT_KV_LENGTHS;
    if (full.causal != ATTN_CAUSAL_NONE || has_window) full.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    attn_plan_t *trial; /* says at once what the backend cannot do */
    status = attn_plan_create(context, backend, &full, NULL, 0, &trial, error);
    if (status != ATTN_OK) return status;
    attn_plan_destroy(trial);
    return create(context, backend, &full, max_keys, result, error);
}

void attn_stream_destroy(attn_stream_t *stream) {
    if (!stream) return;
    drop_plan(stream);
    for (int c = 0; c < CACHES; c++) attn_release(stream->context, stream->caches[c].data);
    attn_release(stream->context, stream->lengths);
    attn_release(stream->context, stream->backend);
    attn_release(stream->context, stream);
}

int64_t attn_stream_length(const attn_stream_t *stream) { return stream ? stream->length : 0; }

uint64_t attn_stream_memory(const attn_stream_t *stream) {
    if (!stream) return 0;
    uint64_t bytes = sizeof *stream + strlen(stream->backend) + 1 +
                     (uint64_t)stream->problem.batch * sizeof *stream->lengths;
    for (int c = 0; c < CACHES; c++)
        bytes += blocks(stream) * (uint64_t)stream->capacity * stream->caches[c].row;
    return bytes + (stream->plan ? attn_plan_workspace_size(stream->plan) : 0);
}

/* ---- growth -------------------------------------------------------------------------------------- */

static void set_length(attn_stream_t *stream, int64_t length) {
    stream->length = length;
    for (int64_t b = 0; b < stream->problem.batch; b++) stream->lengths[b] = length;
}

/* Copy the first `length` rows of every block from one capacity to another. */
static void copy_rows(const attn_stream_t *stream, char *to, int64_t to_capacity, const char *from,
                      int64_t from_capacity, uint64_t row, int64_t length) {
    for (uint64_t b = 0; length && row && b < blocks(stream); b++)
        memcpy(to + b * (uint64_t)to_capacity * row, from + b * (uint64_t)from_capacity * row,
               (size_t)length * row);
}

/* Scales of tokens that are not there yet: a run checks them all, so that they have to be legal. */
static void fill_scales(const attn_stream_t *stream, char *data, int64_t capacity) {
    for (uint64_t b = 0; b < blocks(stream); b++) {
        float *scales = (float *)(void *)data + b * (uint64_t)capacity;
        for (int64_t j = stream->length; j < capacity; j++) scales[j] = 1.0f;
    }
}

/* Room for `needed` tokens. Everything new is there before anything old goes. */
static attn_status_t reserve(attn_stream_t *stream, int64_t needed, attn_error_t *error) {
    if (needed > stream->max_keys)
        return attn_fail(error, ATTN_ERROR_RANGE, "stream: %lld tokens, at most %lld fit",
                         (long long)needed, (long long)stream->max_keys);
    if (needed <= stream->capacity) return ATTN_OK;
    int64_t capacity = stream->capacity ? stream->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity = capacity > stream->max_keys / 2 ? stream->max_keys : capacity * 2;
    if (capacity > stream->max_keys) capacity = stream->max_keys;
    char *grown[CACHES] = {NULL};
    for (int c = 0; c < CACHES; c++) {
        const uint64_t row = stream->caches[c].row;
        if (!row) continue;
        grown[c] = attn_allocate(stream->context, blocks(stream) * (uint64_t)capacity * row);
        if (grown[c]) {
            copy_rows(stream, grown[c], capacity, stream->caches[c].data, stream->capacity, row,
                      stream->length);
            if (c >= KEY_SCALE) fill_scales(stream, grown[c], capacity);
            continue;
        }
        while (c--) attn_release(stream->context, grown[c]);
        return attn_fail(error, ATTN_ERROR_MEMORY, "stream: no memory for %lld tokens",
                         (long long)capacity);
    }
    for (int c = 0; c < CACHES; c++) {
        attn_release(stream->context, stream->caches[c].data);
        stream->caches[c].data = grown[c];
    }
    stream->capacity = capacity;
    return ATTN_OK;
}

static attn_status_t check_tokens(const attn_stream_t *stream, const attn_tensor_t *tensor,
                                  const char *name, attn_dtype_t dtype, int64_t tokens,
                                  int64_t columns, attn_error_t *error) {
    const attn_problem_t *problem = &stream->problem;
    if (!tensor || !tensor->data)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: %s is missing", name);
    if (tensor->dtype != dtype)
        return attn_fail(error, ATTN_ERROR_DTYPE, "stream: %s has dtype %d, the stream %d", name,
                         tensor->dtype, dtype);
    const int64_t *shape = tensor->shape;
    if (shape[0] == problem->batch && shape[1] == problem->kv_heads && shape[2] == tokens &&
        shape[3] == columns && tokens > 0)
        return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_SHAPE,
                     "stream: %s has shape (%lld, %lld, %lld, %lld), needed are (%lld, %lld, %lld, "
                     "%lld)",
                     name, (long long)shape[0], (long long)shape[1], (long long)shape[2],
                     (long long)shape[3], (long long)problem->batch, (long long)problem->kv_heads,
                     (long long)tokens, (long long)columns);
}

static attn_status_t check_scale(float scale, const char *name, attn_error_t *error) {
    if (scale > 0.0f && scale <= FLT_MAX) return ATTN_OK;
    char text[32];
    return attn_fail(error, ATTN_ERROR_RANGE,
                     "stream: %s has a scale of %s, must be positive and finite", name,
                     attn_number_digits((double)scale, 6, text));
}

static attn_status_t check_scales(const attn_tensor_t *scales, const char *name,
                                  attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    for (int64_t b = 0; b < scales->shape[0]; b++)
        for (int64_t h = 0; h < scales->shape[1]; h++)
            for (int64_t t = 0; t < scales->shape[2] && status == ATTN_OK; t++) {
                const int64_t index =
                    b * scales->stride[0] + h * scales->stride[1] + t * scales->stride[2];
                float scale;
                memcpy(&scale, (const float *)scales->data + index, sizeof scale);
                status = check_scale(scale, name, error);
            }
    return status;
}

/* Copy a tensor's tokens behind those that are there. */
static void store(attn_stream_t *stream, const cache_t *cache, const attn_tensor_t *tensor,
                  uint64_t size) {
    for (int64_t b = 0; b < tensor->shape[0]; b++)
        for (int64_t h = 0; h < tensor->shape[1]; h++)
            for (int64_t t = 0; t < tensor->shape[2]; t++) {
                const int64_t block = b * tensor->shape[1] + h;
                char *row = cache->data +
                            (uint64_t)(block * stream->capacity + stream->length + t) * cache->row;
                const char *from =
                    (const char *)tensor->data +
                    (b * tensor->stride[0] + h * tensor->stride[1] + t * tensor->stride[2]) *
                        (int64_t)size;
                if (tensor->stride[3] == 1) {
                    memcpy(row, from, cache->row);
                    continue;
                }
                for (int64_t c = 0; c < tensor->shape[3]; c++)
                    memcpy(row + (uint64_t)c * size, from + c * tensor->stride[3] * (int64_t)size,
                           size);
            }
}

attn_status_t attn_stream_append(attn_stream_t *stream, const attn_tensor_t *key,
                                 const attn_tensor_t *value, const attn_tensor_t *key_scales,
                                 const attn_tensor_t *value_scales, attn_error_t *error) {
    if (!stream) return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: it is null");
    const attn_problem_t *problem = &stream->problem;
    const attn_tensor_t *tensors[CACHES] = {key, value, key_scales, value_scales};
    static const char *const names[CACHES] = {"key", "value", "key_scales", "value_scales"};
    const int64_t columns[CACHES] = {problem->dim, problem->value_dim, 1, 1};
    const int64_t tokens = key ? key->shape[2] : 0;
    for (int c = 0; c < CACHES; c++) {
        if (!stream->caches[c].row) {
            if (!tensors[c]) continue;
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: %s is given, but key is not i8",
                             names[c]);
        }
        attn_status_t status = check_tokens(
            stream, tensors[c], names[c],
            c < KEY_SCALE ? problem->kv_dtype : (attn_dtype_t)ATTN_F32, tokens, columns[c], error);
        if (status == ATTN_OK && c >= KEY_SCALE) status = check_scales(tensors[c], names[c], error);
        if (status != ATTN_OK) return status;
    }
    if (tokens > stream->max_keys)
        return attn_fail(error, ATTN_ERROR_RANGE, "stream: %lld tokens, at most %lld fit",
                         (long long)tokens, (long long)stream->max_keys);
    attn_status_t status = reserve(stream, stream->length + tokens, error);
    if (status != ATTN_OK) return status;
    for (int c = 0; c < CACHES; c++)
        if (stream->caches[c].row)
            store(stream, &stream->caches[c], tensors[c],
                  stream->caches[c].row / (uint64_t)columns[c]);
    set_length(stream, stream->length + tokens);
    return ATTN_OK;
}

attn_status_t attn_stream_truncate(attn_stream_t *stream, int64_t length, attn_error_t *error) {
    if (!stream) return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: it is null");
    if (length < 0 || length > stream->length)
        return attn_fail(error, ATTN_ERROR_RANGE, "stream: cannot truncate %lld tokens to %lld",
                         (long long)stream->length, (long long)length);
    set_length(stream, length);
    return ATTN_OK;
}

/* ---- queries ------------------------------------------------------------------------------------- */

static attn_tensor_t view(const attn_stream_t *stream, int cache, attn_dtype_t dtype,
                          int64_t columns) {
    const attn_problem_t *problem = &stream->problem;
    const int64_t capacity = stream->capacity;
    return (attn_tensor_t){
        .data = stream->caches[cache].data,
        .dtype = dtype,
        .shape = {problem->batch, problem->kv_heads, capacity, columns},
        .stride = {problem->kv_heads * capacity * columns, capacity * columns, columns, 1},
    };
}

attn_status_t attn_stream_query(attn_stream_t *stream, const attn_tensor_t *query,
                                const attn_tensor_t *out, const attn_tensor_t *lse,
                                attn_error_t *error) {
    if (!stream || !query || !out)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: it, the query or the output is null");
    if (query->shape[2] < 1)
        return attn_fail(error, ATTN_ERROR_SHAPE, "stream: %lld queries, must be at least 1",
                         (long long)query->shape[2]);
    attn_status_t status = reserve(stream, 1, error); /* an empty stream has room, and no key */
    if (status == ATTN_OK) status = prepare(stream, query->shape[2], error);
    if (status != ATTN_OK) return status;
    const attn_problem_t *problem = &stream->problem;
    attn_io_t io = {
        .struct_size = sizeof io,
        .query = *query,
        .key = view(stream, KEY, problem->kv_dtype, problem->dim),
        .value = view(stream, VALUE, problem->kv_dtype, problem->value_dim),
        .out = *out,
        .workspace = stream->workspace,
        .workspace_size = attn_plan_workspace_size(stream->plan),
        .kv_lengths = {.data = stream->lengths,
                       .dtype = ATTN_I64,
                       .shape = {problem->batch, 1, 1, 1},
                       .stride = {1, 1, 1, 1}},
    };
    if (lse) io.lse = *lse;
    if (problem->kv_dtype == ATTN_I8) {
        io.key_scales = view(stream, KEY_SCALE, ATTN_F32, 1);
        io.value_scales = view(stream, VALUE_SCALE, ATTN_F32, 1);
    }
    return attn_run(stream->plan, &io, error);
}

/* ---- copies -------------------------------------------------------------------------------------- */

attn_status_t attn_stream_fork(const attn_stream_t *stream, attn_stream_t **copy,
                               attn_error_t *error) {
    if (copy) *copy = NULL;
    if (!stream || !copy)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: it or the result is null");
    attn_stream_t *fork = NULL;
    attn_status_t status =
        create(stream->context, stream->backend, &stream->problem, stream->max_keys, &fork, error);
    if (status == ATTN_OK && stream->length) status = reserve(fork, stream->length, error);
    if (status != ATTN_OK) {
        attn_stream_destroy(fork);
        return status;
    }
    for (int c = 0; c < CACHES; c++)
        copy_rows(stream, fork->caches[c].data, fork->capacity, stream->caches[c].data,
                  stream->capacity, stream->caches[c].row, stream->length);
    set_length(fork, stream->length);
    *copy = fork;
    return ATTN_OK;
}

/* What stands before the saved tokens: enough to know whose they are. */
typedef struct saved {
    char magic[8];
    int64_t batch, kv_heads, dim, value_dim, dtype, length;
} saved_t;

static const char magic[8] = "attnkv1";

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
    return saved;
}

static uint64_t saved_size(const attn_stream_t *stream, int64_t length) {
    uint64_t size = sizeof(saved_t);
    for (int c = 0; c < CACHES; c++)
        size += blocks(stream) * (uint64_t)length * stream->caches[c].row;
    return size;
}

uint64_t attn_stream_save(const attn_stream_t *stream, void *buffer, uint64_t size) {
    if (!stream) return 0;
    const uint64_t needed = saved_size(stream, stream->length);
    if (!buffer || size < needed) return needed;
    const saved_t saved = header(stream);
    char *at = buffer;
    memcpy(at, &saved, sizeof saved);
    at += sizeof saved;
    for (int c = 0; c < CACHES; c++) {
        copy_rows(stream, at, stream->length, stream->caches[c].data, stream->capacity,
                  stream->caches[c].row, stream->length);
        at += blocks(stream) * (uint64_t)stream->length * stream->caches[c].row;
    }
    return needed;
}

/* The scales are the last of the saved bytes. */
static attn_status_t check_saved_scales(const attn_stream_t *stream, const char *saved,
                                        int64_t length, attn_error_t *error) {
    const uint64_t tokens = blocks(stream) * (uint64_t)length;
    saved += tokens * (stream->caches[KEY].row + stream->caches[VALUE].row);
    attn_status_t status = ATTN_OK;
    for (uint64_t i = 0; stream->caches[KEY_SCALE].row && i < 2 * tokens && status == ATTN_OK;
         i++) {
        float scale;
        memcpy(&scale, saved + i * sizeof scale, sizeof scale);
        status = check_scale(scale, "what was saved", error);
    }
    return status;
}

attn_status_t attn_stream_restore(attn_stream_t *stream, const void *buffer, uint64_t size,
                                  attn_error_t *error) {
    if (!stream || !buffer)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: it or the saved bytes are null");
    saved_t saved, own = header(stream);
    if (size < sizeof saved)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: %llu bytes are no saved stream",
                         (unsigned long long)size);
    memcpy(&saved, buffer, sizeof saved);
    if (memcmp(saved.magic, magic, sizeof magic) != 0 || saved.length < 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: these bytes are no saved stream");
    if (saved.batch != own.batch || saved.kv_heads != own.kv_heads || saved.dim != own.dim ||
        saved.value_dim != own.value_dim || saved.dtype != own.dtype)
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "stream: saved with another shape or dtype (%lld, %lld, d %lld, dv %lld, "
                         "dtype %lld)",
                         (long long)saved.batch, (long long)saved.kv_heads, (long long)saved.dim,
                         (long long)saved.value_dim, (long long)saved.dtype);
    if (saved.length > stream->max_keys)
        return attn_fail(error, ATTN_ERROR_RANGE, "stream: %lld tokens, at most %lld fit",
                         (long long)saved.length, (long long)stream->max_keys);
    if (size != saved_size(stream, saved.length))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "stream: %llu bytes, %lld saved tokens take %llu",
                         (unsigned long long)size, (long long)saved.length,
                         (unsigned long long)saved_size(stream, saved.length));
    const char *at = (const char *)buffer + sizeof saved;
    attn_status_t status = check_saved_scales(stream, at, saved.length, error);
    if (status == ATTN_OK && saved.length) status = reserve(stream, saved.length, error);
    if (status != ATTN_OK) return status;
    for (int c = 0; c < CACHES; c++) {
        copy_rows(stream, stream->caches[c].data, stream->capacity, at, saved.length,
                  stream->caches[c].row, saved.length);
        at += blocks(stream) * (uint64_t)saved.length * stream->caches[c].row;
    }
    set_length(stream, saved.length);
    return ATTN_OK;
}
