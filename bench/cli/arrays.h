/*
 * cli/arrays.h: arrays of .npy files, and what is to be done to them before the library has them.
 */
#ifndef ATTN_CLI_ARRAYS_H
#define ATTN_CLI_ARRAYS_H

#include "attn/attn.h"
#include "npy/npy.h"

enum { ARRAY_SEED = 1 /* of random numbers */ };
enum { AXIS_BATCH, AXIS_HEADS, AXIS_ROWS, AXIS_COLUMNS };

typedef struct array {
    attn_tensor_t tensor; /**< data NULL: absent */
    int32_t rank;         /**< of the file */
    int32_t left_out;     /**< axes of 1 that stand behind the file's last one */
    void *memory;
} array_t;

/** Memory for a tensor of this dtype and shape, which the caller frees; NULL where it is too much. */
void *array_allocate(attn_dtype_t dtype, const int64_t shape[4]);

/**
 * An array of this shape in C order, with elements not yet written; an exit status, array_free() in any case.
 * `name` is for the complaint that there is no memory.
 */
int array_make(array_t *array, attn_dtype_t dtype, const int64_t shape[4], int32_t rank,
               const char *name);

/**
 * An array of what `path` holds, memory that becomes the array's, of one of the types and ranks wanted; an exit status.
 * array_free() in any case.
 */
int array_take(array_t *array, const char *path, char *bytes, size_t size,
               const npy_wanted_t *wanted);

/**
 * Put `array` into new memory, in C order, after the rows of `before` (NULL: none), as elements of
 * `dtype`: the one they have, or f16 and bf16 as f32, f32 rounded to these, or int32 as int64. An exit status;
 * `path` is for the complaint that there is no memory.
 */
int array_copy(array_t *array, const array_t *before, attn_dtype_t dtype, const char *path);

/**
 * The same with `columns` columns: a single one is repeated, missing ones get the element at
 * `padding`.
 */
int array_widen(array_t *array, int64_t columns, const void *padding, const char *path);

/** The address of an element. */
char *array_element(const attn_tensor_t *tensor, const int64_t at[4]);

/** Make `at` the next index in C order; 0 after the last. */
int array_step(const attn_tensor_t *tensor, int64_t at[4]);

/** How many elements are NaN or infinite. */
int64_t array_nonfinite(const array_t *array);

/** The largest |x|^2 of rows x of f32; NaN for those of another dtype. */
double array_longest(const array_t *array);

/** "(8, 1024, 64)": the shape as the file has it; returns `text`. */
const char *array_shape(const array_t *array, char text[96]);

void array_free(array_t *array);

#endif
