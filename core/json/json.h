/*
 * json.h: a writer of JSON into a buffer, for descriptions. It allocates nothing, and what does not fit
 * is counted: a first pass with {0}, which has no room, tells the size for a second.
 *
 * Every value takes the name under which it stands in its object; NULL in a list and at the top.
 * Commas come by themselves.
 */
#ifndef ATTN_JSON_H
#define ATTN_JSON_H

#include "attn/arrays.h"
#include "attn/ext/params.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct attn_json {
    char *buffer;
    size_t size, length; /* the length goes on past the size */
    bool follows;        /* what comes next has something before it */
} attn_json_t;

/** `bracket`: '{' or '['. */
void attn_json_open(attn_json_t *json, const char *name, char bracket);
/** `bracket`: '}' or ']'. */
void attn_json_close(attn_json_t *json, char bracket);

/** A text, quoted and escaped: a byte that is not UTF-8 becomes the characters \xNN. NULL becomes null. */
void attn_json_string(attn_json_t *json, const char *name, const char *text);
/** The number as attn_number_text() has it; null when it is not finite. */
void attn_json_number(attn_json_t *json, const char *name, double number);
void attn_json_integer(attn_json_t *json, const char *name, long long number);
void attn_json_boolean(attn_json_t *json, const char *name, bool value);

/** A value of a parameter: a choice by its name, else the number. */
void attn_json_setting(attn_json_t *json, const char *name, const attn_param_info_t *info,
                       double value);
/** A parameter as it is declared. */
void attn_json_param(attn_json_t *json, const attn_param_info_t *info);

/** An array of a run as it is declared; `own`: it is the backend's, not the library's. */
void attn_json_array(attn_json_t *json, const attn_array_info_t *info, bool own);

/** Ends the text, cut or not, with a zero where there is room at all; the length it needs without it. */
size_t attn_json_end(attn_json_t *json);

#endif
