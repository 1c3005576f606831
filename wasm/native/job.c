/*
 * job.c: runs beside JavaScript's thread, in libuv's pool.
 *
 * A job keeps references to its arrays, so that they are not collected, and holds its plan, so that
 * dispose() waits for it. What JavaScript could transfer or resize meanwhile, and so free, is not among
 * them: js/native/loan.js gives copies, or shared memory. What the run has to say goes to the job: the
 * session's error belongs to JavaScript's thread.
 */
#include "job.h"
#include "session.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    attnjs_t js;       /* a session for this run alone, in the same context */
    attnjs_t *session; /* has its workspace before and after */
    addon_handle_t *handle;
    double rows; /* degenerate ones; below 0: it failed */
    double list[ATTNJS_LIST];
    const addon_stop_t *stop; /* NULL: nobody can stop it */
    napi_ref arrays;
    napi_deferred deferred;
    napi_async_work work;
} job_t;

static bool is_stopped(const job_t *job) { return job->stop && atomic_load(job->stop) != 0; }

static void execute(napi_env env, void *data) {
    job_t *job = data;
    (void)env;
    if (is_stopped(job)) return;
    addon_stop_watch(job->stop);
    job->rows = attnjs_run(&job->js, job->handle->item, job->list);
    addon_stop_watch(NULL);
}

static napi_value error_of(napi_env env, const char *code, const char *message) {
    napi_value texts[2], error = NULL;
    napi_create_string_utf8(env, code, NAPI_AUTO_LENGTH, &texts[0]);
    napi_create_string_utf8(env, message, NAPI_AUTO_LENGTH, &texts[1]);
    napi_create_error(env, texts[0], texts[1], &error);
    return error;
}

static void settle(napi_env env, job_t *job, bool ran) {
    napi_value rows;
    if (!ran || is_stopped(job)) {
        napi_reject_deferred(env, job->deferred, error_of(env, "ATTN_STOPPED", "stopped"));
    } else if (job->rows < 0) {
        napi_reject_deferred(env, job->deferred,
                             error_of(env, attnjs_error_code(&job->js), job->js.error.message));
    } else {
        napi_create_double(env, job->rows, &rows);
        napi_resolve_deferred(env, job->deferred, rows);
    }
}

/* Also where nothing was queued: what is NULL was not made. */
static void destroy(napi_env env, job_t *job) {
    if (job->work) napi_delete_async_work(env, job->work);
    if (job->arrays) napi_delete_reference(env, job->arrays);
    addon_workspace_move(job->session, &job->js);
    addon_handle_release(job->handle); /* last: the session may go with it */
    free(job);
}

static void complete(napi_env env, napi_status status, void *data) {
    settle(env, data, status == napi_ok);
    destroy(env, data);
}

/* A reference to all that the job uses: the plan, the list, the flag. */
static napi_status keep(const addon_call_t *call, job_t *job) {
    napi_value all;
    napi_status status = napi_create_array_with_length(call->env, 3, &all);
    for (uint32_t i = 0; i < 3 && status == napi_ok; i++)
        status = napi_set_element(call->env, all, i, call->values[1 + i]);
    return status == napi_ok ? napi_create_reference(call->env, all, 1, &job->arrays) : status;
}

static napi_value no_memory(const addon_call_t *call) {
    napi_value failed = NULL;
    attnjs_no_memory(call->arguments[0].session, "a job");
    napi_create_double(call->env, -1, &failed);
    return failed;
}

/* The promise comes last but one: one that was made is settled. */
static napi_value queue(const addon_call_t *call, job_t *job) {
    napi_env env = call->env;
    napi_value promise, name;
    if (keep(call, job) == napi_ok &&
        napi_create_string_utf8(env, "libattn", NAPI_AUTO_LENGTH, &name) == napi_ok &&
        napi_create_async_work(env, NULL, name, execute, complete, job, &job->work) == napi_ok &&
        napi_create_promise(env, &job->deferred, &promise) == napi_ok) {
        if (napi_queue_async_work(env, job->work) == napi_ok) return promise;
        settle(env, job, false);
        destroy(env, job);
        return promise;
    }
    destroy(env, job);
    return no_memory(call);
}

napi_value addon_job_start(const addon_call_t *call, const addon_stop_t *stop) {
    attnjs_t *session = call->arguments[0].session;
    job_t *job = calloc(1, sizeof *job);
    if (!job) return no_memory(call);
    job->js.context = session->context;
    job->session = session;
    addon_workspace_move(&job->js, session);
    job->handle = call->plan;
    job->stop = stop;
    memcpy(job->list, call->lists[0], sizeof job->list);
    addon_handle_hold(job->handle);
    return queue(call, job);
}
