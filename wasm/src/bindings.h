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
#include "attn/ext/inputs.h"
#include "threads.h"
#include "json/json.h"

/** Changes whenever a function does; js/ refuses a module with another number. */
#define ATTNJS_INTERFACE 8

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

/** A trained model, and what it said last. */
typedef struct attnmodel attnmodel_t;

/** A model that learns. */
typedef struct attnstudy attnstudy_t;

/* ---- prototypes ------------------------------------------------------------------------------ */

#define ATTNJS_RESULT_STATUS attn_status_t
#define ATTNJS_RESULT_NUMBER double
#define ATTNJS_RESULT_TEXT char *
#define ATTNJS_RESULT_NAME const char *
#define ATTNJS_RESULT_SESSION attnjs_t *
#define ATTNJS_RESULT_PLAN attn_plan_t *
#define ATTNJS_RESULT_STREAM attnjs_stream_t *
#define ATTNJS_RESULT_RUN attnlabs_run_t *
#define ATTNJS_RESULT_MODEL attnmodel_t *
#define ATTNJS_RESULT_STUDY attnstudy_t *
#define ATTNJS_RESULT_ADDRESS void *
#define ATTNJS_RESULT_NOTHING void
#define ATTNJS_RESULT_END void

#define FUNCTION(set, result, name, ...) ATTNJS_RESULT_##result name(__VA_ARGS__);
#define NONE void
#define SESSION(position) attnjs_t *js
#define PLAN(position) attn_plan_t *plan
#define STREAM(position) attnjs_stream_t *stream
#define RUN(position) attnlabs_run_t *run
#define MODEL(position) attnmodel_t *model
#define STUDY(position) attnstudy_t *study
#define PROBLEM(position, name) const double *name
#define ARRAYS(position, name) const double *name
#define NUMBER(position, name) double name
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

/** The arrays of a run in numbers: how many there are, and a record of each. */
enum {
    ATTNJS_NUMBER,  /* enum attn_array_number; the backend's own from ATTN_ARRAY_OWN on */
    ATTNJS_ADDRESS, /* of its first element */
    ATTNJS_SHAPE,
    ATTNJS_STRIDES = ATTNJS_SHAPE + 4, /* in elements */
    ATTNJS_RECORD = ATTNJS_STRIDES + 4,
    ATTNJS_MOST_ARRAYS = ATTN_ARRAY_OWN + ATTN_MOST_OWN_ARRAYS,
    ATTNJS_LIST = 1 + ATTNJS_MOST_ARRAYS * ATTNJS_RECORD
};

/** js/ refuses what is no integer that a double holds exactly, so that only those come here. Others would
 *  become -1, which the core refuses as a size; as a stride or a window it could not tell. */
static inline int64_t attnjs_integer(double x) {
    return x >= -0x1p53 && x <= 0x1p53 ? (int64_t)x : -1;
}

/** What a call's arrays are declared by: a plan, or a stream. */
typedef struct attnjs_scope {
    const void *item;
    /** What array number `number` is; 0: there is none. */
    int32_t (*array)(const void *item, uint32_t number, attn_tensor_t *tensor);
    const attn_backend_t *backend;
} attnjs_scope_t;

attnjs_scope_t attnjs_plan_scope(const attn_plan_t *plan);
attnjs_scope_t attnjs_stream_scope(const attnjs_stream_t *stream);

/** "own": the shapes of the backend-specific tensors. */
void attnjs_write_own(attn_json_t *json, const attnjs_scope_t *scope);

/** They as the core takes them: `io` points into the others. */
typedef struct attnjs_arrays {
    attn_io_t io;
    const attn_tensor_t *own[ATTN_MOST_OWN_ARRAYS];
    attn_tensor_t tensors[ATTN_MOST_OWN_ARRAYS];
} attnjs_arrays_t;

attn_status_t attnjs_arrays(const attnjs_scope_t *scope, const double *list,
                            attnjs_arrays_t *arrays, attn_error_t *error);
/** Array number `number` of them; NULL past the last that there can be. */
attn_tensor_t *attnjs_array(attnjs_arrays_t *arrays, uint32_t number);

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
    ATTNJS_OWN_INPUTS, /* bit i: the backend-specific tensor number i */
    ATTNJS_NUMBERS
};

attn_problem_t attnjs_problem(const double *numbers);

/** Packed parameters as the core takes them: a list to be freed, which points into `packed`, or NULL. */
attn_param_t *attnjs_params(attnjs_t *js, const char *packed, size_t count);

#endif
