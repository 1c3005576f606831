/* The default allocator, and the core's own use of the context's. */
#include "internal.h"

#include <string.h>

static void *allocate(void *user, size_t size) {
    (void)user;
    return attn_host_allocate(NULL, size);
}

static void release(void *user, void *memory) {
    (void)user;
    attn_host_release(NULL, memory);
}

const attn_ext_memory_t attn_default_memory = {
    .struct_size = sizeof(attn_ext_memory_t),
    .allocate = allocate,
    .release = release,
};

void *attn_allocate(const attn_context_t *context, size_t size) {
    return context->memory.allocate(context->memory.user, size);
}

void attn_release(const attn_context_t *context, void *memory) {
    if (memory) context->memory.release(context->memory.user, memory);
}

char *attn_copy_text(const attn_context_t *context, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = attn_allocate(context, size);
    if (copy) memcpy(copy, text, size);
    return copy;
}
