/*
 * functions.c: the functions of the addon: those of src/functions.h that it shares with the modules, and
 * those that are its own.
 */
#include "call.h"
#include "job.h"
#include "plugin.h"
#include "session.h"

/* The sets that it shares. */
#define SHARED_EVERY(...) __VA_ARGS__
#define SHARED_SOFTMAX(...) __VA_ARGS__
#define SHARED_FULL(...) __VA_ARGS__
#define SHARED_MODULE(...)
#define SHARED_PLUGIN(...)
#define SHARED_THREADS(...)
#define SHARED_DATA(...)
#define SHARED_LABS(...)
#define SHARED_MODELS(...)
#define SHARED_TRAINING(...)

/* ---- what calls each of C's functions with the arguments that were read ---------------------- */

#define CALL(result, function, ...)                                                                \
    static void call_##function(addon_call_t *call) { call->result = function(__VA_ARGS__); }
#define CALL_STATUS(function, ...) CALL(result.number, function, __VA_ARGS__)
#define CALL_NUMBER(function, ...) CALL(result.number, function, __VA_ARGS__)
#define CALL_TEXT(function, ...) CALL(result.text, function, __VA_ARGS__)
#define CALL_NAME(function, ...) CALL(result.name, function, __VA_ARGS__)
#define CALL_PLAN(function, ...) CALL(result.plan, function, __VA_ARGS__)
#define CALL_STREAM(function, ...) CALL(result.stream, function, __VA_ARGS__)
#define CALL_END(function, ...)                                                                    \
    static void call_##function(addon_call_t *call) {                                              \
        addon_handle_dispose(call->arguments[0].handle);                                           \
    }

#define FUNCTION(set, result, name, ...) SHARED_##set(CALL_##result(name, __VA_ARGS__))
#define SESSION(position) call->arguments[position].session
#define PLAN(position) call->arguments[position].plan
#define STREAM(position) call->arguments[position].stream
#define PROBLEM(position, name) call->arguments[position].list
#define ARRAYS(position, name) call->arguments[position].list
#define NUMBER(position, name) call->arguments[position].number
#define TEXT(position, name) call->arguments[position].text
#define PAIRS(position, name) call->arguments[position].text
#define BYTES(position, name) call->arguments[position].data
#define ROOM(position, name) call->arguments[position].data
#define FLOATS(position, name) call->arguments[position].data
#define LENGTH(position, name) call->arguments[position].length

#include "functions.h"

/* ---- the addon's own ------------------------------------------------------------------------- */

static void open_session(addon_call_t *call) {
    call->result.value =
        addon_session_open(call->env, call->arguments[0].number, call->arguments[1].text);
}

static void start(addon_call_t *call) {
    call->result.value = addon_job_start(call, call->arguments[3].data);
}

static void load_plugin(addon_call_t *call) {
    call->result.number = addon_plugin_load(call->arguments[0].session, call->arguments[1].text);
}

static void unload_plugin(addon_call_t *call) {
    call->result.number = addon_plugin_unload(call->arguments[0].session, call->arguments[1].text);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define ROW(result, name, ...) {#name, ADDON_GIVE_##result, {__VA_ARGS__}, call_##name},

#define FUNCTION(set, result, name, ...) SHARED_##set(ROW(result, name, __VA_ARGS__))
#define SESSION(position) [position] = ADDON_SESSION
#define PLAN(position) [position] = ADDON_PLAN
#define STREAM(position) [position] = ADDON_STREAM
#define PROBLEM(position, name) [position] = ADDON_PROBLEM
#define ARRAYS(position, name) [position] = ADDON_ARRAYS
#define NUMBER(position, name) [position] = ADDON_NUMBER
#define TEXT(position, name) [position] = ADDON_TEXT
#define PAIRS(position, name) [position] = ADDON_PAIRS
#define BYTES(position, name) [position] = ADDON_BYTES
#define ROOM(position, name) [position] = ADDON_ROOM
#define FLOATS(position, name) [position] = ADDON_FLOATS
#define LENGTH(position, name) [position] = ADDON_LENGTH

const addon_function_t addon_functions[] = {
    {"attnjs_open", ADDON_GIVE_VALUE, {ADDON_NUMBER, ADDON_MAYBE}, open_session},
    {"attnjs_start",
     ADDON_GIVE_VALUE,
     {ADDON_SESSION, ADDON_PLAN, ADDON_ARRAYS, ADDON_FLAG},
     start},
    {"attnjs_plugin_load", ADDON_GIVE_STATUS, {ADDON_SESSION, ADDON_TEXT}, load_plugin},
    {"attnjs_plugin_unload", ADDON_GIVE_STATUS, {ADDON_SESSION, ADDON_TEXT}, unload_plugin},
#include "functions.h"
};

const size_t addon_function_count = sizeof addon_functions / sizeof *addon_functions;
