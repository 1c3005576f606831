/*
 * stream/cache.h: keys and values of tokens that arrive, with the scales of those in i8, in the order
 * (batch, head, token, column): what streams of backends keep them in.
 */
#ifndef ATTN_STREAM_CACHE_H
#define ATTN_STREAM_CACHE_H

#include "ieee/ieee.h"

#include "attn/support.h"
#include "stream/cached.h"

enum { CACHE_KEY, CACHE_VALUE, CACHE_KEY_SCALE, CACHE_VALUE_SCALE, CACHE_SAVED, CACHE_ARRAYS };
enum {
    CACHE_KEPT = CACHE_SAVED /* what plans keep of the tokens: found anew when they are restored */
};

typedef struct attn_cache {
    const attn_host_t *host;
    int64_t batch, kv_heads, most; /* most: tokens that there will ever be */
    attn_dtype_t dtype;            /* of key and value */
    int64_t length, capacity;      /* tokens that it holds, and has room for */
    int64_t known;                 /* of how many there is what plans keep */
    int64_t first;                 /* where the first of them is: those before it were dropped */
    struct {
        char *data;      /* [batch * kv_heads][capacity][columns] */
        int64_t columns; /* 0: there is no such array */
        uint64_t row;    /* bytes of them */
    } arrays[CACHE_ARRAYS];
} attn_cache_t;

/** An empty cache for the problem's keys and values, and `kept` floats beside each; it takes memory when tokens come. */
attn_cache_t attn_cache_make(const attn_host_t *host, const attn_problem_t *problem, int64_t kept);
void attn_cache_free(attn_cache_t *cache);

/** Room for `tokens` in all. It grows by doubling; when there is no memory nothing has changed. */
attn_status_t attn_cache_reserve(attn_cache_t *cache, int64_t tokens, attn_error_t *error);

/** Give back what a cache of so many tokens, at least as many as it holds, would not have taken. */
void attn_cache_shrink(attn_cache_t *cache, int64_t tokens);

/** Put the tokens of io->key, io->value and scales behind the others; there is room. */
void attn_cache_store(attn_cache_t *cache, const attn_io_t *io);

/** Forget `count` tokens behind the first `kept`, or all from number `length` on. */
void attn_cache_drop(attn_cache_t *cache, int64_t kept, int64_t count);
void attn_cache_truncate(attn_cache_t *cache, int64_t length);

/** Make io->key, io->value and scales those of all `keys` tokens that there are or will be room for. */
void attn_cache_view(const attn_cache_t *cache, int64_t keys, attn_io_t *io);

/** What plans keep of the tokens. */
attn_kept_t attn_cache_kept(const attn_cache_t *cache);

/** Make an empty cache, of the same problem, hold the same tokens. */
attn_status_t attn_cache_copy(attn_cache_t *to, const attn_cache_t *from, attn_error_t *error);

/** Bytes of memory. */
uint64_t attn_cache_memory(const attn_cache_t *cache);

/** Bytes that `length` tokens take when they are saved. */
uint64_t attn_cache_bytes(const attn_cache_t *cache, int64_t length);
void attn_cache_save(const attn_cache_t *cache, char *bytes);

/** An error unless a saved stream of so many tokens has as many bytes as it needs. */
attn_status_t attn_cache_check_size(uint64_t size, uint64_t needed, int64_t tokens,
                                    attn_error_t *error);

/** Replace the tokens by `length` saved ones, of attn_cache_bytes(). A scale may be damaged. */
attn_status_t attn_cache_restore(attn_cache_t *cache, const char *bytes, int64_t length,
                                 attn_error_t *error);

#endif
