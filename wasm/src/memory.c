/* memory.c: how the heap of the build with threads grows; in the others the C library does it. */
#include <stddef.h>
#include <stdint.h>

enum { PAGE = 65536 };

size_t emscripten_get_heap_max(void);
int emscripten_resize_heap(size_t size);

size_t emscripten_get_heap_max(void) { return SIZE_MAX / PAGE * PAGE; }

/* 1: there are `size` bytes. */
int emscripten_resize_heap(size_t size) {
    const size_t pages = __builtin_wasm_memory_size(0), wanted = size / PAGE + (size % PAGE != 0);
    return wanted <= pages || __builtin_wasm_memory_grow(0, wanted - pages) != SIZE_MAX;
}
