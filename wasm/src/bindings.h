/*
 * bindings.h: the C side of the npm package: attn/attn.h as flat functions for js/.
 *
 * Only numbers cross: sizes as doubles (every integer that is exact in JavaScript is exact here),
 * arrays as addresses, lists of parameters as packed text, descriptions as JSON. So js/ knows no
 * struct layout and no constant of the C side.
 *
 * A function that returns a status or an address has failed when it returns not 0, or 0; the
 * session then holds the error. Texts that are returned are the caller's, to be freed, except for
 * those of attnjs_error_code() and attnjs_error_message().
 */
#ifndef ATTNJS_BINDINGS_H
#define ATTNJS_BINDINGS_H

#include "attn/attn.h"

/** Changes whenever a function here does; js/session.js refuses a module with another number. */
#define ATTNJS_INTERFACE 1

/** One per instance of the module: the context and what the last call had to say. */
typedef struct attnjs {
    attn_context_t *context;
    attn_error_t error;
    attn_report_t report;
} attnjs_t;

/* ---- session.c ------------------------------------------------------------------------------- */

int32_t attnjs_interface(void);
attnjs_t *attnjs_open(void);
void attnjs_close(attnjs_t *js);
const char *attnjs_error_code(const attnjs_t *js);
const char *attnjs_error_message(const attnjs_t *js);

/** Memory aligned to ATTN_ALIGNMENT, or NULL, also for more bytes than there are addresses. */
void *attnjs_allocate(double bytes);
void attnjs_free(void *memory);

/** Say which memory there was none for. */
attn_status_t attnjs_no_memory(attnjs_t *js, const char *what);

/** {"version", "build", "tier"} as JSON. */
char *attnjs_about(attnjs_t *js);
/** The array of attn_describe(). */
char *attnjs_backends(attnjs_t *js);

/* ---- plan.c ---------------------------------------------------------------------------------- */

/** `causal`: "none", "top-left", "bottom-right"; `params`: name and value by turns, each ended by
 *  a zero, `count` pairs; `scale` NaN: the backend's default. */
attn_plan_t *attnjs_plan_create(attnjs_t *js, const char *backend, double batch, double heads,
                                double kv_heads, double queries, double keys, double dim,
                                double value_dim, const char *causal, double scale,
                                const char *params, uint32_t count);
void attnjs_plan_destroy(attn_plan_t *plan);

/** {"kernel", "workspaceBytes", "cost", "facts"} as JSON; cost is null where the backend has none. */
char *attnjs_plan_describe(attnjs_t *js, const attn_plan_t *plan);

/** `bnhd`: arrays lie in the order (batch, row, head, column); lse, which may be NULL, never does. */
attn_status_t attnjs_run(attnjs_t *js, const attn_plan_t *plan, int32_t bnhd, float *query,
                         float *key, float *value, float *out, float *lse);
/** Of the last run that succeeded. */
double attnjs_degenerate_rows(const attnjs_t *js);

/** Writes count x keys weights to `rows`. */
attn_status_t attnjs_weights(attnjs_t *js, const attn_plan_t *plan, int32_t bnhd, float *query,
                             float *key, double batch, double head, double first, double count,
                             float *rows);

/** The relative error of `out` in the Frobenius norm (attn/oracle.h); -1 when it failed. */
double attnjs_oracle_error(attnjs_t *js, const attn_plan_t *plan, int32_t bnhd, float *query,
                           float *key, float *value, float *out, double stride);

/* ---- data.c ---------------------------------------------------------------------------------- */

double attnjs_count_nonfinite(attnjs_t *js, float *data, double count);

/** The tokens of a UTF-8 text as JSON: start and end of each in bytes, one after the other. */
char *attnjs_tokens(attnjs_t *js, const char *text, uint32_t size);
/** Their vectors: tokens x dim elements to `out`; dim is at least 2. */
attn_status_t attnjs_embed(attnjs_t *js, const char *text, uint32_t size, double dim, float *out);

/**
 * Read the .npy file bytes[size], which becomes float32 elements in C order, in place. Says where
 * they are and how many: {"offset" in bytes, "shape"} as JSON.
 */
char *attnjs_read_npy(attnjs_t *js, void *bytes, uint32_t size);

#endif
