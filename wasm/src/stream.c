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
                                      const char *params, size_t count, double max_keys) {
    const attn_problem_t problem = attnjs_problem(numbers);
    attn_param_t *list = attnjs_params(js, params, count);
    if (!list) return NULL;
    attn_stream_t *stream;
    attn_stream_create(js->context, backend, &problem, list, (uint32_t)count,
                       attnjs_integer(max_keys), &stream, &js->error);
    free(list);
    return stream ? wrap(js, stream, &problem) : NULL;
}

void attnjs_stream_destroy(attnjs_stream_t *stream) {
    if (!stream) return;
    attn_stream_destroy(stream->stream);
    free(stream);
}

attn_problem_t attnjs_stream_call(const attnjs_stream_t *stream, double tokens) {
    attn_problem_t problem = stream->problem;
    problem.queries = problem.keys = attnjs_integer(tokens);
    return problem;
}

double attnjs_stream_length(attnjs_t *js, attnjs_stream_t *stream) {
    (void)js;
    return (double)attn_stream_length(stream->stream);
}

double attnjs_stream_memory(attnjs_t *js, attnjs_stream_t *stream) {
    (void)js;
    return (double)attn_stream_memory(stream->stream);
}

attn_status_t attnjs_stream_append(attnjs_t *js, attnjs_stream_t *stream, double tokens,
                                   const double *arrays) {
    const attn_problem_t call = attnjs_stream_call(stream, tokens);
    const attn_io_t io = attnjs_io(&call, arrays);
    return attn_stream_append(stream->stream, &io, &js->error);
}

double attnjs_stream_query(attnjs_t *js, attnjs_stream_t *stream, double tokens,
                           const double *arrays) {
    const attn_problem_t call = attnjs_stream_call(stream, tokens);
    attn_report_t report = {.struct_size = sizeof report};
    attn_io_t io = attnjs_io(&call, arrays);
    io.report = &report;
    const attn_status_t status = attn_stream_query(stream->stream, &io, &js->error);
    return status == ATTN_OK ? (double)report.degenerate_rows : -1;
}

attnjs_stream_t *attnjs_stream_fork(attnjs_t *js, attnjs_stream_t *stream) {
    attn_stream_t *copy;
    if (attn_stream_fork(stream->stream, &copy, &js->error) != ATTN_OK) return NULL;
    return wrap(js, copy, &stream->problem);
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
