/* prefill_kernels.c with products of bf16 numbers: floats are rounded to 8 bits. */
#define FLASH_PARTS 1
#define FLASH_PRECISION "bf16"
#define FLASH_TABLE attn_bf16_kernels
#define FLASH_BACKWARD attn_bf16_backward_kernels
#include "attention/prefill_kernels.c"
