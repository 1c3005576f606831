/* backward_kernels.c with six products of bf16 numbers. */
#define FLASH_PARTS 3
#define FLASH_BACKWARD attn_bf16x6_backward_kernels
#include "attention/backward_kernels.c"
