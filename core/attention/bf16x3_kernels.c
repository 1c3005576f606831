/* prefill_kernels.c with three products of bf16 numbers for each of floats, which are rounded to 16 bits. */
#define EXACT_PARTS 2
#define EXACT_PRECISION "bf16x3"
#define EXACT_TABLE attn_bf16x3_kernels
#define EXACT_BACKWARD attn_bf16x3_backward_kernels
#include "attention/prefill_kernels.c"
