/* The registry as JSON, for the command line and the language bindings. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text that goes on being counted when the buffer is full. */
typedef struct writer {
    char *buffer;
    size_t size, length;
} writer_t;

static void put(writer_t *writer, const char *text) {
    for (; *text; text++, writer->length++)
        if (writer->length + 1 < writer->size) writer->buffer[writer->length] = *text;
}

static void put_string(writer_t *writer, const char *text) {
    if (!text) {
        put(writer, "null");
        return;
    }
    put(writer, "\"");
    for (; *text; text++) {
        char escaped[8] = {*text, 0};
        if (*text == '"' || *text == '\\') snprintf(escaped, sizeof escaped, "\\%c", *text);
        if ((unsigned char)*text < 0x20)
            snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)(unsigned char)*text);
        put(writer, escaped);
    }
    put(writer, "\"");
}

static void put_field(writer_t *writer, const char *name, const char *text) {
    put_string(writer, name);
    put(writer, ": ");
    put_string(writer, text);
    put(writer, ", ");
}

static void put_number(writer_t *writer, const char *name, double number) {
    char text[40] = "null";
    for (int digits = 6; isfinite(number) && digits <= 17; digits++) { /* the shortest that is it */
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    put_string(writer, name);
    put(writer, ": ");
    put(writer, text);
    put(writer, ", ");
}

static void put_param(writer_t *writer, const attn_param_info_t *info) {
    static const char *const types[] = {"", "integer", "number", "boolean", "choice"};
    put(writer, "{");
    put_field(writer, "name", info->name);
    put_field(writer, "label", info->label);
    put_field(writer, "help", info->help);
    put_field(writer, "unit", info->unit);
    put_field(writer, "type", types[info->type >= 1 && info->type <= 4 ? info->type : 0]);
    put_number(writer, "min", info->minimum);
    put_number(writer, "max", info->maximum);
    if (info->type == ATTN_PARAM_CHOICE)
        put_field(writer, "default", info->choices[(int)info->initial]);
    else
        put_number(writer, "default", info->initial);
    put_field(writer, "automatic", info->automatic);
    put(writer, "\"choices\": ");
    if (!info->choices) put(writer, "null");
    for (int i = 0; info->choices && info->choices[i]; i++) {
        put(writer, i ? ", " : "[");
        put_string(writer, info->choices[i]);
    }
    put(writer, info->choices ? "]}" : "}");
}

static void put_backend(writer_t *writer, const attn_backend_t *backend, const char *origin) {
    static const char *const features[] = {
        "causal", "grouped_heads", "lse",   "past",  "window", "softcap", "bias",
        "mask",   "kv_lengths",    "sinks", "alibi", "half",   "int8",    "scores",
    };
    uint32_t count;
    const attn_param_info_t *params = attn_backend_params(backend, &count);
    put(writer, "{");
    put_field(writer, "id", backend->id);
    put_field(writer, "name", backend->name);
    put_field(writer, "version", backend->version);
    put_field(writer, "description", backend->description);
    put_field(writer, "reference", backend->reference);
    put_field(writer, "origin", origin);
    put(writer, "\"features\": [");
    const char *separator = "";
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        if (backend->features >> i & 1) {
            put(writer, separator);
            put_string(writer, features[i]);
            separator = ", ";
        }
    put(writer, "], \"params\": [");
    for (uint32_t i = 0; i < count; i++) {
        put(writer, i ? ", " : "");
        put_param(writer, &params[i]);
    }
    put(writer, "]}");
}

size_t attn_describe(const attn_context_t *context, char *buffer, size_t size) {
    writer_t writer = {.buffer = buffer, .size = buffer ? size : 0};
    put(&writer, "[");
    for (uint32_t i = 0; i < attn_backend_count(context); i++) {
        put(&writer, i ? ",\n " : "");
        put_backend(&writer, attn_backend_at(context, i), attn_backend_origin(context, i));
    }
    put(&writer, "]");
    if (writer.size)
        writer.buffer[writer.length < writer.size ? writer.length : writer.size - 1] = '\0';
    return writer.length;
}
