/* backward_kernels.c with products of bf16 numbers. */
#define EXACT_PARTS 1
#define EXACT_BACKWARD attn_bf16_backward_kernels
#include "attention/backward_kernels.c"
