/*
 * addon.c: the Node-API addon: functions of src/bindings.h for js/native/engine.js. What differs from
 * WebAssembly: arrays are typed arrays, used where they are, and contexts, plans and streams are handles,
 * so that no address ever passes through JavaScript.
 */
#include "call.h"

/* The macro defines this function without declaring it. */
NAPI_MODULE_EXPORT int32_t NODE_API_MODULE_GET_API_VERSION(void);

NAPI_MODULE_INIT(/* env, exports */) {
    napi_value value;
    if (napi_create_int32(env, ATTNJS_INTERFACE, &value) != napi_ok ||
        napi_set_named_property(env, exports, "interface", value) != napi_ok)
        return NULL;
    for (size_t i = 0; i < addon_function_count; i++) {
        const addon_function_t *function = &addon_functions[i];
        if (napi_create_function(env, function->name, NAPI_AUTO_LENGTH, addon_call,
                                 (void *)(uintptr_t)function, &value) != napi_ok ||
            napi_set_named_property(env, exports, function->name, value) != napi_ok)
            return NULL;
    }
    return exports;
}
