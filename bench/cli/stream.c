/* cli/stream.c: see stream.h. */
#include "cli/stream.h"

#include "attn/support.h"

#include <math.h>
#include <stdio.h>

/* The arrays of one append or one query. */
typedef struct call {
    attn_io_t io;
    attn_tensor_t own[ATTN_MOST_OWN_ARRAYS];
    const attn_tensor_t *list[ATTN_MOST_OWN_ARRAYS];
} call_t;

static int has_axis(const attn_array_info_t *info, int32_t axis) {
    for (int k = 0; k < 4; k++)
        if (info->axes[k] == axis) return 1;
    return 0;
}

/* Whether an append has the array, or else a query (attn/ext/stream.h). */
static int is_appended(const attn_array_info_t *info) {
    return has_axis(info, ATTN_AXIS_KEYS) && !has_axis(info, ATTN_AXIS_QUERIES);
}

/* Numbers [first, first + count) of the axis that counts `axis`; of an array without it, or the same for all, all. */
static attn_tensor_t part(const attn_tensor_t *tensor, const attn_array_info_t *info, int32_t axis,
                          int64_t first, int64_t count) {
    attn_tensor_t part = *tensor;
    for (int k = 0; k < 4; k++) {
        if (info->axes[k] != axis || part.shape[k] == 1) continue;
        part.data = (char *)part.data + first * part.stride[k] * attn_dtype_size(part.dtype);
        part.shape[k] = count;
    }
    return part;
}

/* Of the runner's arrays those of an append of so many tokens, or else of a query. */
static void take(call_t *call, runner_t *runner, int appends, int64_t first, int64_t count) {
    const int32_t axis = appends ? ATTN_AXIS_KEYS : ATTN_AXIS_QUERIES;
    attn_array_info_t info = {.struct_size = sizeof info};
    *call = (call_t){.io = {.struct_size = sizeof call->io}};
    call->io.own = call->list;
    for (uint32_t i = 0; attn_backend_array(runner->backend, i, &info); i++) {
        const uint32_t own = i - ATTN_ARRAY_OWN;
        const attn_tensor_t *whole =
            i < ATTN_ARRAY_OWN ? attn_io_array(&runner->io, i) : runner->own[own];
        if (!whole || !whole->data || is_appended(&info) != appends) continue;
        const attn_tensor_t tensor = part(whole, &info, axis, first, count);
        if (i < ATTN_ARRAY_OWN) {
            *attn_io_array(&call->io, i) = tensor;
            continue;
        }
        call->own[own] = tensor;
        call->list[own] = &call->own[own];
        call->io.own_count = own + 1;
    }
}

static attn_status_t append(attn_stream_t *stream, runner_t *runner, int64_t first, int64_t count) {
    call_t call;
    take(&call, runner, 1, first, count);
    return attn_stream_append(stream, &call.io, &runner->error);
}

static attn_status_t ask(attn_stream_t *stream, runner_t *runner, int64_t first, int64_t count) {
    attn_report_t report = {.struct_size = sizeof report};
    call_t call;
    take(&call, runner, 0, first, count);
    call.io.report = &report;
    const attn_status_t status = attn_stream_query(stream, &call.io, &runner->error);
    runner->report.degenerate_rows += report.degenerate_rows;
    return status;
}

/* First the keys before the first query, then each chunk of keys with its queries. */
static attn_status_t feed(attn_stream_t *stream, runner_t *runner, int64_t before, int64_t chunk) {
    const int64_t queries = attn_plan_problem(runner->plan)->queries;
    attn_status_t status = ATTN_OK;
    for (int64_t done = 0; !status && done < before; done += chunk)
        status = append(stream, runner, done, attn_min(chunk, before - done));
    for (int64_t done = 0; !status && done < queries; done += chunk) {
        const int64_t count = attn_min(chunk, queries - done);
        status = append(stream, runner, before + done, count);
        if (!status) status = ask(stream, runner, done, count);
    }
    return status;
}

/* An output that is not of queries is of all keys, and so of the last query's alone where that sees them all. */
static attn_status_t check_outputs(runner_t *runner, int64_t seen) {
    attn_array_info_t info = {.struct_size = sizeof info};
    const int64_t keys = attn_plan_problem(runner->plan)->keys;
    for (uint32_t i = 0; i < ATTN_MOST_OWN_ARRAYS; i++)
        if (runner->own[i] && seen < keys &&
            attn_backend_array(runner->backend, ATTN_ARRAY_OWN + i, &info) &&
            info.role == ATTN_ROLE_OUTPUT && !has_axis(&info, ATTN_AXIS_QUERIES))
            return attn_fail(&runner->error, ATTN_ERROR_UNSUPPORTED,
                             "--stream: output '%.60s' is of all %lld keys, and the last query "
                             "comes with key %lld",
                             info.name, (long long)keys, (long long)seen);
    return ATTN_OK;
}

/* An empty stream for the runner's problem, whose first query comes with token number `*first`. */
static attn_status_t open_stream(runner_t *runner, const attn_context_t *context,
                                 const settings_t *settings, int64_t *first,
                                 attn_stream_t **stream) {
    const attn_problem_t *planned = attn_plan_problem(runner->plan);
    const int64_t before = *first = attn_query_position(planned, planned->keys, 0);
    attn_problem_t problem = *planned;
    problem.past = 0;
    if (problem.causal == ATTN_CAUSAL_NONE && problem.window_right != 0)
        return attn_fail(&runner->error, ATTN_ERROR_UNSUPPORTED,
                         "--stream needs --causal: without it queries see tokens that come later");
    if (runner->io.scores.data)
        return attn_fail(&runner->error, ATTN_ERROR_UNSUPPORTED, "--stream has no --scores");
    if (before < 0 || planned->queries > planned->keys - before)
        return attn_fail(&runner->error, ATTN_ERROR_SHAPE,
                         "--stream: %lld queries from position %lld on, and only %lld keys",
                         (long long)planned->queries, (long long)before, (long long)planned->keys);
    parameters_t parameters;
    settings_parameters(settings, runner->backend, &parameters);
    const attn_status_t status = check_outputs(runner, before + planned->queries);
    if (status) return status;
    return attn_stream_create(context, runner->backend->id, &problem, parameters.params,
                              parameters.count, planned->keys, stream, &runner->error);
}

attn_status_t stream_run(runner_t *runner, const attn_context_t *context,
                         const settings_t *settings, int64_t chunk, uint64_t *memory) {
    attn_stream_t *stream = NULL;
    int64_t before;
    attn_status_t status = open_stream(runner, context, settings, &before, &stream);
    if (!status) status = feed(stream, runner, before, chunk);
    *memory = attn_stream_memory(stream);
    attn_stream_destroy(stream);
    return status;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Starts anew and answers all queries, each after its token; adds up the seconds of that. */
static attn_status_t decode(attn_stream_t *stream, runner_t *runner, int64_t before,
                            double *seconds) {
    const int64_t queries = attn_plan_problem(runner->plan)->queries;
    attn_status_t status = attn_stream_truncate(stream, 0, &runner->error);
    if (!status && before) status = append(stream, runner, 0, before);
    *seconds = 0;
    for (int64_t i = 0; !status && i < queries; i++) {
        call_t token, question;
        take(&token, runner, 1, before + i, 1);
        take(&question, runner, 0, i, 1);
        const double start = measure_clock();
        status = attn_stream_append(stream, &token.io, &runner->error);
        if (!status) status = attn_stream_query(stream, &question.io, &runner->error);
        *seconds += measure_clock() - start;
    }
    return status;
}

enum { SAMPLES = 1000 };

attn_status_t stream_time(runner_t *runner, const attn_context_t *context,
                          const settings_t *settings, double budget, int64_t *before,
                          measure_t *time) {
    attn_stream_t *stream = NULL;
    double samples[SAMPLES];
    int64_t count = 0;
    attn_status_t status = open_stream(runner, context, settings, before, &stream);
    const double start = measure_clock();
    if (!status) status = decode(stream, runner, *before, &samples[0]); /* to warm up */
    while (!status && count < SAMPLES && (!count || measure_clock() - start < budget))
        status = decode(stream, runner, *before, &samples[count++]);
    attn_stream_destroy(stream);
    if (!status) *time = measure_interval(samples, count);
    return status;
}

/* ---- kernel ---------------------------------------------------------------------------------- */

/* A stream plans for the queries of a call, the last of which sees all keys. */
attn_status_t stream_name_kernel(runner_t *runner, const attn_context_t *context,
                                 const settings_t *settings, int64_t queries) {
    attn_problem_t problem = *attn_plan_problem(runner->plan);
    parameters_t parameters;
    attn_plan_t *plan = NULL;
    problem.queries = attn_min(queries, problem.queries);
    problem.past = 0;
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    settings_parameters(settings, runner->backend, &parameters);
    const attn_status_t status =
        attn_plan_create(context, runner->backend->id, &problem, parameters.params,
                         parameters.count, &plan, &runner->error);
    if (!status) snprintf(runner->kernel, sizeof runner->kernel, "%s", attn_plan_kernel(plan));
    attn_plan_destroy(plan);
    return status;
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { TOKENS = 64 };

double stream_bytes(runner_t *runner, const attn_context_t *context, const settings_t *settings) {
    const int64_t keys = runner->io.key.shape[2];
    attn_problem_t problem = *attn_plan_problem(runner->plan);
    parameters_t parameters;
    attn_stream_t *stream = NULL;
    problem.past = 0;
    settings_parameters(settings, runner->backend, &parameters);
    attn_status_t status =
        attn_stream_create(context, runner->backend->id, &problem, parameters.params,
                           parameters.count, keys, &stream, &runner->error);
    for (int64_t done = 0; !status && done < keys;
         done += TOKENS) /* few, as room for them counts */
        status = append(stream, runner, done, attn_min(TOKENS, keys - done));
    const double bytes = status ? NAN : (double)attn_stream_memory(stream);
    attn_stream_destroy(stream);
    return bytes;
}
