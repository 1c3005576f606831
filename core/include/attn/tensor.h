/*
 * attn/tensor.h: problems, tensors and their element types. Part of attn/attn.h, which
 * has the rules of errors, threads and structs.
 */
#ifndef ATTN_TENSOR_H
#define ATTN_TENSOR_H

#include "attn/api.h"
#include "attn/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- problem and tensors --------------------------------------------------------------------- */

/**
 * Fill a problem: f32, kv_heads = heads, not causal, default scale. Change fields afterwards.
 * [any thread]
 */
ATTN_API void attn_problem_init(attn_problem_t *problem, int64_t batch, int64_t heads,
                                int64_t queries, int64_t keys, int64_t dim, int64_t value_dim);

/**
 * Check a problem by itself: sizes of at least 1, products that fit in memory, heads a multiple of
 * kv_heads. [any thread]
 * Errors:
 * - ATTN_ERROR_SHAPE: a size or a product of sizes.
 * - ATTN_ERROR_DTYPE: an element type.
 * - ATTN_ERROR_RANGE, ATTN_ERROR_ARGUMENT: another field; the message names it.
 */
ATTN_API attn_status_t attn_problem_check(const attn_problem_t *problem, attn_error_t *error);

/**
 * Say that runs bring the input of this name, the library's or the backend's own. Sets its bit in
 * problem->inputs or own_inputs. [any thread]
 * Errors:
 * - ATTN_ERROR_NOT_FOUND: there is no such input.
 * - ATTN_ERROR_ARGUMENT: all runs have to bring it, or none.
 */
ATTN_API attn_status_t attn_problem_add_input(attn_problem_t *problem,
                                              const attn_backend_t *backend, const char *name,
                                              attn_error_t *error);

/**
 * Views of contiguous memory. "bhnd" has the order (batch, head, row, column), "bnhd" the order
 * (batch, row, head, column). `data` is const so that inputs need no cast; the memory of outputs
 * must be writable. An unknown dtype, or extents that fit in no memory, make a tensor that every
 * call refuses (ATTN_ERROR_DTYPE, ATTN_ERROR_SHAPE). [any thread]
 */
ATTN_API ATTN_UNREAD(1) attn_tensor_t
    attn_tensor_bhnd(const float *data, int64_t batch, int64_t heads, int64_t rows,
                     int64_t columns);
ATTN_API ATTN_UNREAD(1) attn_tensor_t
    attn_tensor_bnhd(const float *data, int64_t batch, int64_t heads, int64_t rows,
                     int64_t columns);

/**
 * The same for any element type, e.g. ATTN_F16. With key and value in i8, their scales are f32
 * tensors with one column: attn_tensor_bhnd(scales, batch, kv_heads, keys, 1). [any thread]
 */
ATTN_API ATTN_UNREAD(2) attn_tensor_t
    attn_tensor_bhnd_of(attn_dtype_t dtype, const void *data, int64_t batch, int64_t heads,
                        int64_t rows, int64_t columns);
ATTN_API ATTN_UNREAD(2) attn_tensor_t
    attn_tensor_bnhd_of(attn_dtype_t dtype, const void *data, int64_t batch, int64_t heads,
                        int64_t rows, int64_t columns);

/** One number for each batch: io->kv_lengths. [any thread] */
ATTN_API attn_tensor_t attn_tensor_lengths(const int64_t *lengths, int64_t batch);

/** One number for each query head: io->sinks, io->slopes. [any thread] */
ATTN_API attn_tensor_t attn_tensor_heads(const float *numbers, int64_t heads);

/**
 * ALiBi's slopes for `heads` query heads, for io->slopes (arXiv:2108.12409). For H heads, H a power
 * of two, slope i (from 0 on) is 2^(-8 (i + 1) / H). For another number, let P be the largest power
 * of two below it: the first P slopes are those of P heads, and every other slope of 2 P heads
 * follows, from the first on. The paper's code, BLOOM, MPT and Baichuan do the same. [any thread]
 *
 * Errors:
 * - ATTN_ERROR_RANGE: heads is below 1.
 */
ATTN_API attn_status_t attn_alibi_slopes(float *slopes, int64_t heads, attn_error_t *error);

/**
 * How many elements of a tensor are NaN or infinite. Runs compute with them as IEEE 754 says.
 * [any thread]
 */
ATTN_API int64_t attn_count_nonfinite(const attn_tensor_t *tensor);

/* ---- element types --------------------------------------------------------------------------- */

/**
 * Convert `count` numbers at `from` to f16, bf16 or f32 at `to`, rounded to nearest even. NaN stays
 * NaN (its payload may change), an infinity stays one. Numbers too large for the type become
 * infinities: from 65520 on in f16, from 2^128 (1 - 2^-9) on in bf16. f16 has its subnormals,
 * multiples of 2^-24. `to` and `from` do not overlap and have the alignment of their elements.
 * [any thread]
 *
 * Errors:
 * - ATTN_ERROR_DTYPE: any other type (attn_quantise_i8() makes i8).
 * - ATTN_ERROR_SHAPE: `count` is negative, or no memory has so many.
 */
ATTN_API attn_status_t attn_from_f32(void *to, attn_dtype_t dtype, const float *from, int64_t count,
                                     attn_error_t *error);

/**
 * Convert back, which is exact. [any thread]
 * Errors:
 * - ATTN_ERROR_DTYPE: `dtype` is not f16, bf16 or f32.
 * - ATTN_ERROR_SHAPE: as of attn_from_f32().
 */
ATTN_API attn_status_t attn_to_f32(float *to, const void *from, attn_dtype_t dtype, int64_t count,
                                   attn_error_t *error);

/**
 * Convert contiguous rows of f32 to i8, each row with a scale of its own: to[i] is from[i] / scale,
 * rounded to nearest even, in -127..127. So to[i] * scale is off by at most half a scale (beside
 * f32's rounding). A row's scale is its largest magnitude / 127, at least the smallest normal f32:
 * always positive and finite, as a run needs it. The rows are the tokens of heads, (B, Hkv, m) of
 * them; `columns` is d or dv. [any thread]
 *
 * Errors:
 * - ATTN_ERROR_RANGE: a row has NaN or an infinity. Nothing is written.
 * - ATTN_ERROR_SHAPE: no memory has so many rows.
 */
ATTN_API attn_status_t attn_quantise_i8(int8_t *to, float *scales, const float *from, int64_t rows,
                                        int64_t columns, attn_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
