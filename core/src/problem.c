/* Problems and arrays, checked before anything is computed. */
#include "internal.h"

#include <math.h>

void attn_problem_init(attn_problem_t *problem, int64_t batch, int64_t heads, int64_t queries,
                       int64_t keys, int64_t dim, int64_t value_dim) {
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

attn_status_t attn_problem_check(const attn_problem_t *problem, attn_error_t *error) {
    if (!problem) return attn_fail(error, ATTN_ERROR_ARGUMENT, "the problem is null");
    if (problem->struct_size != sizeof *problem)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "problem: struct_size is %u, expected %zu",
                         problem->struct_size, sizeof *problem);
    if (problem->dtype != ATTN_F32)
        return attn_fail(error, ATTN_ERROR_DTYPE, "problem: dtype %d is not f32 (%d)",
                         problem->dtype, ATTN_F32);
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
    if (problem->causal < ATTN_CAUSAL_NONE || problem->causal > ATTN_CAUSAL_BOTTOM_RIGHT)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "problem: causal is %d, must be 0, 1 or 2",
                         problem->causal);
    if (isinf(problem->scale))
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "problem: scale must be finite (or NaN: default)");
    if (!product_fits(problem->batch, problem->heads, problem->queries, problem->dim) ||
        !product_fits(problem->batch, problem->heads, problem->queries, problem->value_dim) ||
        !product_fits(problem->batch, problem->kv_heads, problem->keys, problem->dim) ||
        !product_fits(problem->batch, problem->kv_heads, problem->keys, problem->value_dim))
        return attn_fail(error, ATTN_ERROR_SHAPE, "problem: the arrays would not fit in memory");
    return ATTN_OK;
}

static attn_status_t check_tensor(const attn_tensor_t *tensor, const char *name,
                                  const int64_t shape[4], bool written, attn_error_t *error) {
    if (!tensor->data) return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: no data", name);
    if (tensor->dtype != ATTN_F32)
        return attn_fail(error, ATTN_ERROR_DTYPE, "%s: dtype %d is not the plan's f32 (%d)", name,
                         tensor->dtype, ATTN_F32);
    for (int k = 0; k < 4; k++) {
        if (tensor->shape[k] != shape[k])
            return attn_fail(
                error, ATTN_ERROR_SHAPE,
                "%s: shape (%lld, %lld, %lld, %lld), the plan needs (%lld, %lld, %lld, %lld)", name,
                (long long)tensor->shape[0], (long long)tensor->shape[1],
                (long long)tensor->shape[2], (long long)tensor->shape[3], (long long)shape[0],
                (long long)shape[1], (long long)shape[2], (long long)shape[3]);
        if (written && shape[k] > 1 && tensor->stride[k] == 0)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "%s: stride %d is 0, so that elements would overlap", name, k);
    }
    if ((uintptr_t)tensor->data % sizeof(float) != 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "%s: data is not aligned to 4 bytes", name);
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
    const int64_t query[4] = {p->batch, p->heads, p->queries, p->dim};
    const int64_t key[4] = {p->batch, p->kv_heads, p->keys, p->dim};
    const int64_t value[4] = {p->batch, p->kv_heads, p->keys, p->value_dim};
    const int64_t out[4] = {p->batch, p->heads, p->queries, p->value_dim};
    const int64_t lse[4] = {p->batch, p->heads, p->queries, 1};
    attn_status_t status = check_tensor(&io->query, "query", query, false, error);
    if (status == ATTN_OK) status = check_tensor(&io->key, "key", key, false, error);
    if (!with_value_and_out || status != ATTN_OK) return status;
    status = check_tensor(&io->value, "value", value, false, error);
    if (status == ATTN_OK) status = check_tensor(&io->out, "out", out, true, error);
    if (status == ATTN_OK && io->lse.data) status = check_tensor(&io->lse, "lse", lse, true, error);
    return status;
}
