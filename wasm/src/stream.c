/* stream.c: tokens that arrive one by one. */
#include "bindings.h"

#include <stdlib.h>

struct attnjs_stream {
    attn_stream_t *stream;
    const attn_backend_t *backend;
};

/* Owns `stream` from here on; frees it when there is no memory for the rest. */
static attnjs_stream_t *wrap(attnjs_t *js, attn_stream_t *stream, const attn_backend_t *backend) {
    attnjs_stream_t *wrapped = malloc(sizeof *wrapped);
    if (!wrapped) {
        attn_stream_destroy(stream);
        attnjs_no_memory(js, "a stream");
        return NULL;
    }
    *wrapped = (attnjs_stream_t){.stream = stream, .backend = backend};
    return wrapped;
}

attnjs_stream_t *attnjs_stream_create(attnjs_t *js, const char *backend, const double *numbers,
                                      const char *params, size_t count, double max_keys) {
    const attn_problem_t problem = attnjs_problem(numbers);
    attn_param_t *list = attnjs_params(js, params, count);
    if (!list) return NULL;
    attn_stream_t *stream;
    attn_stream_create(js->context, backend, &problem, list, (uint32_t)count,
                       attnjs_integer(max_keys), &stream, &js->error);
    free(list);
    return stream ? wrap(js, stream, attn_backend_find(js->context, backend)) : NULL;
}

void attnjs_stream_destroy(attnjs_stream_t *stream) {
    if (!stream) return;
    attn_stream_destroy(stream->stream);
    free(stream);
}

static int32_t stream_array(const void *item, uint32_t number, attn_tensor_t *tensor) {
    return attn_stream_array(((const attnjs_stream_t *)item)->stream, number, tensor);
}

attnjs_scope_t attnjs_stream_scope(const attnjs_stream_t *stream) {
    return (attnjs_scope_t){stream, stream_array, stream->backend};
}

static void write_stream(attn_json_t *json, const void *stream) {
    const attnjs_scope_t scope = attnjs_stream_scope(stream);
    attn_json_open(json, NULL, '{');
    attnjs_write_own(json, &scope);
    attn_json_close(json, '}');
}

char *attnjs_stream_describe(attnjs_t *js, attnjs_stream_t *stream) {
    return attnjs_json(js, "the description of the stream", write_stream, stream);
}

double attnjs_stream_length(attnjs_t *js, attnjs_stream_t *stream) {
    (void)js;
    return (double)attn_stream_length(stream->stream);
}

double attnjs_stream_memory(attnjs_t *js, attnjs_stream_t *stream) {
    (void)js;
    return (double)attn_stream_memory(stream->stream);
}

attn_status_t attnjs_stream_append(attnjs_t *js, attnjs_stream_t *stream, const double *list) {
    const attnjs_scope_t scope = attnjs_stream_scope(stream);
    attnjs_arrays_t arrays;
    const attn_status_t status = attnjs_arrays(&scope, list, &arrays, &js->error);
    return status == ATTN_OK ? attn_stream_append(stream->stream, &arrays.io, &js->error) : status;
}

double attnjs_stream_query(attnjs_t *js, attnjs_stream_t *stream, const double *list) {
    const attnjs_scope_t scope = attnjs_stream_scope(stream);
    attn_report_t report = {.struct_size = sizeof report};
    attnjs_arrays_t arrays;
    attn_status_t status = attnjs_arrays(&scope, list, &arrays, &js->error);
    arrays.io.report = &report;
    if (status == ATTN_OK) status = attn_stream_query(stream->stream, &arrays.io, &js->error);
    return status == ATTN_OK ? (double)report.degenerate_rows : -1;
}

attnjs_stream_t *attnjs_stream_fork(attnjs_t *js, attnjs_stream_t *stream) {
    attn_stream_t *copy;
    if (attn_stream_fork(stream->stream, &copy, &js->error) != ATTN_OK) return NULL;
    return wrap(js, copy, stream->backend);
}

attn_status_t attnjs_stream_truncate(attnjs_t *js, attnjs_stream_t *stream, double length) {
    return attn_stream_truncate(stream->stream, attnjs_integer(length), &js->error);
}

double attnjs_stream_save(attnjs_t *js, attnjs_stream_t *stream, void *bytes, size_t size) {
    (void)js;
    return (double)attn_stream_save(stream->stream, bytes, size);
}

attn_status_t attnjs_stream_restore(attnjs_t *js, attnjs_stream_t *stream, const void *bytes,
                                    size_t size) {
    return attn_stream_restore(stream->stream, bytes, size, &js->error);
}
