/*
 * Linear attention one token at a time. Decoding is as fast as a state can be read and written. So this happens
 * once: what a token adds is kept beside the state, and the next token adds it on its way, while its own key
 * and query read. Compiled once per tier.
 */
#include "work.h"

/*
 * S = a S + k u^T of the token before, and to[i] = rows[i]^T S, for vectors [c, c + vectors) of columns. Without
 * decays a is not read.
 */
ATTN_INLINE void take_columns(const work_t *work, const float *const *rows, int count, int decays,
                              int vectors, int64_t c, float *const *to) {
    enum { MOST = 8 };
    const float *restrict a = work->state->next.a, *restrict key = work->state->next.k;
    const float *restrict u = work->state->next.u + c;
    const float *restrict first = rows[0], *restrict second = rows[count - 1];
    const int64_t features = work->form->features, stride = work->stride;
    float *restrict s = work->state->s + c;
    vf sums[2][MOST];
    ATTN_UNROLL
    for (int v = 0; v < vectors; v++) sums[0][v] = sums[1][v] = vf_zero();
    for (int64_t k = 0; k < features; k++, s += stride) {
        const vf keeps = vf_set1(decays ? a[k] : 1.0f), adds = vf_set1(key[k]);
        const vf x = vf_set1(first[k]), y = vf_set1(second[k]);
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++) {
            const vf old = vf_load(s + v * VF_LANES);
            const vf sum =
                vf_mul_add(adds, vf_load(u + v * VF_LANES), decays ? vf_mul(keeps, old) : old);
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

/* The same for all columns: whole rows of S where there are registers for their sums. */
ATTN_INLINE void take_all(const work_t *work, const float *const *rows, int count, int decays,
                          float *const *to) {
    enum { AT_ONCE = VF_LANES == 16 ? 4 : 8 };
    const int most = count == 2 || ATTN_COMPACT ? 4 : AT_ONCE;
    int64_t c = 0;
    for (; c + most * VF_LANES <= work->stride; c += most * VF_LANES)
        take_columns(work, rows, count, decays, most, c, to);
    for (; c < work->stride; c += VF_LANES) take_columns(work, rows, count, decays, 1, c, to);
}

/* And z; of a delta rule the first row is a key's, of the others there is but one. */
static void take_token(const work_t *work, const float *const *rows, float *const *to) {
    linear_state_t *state = work->state;
    const int is_delta = linear_has_delta(work->form), decays = linear_has_decay(work->form);
    if (ATTN_COMPACT || (is_delta && decays))
        take_all(work, rows, 2, 1, to);
    else if (is_delta)
        take_all(work, rows, 2, 0, to);
    else if (decays)
        take_all(work, rows, 1, 1, to);
    else
        take_all(work, rows, 1, 0, to);
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
    if (linear_has_decay(work->form)) load_decay(work, index, work->a);
}

/* to = a * row; without decays the row itself */
static const float *decay_row(const work_t *work, const float *row, float *to) {
    if (!linear_has_decay(work->form)) return row;
    for (int64_t k = 0; k < work->width; k += VF_LANES)
        vf_store(to + k, vf_mul(vf_load(row + k), vf_load(work->a + k)));
    return to;
}

ATTN_STEP void copy_vectors(float *to, const float *from, int64_t count) {
    for (int64_t i = 0; i < count; i += VF_LANES) vf_store(to + i, vf_load(from + i));
}

/* The loaded token, whose key has found what is there, is the next that goes into the state. */
static void leave_token(const work_t *work) {
    linear_state_t *state = work->state;
    copy_vectors(state->next.k, work->k, work->width);
    copy_vectors(state->next.u, work->u, work->stride);
    if (linear_has_decay(work->form))
        copy_vectors(state->next.a, work->a, work->width);
    else if (!state->next.is_there)
        for (int64_t k = 0; k < work->width; k++) state->next.a[k] = 1.0f;
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

/* ---- the step ------------------------------------------------------------------------------------ */

/*
 * Asks for the next lines of a head's state: a few at a time, as many as can be on their way, before each piece of
 * work that needs none of them. So the nearest cache has the first rows when the pass begins.
 */
static void fetch_state(const linear_state_t *state, int64_t *done) {
    enum { LINE = 64, LINES = 16 };
    const int64_t bytes = (int64_t)(attn_linear_state_sums(state) * sizeof(float));
    for (int i = 0; PRODUCT_FETCHES && i < LINES && *done < bytes; i++, *done += LINE)
        __builtin_prefetch((const char *)state->s + *done, 1, 3);
}

/* The first query head: the pass over the state is its. Writes what it reads to `out`. */
static void read_and_take(work_t *work, const float *row) {
    const int is_delta = linear_has_delta(work->form);
    const float *rows[] = {is_delta ? decay_row(work, work->k, work->kp) : row, row};
    float *to[] = {is_delta ? work->found : work->out, work->out};
    take_token(work, rows, to);
    if (is_delta) solve_delta(work, 1);
    leave_token(work);
}

/* The token that no query has taken in, as it is the first: what its key finds is read apart. */
static void load_first(work_t *work) {
    work->poison = INT64_MAX;
    load_token(work, 0);
    if (linear_has_delta(work->form)) {
        read_state(work, decay_row(work, work->k, work->kp), 1, work->found);
        solve_delta(work, 1);
    }
    leave_token(work);
}

static void step_head(work_t *work) {
    const attn_head_t *head = work->head;
    const int64_t group = head->problem->heads / head->problem->kv_heads;
    int64_t fetched = 0;
    if (!work->state->next.is_there) load_first(work);
    work->poison = INT64_MAX;
    fetch_state(work->state, &fetched);
    load_token(work, 1);
    for (int64_t h = 0; h < group; h++) {
        const int64_t query_head = head->kv_head * group + h;
        fetch_state(work->state, &fetched);
        const float *row = load_query(work, query_head);
        float factor;
        fetch_state(work->state, &fetched);
        if (h == 0)
            read_and_take(work, row);
        else
            read_state(work, row, 1, work->out);
        find_factors(work, row, 0, 1, 1, &factor);
        mix_row(work, 0, 1, factor);
        store_row(work, query_head, 0, 0, factor);
    }
}

linear_result_t ATTN_KERNEL(attn_linear_step)(const attn_head_t *first, const linear_form_t *form,
                                              linear_state_t *states, int64_t count,
                                              void *scratch_memory) {
    attn_head_t head = *first;
    work_t work = begin(&head, form, states, scratch_memory);
    for (int64_t i = 0; i < count; i++) {
        work.state = &states[i];
        step_head(&work);
        if (++head.kv_head < head.problem->kv_heads) continue;
        head.kv_head = 0;
        head.batch++;
    }
    return work.result;
}
