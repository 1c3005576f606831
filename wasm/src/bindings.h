/*
 * bindings.h: the C side of the npm package: attn/attn.h as flat functions for js/. They stand in
 * functions.h.
 *
 * Only numbers cross: sizes as doubles (every integer that is exact in JavaScript is exact here),
 * arrays as addresses, lists of parameters as packed text, descriptions as JSON. So js/ knows no
 * struct layout of the C side, and of its constants those of attn/types.h, which are ABI.
 *
 * When a function has failed, the session holds the error.
 */
#ifndef ATTNJS_BINDINGS_H
#define ATTNJS_BINDINGS_H

#include "attn/attn.h"
#include "threads.h"
#include "json/json.h"

/** Changes whenever a function does; js/ refuses a module with another number. */
#define ATTNJS_INTERFACE 7

/** One per instance of the module: the context and what the last call had to say. */
typedef struct attnjs {
    attn_context_t *context;
    attn_error_t error;
    attnjs_pool_t *pool; /* NULL: no threads */
    void *workspace;     /* for runs to which it is large enough; NULL: none, each has its own */
    size_t workspace_size;
} attnjs_t;

/** A stream with the problem it was made for. */
typedef struct attnjs_stream attnjs_stream_t;

/** One panel of an experiment with its settings, and its points once it has begun. */
typedef struct attnlabs_run attnlabs_run_t;

/* ---- prototypes ------------------------------------------------------------------------------ */

#define ATTNJS_RESULT_STATUS attn_status_t
#define ATTNJS_RESULT_NUMBER double
#define ATTNJS_RESULT_TEXT char *
#define ATTNJS_RESULT_NAME const char *
#define ATTNJS_RESULT_SESSION attnjs_t *
#define ATTNJS_RESULT_PLAN attn_plan_t *
#define ATTNJS_RESULT_STREAM attnjs_stream_t *
#define ATTNJS_RESULT_RUN attnlabs_run_t *
#define ATTNJS_RESULT_ADDRESS void *
#define ATTNJS_RESULT_NOTHING void
#define ATTNJS_RESULT_END void

#define FUNCTION(set, result, name, ...) ATTNJS_RESULT_##result name(__VA_ARGS__);
#define NONE void
#define SESSION(position) attnjs_t *js
#define PLAN(position) attn_plan_t *plan
#define STREAM(position) attnjs_stream_t *stream
#define RUN(position) attnlabs_run_t *run
#define PROBLEM(position, name) const double *name
#define ARRAYS(position, name) const double *name
#define NUMBER(position, name) double name
#define TOKENS(position, name) double name
#define COUNT(position, name) uint32_t name
#define LENGTH(position, name) size_t name
#define TEXT(position, name) const char *name
#define PAIRS(position, name) const char *name
#define BYTES(position, name) const void *name
#define ROOM(position, name) void *name
#define FLOATS(position, name) float *name
#define DOUBLES(position, name) double *name
#define ADDRESS(position, name) void *name

#include "functions.h"

/* ---- shared.c ------------------------------------------------------------------------------ */

/** Say which memory there was none for. */
attn_status_t attnjs_no_memory(attnjs_t *js, const char *what);

/** What `write` writes about `subject`, twice: to count it, and to memory of that size. */
char *attnjs_json(attnjs_t *js, const char *what, void (*write)(attn_json_t *, const void *subject),
                  const void *subject);

/* ---- arrays.c -------------------------------------------------------------------------------- */

/** The arrays of a run in numbers: addresses, 0 where there is none, then the first three extents of
 *  bias and mask, whose last is `keys`, then in elements the strides of query, key, value and out. */
enum {
    ATTNJS_QUERY,
    ATTNJS_KEY,
    ATTNJS_VALUE,
    ATTNJS_OUT,
    ATTNJS_LSE,
    ATTNJS_BIAS,
    ATTNJS_MASK,
    ATTNJS_KV_LENGTHS,
    ATTNJS_SINKS,
    ATTNJS_SLOPES,
    ATTNJS_KEY_SCALES,
    ATTNJS_VALUE_SCALES,
    ATTNJS_SCORES,
    ATTNJS_ARRAYS,
    ATTNJS_BIAS_SHAPE = ATTNJS_ARRAYS,
    ATTNJS_MASK_SHAPE = ATTNJS_BIAS_SHAPE + 3,
    ATTNJS_STRIDES = ATTNJS_MASK_SHAPE + 3,
    ATTNJS_LIST = ATTNJS_STRIDES + 4 * 4
};

/** js/ refuses what is no integer that a double holds exactly, so that only those come here. Others would
 *  become -1, which the core refuses as a size; as a stride or a window it could not tell. */
static inline int64_t attnjs_integer(double x) {
    return x >= -0x1p53 && x <= 0x1p53 ? (int64_t)x : -1;
}

/** They as the core takes them, for a problem of these sizes. */
attn_io_t attnjs_io(const attn_problem_t *problem, const double *list);

/* ---- plan.c ---------------------------------------------------------------------------------- */

/** A problem in numbers, in this order. */
enum {
    ATTNJS_BATCH,
    ATTNJS_HEADS,
    ATTNJS_KV_HEADS,
    ATTNJS_QUERIES,
    ATTNJS_KEYS,
    ATTNJS_DIM,
    ATTNJS_VALUE_DIM,
    ATTNJS_CAUSAL, /* enum attn_causal_code */
    ATTNJS_SCALE,  /* NaN: the backend's default */
    ATTNJS_PAST,
    ATTNJS_WINDOW_LEFT,
    ATTNJS_WINDOW_RIGHT,
    ATTNJS_SOFTCAP,
    ATTNJS_SCORES_MODE, /* enum attn_scores_code */
    ATTNJS_INPUTS,      /* enum attn_input_bits */
    ATTNJS_DTYPE,       /* enum attn_dtype_code */
    ATTNJS_KV_DTYPE,
    ATTNJS_NUMBERS
};

attn_problem_t attnjs_problem(const double *numbers);

/** Packed parameters as the core takes them: a list to be freed, which points into `packed`, or NULL. */
attn_param_t *attnjs_params(attnjs_t *js, const char *packed, size_t count);

/** The problem of a stream's call, whose arrays have so many tokens. */
attn_problem_t attnjs_stream_call(const attnjs_stream_t *stream, double tokens);

#endif
