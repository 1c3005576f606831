/* json.c: see json.h. */
#include "json/json.h"

#include "number/number.h"

#include "attn/line.h"

#include <math.h>
#include <stdio.h>

static void put(attn_json_t *json, char c) {
    if (json->length < json->size) json->buffer[json->length] = c;
    json->length++;
}

static void put_text(attn_json_t *json, const char *text) {
    while (*text) put(json, *text++);
}

/* A byte in hexadecimal, behind what says so. */
static void put_byte(attn_json_t *json, const char *prefix, char byte) {
    put_text(json, prefix);
    put(json, "0123456789abcdef"[(unsigned char)byte / 16]);
    put(json, "0123456789abcdef"[(unsigned char)byte % 16]);
}

static void put_quoted(attn_json_t *json, const char *text) {
    put(json, '"');
    while (*text) {
        const uint32_t length = attn_utf8_length(text);
        if (length == 0)
            put_byte(json, "\\\\x", *text); /* in the text that is read: \xNN */
        else if ((unsigned char)*text < 0x20)
            put_byte(json, "\\u00", *text);
        else if (*text == '"' || *text == '\\')
            put(json, '\\'), put(json, *text);
        else
            for (uint32_t i = 0; i < length; i++) put(json, text[i]);
        text += length ? length : 1;
    }
    put(json, '"');
}

/* What stands before a value. */
static void begin(attn_json_t *json, const char *name, const char *separator) {
    if (json->follows) put_text(json, separator);
    json->follows = true;
    if (!name) return;
    put_quoted(json, name);
    put_text(json, ": ");
}

static void put_value(attn_json_t *json, const char *name, const char *text) {
    begin(json, name, ", ");
    put_text(json, text);
}

/* Each object of a list has a line of its own. */
void attn_json_open(attn_json_t *json, const char *name, char bracket) {
    begin(json, name, name ? ", " : ",\n");
    put(json, bracket);
    json->follows = false;
}

void attn_json_close(attn_json_t *json, char bracket) {
    put(json, bracket);
    json->follows = true;
}

void attn_json_string(attn_json_t *json, const char *name, const char *text) {
    put_value(json, name, text ? "" : "null");
    if (text) put_quoted(json, text);
}

void attn_json_number(attn_json_t *json, const char *name, double number) {
    char text[32];
    put_value(json, name, isfinite(number) ? attn_number_text(number, text) : "null");
}

void attn_json_integer(attn_json_t *json, const char *name, long long number) {
    char text[32];
    snprintf(text, sizeof text, "%lld", number);
    put_value(json, name, text);
}

void attn_json_boolean(attn_json_t *json, const char *name, bool value) {
    put_value(json, name, value ? "true" : "false");
}

void attn_json_setting(attn_json_t *json, const char *name, const attn_param_info_t *info,
                       double value) {
    if (info->type == ATTN_PARAM_CHOICE)
        attn_json_string(json, name, info->choices[(int)value]);
    else
        attn_json_number(json, name, value);
}

static void put_choices(attn_json_t *json, const char *const *choices) {
    if (!choices) {
        attn_json_string(json, "choices", NULL);
        return;
    }
    attn_json_open(json, "choices", '[');
    for (; *choices; choices++) attn_json_string(json, NULL, *choices);
    attn_json_close(json, ']');
}

void attn_json_param(attn_json_t *json, const attn_param_info_t *info) {
    static const char *const types[] = {"", "integer", "number", "boolean", "choice"};
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "name", info->name);
    attn_json_string(json, "label", info->label);
    attn_json_string(json, "help", info->help);
    attn_json_string(json, "unit", info->unit);
    attn_json_string(json, "type", types[info->type >= 1 && info->type <= 4 ? info->type : 0]);
    attn_json_number(json, "min", info->minimum);
    attn_json_number(json, "max", info->maximum);
    attn_json_setting(json, "default", info, info->initial);
    attn_json_string(json, "automatic", info->automatic);
    put_choices(json, info->choices);
    attn_json_close(json, '}');
}

/* The element type that an array has, or whose it shares. */
static const char *dtype_of(attn_dtype_t dtype) {
    if (dtype == ATTN_DTYPE_OF_QUERY) return "query";
    if (dtype == ATTN_DTYPE_OF_KEY) return "key";
    return attn_dtype_name(dtype);
}

void attn_json_array(attn_json_t *json, const attn_array_info_t *info, bool own) {
    static const char *const roles[] = {"", "input", "output"};
    static const char *const presences[] = {"", "required", "named", "optional", "int8"};
    static const char *const replaceable[] = {"query", "key", "value"}; /* arrays 0 to 2 */
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "name", info->name);
    attn_json_string(json, "role", roles[info->role]);
    attn_json_string(json, "presence", presences[info->presence]);
    attn_json_string(json, "dtype", dtype_of(info->dtype));
    attn_json_open(json, "axes", '[');
    for (int k = 0; k < 4; k++) attn_json_string(json, NULL, attn_axis_name(info->axes[k]));
    attn_json_close(json, ']');
    attn_json_open(json, "broadcast", '[');
    for (int k = 0; k < 4; k++) attn_json_boolean(json, NULL, info->broadcast >> k & 1);
    attn_json_close(json, ']');
    attn_json_boolean(json, "own", own);
    attn_json_open(json, "replaces", '[');
    for (int k = 0; k < 3; k++)
        if (info->replaces >> k & 1) attn_json_string(json, NULL, replaceable[k]);
    attn_json_close(json, ']');
    attn_json_string(json, "help", info->help);
    attn_json_close(json, '}');
}

size_t attn_json_end(attn_json_t *json) {
    if (json->size) json->buffer[json->length < json->size ? json->length : json->size - 1] = '\0';
    return json->length;
}
