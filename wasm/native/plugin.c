/* plugin.c: native plugins at run time, by their paths. The library closes their files with its context. */
#include "plugin.h"

#include "attn/plugin.h"

#include <dlfcn.h>

attn_status_t addon_plugin_load(attnjs_t *js, const char *path) {
    return attn_plugin_load(js->context, path, &js->error);
}

attn_status_t addon_plugin_unload(attnjs_t *js, const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    const attn_plugin_entry_t *entry = library ? dlsym(library, ATTN_PLUGIN_SYMBOL) : NULL;
    const attn_status_t status =
        entry ? attn_plugin_unregister(js->context, entry, &js->error)
              : attn_fail(&js->error, ATTN_ERROR_NOT_FOUND, "plugin '%.150s' is not loaded", path);
    if (library) dlclose(library);
    return status;
}
