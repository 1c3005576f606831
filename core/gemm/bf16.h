/*
 * gemm/bf16.h: the register tile (tile.h) for products of bf16 numbers, summed in f32.
 *
 * A float is the sum of up to three bf16 numbers, its parts, the larger first: one has 8 bits of it, two have 17, three
 * have all. A product of two floats is the sum of the products of their parts but for the smallest: 1, 3 or 6 of them. (Henry, Tang,
 * Heinecke, "Leveraging the bfloat16 artificial intelligence datatype for higher-precision computations", 2019.)
 *
 * A word of 32 bits holds two terms that follow each other, the first in the low bits. Left factors are rows of terms;
 * right ones are panels [words][PANEL]. Sums are bf16_sums_t: bf16_zero(), bf16_add(), bf16_end(), and then bf16_sum() of
 * each vector. Denormals may count as zero.
 */
#ifndef ATTN_GEMM_BF16_H
#define ATTN_GEMM_BF16_H

#include "gemm/tile.h"
#include "simd/words.h"

#include <string.h>

enum { BF16_MOST_PARTS = 3 };

/* The nearest bf16 number; a finite number stays finite. */
ATTN_INLINE vf bf16_part_(vf x) {
    const vf part = vf_nearest_bf16(x), size = vf_max(vf_sub(vf_zero(), part), part);
    return vf_select_positive(vf_sub(size, vf_set1(FLT_MAX)), vf_cut_bf16(x), part);
}

/** The parts of x, each a float that is a bf16 number, rounded to nearest even. What an infinity leaves is NaN. */
ATTN_INLINE void bf16_split(int parts, vf x, vf *part) {
    for (int p = 0; p < parts; p++) {
        part[p] = bf16_part_(x);
        x = vf_sub(x, part[p]);
    }
}

/** Whole vectors of a row of terms to their parts. */
ATTN_INLINE void bf16_split_row(int parts, const float *from, int64_t count, uint16_t *to,
                                int64_t part_stride) {
    for (int64_t k = 0; k < count; k += VF_LANES) {
        vf part[BF16_MOST_PARTS];
        bf16_split(parts, vf_load(from + k), part);
        for (int p = 0; p < parts; p++) vf_store_upper16(to + p * part_stride + k, part[p]);
    }
}

/** The same of weights, which are far from the largest float. */
ATTN_INLINE void bf16_split_weights(int parts, const float *from, int64_t count, uint16_t *to,
                                    int64_t part_stride) {
    ATTN_UNROLL_4
    for (int64_t k = 0; k < count; k += VF_LANES) {
        vf x = vf_load(from + k);
        for (int p = 0; p + 1 < parts; p++) {
            const vf part = vf_nearest_bf16(x);
            vf_store_upper16(to + p * part_stride + k, part);
            x = vf_sub(x, part);
        }
        vf_store_nearest_bf16(to + (parts - 1) * part_stride + k, x);
    }
}

/** Words of a panel: word g of column j has the terms from[2g][j] and from[2g + 1][j], and parts are [parts][words][PANEL].
 * Terms from `terms` on are zero. */
ATTN_INLINE void bf16_pack(int parts, const float *from, int64_t stride, int64_t terms,
                           int64_t words, int32_t *to) {
    for (int64_t g = 0; g < words; g++)
        for (int v = 0; v < PANEL; v += VF_LANES) {
            vf low[BF16_MOST_PARTS], high[BF16_MOST_PARTS];
            const float *row = from + 2 * g * stride + v;
            bf16_split(parts, 2 * g < terms ? vf_load(row) : vf_zero(), low);
            bf16_split(parts, 2 * g + 1 < terms ? vf_load(row + stride) : vf_zero(), high);
            for (int p = 0; p < parts; p++)
                vi_store(to + (p * words + g) * PANEL + v, vi_pair_bf16(low[p], high[p]));
        }
}

/* Word g of a row of `terms` bf16 numbers; terms behind them are zero. */
ATTN_INLINE int32_t bf16_word_(const uint16_t *row, int64_t terms, int64_t g) {
    uint16_t word[2] = {0, 0};
    int32_t bits;
    if (2 * g < terms) word[0] = row[2 * g];
    if (2 * g + 1 < terms) word[1] = row[2 * g + 1];
    memcpy(&bits, word, sizeof bits);
    return bits;
}

/** The only part of a panel, to[words][PANEL], whose columns are `count` rows of `terms` bf16 numbers, `stride` apart, and
 * zeros behind them. */
ATTN_INLINE void bf16_pack_rows(const uint16_t *from, int64_t stride, int64_t count, int64_t terms,
                                int64_t words, int32_t *to) {
    const int64_t bytes = stride * (int64_t)sizeof *from;
    int64_t j = 0;
    for (; j + VF_LANES <= count; j += VF_LANES) {
        const uint16_t *rows = from + j * stride;
        int64_t g = 0;
        for (; 2 * (g + 4) <= terms; g += 4)
            words_transpose((const char *)(rows + 2 * g), bytes, to + g * PANEL + j, PANEL);
        for (; g < words; g++)
            for (int64_t i = 0; i < VF_LANES; i++)
                to[g * PANEL + j + i] = bf16_word_(rows + i * stride, terms, g);
    }
    for (; j < PANEL; j++)
        for (int64_t g = 0; g < words; g++)
            to[g * PANEL + j] = j < count ? bf16_word_(from + j * stride, terms, g) : 0;
}

/* Lanes from column c on, of a row of bf16 numbers or of none; those behind `columns` are zero. */
ATTN_INLINE vf bf16_columns_(const uint16_t *row, int64_t c, int64_t columns) {
    uint16_t last[VF_LANES] = {0};
    if (!row || c >= columns) return vf_zero();
    if (c + VF_LANES <= columns) return vf_load_bf16(row + c);
    memcpy(last, row + c, (size_t)(columns - c) * sizeof *last);
    return vf_load_bf16(last);
}

/** The only part of a row of `terms` bf16 numbers times a power of two; terms behind them are zero, up to `count`, whole
 * vectors. */
ATTN_INLINE void bf16_scale_row(const uint16_t *from, int64_t terms, float power, int64_t count,
                                uint16_t *to) {
    for (int64_t k = 0; k < count; k += VF_LANES)
        vf_store_upper16(to + k, vf_mul(vf_set1(power), bf16_columns_(from, k, terms)));
}

/** The only part of panels, to[panels of columns][PANEL / 2][PANEL], of `count` rows of bf16 numbers, whose terms are rows:
 * each word has a column of two rows; there are zeros behind all. Returns whether all numbers are finite. */
ATTN_INLINE int bf16_pack_columns(const uint16_t *from, int64_t stride, int64_t count,
                                  int64_t columns, int32_t *to) {
    vf poison = vf_zero(); /* 0 * x is 0 for finite x, NaN otherwise */
    for (int64_t c = 0; c < columns; c += PANEL, to += PANEL / 2 * PANEL)
        for (int64_t i = 0; i < PANEL; i += 2) {
            const uint16_t *row = i < count ? from + i * stride : NULL;
            const uint16_t *next = i + 1 < count ? from + (i + 1) * stride : NULL;
            ATTN_UNROLL
            for (int v = 0; v < PANEL; v += VF_LANES) {
                const vf low = bf16_columns_(row, c + v, columns);
                const vf high = bf16_columns_(next, c + v, columns);
                poison = vf_mul_add(vf_zero(), low, vf_mul_add(vf_zero(), high, poison));
                vi_store(to + i / 2 * PANEL + v, vi_pair_bf16(low, high));
            }
        }
    return vf_reduce_add(poison) == 0.0f;
}

/** Left factors: part p of term k of row r at at[p*part + r*stride + k]. */
typedef struct bf16_rows {
    const uint16_t *at;
    int64_t stride, part;
} bf16_rows_t;

/** A panel: part p of word g at at[p*part + g*PANEL]. */
typedef struct bf16_panel {
    const int32_t *at;
    int64_t part;
} bf16_panel_t;

#if VF_HAS_AMX
#include "gemm/bf16_amx.h"
#elif VI_HAS_PAIRS
#include "gemm/bf16_pairs.h"
#else
#include "gemm/bf16_vectors.h"
#endif

/** sums += the products of part p of rows and part q of columns over `words` words. `rows` and `vectors` are constants:
 * of rows BF16_FEW_ROWS or all, of a panel's vectors 1 or all. */
ATTN_INLINE void bf16_add(int rows, int vectors, int64_t words, bf16_rows_t left, int p,
                          bf16_panel_t right, int q, bf16_sums_t *sums) {
    bf16_add_part_(rows, vectors, words, left.at + p * left.part, left.stride,
                   right.at + q * right.part, sums);
}

/** For the parts p and q of each product, small ones first: their sums are then rounded as sums of floats are. */
#define BF16_EACH_PRODUCT(parts, p, q)                                                             \
    for (int both_ = (parts)-1; both_ >= 0; both_--)                                               \
        for (int p = 0, q = both_; p <= both_; p++, q--)

/** Words that `terms` terms take: of the last, zeros are multiplied too. */
ATTN_INLINE int64_t bf16_words(int64_t terms) { return attn_round_up((terms + 1) / 2, BF16_STEP); }

#endif
