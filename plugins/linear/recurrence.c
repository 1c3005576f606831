/*
 * The gated and delta rules as a recurrence over steps of up to STEP tokens, so that all that is large are
 * products with the state. With the state S before a step, a_t = exp(decay_t), P_i = a_1 ... a_i and keys
 * that decay until i, k_j^(i) = a_i ... a_{j+1} k_j, row i of a step is
 *     o_i = (P_i q_i)^T S + sum_{j <= i} (q_i.k_j^(i)) u_j^T,
 *     u_i = v_i, or with a delta rule beta_i (v_i - (P_i k_i)^T S - sum_{j < i} (k_i.k_j^(i)) u_j),
 * the triangular system of the WY form (arXiv:2406.06484, Section 3.2), and after the step's tokens n
 *     S = P_n S + sum_j k_j^(n) u_j^T.
 * Decays come in as products of a step's few factors, each at most 1, P_n as the exponential of their logs' sum:
 * nothing overflows, and what
 * underflows is 0. (Chunks: arXiv:2312.06635, Section 4.)
 * Compiled once per tier.
 */
#include "step.h"

static linear_state_t take_state(const attn_problem_t *problem, const linear_form_t *form,
                                 int64_t tokens, attn_arena_t *arena) {
    return attn_linear_state_take(problem, form, PRODUCT_WIDTH, tokens, arena);
}

static void scratch(const attn_problem_t *problem, const linear_form_t *form, attn_arena_t *arena) {
    lay_out_recurrence(problem, form, arena);
}

/* ---- tokens -------------------------------------------------------------------------------------- */

/* The same tokens with their gates and u. */
static void load_tokens(work_t *work, int64_t count) {
    load_rows(work, count, attn_round_up(count, BLOCK));
    load_gates(work, work->known, count);
    if (!linear_has_delta(work->form)) return;
    multiply_rows(work, work->k, count);
    read_state(work, decay_rows(work, work->k, count), count, work->found);
    solve_delta(work, count);
}

/* The tokens that are loaded, and whose `last` is there, join the state. */
static void add_tokens(work_t *work, int64_t count) {
    product_ahead_t ahead = next_tokens(work, work->known + count);
    add_step(work, work->last, work->u, count, &ahead);
    work->known += count;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* phi of queries as rows [lead, lead + count): row i of a step belongs to token i. */
static const float *load_queries(work_t *work, int64_t query_head, int64_t first, int64_t count,
                                 int64_t lead, int64_t tokens) {
    const attn_head_t *head = work->head;
    const int64_t width = work->width;
    if (lead) memset(work->q, 0, (size_t)(lead * width) * sizeof(float));
    features_load(work->form, &head->io->query, head->batch, query_head, first, count,
                  work->form->query_scale, work->q + lead * width, width,
                  attn_round_up(lead + count, BLOCK) - lead, work->wide);
    return decay_rows(work, work->q, tokens);
}

/* out = factor * (row^T S + ...) for all rows below `count`, each of which sees the tokens up to its own, if there are any. */
static void mix_rows(const work_t *work, const float *rows, int64_t count, int64_t tokens,
                     const float *factors, product_ahead_t *ahead) {
    const product_chunk_t chunk = {
        .queries = work->columns,
        .scores = tokens ? work->products : NULL,
        .stride = STEP,
        .state = work->state->s,
        .values = work->u,
        .state_stride = work->stride,
        .values_stride = work->stride,
        .depth = work->form->features,
        .rows = count,
        .factors = factors,
    };
    tile_pack(work->columns, STEP, count, work->width, rows, work->width, 1, 1.0f);
    product_chunk(work->out, work->stride, &chunk, work->stride, ahead);
}

/*
 * Outputs of the rows [first, first + count) of a query head, the last of which sees all of the step's
 * `tokens`, each before it one less; without tokens all see the state.
 */
static void answer_head(work_t *work, int64_t query_head, int64_t first, int64_t count,
                        int64_t tokens) {
    const int64_t lead = tokens ? tokens - count : 0;
    float factors[STEP];
    const float *rows = load_queries(work, query_head, first, count, lead, tokens);
    multiply_rows(work, work->q, tokens);
    find_factors(work, rows, lead, count, tokens, factors);
    if (count == 1) {
        read_state(work, rows + lead * work->width, 1, work->out + lead * work->stride);
        mix_row(work, lead, tokens, factors[lead]);
    } else {
        const attn_io_t *io = work->head->io;
        product_ahead_t ahead = {.rows = STEP};
        ahead_of(&ahead, 0, &io->query, work->head->batch, query_head, first + count);
        ahead_of(&ahead, 1, &io->out, work->head->batch, query_head, first + count);
        mix_rows(work, rows, lead + count, tokens, factors, &ahead);
    }
    store_rows(work, query_head, first, count, lead, factors);
}

/* ---- the run ------------------------------------------------------------------------------------- */

/* The keys that query i sees are [0, limit). */
static int64_t limit_of(const work_t *work, int64_t keys, int64_t query) {
    int64_t first, last;
    attn_key_range(work->head->problem, keys, query, &first, &last);
    return last;
}

/* Rows from `first` on that see what is in the state and nothing more. */
ATTN_RARE_STEP int64_t rows_of_state(const work_t *work, int64_t keys, int64_t first) {
    const int64_t most = attn_min(STEP, work->head->problem->queries - first);
    int64_t count = 0;
    while (count < most && limit_of(work, keys, first + count) <= work->known) count++;
    return count;
}

static int64_t run_recurrence(const attn_head_t *head, const linear_form_t *form,
                              linear_state_t *state, int keep, void *scratch_memory) {
    const attn_problem_t *problem = head->problem;
    const int64_t keys = attn_keys_of(problem, head->io, head->batch);
    const int64_t group = problem->heads / problem->kv_heads;
    work_t work = begin(head, form, state, scratch_memory);
    for (int64_t i = 0; !linear_has_decay(form) && i < STEP * work.width; i++)
        work.a[i] = work.p[i] = 1.0f;
    for (int64_t query = 0; query < problem->queries || (keep && work.known < keys);) {
        const int64_t left = problem->queries - query;
        /* The next key that is some query's last, and how many tokens stand before it. */
        const int64_t limit = left > 0 ? limit_of(&work, keys, query) : keys;
        const int64_t rows_ready = left > 0 ? rows_of_state(&work, keys, query) : 0;
        int64_t tokens = 0, rows = rows_ready;
        if (!rows_ready) {
            const int64_t before = limit - work.known - (left > 0);
            tokens = attn_min(STEP, before);
            if (left > 0 && before < STEP) {
                rows = attn_min(attn_min(STEP - before, left), keys - work.known - before);
                tokens = before + rows;
            }
            load_tokens(&work, tokens);
        }
        for (int64_t h = 0; rows && h < group; h++)
            answer_head(&work, head->kv_head * group + h, query, rows, tokens);
        query += rows;
        if (tokens == 0 || !(keep || query < problem->queries)) continue;
        if (!rows && !linear_has_delta(form)) multiply_rows(&work, work.k, tokens);
        add_tokens(&work, tokens);
    }
    return work.degenerate;
}

/* ---- weights ------------------------------------------------------------------------------------- */

/*
 * From a row's last key backwards, r = phi(q) to begin with: key t weighs beta_t k_t.r, then
 * r = a_t (r - beta_t (k_t.r) k_t), the transition transposed; without a delta rule r = a_t r.
 */
ATTN_RARE_STEP void weigh_back(const work_t *work, float *r, float *row) {
    const int decays = linear_has_decay(work->form), deltas = linear_has_delta(work->form);
    const float weight = (deltas ? work->beta[0] : 1.0f) * dot_of(work->k, r, work->width);
    *row = weight;
    if (!decays && !deltas) return;
    for (int64_t k = 0; k < work->width; k += VF_LANES) {
        vf x = vf_load(r + k);
        if (deltas) x = vf_sub(x, vf_mul(vf_set1(weight), vf_load(work->k + k)));
        if (decays) x = vf_mul(x, vf_load(work->a + k));
        vf_store(r + k, x);
    }
}

ATTN_RARE_STEP void weigh_rows(work_t *work, const attn_queries_t *queries, int64_t done,
                               int64_t count, int64_t keys, float *rows, int64_t stride) {
    const attn_head_t *head = work->head;
    const attn_tensor_t *state_z = attn_own_array(head->io, LINEAR_STATE_Z);
    const int64_t first = queries->first + done, width = work->width;
    features_load(work->form, &head->io->query, head->batch, queries->head, first, count,
                  work->form->query_scale, work->q, width, count, work->wide);
    for (int64_t r = 0; r < count; r++)
        for (int64_t j = 0; j < head->problem->keys; j++) rows[r * stride + j] = 0.0f;
    for (int64_t j = limit_of(work, keys, first + count - 1) - 1; j >= 0; j--) {
        features_load(work->form, &head->io->key, head->batch, head->kv_head, j, 1,
                      work->form->key_scale, work->k, width, 1, work->wide);
        load_gates(work, j, 1);
        for (int64_t r = 0; r < count; r++) {
            if (j < limit_of(work, keys, first + r))
                weigh_back(work, work->q + r * width, rows + r * stride + j);
        }
    }
    for (int64_t r = 0; work->form->normalise && r < count; r++) {
        float *row = rows + r * stride, sum = 0.0f;
        if (state_z) {
            const float *z = attn_row(state_z, head->batch, head->kv_head, 0);
            for (int64_t k = 0; k < work->form->features; k++)
                sum += work->q[r * width + k] * z[k * state_z->stride[2]];
        }
        for (int64_t j = 0; j < keys; j++) sum += row[j];
        for (int64_t j = 0; j < keys; j++) row[j] = row_factor(sum) == 0.0f ? 0.0f : row[j] / sum;
    }
}

static void weights(const attn_head_t *head, const linear_form_t *form,
                    const attn_queries_t *queries, float *rows, int64_t stride) {
    attn_arena_t arena = {.base = queries->scratch};
    work_t work = lay_out_recurrence(head->problem, form, &arena);
    work.head = head;
    const int64_t keys = attn_keys_of(head->problem, head->io, head->batch);
    for (int64_t done = 0; done < queries->count; done += STEP)
        weigh_rows(&work, queries, done, attn_min(STEP, queries->count - done), keys,
                   rows + done * stride, stride);
}

const linear_recurrence_t ATTN_KERNEL(attn_linear_recurrence) = {
    .name = TILE_NAME,
    .rows = STEP,
    .take_state = take_state,
    .scratch = scratch,
    .run = run_recurrence,
    .step = ATTN_KERNEL(attn_linear_step),
    .weights = weights,
};
