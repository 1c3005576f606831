/*
 * gemm/amx.h: the tile registers of AMX, eight of 16 rows by 64 bytes: what products of bf16 and of bytes take of them. A
 * second time in plain C (ATTN_EMULATED_AMX), so that every machine tests kernels for them.
 *
 * Tile registers are a thread's own, and callers save what they have in them (System V ABI, x86-64 supplement), so a task
 * that begins by amx_begin() owes its caller nothing but amx_end(): from there on threads are switched without them.
 */
#ifndef ATTN_GEMM_AMX_H
#define ATTN_GEMM_AMX_H

#include "simd/simd.h"

#include <string.h>

enum {
    AMX_ROWS = 16,
    AMX_WORDS = 16, /* of 32 bits in a row */
};

/* What was written before is in memory from here on, and what is read behind this is read anew: before the first load of
 * tiles, and behind the last store. */
#define amx_meet_memory() ATTN_READ_ANEW

#if defined(ATTN_EMULATED_AMX)

/* Eight registers. Numbers of registers are constants. */
typedef struct amx_tiles {
    uint32_t at[8][AMX_ROWS][AMX_WORDS];
} amx_tiles_t;

ATTN_INLINE void amx_begin(void) {}
ATTN_INLINE void amx_end(void) {}

#define amx_zero(tiles, number) memset((tiles)->at[number], 0, sizeof(tiles)->at[number])

ATTN_INLINE void amx_copy_in_(uint32_t tile[AMX_ROWS][AMX_WORDS], const void *from,
                              int64_t stride) {
    for (int r = 0; r < AMX_ROWS; r++)
        memcpy(tile[r], (const char *)from + r * stride, sizeof tile[r]);
}
#define amx_load(tiles, number, from, stride) amx_copy_in_((tiles)->at[number], from, stride)

ATTN_INLINE void amx_copy_out_(uint32_t tile[AMX_ROWS][AMX_WORDS], void *to, int64_t stride) {
    for (int r = 0; r < AMX_ROWS; r++) memcpy((char *)to + r * stride, tile[r], sizeof tile[r]);
}
#define amx_store(tiles, number, to, stride) amx_copy_out_((tiles)->at[number], to, stride)

ATTN_INLINE float amx_flushed_(float x) { return fabsf(x) < FLT_MIN ? 0.0f : x; }
ATTN_INLINE float amx_half_(uint32_t word, int upper) {
    const uint32_t bits = upper ? word & 0xffff0000u : word << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return amx_flushed_(x);
}

/* As TDPBF16PS has it: each word's two products are added to the sum one after another, and denormals are zero. */
ATTN_INLINE void amx_multiply_(uint32_t sum[AMX_ROWS][AMX_WORDS],
                               uint32_t left[AMX_ROWS][AMX_WORDS],
                               uint32_t right[AMX_ROWS][AMX_WORDS]) {
    for (int r = 0; r < AMX_ROWS; r++)
        for (int c = 0; c < AMX_WORDS; c++) {
            float x;
            memcpy(&x, &sum[r][c], sizeof x);
            for (int k = 0; k < AMX_WORDS; k++)
                for (int half = 0; half < 2; half++)
                    x = amx_flushed_(
                        fmaf(amx_half_(left[r][k], half), amx_half_(right[k][c], half), x));
            memcpy(&sum[r][c], &x, sizeof x);
        }
}
#define amx_multiply_bf16(tiles, sum, left, right)                                                 \
    amx_multiply_((tiles)->at[sum], (tiles)->at[left], (tiles)->at[right])

/* As TDPBUSD has it: a word's four products of unsigned and signed bytes are added modulo 2^32. */
ATTN_INLINE void amx_multiply_bytes_(uint32_t sum[AMX_ROWS][AMX_WORDS],
                                     uint32_t left[AMX_ROWS][AMX_WORDS],
                                     uint32_t right[AMX_ROWS][AMX_WORDS]) {
    for (int r = 0; r < AMX_ROWS; r++)
        for (int c = 0; c < AMX_WORDS; c++)
            for (int k = 0; k < AMX_WORDS; k++)
                for (int byte = 0; byte < 4; byte++) {
                    const int32_t a = (uint8_t)(left[r][k] >> 8 * byte);
                    const int32_t b = (int8_t)(right[k][c] >> 8 * byte);
                    sum[r][c] += (uint32_t)(a * b);
                }
}
#define amx_multiply_bytes(tiles, sum, left, right)                                                \
    amx_multiply_bytes_((tiles)->at[sum], (tiles)->at[left], (tiles)->at[right])

#else

typedef struct amx_tiles {
    char none;
} amx_tiles_t;

/* Palette 1: all registers whole. */
ATTN_INLINE void amx_begin(void) {
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1};
    for (int t = 0; t < 8; t++) config.row_bytes[t] = 4 * AMX_WORDS, config.rows[t] = AMX_ROWS;
    _tile_loadconfig(&config);
}
ATTN_INLINE void amx_end(void) { _tile_release(); }

/* gcc's are statements, and do not say that they read and write memory: see amx_meet_memory(). */
#define AMX_DO_(tiles, instruction)                                                                \
    do {                                                                                           \
        (void)(tiles);                                                                             \
        instruction;                                                                               \
    } while (0)
#define amx_zero(tiles, number) AMX_DO_(tiles, _tile_zero(number))
#define amx_load(tiles, number, from, stride)                                                      \
    AMX_DO_(tiles, _tile_loadd(number, from, (size_t)(stride)))
#define amx_store(tiles, number, to, stride)                                                       \
    AMX_DO_(tiles, _tile_stored(number, to, (size_t)(stride)))
#define amx_multiply_bf16(tiles, sum, left, right) AMX_DO_(tiles, _tile_dpbf16ps(sum, left, right))
#define amx_multiply_bytes(tiles, sum, left, right) AMX_DO_(tiles, _tile_dpbusd(sum, left, right))

#endif

#endif
