/*
 * Linear attention one token at a time. Reading a state and writing it is what this would cost, so it is read
 * alone: what the last tokens add stands beside it, as it will be added (recurrence.c), and a query reads both.
 * When there are as many as a step takes, they are added before the next. Compiled once per tier.
 */
#include "work.h"

/* Token number `known` becomes row i of the pending ones; u of a delta rule is not solved. */
ATTN_RARE_STEP void load_token(work_t *work, int64_t i) {
    const linear_state_t *state = work->state;
    const attn_tensor_t *tensor;
    const int64_t known = work->known;
    work->k = state->pending.k + i * work->width;
    work->u = state->pending.u + i * work->stride;
    load_rows(work, 1, 1);
    if (linear_has_delta(work->form)) work->beta[0] = *own_row(work, LINEAR_BETA, known, &tensor);
    if (!linear_has_decay(work->form)) return;
    if (i == 0) memset(work->log, 0, (size_t)work->width * sizeof(float));
    load_decay(work, known, work->a);
}

/* What came before the token decays: keys, and p, the product of all decays so far. */
ATTN_RARE_STEP void decay_pending(work_t *work, int64_t count) {
    float *k = work->state->pending.k, *p = work->state->pending.p;
    if (!linear_has_decay(work->form)) return;
    for (int64_t c = 0; c < work->width; c += VF_LANES) {
        const vf a = vf_load(work->a + c);
        vf_store(p + c, count ? vf_mul(a, vf_load(p + c)) : a);
        for (int64_t at = c; at < count * work->width; at += work->width)
            vf_store(k + at, vf_mul(a, vf_load(k + at)));
    }
}

/* out = factor * x^T (p S + what `count` pending tokens add), for a row x, which becomes p x. */
static void read_all(work_t *work, float *x, int64_t count) {
    const linear_state_t *state = work->state;
    for (int64_t j = 0; j < count; j += BLOCK) {
        const float *keys = state->pending.k + j * work->width;
        vf sums[BLOCK] = {vf_zero(), vf_zero(), vf_zero(), vf_zero()};
        float products[BLOCK];
        for (int64_t c = 0; c < work->width; c += VF_LANES) {
            const vf y = vf_load(x + c);
            ATTN_UNROLL
            for (int i = 0; i < BLOCK; i++)
                sums[i] = vf_mul_add(y, vf_load(keys + i * work->width + c), sums[i]);
        }
        vf_reduce_add4(products, sums);
        for (int i = 0; i < BLOCK; i++) work->products[(j + i) * STEP] = products[i];
    }
    for (int64_t c = 0; linear_has_decay(work->form) && c < work->width; c += VF_LANES)
        vf_store(x + c, vf_mul(vf_load(x + c), vf_load(state->pending.p + c)));
    work->u = state->pending.u;
    read_state(work, x, 1, work->out);
}

/* The pending tokens join the state. */
ATTN_RARE_STEP void add_pending(work_t *work) {
    linear_state_t *state = work->state;
    product_ahead_t none = {.rows = 0};
    add_step(work, state->pending.k, state->pending.u, state->pending.count, &none);
    state->pending.count = 0;
}

/* The next of the tokens that came is a pending one too. */
ATTN_RARE_STEP void take_token(work_t *work) {
    linear_state_t *state = work->state;
    if (state->pending.count == STEP) add_pending(work);
    const int64_t i = state->pending.count++;
    load_token(work, i);
    decay_pending(work, i);
    work->known++;
    if (!linear_has_delta(work->form)) return;
    float *u = work->u;
    memcpy(work->kp, work->k, (size_t)work->width * sizeof(float));
    read_all(work, work->kp, i);
    mix_row(work, 0, i, 1.0f); /* what its key finds */
    for (int64_t c = 0; c < work->stride; c += VF_LANES)
        vf_store(u + c,
                 vf_mul(vf_set1(work->beta[0]), vf_sub(vf_load(u + c), vf_load(work->out + c))));
}

ATTN_RARE_STEP void answer(work_t *work, int64_t query_head) {
    const attn_head_t *head = work->head;
    const linear_state_t *state = work->state;
    const int64_t count = state->pending.count;
    float factor = 1.0f;
    features_load(work->form, &head->io->query, head->batch, query_head, 0, 1,
                  work->form->query_scale, work->q, work->width, 1, work->wide);
    read_all(work, work->q, count);
    if (work->form->normalise) factor = row_factor(normaliser(work, work->q, 0, count));
    mix_row(work, 0, count, factor);
    store_rows(work, query_head, 0, 1, 0, &factor);
}

int64_t ATTN_KERNEL(attn_linear_step)(const attn_head_t *first, const linear_form_t *form,
                                      linear_state_t *states, int64_t count, void *scratch_memory) {
    attn_head_t head = *first;
    work_t work = begin(&head, form, states, scratch_memory);
    const int64_t group = head.problem->heads / head.problem->kv_heads;
    for (int64_t i = 0; i < count; i++) {
        work.state = &states[i];
        work.log = work.state->pending.log;
        work.known = work.state->pending.count;
        while (work.known < head.problem->keys) take_token(&work);
        for (int64_t h = 0; h < group; h++) answer(&work, head.kv_head * group + h);
        if (++head.kv_head < head.problem->kv_heads) continue;
        head.kv_head = 0;
        head.batch++;
    }
    return work.degenerate;
}
