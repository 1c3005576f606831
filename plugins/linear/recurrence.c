/*
 * Linear attention as a recurrence over steps of up to TILE_ROWS tokens, so that all that is large are
 * products of tiles. With the state S before a step, a_t = exp(decay_t), P_i = a_1 ... a_i and keys
 * that decay until i, k_j^(i) = a_i ... a_{j+1} k_j, row i of a step is
 *     o_i = (P_i q_i)^T S + sum_{j <= i} (q_i.k_j^(i)) u_j^T,
 *     u_i = v_i, or with a delta rule beta_i (v_i - (P_i k_i)^T S - sum_{j < i} (k_i.k_j^(i)) u_j),
 * the triangular system of the WY form (arXiv:2406.06484, Section 3.2), and after the step's tokens n
 *     S = P_n S + sum_j k_j^(n) u_j^T.
 * Decays come in as products of a step's few factors, each at most 1: nothing overflows, and what
 * underflows is 0. (Chunks: arXiv:2312.06635, Section 4.)
 * Compiled once per tier.
 */
#include "recurrence.h"

#include "features.h"

/* One head on its way. [R]: TILE_ROWS. */
typedef struct work {
    const attn_head_t *head;
    const linear_form_t *form;
    linear_state_t *state;
    linear_result_t result;
    int64_t width, stride; /* features and value_dim in whole vectors */
    int64_t known;         /* keys in the state */
    int64_t poison;        /* the first key whose gate is NaN; INT64_MAX: none */
    float *wide;           /* [R][dim]: rows before a wide map */
    float *k, *q;          /* [R][width]: phi of keys and queries */
    float *a, *p;          /* [R][width]: decays, and their products from the step's first on */
    float *kp;             /* [R][width]: p times k or q */
    float *last;           /* [R][width]: keys decayed until the step's last */
    float *packed;         /* [width][R]: the same by columns */
    float *u, *found;      /* [R][stride] */
    float *out;            /* [R][stride] */
    float *products;       /* [R][R] */
    float beta[TILE_ROWS];
} work_t;

static linear_state_t take_state(const attn_problem_t *problem, const linear_form_t *form,
                                 attn_arena_t *arena) {
    const int64_t rows = tile_round_up(form->features, TILE_ROWS);
    const int64_t width = tile_round_up(rows, VF_LANES);
    linear_state_t state = {.stride = tile_round_up(problem->value_dim, VF_LANES)};
    state.width = (uint64_t)width;
    state.size = (uint64_t)(rows * state.stride + 2 * width);
    float *numbers = attn_arena_take(arena, rows * state.stride + 2 * width, sizeof(float));
    return numbers ? attn_linear_state_at(&state, numbers) : state;
}

static work_t lay_out(const attn_problem_t *problem, const linear_form_t *form,
                      attn_arena_t *arena) {
    work_t work = {.form = form};
    work.width = tile_round_up(tile_round_up(form->features, TILE_ROWS), VF_LANES);
    work.stride = tile_round_up(problem->value_dim, VF_LANES);
    work.wide = linear_map_is_wide(form->map)
                    ? attn_arena_take(arena, tile_round_up(problem->dim, VF_LANES),
                                      TILE_ROWS * sizeof(float))
                    : NULL;
    float **const rows[] = {&work.k, &work.q, &work.a, &work.p, &work.kp, &work.last, &work.packed};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i] = attn_arena_take(arena, work.width, TILE_ROWS * sizeof(float));
    work.u = attn_arena_take(arena, work.stride, TILE_ROWS * sizeof(float));
    work.found = attn_arena_take(arena, work.stride, TILE_ROWS * sizeof(float));
    work.out = attn_arena_take(arena, work.stride, TILE_ROWS * sizeof(float));
    work.products = attn_arena_take(arena, TILE_ROWS, TILE_ROWS * sizeof(float));
    return work;
}

static void scratch(const attn_problem_t *problem, const linear_form_t *form, attn_arena_t *arena) {
    lay_out(problem, form, arena);
}

/* ---- tokens -------------------------------------------------------------------------------------- */

static const float *own_row(const work_t *work, uint32_t index, int64_t key,
                            const attn_tensor_t **tensor) {
    const attn_head_t *head = work->head;
    *tensor = attn_own_array(head->io, index);
    if (!*tensor) return NULL;
    return (const float *)(*tensor)->data +
           attn_broadcast_offset(*tensor, head->batch, head->kv_head, key);
}

static void look_at_gates(work_t *work, const float *row, int64_t count, float most, int64_t key) {
    int is_nan = 0, is_bad = 0;
    for (int64_t i = 0; i < count; i++) {
        is_nan |= row[i] != row[i];
        is_bad |= row[i] > most;
    }
    if (is_nan) work->poison = tile_min(work->poison, key);
    if (is_bad && work->result.bad < 0) work->result.bad = key;
}

/* a_t = exp(decay) of one token; all features of a head may have the same. */
static void load_decay(work_t *work, int64_t key, float *a) {
    const attn_tensor_t *tensor;
    const float *row = own_row(work, LINEAR_DECAY, key, &tensor);
    int64_t count = row && tensor->shape[3] > 1 ? work->form->features : 1;
    if (!row) { /* 1 - 2^(-5-h), arXiv:2307.08621, Eq. 8 */
        const int64_t power = tile_max(122 - work->head->kv_head, 0);
        const float retained = 1.0f - bits_to_float((uint32_t)power << 23);
        for (int64_t k = 0; k < work->width; k++) a[k] = retained;
        return;
    }
    convert_row(a, row, ATTN_F32, tensor->stride[3], count, 1.0f);
    look_at_gates(work, a, count, 0.0f, key);
    if (count == 1)
        for (; count < work->form->features; count++) a[count] = a[0];
    for (; count < work->width; count++) a[count] = 0.0f;
    for (int64_t k = 0; k < work->width; k += VF_LANES) vf_store(a + k, vf_exp(vf_load(a + k)));
}

static void load_gates(work_t *work, int64_t first, int64_t count) {
    for (int64_t t = 0; t < count; t++) {
        const attn_tensor_t *tensor;
        const float *beta = own_row(work, LINEAR_BETA, first + t, &tensor);
        float *a = work->a + t * work->width, *p = work->p + t * work->width;
        if (linear_has_delta(work->form)) {
            work->beta[t] = *beta;
            look_at_gates(work, beta, 1, INFINITY, first + t);
        }
        if (!linear_has_decay(work->form)) continue;
        load_decay(work, first + t, a);
        for (int64_t k = 0; k < work->width; k += VF_LANES)
            vf_store(p + k,
                     t ? vf_mul(vf_load(a + k), vf_load(p - work->width + k)) : vf_load(a + k));
    }
}

/* to = p times rows, up to the token that each sees; without decays the rows themselves. */
static const float *decay_rows(const work_t *work, const float *rows, int64_t count) {
    if (!linear_has_decay(work->form) || count == 0) return rows;
    for (int64_t i = 0; i < TILE_ROWS * work->width; i += VF_LANES)
        vf_store(work->kp + i, i < count * work->width
                                   ? vf_mul(vf_load(rows + i), vf_load(work->p + i))
                                   : vf_zero());
    return work->kp;
}

/* to = rows^T S, for a tile of rows. */
static void read_state(const work_t *work, const float *rows, float *to) {
    float ones[TILE_ROWS];
    for (int r = 0; r < TILE_ROWS; r++) ones[r] = 1.0f;
    memset(to, 0, (size_t)(TILE_ROWS * work->stride) * sizeof *to);
    tile_accumulate(to, work->stride, ones, rows, work->width, work->state->s, work->stride,
                    work->form->features, work->stride);
}

/*
 * products[i][j] = x_i.k_j^(i) for j <= i < count, zero for j > i. `last`, if any, gets the keys decayed
 * until the last token.
 */
static void multiply_rows(const work_t *work, const float *x, int64_t count, float *last) {
    const int64_t width = work->width;
    const int decays = linear_has_decay(work->form);
    for (int64_t j = 0; j < count; j++) {
        vf sums[TILE_ROWS];
        ATTN_UNROLL
        for (int i = 0; i < TILE_ROWS; i++) sums[i] = vf_zero();
        for (int64_t k = 0; k < width; k += VF_LANES) {
            vf key = vf_load(work->k + j * width + k);
            ATTN_UNROLL
            for (int i = 0; i < TILE_ROWS; i++) {
                if (i < j || i >= count) continue;
                if (decays && i > j) key = vf_mul(key, vf_load(work->a + i * width + k));
                sums[i] = vf_mul_add(vf_load(x + i * width + k), key, sums[i]);
            }
            if (last) vf_store(last + j * width + k, key);
        }
        ATTN_UNROLL
        for (int i = 0; i < TILE_ROWS; i++)
            work->products[i * TILE_ROWS + j] = i < j ? 0.0f : vf_reduce_add(sums[i]);
    }
}

/* u of a delta rule, in place of the values: forward substitution. */
static void solve_delta(const work_t *work, int64_t count) {
    const int64_t stride = work->stride;
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < stride; c += VF_LANES) {
            float *u = work->u + i * stride + c;
            vf sum = vf_load(work->found + i * stride + c);
            for (int64_t j = 0; j < i; j++)
                sum = vf_mul_add(vf_set1(work->products[i * TILE_ROWS + j]),
                                 vf_load(work->u + j * stride + c), sum);
            vf_store(u, vf_mul(vf_set1(work->beta[i]), vf_sub(vf_load(u), sum)));
        }
}

/* Tokens [known, known + count): their features, gates and u; keys decayed until the last. */
static void load_tokens(work_t *work, int64_t count) {
    const attn_head_t *head = work->head;
    const attn_tensor_t *value = &head->io->value;
    features_load(work->form, &head->io->key, head->batch, head->kv_head, work->known, count,
                  work->form->key_scale, work->k, work->width, work->wide);
    memset(work->u, 0, (size_t)(TILE_ROWS * work->stride) * sizeof *work->u);
    for (int64_t t = 0; t < count; t++)
        convert_row(work->u + t * work->stride,
                    (const char *)value->data +
                        attn_offset(value, head->batch, head->kv_head, work->known + t) *
                            attn_dtype_size(value->dtype),
                    value->dtype, value->stride[3], head->problem->value_dim, 1.0f);
    load_gates(work, work->known, count);
    multiply_rows(work, work->k, count, work->last);
    if (!linear_has_delta(work->form)) return;
    read_state(work, decay_rows(work, work->k, count), work->found);
    solve_delta(work, count);
}

/* S = P_n S + sum_j k_j^(n) u_j^T, and z, by the tokens that are loaded. */
static void add_tokens(work_t *work, int64_t count) {
    linear_state_t *state = work->state;
    const int64_t width = work->width;
    const int decays = linear_has_decay(work->form);
    const float *p = work->p + (count - 1) * width;
    float ones[TILE_ROWS];
    for (int r = 0; r < TILE_ROWS; r++) ones[r] = 1.0f;
    tile_pack(work->packed, TILE_ROWS, count, width, work->last, width, 1, 1.0f);
    for (int64_t k = 0; k < work->form->features; k += TILE_ROWS)
        tile_accumulate(state->s + k * work->stride, work->stride, decays ? p + k : ones,
                        work->packed + k * TILE_ROWS, TILE_ROWS, work->u, work->stride, count,
                        work->stride);
    for (int64_t k = 0; work->form->normalise && k < width; k += VF_LANES) {
        vf sum = vf_zero(), abs = vf_zero();
        for (int64_t t = 0; t < count; t++) {
            const vf key = vf_load(work->last + t * width + k);
            sum = vf_add(sum, key);
            abs = vf_add(abs, vf_max(key, vf_sub(vf_zero(), key)));
        }
        const vf factor = decays ? vf_load(p + k) : vf_set1(1.0f);
        vf_store(state->z + k, vf_mul_add(factor, vf_load(state->z + k), sum));
        vf_store(state->zabs + k, vf_mul_add(factor, vf_load(state->zabs + k), abs));
    }
    work->known += count;
    state->keys += count;
    state->gone |= work->poison < work->known;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* The normaliser of row i; `seen` tokens of this step are products. Counts the degenerate. */
static float normaliser(work_t *work, const float *row, int64_t i, int64_t seen) {
    const linear_state_t *state = work->state;
    const float *products = work->products + i * TILE_ROWS;
    vf sums = vf_zero(), terms = vf_zero();
    for (int64_t k = 0; k < work->width; k += VF_LANES) {
        const vf x = vf_load(row + i * work->width + k);
        sums = vf_mul_add(x, vf_load(state->z + k), sums);
        terms = vf_mul_add(vf_max(x, vf_sub(vf_zero(), x)), vf_load(state->zabs + k), terms);
    }
    float sum = vf_reduce_add(sums), abs = vf_reduce_add(terms);
    for (int64_t j = 0; j < seen; j++) {
        sum += products[j];
        abs += fabsf(products[j]);
    }
    const int64_t keys = state->keys + seen;
    const float rounding = FLT_EPSILON * sqrtf((float)(keys + work->form->features));
    const int is_whole = sum - sum == 0.0f && fabsf(sum) > rounding * abs;
    work->result.degenerate += keys > 0 && !is_whole;
    return sum;
}

/*
 * Outputs of the rows [first, first + count) of a query head, the last of which sees all of the step's
 * `tokens`, each before it one less; without tokens all see the state.
 */
static void answer_head(work_t *work, int64_t query_head, int64_t first, int64_t count,
                        int64_t tokens) {
    const attn_head_t *head = work->head;
    const attn_tensor_t *out = &head->io->out;
    const int64_t lead = tokens ? tokens - count : 0, width = work->width;
    int64_t none[TILE_ROWS] = {0}, last[TILE_ROWS] = {0};
    float ones[TILE_ROWS];
    features_load(work->form, &head->io->query, head->batch, query_head, first, count,
                  work->form->query_scale, work->q, width, work->wide);
    if (lead) { /* row i of a step belongs to token i */
        memmove(work->q + lead * width, work->q, (size_t)(count * width) * sizeof(float));
        memset(work->q, 0, (size_t)(lead * width) * sizeof(float));
    }
    const float *rows = decay_rows(work, work->q, tokens);
    read_state(work, rows, work->out);
    multiply_rows(work, work->q, tokens, NULL);
    for (int r = 0; r < TILE_ROWS; r++) {
        ones[r] = 1.0f;
        if (r >= lead && r < lead + count && tokens) last[r] = r + 1;
    }
    tile_accumulate_ranges(work->out, work->stride, ones, work->products, TILE_ROWS, work->u,
                           work->stride, none, last, 0, work->stride);
    for (int64_t r = lead; r < lead + count; r++) {
        float *row = work->out + r * work->stride;
        const int64_t seen = work->known + last[r];
        if (work->form->normalise) {
            const float sum = normaliser(work, rows, r, last[r]);
            for (int64_t c = 0; c < work->stride; c += VF_LANES)
                vf_store(row + c,
                         sum == 0.0f ? vf_zero() : vf_mul(vf_set1(1.0f / sum), vf_load(row + c)));
        } else {
            work->result.degenerate += work->state->gone || work->poison < seen;
        }
        convert_back((char *)out->data +
                         attn_offset(out, head->batch, query_head, first + r - lead) *
                             attn_dtype_size(out->dtype),
                     out->dtype, out->stride[3], row, head->problem->value_dim);
    }
}

/* ---- the run ------------------------------------------------------------------------------------- */

/* The keys that query i sees are [0, limit). */
static int64_t limit_of(const work_t *work, int64_t keys, int64_t query) {
    int64_t first, last;
    attn_key_range(work->head->problem, keys, query, &first, &last);
    return last;
}

/* Rows from `first` on that see what is in the state and nothing more. */
static int64_t rows_of_state(const work_t *work, int64_t keys, int64_t first) {
    const int64_t most = tile_min(TILE_ROWS, work->head->problem->queries - first);
    int64_t count = 0;
    while (count < most && limit_of(work, keys, first + count) <= work->known) count++;
    return count;
}

static linear_result_t run(const attn_head_t *head, const linear_form_t *form,
                           linear_state_t *state, int keep, void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    const attn_problem_t *problem = head->problem;
    const int64_t keys = attn_keys_of(problem, head->io, head->batch);
    const int64_t group = problem->heads / problem->kv_heads;
    work_t work = lay_out(problem, form, &arena);
    work.head = head;
    work.state = state;
    work.result = (linear_result_t){.bad = -1};
    work.poison = INT64_MAX;
    for (int64_t query = 0; query < problem->queries || (keep && work.known < keys);) {
        const int64_t left = problem->queries - query;
        /* The next key that is some query's last, and how many tokens stand before it. */
        const int64_t limit = left > 0 ? limit_of(&work, keys, query) : keys;
        const int64_t rows_ready = left > 0 ? rows_of_state(&work, keys, query) : 0;
        int64_t tokens = 0, rows = rows_ready;
        if (!rows_ready) {
            const int aligned = left == 1 || (left > 0 && problem->causal != ATTN_CAUSAL_NONE);
            const int64_t before = limit - work.known - aligned;
            tokens = tile_min(TILE_ROWS, before);
            if (aligned && before < TILE_ROWS) {
                rows = tile_min(tile_min(TILE_ROWS - before, left), keys - work.known - before);
                tokens = before + rows;
            }
            load_tokens(&work, tokens);
        }
        for (int64_t h = 0; rows && h < group; h++)
            answer_head(&work, head->kv_head * group + h, query, rows, tokens);
        query += rows;
        if (tokens && (keep || query < problem->queries)) add_tokens(&work, tokens);
    }
    return work.result;
}

/* ---- weights ------------------------------------------------------------------------------------- */

static float dot_of(const float *a, const float *b, int64_t width) {
    vf sum = vf_zero();
    for (int64_t k = 0; k < width; k += VF_LANES)
        sum = vf_mul_add(vf_load(a + k), vf_load(b + k), sum);
    return vf_reduce_add(sum);
}

/*
 * From a row's last key backwards, r = phi(q) to begin with: key t weighs beta_t k_t.r, then
 * r = a_t (r - beta_t (k_t.r) k_t), the transition transposed; without a delta rule r = a_t r.
 */
static void weigh_back(const work_t *work, float *r, float *row) {
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

static void weigh_rows(work_t *work, const attn_queries_t *queries, int64_t done, int64_t count,
                       int64_t keys, float *rows, int64_t stride) {
    const attn_head_t *head = work->head;
    const attn_tensor_t *state_z = attn_own_array(head->io, LINEAR_STATE_Z);
    const int64_t first = queries->first + done, width = work->width;
    features_load(work->form, &head->io->query, head->batch, queries->head, first, count,
                  work->form->query_scale, work->q, width, work->wide);
    for (int64_t r = 0; r < count; r++)
        for (int64_t j = 0; j < head->problem->keys; j++) rows[r * stride + j] = 0.0f;
    for (int64_t j = limit_of(work, keys, first + count - 1) - 1; j >= 0; j--) {
        features_load(work->form, &head->io->key, head->batch, head->kv_head, j, 1,
                      work->form->key_scale, work->k, width, work->wide);
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
        for (int64_t j = 0; j < keys; j++) row[j] = sum == 0.0f ? 0.0f : row[j] / sum;
    }
}

static void weights(const attn_head_t *head, const linear_form_t *form,
                    const attn_queries_t *queries, float *rows, int64_t stride) {
    attn_arena_t arena = {.base = queries->scratch};
    work_t work = lay_out(head->problem, form, &arena);
    work.head = head;
    const int64_t keys = attn_keys_of(head->problem, head->io, head->batch);
    for (int64_t done = 0; done < queries->count; done += TILE_ROWS)
        weigh_rows(&work, queries, done, tile_min(TILE_ROWS, queries->count - done), keys,
                   rows + done * stride, stride);
}

const linear_recurrence_t ATTN_KERNEL(attn_linear_recurrence) = {
    .name = TILE_NAME,
    .rows = TILE_ROWS,
    .take_state = take_state,
    .scratch = scratch,
    .run = run,
    .weights = weights,
};
