#include "stream/cached.h"

#include "attn/ext/params.h"
#include "stream/cache.h"

#include <string.h>

typedef struct stream {
    attn_backend_stream_t base;
    attn_cached_t made; /* its problem and values: those below */
    attn_problem_t problem;
    attn_backend_plan_t *plan; /* NULL until a query comes */
    int64_t queries, keys;     /* of the plan */
    void *workspace;
    attn_cache_t cache;
    int64_t dropped;  /* tokens before the first one in the cache */
    int64_t *lengths; /* [batch], all that of the cache */
    attn_value_t *values;
} stream_t;

/* ---- life ---------------------------------------------------------------------------------------- */

static void drop_plan(stream_t *stream) {
    if (stream->plan) stream->plan->destroy(stream->plan);
    attn_host_release(stream->made.host, stream->workspace);
    stream->plan = NULL;
    stream->workspace = NULL;
}

static attn_status_t make_plan(const attn_cached_t *made, int64_t queries, int64_t keys,
                               attn_backend_plan_t **plan, attn_error_t *error) {
    attn_problem_t problem = *made->problem;
    problem.queries = queries;
    problem.keys = keys;
    problem.inputs |= ATTN_INPUT_KV_LENGTHS;
    return made->backend->plan(made->host, &problem, made->values, plan, error);
}

/* A plan for `queries` queries at the present capacity, unless that is what there is. */
static attn_status_t prepare(stream_t *stream, int64_t queries, attn_error_t *error) {
    const int64_t keys = stream->cache.capacity;
    if (stream->plan && stream->queries == queries && stream->keys == keys) return ATTN_OK;
    drop_plan(stream);
    attn_status_t status = make_plan(&stream->made, queries, keys, &stream->plan, error);
    if (status != ATTN_OK) {
        stream->plan = NULL;
        return status;
    }
    stream->queries = queries;
    stream->keys = keys;
    stream->workspace = attn_host_allocate(stream->made.host, (size_t)stream->plan->workspace_size);
    if (stream->workspace) return ATTN_OK;
    drop_plan(stream);
    return attn_fail(error, ATTN_ERROR_MEMORY, "stream: no memory for the workspace");
}

static uint64_t values_size(const attn_cached_t *made) {
    return made->count * sizeof(attn_value_t);
}

static uint64_t own_size(const attn_cached_t *made) {
    return sizeof(stream_t) + (uint64_t)made->problem->batch * sizeof(int64_t) + values_size(made);
}

static uint64_t memory(const attn_backend_stream_t *base) {
    const stream_t *stream = (const stream_t *)base;
    const attn_backend_plan_t *plan = stream->plan;
    return own_size(&stream->made) + attn_cache_memory(&stream->cache) +
           (plan ? stream->made.plan_bytes(plan) + plan->workspace_size : 0);
}

static void destroy(attn_backend_stream_t *base) {
    stream_t *stream = (stream_t *)base;
    drop_plan(stream);
    attn_cache_free(&stream->cache);
    attn_host_release(stream->made.host, stream);
}

/* ---- tokens -------------------------------------------------------------------------------------- */

/* How many tokens there are at least once one was dropped: what a token sees before itself. */
static int64_t seen_of(const stream_t *stream) { return stream->made.first + stream->made.reach; }

/* How many behind the first no token from the next one on sees. */
static int64_t spare(const stream_t *stream) {
    const int64_t unseen = stream->made.reach < 0 ? 0 : stream->cache.length - seen_of(stream);
    return unseen > 0 ? unseen - unseen % stream->made.period : 0;
}

static attn_status_t append(attn_backend_stream_t *base, const attn_io_t *io, attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    attn_cache_t *cache = &stream->cache;
    const int64_t tokens = io->key.shape[2], unseen = spare(stream);
    attn_status_t status = attn_cache_reserve(cache, cache->length - unseen + tokens, error);
    if (status != ATTN_OK) return status;
    if (cache->length + tokens > cache->capacity) {
        attn_cache_drop(cache, stream->made.first, unseen);
        stream->dropped += unseen;
    }
    attn_cache_store(cache, io);
    return ATTN_OK;
}

static attn_status_t truncate_to(attn_backend_stream_t *base, int64_t length, attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    if (length == 0) stream->dropped = 0;
    if (stream->dropped && length - seen_of(stream) < stream->dropped)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "stream: cannot truncate to %lld tokens: of what these see some is no "
                         "longer kept (%lld are dropped)",
                         (long long)length, (long long)stream->dropped);
    attn_cache_truncate(&stream->cache, length - stream->dropped);
    return ATTN_OK;
}

/* ---- queries ------------------------------------------------------------------------------------- */

static attn_status_t query(attn_backend_stream_t *base, const attn_io_t *given,
                           attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    const int64_t queries = given->query.shape[2], length = stream->cache.length;
    if (stream->dropped && length - queries < seen_of(stream))
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "stream: %lld queries: of what these see some is no longer kept; those "
                         "of the last append are answered",
                         (long long)queries);
    attn_status_t status = attn_cache_reserve(&stream->cache, 1, error); /* a plan has a key */
    if (status == ATTN_OK) status = prepare(stream, queries, error);
    if (status != ATTN_OK) return status;
    attn_io_t io = *given;
    attn_cache_view(&stream->cache, stream->keys, &io);
    for (int64_t b = 0; b < stream->problem.batch; b++) stream->lengths[b] = length;
    io.kv_lengths = (attn_tensor_t){
        .data = stream->lengths,
        .dtype = ATTN_I64,
        .shape = {stream->problem.batch, 1, 1, 1},
        .stride = {1, 1, 1, 1},
    };
    io.workspace = stream->workspace;
    io.workspace_size = stream->plan->workspace_size;
    if (stream->made.kept) {
        const attn_kept_t kept = attn_cache_kept(&stream->cache);
        stream->made.lend(stream->plan, &kept);
    }
    status = stream->plan->run(stream->plan, &io, error);
    if (status == ATTN_OK) stream->cache.known = length;
    return status;
}

/* ---- copies -------------------------------------------------------------------------------------- */

static attn_status_t create(const attn_cached_t *cached, stream_t **stream, attn_error_t *error);

static attn_status_t fork_it(const attn_backend_stream_t *base, attn_backend_stream_t **result,
                             attn_error_t *error) {
    const stream_t *stream = (const stream_t *)base;
    stream_t *copy;
    attn_status_t status = create(&stream->made, &copy, error);
    if (status != ATTN_OK) return status;
    status = attn_cache_copy(&copy->cache, &stream->cache, error);
    if (status != ATTN_OK) {
        destroy(&copy->base);
        return status;
    }
    copy->dropped = stream->dropped;
    *result = &copy->base;
    return ATTN_OK;
}

/* FNV-1a (draft-eastlake-fnv) over more bytes. */
static uint64_t hash_of(uint64_t hash, const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

/*
 * A number that says which parameters are not as they are by default: builds that lack one (modules leave some out)
 * are as those where it is, and choices count by name.
 */
static uint64_t settings_of(const attn_cached_t *made) {
    const attn_ext_params_t *declared =
        made->count ? made->backend->get_extension(ATTN_EXT_PARAMS) : NULL;
    uint64_t hash = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < made->count; i++) {
        const attn_param_info_t *info = &declared->params[i];
        const attn_value_t *value = &made->values[i];
        const int is_number = info->type == ATTN_PARAM_NUMBER;
        if ((is_number ? value->number : (double)value->integer) == info->initial) continue;
        hash = hash_of(hash, info->name, strlen(info->name) + 1);
        if (info->type == ATTN_PARAM_CHOICE) {
            const char *choice = info->choices[value->integer];
            hash = hash_of(hash, choice, strlen(choice) + 1);
        } else {
            hash = hash_of(hash, value, sizeof *value);
        }
    }
    return hash;
}

/* How many tokens were dropped, then whose they are: the parameters, then the other tokens. */
typedef struct saved {
    int64_t dropped;
    uint64_t settings;
} saved_t;

static uint64_t save(const attn_backend_stream_t *base, void *bytes) {
    const stream_t *stream = (const stream_t *)base;
    const saved_t saved = {stream->dropped, settings_of(&stream->made)};
    if (bytes) {
        memcpy(bytes, &saved, sizeof saved);
        attn_cache_save(&stream->cache, (char *)bytes + sizeof saved);
    }
    return sizeof saved + attn_cache_bytes(&stream->cache, stream->cache.length);
}

/* What is there has to be all that the next token sees. */
static int is_whole(const stream_t *stream, int64_t dropped, int64_t length) {
    return dropped == 0 ||
           (dropped > 0 && dropped <= length && stream->made.reach >= 0 &&
            dropped % stream->made.period == 0 && length - dropped >= seen_of(stream));
}

static attn_status_t restore(attn_backend_stream_t *base, const void *bytes, uint64_t size,
                             int64_t length, attn_error_t *error) {
    stream_t *stream = (stream_t *)base;
    saved_t saved = {.dropped = -1, .settings = settings_of(&stream->made)};
    if (size >= sizeof saved) memcpy(&saved, bytes, sizeof saved);
    if (saved.settings != settings_of(&stream->made))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "stream: saved with another value of a parameter");
    if (!is_whole(stream, saved.dropped, length))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "stream: these bytes do not have all tokens that this stream needs");
    const int64_t tokens = length - saved.dropped;
    const uint64_t needed = sizeof saved + attn_cache_bytes(&stream->cache, tokens);
    attn_status_t status = attn_cache_check_size(size, needed, length, error);
    if (status == ATTN_OK)
        status =
            attn_cache_restore(&stream->cache, (const char *)bytes + sizeof saved, tokens, error);
    if (status == ATTN_OK) stream->dropped = saved.dropped;
    return status;
}

/* ---- making -------------------------------------------------------------------------------------- */

static attn_status_t create(const attn_cached_t *cached, stream_t **result, attn_error_t *error) {
    stream_t *stream = attn_host_allocate(cached->host, (size_t)own_size(cached));
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
        .made = *cached,
        .problem = *cached->problem,
        .cache = attn_cache_make(cached->host, cached->problem, cached->kept),
        .lengths = (int64_t *)(stream + 1),
    };
    /* What is dropped behind the first brings them nearer, which ALiBi would see. */
    if (cached->first && stream->problem.inputs & ATTN_INPUT_SLOPES) stream->made.reach = -1;
    stream->values = (attn_value_t *)(stream->lengths + stream->problem.batch);
    if (cached->count) memcpy(stream->values, cached->values, values_size(cached));
    stream->made.problem = &stream->problem;
    stream->made.values = cached->count ? stream->values : NULL; /* as it was given */
    *result = stream;
    return ATTN_OK;
}

attn_status_t attn_cached_stream(const attn_cached_t *cached, attn_backend_stream_t **result,
                                 attn_error_t *error) {
    attn_backend_plan_t *trial; /* says at once what the backend cannot do */
    attn_status_t status = make_plan(cached, 1, cached->problem->keys, &trial, error);
    if (status != ATTN_OK) return status;
    trial->destroy(trial);
    stream_t *stream;
    status = create(cached, &stream, error);
    if (status == ATTN_OK) *result = &stream->base;
    return status;
}
