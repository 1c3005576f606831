/*
 * Gradients of the rules that decay or correct, a step of tokens at a time, time reversed. With recurrence.c's S, P_i,
 * k_j^(i) and u_i of a step, where the readers x_i are phi(q_i), whose output changes the loss by H_i, and of a delta
 * rule also phi(k_i), with H_i = -dL/dv_i and all j < i alone, and R = dL/dS behind the step:
 *
 *     dL/du_j     = R^T k_j^(n) + sum_(i >= j) (x_i.k_j^(i)) H_i,                        dL/dv_j = beta_j dL/du_j
 *     dL/dx_i     = P_i (S H_i) + sum_(j <= i) (H_i.u_j) k_j^(i)
 *     dL/dk_j     = a_n ... a_(j+1) (R u_j) + sum_(i >= j) (H_i.u_j) a_i ... a_(j+1) x_i
 *     dL/dlog a_t = P_n sum_c R S + sum_(j < t) k_j^(n) (R u_j) + sum_(i >= t) P_i x_i (S H_i)
 *                   + sum_(j < t <= i) (H_i.u_j) x_i k_j^(i)
 *
 * and before the step dL/dS = P_n R + sum_i P_i x_i H_i^T. The delta rule's system for dL/du is its forward one,
 * transposed (arXiv:2406.06484, Section 3.2; arXiv:2412.06464); gates go as in arXiv:2312.06635, Section 4, but that
 * each of their gradients is a sum of what the gate lets through alone: no difference of large sums. z and its
 * gradient are a row behind a state, for which u is 1 and H is c = dL/dN. S is kept before each step.
 * Compiled once per tier.
 */
#include "backward_meet.h"

/* ---- queries --------------------------------------------------------------------------------------- */

/* Queries [first, first + count) of a head: rows from `lead` on, each of the token at its place, where there are any. */
typedef struct rows {
    int64_t head, first, count, lead, tokens;
} rows_t;

static void load_queries(const way_t *way, const rows_t *rows) {
    const work_t *work = &way->work;
    const attn_head_t *head = work->head;
    const int64_t lead = rows->lead, all = STEP - lead;
    memset(work->q, 0, (size_t)(lead * work->width) * sizeof(float));
    memset(way->changes, 0, (size_t)(lead * work->stride) * sizeof(float));
    features_load(work->form, &head->io->query, head->batch, rows->head, rows->first, rows->count,
                  work->form->query_scale, work->q + lead * work->width, work->width, all,
                  work->wide);
    rows_load(&way->back->gradients->out, head->batch, rows->head, rows->first, rows->count, 1.0f,
              way->changes + lead * work->stride, work->stride, all);
}

/* H, and one over each normaliser. */
static void normalise(const way_t *way, const rows_t *rows, const float *x, const float *z,
                      float *factors) {
    const work_t *work = &way->work;
    for (int64_t i = rows->lead; i < rows->lead + rows->count; i++) {
        float sum = dot_of(x + i * work->width, z, work->width);
        for (int64_t j = 0; j <= i && j < rows->tokens; j++) sum += work->products[j * STEP + i];
        factors[i] = row_factor(sum);
        scale_row(way->changes + i * work->stride, work->stride, factors[i]);
    }
}

/* c = dL/dN, which is in H_i.u_j and S H_i as are a column of ones and z. */
static void add_normalisers(const way_t *way, const rows_t *rows, const float *x, const float *z,
                            const float *factors) {
    const work_t *work = &way->work;
    float *sums_z = z_of(way, way->sums);
    for (int64_t i = rows->lead; i < rows->lead + rows->count; i++) {
        float *change = way->by_reader + i * work->width;
        if (factors[i] == 0.0f) continue; /* a row of zeros */
        float sum = dot_of(x + i * work->width, change, work->width);
        for (int64_t j = 0; j <= i && j < rows->tokens; j++)
            sum += work->products[j * STEP + i] * way->scores[j * STEP + i];
        const float c = -factors[i] * sum;
        add_to_row(change, z, work->width, c);
        for (int64_t j = 0; j <= i && j < rows->tokens; j++) way->scores[j * STEP + i] += c;
        add_to_row(sums_z, x + i * work->width, work->width, c);
    }
}

static void store_queries(const way_t *way, const rows_t *rows) {
    const work_t *work = &way->work;
    const attn_head_t *head = work->head;
    const attn_tensor_t *to = &way->back->gradients->query;
    const features_back_rows_t back = {.x = way->x,
                                       .phi = work->q + rows->lead * work->width,
                                       .gradient = way->by_reader + rows->lead * work->width,
                                       .width = way->x_width,
                                       .stride = work->width,
                                       .count = rows->count};
    if (!to->data) return;
    rows_load(&head->io->query, head->batch, rows->head, rows->first, rows->count,
              work->form->query_scale, way->x, way->x_width, rows->count);
    features_back(work->form, &back, head->problem->dim, work->form->query_scale);
    rows_store(to, head->batch, rows->head, rows->first, rows->count, way->x, way->x_width);
}

/* Where the step's gradients go. */
static product_ahead_t results_ahead(const way_t *way, const rows_t *rows) {
    const attn_io_t *gradients = way->back->gradients;
    const attn_tensor_t *const tensors[3] = {&gradients->key, &gradients->value, NULL};
    const attn_head_t *head = way->work.head;
    product_ahead_t ahead = ahead_of_rows(tensors, STEP, head->batch, head->kv_head,
                                          rows->first + way->offset - rows->lead);
    if (gradients->query.data)
        ahead_of(&ahead, 2, &gradients->query, head->batch, rows->head, rows->first);
    return ahead;
}

static void queries_back(const way_t *way, const rows_t *rows, float *state) {
    const work_t *work = &way->work;
    const attn_head_t *head = work->head;
    const attn_io_t *gradients = way->back->gradients;
    const attn_tensor_t *const next[3] = {&head->io->query, &gradients->out, NULL};
    product_ahead_t results = results_ahead(way, rows);
    product_ahead_t before = ahead_of_rows(next, STEP, head->batch, rows->head, rows->first - STEP);
    float factors[STEP];
    load_queries(way, rows);
    multiply_rows(work, work->q, rows->tokens);
    const float *x = decay_rows(work, work->q, rows->tokens ? STEP : 0);
    if (work->form->normalise) normalise(way, rows, x, z_of(way, state), factors);
    read_changes(way, state, rows->tokens, &results);
    if (work->form->normalise) add_normalisers(way, rows, x, z_of(way, state), factors);
    for (int64_t j = 0; j < rows->tokens; j++)
        add_rows(way->by_value + j * work->stride, way->changes, work->stride,
                 work->products + j * STEP, attn_max(j, rows->lead), rows->lead + rows->count);
    join(way, x, way->changes, way->sums, &before);
    decay_readers(way, work->q, rows->tokens);
    meet(way, work->q, rows->tokens);
    store_queries(way, rows);
}

/* Queries [first, last) of all heads, which see a state and no more, or nothing. */
static void queries_of_state(const way_t *way, int64_t first, int64_t last, float *state) {
    const attn_head_t *head = way->work.head;
    const attn_tensor_t *to = &way->back->gradients->query;
    const int is_empty = state == way->kept && !attn_own_array(head->io, LINEAR_STATE);
    for (int64_t h = 0; h < way->group; h++)
        for (int64_t i = first; i < last; i += STEP) {
            const rows_t rows = {head->kv_head * way->group + h, i, attn_min(STEP, last - i), 0, 0};
            if (!is_empty)
                queries_back(way, &rows, state);
            else if (to->data)
                rows_clear(to, head->batch, rows.head, i, rows.count, way->x);
        }
}

/* ---- keys ------------------------------------------------------------------------------------------ */

/* R P_n, and sum_c R S of it. */
static void decay_sums(const way_t *way, int64_t count, float *state, float *passed) {
    const work_t *work = &way->work;
    const int64_t features = work->form->features, stride = work->stride;
    float *z = z_of(way, state), *sums_z = z_of(way, way->sums);
    memset(passed, 0, (size_t)work->width * sizeof *passed);
    for (int64_t k = 0; linear_has_decay(work->form) && k < features; k++) {
        float *row = way->sums + k * stride;
        scale_row(row, stride, kept_of(way, count, k));
        sums_z[k] *= kept_of(way, count, k);
        if (!way->back->decay) continue;
        passed[k] = dot_of(row, state + k * stride, stride);
        if (work->form->normalise) passed[k] += sums_z[k] * z[k];
    }
}

/* What keys come to behind the step: by_key = R u_j, and by_value. */
static void begin_keys(const way_t *way, int64_t first, int64_t count, float *state) {
    const work_t *work = &way->work;
    const float *sums_z = z_of(way, way->sums);
    float *passed = work->log;
    product_ahead_t before = next_tokens(work, first - STEP), none = {.rows = 0};
    read_rows(way, work->last, way->sums, way->by_value, &none);
    read_columns_of(way, work->u, way->sums, way->by_key, &before);
    for (int64_t j = 0; work->form->normalise && j < count; j++)
        add_to_row(way->by_key + j * work->width, sums_z, work->width, 1.0f);
    decay_sums(way, count, state, passed);
    for (int64_t k = 0; k < work->width; k += VF_LANES) {
        vf sum = vf_load(passed + k);
        for (int64_t j = 0; j < count; j++) {
            const int64_t at = j * work->width + k;
            const vf change = vf_load(way->by_key + at);
            vf_store(way->by_decay + at, sum);
            sum = vf_mul_add(vf_load(work->last + at), change, sum);
            vf_store(way->by_key + at, vf_mul(vf_load(way->decays + at), change));
        }
    }
}

/* dL/du of a delta rule, back substitution, and what keys are as readers. */
static void correct(const way_t *way, int64_t first, int64_t count, const float *state) {
    const work_t *work = &way->work;
    const int64_t stride = work->stride;
    const float *products = corrections_of(way, first);
    product_ahead_t none = {.rows = 0};
    memset(way->changes + count * stride, 0, (size_t)((STEP - count) * stride) * sizeof(float));
    for (int64_t j = count - 1; j >= 0; j--) {
        float *change = way->by_value + j * stride;
        add_rows(change, way->changes, stride, products + j * STEP, j + 1, count);
        scaled_row(way->changes + j * stride, change, stride, -work->beta[j]);
    }
    read_changes(way, state, count, &none);
    for (int64_t j = 0; j < count; j++) way->scores[j * STEP + j] = 0.0f;
    join(way, decay_rows(work, work->k, STEP), way->changes, way->sums, &none);
    decay_readers(way, work->k, count);
    meet(way, work->k, count);
    for (int64_t j = 0; j < count; j++)
        add_to_row(way->by_key + j * work->width, way->by_reader + j * work->width, work->width,
                   1.0f);
}

static void store_gates(const way_t *way, int64_t first, int64_t count) {
    const work_t *work = &way->work;
    const linear_back_t *back = way->back;
    for (int64_t t = 0; back->beta && t < count; t++)
        back->beta[first + t] = dot_of(way->by_value + t * work->stride,
                                       values_of(way, first) + t * work->stride, work->stride);
    for (int64_t t = 0; back->decay && t < count; t++) {
        float *to = back->decay + (first + t) * back->decays, sum = 0.0f;
        const float *from = way->by_decay + t * work->width;
        for (int64_t k = 0; k < work->form->features; k++) sum += from[k];
        if (back->decays > 1)
            memcpy(to, from, (size_t)back->decays * sizeof *to);
        else
            *to = sum;
    }
}

static void store_keys(const way_t *way, int64_t first, int64_t count) {
    const work_t *work = &way->work;
    const attn_head_t *head = work->head;
    const attn_io_t *gradients = way->back->gradients;
    const features_back_rows_t rows = {way->x,       work->k,     way->by_key,
                                       way->x_width, work->width, count};
    store_gates(way, first, count);
    for (int64_t i = 0; linear_has_delta(work->form) && i < count; i++)
        scale_row(way->by_value + i * work->stride, work->stride, work->beta[i]);
    if (gradients->value.data)
        rows_store(&gradients->value, head->batch, head->kv_head, first, count, way->by_value,
                   work->stride);
    if (!gradients->key.data) return;
    rows_load(&head->io->key, head->batch, head->kv_head, first, count, work->form->key_scale,
              way->x, way->x_width, count);
    features_back(work->form, &rows, head->problem->dim, work->form->key_scale);
    rows_store(&gradients->key, head->batch, head->kv_head, first, count, way->x, way->x_width);
}

static void step_back(way_t *way, int64_t first, int64_t count) {
    const attn_head_t *head = way->work.head;
    float *state = state_of(way, first);
    const int64_t from = attn_max(0, first - way->offset);
    const int64_t until = attn_min(head->problem->queries, first + count - way->offset);
    load_keys(way, first, count);
    if (linear_has_delta(way->work.form))
        scale_rests(way, first, count);
    else
        load_values(way, first, count);
    begin_keys(way, first, count, state);
    for (int64_t h = 0; from < until && h < way->group; h++) {
        const rows_t rows = {head->kv_head * way->group + h, from, until - from,
                             from + way->offset - first, count};
        queries_back(way, &rows, state);
    }
    if (linear_has_delta(way->work.form)) correct(way, first, count, state);
    store_keys(way, first, count);
}

/* Keys that no query sees */
static void clear_keys(const way_t *way) {
    const linear_back_t *back = way->back;
    const attn_head_t *head = way->work.head;
    const attn_tensor_t *const tensors[] = {&back->gradients->key, &back->gradients->value};
    const int64_t count = head->problem->keys - way->keys;
    for (int i = 0; i < 2; i++)
        if (tensors[i]->data)
            rows_clear(tensors[i], head->batch, head->kv_head, way->keys, count,
                       i ? way->changes : way->x);
    for (int64_t j = way->keys; j < head->problem->keys; j++) {
        if (back->beta) back->beta[j] = 0.0f;
        for (int64_t k = 0; back->decay && k < back->decays; k++)
            back->decay[j * back->decays + k] = 0.0f;
    }
}

static void run_rules_backward(const linear_back_t *back) {
    way_t way = begin_back(back);
    const int64_t queries = back->head->problem->queries;
    const int64_t begun = attn_max(0, attn_min(queries, -way.offset));
    const int64_t ended = attn_max(begun, attn_min(queries, way.keys - way.offset));
    const int64_t steps = (way.keys + STEP - 1) / STEP;
    load_state(&way, way.kept);
    for (int64_t first = 0; first < way.keys; first += STEP)
        absorb(&way, first, attn_min(STEP, way.keys - first));
    memset(way.sums, 0, (size_t)way.size * sizeof *way.sums);
    queries_of_state(&way, ended, queries, state_of(&way, steps * STEP));
    for (int64_t first = (steps - 1) * STEP; first >= 0; first -= STEP)
        step_back(&way, first, attn_min(STEP, way.keys - first));
    queries_of_state(&way, 0, begun, way.kept);
    clear_keys(&way);
    store_state(&way);
}

const linear_backward_t ATTN_KERNEL(attn_linear_backward_rules) = {.scratch = scratch,
                                                                   .run = run_rules_backward};
