#include "back.h"

typed_t back_like(const typed_t *array) {
    if (!array->tensor.data) return (typed_t){0};
    return typed_create(array->tensor.dtype, LAYOUT_BHND, array->tensor.shape);
}

/* Every rank has the whole sum. */
static void copy(typed_t *to, const typed_t *from) {
    const int64_t *shape = to->tensor.shape;
    for (int64_t h = 0; to->tensor.data && h < shape[1]; h++)
        typed_set(to, 0, h, 0, 0, typed_get(&from->tensor, 0, h, 0, 0));
}

/* Of a bias with one row for all each rank has its queries' part. */
static void gather_bias(typed_t *whole, const typed_t *part, const attn_mpi_rows_t *rows) {
    const attn_mpi_rows_t one = {.count = {1}, .total = 1};
    if (whole->tensor.data) shard_gather(whole, part, whole->tensor.shape[2] == 1 ? &one : rows);
}

void back_solve(void *data, trial_t *trial, typed_t *const whole[TRIAL_GRADIENTS]) {
    const back_job_t *job = data;
    attn_mpi_plan_t *plan =
        ranks_plan(job->context, &trial->problem, job->layout, ATTN_MPI_WAY_RING);
    shard_t shard = shard_create(trial, plan);
    typed_t out = shard_rows(whole[TRIAL_OUT], LAYOUT_BNHD, &shard.queries);
    typed_t arrays[TRIAL_GRADIENTS] = {back_like(&out),
                                       back_like(&shard.query),
                                       back_like(&shard.key),
                                       back_like(&shard.value),
                                       back_like(&shard.bias),
                                       back_like(whole[TRIAL_SINKS]),
                                       back_like(whole[TRIAL_SLOPES])};
    attn_io_t gradients;
    attn_error_t error = {0};
    shard_run(&shard);
    attn_io_init(&gradients);
    gradients.out = out.tensor;
    gradients.query = arrays[TRIAL_QUERY].tensor;
    gradients.key = arrays[TRIAL_KEY].tensor;
    gradients.value = arrays[TRIAL_VALUE].tensor;
    gradients.bias = arrays[TRIAL_BIAS].tensor;
    gradients.sinks = arrays[TRIAL_SINKS].tensor;
    gradients.slopes = arrays[TRIAL_SLOPES].tensor;
    if (attn_mpi_backward(plan, &shard.io, &gradients, &error)) test_fail("%s", error.message);
    for (int i = 1; i < TRIAL_GRADIENTS; i++)
        if (arrays[i].block) typed_check(&arrays[i], "a gradient");
    shard_gather(whole[TRIAL_QUERY], &arrays[TRIAL_QUERY], &shard.queries);
    shard_gather(whole[TRIAL_KEY], &arrays[TRIAL_KEY], &shard.keys);
    shard_gather(whole[TRIAL_VALUE], &arrays[TRIAL_VALUE], &shard.keys);
    gather_bias(whole[TRIAL_BIAS], &arrays[TRIAL_BIAS], &shard.queries);
    copy(whole[TRIAL_SINKS], &arrays[TRIAL_SINKS]);
    copy(whole[TRIAL_SLOPES], &arrays[TRIAL_SLOPES]);
    for (int i = 0; i < TRIAL_GRADIENTS; i++)
        if (arrays[i].block) typed_destroy(&arrays[i]);
    if (out.block) typed_destroy(&out);
    shard_destroy(&shard);
    attn_mpi_plan_destroy(plan);
}
