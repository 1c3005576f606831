/* prefill_kernels.c with six products of bf16 numbers for each of floats, which are not rounded. */
#define EXACT_PARTS 3
#define EXACT_PRECISION "bf16x6"
#define EXACT_TABLE attn_bf16x6_kernels
#define EXACT_BACKWARD attn_bf16x6_backward_kernels
#include "attention/prefill_kernels.c"
