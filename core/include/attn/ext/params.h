/*
 * attn.params/1 (backend): the parameters a backend takes, declared as data.
 *
 * The command line's --set, the run-time checks of every language binding and the visualizer's
 * sliders are all made from this table; the host reads and checks values against it, so a backend
 * is only ever handed values that are inside it.
 */
#ifndef ATTN_EXT_PARAMS_H
#define ATTN_EXT_PARAMS_H

#include "attn/types.h"

#define ATTN_EXT_PARAMS "attn.params/1"

enum attn_param_type_code {
    ATTN_PARAM_INTEGER = 1,
    ATTN_PARAM_NUMBER = 2,
    ATTN_PARAM_BOOLEAN = 3, /**< 0 or 1; also read from "false" and "true" */
    ATTN_PARAM_CHOICE = 4   /**< one of `choices`, by name; the value is its index */
};

/** One parameter. Constant data, static text. */
typedef struct attn_param_info {
    uint32_t struct_size;
    int32_t type;               /**< enum attn_param_type_code */
    const char *name;           /**< as in --set name=value: lower case, digits, '_' */
    const char *label;          /**< for people */
    const char *help;           /**< one line */
    const char *unit;           /**< e.g. "keys"; an own input's name: its elements; "" for none */
    double minimum, maximum;    /**< inclusive, below 2^53 if whole; 0 and the last choice */
    double initial;             /**< the default value */
    const char *automatic;      /**< NULL, or what the value 0 means, e.g. "2^floor(log2 sqrt m)" */
    const char *const *choices; /**< ATTN_PARAM_CHOICE: names, ended by NULL; else NULL */
} attn_param_info_t;

typedef struct attn_ext_params {
    uint32_t struct_size;
    uint32_t count;
    const attn_param_info_t *params; /**< `count` of them, in the order of plan()'s values */
} attn_ext_params_t;

#endif
