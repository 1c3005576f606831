/*
 * attn/arrays.h: the arrays of a run, declared as data.
 *
 * Everything that handles a run's arrays (the library's checks, the command line, the bindings,
 * the JavaScript package and its types) goes through these declarations: those of attn_io_t's
 * own members, the list ATTN_ARRAYS, and behind them those that a backend declares by
 * `attn.inputs/1`. So an array is added in one place.
 */
#ifndef ATTN_ARRAYS_H
#define ATTN_ARRAYS_H

#include "attn/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What an axis counts. */
enum attn_axis_code {
    ATTN_AXIS_ONE = 0, /**< 1 */
    ATTN_AXIS_BATCH = 1,
    ATTN_AXIS_HEADS = 2,
    ATTN_AXIS_KV_HEADS = 3,
    ATTN_AXIS_QUERIES = 4,
    ATTN_AXIS_KEYS = 5,
    ATTN_AXIS_DIM = 6,
    ATTN_AXIS_VALUE_DIM = 7,
    ATTN_AXIS_PLAN =
        8 /**< what the plan says (attn_ext_inputs_t.shape): of backend-specific tensors */
};

/** What attn_describe() calls an axis. [any thread] */
static inline const char *attn_axis_name(int32_t axis) {
    static const char *const names[] = {"one",  "batch", "heads",     "kv_heads", "queries",
                                        "keys", "dim",   "value_dim", "plan"};
    return axis >= ATTN_AXIS_ONE && axis <= ATTN_AXIS_PLAN ? names[axis] : "";
}

enum attn_role_code {
    ATTN_ROLE_INPUT = 1, /**< read only */
    ATTN_ROLE_OUTPUT = 2 /**< written completely */
};

/** Which runs have the array. */
enum attn_presence_code {
    ATTN_PRESENCE_REQUIRED = 1, /**< all */
    ATTN_PRESENCE_NAMED = 2,    /**< those whose problem names it in `inputs` or `own_inputs` */
    ATTN_PRESENCE_OPTIONAL = 3, /**< any: it is asked for by being given */
    ATTN_PRESENCE_INT8 = 4      /**< those with key and value in i8 */
};

/** Element types that follow the problem, beside enum attn_dtype_code. */
enum attn_dtype_of_code {
    ATTN_DTYPE_OF_QUERY = -1, /**< the problem's dtype */
    ATTN_DTYPE_OF_KEY = -2    /**< its kv_dtype */
};

/** What the host checks of the elements. */
enum attn_elements_code {
    ATTN_ELEMENTS_ANY = 0,
    ATTN_ELEMENTS_LENGTH = 1,  /**< 0 to the problem's keys */
    ATTN_ELEMENTS_POSITIVE = 2 /**< above 0 and finite, of the keys that count */
};

enum attn_array_flags {
    ATTN_ARRAY_DIFFERENTIABLE = 1, /**< it may have a gradient (attn/ext/backward.h) */
    ATTN_ARRAY_UNIT_STRIDE = 2     /**< elements of a row stand side by side */
};

/** One array. Constant data, static text. */
typedef struct attn_array_info {
    uint32_t struct_size;
    int32_t role;       /**< enum attn_role_code */
    int32_t presence;   /**< enum attn_presence_code */
    attn_dtype_t dtype; /**< enum attn_dtype_code or enum attn_dtype_of_code */
    int32_t axes[4];    /**< enum attn_axis_code: (batch, head, row, column) or what stands there */
    uint32_t broadcast; /**< bit k: axis k may also be 1, the same for all */
    uint32_t flags;     /**< enum attn_array_flags */
    int32_t elements;   /**< enum attn_elements_code */
    uint32_t bit; /**< in the problem's inputs, or own_inputs, when NAMED; the host sets own ones */
    uint64_t feature; /**< what a backend needs for it (enum attn_feature_bits); own ones: 0 */
    const char *name; /**< lower case, digits, '_': --kv-lengths, kvLengths */
    const char *help; /**< one line */
    /** Of an own input that is NAMED: 1 << ATTN_ARRAY_QUERY, _KEY, _VALUE or several: those which
     *  runs of a problem that names it must not bring (their `data` is NULL; the sizes are the
     *  problem's). Where several arrays stand for one together, each has its bit, and the plan
     *  refuses a problem that names some of them alone. Streams of such a problem are refused. */
    uint64_t replaces;
} attn_array_info_t;

/** Whether axis `axis` of such an array, where `wanted` is needed, may be `extent`. */
static inline int attn_axis_fits(const attn_array_info_t *info, int axis, int64_t extent,
                                 int64_t wanted) {
    return extent == wanted || (extent == 1 && (info->broadcast >> axis & 1u));
}

/** struct_size of the first version, which had no `replaces`. */
#define ATTN_ARRAY_INFO_FIRST ((uint32_t)offsetof(attn_array_info_t, replaces))

/**
 * The members of attn_io_t, in the order of their numbers:
 * X(NAME, member, role, presence, dtype, four axes, broadcast, flags, elements, bit, FEATURE, help)
 */
/* clang-format off */
#define ATTN_ARRAYS(X) ATTN_ARRAYS_OF_F32(X) ATTN_ARRAYS_MORE(X)

/** All that a build for f32 alone has, without scores. */
#define ATTN_ARRAYS_OF_F32(X)                                                                      \
    X(QUERY, query, INPUT, REQUIRED, ATTN_DTYPE_OF_QUERY, BATCH, HEADS, QUERIES, DIM,              \
      0, ATTN_ARRAY_DIFFERENTIABLE, ANY, 0, NONE, "Q")                                             \
    X(KEY, key, INPUT, REQUIRED, ATTN_DTYPE_OF_KEY, BATCH, KV_HEADS, KEYS, DIM,                    \
      0, ATTN_ARRAY_DIFFERENTIABLE, ANY, 0, NONE, "K")                                             \
    X(VALUE, value, INPUT, REQUIRED, ATTN_DTYPE_OF_KEY, BATCH, KV_HEADS, KEYS, VALUE_DIM,          \
      0, ATTN_ARRAY_DIFFERENTIABLE, ANY, 0, NONE, "V")                                             \
    X(OUT, out, OUTPUT, REQUIRED, ATTN_DTYPE_OF_QUERY, BATCH, HEADS, QUERIES, VALUE_DIM,           \
      0, 0, ANY, 0, NONE, "the result, A V")                                                       \
    X(LSE, lse, OUTPUT, OPTIONAL, ATTN_F32, BATCH, HEADS, QUERIES, ONE,                            \
      0, 0, ANY, 0, LSE,                                                                           \
      "log of each row's sum of exponentials; -inf for a row without keys or sink")                \
    X(BIAS, bias, INPUT, NAMED, ATTN_F32, BATCH, HEADS, QUERIES, KEYS,                             \
      7, ATTN_ARRAY_DIFFERENTIABLE, ANY, ATTN_INPUT_BIAS, BIAS,                                    \
      "added to the logits; -inf hides a key")                                                     \
    X(MASK, mask, INPUT, NAMED, ATTN_BOOL, BATCH, HEADS, QUERIES, KEYS,                            \
      7, 0, ANY, ATTN_INPUT_MASK, MASK, "false hides a key")                                       \
    X(KV_LENGTHS, kv_lengths, INPUT, NAMED, ATTN_I64, BATCH, ONE, ONE, ONE,                        \
      0, 0, LENGTH, ATTN_INPUT_KV_LENGTHS, KV_LENGTHS, "keys that count, 0 to m, for each batch")  \
    X(SINKS, sinks, INPUT, NAMED, ATTN_F32, ONE, HEADS, ONE, ONE,                                  \
      0, ATTN_ARRAY_DIFFERENTIABLE, ANY, ATTN_INPUT_SINKS, SINKS,                                  \
      "an extra logit per head that has no value (attention sink)")                                \
    X(SLOPES, slopes, INPUT, NAMED, ATTN_F32, ONE, HEADS, ONE, ONE,                                \
      0, ATTN_ARRAY_DIFFERENTIABLE, ANY, ATTN_INPUT_SLOPES, SLOPES,                                \
      "ALiBi: logits -= slope * distance (arXiv:2108.12409)")

#define ATTN_ARRAYS_MORE(X)                                                                        \
    X(KEY_SCALES, key_scales, INPUT, INT8, ATTN_F32, BATCH, KV_HEADS, KEYS, ONE,                   \
      0, 0, POSITIVE, 0, INT8, "each key in i8 times this")                                        \
    X(VALUE_SCALES, value_scales, INPUT, INT8, ATTN_F32, BATCH, KV_HEADS, KEYS, ONE,               \
      0, 0, POSITIVE, 0, INT8, "each value in i8 times this")                                      \
    X(SCORES, scores, OUTPUT, OPTIONAL, ATTN_F32, BATCH, HEADS, QUERIES, KEYS,                     \
      0, ATTN_ARRAY_UNIT_STRIDE, ANY, 0, SCORES, "logits or weights, as the problem's scores says")
/* clang-format on */

/** Numbers of arrays: members of attn_io_t, then from ATTN_ARRAY_OWN on the backend's own. */
#define ATTN_ARRAY_NUMBER_(NAME, member, role, presence, dtype, batch, head, row, column,          \
                           broadcast, flags, elements, bit, feature, help)                         \
    ATTN_ARRAY_##NAME,
enum attn_array_number { ATTN_ARRAYS(ATTN_ARRAY_NUMBER_) ATTN_ARRAY_OWN };
#undef ATTN_ARRAY_NUMBER_

#ifdef __cplusplus
}
#endif
#endif
