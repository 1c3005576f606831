/*
 * NumPy's array files as the conformance cases have them: NEP 1, version 1.0 or 2.0, little-endian,
 * C order, rank 0 to 4.
 */
#ifndef ATTN_TESTS_NPY_H
#define ATTN_TESTS_NPY_H

#include "attn/types.h"

/** An array in C order. float64 is read as f32 and integers as i64. */
typedef struct array_file {
    attn_dtype_t dtype; /**< f32, f16, bf16, bool or i64 */
    int rank;
    int64_t shape[4];
    int64_t count; /**< of elements */
    void *data;    /**< NULL: absent */
} array_file_t;

/** Reads a file; on an error prints a line that names it and ends the program with status 1. */
array_file_t array_read(const char *path);

/** An array of this type and shape, filled with zeros. */
array_file_t array_new(attn_dtype_t dtype, int rank, const int64_t *shape);

/** The same numbers, rounded to another type. */
array_file_t array_convert(const array_file_t *array, attn_dtype_t dtype);

void array_free(array_file_t *array);

/** Element number `index` as a number. */
double array_number(const array_file_t *array, int64_t index);

/** Prints "conformance: ..." and ends the program with status 1. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2), noreturn))
#endif
void die(const char *format, ...);

#endif
