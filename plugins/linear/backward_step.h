/*
 * backward_step.h: a head on its way back through a rule that decays or corrects (backward_rules.c), for the tier being
 * compiled: its states before each step, and a step's tokens.
 */
#ifndef ATTN_LINEAR_BACKWARD_STEP_H
#define ATTN_LINEAR_BACKWARD_STEP_H

/* Whole vectors on every tier, since tokens are columns of products with S and R */
#define LINEAR_STEP 16
#include "step.h"

#include "backward.h"
#include "backward_rows.h"

typedef struct way {
    const linear_back_t *back;
    work_t work; /* the step's tokens: k, u, gates */
    int64_t group, x_width;
    int64_t keys, offset; /* those that some query sees, of query i up to i + offset */
    int64_t size;         /* of a state: [features][stride], and z */
    float *kept;          /* states before each step, and behind the last */
    float *sums;          /* R */
    float *rests;         /* of a rule that corrects, of all keys: v - P^T k, */
    float *corrections;   /* and of each step [STEP][STEP]: k_i.k_j^(i) */
    float *decays;        /* [STEP][width]: a_n ... a_(j+1) */
    float *by_key, *by_reader, *by_decay; /* [STEP][width] */
    float *by_value;                      /* [STEP][stride]: dL/du, and in the end dL/dv */
    float *changes;                       /* [STEP][stride]: H */
    float *columns, *found; /* [stride][STEP]: H or u, and [width][STEP], 0 behind the features */
    float *scores;          /* [STEP][STEP]: of key j and reader i at [j][i] */
    float *x;               /* [STEP + 1][x_width] */
} way_t;

static way_t lay_out_back(const attn_problem_t *problem, const linear_form_t *form,
                          attn_arena_t *arena) {
    const int64_t steps = problem->keys / STEP + 1;
    const int corrects = linear_has_delta(form);
    way_t way = {.work = lay_out_recurrence(problem, form, arena)};
    const int64_t width = way.work.width, stride = way.work.stride;
    way.group = problem->heads / problem->kv_heads;
    way.x_width = attn_round_up(problem->dim, PRODUCT_WIDTH);
    way.size = form->features * stride + width;
    const back_piece_t pieces[] = {
        {&way.kept, steps + 1, way.size},
        {&way.sums, way.size + TILE_ROWS * stride, 1}, /* room, also of `kept`, for product.h */
        {&way.rests, steps, corrects ? STEP * stride : 0},
        {&way.corrections, steps, corrects ? STEP * STEP : 0},
        {&way.decays, width, STEP},
        {&way.by_key, width, STEP},
        {&way.by_reader, width, STEP},
        {&way.by_decay, width, STEP},
        {&way.by_value, stride, STEP},
        {&way.changes, stride, STEP},
        {&way.columns, stride, STEP},
        {&way.found, width, STEP},
        {&way.scores, STEP, STEP + TILE_ROWS},
        {&way.x, way.x_width, STEP + 1},
    };
    take_pieces(arena, pieces, sizeof pieces / sizeof *pieces);
    return way;
}

static void scratch(const attn_problem_t *problem, const linear_form_t *form, attn_arena_t *arena) {
    lay_out_back(problem, form, arena);
}

static way_t begin_back(const linear_back_t *back) {
    attn_arena_t arena = {.base = back->scratch};
    const attn_head_t *head = back->head;
    way_t way = lay_out_back(head->problem, back->form, &arena);
    const int64_t keys = attn_keys_of(head->problem, head->io, head->batch);
    way.back = back;
    way.work.head = head;
    way.offset = attn_query_position(head->problem, keys, 0);
    way.keys = attn_max(0, attn_min(keys, way.offset + head->problem->queries));
    for (int64_t i = 0; i < STEP * way.work.width; i++) way.work.a[i] = way.work.p[i] = 1.0f;
    memset(way.found, 0, (size_t)(STEP * way.work.width) * sizeof *way.found);
    return way;
}

/* ---- states ---------------------------------------------------------------------------------------- */

static float *state_of(const way_t *way, int64_t first) {
    return way->kept + first / STEP * way->size;
}

static float *z_of(const way_t *way, float *state) {
    return state + way->work.form->features * way->work.stride;
}

/* What P_n leaves of a feature. */
static float kept_of(const way_t *way, int64_t count, int64_t k) {
    return way->work.p[(count - 1) * way->work.width + k];
}

/* to[i] = rows_i^T S */
static void read_rows(const way_t *way, const float *rows, const float *state, float *to,
                      product_ahead_t *ahead) {
    const work_t *work = &way->work;
    product(to, work->stride, rows, work->width, state, work->stride, work->form->features, STEP,
            work->stride, NULL, 0, ahead);
}

/* to[c][r] = from[r][c] */
static void transpose(float *to, int64_t to_stride, const float *from, int64_t from_stride,
                      int64_t rows, int64_t columns) {
    const int64_t whole_rows = rows / 4 * 4, whole = columns / 4 * 4;
    for (int64_t r = 0; r < whole_rows; r += 4)
        for (int64_t c = 0; c < whole; c += 4)
            vf_transpose(4, from + r * from_stride + c, from_stride, to + c * to_stride + r,
                         to_stride, 1.0f);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = r < whole_rows ? whole : 0; c < columns; c++)
            to[c * to_stride + r] = from[r * from_stride + c];
}

/* to[i] = S rows_i; leaves the rows as columns. */
static void read_columns_of(const way_t *way, const float *rows, const float *state, float *to,
                            product_ahead_t *ahead) {
    const work_t *work = &way->work;
    const int64_t features = work->form->features;
    transpose(way->columns, STEP, rows, work->stride, STEP, work->stride);
    product(way->found, STEP, state, work->stride, way->columns, STEP, work->stride, features, STEP,
            NULL, 0, ahead);
    transpose(to, work->width, way->found, STEP, work->width, STEP);
}

/* S += sum_i left_i right_i^T */
static void join(const way_t *way, const float *left, const float *right, float *state,
                 product_ahead_t *ahead) {
    const work_t *work = &way->work;
    product_add_transposed(state, work->stride, left, work->width, right, work->stride, STEP,
                           work->form->features, work->stride, ahead);
}

/* to += sum_(from <= i < until) factors[i] rows_i */
static void add_rows(float *to, const float *rows, int64_t stride, const float *factors,
                     int64_t from, int64_t until) {
    for (int64_t c = 0; c < stride; c += VF_LANES) {
        vf sum = vf_load(to + c);
        for (int64_t i = from; i < until; i++)
            sum = vf_mul_add(vf_set1(factors[i]), vf_load(rows + i * stride + c), sum);
        vf_store(to + c, sum);
    }
}

/* The state that the run's arrays give, or zeros. */
static void load_state(const way_t *way, float *state) {
    const attn_head_t *head = way->work.head;
    const attn_tensor_t *s = attn_own_array(head->io, LINEAR_STATE);
    const attn_tensor_t *z = attn_own_array(head->io, LINEAR_STATE_Z);
    memset(state, 0, (size_t)way->size * sizeof *state);
    for (int64_t k = 0; s && k < way->work.form->features; k++) {
        convert_row(state + k * way->work.stride, attn_row(s, head->batch, head->kv_head, k),
                    ATTN_F32, s->stride[3], s->shape[3], 1.0f);
        if (z) z_of(way, state)[k] = *attn_row(z, head->batch, head->kv_head, k);
    }
}

static void store_state(const way_t *way) {
    const attn_head_t *head = way->work.head;
    const attn_tensor_t *s = attn_own_array(way->back->gradients, LINEAR_STATE);
    const attn_tensor_t *z = attn_own_array(way->back->gradients, LINEAR_STATE_Z);
    for (int64_t k = 0; k < way->work.form->features; k++) {
        if (s)
            convert_back(attn_row(s, head->batch, head->kv_head, k), ATTN_F32, s->stride[3],
                         way->sums + k * way->work.stride, s->shape[3], 1.0f);
        if (z) *attn_row(z, head->batch, head->kv_head, k) = z_of(way, way->sums)[k];
    }
}

/* ---- tokens ---------------------------------------------------------------------------------------- */

static void decay_keys(const way_t *way, int64_t count) {
    const work_t *work = &way->work;
    memset(work->last + count * work->width, 0,
           (size_t)((STEP - count) * work->width) * sizeof(float));
    for (int64_t k = 0; k < work->width; k += VF_LANES) {
        vf decays = vf_set1(1.0f);
        for (int64_t j = count - 1; j >= 0; j--) {
            const int64_t at = j * work->width + k;
            vf_store(way->decays + at, decays);
            vf_store(work->last + at, vf_mul(decays, vf_load(work->k + at)));
            decays = vf_mul(decays, vf_load(work->a + at));
        }
    }
}

static void load_keys(way_t *way, int64_t first, int64_t count) {
    work_t *work = &way->work;
    const attn_head_t *head = work->head;
    features_load(work->form, &head->io->key, head->batch, head->kv_head, first, count,
                  work->form->key_scale, work->k, work->width, STEP, work->wide);
    load_gates(work, first, count);
    decay_keys(way, count);
}

/* Values, or of a rule that corrects places of `rests`, which a step's u are beta of. */
static float *values_of(const way_t *way, int64_t first) {
    const work_t *work = &way->work;
    return linear_has_delta(work->form) ? way->rests + first * work->stride : work->u;
}

static float *corrections_of(const way_t *way, int64_t first) {
    return way->corrections + first * STEP;
}

static void load_values(const way_t *way, int64_t first, int64_t count) {
    const attn_head_t *head = way->work.head;
    rows_load(&head->io->value, head->batch, head->kv_head, first, count, 1.0f,
              values_of(way, first), way->work.stride, STEP);
}

static void scale_rests(const way_t *way, int64_t first, int64_t count) {
    const work_t *work = &way->work;
    const int64_t stride = work->stride;
    memset(work->u, 0, (size_t)(STEP * stride) * sizeof *work->u);
    for (int64_t i = 0; i < count; i++)
        scaled_row(work->u + i * stride, values_of(way, first) + i * stride, stride, work->beta[i]);
}

/* What a rule corrects, in place of the values: forward substitution. */
static void solve(const way_t *way, int64_t first, int64_t count, const float *state) {
    const work_t *work = &way->work;
    const int64_t stride = work->stride;
    float factors[STEP] = {0}, *rests = values_of(way, first),
          *products = corrections_of(way, first);
    product_ahead_t ahead = next_tokens(work, first + STEP);
    multiply_rows(work, work->k, count);
    memcpy(products, work->products, (size_t)(STEP * STEP) * sizeof *products);
    read_rows(way, decay_rows(work, work->k, STEP), state, work->found, &ahead);
    for (int64_t i = 0; i < count; i++) {
        for (int64_t j = 0; j < i; j++) factors[j] = -work->beta[j] * products[j * STEP + i];
        add_to_row(rests + i * stride, work->found + i * stride, stride, -1.0f);
        add_rows(rests + i * stride, rests, stride, factors, 0, i);
    }
}

/* The state behind a step. */
static void absorb(way_t *way, int64_t first, int64_t count) {
    const work_t *work = &way->work;
    const int64_t stride = work->stride;
    float *state = state_of(way, first), *next = state + way->size;
    load_keys(way, first, count);
    load_values(way, first, count);
    if (linear_has_delta(work->form)) {
        solve(way, first, count, state);
        scale_rests(way, first, count);
    }
    for (int64_t k = 0; k < work->form->features; k++)
        scaled_row(next + k * stride, state + k * stride, stride, kept_of(way, count, k));
    product_ahead_t ahead = next_tokens(work, first + STEP);
    join(way, work->last, work->u, next, &ahead);
    for (int64_t k = 0; work->form->normalise && k < work->width; k += VF_LANES) {
        vf sum =
            vf_mul(vf_load(&work->p[(count - 1) * work->width + k]), vf_load(z_of(way, state) + k));
        for (int64_t j = 0; j < count; j++)
            sum = vf_add(sum, vf_load(work->last + j * work->width + k));
        vf_store(z_of(way, next) + k, sum);
    }
}

#endif
