#include "stream/cache.h"

#include <string.h>

enum { FIRST_CAPACITY = 64, INFINITY_BITS = 0x7f800000 /* of a float */ };

attn_cache_t attn_cache_make(const attn_host_t *host, const attn_problem_t *problem, int64_t kept) {
    const uint64_t size = (uint64_t)attn_dtype_size(problem->kv_dtype);
    const int64_t scales = problem->kv_dtype == ATTN_I8;
    attn_cache_t cache = {
        .host = host,
        .batch = problem->batch,
        .kv_heads = problem->kv_heads,
        .most = problem->keys,
        .dtype = problem->kv_dtype,
    };
    const int64_t columns[CACHE_ARRAYS] = {problem->dim, problem->value_dim, scales, scales, kept};
    for (int a = 0; a < CACHE_ARRAYS; a++) {
        cache.arrays[a].columns = columns[a];
        cache.arrays[a].row = (uint64_t)columns[a] * (a < CACHE_KEY_SCALE ? size : sizeof(float));
    }
    return cache;
}

void attn_cache_free(attn_cache_t *cache) {
    for (int a = 0; a < CACHE_ARRAYS; a++) attn_host_release(cache->host, cache->arrays[a].data);
}

static uint64_t blocks(const attn_cache_t *cache) {
    return (uint64_t)(cache->batch * cache->kv_heads);
}

/* `count` rows of every block, from one memory to another. */
static void copy_rows(const attn_cache_t *cache, uint64_t row, char *to, int64_t to_capacity,
                      const char *from, int64_t from_capacity, int64_t count) {
    for (uint64_t b = 0; count && row && b < blocks(cache); b++)
        memmove(to + b * (uint64_t)to_capacity * row, from + b * (uint64_t)from_capacity * row,
                (size_t)count * row);
}

/* Where a block's first token is; NULL before there is room, and for arrays without columns. */
static char *rows_of(const attn_cache_t *cache, int array) {
    if (!cache->arrays[array].data) return NULL;
    return cache->arrays[array].data + (uint64_t)cache->first * cache->arrays[array].row;
}

/* ---- growth -------------------------------------------------------------------------------------- */

static int64_t next_capacity(const attn_cache_t *cache, int64_t capacity, int64_t tokens) {
    while (capacity < tokens && capacity <= cache->most / 2) capacity *= 2;
    return capacity < tokens || capacity > cache->most ? cache->most : capacity;
}

/* Everything new is there before anything old goes. */
static attn_status_t resize(attn_cache_t *cache, int64_t capacity, attn_error_t *error) {
    char *grown[CACHE_ARRAYS] = {NULL};
    for (int a = 0; a < CACHE_ARRAYS; a++) {
        const uint64_t row = cache->arrays[a].row;
        const size_t bytes = (size_t)(blocks(cache) * (uint64_t)capacity * row);
        if (!row) continue;
        grown[a] = attn_host_allocate(cache->host, bytes);
        if (grown[a] && a == CACHE_KEPT)
            memset(grown[a], 0, bytes); /* should a run leave some out */
        if (grown[a]) continue;
        while (a--) attn_host_release(cache->host, grown[a]);
        return attn_fail(error, ATTN_ERROR_MEMORY, "stream: no memory for %lld tokens",
                         (long long)capacity);
    }
    for (int a = 0; a < CACHE_ARRAYS; a++) {
        copy_rows(cache, cache->arrays[a].row, grown[a], capacity, rows_of(cache, a),
                  cache->capacity, cache->length);
        attn_host_release(cache->host, cache->arrays[a].data);
        cache->arrays[a].data = grown[a];
    }
    cache->capacity = capacity;
    cache->first = 0;
    return ATTN_OK;
}

attn_status_t attn_cache_reserve(attn_cache_t *cache, int64_t tokens, attn_error_t *error) {
    const int64_t capacity = attn_max(cache->capacity, FIRST_CAPACITY);
    return tokens <= cache->capacity ? ATTN_OK
                                     : resize(cache, next_capacity(cache, capacity, tokens), error);
}

/* Where there is no memory to move to, all stays where it is. */
void attn_cache_shrink(attn_cache_t *cache, int64_t tokens) {
    const int64_t capacity = next_capacity(cache, FIRST_CAPACITY, tokens);
    if (capacity < cache->capacity) resize(cache, capacity, NULL);
}

void attn_cache_drop(attn_cache_t *cache, int64_t kept, int64_t count) {
    for (int a = 0; kept && a < CACHE_ARRAYS; a++) {
        const uint64_t row = cache->arrays[a].row;
        char *rows = rows_of(cache, a);
        if (!rows) continue;
        copy_rows(cache, row, rows + (uint64_t)count * row, cache->capacity, rows, cache->capacity,
                  kept);
    }
    cache->length -= count;
    cache->first = cache->length ? cache->first + count : 0;
    cache->known = attn_max(0, cache->known - count);
}

void attn_cache_truncate(attn_cache_t *cache, int64_t length) {
    cache->length = length;
    cache->known = attn_min(cache->known, length);
}

/* ---- tokens -------------------------------------------------------------------------------------- */

static const size_t offsets[CACHE_SAVED] = {offsetof(attn_io_t, key), offsetof(attn_io_t, value),
                                            offsetof(attn_io_t, key_scales),
                                            offsetof(attn_io_t, value_scales)};

void attn_cache_view(const attn_cache_t *cache, int64_t keys, attn_io_t *io) {
    for (int a = 0; a < CACHE_SAVED; a++) {
        const int64_t columns = cache->arrays[a].columns, block = cache->capacity * columns;
        *(attn_tensor_t *)(void *)((char *)io + offsets[a]) = (attn_tensor_t){
            .data = columns ? rows_of(cache, a) : NULL,
            .dtype = a < CACHE_KEY_SCALE ? cache->dtype : (attn_dtype_t)ATTN_F32,
            .shape = {cache->batch, cache->kv_heads, keys, columns},
            .stride = {cache->kv_heads * block, block, columns, 1},
        };
    }
}

attn_kept_t attn_cache_kept(const attn_cache_t *cache) {
    return (attn_kept_t){.numbers = (float *)(void *)rows_of(cache, CACHE_KEPT),
                         .stride = cache->capacity * cache->arrays[CACHE_KEPT].columns,
                         .known = cache->known};
}

static void store_row(char *row, const char *from, int64_t stride, int64_t columns, uint64_t size) {
    if (stride == 1) {
        memcpy(row, from, (size_t)columns * size);
        return;
    }
    for (int64_t c = 0; c < columns; c++)
        memcpy(row + (uint64_t)c * size, from + c * stride * (int64_t)size, size);
}

/* The tokens to the beginning of their room. */
static void move_up(attn_cache_t *cache) {
    for (int a = 0; a < CACHE_ARRAYS; a++)
        copy_rows(cache, cache->arrays[a].row, cache->arrays[a].data, cache->capacity,
                  rows_of(cache, a), cache->capacity, cache->length);
    cache->first = 0;
}

/* All heads' tokens of one array. */
static void store_array(const attn_cache_t *cache, int array, const attn_tensor_t *tensor) {
    const int64_t tokens = tensor->shape[2], size = attn_dtype_size(tensor->dtype);
    const int64_t *stride = tensor->stride, columns = cache->arrays[array].columns;
    const uint64_t row = cache->arrays[array].row;
    char *rows = rows_of(cache, array) + (uint64_t)cache->length * row;
    for (int64_t b = 0; b < cache->batch; b++)
        for (int64_t h = 0; h < cache->kv_heads; h++) {
            const char *from = (const char *)tensor->data + (b * stride[0] + h * stride[1]) * size;
            char *block = rows + (uint64_t)((b * cache->kv_heads + h) * cache->capacity) * row;
            for (int64_t t = 0; t < tokens; t++)
                store_row(block + (uint64_t)t * row, from + t * stride[2] * size, stride[3],
                          columns, (uint64_t)size);
        }
}

void attn_cache_store(attn_cache_t *cache, const attn_io_t *io) {
    const int64_t tokens = io->key.shape[2];
    if (cache->first + cache->length + tokens > cache->capacity) move_up(cache);
    for (int a = 0; a < CACHE_SAVED; a++)
        if (cache->arrays[a].row)
            store_array(cache, a,
                        (const attn_tensor_t *)(const void *)((const char *)io + offsets[a]));
    cache->length += tokens;
}

/* ---- copies -------------------------------------------------------------------------------------- */

attn_status_t attn_cache_copy(attn_cache_t *to, const attn_cache_t *from, attn_error_t *error) {
    const attn_status_t status = attn_cache_reserve(to, from->length, error);
    if (status != ATTN_OK) return status;
    for (int a = 0; a < CACHE_ARRAYS; a++)
        copy_rows(to, to->arrays[a].row, to->arrays[a].data, to->capacity, rows_of(from, a),
                  from->capacity, from->length);
    to->length = from->length;
    to->known = from->known;
    return ATTN_OK;
}

static uint64_t bytes_of(const attn_cache_t *cache, int arrays, int64_t tokens) {
    uint64_t row = 0;
    for (int a = 0; a < arrays; a++) row += cache->arrays[a].row;
    return blocks(cache) * (uint64_t)tokens * row;
}

uint64_t attn_cache_memory(const attn_cache_t *cache) {
    return bytes_of(cache, CACHE_ARRAYS, cache->capacity);
}

uint64_t attn_cache_bytes(const attn_cache_t *cache, int64_t length) {
    return bytes_of(cache, CACHE_SAVED, length);
}

void attn_cache_save(const attn_cache_t *cache, char *bytes) {
    for (int a = 0; a < CACHE_SAVED; a++) {
        const uint64_t row = cache->arrays[a].row;
        copy_rows(cache, row, bytes, cache->length, rows_of(cache, a), cache->capacity,
                  cache->length);
        bytes += blocks(cache) * (uint64_t)cache->length * row;
    }
}

attn_status_t attn_cache_check_size(uint64_t size, uint64_t needed, int64_t tokens,
                                    attn_error_t *error) {
    if (size == needed) return ATTN_OK;
    const int64_t more = (int64_t)(needed - size);
    return attn_fail(error, ATTN_ERROR_ARGUMENT, "stream: %lld tokens take %lld bytes %s",
                     (long long)tokens, (long long)(more < 0 ? -more : more),
                     more < 0 ? "less" : "more");
}

/* They are the last of the saved bytes. */
static attn_status_t check_scales(const attn_cache_t *cache, const char *bytes, int64_t length,
                                  attn_error_t *error) {
    const uint64_t tokens = blocks(cache) * (uint64_t)length;
    bytes += tokens * (cache->arrays[CACHE_KEY].row + cache->arrays[CACHE_VALUE].row);
    for (uint64_t i = 0; cache->arrays[CACHE_KEY_SCALE].row && i < 2 * tokens; i++) {
        uint32_t scale; /* as bits: denormal ones are positive also where processors say zero */
        memcpy(&scale, bytes + i * sizeof scale, sizeof scale);
        if (scale == 0 || scale >= INFINITY_BITS)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "stream: these bytes are damaged: a scale is not positive and finite");
    }
    return ATTN_OK;
}

attn_status_t attn_cache_restore(attn_cache_t *cache, const char *bytes, int64_t length,
                                 attn_error_t *error) {
    attn_status_t status = check_scales(cache, bytes, length, error);
    if (status == ATTN_OK) status = attn_cache_reserve(cache, length, error);
    if (status != ATTN_OK) return status;
    cache->length = length;
    cache->first = 0;
    cache->known = 0;
    for (int a = 0; a < CACHE_SAVED; a++) {
        const uint64_t row = cache->arrays[a].row;
        copy_rows(cache, row, cache->arrays[a].data, cache->capacity, bytes, length, length);
        bytes += blocks(cache) * (uint64_t)length * row;
    }
    return ATTN_OK;
}
