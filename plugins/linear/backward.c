/* Gradients of linear attention: key/value heads as tasks, and gates that they share. */
#include "backward.h"

#include "attn/arrays.h"

typedef struct linear_backward_run {
    const linear_plan_t *plan;
    const linear_backward_t *kernels;
    const attn_io_t *io, *gradients;
    char *scratch;
    uint64_t scratch_size; /* of each worker */
    float *decay, *beta;   /* [key/value heads][keys][decays], [key/value heads][keys] */
    int64_t decays;
} linear_backward_run_t;

static int64_t head_count(const attn_problem_t *problem) {
    return problem->batch * problem->kv_heads;
}

/* How many decays a key has at most. */
static int64_t most_decays(const linear_form_t *form) {
    return linear_map_is_wide(form->map) ? 1 : form->features;
}

static linear_backward_run_t lay_out_linear_backward(const linear_plan_t *plan,
                                                     attn_arena_t *arena) {
    const attn_problem_t *problem = &plan->problem;
    const linear_form_t *form = &plan->form;
    const attn_tier_t tier = attn_host_tier(plan->host);
    linear_backward_run_t run = {.plan = plan};
    attn_arena_t scratch = {.base = NULL};
    run.kernels = form->rule == LINEAR_RULE_LINEAR ? attn_linear_backward(tier)
                                                   : attn_linear_backward_rules(tier);
    run.kernels->scratch(problem, form, &scratch);
    arena->overflow |= scratch.overflow;
    run.scratch_size = scratch.used;
    run.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    if (linear_has_decay(form))
        run.decay = attn_arena_take(arena, head_count(problem) * problem->keys,
                                    (uint64_t)most_decays(form) * sizeof(float));
    if (linear_has_delta(form))
        run.beta = attn_arena_take(arena, head_count(problem) * problem->keys, sizeof(float));
    return run;
}

void attn_linear_backward_space(const linear_plan_t *plan, attn_arena_t *arena) {
    lay_out_linear_backward(plan, arena);
}

static void run_head(void *data, int64_t task, uint32_t worker) {
    const linear_backward_run_t *run = data;
    const linear_plan_t *plan = run->plan;
    const int64_t kv_heads = plan->problem.kv_heads, keys = plan->problem.keys;
    const attn_head_t head = attn_linear_head(plan, run->io, task / kv_heads, task % kv_heads);
    const linear_back_t back = {
        .head = &head,
        .form = &plan->form,
        .gradients = run->gradients,
        .decay = run->decay ? run->decay + task * keys * run->decays : NULL,
        .beta = run->beta ? run->beta + task * keys : NULL,
        .decays = run->decays,
        .scratch = run->scratch + worker * run->scratch_size,
    };
    run->kernels->run(&back);
}

/* ---- gates ----------------------------------------------------------------------------------------- */

/* An element of a gate's gradient: the sum over the axes on which the gate is the same for all. */
static float sum_gate(const linear_backward_run_t *run, const attn_tensor_t *gate,
                      const float *numbers, const int64_t at[4]) {
    const attn_problem_t *problem = &run->plan->problem;
    const int64_t ends[3] = {problem->batch, problem->kv_heads, problem->keys};
    int64_t first[3], last[3];
    double sum = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        first[axis] = gate->shape[axis] > 1 ? at[axis] : 0;
        last[axis] = gate->shape[axis] > 1 ? at[axis] + 1 : ends[axis];
    }
    for (int64_t b = first[0]; b < last[0]; b++)
        for (int64_t h = first[1]; h < last[1]; h++)
            for (int64_t j = first[2]; j < last[2]; j++)
                sum += (double)numbers[((b * ends[1] + h) * ends[2] + j) * gate->shape[3] + at[3]];
    return (float)sum;
}

/* `numbers` of all heads, keys and the gate's columns. */
static void write_gate(const linear_backward_run_t *run, const attn_tensor_t *gate,
                       const float *numbers) {
    for (int64_t b = 0; gate && b < gate->shape[0]; b++)
        for (int64_t h = 0; h < gate->shape[1]; h++)
            for (int64_t j = 0; j < gate->shape[2]; j++)
                for (int64_t c = 0; c < gate->shape[3]; c++)
                    attn_row(gate, b, h, j)[c * gate->stride[3]] =
                        sum_gate(run, gate, numbers, (int64_t[]){b, h, j, c});
}

static attn_status_t check(const linear_backward_run_t *run, attn_error_t *error) {
    attn_status_t status = attn_linear_arrays_check(run->plan, run->io, error);
    for (int64_t head = 0; status == ATTN_OK && head < head_count(&run->plan->problem); head++)
        status = attn_linear_check_decay(run->plan, run->io, head, error);
    return status;
}

static attn_status_t backward(const attn_backend_plan_t *base, const attn_io_t *io,
                              const attn_io_t *gradients, attn_error_t *error) {
    const linear_plan_t *plan = (const linear_plan_t *)base;
    const attn_tensor_t *decay = attn_own_array(gradients, LINEAR_DECAY);
    const attn_tensor_t *beta = attn_own_array(gradients, LINEAR_BETA);
    attn_arena_t arena = {.base = io->workspace};
    linear_backward_run_t run = lay_out_linear_backward(plan, &arena);
    run.io = io;
    run.gradients = gradients;
    run.decays = decay ? decay->shape[3] : 0;
    if (!decay) run.decay = NULL;
    if (!beta) run.beta = NULL;
    const attn_status_t status = check(&run, error);
    if (status != ATTN_OK) return status;
    attn_host_parallel_for(plan->host, head_count(&plan->problem), run_head, &run);
    write_gate(&run, decay, run.decay);
    write_gate(&run, beta, run.beta);
    return ATTN_OK;
}

const attn_ext_backward_t attn_linear_backward_extension = {
    .struct_size = sizeof attn_linear_backward_extension,
    .arrays = 1u << ATTN_ARRAY_QUERY | 1u << ATTN_ARRAY_KEY | 1u << ATTN_ARRAY_VALUE,
    .backward = backward,
};
