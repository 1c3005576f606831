/*
 * freestanding.c: the module imports nothing, so that any loader can instantiate it. These are the
 * two things that the C library would otherwise ask its embedder for.
 */
#include <stddef.h>
#include <stdlib.h>

void emscripten_notify_memory_growth(size_t memory);

/* There is no environment; the tier of a module is the one it was compiled for. */
char *getenv(const char *name) {
    (void)name;
    return NULL;
}

/* js/ makes its views of the memory anew at each use, and need not be told. */
void emscripten_notify_memory_growth(size_t memory) { (void)memory; }
