/*
 * Linear attention one token at a time. Decoding is as fast as a state can be read and written. So this happens
 * once: what a token adds is kept beside the state, and the next token adds it on its way, while its own key
 * and query read. Compiled once per tier.
 */
#include "work.h"

/* S = a S + k u^T of the token before, and to[i] = rows[i]^T S, for vectors [c, c + vectors) of columns. */
ATTN_INLINE void take_columns(const work_t *work, const float *const *rows, int count, int vectors,
                              int64_t c, float *const *to) {
    enum { MOST = 4 };
    const float *restrict a = work->state->next.a, *restrict key = work->state->next.k;
    const float *restrict first = rows[0], *restrict second = rows[count - 1];
    const int64_t features = work->form->features, stride = work->stride;
    float *restrict s = work->state->s + c;
    vf u[MOST], sums[2][MOST];
    ATTN_UNROLL
    for (int v = 0; v < vectors; v++) {
        u[v] = vf_load(work->state->next.u + c + v * VF_LANES);
        sums[0][v] = sums[1][v] = vf_zero();
    }
    for (int64_t k = 0; k < features; k++, s += stride) {
        const vf keeps = vf_set1(a[k]), adds = vf_set1(key[k]);
        const vf x = vf_set1(first[k]), y = vf_set1(second[k]);
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) {
            const vf sum = vf_mul_add(adds, u[v], vf_mul(keeps, vf_load(s + v * VF_LANES)));
            vf_store(s + v * VF_LANES, sum);
            sums[0][v] = vf_mul_add(x, sum, sums[0][v]);
            if (count == 2) sums[1][v] = vf_mul_add(y, sum, sums[1][v]);
        }
    }
    ATTN_UNROLL
    for (int i = 0; i < count; i++) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) vf_store(to[i] + c + v * VF_LANES, sums[i][v]);
    }
}

/* The same for all columns, and z; of a delta rule the first row is a key's, of the others there is but one. */
static void take_token(const work_t *work, const float *const *rows, float *const *to) {
    linear_state_t *state = work->state;
    const int is_delta = linear_has_delta(work->form);
    int64_t c = 0;
    for (; c + 4 * VF_LANES <= work->stride; c += 4 * VF_LANES) {
        if (ATTN_COMPACT || is_delta)
            take_columns(work, rows, 2, 4, c, to);
        else
            take_columns(work, rows, 1, 4, c, to);
    }
    for (; c < work->stride; c += VF_LANES) {
        if (ATTN_COMPACT || is_delta)
            take_columns(work, rows, 2, 1, c, to);
        else
            take_columns(work, rows, 1, 1, c, to);
    }
    for (int64_t k = 0; work->form->normalise && k < work->width; k += VF_LANES) {
        const vf key = vf_load(state->next.k + k), keeps = vf_load(state->next.a + k);
        vf_store(state->z + k, vf_mul_add(keeps, vf_load(state->z + k), key));
        vf_store(state->zabs + k,
                 vf_mul_add(keeps, vf_load(state->zabs + k), vf_max(key, vf_sub(vf_zero(), key))));
    }
    state->keys += 1;
    state->gone |= state->next.gone;
}

/* Token number `index` as it is: u of a delta rule is not solved. */
static void load_token(work_t *work, int64_t index) {
    const attn_tensor_t *tensor;
    work->known = index;
    load_rows(work, 1, 1);
    if (linear_has_delta(work->form)) {
        work->beta[0] = *own_row(work, LINEAR_BETA, index, &tensor);
        look_at_gate(work, work->beta[0], INFINITY, index);
    }
    if (linear_has_decay(work->form))
        load_decay(work, index, work->a);
    else
        for (int64_t k = 0; k < work->width; k++) work->a[k] = 1.0f;
}

/* to = a * row */
static const float *decay_row(const work_t *work, const float *row, float *to) {
    for (int64_t k = 0; k < work->width; k += VF_LANES)
        vf_store(to + k, vf_mul(vf_load(row + k), vf_load(work->a + k)));
    return to;
}

/* The loaded token, whose key has found what is there, is the next that goes into the state. */
static void leave_token(const work_t *work) {
    linear_state_t *state = work->state;
    const size_t bytes = (size_t)work->width * sizeof(float);
    memcpy(state->next.k, work->k, bytes);
    memcpy(state->next.a, work->a, bytes);
    memcpy(state->next.u, work->u, (size_t)work->stride * sizeof(float));
    state->next.gone = work->poison <= work->known;
    state->next.is_there = 1;
}

/* phi of a query as row 0, decayed as its token decays what was before, and its product with the token's key. */
static const float *load_query(work_t *work, int64_t query_head) {
    const attn_head_t *head = work->head;
    features_load(work->form, &head->io->query, head->batch, query_head, 0, 1,
                  work->form->query_scale, work->q, work->width, 1, work->wide);
    work->products[0] = dot_of(work->q, work->k, work->width);
    return decay_row(work, work->q, work->q);
}

linear_result_t ATTN_KERNEL(attn_linear_step)(const attn_head_t *head, const linear_form_t *form,
                                              linear_state_t *state, void *scratch_memory) {
    const int64_t group = head->problem->heads / head->problem->kv_heads;
    const int is_delta = linear_has_delta(form);
    work_t work = begin(head, form, state, scratch_memory);
    if (!state->next.is_there) {
        load_token(&work, 0);
        if (is_delta) {
            read_state(&work, decay_row(&work, work.k, work.kp), 1, work.found);
            solve_delta(&work, 1);
        }
        leave_token(&work);
    }
    work.poison = INT64_MAX;
    load_token(&work, 1);
    for (int64_t h = 0; h < group; h++) {
        const int64_t query_head = head->kv_head * group + h;
        const float *row = load_query(&work, query_head);
        float factor;
        if (h == 0) {
            const float *rows[] = {is_delta ? decay_row(&work, work.k, work.kp) : row, row};
            float *to[] = {is_delta ? work.found : work.out, work.out};
            take_token(&work, rows, to);
            if (is_delta) solve_delta(&work, 1);
            leave_token(&work);
        } else {
            read_state(&work, row, 1, work.out);
        }
        find_factors(&work, row, 0, 1, 1, &factor);
        mix_row(&work, 0, 1, factor);
        store_row(&work, query_head, 0, 0, factor);
    }
    return work.result;
}
