/*
 * attn.stream/1 (backend): attention over tokens that arrive one by one. What is kept of the
 * tokens is the backend's: a KV cache, a sum, sketches.
 *
 * The host checks all arrays, counts the tokens and heads the saved bytes; it calls with the
 * arrays that belong to the call and no others: append() has the inputs with an axis of keys
 * (key, value, scales, the backend's own), query() those without (sinks, slopes, the backend's
 * own), and outputs. Nothing is kept of the arrays. All functions of a stream are
 * [one thread per stream]; one that fails leaves the stream as it was.
 */
#ifndef ATTN_EXT_STREAM_H
#define ATTN_EXT_STREAM_H

#include "attn/plugin.h"

#define ATTN_EXT_STREAM "attn.stream/1"

typedef struct attn_backend_stream attn_backend_stream_t;

/** A backend allocates its own struct with this one as first member. */
struct attn_backend_stream {
    uint32_t struct_size;
    uint32_t reserved;

    /** Take in key.shape[2] tokens, at least 1; the host has seen to max_keys. May allocate. */
    attn_status_t (*append)(attn_backend_stream_t *stream, const attn_io_t *io,
                            attn_error_t *error);

    /**
     * Answer the query.shape[2] queries of the last tokens, as a run that is aligned
     * bottom-right would over all tokens. ATTN_ERROR_UNSUPPORTED where what the first of them
     * see is no longer kept; those of the last append() are always answered. The workspace is
     * the stream's own. May allocate when the number of queries is not that of the call before.
     */
    attn_status_t (*query)(attn_backend_stream_t *stream, const attn_io_t *io, attn_error_t *error);

    /**
     * Forget all tokens from number `length` on, which is at most how many there are; 0 always
     * works. ATTN_ERROR_UNSUPPORTED where what would be left is no longer kept.
     */
    attn_status_t (*truncate)(attn_backend_stream_t *stream, int64_t length, attn_error_t *error);

    /** An independent copy, the host's until destroy(). */
    attn_status_t (*fork)(const attn_backend_stream_t *stream, attn_backend_stream_t **copy,
                          attn_error_t *error);

    /** Write the tokens to `bytes`, of any alignment and as large as the result; NULL: only
     *  count. */
    uint64_t (*save)(const attn_backend_stream_t *stream, void *bytes);

    /**
     * Replace the tokens by `length` saved ones, of a stream of the same backend, sizes and
     * element types. The bytes may be damaged: ATTN_ERROR_ARGUMENT.
     */
    attn_status_t (*restore)(attn_backend_stream_t *stream, const void *bytes, uint64_t size,
                             int64_t length, attn_error_t *error);

    /** Bytes of memory, all of it. */
    uint64_t (*memory)(const attn_backend_stream_t *stream);

    /** Free the stream's memory. */
    void (*destroy)(attn_backend_stream_t *stream);

    /**
     * NULL, or a plan by which attn_ext_inputs_t.shape tells the extents of the backend's own
     * arrays. Lives as long as the stream.
     */
    const attn_backend_plan_t *plan;
};

typedef struct attn_ext_stream {
    uint32_t struct_size;
    uint32_t reserved;
    /**
     * An empty stream. Of `problem`, checked as for plan(), `keys` is the most tokens that the
     * stream will hold, `queries` is 1, and causal or a window come with
     * ATTN_CAUSAL_BOTTOM_RIGHT. `values` as in plan(), valid during this call. Errors as plan();
     * ATTN_ERROR_UNSUPPORTED for a method that has to see all tokens at once. On success *stream
     * is the host's until destroy(). [any thread]
     */
    attn_status_t (*create)(const attn_host_t *host, const attn_problem_t *problem,
                            const attn_value_t *values, attn_backend_stream_t **stream,
                            attn_error_t *error);
} attn_ext_stream_t;

#endif
