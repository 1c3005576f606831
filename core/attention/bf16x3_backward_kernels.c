/* backward_kernels.c with three products of bf16 numbers. */
#define EXACT_PARTS 2
#define EXACT_BACKWARD attn_bf16x3_backward_kernels
#include "attention/backward_kernels.c"
