/* Names and versions. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

const char *attn_version(void) { return ATTN_VERSION; }

const char *attn_status_name(attn_status_t status) {
    switch (status) {
    case ATTN_OK:
        return "ATTN_OK";
    case ATTN_ERROR_ARGUMENT:
        return "ATTN_ERROR_ARGUMENT";
    case ATTN_ERROR_SHAPE:
        return "ATTN_ERROR_SHAPE";
    case ATTN_ERROR_DTYPE:
        return "ATTN_ERROR_DTYPE";
    case ATTN_ERROR_UNSUPPORTED:
        return "ATTN_ERROR_UNSUPPORTED";
    case ATTN_ERROR_NOT_FOUND:
        return "ATTN_ERROR_NOT_FOUND";
    case ATTN_ERROR_RANGE:
        return "ATTN_ERROR_RANGE";
    case ATTN_ERROR_PLUGIN:
        return "ATTN_ERROR_PLUGIN";
    case ATTN_ERROR_ABI:
        return "ATTN_ERROR_ABI";
    case ATTN_ERROR_MEMORY:
        return "ATTN_ERROR_MEMORY";
    case ATTN_ERROR_WORKSPACE:
        return "ATTN_ERROR_WORKSPACE";
    default:
        return "unknown status";
    }
}

void attn_list_name(char *list, size_t size, const char *name) {
    const size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}
