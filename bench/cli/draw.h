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

enum { DRAW_DTYPES = 4 };

/**
 * The element types of keys and values that a list names: f32, f16, bf16, i8, each at most once; f32 where it is NULL.
 * An exit status; complaints name the `option`.
 */
int draw_read_dtypes(const char *list, const char *option, attn_dtype_t dtypes[DRAW_DTYPES],
                     int *count);

#endif
