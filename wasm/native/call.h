/*
 * call.h: one call from JavaScript: its arguments, checked as the list of functions says
 * (src/functions.h), and its result.
 *
 * js/ checks what users give. What is checked here again is what memory safety hangs on: that handles are
 * alive and of the right kind, and arrays long enough.
 */
#ifndef ATTNJS_CALL_H
#define ATTNJS_CALL_H

#include "handle.h"

#include "bindings.h"

enum {
    ADDON_ARGUMENTS = 9,
    ADDON_FIRST_LIST = 2, /* which argument is a first list of arrays; a second follows it */
    ADDON_LISTS = 2,      /* that a function has at most */
};

/** Kinds of arguments, by src/functions.h, and of what only the addon's own functions take. */
typedef enum addon_kind {
    ADDON_NONE,
    ADDON_SESSION,
    ADDON_PLAN,
    ADDON_STREAM,
    ADDON_PROBLEM,
    ADDON_ARRAYS,
    ADDON_NUMBER,
    ADDON_TEXT,
    ADDON_PAIRS,
    ADDON_BYTES,
    ADDON_ROOM,
    ADDON_FLOATS,
    ADDON_LENGTH,
    ADDON_MAYBE, /* a text, or none */
    ADDON_FLAG,  /* 32 bits, or none */
} addon_kind_t;

typedef enum addon_result {
    ADDON_GIVE_END, /* nothing: the one argument is disposed */
    ADDON_GIVE_STATUS,
    ADDON_GIVE_NUMBER,
    ADDON_GIVE_TEXT,
    ADDON_GIVE_NAME,
    ADDON_GIVE_PLAN,
    ADDON_GIVE_STREAM,
    ADDON_GIVE_VALUE /* as it is */
} addon_result_t;

/** An argument as C takes it. */
typedef union addon_argument {
    attnjs_t *session;
    addon_handle_t *handle;
    attn_plan_t *plan;
    attnjs_stream_t *stream;
    const double *list;
    double number;
    const char *text;
    size_t length;
    void *data; /* of an array */
} addon_argument_t;

typedef struct addon_call {
    napi_env env;
    size_t count;
    napi_value values[ADDON_ARGUMENTS];
    addon_argument_t arguments[ADDON_ARGUMENTS];
    addon_handle_t *session, *plan;         /* where these are among the arguments */
    attnjs_scope_t scope;                   /* of the arrays */
    double lists[ADDON_LISTS][ATTNJS_LIST]; /* of arrays, from argument ADDON_FIRST_LIST on */
    attn_status_t status;                   /* not 0: the session has the error */
    union {
        double number;
        char *text;
        const char *name;
        attn_plan_t *plan;
        attnjs_stream_t *stream;
        napi_value value;
    } result;
} addon_call_t;

/** A function of the addon. */
typedef struct addon_function {
    const char *name;
    addon_result_t result;
    addon_kind_t kinds[ADDON_ARGUMENTS]; /* ADDON_NONE behind the last */
    void (*call)(addon_call_t *call);
} addon_function_t;

/** What all functions are in JavaScript; the data of the callback is the addon_function_t. */
napi_value addon_call(napi_env env, napi_callback_info info);

/** All there are. */
extern const addon_function_t addon_functions[];
extern const size_t addon_function_count;

#endif
