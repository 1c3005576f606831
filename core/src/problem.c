/* Problems and arrays, checked before anything is computed. */
#include "internal.h"
#include "number/number.h"

#include "simd/task.h"

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

/* All four arrays must be addressable: products below PTRDIFF_MAX bytes. */
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

/* Rules that contradict each other or mean nothing. */
static attn_status_t check_rules(const attn_problem_t *problem, attn_error_t *error) {
    const uint32_t known = ATTN_INPUT_BIAS | ATTN_INPUT_MASK | ATTN_INPUT_KV_LENGTHS |
                           ATTN_INPUT_SINKS | ATTN_INPUT_SLOPES;
    char text[32];
    const int64_t far = INT64_MAX / 4; /* positions and windows can be added without overflow */
    if (problem->causal < ATTN_CAUSAL_NONE || problem->causal > ATTN_CAUSAL_BOTTOM_RIGHT)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "problem: causal is %d, must be 0, 1 or 2",
                         problem->causal);
    if (isinf(problem->scale))
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "problem: scale is not finite in single precision");
    if (problem->past < 0 || problem->past > far)
        return attn_fail(error, ATTN_ERROR_RANGE, "problem: past is %lld, must not be negative",
                         (long long)problem->past);
    if (problem->past && problem->causal == ATTN_CAUSAL_BOTTOM_RIGHT)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "problem: past (%lld) contradicts the bottom-right alignment",
                         (long long)problem->past);
    if (problem->window_left < -1 || problem->window_right < -1 || problem->window_left > far ||
        problem->window_right > far)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "problem: window (%lld, %lld) must be -1 (all) or keys to each side",
                         (long long)problem->window_left, (long long)problem->window_right);
    if (problem->causal != ATTN_CAUSAL_NONE && problem->window_right > 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "problem: a window of %lld keys to the right contradicts causal",
                         (long long)problem->window_right);
    if (!(problem->softcap >= 0.0f) || isinf(problem->softcap))
        return attn_fail(error, ATTN_ERROR_RANGE, "problem: softcap is %s, must be 0 or more",
                         ATTN_SMALL ? "negative or not finite"
                         : !isfinite(problem->softcap)
                             ? "not finite in single precision"
                             : attn_number_digits((double)problem->softcap, 6, text));
    if (problem->inputs & ~known)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "problem: unknown inputs 0x%x",
                         problem->inputs & ~known);
    if (problem->scores < ATTN_SCORES_RAW || problem->scores > ATTN_SCORES_WEIGHTS)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "problem: scores is %d, must be 0 to 3",
                         problem->scores);
    return ATTN_OK;
}

attn_status_t attn_problem_check(const attn_problem_t *problem, attn_error_t *error) {
    if (!problem) return attn_fail(error, ATTN_ERROR_ARGUMENT, "the problem is null");
    if (problem->struct_size != sizeof *problem)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "problem: struct_size is %u, expected %zu",
                         problem->struct_size, sizeof *problem);
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
    attn_status_t status = check_rules(problem, error);
    if (status != ATTN_OK) return status;
    if (!product_fits(problem->batch, problem->heads, problem->queries, problem->dim) ||
        !product_fits(problem->batch, problem->heads, problem->queries, problem->value_dim) ||
        !product_fits(problem->batch, problem->kv_heads, problem->keys, problem->dim) ||
        !product_fits(problem->batch, problem->kv_heads, problem->keys, problem->value_dim))
        return attn_fail(error, ATTN_ERROR_SHAPE, "problem: the arrays would not fit in memory");
    return ATTN_OK;
}

/* One array of a run: what the plan needs it to be. */
typedef struct needed {
    const char *name;
    const attn_tensor_t *tensor;
    attn_dtype_t dtype;
    int64_t shape[4];
    bool written, broadcast;
} needed_t;

/* Each axis steps over all that those with no larger strides reach. In double, which does not overflow. */
static bool axes_nest(const attn_tensor_t *tensor) {
    for (int k = 0; k < 4; k++) {
        const double stride = fabs((double)tensor->stride[k]);
        double reach = 0;
        for (int j = 0; j < 4; j++) {
            const double other = fabs((double)tensor->stride[j]);
            if (j != k && other <= stride) reach += (double)(tensor->shape[j] - 1) * other;
        }
        if (tensor->shape[k] > 1 && !(stride > reach)) return false;
    }
    return true;
}

static attn_status_t check_tensor(const needed_t *needed, attn_error_t *error) {
    const attn_tensor_t *tensor = needed->tensor;
    const int64_t *shape = needed->shape;
    if (!tensor->data) return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: no data", needed->name);
    if (tensor->dtype != needed->dtype)
        return attn_fail(error, ATTN_ERROR_DTYPE, "%s: dtype %d (%s) is not %s", needed->name,
                         tensor->dtype, attn_dtype_name(tensor->dtype),
                         attn_dtype_name(needed->dtype));
    for (int k = 0; k < 4; k++) {
        const bool one_for_all = needed->broadcast && k < 3 && tensor->shape[k] == 1;
        if (tensor->shape[k] != shape[k] && !one_for_all)
            return attn_fail(
                error, ATTN_ERROR_SHAPE,
                "%s: shape (%lld, %lld, %lld, %lld), the plan needs (%lld, %lld, %lld, %lld)%s",
                needed->name, (long long)tensor->shape[0], (long long)tensor->shape[1],
                (long long)tensor->shape[2], (long long)tensor->shape[3], (long long)shape[0],
                (long long)shape[1], (long long)shape[2], (long long)shape[3],
                needed->broadcast ? " or 1 for all" : "");
    }
    if (needed->written && !axes_nest(tensor))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "%s: with strides (%lld, %lld, %lld, %lld) elements may overlap",
                         needed->name, (long long)tensor->stride[0], (long long)tensor->stride[1],
                         (long long)tensor->stride[2], (long long)tensor->stride[3]);
    if ((uintptr_t)tensor->data % (uintptr_t)attn_dtype_size(needed->dtype) != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: data is not aligned to its %d bytes",
                         needed->name, (int)attn_dtype_size(needed->dtype));
    return ATTN_OK;
}

static attn_status_t check_all(const needed_t *needed, int count, attn_error_t *error) {
    for (int i = 0; i < count; i++) {
        attn_status_t status = check_tensor(&needed[i], error);
        if (status != ATTN_OK) return status;
    }
    return ATTN_OK;
}

static attn_status_t check_lengths(const attn_problem_t *problem, const attn_tensor_t *lengths,
                                   attn_error_t *error) {
    for (int64_t b = 0; b < problem->batch; b++) {
        const int64_t length = ((const int64_t *)lengths->data)[b * lengths->stride[0]];
        if (length < 0 || length > problem->keys)
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "kv_lengths: sequence %lld has %lld keys, must be 0 to %lld",
                             (long long)b, (long long)length, (long long)problem->keys);
    }
    return ATTN_OK;
}

/* The scales of the tokens that count: a cache need not fill the room it has left. */
static attn_status_t check_scales(const attn_problem_t *problem, const attn_io_t *io,
                                  const attn_tensor_t *scales, const char *name,
                                  attn_error_t *error) {
    for (int64_t b = 0; b < problem->batch; b++)
        for (int64_t h = 0; h < problem->kv_heads; h++)
            for (int64_t j = 0; j < attn_keys_of(problem, io, b); j++) {
                const float scale =
                    ((const float *)scales->data)[b * scales->stride[0] + h * scales->stride[1] +
                                                  j * scales->stride[2]];
                char text[32];
                if (!(scale > 0.0f) || isinf(scale))
                    return attn_fail(error, ATTN_ERROR_RANGE,
                                     "%s: batch %lld, head %lld, key %lld has scale %s, must be "
                                     "positive and finite",
                                     name, (long long)b, (long long)h, (long long)j,
                                     attn_number_digits((double)scale, 6, text));
            }
    return ATTN_OK;
}

/* The arrays that change the logits; those that the problem does not name must be absent. */
static attn_status_t check_inputs(const attn_problem_t *p, const attn_io_t *io,
                                  attn_error_t *error) {
    const struct {
        uint32_t bit;
        needed_t needed;
    } inputs[] = {
        {ATTN_INPUT_BIAS,
         {"bias", &io->bias, ATTN_F32, {p->batch, p->heads, p->queries, p->keys}, false, true}},
        {ATTN_INPUT_MASK,
         {"mask", &io->mask, ATTN_BOOL, {p->batch, p->heads, p->queries, p->keys}, false, true}},
        {ATTN_INPUT_KV_LENGTHS,
         {"kv_lengths", &io->kv_lengths, ATTN_I64, {p->batch, 1, 1, 1}, false, false}},
        {ATTN_INPUT_SINKS, {"sinks", &io->sinks, ATTN_F32, {1, p->heads, 1, 1}, false, false}},
        {ATTN_INPUT_SLOPES, {"slopes", &io->slopes, ATTN_F32, {1, p->heads, 1, 1}, false, false}},
    };
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        if (!(p->inputs & inputs[i].bit)) {
            if (inputs[i].needed.tensor->data)
                return attn_fail(error, ATTN_ERROR_ARGUMENT,
                                 "%s: given, but the plan's problem does not name it as an input",
                                 inputs[i].needed.name);
            continue;
        }
        attn_status_t status = check_tensor(&inputs[i].needed, error);
        if (status != ATTN_OK) return status;
    }
    if (p->kv_dtype != ATTN_I8 && (io->key_scales.data || io->value_scales.data))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: given, but key and value are %s, not i8",
                         io->key_scales.data ? "key_scales" : "value_scales",
                         attn_dtype_name(p->kv_dtype));
    if (p->inputs & ATTN_INPUT_KV_LENGTHS) return check_lengths(p, &io->kv_lengths, error);
    return ATTN_OK;
}

attn_status_t attn_io_check(const attn_problem_t *problem, const attn_io_t *io,
                            bool with_value_and_out, attn_error_t *error) {
    if (!io) return attn_fail(error, ATTN_ERROR_ARGUMENT, "the arrays (attn_io_t) are null");
    if (io->struct_size != sizeof *io)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "io: struct_size is %u, expected %zu",
                         io->struct_size, sizeof *io);
    if (io->report && io->report->struct_size < sizeof *io->report)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "report: struct_size is %u, expected %zu",
                         io->report->struct_size, sizeof *io->report);
    const attn_problem_t *p = problem;
    const bool quantised = !ATTN_SMALL && p->kv_dtype == ATTN_I8;
    const needed_t read[] = {
        {"query", &io->query, p->dtype, {p->batch, p->heads, p->queries, p->dim}, false, false},
        {"key", &io->key, p->kv_dtype, {p->batch, p->kv_heads, p->keys, p->dim}, false, false},
        {"key_scales",
         &io->key_scales,
         ATTN_F32,
         {p->batch, p->kv_heads, p->keys, 1},
         false,
         false},
    };
    const needed_t more[] = {
        {"value",
         &io->value,
         p->kv_dtype,
         {p->batch, p->kv_heads, p->keys, p->value_dim},
         false,
         false},
        {"out", &io->out, p->dtype, {p->batch, p->heads, p->queries, p->value_dim}, true, false},
        {"value_scales",
         &io->value_scales,
         ATTN_F32,
         {p->batch, p->kv_heads, p->keys, 1},
         false,
         false},
    };
    const needed_t lse = {"lse", &io->lse, ATTN_F32, {p->batch, p->heads, p->queries, 1},
                          true,  false};
    const needed_t scores = {
        "scores", &io->scores, ATTN_F32, {p->batch, p->heads, p->queries, p->keys}, true, false};
    attn_status_t status = check_all(read, quantised ? 3 : 2, error);
    if (status == ATTN_OK) status = check_inputs(p, io, error);
    if (status == ATTN_OK && quantised)
        status = check_scales(p, io, &io->key_scales, "key_scales", error);
    if (!with_value_and_out || status != ATTN_OK) return status;
    status = check_all(more, quantised ? 3 : 2, error);
    if (status == ATTN_OK && quantised)
        status = check_scales(p, io, &io->value_scales, "value_scales", error);
    if (status == ATTN_OK && io->lse.data) status = check_tensor(&lse, error);
    if (status == ATTN_OK && io->scores.data) status = check_tensor(&scores, error);
    if (status == ATTN_OK && io->scores.data && io->scores.stride[3] != 1)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "scores: rows must have unit stride");
    return status;
}
