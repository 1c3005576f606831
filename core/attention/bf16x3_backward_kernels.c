/* backward_kernels.c with three products of bf16 numbers. */
#define FLASH_PARTS 2
#define FLASH_BACKWARD attn_bf16x3_backward_kernels
#include "attention/backward_kernels.c"
