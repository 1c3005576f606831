/*
 * bindings.h: the C side of the npm package: attn/attn.h as flat functions for js/.
 *
 * Only numbers cross: sizes as doubles (every integer that is exact in JavaScript is exact here),
 * arrays as addresses, lists of parameters as packed text, descriptions as JSON. So js/ knows no
 * struct layout of the C side, and of its constants those of attn/types.h, which are ABI.
 *
 * A function that returns a status or an address has failed when it returns not 0, or 0; the
 * session then holds the error. Texts that are returned are the caller's, to be freed, except for
 * those of attnjs_error_code() and attnjs_error_message().
 */
#ifndef ATTNJS_BINDINGS_H
#define ATTNJS_BINDINGS_H

#include "attn/attn.h"
#include "threads.h"
#include "json/json.h"

/** Changes whenever a function here does; js/session.js refuses a module with another number. */
#define ATTNJS_INTERFACE 4

/** One per instance of the module: the context and what the last call had to say. */
typedef struct attnjs {
    attn_context_t *context;
    attn_error_t error;
    attn_report_t report;
    attnjs_team_t *team; /* NULL: no threads */
    void *workspace;     /* for runs to which it is large enough; NULL: none, each has its own */
    size_t workspace_size;
} attnjs_t;

/* ---- session.c ------------------------------------------------------------------------------- */

int32_t attnjs_interface(void);
attnjs_t *attnjs_open(void);
/** In the build with threads alone: with so many workers, of which the caller is the first; in a
 *  browser's window it may not sleep. js/ starts the others, in attnjs_work(attnjs_team()). */
attnjs_t *attnjs_open_threads(double workers, double may_sleep);
attnjs_team_t *attnjs_team(const attnjs_t *js);
void attnjs_close(attnjs_t *js);
const char *attnjs_error_code(const attnjs_t *js);
const char *attnjs_error_message(const attnjs_t *js);

/** Memory aligned to ATTN_ALIGNMENT, or NULL, also for more bytes than there are addresses. */
void *attnjs_allocate(double bytes);
void attnjs_free(void *memory);

/** Say which memory there was none for. */
attn_status_t attnjs_no_memory(attnjs_t *js, const char *what);

/** What `write` writes about `subject`, twice: to count it, and to memory of that size. */
char *attnjs_json(attnjs_t *js, const char *what, void (*write)(attn_json_t *, const void *subject),
                  const void *subject);

/** {"version", "build", "tier"} as JSON. */
char *attnjs_about(attnjs_t *js);
/** The array of attn_describe(). */
char *attnjs_backends(attnjs_t *js);

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

/** js/ passes integers only; whatever else comes is no size, and the checks say so. */
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

/** `params`: name and value by turns, each ended by a zero, `count` pairs. */
attn_plan_t *attnjs_plan_create(attnjs_t *js, const char *backend, const double *problem,
                                const char *params, uint32_t count);
void attnjs_plan_destroy(attn_plan_t *plan);

/** {"kernel", "workspaceBytes", "cost", "facts"} as JSON; cost is null where the backend has none. */
char *attnjs_plan_describe(attnjs_t *js, const attn_plan_t *plan);

attn_status_t attnjs_run(attnjs_t *js, const attn_plan_t *plan, const double *arrays);
/** Of the last run that succeeded. */
double attnjs_degenerate_rows(const attnjs_t *js);

/** Writes count x keys weights to `rows`. */
attn_status_t attnjs_weights(attnjs_t *js, const attn_plan_t *plan, const double *arrays,
                             double batch, double head, double first, double count, float *rows);

/** The relative error of `out` in the Frobenius norm (attn/oracle.h); -1 when it failed. */
double attnjs_oracle_error(attnjs_t *js, const attn_plan_t *plan, const double *arrays,
                           double stride);

/* ---- stream.c -------------------------------------------------------------------------------- */

/** A stream with the problem it was made for. */
typedef struct attnjs_stream attnjs_stream_t;

/** Of `problem` counts what attn_stream_create() says. */
attnjs_stream_t *attnjs_stream_create(attnjs_t *js, const char *backend, const double *problem,
                                      double max_keys);
void attnjs_stream_destroy(attnjs_stream_t *stream);
double attnjs_stream_length(attnjs_t *js, const attnjs_stream_t *stream);
double attnjs_stream_memory(attnjs_t *js, const attnjs_stream_t *stream);
/** The stream's problem with so many queries and keys, whose arrays a call lists. */
attn_problem_t attnjs_stream_call(const attnjs_stream_t *stream, double queries, double keys);
/** Of the list count key, value and their scales, of so many tokens. */
attn_status_t attnjs_stream_append(attnjs_t *js, attnjs_stream_t *stream, const double *arrays,
                                   double tokens);
/** Of the list count query, out and lse. */
attn_status_t attnjs_stream_query(attnjs_t *js, attnjs_stream_t *stream, const double *arrays,
                                  double queries);
attnjs_stream_t *attnjs_stream_fork(attnjs_t *js, const attnjs_stream_t *stream);
attn_status_t attnjs_stream_truncate(attnjs_t *js, attnjs_stream_t *stream, double length);
/** Returns the bytes it takes; writes them where there is room for them. */
double attnjs_stream_save(attnjs_t *js, const attnjs_stream_t *stream, void *bytes, size_t size);
attn_status_t attnjs_stream_restore(attnjs_t *js, attnjs_stream_t *stream, const void *bytes,
                                    size_t size);

/* ---- plugin.c -------------------------------------------------------------------------------- */

/** A plugin that js/link.js has linked into this instance. */
attn_status_t attnjs_plugin_register(attnjs_t *js, const attn_plugin_entry_t *entry,
                                     const char *origin);
attn_status_t attnjs_plugin_unregister(attnjs_t *js, const attn_plugin_entry_t *entry);

/* ---- data.c ---------------------------------------------------------------------------------- */

double attnjs_count_nonfinite(attnjs_t *js, float *data, double count);

/** The tokens of a UTF-8 text as JSON: start and end of each in bytes, one after the other. */
char *attnjs_tokens(attnjs_t *js, const char *text, size_t size);
/** Their vectors: tokens x dim elements to `out`; dim is at least 2. */
attn_status_t attnjs_embed(attnjs_t *js, const char *text, size_t size, double dim, float *out);

/**
 * Read the .npy file bytes[size], which becomes elements in C order, in place: float32, or float16
 * where the file has these. Says where they are and how many: {"offset" in bytes, "half", "shape"}
 * as JSON.
 */
char *attnjs_read_npy(attnjs_t *js, void *bytes, size_t size);

#endif
