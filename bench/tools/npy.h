/*
 * tools/npy.h: NumPy's array files (.npy), read from memory and written to memory.
 *
 * Format: NEP 1 and numpy.lib.format, versions 1.0, 2.0 and 3.0. Read: little-endian float32 and
 * float64, rank 2 (n, d), 3 (H, n, d) or 4 (B, H, n, d), C and Fortran order. Written: float32 in
 * C order, version 1.0.
 */
#ifndef ATTN_TOOLS_NPY_H
#define ATTN_TOOLS_NPY_H

#include "attn/types.h"

#include <stddef.h>

/** Room that npy_header() needs: a multiple of 64, so that the data after it stays aligned. */
#define NPY_HEADER_SIZE 192

/**
 * Read the file image bytes[size]. The elements are converted to f32 in place, so that *tensor is
 * a view into `bytes`, which must be aligned as malloc() does, stays the caller's and is no longer
 * an .npy image afterwards. Leading dimensions that the file lacks become 1; *rank is the file's.
 */
attn_status_t npy_parse(void *bytes, size_t size, attn_tensor_t *tensor, int32_t *rank,
                        attn_error_t *error);

/**
 * Write the header of a float32 array with the last `rank` (1 to 4) dimensions of `shape`; returns
 * its length. The elements follow it in C order.
 */
size_t npy_header(char header[NPY_HEADER_SIZE], int32_t rank, const int64_t shape[4]);

#endif
