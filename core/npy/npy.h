/*
 * npy/npy.h: NumPy's array files (.npy), read from memory and written to memory.
 *
 * Format: NEP 1 and numpy.lib.format, versions 1.0, 2.0 and 3.0. Read: float16, float32,
 * float64, bfloat16, bool, int8, int32 and int64, as far as the reader wants them, in either order of bytes, C and
 * Fortran order. A type's name may lack its order of bytes, which is little-endian then, or be the long one
 * ('float32'). NumPy has no bfloat16: its packages save one as two bytes without a type ('V2').
 * Written: float32 or float16 in C order, version 1.0.
 */
#ifndef ATTN_NPY_H
#define ATTN_NPY_H

#include "ieee/ieee.h"

#include "npy/dict.h"

#include "attn/types.h"

#include <stddef.h>

/** Room that npy_header() needs: a multiple of 64, so that the data after it stays aligned. */
#define NPY_HEADER_SIZE 192

/** Element types of a file. */
enum npy_type {
    NPY_FLOAT32 = 1 << 0,
    NPY_FLOAT64 = 1 << 1, /**< becomes float32 */
    NPY_FLOAT16 = 1 << 2,
    NPY_BOOL = 1 << 3,
    NPY_INT32 = 1 << 4,
    NPY_INT64 = 1 << 5,
    NPY_BFLOAT16 = 1 << 6,
    NPY_INT8 = 1 << 7,
    NPY_FLOATS = NPY_FLOAT32 | NPY_FLOAT64 | NPY_FLOAT16,
    NPY_INTEGERS = NPY_INT32 | NPY_INT64,
};

/** The dtype of a tensor of int32 elements, for which the library has no code. */
#define NPY_I32 ((attn_dtype_t)-4)

/** What a reader takes; anything else in the file is an error that says so. */
typedef struct npy_wanted {
    uint32_t types;    /**< of enum npy_type */
    int32_t low, high; /**< ranks, 1 to 4 */
    const char *ranks; /**< the same for people: "2 (n, d) or 3 (H, n, d)" */
    int may_be_empty;  /**< whether a size may be 0 */
} npy_wanted_t;

/**
 * Read the file image bytes[size]. *tensor becomes a view into `bytes`, where elements are moved
 * and float64 becomes float32; `bytes` must be aligned as malloc() does, stays the caller's and is
 * no longer an .npy image afterwards. Leading dimensions that the file lacks become 1; *rank is the
 * file's.
 */
attn_status_t npy_read(void *bytes, size_t size, const npy_wanted_t *wanted, attn_tensor_t *tensor,
                       int32_t *rank, attn_error_t *error);

/** The same of elements that stand at bytes[data..size), as `dict` says . */
attn_status_t npy_take(void *bytes, size_t size, size_t data, const npy_dict_t *dict,
                       const npy_wanted_t *wanted, attn_tensor_t *tensor, int32_t *rank,
                       attn_error_t *error);

/** Whether `size` bytes of data are what a wanted array of this header has; *item becomes the bytes of an element. */
attn_status_t npy_check(const npy_dict_t *dict, const npy_wanted_t *wanted, uint64_t size,
                        size_t *item, attn_error_t *error);

/** The dtype of a tensor of its elements, which are of a wanted type. */
attn_dtype_t npy_dtype(const npy_dict_t *dict, const npy_wanted_t *wanted);

/** The same for all floats of rank 2 (n, d), 3 (H, n, d) or 4 (B, H, n, d). */
attn_status_t npy_parse(void *bytes, size_t size, attn_tensor_t *tensor, int32_t *rank,
                        attn_error_t *error);

/** Bytes of an element of a tensor that npy_read() gave. */
size_t npy_element_size(attn_dtype_t dtype);

/**
 * Write the header of an array of ATTN_F32, ATTN_F16, ATTN_BOOL or ATTN_I64 with the last `rank` (1 to 4) dimensions of
 * `shape`; returns its length. The elements follow it in C order.
 */
size_t npy_header(char header[NPY_HEADER_SIZE], attn_dtype_t dtype, int32_t rank,
                  const int64_t shape[4]);

#endif
