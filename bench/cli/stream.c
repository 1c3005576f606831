/* cli/stream.c: see stream.h. */
#include "cli/stream.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Rows [first, first + count) of a tensor; of one that is absent, nothing. */
static attn_tensor_t rows(const attn_tensor_t *tensor, int64_t first, int64_t count) {
    attn_tensor_t part = *tensor;
    if (!part.data) return part;
    part.data = (char *)part.data + first * part.stride[2] * attn_dtype_size(part.dtype);
    part.shape[2] = count;
    return part;
}

static attn_status_t append(attn_stream_t *stream, trial_t *trial, int64_t first, int64_t count) {
    const attn_io_t io = {
        .struct_size = sizeof io,
        .key = rows(&trial->io.key, first, count),
        .value = rows(&trial->io.value, first, count),
    };
    return attn_stream_append(stream, &io, &trial->error);
}

static attn_status_t ask(attn_stream_t *stream, trial_t *trial, int64_t first, int64_t count) {
    attn_report_t report = {.struct_size = sizeof report};
    const attn_io_t io = {
        .struct_size = sizeof io,
        .query = rows(&trial->io.query, first, count),
        .out = rows(&trial->io.out, first, count),
        .lse = rows(&trial->io.lse, first, count),
        .report = &report,
    };
    const attn_status_t status = attn_stream_query(stream, &io, &trial->error);
    trial->report.degenerate_rows += report.degenerate_rows;
    return status;
}

/* First the keys before the first query, then each chunk of keys with its queries. */
static attn_status_t feed(attn_stream_t *stream, trial_t *trial, int64_t before, int64_t chunk) {
    const int64_t queries = attn_plan_problem(trial->plan)->queries;
    attn_status_t status = ATTN_OK;
    for (int64_t done = 0; !status && done < before; done += chunk)
        status = append(stream, trial, done, least(chunk, before - done));
    for (int64_t done = 0; !status && done < queries; done += chunk) {
        const int64_t count = least(chunk, queries - done);
        status = append(stream, trial, before + done, count);
        if (!status) status = ask(stream, trial, done, count);
    }
    return status;
}

attn_status_t stream_run(trial_t *trial, const attn_context_t *context, const settings_t *settings,
                         int64_t chunk, uint64_t *memory) {
    const attn_problem_t *posed = attn_plan_problem(trial->plan);
    const int64_t before = attn_query_position(posed, posed->keys, 0);
    attn_problem_t problem = *posed;
    problem.past = 0;
    if (problem.causal == ATTN_CAUSAL_NONE && problem.window_right != 0)
        return attn_fail(&trial->error, ATTN_ERROR_UNSUPPORTED,
                         "--stream needs --causal: without it queries see tokens that come later");
    if (trial->io.scores.data)
        return attn_fail(&trial->error, ATTN_ERROR_UNSUPPORTED, "--stream has no --scores");
    if (before < 0 || posed->queries > posed->keys - before)
        return attn_fail(&trial->error, ATTN_ERROR_SHAPE,
                         "--stream: %lld queries from position %lld on, and only %lld keys",
                         (long long)posed->queries, (long long)before, (long long)posed->keys);
    parameters_t parameters;
    settings_parameters(settings, trial->backend, &parameters);
    attn_stream_t *stream;
    attn_status_t status =
        attn_stream_create(context, trial->backend->id, &problem, parameters.params,
                           parameters.count, posed->keys, &stream, &trial->error);
    if (!status) status = feed(stream, trial, before, chunk);
    *memory = attn_stream_memory(stream);
    attn_stream_destroy(stream);
    return status;
}
