/* plugin.c: plugins that js/engine/link.js has linked into this instance. */
#include "bindings.h"

attn_status_t attnjs_plugin_register(attnjs_t *js, void *entry, const char *origin) {
    return attn_plugin_register(js->context, entry, origin, &js->error);
}

attn_status_t attnjs_plugin_unregister(attnjs_t *js, void *entry) {
    return attn_plugin_unregister(js->context, entry, &js->error);
}
