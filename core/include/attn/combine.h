/*
 * attn/combine.h: one result of the results of disjoint keys, for programs that share a sequence's
 * keys among threads, processes, workers or machines. Each part is a run of its own on its keys,
 * with lse.
 *
 *     attn_part_t parts[2] = {{.out = out_of_first_keys, .lse = lse_of_first_keys},
 *                             {.out = out_of_the_others, .lse = lse_of_the_others}};
 *     attn_combine(parts, 2, &out, &lse, &error);
 *
 * How a part's queries stand beside its keys, `past` of its problem says: where the keys begin at
 * position k and the queries at position p of the whole sequence, past is p - k, which may be below
 * 0.
 */
#ifndef ATTN_COMBINE_H
#define ATTN_COMBINE_H

#include "attn/attn.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What queries got of some of their keys. Read only.
 *
 * - `out`: f32 (B, H, n, dv), or absent: zeros, as of a sink.
 * - `lse`: f32 or f64 (B|1, H|1, n|1, 1), the log of the sum of exponentials. -inf: the row has no
 *   key in this part, and its `out` is not read. attn_run()'s sinks, (1, H, 1, 1), are the lse of a
 *   part without `out`.
 */
typedef struct attn_part {
    attn_tensor_t out;
    attn_tensor_t lse;
} attn_part_t;

/**
 * Combine parts: with L = log sum_p exp(lse_p), out = sum_p exp(lse_p - L) out_p and lse = L. Sums
 * are in double precision, in the order of the parts: the same parts give the same bits.
 *
 * - A row with keys in one part alone is that part's row, bit for bit (rounded where `out` is f16
 *   or bf16). A row without any gets zeros and -inf.
 * - A row in which some lse is NaN or +inf becomes NaN, out and lse, as a run's does.
 *
 * `out` is f32, f16 or bf16 (B, H, n, dv); `lse` f32 or f64 (B, H, n, 1), NULL or without data
 * where nobody wants it. Each may be that of one part itself: the same memory, shape, strides and
 * type. They share no other memory with each other or with parts. No parts at all are parts without
 * keys. Does not allocate. [any thread]
 *
 * Where parts are combined bit by bit, keep lse in f64: each rounding to f32 moves the weights by
 * up to 2^-24 |lse|.
 *
 * Errors; nothing is written:
 * - ATTN_ERROR_SHAPE, ATTN_ERROR_DTYPE: a tensor's extents or element type.
 * - ATTN_ERROR_ARGUMENT: NULL, no data, misaligned data, overlapping elements or shared memory, or
 *   a count below 0.
 */
ATTN_API attn_status_t attn_combine(const attn_part_t *parts, int64_t count,
                                    const attn_tensor_t *out, const attn_tensor_t *lse,
                                    attn_error_t *error);

#ifdef __cplusplus
}
#endif
#endif
