/*
 * attn/types.h: the plain data that host programs and plugins share.
 *
 * Notation of the whole library: B batches, H query heads, Hkv key/value heads, n queries, m keys,
 * d query/key dimension, dv value dimension; logits S = scale * Q K^T, weights A = softmax(S) by
 * row, output O = A V, lse_i = log sum_j exp(S_ij).
 *
 * Everything here crosses the boundary between host and plugin: fixed-width integers only, and
 * structs that can grow begin with `struct_size` and are only ever appended to.
 */
#ifndef ATTN_TYPES_H
#define ATTN_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status and error ------------------------------------------------------------------------ */

/** What a call came to. The numbers are part of the ABI. */
enum attn_status_code {
    ATTN_OK = 0,
    ATTN_ERROR_ARGUMENT = 1, /**< a null pointer, an unknown struct_size, a malformed value */
    ATTN_ERROR_SHAPE = 2,    /**< sizes that are not positive or do not fit together */
    ATTN_ERROR_DTYPE = 3,    /**< an element type that is unknown or not the plan's */
    ATTN_ERROR_UNSUPPORTED =
        4,                    /**< a backend that cannot solve this problem; the message says why */
    ATTN_ERROR_NOT_FOUND = 5, /**< an unknown backend, parameter or tier */
    ATTN_ERROR_RANGE = 6,     /**< a parameter outside its declared range */
    ATTN_ERROR_PLUGIN = 7,    /**< a file that is not a plugin, or a backend id taken already */
    ATTN_ERROR_ABI = 8,       /**< a plugin of another ABI major version */
    ATTN_ERROR_MEMORY = 9,    /**< no memory */
    ATTN_ERROR_WORKSPACE = 10, /**< a workspace smaller than the plan asks, or misaligned */
};
typedef int32_t attn_status_t;

/**
 * Where a failing call writes what was wrong: one line of text, no newline, always terminated.
 * Owned by the caller; every function takes NULL instead. Untouched by calls that succeed.
 */
typedef struct attn_error {
    attn_status_t status;
    char message[252];
} attn_error_t;

/* ---- tensors --------------------------------------------------------------------------------- */

/** Element types. Only ATTN_F32 is computed with today; the field is ready for more. */
enum attn_dtype_code {
    ATTN_F32 = 1,
    ATTN_F64 = 2,
};
typedef int32_t attn_dtype_t;

/**
 * A view of memory somebody else owns, always in the logical order (batch, head, row, column),
 * whatever the order in memory: element (b, h, i, c) is at
 * data[b*stride[0] + h*stride[1] + i*stride[2] + c*stride[3]], strides counted in elements.
 * Inputs may have strides of zero (broadcast) or below; outputs may not overlap themselves.
 * `data` needs the alignment of its element type and no more.
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
    ATTN_CAUSAL_TOP_LEFT = 1,     /**< query i sees keys j <= i */
    ATTN_CAUSAL_BOTTOM_RIGHT = 2, /**< query i sees keys j <= i + m - n: the last sees all */
};

/** What a problem asks for beyond the plain form: a backend declares which of these it can do. */
enum attn_feature_bits {
    ATTN_FEATURE_CAUSAL = 1 << 0,        /**< either corner */
    ATTN_FEATURE_GROUPED_HEADS = 1 << 1, /**< heads != kv_heads */
    ATTN_FEATURE_LSE = 1 << 2, /**< can write lse (asked at run time, by giving the tensor) */
};

/**
 * An attention problem: sizes and rules, no pointers. Fill it with attn_problem_init().
 * Query head h reads key/value head h / (heads / kv_heads).
 */
typedef struct attn_problem {
    uint32_t struct_size;
    attn_dtype_t dtype; /**< of query, key, value and out */
    int64_t batch, heads, kv_heads;
    int64_t queries, keys;  /**< n, m */
    int64_t dim, value_dim; /**< d, dv */
    int32_t causal;         /**< enum attn_causal_code */
    float scale;            /**< of the logits; NaN: the backend's default, 1/sqrt(d) for softmax */
} attn_problem_t;

/* ---- one run --------------------------------------------------------------------------------- */

/** What a run has to say beside its output. Owned by the caller, who sets struct_size. */
typedef struct attn_report {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t
        degenerate_rows; /**< rows whose normaliser was 0 or drowned in rounding (linear `lin`) */
} attn_report_t;

/**
 * The arrays of one run. Shapes: query (B, H, n, d), key (B, Hkv, m, d), value (B, Hkv, m, dv),
 * out (B, H, n, dv), lse (B, H, n, 1) or absent. Outputs must not overlap inputs.
 */
typedef struct attn_io {
    uint32_t struct_size;
    uint32_t reserved;
    attn_tensor_t query, key, value; /**< read only */
    attn_tensor_t out;               /**< written completely */
    attn_tensor_t lse;               /**< written when present; -inf for a row with no key */
    void *workspace;                 /**< scratch, aligned to 64 bytes; nothing in it is kept */
    uint64_t workspace_size;         /**< bytes; at least attn_plan_workspace_size() */
    attn_report_t *report;           /**< NULL when nobody wants it */
} attn_io_t;

/** How much work a plan is, for one run; what `attn.cost/1` fills. Host sets struct_size. */
typedef struct attn_cost {
    uint32_t struct_size;
    uint32_t reserved;
    double flops;     /**< additions and multiplications that the result needs (exp not counted) */
    double bytes;     /**< read and written at least once: inputs and output */
    double pairs;     /**< (query, key) pairs the weights are not zero on, all heads together */
    const char *form; /**< asymptotic form for one head, e.g. "n m (d + dv)"; static text */
} attn_cost_t;

/** One thing a plan can tell of itself, e.g. the sketch size it chose. Strings live with the plan. */
typedef struct attn_fact {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;  /**< machine-readable, e.g. "size" */
    const char *label; /**< for people, e.g. "sketch size" */
    const char *text;  /**< NULL when the fact is a number */
    double number;
} attn_fact_t;

/* ---- small helpers, inline so that plugins need no symbol of the host ------------------------ */

/** First key that query i may NOT see under the problem's causal rule: keys [0, limit) are allowed. */
static inline int64_t attn_causal_limit(const attn_problem_t *problem, int64_t query) {
    int64_t limit = problem->keys;
    if (problem->causal == ATTN_CAUSAL_TOP_LEFT) limit = query + 1;
    if (problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT)
        limit = query + 1 + problem->keys - problem->queries;
    if (limit < 0) return 0;
    return limit < problem->keys ? limit : problem->keys;
}

/** The features (enum attn_feature_bits) that this problem needs of a backend. */
static inline uint64_t attn_problem_features(const attn_problem_t *problem) {
    uint64_t features = 0;
    if (problem->causal != ATTN_CAUSAL_NONE) features |= ATTN_FEATURE_CAUSAL;
    if (problem->heads != problem->kv_heads) features |= ATTN_FEATURE_GROUPED_HEADS;
    return features;
}

#ifdef __cplusplus
}
#endif
#endif
