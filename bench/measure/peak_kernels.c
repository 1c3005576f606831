/*
 * measure/peak_kernels.c: the loops. How many independent accumulators it takes to hide the latency of
 * a multiply-add, and how many fit into the registers, differs from tier to tier and from engine to
 * engine: a few numbers are tried, and the best is the peak.
 */
#include "peak_kernels.h"

#include "simd/simd.h"

enum { READERS = 8 };

ATTN_INLINE float sum_of(const vf *sums, int count) {
    vf total = vf_zero();
    for (int i = 0; i < count; i++) total = vf_add(total, sums[i]);
    return vf_reduce_add(total);
}

/* x = x * a + b tends to b / (1 - a), here 1: no overflow, no denormals. None starts there, or the
 * compiler could leave its chain out. */
#define MULTIPLY_ADD(CHAINS)                                                                       \
    static float multiply_add_##CHAINS(int64_t steps) {                                            \
        const vf a = vf_set1(0.5f), b = vf_set1(0.5f);                                             \
        vf sums[CHAINS];                                                                           \
        ATTN_UNROLL                                                                                \
        for (int i = 0; i < CHAINS; i++) sums[i] = vf_set1((float)(i + 2));                        \
        for (int64_t step = 0; step < steps; step++) {                                             \
            ATTN_UNROLL                                                                            \
            for (int i = 0; i < CHAINS; i++) sums[i] = vf_mul_add(sums[i], a, b);                  \
        }                                                                                          \
        return sum_of(sums, CHAINS);                                                               \
    }

MULTIPLY_ADD(8)
MULTIPLY_ADD(10)
MULTIPLY_ADD(12)

/* A dot product of a row and a column that stay the same would be taken once: as in a tile (gemm/dots.h) rows meet
 * columns, and the columns are read anew in each step. Sums, rows, a column and a product have to fit into the
 * registers: 16 of them, but with AVX-512. */
enum { DOT_ROWS = 4, DOT_COLUMNS = ATTN_SIMD_BITS == 512 ? 3 : 2 };

/* Each word's numbers are balanced: 1 and -1 in columns, one number in rows. So no sum overflows. */
#define DOTS(BITS, PRODUCT, ROW, COLUMN)                                                           \
    static float dots_##BITS(int64_t steps) {                                                      \
        int32_t words[DOT_COLUMNS * VF_LANES], *columns = words;                                   \
        vi rows[DOT_ROWS], sums[DOT_ROWS][DOT_COLUMNS];                                            \
        for (int i = 0; i < DOT_COLUMNS * VF_LANES; i++) words[i] = (COLUMN);                      \
        __asm__("" : "+r"(columns)); /* the compiler knows no more what they are */                \
        ATTN_UNROLL                                                                                \
        for (int r = 0; r < DOT_ROWS; r++) rows[r] = vi_set1((r + 1) * (ROW));                     \
        ATTN_UNROLL                                                                                \
        for (int r = 0; r < DOT_ROWS; r++) {                                                       \
            ATTN_UNROLL                                                                            \
            for (int c = 0; c < DOT_COLUMNS; c++) sums[r][c] = vi_set1(r + c);                     \
        }                                                                                          \
        for (int64_t step = 0; step < steps; step++) {                                             \
            ATTN_READ_ANEW;                                                                        \
            ATTN_UNROLL                                                                            \
            for (int c = 0; c < DOT_COLUMNS; c++) {                                                \
                const vi column = vi_load(columns + c * VF_LANES);                                 \
                ATTN_UNROLL                                                                        \
                for (int r = 0; r < DOT_ROWS; r++)                                                 \
                    sums[r][c] = PRODUCT(sums[r][c], rows[r], column);                             \
            }                                                                                      \
        }                                                                                          \
        vf total = vf_zero();                                                                      \
        ATTN_UNROLL                                                                                \
        for (int r = 0; r < DOT_ROWS; r++) {                                                       \
            ATTN_UNROLL                                                                            \
            for (int c = 0; c < DOT_COLUMNS; c++) total = vf_add(total, vi_to_vf(sums[r][c]));     \
        }                                                                                          \
        return vf_reduce_add(total);                                                               \
    }

#if VI_HAS_PAIRS
enum { DOT8_OPERATIONS = 16 * VF_LANES };
DOTS(8, vi_multiply8, 0x01010101, (int32_t)0xff01ff01)
#elif VI_HAS_DOT8
enum { DOT8_OPERATIONS = 8 * VF_LANES };
DOTS(8, vi_dot8, 0x01010101, (int32_t)0xff01ff01)
#endif
DOTS(16, vi_dot16, 0x00010001, (int32_t)0xffff0001)

enum { LINE = 16 /* floats */ };

/* Also behind the array's end, where nothing is read. */
ATTN_INLINE void ask_for(const float *from, int bytes, int once) {
    const void *line = (const void *)((uintptr_t)from + (uintptr_t)bytes);
    if (once)
        __builtin_prefetch(line, 0, 0);
    else
        __builtin_prefetch(line, 0, 3);
}

/* All of it, as so many stretches side by side; all but data and count are constants. */
ATTN_INLINE float read_all(int stretches, int ahead, int once, const float *data, int64_t count) {
    const int64_t part = count / stretches, at_once = READERS / stretches;
    vf sums[READERS];
    ATTN_UNROLL
    for (int i = 0; i < READERS; i++) sums[i] = vf_zero();
    for (int64_t at = 0; at < part; at += at_once * LINE) {
        ATTN_UNROLL
        for (int i = 0; i < READERS; i++) {
            const float *from = data + i / at_once * part + at + i % at_once * LINE;
            if (ahead) ask_for(from, ahead, once);
            ATTN_UNROLL
            for (int c = 0; c < LINE; c += VF_LANES) sums[i] = vf_add(sums[i], vf_load(from + c));
        }
    }
    return sum_of(sums, READERS);
}

#define READ(STRETCHES, AHEAD, ONCE)                                                               \
    static float read_##STRETCHES##_##AHEAD##_##ONCE(const float *data, int64_t count) {           \
        return read_all(STRETCHES, AHEAD, ONCE, data, count);                                      \
    }
#define READ_STRETCHES(AHEAD, ONCE)                                                                \
    READ(1, AHEAD, ONCE)                                                                           \
    READ(2, AHEAD, ONCE)                                                                           \
    READ(4, AHEAD, ONCE)                                                                           \
    READ(8, AHEAD, ONCE)
#define ORDER(STRETCHES, AHEAD, ONCE)                                                              \
    { STRETCHES, AHEAD, ONCE, read_##STRETCHES##_##AHEAD##_##ONCE }
#define ORDERS(AHEAD, ONCE)                                                                        \
    ORDER(1, AHEAD, ONCE), ORDER(2, AHEAD, ONCE), ORDER(4, AHEAD, ONCE), ORDER(8, AHEAD, ONCE)

READ_STRETCHES(0, 0)
#ifndef __wasm__
READ_STRETCHES(512, 0)
READ_STRETCHES(1024, 0)
READ_STRETCHES(2048, 0)
READ_STRETCHES(2048, 1)
#endif

static void update(float *data, int64_t count) {
    enum { AT_ONCE = 16 / VF_LANES };
    const vf half = vf_set1(0.5f);
    for (int64_t at = 0; at < count; at += 16) {
        ATTN_UNROLL
        for (int i = 0; i < AT_ONCE; i++) {
            float *place = data + at + i * VF_LANES;
            vf_store(place, vf_mul_add(half, vf_load(place), half));
        }
    }
}

const peak_kernels_t ATTN_KERNEL(peak_kernels) = {
    .multiply_add = {{multiply_add_8, 2 * 8 * VF_LANES},
                     {multiply_add_10, 2 * 10 * VF_LANES},
                     {multiply_add_12, 2 * 12 * VF_LANES}},
    .dots =
        {
#if VI_HAS_DOT8
            {dots_8, DOT8_OPERATIONS *DOT_ROWS *DOT_COLUMNS},
#else
            {NULL, 0},
#endif
            {dots_16, 4 * DOT_ROWS *DOT_COLUMNS *VF_LANES},
        },
#ifdef __wasm__
    .read = {ORDERS(0, 0)},
#else
    .read = {ORDERS(0, 0), ORDERS(512, 0), ORDERS(1024, 0), ORDERS(2048, 0), ORDERS(2048, 1)},
#endif
    .update = update,
};
