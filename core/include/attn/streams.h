/*
 * attn/streams.h: tokens that arrive one by one. Part of attn/attn.h, which
 * has the rules of errors, threads and structs.
 */
#ifndef ATTN_STREAMS_H
#define ATTN_STREAMS_H

#include "attn/api.h"
#include "attn/plan.h"
#include "attn/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What a backend keeps of tokens that come one by one or many at a time (attn/ext/stream.h), to
 * answer the queries of the last ones.
 */
typedef struct attn_stream attn_stream_t;

/**
 * Make an empty stream. You destroy it, before the context. [any thread]
 *
 * Of `problem` these fields count, which do not change: batch, heads, kv_heads, dim, value_dim,
 * dtypes, causal, scale, softcap, window (0 to the right unless causal), own_inputs, and of the
 * library's inputs sinks and slopes (with causal or a window), which come with queries. Other
 * inputs are refused: a bias or a mask is over the keys, which grow. `queries` and `keys` are
 * ignored; past and backward must be 0. Parameters are as for a plan. Where an automatic parameter
 * depends on the number of keys, that number is `max_keys`, the most tokens that the stream may
 * get.
 *
 * Memory. A backend that keeps all tokens doubles its memory as they come. Memory does not grow
 * with a window to the left, with a pattern that looks back only so far (sparse), and where sums
 * are kept (linear): there the stream has beside them the tokens of the last append.
 *
 * Errors, beside those of attn_plan_create():
 * - ATTN_ERROR_RANGE: max_keys is below 1.
 * - ATTN_ERROR_UNSUPPORTED: the backend, or this method of it, has no streams.
 */
ATTN_API attn_status_t attn_stream_create(const attn_context_t *context, const char *backend,
                                          const attn_problem_t *problem, const attn_param_t *params,
                                          uint32_t param_count, int64_t max_keys,
                                          attn_stream_t **stream, attn_error_t *error);

/** Destroy a stream; NULL is fine. [one thread per stream] */
ATTN_API void attn_stream_destroy(attn_stream_t *stream);

/** How many tokens came, including those no longer kept. [one thread per stream] */
ATTN_API int64_t attn_stream_length(const attn_stream_t *stream);

/** Bytes of its memory: the cache, the plan's workspace and all else. [one thread per stream] */
ATTN_API uint64_t attn_stream_memory(const attn_stream_t *stream);

/**
 * Array number `number` (attn_backend_array()) of an append of one token or of a query of one:
 * *tensor becomes a tensor as by attn_plan_array(). Returns 0 past the last array.
 * [one thread per stream]
 */
ATTN_API int32_t attn_stream_array(const attn_stream_t *stream, uint32_t number,
                                   attn_tensor_t *tensor);

/**
 * Append t tokens: io->key (B, Hkv, t, d) and io->value (B, Hkv, t, dv) of the problem's kv_dtype,
 * with any strides; for i8 also io->key_scales and value_scales (B, Hkv, t, 1); and those of the
 * backend's own inputs that have an axis of keys and none of queries. All other arrays are absent.
 * On an error the stream is what it was. [one thread per stream]
 *
 * Errors, beside those of attn_run():
 * - ATTN_ERROR_RANGE: more than max_keys tokens.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_stream_append(attn_stream_t *stream, const attn_io_t *io,
                                          attn_error_t *error);

/**
 * Answer the queries io->query (B, H, n, d) of the last n tokens, each at its token's position, in
 * io->out (B, H, n, dv). Also read and written where they are there: lse, sinks, slopes, those of
 * the backend's own inputs that do not come with tokens, its own outputs, and io->report. Needs no
 * workspace. Allocates only when n or the cache's capacity has changed since the last call.
 * [one thread per stream]
 *
 * With more queries than tokens the first queries stand before the first token. They see what their
 * rules let them see from there. With causal or a window that is nothing: zeros and lse = -inf,
 * which is no error. An empty stream gives that answer to all.
 *
 * Errors, beside those of attn_run():
 * - ATTN_ERROR_UNSUPPORTED: a query sees tokens that are gone. Where a stream does not keep all
 *   tokens, n may be up to that of the last append.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_stream_query(attn_stream_t *stream, const attn_io_t *io,
                                         attn_error_t *error);

/**
 * Forget all tokens from number `length` on. A stream that does not keep all tokens can go back to
 * 0, or as far as it still has what the next token sees; for linear that is the beginning of the
 * last append. [one thread per stream]
 * Errors:
 * - ATTN_ERROR_RANGE: there are fewer tokens than `length`.
 * - ATTN_ERROR_UNSUPPORTED: it cannot go back so far.
 */
ATTN_API attn_status_t attn_stream_truncate(attn_stream_t *stream, int64_t length,
                                            attn_error_t *error);

/**
 * Make an independent copy, which you destroy. [one thread per stream]
 * Errors:
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_stream_fork(const attn_stream_t *stream, attn_stream_t **copy,
                                        attn_error_t *error);

/**
 * Write what is kept to `buffer`, which may be NULL when `size` is 0. Returns the bytes that it
 * needs. They are the same on all tiers, and for machines of the same byte order.
 * [one thread per stream]
 */
ATTN_API uint64_t attn_stream_save(const attn_stream_t *stream, void *buffer, uint64_t size);

/**
 * Replace the stream's tokens by saved ones. On an error the stream is what it was. The saved
 * numbers are taken as they are: keep a checksum where storage may change bits.
 * [one thread per stream]
 * Errors:
 * - ATTN_ERROR_ARGUMENT: no stream saved these bytes, some are missing or too many, or another
 *   backend or method saved them.
 * - ATTN_ERROR_SHAPE: another shape or element type.
 * - ATTN_ERROR_RANGE: more than max_keys tokens.
 * - ATTN_ERROR_MEMORY: out of memory.
 */
ATTN_API attn_status_t attn_stream_restore(attn_stream_t *stream, const void *buffer, uint64_t size,
                                           attn_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
