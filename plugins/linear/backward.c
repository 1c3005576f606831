/* Gradients of linear attention: key/value heads as tasks. */
#include "backward.h"

#include "attn/arrays.h"

typedef struct run {
    const linear_plan_t *plan;
    const linear_backward_t *kernels;
    const attn_io_t *io, *gradients;
    char *scratch;
    uint64_t scratch_size; /* of each worker */
} run_t;

static run_t lay_out(const linear_plan_t *plan, attn_arena_t *arena) {
    run_t run = {.plan = plan, .kernels = attn_linear_backward(attn_host_tier(plan->host))};
    attn_arena_t scratch = {.base = NULL};
    run.kernels->scratch(&plan->problem, &plan->form, &scratch);
    arena->overflow |= scratch.overflow;
    run.scratch_size = scratch.used;
    run.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    return run;
}

void attn_linear_backward_space(const linear_plan_t *plan, attn_arena_t *arena) {
    lay_out(plan, arena);
}

attn_status_t attn_linear_backward_check(const linear_form_t *form, const attn_problem_t *problem,
                                         attn_error_t *error) {
    if (!problem->backward || form->rule == LINEAR_RULE_LINEAR) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "linear: rule '%s' has no gradients",
                     attn_linear_rules[form->rule]);
}

static void run_head(void *data, int64_t task, uint32_t worker) {
    const run_t *run = data;
    const linear_plan_t *plan = run->plan;
    const int64_t kv_heads = plan->problem.kv_heads;
    const attn_head_t head = attn_linear_head(plan, run->io, task / kv_heads, task % kv_heads);
    const linear_back_t back = {.head = &head,
                                .form = &plan->form,
                                .gradients = run->gradients,
                                .scratch = run->scratch + worker * run->scratch_size};
    run->kernels->run(&back);
}

static attn_status_t backward(const attn_backend_plan_t *base, const attn_io_t *io,
                              const attn_io_t *gradients, attn_error_t *error) {
    const linear_plan_t *plan = (const linear_plan_t *)base;
    attn_arena_t arena = {.base = io->workspace};
    (void)error;
    run_t run = lay_out(plan, &arena);
    run.io = io;
    run.gradients = gradients;
    attn_host_parallel_for(plan->host, plan->problem.batch * plan->problem.kv_heads, run_head,
                           &run);
    return ATTN_OK;
}

const attn_ext_backward_t attn_linear_backward_extension = {
    .struct_size = sizeof attn_linear_backward_extension,
    .arrays = 1u << ATTN_ARRAY_QUERY | 1u << ATTN_ARRAY_KEY | 1u << ATTN_ARRAY_VALUE,
    .backward = backward,
};
