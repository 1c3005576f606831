/* session.c: the context of one instance, its errors, and memory for the arrays of JavaScript. */
#include "bindings.h"
#include "json.h"

#include <stdlib.h>

/* The build's name, which CMake gives: "simd" or "scalar". */
#ifndef ATTNJS_BUILD
#error "define ATTNJS_BUILD"
#endif

int32_t attnjs_interface(void) { return ATTNJS_INTERFACE; }

attnjs_t *attnjs_open(void) {
    attnjs_t *js = calloc(1, sizeof *js);
    if (!js) return NULL;
    if (attn_context_create(NULL, &js->context, &js->error) != ATTN_OK) {
        free(js);
        return NULL;
    }
    return js;
}

void attnjs_close(attnjs_t *js) {
    if (!js) return;
    attn_context_destroy(js->context);
    free(js);
}

const char *attnjs_error_code(const attnjs_t *js) { return attn_status_name(js->error.status); }

const char *attnjs_error_message(const attnjs_t *js) { return js->error.message; }

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

char *attnjs_about(attnjs_t *js) {
    attnjs_text_t text = {0};
    attnjs_text_add(&text, "{\"version\":");
    attnjs_text_string(&text, attn_version());
    attnjs_text_add(&text, ",\"build\":\"" ATTNJS_BUILD "\",\"tier\":");
    attnjs_text_string(&text, attn_tier_name(attn_context_tier(js->context)));
    attnjs_text_add(&text, "}");
    char *json = attnjs_text_take(&text);
    if (!json) attnjs_no_memory(js, "the description of the library");
    return json;
}

char *attnjs_backends(attnjs_t *js) {
    size_t size = attn_describe(js->context, NULL, 0) + 1;
    char *json = malloc(size);
    if (!json) {
        attnjs_no_memory(js, "the description of the backends");
        return NULL;
    }
    attn_describe(js->context, json, size);
    return json;
}
