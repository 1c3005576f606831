/*
 * malloc.c: the heap of the module. Emscripten's small one wraps near 4 GiB: it gives out memory that
 * is somebody's, or none's. Nobody allocates but the thread that calls the module, so nothing is locked.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void *blocks_at(uint32_t address) { return (void *)(uintptr_t)address; }

static inline uint32_t blocks_pages(void) { return (uint32_t)__builtin_wasm_memory_size(0); }

static inline int blocks_grow(uint32_t pages) {
    return __builtin_wasm_memory_grow(0, pages) != SIZE_MAX;
}

#include "blocks.h"

extern unsigned char __heap_base; /* the linker's: where all that is static ends */

static blocks_t blocks;

static void *take(size_t alignment, size_t size) {
    if (!blocks.tail) blocks_begin(&blocks, (uint32_t)(uintptr_t)&__heap_base);
    return blocks_at(blocks_take(&blocks, (uint32_t)alignment, (uint32_t)size));
}

void *malloc(size_t size) { return take(1, size); }

void *aligned_alloc(size_t alignment, size_t size) { return take(alignment, size); }

void *calloc(size_t count, size_t size) {
    const uint64_t bytes = (uint64_t)count * size;
    void *memory = bytes > SIZE_MAX ? NULL : take(1, (size_t)bytes);
    return memory ? memset(memory, 0, (size_t)bytes) : NULL;
}

void free(void *memory) {
    if (memory) blocks_give(&blocks, (uint32_t)(uintptr_t)memory);
}
