/*
 * What fits together, states from and to arrays, and runs of the rules that decay or correct. One task of
 * these is a key/value head with the query heads that read it: so its state is built once.
 */
#include "plan.h"

#include <string.h>

const char *const attn_linear_rules[] = {"linear", "gated", "delta", "gated_delta", NULL};

/* ---- what fits together -------------------------------------------------------------------------- */

static int has(const attn_problem_t *problem, int array) {
    return problem->own_inputs >> array & 1;
}

attn_status_t attn_linear_form_check(const linear_form_t *form, const attn_problem_t *problem,
                                     attn_error_t *error) {
    const char *rule = attn_linear_rules[form->rule];
    const int decays = linear_has_decay(form), deltas = linear_has_delta(form);
    if ((decays || deltas) && problem->causal == ATTN_CAUSAL_NONE)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "linear: rule '%s' depends on the order of tokens, it needs causal", rule);
    if (deltas && form->normalise)
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "linear: rule '%s' has no normaliser: what it takes away leaves no sum of "
                         "weights to divide by",
                         rule);
    if (decays && !has(problem, LINEAR_DECAY) && !form->retnet)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "linear: rule '%s' needs the array decay, or retnet=1", rule);
    if (deltas && !has(problem, LINEAR_BETA))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "linear: rule '%s' needs the array beta",
                         rule);
    if (form->retnet && (!decays || has(problem, LINEAR_DECAY)))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "linear: retnet=1 needs a gated rule without the array decay");
    if (!decays && has(problem, LINEAR_DECAY))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "linear: rule '%s' has no decay", rule);
    if (!deltas && has(problem, LINEAR_BETA))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "linear: rule '%s' has no beta", rule);
    if (form->normalise && has(problem, LINEAR_STATE) != has(problem, LINEAR_STATE_Z))
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "linear: with a normaliser the arrays state and state_z belong together");
    if (!form->normalise && has(problem, LINEAR_STATE_Z))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "linear: state_z needs a normaliser");
    return ATTN_OK;
}

attn_status_t attn_linear_arrays_check(const linear_plan_t *plan, const attn_io_t *io,
                                       attn_error_t *error) {
    const attn_tensor_t *decay = attn_own_array(io, LINEAR_DECAY);
    if (decay && decay->shape[3] > 1 && linear_map_is_wide(plan->form.map))
        return attn_fail(error, ATTN_ERROR_SHAPE,
                         "decay: one for each of %lld columns, but feature_map '%s' has %lld "
                         "features: it can decay by head alone",
                         (long long)decay->shape[3], attn_linear_maps[plan->form.map],
                         (long long)plan->form.features);
    if (attn_own_array(io, LINEAR_STATE_Z_OUT) && !plan->form.normalise)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "state_z_out: needs a normaliser");
    return ATTN_OK;
}

/* ---- states from and to arrays --------------------------------------------------------------------- */

static void clear(linear_state_t *state) {
    state->keys = state->pending.count = 0;
    memset(state->s, 0, (size_t)state->size * sizeof *state->s);
}

void attn_linear_state_load(const linear_plan_t *plan, const attn_head_t *head,
                            linear_state_t *state) {
    const attn_tensor_t *s = attn_own_array(head->io, LINEAR_STATE);
    const attn_tensor_t *z = attn_own_array(head->io, LINEAR_STATE_Z);
    clear(state);
    if (!s) return;
    state->keys = 1; /* of unknown number */
    for (int64_t k = 0; k < plan->form.features; k++) {
        const float *row = attn_row(s, head->batch, head->kv_head, k);
        for (int64_t c = 0; c < plan->problem.value_dim; c++)
            state->s[k * state->stride + c] = row[c * s->stride[3]];
        if (!z) continue;
        state->z[k] = *attn_row(z, head->batch, head->kv_head, k);
        state->zabs[k] = state->z[k] < 0 ? -state->z[k] : state->z[k];
    }
}

void attn_linear_state_store(const linear_plan_t *plan, const attn_head_t *head,
                             const linear_state_t *state) {
    const attn_tensor_t *s = attn_own_array(head->io, LINEAR_STATE_OUT);
    const attn_tensor_t *z = attn_own_array(head->io, LINEAR_STATE_Z_OUT);
    for (int64_t k = 0; k < plan->form.features; k++) {
        for (int64_t c = 0; s && c < plan->problem.value_dim; c++)
            attn_row(s, head->batch, head->kv_head, k)[c * s->stride[3]] =
                state->s[k * state->stride + c];
        if (z) *attn_row(z, head->batch, head->kv_head, k) = state->z[k];
    }
}

/* ---- runs ------------------------------------------------------------------------------------------ */

static int64_t head_count(const linear_plan_t *plan) {
    return plan->problem.batch * plan->problem.kv_heads;
}

linear_rules_space_t attn_linear_rules_space(const linear_plan_t *plan, attn_arena_t *arena) {
    attn_arena_t scratch = {.base = NULL}, state = {.base = NULL};
    plan->recurrence->scratch(&plan->problem, &plan->form, &scratch);
    plan->recurrence->take_state(&plan->problem, &plan->form, 0, &state);
    arena->overflow |= scratch.overflow | state.overflow;
    linear_rules_space_t space = {.state_size = state.used, .scratch_size = scratch.used};
    space.degenerate = attn_arena_take(arena, head_count(plan), sizeof(int64_t));
    space.bad_key = attn_arena_take(arena, head_count(plan), sizeof(int64_t));
    space.states = attn_arena_take(arena, attn_host_workers(plan->host), state.used);
    space.scratch = attn_arena_take(arena, attn_host_workers(plan->host), scratch.used);
    return space;
}

typedef struct linear_rules_run {
    const linear_plan_t *plan;
    const attn_io_t *io;
    linear_rules_space_t space;
    linear_state_t *states;
    int keep, tell; /* the states afterwards: in `states`, in the run's arrays */
} linear_rules_run_t;

/* Whether a run that does not keep its state leaves it alone: its tokens are one step. */
static int leaves_state(const linear_plan_t *plan) {
    return plan->problem.keys <= plan->recurrence->rows;
}

/* The state that a head's run begins with and may write to. */
static linear_state_t begin(const linear_rules_run_t *run, int64_t task, const attn_head_t *head,
                            linear_state_t own) {
    const linear_state_t *given = run->states ? &run->states[task] : NULL;
    if (given && (run->keep || (!run->tell && leaves_state(run->plan)))) return *given;
    if (given) {
        memcpy(own.s, given->s, (size_t)own.size * sizeof *own.s);
        own.keys = given->keys;
    } else {
        attn_linear_state_load(run->plan, head, &own);
    }
    return own;
}

static void run_head(void *data, int64_t task, uint32_t worker) {
    const linear_rules_run_t *run = data;
    const linear_plan_t *plan = run->plan;
    const int64_t kv_heads = plan->problem.kv_heads;
    const attn_head_t head = attn_linear_head(plan, run->io, task / kv_heads, task % kv_heads);
    attn_arena_t arena = {.base = run->space.states + worker * run->space.state_size};
    linear_state_t state = begin(
        run, task, &head, plan->recurrence->take_state(&plan->problem, &plan->form, 0, &arena));
    run->space.degenerate[task] =
        plan->recurrence->run(&head, &plan->form, &state, run->keep || run->tell,
                              run->space.scratch + worker * run->space.scratch_size);
    if (run->keep) run->states[task] = state;
    if (run->tell) attn_linear_state_store(plan, &head, &state);
}

/* The first of the keys of a key/value head whose decay is above 0, or -1. */
static int64_t bad_decay(const linear_plan_t *plan, const attn_io_t *io, int64_t kv_index) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t batch = kv_index / problem->kv_heads, head = kv_index % problem->kv_heads;
    const attn_tensor_t *decay = attn_own_array(io, LINEAR_DECAY);
    const int64_t keys = attn_keys_of(problem, io, batch);
    for (int64_t j = 0; decay && j < keys && j < decay->shape[2]; j++) {
        const float *row =
            (const float *)decay->data + attn_broadcast_offset(decay, batch, head, j);
        const int64_t stride = decay->stride[3], count = decay->shape[3];
        int above = 0;
        for (int64_t k = 0; stride == 1 && k < count; k++) above |= row[k] > 0.0f;
        for (int64_t k = 0; stride != 1 && k < count; k++) above |= row[k * stride] > 0.0f;
        if (above) return j;
    }
    return -1;
}

attn_status_t attn_linear_check_decay(const linear_plan_t *plan, const attn_io_t *io,
                                      int64_t kv_index, attn_error_t *error) {
    const int64_t kv_heads = plan->problem.kv_heads, key = bad_decay(plan, io, kv_index);
    if (key < 0) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_RANGE,
                     "decay: batch %lld, head %lld, key %lld: above 0; it is the log of what a "
                     "state keeps, 0 or below",
                     (long long)(kv_index / kv_heads), (long long)(kv_index % kv_heads),
                     (long long)key);
}

static void check_head(void *data, int64_t task, uint32_t worker) {
    const linear_rules_run_t *run = data;
    (void)worker;
    run->space.bad_key[task] = bad_decay(run->plan, run->io, task);
}

/* Before anything is written. */
static attn_status_t check_decays(linear_rules_run_t *run, attn_error_t *error) {
    if (!attn_own_array(run->io, LINEAR_DECAY)) return ATTN_OK;
    attn_host_parallel_for(run->plan->host, head_count(run->plan), check_head, run);
    for (int64_t t = 0; t < head_count(run->plan); t++)
        if (run->space.bad_key[t] >= 0)
            return attn_linear_check_decay(run->plan, run->io, t, error);
    return ATTN_OK;
}

static int64_t step_parts(const linear_plan_t *plan) {
    const int64_t workers = attn_host_workers(plan->host), heads = head_count(plan);
    return workers < heads ? workers : heads;
}

/* One query, of one of as many parts of the heads as there are workers. */
static void step_heads(void *data, int64_t task, uint32_t worker) {
    const linear_rules_run_t *run = data;
    const linear_plan_t *plan = run->plan;
    const int64_t kv_heads = plan->problem.kv_heads, parts = step_parts(plan);
    const int64_t first = task * head_count(plan) / parts;
    const int64_t count = (task + 1) * head_count(plan) / parts - first;
    const attn_head_t head = attn_linear_head(plan, run->io, first / kv_heads, first % kv_heads);
    run->space.degenerate[task] =
        plan->recurrence->step(&head, &plan->form, &run->states[first], count,
                               run->space.scratch + worker * run->space.scratch_size);
}

void attn_linear_rules_step(const linear_plan_t *plan, const attn_io_t *io,
                            linear_state_t *states) {
    attn_arena_t arena = {.base = io->workspace};
    linear_rules_run_t run = {.plan = plan, .io = io, .states = states};
    run.space = attn_linear_rules_space(plan, &arena);
    attn_host_parallel_for(plan->host, step_parts(plan), step_heads, &run);
    for (int64_t t = 0; io->report && t < step_parts(plan); t++)
        io->report->degenerate_rows += run.space.degenerate[t];
}

attn_status_t attn_linear_rules_run(const linear_plan_t *plan, const attn_io_t *io,
                                    linear_state_t *states, int keep, attn_error_t *error) {
    attn_arena_t arena = {.base = io->workspace};
    linear_rules_run_t run = {.plan = plan, .io = io, .states = states, .keep = keep};
    run.space = attn_linear_rules_space(plan, &arena);
    run.tell = attn_own_array(io, LINEAR_STATE_OUT) || attn_own_array(io, LINEAR_STATE_Z_OUT);
    const attn_status_t status = states ? ATTN_OK : check_decays(&run, error); /* or append() did */
    if (status != ATTN_OK) return status;
    attn_host_parallel_for(plan->host, head_count(plan), run_head, &run);
    for (int64_t t = 0; io->report && t < head_count(plan); t++)
        io->report->degenerate_rows += run.space.degenerate[t];
    return ATTN_OK;
}
