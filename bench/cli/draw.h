/*
 * cli/draw.h: random arrays, in the element types that keys and values may have.
 */
#ifndef ATTN_CLI_DRAW_H
#define ATTN_CLI_DRAW_H

#include "cli/arrays.h"

/**
 * Independent standard normal numbers in f32 of this shape, always the same ones for a `stream`; 0 where that is too
 * much memory. With the default scale, logits of two such are of order 1.
 */
int draw_normal(array_t *array, uint64_t stream, const int64_t shape[4]);

/**
 * Round an array of draw_normal() to another type; `scales` gets a number for each row of i8. 0 where that is too much
 * memory.
 */
int draw_round(array_t *array, attn_dtype_t dtype, array_t *scales);

/** The element types that keys and values are drawn in, by name: f32, f16, bf16, i8; ATTN_DTYPE_NONE for any other. */
attn_dtype_t draw_dtype(const char *name);

#endif
