/* session.c: the context of one instance. */
#include "bindings.h"

#include <stdio.h>
#include <stdlib.h>

enum { ABOUT_SIZE = 160 };

/* The build's name, which CMake gives: "simd" or "scalar". */
#ifndef ATTNJS_BUILD
#error "define ATTNJS_BUILD"
#endif

static attnjs_t *open_with(const attn_context_options_t *options) {
    attnjs_t *js = calloc(1, sizeof *js);
    if (!js) return NULL;
    if (attn_context_create(options, &js->context, &js->error) != ATTN_OK) {
        free(js);
        return NULL;
    }
    return js;
}

attnjs_t *attnjs_open(void) { return open_with(NULL); }

#ifdef __wasm_atomics__
attnjs_t *attnjs_open_threads(double workers, double may_sleep) {
    attnjs_pool_t *pool = attnjs_pool_create((uint32_t)workers, may_sleep != 0);
    if (!pool) return NULL;
    const attn_context_options_t options = {.struct_size = sizeof options,
                                            .pool = attnjs_pool_threads(pool)};
    attnjs_t *js = open_with(&options);
    if (js) js->pool = pool;
    return js;
}

void *attnjs_pool(attnjs_t *js) { return js->pool; }
#endif

void attnjs_close(attnjs_t *js) {
    if (!js) return;
#ifdef __wasm_atomics__
    if (js->pool) attnjs_pool_stop(js->pool);
#endif
    attn_context_destroy(js->context);
    free(js);
}

/* By hand, because the small build has no other use for the writer of JSON. */
char *attnjs_about(attnjs_t *js) {
    const char *tier = attn_tier_name(attn_context_tier(js->context));
    char *json = malloc(ABOUT_SIZE);
    if (json)
        snprintf(json, ABOUT_SIZE, "{\"version\":\"%s\",\"build\":\"%s\",\"tier\":\"%s\"}",
                 attn_version(), ATTNJS_BUILD, tier);
    else
        attnjs_no_memory(js, "the description of the library");
    return json;
}

static void write_backends(attn_json_t *json, const void *context) {
    json->length = attn_describe(context, json->buffer, json->size);
}

char *attnjs_backends(attnjs_t *js) {
    return attnjs_json(js, "the description of the backends", write_backends, js->context);
}
