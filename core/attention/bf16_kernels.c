/* prefill_kernels.c with products of bf16 numbers: floats are rounded to 8 bits. */
#define EXACT_PARTS 1
#define EXACT_PRECISION "bf16"
#define EXACT_TABLE attn_bf16_kernels
#define EXACT_BACKWARD attn_bf16_backward_kernels
#include "attention/prefill_kernels.c"
