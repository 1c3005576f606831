/* A program outside the project: exact attention of two queries over three keys. */
#include <attn/attn.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    float query[2 * 2] = {1, 0, 0, 1}, key[3 * 2] = {0}, value[3] = {1, 2, 6}, out[2] = {0};
    attn_error_t error = {0};
    attn_context_t *context = NULL;
    attn_plan_t *plan = NULL;
    attn_problem_t problem;
    attn_problem_init(&problem, 1, 1, 2, 3, 2, 1);
    if (attn_context_create(NULL, &context, &error) ||
        attn_plan_create(context, "softmax", &problem, NULL, 0, &plan, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const size_t size = (size_t)attn_plan_workspace_size(plan);
    attn_io_t io = {
        .struct_size = sizeof io,
        .query = attn_tensor_bhnd(query, 1, 1, 2, 2),
        .key = attn_tensor_bhnd(key, 1, 1, 3, 2),
        .value = attn_tensor_bhnd(value, 1, 1, 3, 1),
        .out = attn_tensor_bhnd(out, 1, 1, 2, 1),
        .workspace = aligned_alloc(ATTN_ALIGNMENT, size + ATTN_ALIGNMENT - size % ATTN_ALIGNMENT),
        .workspace_size = size,
    };
    if (attn_run(plan, &io, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    free(io.workspace);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
    printf("libattn %s: %g %g\n", attn_version(), (double)out[0], (double)out[1]);
    // Equal keys: the mean, 9 * (1 / 3), of two roundings.
    return fabsf(out[0] - 3) <= 3 * FLT_EPSILON && fabsf(out[1] - 3) <= 3 * FLT_EPSILON ? 0 : 1;
}
