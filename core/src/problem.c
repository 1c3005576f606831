/* Problems: sizes and rules, checked before anything is planned. */
#include "internal.h"
#include "number/number.h"

#include <math.h>

void attn_problem_init(attn_problem_t *problem, int64_t batch, int64_t heads, int64_t queries,
                       int64_t keys, int64_t dim, int64_t value_dim) {
    if (!problem) return;
    *problem = (attn_problem_t){
        .struct_size = sizeof *problem,
        .dtype = ATTN_F32,
        .batch = batch,
        .heads = heads,
        .kv_heads = heads,
        .queries = queries,
        .keys = keys,
        .dim = dim,
        .value_dim = value_dim,
        .causal = ATTN_CAUSAL_NONE,
        .scale = NAN,
        .kv_dtype = ATTN_F32,
        .window_left = -1,
        .window_right = -1,
        .scores = ATTN_SCORES_RAW,
    };
}

/* Arrays must be addressable: products below PTRDIFF_MAX bytes. */
static bool product_fits(int64_t a, int64_t b, int64_t c, int64_t d) {
    int64_t product;
    return !__builtin_mul_overflow(a, b, &product) &&
           !__builtin_mul_overflow(product, c, &product) &&
           !__builtin_mul_overflow(product, d, &product) &&
           product <= (int64_t)(PTRDIFF_MAX / (int64_t)sizeof(double));
}

static bool is_float(attn_dtype_t dtype) {
    return dtype == ATTN_F32 || dtype == ATTN_F16 || dtype == ATTN_BF16;
}

/* The module of libattn/softmax cannot write numbers: its JavaScript has named them. */
#if ATTN_SMALL && defined(__wasm__)
enum { HAS_DIGITS = 0 };
#else
enum { HAS_DIGITS = 1 };
#endif

/* By bits: denormal numbers are none, also where they compare as zero. */
static bool is_negative(float number) { return signbit(number) && attn_is_nonzero(number); }

/* Rules that contradict each other or mean nothing. */
static attn_status_t check_rules(const attn_problem_t *problem, attn_error_t *error) {
    const uint32_t known = ATTN_INPUT_BIAS | ATTN_INPUT_MASK | ATTN_INPUT_KV_LENGTHS |
                           ATTN_INPUT_SINKS | ATTN_INPUT_SLOPES;
    char text[32];
    const int64_t far = INT64_MAX / 4; /* 2^61 - 1: with windows added, positions do not overflow */
    if (problem->causal < ATTN_CAUSAL_NONE || problem->causal > ATTN_CAUSAL_BOTTOM_RIGHT)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "problem: causal is %d, must be 0, 1 or 2",
                         problem->causal);
    if (isinf(problem->scale))
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "problem: scale is not finite in single precision");
    if (problem->past < -far || problem->past > far)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "problem: past is %lld, must be -(2^61 - 1) to 2^61 - 1",
                         (long long)problem->past);
    if (problem->past && problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "problem: past (%lld) contradicts the bottom-right alignment",
                         (long long)problem->past);
    if (problem->window_left < -1 || problem->window_right < -1 || problem->window_left > far ||
        problem->window_right > far)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "problem: window (%lld, %lld) must be -1 (all) to 2^61 - 1 keys",
                         (long long)problem->window_left, (long long)problem->window_right);
    if (problem->causal != ATTN_CAUSAL_NONE && problem->window_right > 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "problem: a window of %lld keys to the right contradicts causal",
                         (long long)problem->window_right);
    if (!isfinite(problem->softcap) || is_negative(problem->softcap))
        return attn_fail(error, ATTN_ERROR_RANGE, "problem: softcap is %s, must be 0 or more",
                         !HAS_DIGITS                   ? "negative or not finite"
                         : !isfinite(problem->softcap) ? "not finite in single precision"
                         : problem->softcap == 0.0f
                             ? "negative" /* denormals are zero */
                             : attn_number_digits((double)problem->softcap, 6, text));
    if (problem->inputs & ~known)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "problem: unknown inputs 0x%x",
                         problem->inputs & ~known);
    if (ATTN_SMALL) return ATTN_OK;
    if (problem->backward < 0 || problem->backward > 1)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "problem: backward is %d, must be 0 or 1",
                         problem->backward);
    if (problem->scores < ATTN_SCORES_RAW || problem->scores > ATTN_SCORES_WEIGHTS)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "problem: scores is %d, must be 0 to 3",
                         problem->scores);
    return ATTN_OK;
}

static bool rows_fit(const attn_problem_t *problem, uint64_t replaced,
                     enum attn_array_number number, int64_t heads, int64_t rows) {
    const bool is_there = ATTN_SMALL || !(replaced >> number & 1);
    return product_fits(problem->batch, heads, rows, problem->value_dim) &&
           (!is_there || product_fits(problem->batch, heads, rows, problem->dim));
}

attn_status_t attn_problem_fits(const attn_problem_t *problem, uint64_t replaced,
                                attn_error_t *error) {
    if (rows_fit(problem, replaced, ATTN_ARRAY_QUERY, problem->heads, problem->queries) &&
        rows_fit(problem, replaced, ATTN_ARRAY_KEY, problem->kv_heads, problem->keys))
        return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_SHAPE, "problem: the arrays would not fit in memory");
}

static attn_status_t check(const attn_problem_t *problem, attn_error_t *error) {
    if (!is_float(problem->dtype))
        return attn_fail(error, ATTN_ERROR_DTYPE, "problem: dtype %d is not f32, f16 or bf16",
                         problem->dtype);
    if (!is_float(problem->kv_dtype) && problem->kv_dtype != ATTN_I8)
        return attn_fail(error, ATTN_ERROR_DTYPE,
                         "problem: kv_dtype %d is not f32, f16, bf16 or i8", problem->kv_dtype);
    const struct {
        const char *name;
        int64_t size;
    } sizes[] = {
        {"batch", problem->batch},
        {"heads", problem->heads},
        {"kv_heads", problem->kv_heads},
        {"queries (n)", problem->queries},
        {"keys (m)", problem->keys},
        {"dim (d)", problem->dim},
        {"value_dim (dv)", problem->value_dim},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i].size < 1)
            return attn_fail(error, ATTN_ERROR_SHAPE, "problem: %s is %lld, must be at least 1",
                             sizes[i].name, (long long)sizes[i].size);
    if (problem->heads % problem->kv_heads != 0)
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "problem: heads (%lld) must be a multiple of kv_heads (%lld)",
                         (long long)problem->heads, (long long)problem->kv_heads);
    const attn_status_t status = check_rules(problem, error);
    if (status != ATTN_OK) return status;
    /* Inputs may stand for queries and keys: the backend that declares them tells. */
    return attn_problem_fits(problem, problem->own_inputs ? UINT64_MAX : 0, error);
}

attn_status_t attn_problem_read(attn_problem_t *problem, const attn_problem_t *given,
                                attn_error_t *error) {
    if (!given) return attn_fail(error, ATTN_ERROR_ARGUMENT, "the problem is null");
    attn_status_t status =
        attn_struct_take(problem, sizeof *problem, given, ATTN_PROBLEM_FIRST, "problem", error);
    return status == ATTN_OK ? check(problem, error) : status;
}

attn_status_t attn_problem_check(const attn_problem_t *problem, attn_error_t *error) {
    attn_problem_t copy;
    return attn_problem_read(&copy, problem, error);
}
