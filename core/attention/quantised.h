/*
 * attention/quantised.h: what attention by integer dot products computes, on every tier alike.
 *
 * Keys come in blocks of QUANTISED_KEYS. In each, K = 1 mean^T + K' (K' is smaller where channels have
 * outliers: SageAttention, arXiv:2410.02367, Section 4.2), and Q, K' and V are integers times scales: one for
 * each row of Q and K' and one for each column of V (attention/quantise.h), found of the keys that some query sees:
 *     S_ij = Q_i mean + s_i t_j sum_k Qint_ik K'int_jk     exact in integers
 *     P_ij = round(weight_level * exp(S_ij - max of row i in the block))
 *     O_i  = sum over blocks of exp(max - M) / weight_level * u_c sum_j P_ij Vint_jc     the same
 * while the row's sum is of exponentials in f32. S, its modifiers and all else are online_softmax.h's.
 *
 * Fewer than QUANTISED_ROWS queries of a key/value head, those of all heads that read it, have the products of floats: to
 * quantise all keys for them would take longer than to attend. Unless they are decoded (plan.h) and keys and values are in
 * i8: these are integers as they are, with s_j and u_j for each
 * token, and either precision is the same (attention/decode_i8.h): Q has at most 32767, less where sums would not fit
 * 32 bits, and P at most 16383 at the largest P_ij u_j of a block of up to DECODE_SPLIT keys,
 *     S_ij = r_i s_j sum_k Qint_ik K_jk
 *     P_ij = round(16383 exp(S_ij) u_j / largest), O_i = sum over blocks of largest / 16383 sum_j P_ij V_jc
 */
#ifndef ATTN_ATTENTION_QUANTISED_H
#define ATTN_ATTENTION_QUANTISED_H

enum {
    QUANTISED_KEYS = 192, /* whole panels on every tier */
    QUANTISED_ROWS = 96
};

/* Largest integers: of queries and keys, unless fewer fit their sum into 32 bits; of weights; of values:
 * QUANTISED_KEYS times the last two is below 2^31. */
#define QUANTISED_INT8 127, 255, 127
#define QUANTISED_INT16 32767, 4096, 2730

/* Above, 127 squared times as many terms would not fit 32 bits. */
enum { QUANTISED_MOST_DIM = 65536 };

#endif
