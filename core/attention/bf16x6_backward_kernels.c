/* backward_kernels.c with six products of bf16 numbers. */
#define EXACT_PARTS 3
#define EXACT_BACKWARD attn_bf16x6_backward_kernels
#include "attention/backward_kernels.c"
