/*
 * labs.h: the C side of libattn/labs: labs/lab.h as flat functions for js/labs*.js, in a module of their
 * own. What bindings.h says of numbers, texts and errors holds here; of its functions the module has
 * those that open and close, allocate and free, and tell an error.
 */
#ifndef ATTNJS_LABS_H
#define ATTNJS_LABS_H

#include "bindings.h"

/** One panel with its settings, and its points once it has begun. */
typedef struct attnlabs_run attnlabs_run_t;

/** The array of lab_describe(). */
char *attnlabs_describe(attnjs_t *js);

/** An empty name of a panel is the first one; a seed has two halves of 32 bits. */
attnlabs_run_t *attnlabs_create(attnjs_t *js, const char *lab, const char *panel, uint32_t high,
                                uint32_t low);
void attnlabs_destroy(attnlabs_run_t *run);

attn_status_t attnlabs_set(attnjs_t *js, attnlabs_run_t *run, const char *name, const char *value);
/** Points elsewhere than the panel has them; copied. */
attn_status_t attnlabs_grid(attnjs_t *js, attnlabs_run_t *run, const double *xs, uint32_t count);
attn_status_t attnlabs_begin(attnjs_t *js, attnlabs_run_t *run);

/** {"panel", "serial", "columns", "params": {name: value}, "xs", "costs"} as JSON, once it has begun. */
char *attnlabs_settings(attnjs_t *js, const attnlabs_run_t *run);

/** Writes as many numbers to `row` as the panel has columns. */
attn_status_t attnlabs_point(attnjs_t *js, const attnlabs_run_t *run, uint32_t index, double *row);

/**
 * What all rows say, {"note", "verdict", "sure", "found", "within": [...]} as JSON; `rows` has `count` rows in the order of
 * x.
 */
char *attnlabs_conclude(attnjs_t *js, const attnlabs_run_t *run, const double *rows,
                        uint32_t count);

#endif
