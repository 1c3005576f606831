/*
 * attn.memory/1 (host): where plans live. Used when plans are made and destroyed, never in a run.
 */
#ifndef ATTN_EXT_MEMORY_H
#define ATTN_EXT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#define ATTN_EXT_MEMORY "attn.memory/1"

typedef struct attn_ext_memory {
    uint32_t struct_size;
    uint32_t reserved;
    void *user; /**< handed back to both functions */
    /** `size` bytes aligned to 64, contents undefined, or NULL. [any thread] */
    void *(*allocate)(void *user, size_t size);
    /** Give back what allocate() returned; NULL is fine. [any thread] */
    void (*release)(void *user, void *memory);
} attn_ext_memory_t;

#endif
