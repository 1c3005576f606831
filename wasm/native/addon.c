/* addon.c: the addon's functions, by the names of src/bindings.h. */
#include "addon.h"

/* js/engine.js calls these; what only memory of WebAssembly needs is not among them. */
static const struct {
    const char *name;
    napi_callback function;
} functions[] = {
    {"attnjs_open", addon_open},
    {"attnjs_close", addon_close},
    {"attnjs_error_code", addon_error_code},
    {"attnjs_error_message", addon_error_message},
    {"attnjs_about", addon_about},
    {"attnjs_backends", addon_backends},
    {"attnjs_plan_create", addon_plan_create},
    {"attnjs_plan_destroy", addon_dispose},
    {"attnjs_plan_describe", addon_plan_describe},
    {"attnjs_run", addon_run},
    {"attnjs_start", addon_start},
    {"attnjs_degenerate_rows", addon_degenerate_rows},
    {"attnjs_weights", addon_weights},
    {"attnjs_oracle_error", addon_oracle_error},
    {"attnjs_stream_create", addon_stream_create},
    {"attnjs_stream_destroy", addon_dispose},
    {"attnjs_stream_length", addon_stream_length},
    {"attnjs_stream_memory", addon_stream_memory},
    {"attnjs_stream_append", addon_stream_append},
    {"attnjs_stream_query", addon_stream_query},
    {"attnjs_stream_fork", addon_stream_fork},
    {"attnjs_stream_truncate", addon_stream_truncate},
    {"attnjs_stream_save", addon_stream_save},
    {"attnjs_stream_restore", addon_stream_restore},
    {"attnjs_count_nonfinite", addon_count_nonfinite},
    {"attnjs_tokens", addon_tokens},
    {"attnjs_embed", addon_embed},
    {"attnjs_read_npy", addon_read_npy},
};

/* The macro defines this function without declaring it. */
NAPI_MODULE_EXPORT int32_t NODE_API_MODULE_GET_API_VERSION(void);

NAPI_MODULE_INIT(/* env, exports */) {
    napi_value value;
    if (napi_create_int32(env, ATTNJS_INTERFACE, &value) != napi_ok ||
        napi_set_named_property(env, exports, "interface", value) != napi_ok)
        return NULL;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function,
                                 NULL, &value) != napi_ok ||
            napi_set_named_property(env, exports, functions[i].name, value) != napi_ok)
            return NULL;
    }
    return exports;
}
