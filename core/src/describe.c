/* The registry as JSON, for the command line and the language bindings. */
#include "internal.h"
#include "json/json.h"

static void put_features(attn_json_t *json, uint64_t bits) {
    attn_json_open(json, "features", '[');
#define PUT_FEATURE(name, bit, text, words)                                                        \
    if (bits & ATTN_FEATURE_##name) attn_json_string(json, NULL, text);
    ATTN_FEATURES(PUT_FEATURE)
#undef PUT_FEATURE
    attn_json_close(json, ']');
}

static void put_params(attn_json_t *json, const attn_backend_t *backend) {
    attn_param_info_t info = {.struct_size = sizeof info};
    attn_json_open(json, "params", '[');
    for (uint32_t i = 0; attn_backend_param(backend, i, &info); i++) attn_json_param(json, &info);
    attn_json_close(json, ']');
}

static void put_arrays(attn_json_t *json, const attn_backend_t *backend) {
    attn_array_info_t copy;
    const attn_array_info_t *info;
    attn_json_open(json, "arrays", '[');
    for (uint32_t number = 0; (info = attn_array_declared(backend, number, &copy)); number++)
        if ((info->feature & backend->features) == info->feature)
            attn_json_array(json, info, number >= ATTN_ARRAY_OWN);
    attn_json_close(json, ']');
}

/* A text that the plugin has left out is one all the same. */
static void put_text(attn_json_t *json, const char *name, const char *text) {
    attn_json_string(json, name, text ? text : "");
}

static void put_backend(attn_json_t *json, const attn_backend_t *backend, const char *origin) {
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "id", backend->id);
    put_text(json, "name", backend->name);
    put_text(json, "version", backend->version);
    put_text(json, "description", backend->description);
    put_text(json, "reference", backend->reference);
    attn_json_string(json, "origin", origin);
    put_features(json, backend->features);
    put_params(json, backend);
    put_arrays(json, backend);
    attn_json_close(json, '}');
}

size_t attn_describe(const attn_context_t *context, char *buffer, size_t size) {
    if (!context) {
        if (buffer && size) *buffer = 0;
        return 0;
    }
    attn_json_t json = {.buffer = buffer, .size = buffer ? size : 0};
    attn_json_open(&json, NULL, '[');
    for (uint32_t i = 0; i < attn_backend_count(context); i++)
        put_backend(&json, attn_backend_at(context, i), attn_backend_origin(context, i));
    attn_json_close(&json, ']');
    return attn_json_end(&json);
}
