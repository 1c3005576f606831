/* plugin.h: native plugins at run time. */
#ifndef ATTNJS_PLUGIN_H
#define ATTNJS_PLUGIN_H

#include "bindings.h"

/** Loads the shared object at a path and registers its backends: all of them or, on an error, none. */
attn_status_t addon_plugin_load(attnjs_t *js, const char *path);

/** Takes its backends back, of which there must be no plan and no stream. */
attn_status_t addon_plugin_unload(attnjs_t *js, const char *path);

#endif
