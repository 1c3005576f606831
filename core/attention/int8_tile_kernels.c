/* quantised_kernels.c with products of bytes in tile registers. */
#define DOTS_TILES 1
#include "attention/quantised_kernels.c"
