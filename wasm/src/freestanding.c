/*
 * freestanding.c: the module imports nothing, so that any loader can instantiate it. This is what the
 * C library would otherwise ask its embedder for.
 */
#include <stdlib.h>

/* There is no environment; the tier of a module is the one it was compiled for. */
char *getenv(const char *name) {
    (void)name;
    return NULL;
}
