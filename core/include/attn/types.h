/*
 * attn/types.h: the plain data that host programs and plugins share.
 *
 * Notation of the whole library: B batches, H query heads, Hkv key/value heads, n queries, m keys,
 * d query/key dimension, dv value dimension; logits S = scale * Q K^T, weights A = softmax(S) by
 * row, output O = A V, lse_i = log sum_j exp(S_ij).
 *
 * Everything here crosses the boundary between host and plugin: fixed-width integers only, and
 * structs that can grow begin with `struct_size` and are only ever appended to (attn/grow.h).
 */
#ifndef ATTN_TYPES_H
#define ATTN_TYPES_H

#include "attn/grow.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status and error ------------------------------------------------------------------------ */

/** What a call came to. The numbers are part of the ABI. */
enum attn_status_code {
    ATTN_OK = 0,
    /** A null pointer, a struct_size below the first version's, a field that this library is too
     *  old for, a malformed value. */
    ATTN_ERROR_ARGUMENT = 1,
    /** Sizes that are not positive or do not fit together. */
    ATTN_ERROR_SHAPE = 2,
    /** An element type that is unknown or not the plan's. */
    ATTN_ERROR_DTYPE = 3,
    /** A backend that cannot solve this problem; the message says why. */
    ATTN_ERROR_UNSUPPORTED = 4,
    /** An unknown backend, parameter or tier. */
    ATTN_ERROR_NOT_FOUND = 5,
    /** A parameter or an element outside its range. */
    ATTN_ERROR_RANGE = 6,
    /** A file that is not a plugin, or a backend id that is taken. */
    ATTN_ERROR_PLUGIN = 7,
    /** A plugin of another ABI major version. */
    ATTN_ERROR_ABI = 8,
    /** Out of memory. */
    ATTN_ERROR_MEMORY = 9,
    /** A workspace smaller than the plan asks, or misaligned. */
    ATTN_ERROR_WORKSPACE = 10
};
typedef int32_t attn_status_t;

/**
 * Where a failing call writes what was wrong: one line of UTF-8 text without control characters,
 * always terminated. Names, values and paths that are not such text appear in it escaped
 * (attn/line.h). Owned by the caller; every function takes NULL instead. Untouched by calls that
 * succeed.
 */
typedef struct attn_error {
    attn_status_t status;
    char message[252];
} attn_error_t;

/* ---- tensors --------------------------------------------------------------------------------- */

/**
 * Element types, the one list of them: X(name, number, text, bytes). Everything is computed in
 * f32; query, key, value and out may also be stored in f16 (IEEE binary16) or bf16, key and
 * value also in i8 with a scale for each token. Of a bool's byte 0 is false, all else true.
 */
#define ATTN_DTYPES(X)                                                                             \
    X(F32, 1, "f32", 4)                                                                            \
    X(F64, 2, "f64", 8)                                                                            \
    X(F16, 3, "f16", 2)                                                                            \
    X(BF16, 4, "bf16", 2)                                                                          \
    X(I8, 5, "i8", 1)                                                                              \
    X(BOOL, 6, "bool", 1)                                                                          \
    X(I64, 7, "i64", 8)

#define ATTN_DTYPE_CODE_(name, number, text, bytes) ATTN_##name = number,
enum attn_dtype_code { ATTN_DTYPES(ATTN_DTYPE_CODE_) ATTN_DTYPE_NONE = 0 };
#undef ATTN_DTYPE_CODE_
typedef int32_t attn_dtype_t;

/** Bytes of an element; 0 for a number that is no element type. [any thread] */
static inline int64_t attn_dtype_size(attn_dtype_t dtype) {
#define ATTN_DTYPE_SIZE_(name, number, text, bytes)                                                \
    case number:                                                                                   \
        return bytes;
    switch (dtype) {
        ATTN_DTYPES(ATTN_DTYPE_SIZE_)
    default:
        return 0;
    }
#undef ATTN_DTYPE_SIZE_
}

/** Its name, "f32"; "?" for a number that is no element type. [any thread] */
static inline const char *attn_dtype_name(attn_dtype_t dtype) {
#define ATTN_DTYPE_NAME_(name, number, text, bytes)                                                \
    case number:                                                                                   \
        return text;
    switch (dtype) {
        ATTN_DTYPES(ATTN_DTYPE_NAME_)
    default:
        return "?";
    }
#undef ATTN_DTYPE_NAME_
}

/**
 * A view of memory somebody else owns, always in the logical order (batch, head, row, column),
 * whatever the order in memory: element (b, h, i, c) is at data[b*stride[0] + h*stride[1] +
 * i*stride[2] + c*stride[3]], strides counted in elements. Inputs may have strides of zero
 * (broadcast) or below. Of an output no two elements may share a place: each axis longer than 1
 * must step over all that those with smaller strides reach, so that axes nest in some order.
 * Others are refused, also the few where elements would interleave and not overlap. `data` needs
 * the alignment of its element type and no more.
 *
 * Keys and values are read fastest with the rows of a head side by side. With the heads of a
 * token side by side, one query of 8 heads of d = 128 takes 1.1 to 1.6 times as long, and 1.0 to
 * 1.4 times where several query heads share each key/value head.
 */
typedef struct attn_tensor {
    void *data; /**< NULL: the tensor is absent */
    attn_dtype_t dtype;
    int32_t reserved; /**< 0 */
    int64_t shape[4];
    int64_t stride[4];
} attn_tensor_t;

/* ---- problem --------------------------------------------------------------------------------- */

/** Which keys a query may see, by position. */
enum attn_causal_code {
    ATTN_CAUSAL_NONE = 0,
    ATTN_CAUSAL_TOP_LEFT = 1,    /**< query i sees keys j <= i */
    ATTN_CAUSAL_BOTTOM_RIGHT = 2 /**< query i sees keys j <= i + m - n: the last sees all */
};

/** Arrays that a run brings beside query, key, value and out; see attn_io_t. */
enum attn_input_bits {
    ATTN_INPUT_BIAS = 1 << 0,
    ATTN_INPUT_MASK = 1 << 1,
    ATTN_INPUT_KV_LENGTHS = 1 << 2,
    ATTN_INPUT_SINKS = 1 << 3,
    ATTN_INPUT_SLOPES = 1 << 4
};

/** Stages of the logits, as ONNX Attention's qk_matmul_output_mode numbers them. */
enum attn_scores_code {
    ATTN_SCORES_RAW = 0,    /**< scale * Q K^T */
    ATTN_SCORES_CAPPED = 1, /**< after softcap */
    ATTN_SCORES_MASKED = 2, /**< after bias and masks; -inf where a key is not seen */
    ATTN_SCORES_WEIGHTS = 3 /**< after softmax */
};

/**
 * What a problem asks for beyond the plain form; a backend declares which of these it can do.
 * The one list of them: X(name, bit, text of the description, words for people).
 *
 *     CAUSAL         either corner
 *     GROUPED_HEADS  heads != kv_heads
 *     LSE            can write lse (asked for by giving the tensor)
 *     HALF           query, key, value and out in f16 and bf16
 *     INT8           key and value in i8
 *     SCORES         can write scores (asked for by giving the tensor)
 *     BACKWARD       `attn.backward/1`
 */
#define ATTN_FEATURES(X)                                                                           \
    X(CAUSAL, 0, "causal", "causal masks")                                                         \
    X(GROUPED_HEADS, 1, "grouped_heads", "grouped heads")                                          \
    X(LSE, 2, "lse", "lse")                                                                        \
    X(PAST, 3, "past", "a past")                                                                   \
    X(WINDOW, 4, "window", "sliding windows")                                                      \
    X(SOFTCAP, 5, "softcap", "softcap")                                                            \
    X(BIAS, 6, "bias", "bias")                                                                     \
    X(MASK, 7, "mask", "masks")                                                                    \
    X(KV_LENGTHS, 8, "kv_lengths", "key lengths")                                                  \
    X(SINKS, 9, "sinks", "attention sinks")                                                        \
    X(SLOPES, 10, "alibi", "ALiBi slopes")                                                         \
    X(HALF, 11, "half", "f16 and bf16")                                                            \
    X(INT8, 12, "int8", "i8")                                                                      \
    X(SCORES, 13, "scores", "scores output")                                                       \
    X(BACKWARD, 14, "backward", "gradients")

#define ATTN_FEATURE_BIT_(name, bit, text, words) ATTN_FEATURE_##name = 1 << bit,
enum attn_feature_bits { ATTN_FEATURES(ATTN_FEATURE_BIT_) ATTN_FEATURE_NONE = 0 };
#undef ATTN_FEATURE_BIT_

/**
 * An attention problem: sizes and rules, no pointers. Fill it with attn_problem_init() and change
 * what differs. Query head h reads key/value head h / (heads / kv_heads).
 *
 * Query i stands at key position p = past + i, or, aligned bottom-right, at p = i + m - n (with
 * key lengths: i + length - n). It sees the keys j with p - window_left <= j <= p +
 * window_right, j <= p when causal, and j below the sequence's length. Its logits are
 *     S = softcap(scale * q.k_j) + bias_j - slope |p - j|,   softcap(x) = c tanh(x / c).
 */
typedef struct attn_problem {
    uint32_t struct_size;
    attn_dtype_t dtype; /**< of query and out: f32, f16 or bf16 */
    int64_t batch, heads, kv_heads;
    int64_t queries, keys;  /**< n, m */
    int64_t dim, value_dim; /**< d, dv */
    int32_t causal;         /**< enum attn_causal_code */
    float scale;            /**< of the logits; NaN: the backend's default, 1/sqrt(d) for softmax;
                                 queries are multiplied by it first, in f32 */

    attn_dtype_t kv_dtype; /**< of key and value: f32, f16, bf16 or i8 */
    uint32_t inputs;       /**< enum attn_input_bits: arrays that each run brings */
    int64_t past; /**< keys before the first query, < 2^61; below 0, > -2^61: queries before the
                                first key, as of a block of queries beside a later block of keys
                                (attn/combine.h); 0 when aligned bottom-right */
    int64_t window_left;  /**< keys seen to the left of a query's position, < 2^61; -1: all */
    int64_t window_right; /**< the same to the right */
    float softcap;        /**< c; 0: none */
    int32_t scores;       /**< enum attn_scores_code: what io->scores gets when it is there */

    /** Bit i: runs bring the backend-specific tensor number i (`attn.inputs/1`). */
    uint32_t own_inputs;
    int32_t backward; /**< 1: the plan also does attn_backward() */
} attn_problem_t;

/** struct_size of the first version. */
#define ATTN_PROBLEM_FIRST ((uint32_t)offsetof(attn_problem_t, own_inputs))

/* ---- one run --------------------------------------------------------------------------------- */

/** What a run has to say beside its output. Owned by the caller, who sets struct_size. */
typedef struct attn_report {
    uint32_t struct_size;
    uint32_t reserved;
    /** Of linear: rows that are not finite, or whose normaliser was 0 or lost to rounding. */
    int64_t degenerate_rows;
} attn_report_t;

/**
 * The arrays of one run. Shapes: query (B, H, n, d), key (B, Hkv, m, d), value (B, Hkv, m, dv),
 * out (B, H, n, dv). Where a shape says "B|1", an axis of 1 is the same for all (broadcast).
 * Outputs share no memory with inputs or with each other (attn/attn.h, "Overlap").
 */
typedef struct attn_io {
    uint32_t struct_size;
    uint32_t reserved;
    attn_tensor_t query, key, value; /**< read only */
    attn_tensor_t out;               /**< written completely */
    attn_tensor_t lse;       /**< (B, H, n, 1) f32, or absent; -inf for a row with no key or sink */
    void *workspace;         /**< scratch, aligned to 64 bytes; nothing in it is kept */
    uint64_t workspace_size; /**< bytes; at least attn_plan_workspace_size() */
    attn_report_t *report;   /**< NULL when nobody wants it */

    attn_tensor_t bias;         /**< f32 (B|1, H|1, n|1, m), added to the logits; -inf masks */
    attn_tensor_t mask;         /**< bool (B|1, H|1, n|1, m); false masks */
    attn_tensor_t kv_lengths;   /**< i64 (B, 1, 1, 1): keys that count, 0 to m */
    attn_tensor_t sinks;        /**< f32 (1, H, 1, 1): a logit more in the sum, without a value;
                                     -inf: none; rows of a head with NaN or +inf become NaN */
    attn_tensor_t slopes;       /**< f32 (1, H, 1, 1): ALiBi, arXiv:2108.12409 */
    attn_tensor_t key_scales;   /**< f32 (B, Hkv, m, 1), above 0: key in i8 times this */
    attn_tensor_t value_scales; /**< the same for value */
    attn_tensor_t scores;       /**< f32 (B, H, n, m) out, or absent */

    /** The backend-specific tensors, `own_count` of them in the order of its declaration
     *  (`attn.inputs/1`); NULL: that one is absent. */
    const attn_tensor_t *const *own;
    uint64_t own_count; /**< those behind are absent */
} attn_io_t;

/** No arrays at all, and the struct_size of this header. Set what differs. [any thread] */
static inline void attn_io_init(attn_io_t *io) {
    if (!io) return;
    memset(io, 0, sizeof *io);
    io->struct_size = (uint32_t)sizeof *io;
}

/** struct_size of the first version. */
#define ATTN_IO_FIRST ((uint32_t)offsetof(attn_io_t, own))

/**
 * How much work a plan is, for one run; what `attn.cost/1` fills. A plan knows the problem
 * alone: what masks, biases and key lengths hide is counted. Output: the host sets struct_size.
 */
typedef struct attn_cost {
    uint32_t struct_size;
    uint32_t reserved;
    double flops; /**< additions and multiplications that the result needs (exp not counted) */
    /** Read and written at least once: queries, keys that are visible by position to some query
     *  (of each key/value head, with the scales of i8), their values, and output. */
    double bytes;
    /** (query, key) pairs whose weight is not zero, all heads together. NaN, like flops and
     *  computed, where a run's arrays decide or there are too many to count. */
    double pairs;
    const char *form;      /**< asymptotic form for one head, e.g. "n m (d + dv)"; static text */
    double computed;       /**< pairs of the blocks that are computed for those; 0: not told */
    double gradient_flops; /**< flops of the gradients by query, key and value; 0: not told */
} attn_cost_t;

/** struct_size of the first version. */
#define ATTN_COST_FIRST ((uint32_t)offsetof(attn_cost_t, computed))

/**
 * One thing a plan can tell of itself, e.g. the sketch size it chose. Strings live with the plan.
 * Output: the host sets struct_size.
 */
typedef struct attn_fact {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;  /**< machine-readable, e.g. "size" */
    const char *label; /**< for people, e.g. "sketch size" */
    const char *text;  /**< what to show; NULL when the fact is a number */
    double number;     /**< the number; of a yes or no 1 or 0, beside its text */
} attn_fact_t;

/* ---- small helpers, inline so that plugins need no symbol of the host ------------------------ */

/** Key position of a query, when `keys` keys count (m, or the sequence's length). [any thread] */
static inline int64_t attn_query_position(const attn_problem_t *problem, int64_t keys,
                                          int64_t query) {
    if (problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT) return query + keys - problem->queries;
    return query + problem->past;
}

/** First key hidden from query i by the problem's causal rule; keys [0, limit) are visible.
 *  [any thread] */
static inline int64_t attn_causal_limit(const attn_problem_t *problem, int64_t query) {
    int64_t limit = problem->keys;
    if (problem->causal != ATTN_CAUSAL_NONE)
        limit = attn_query_position(problem, problem->keys, query) + 1;
    if (limit < 0) return 0;
    return limit < problem->keys ? limit : problem->keys;
}

/** Keys first <= j < last that are visible to a query by position, when `keys` keys count; both
 *  in 0..keys. [any thread] */
static inline void attn_key_range(const attn_problem_t *problem, int64_t keys, int64_t query,
                                  int64_t *first, int64_t *last) {
    const int64_t position = attn_query_position(problem, keys, query);
    *first = 0;
    *last = keys;
    if (problem->window_left >= 0 && position > problem->window_left)
        *first = position - problem->window_left < keys ? position - problem->window_left : keys;
    if (problem->window_right >= 0 && problem->window_right < *last - 1 - position)
        *last = position + problem->window_right + 1;
    if (problem->causal != ATTN_CAUSAL_NONE && position + 1 < *last) *last = position + 1;
    if (*last < *first) *last = *first;
}

/** 1 for all numbers but +0 and -0: for denormals too, where they count as zero. [any thread] */
static inline int attn_is_nonzero(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits << 1 != 0;
}

/** The features (enum attn_feature_bits) that this problem needs of a backend. [any thread] */
static inline uint64_t attn_problem_features(const attn_problem_t *problem) {
    uint64_t features = 0;
    if (problem->causal != ATTN_CAUSAL_NONE) features |= ATTN_FEATURE_CAUSAL;
    if (problem->heads != problem->kv_heads) features |= ATTN_FEATURE_GROUPED_HEADS;
    if (problem->past != 0) features |= ATTN_FEATURE_PAST;
    if (problem->window_left >= 0 || problem->window_right >= 0) features |= ATTN_FEATURE_WINDOW;
    if (attn_is_nonzero(problem->softcap)) features |= ATTN_FEATURE_SOFTCAP;
    if (problem->inputs & ATTN_INPUT_BIAS) features |= ATTN_FEATURE_BIAS;
    if (problem->inputs & ATTN_INPUT_MASK) features |= ATTN_FEATURE_MASK;
    if (problem->inputs & ATTN_INPUT_KV_LENGTHS) features |= ATTN_FEATURE_KV_LENGTHS;
    if (problem->inputs & ATTN_INPUT_SINKS) features |= ATTN_FEATURE_SINKS;
    if (problem->inputs & ATTN_INPUT_SLOPES) features |= ATTN_FEATURE_SLOPES;
    if (problem->kv_dtype == ATTN_I8) features |= ATTN_FEATURE_INT8;
    if (problem->dtype != ATTN_F32 ||
        (problem->kv_dtype != ATTN_F32 && problem->kv_dtype != ATTN_I8))
        features |= ATTN_FEATURE_HALF;
    if (ATTN_STRUCT_HAS(problem, backward) && problem->backward) features |= ATTN_FEATURE_BACKWARD;
    return features;
}

#ifdef __cplusplus
}
#endif
#endif
