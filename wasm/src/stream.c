/* stream.c: tokens that arrive one by one. */
#include "bindings.h"

#include <stdlib.h>

struct attnjs_stream {
    attn_stream_t *stream;
    attn_problem_t problem;
};

/* Owns `stream` from here on; frees it when there is no memory for the rest. */
static attnjs_stream_t *wrap(attnjs_t *js, attn_stream_t *stream, const attn_problem_t *problem) {
    attnjs_stream_t *wrapped = malloc(sizeof *wrapped);
    if (!wrapped) {
        attn_stream_destroy(stream);
        attnjs_no_memory(js, "a stream");
        return NULL;
    }
    *wrapped = (attnjs_stream_t){.stream = stream, .problem = *problem};
    return wrapped;
}

attnjs_stream_t *attnjs_stream_create(attnjs_t *js, const char *backend, const double *numbers,
                                      double max_keys) {
    const attn_problem_t problem = attnjs_problem(numbers);
    attn_stream_t *stream;
    if (attn_stream_create(js->context, backend, &problem, attnjs_integer(max_keys), &stream,
                           &js->error) != ATTN_OK)
        return NULL;
    return wrap(js, stream, &problem);
}

void attnjs_stream_destroy(attnjs_stream_t *stream) {
    if (!stream) return;
    attn_stream_destroy(stream->stream);
    free(stream);
}

const attn_problem_t *attnjs_stream_problem(const attnjs_stream_t *stream) {
    return &stream->problem;
}

double attnjs_stream_length(attnjs_t *js, const attnjs_stream_t *stream) {
    (void)js;
    return (double)attn_stream_length(stream->stream);
}

double attnjs_stream_memory(attnjs_t *js, const attnjs_stream_t *stream) {
    (void)js;
    return (double)attn_stream_memory(stream->stream);
}

attn_status_t attnjs_stream_append(attnjs_t *js, attnjs_stream_t *stream, int32_t bnhd, float *key,
                                   float *value, double tokens) {
    const attn_problem_t *p = &stream->problem;
    const int64_t count = attnjs_integer(tokens);
    const attn_tensor_t keys = attnjs_view(bnhd, key, p->batch, p->kv_heads, count, p->dim);
    const attn_tensor_t values =
        attnjs_view(bnhd, value, p->batch, p->kv_heads, count, p->value_dim);
    return attn_stream_append(stream->stream, &keys, &values, NULL, NULL, &js->error);
}

attn_status_t attnjs_stream_query(attnjs_t *js, attnjs_stream_t *stream, int32_t bnhd, float *query,
                                  double queries, float *out, float *lse) {
    const attn_problem_t *p = &stream->problem;
    const int64_t count = attnjs_integer(queries);
    const attn_tensor_t asked = attnjs_view(bnhd, query, p->batch, p->heads, count, p->dim);
    const attn_tensor_t answer = attnjs_view(bnhd, out, p->batch, p->heads, count, p->value_dim);
    const attn_tensor_t sums = attnjs_view(0, lse, p->batch, p->heads, count, 1);
    return attn_stream_query(stream->stream, &asked, &answer, lse ? &sums : NULL, &js->error);
}

attnjs_stream_t *attnjs_stream_fork(attnjs_t *js, const attnjs_stream_t *stream) {
    attn_stream_t *copy;
    if (attn_stream_fork(stream->stream, &copy, &js->error) != ATTN_OK) return NULL;
    return wrap(js, copy, &stream->problem);
}

attn_status_t attnjs_stream_truncate(attnjs_t *js, attnjs_stream_t *stream, double length) {
    return attn_stream_truncate(stream->stream, attnjs_integer(length), &js->error);
}

double attnjs_stream_save(attnjs_t *js, const attnjs_stream_t *stream, void *bytes, size_t size) {
    (void)js;
    return (double)attn_stream_save(stream->stream, bytes, size);
}

attn_status_t attnjs_stream_restore(attnjs_t *js, attnjs_stream_t *stream, const void *bytes,
                                    size_t size) {
    return attn_stream_restore(stream->stream, bytes, size, &js->error);
}
