/* shared.c: what every module has: errors, memory for the arrays of JavaScript, and texts in JSON. */
#include "bindings.h"

#include <stdlib.h>

double attnjs_interface(void) { return ATTNJS_INTERFACE; }

const char *attnjs_error_code(attnjs_t *js) { return attn_status_name(js->error.status); }

const char *attnjs_error_message(attnjs_t *js) { return js->error.message; }

void *attnjs_allocate(double bytes) {
    const double limit = (double)(SIZE_MAX - ATTN_ALIGNMENT);
    if (!(bytes >= 0 && bytes < limit)) return NULL;
    size_t pieces = (size_t)bytes / ATTN_ALIGNMENT + 1;
    return aligned_alloc(ATTN_ALIGNMENT, pieces * ATTN_ALIGNMENT);
}

void attnjs_free(void *memory) { free(memory); }

attn_status_t attnjs_no_memory(attnjs_t *js, const char *what) {
    return attn_fail(&js->error, ATTN_ERROR_MEMORY, "no memory for %s", what);
}

char *attnjs_json(attnjs_t *js, const char *what, void (*write)(attn_json_t *, const void *subject),
                  const void *subject) {
    attn_json_t json = {0};
    write(&json, subject);
    const size_t size = attn_json_end(&json) + 1;
    json = (attn_json_t){.buffer = malloc(size), .size = size};
    if (!json.buffer) {
        attnjs_no_memory(js, what);
        return NULL;
    }
    write(&json, subject);
    attn_json_end(&json);
    return json.buffer;
}
