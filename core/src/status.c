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

attn_status_t attn_answer(attn_status_t status, attn_error_t *error) {
    char text[sizeof error->message];
    if (status == ATTN_OK || !error) return status;
    memcpy(text, error->message, sizeof text);
    text[sizeof text - 1] = 0;
    attn_line(error->message, sizeof error->message, text);
    return status;
}

bool attn_is_name(const char *text) {
    return text && *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

attn_status_t attn_struct_take(void *to, uint32_t size, const void *from, uint32_t first,
                               const char *what, attn_error_t *error) {
    if (ATTN_SMALL) { /* its only caller is built with it */
        memcpy(to, from, size);
        return ATTN_OK;
    }
    const uint32_t given = attn_struct_size(from);
    if (attn_struct_read(to, size, from, first)) return ATTN_OK;
    if (given < first || given > ATTN_STRUCT_LIMIT)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: struct_size is %u, expected %u to %u",
                         what, given, first, ATTN_STRUCT_LIMIT);
    return attn_fail(error, ATTN_ERROR_ARGUMENT,
                     "%s: a field behind the first %u bytes is set, which libattn %s does not know",
                     what, size, ATTN_VERSION);
}
