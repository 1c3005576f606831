/*
 * The plain rule for one key/value head, a chunk of tokens at a time: what a chunk's queries read of the
 * keys before the chunk is a product with the state (s, z), what they read of the chunk's own keys is
 * attention inside it, and then those keys join the state (Lemma A.8, blocked). Compiled once per tier.
 */
#include "kernels.h"

#include "add.h"
#include "ahead.h"
#include "features.h"
#include "finite.h"
#include "simd/convert.h"

enum { CHUNK = LINEAR_CHUNK, NORMALISERS = 4 /* of rows, read together */ };

/* One head on its way. */
typedef struct walk {
    const attn_head_t *head;
    const linear_form_t *form;
    int signs;     /* features of both signs can cancel, others are their own absolute sums */
    int64_t keys;  /* of the sequence; */
    int64_t known; /* [0, known) are in the state, */
    int64_t loaded, count;    /* [loaded, loaded + count) in features and values */
    linear_state_t state;     /* where it is read, */
    linear_state_t own;       /* and where it can be written */
    int64_t stride;           /* value_dim in whole vectors */
    int64_t key_stride;       /* features in whole vectors and tiles */
    float *features;          /* phi(k): [keys of a chunk][key_stride] */
    float *rows;              /* the same of queries that are loaded by rows */
    float *wide;              /* [keys + 1][dim in whole vectors]: before a wide map */
    const float *values;      /* rows of `stride`: where they are, or copied */
    float *value_rows;        /* [keys][stride]: a copy */
    float *queries;           /* phi(q), transposed: [features][the rows' stride] */
    float *scores;            /* phi(k).phi(q): [keys][the rows' stride] */
    float *out;               /* [CHUNK][stride] */
    float *key_sum, *key_abs; /* [features in whole vectors]: of phi(k), of |phi(k)| */
} walk_t;

/* The queries of a chunk, and their normalisers. */
typedef struct linear_rows {
    int64_t first, count;
    int64_t stride; /* count in whole panels: of features and scores */
    int64_t known;  /* keys that all of them see, before the chunk's own; */
    int causal;     /* each sees one less of these than the next */
    float sum[CHUNK], abs[CHUNK];
} linear_rows_t;

static int64_t row_floats(const linear_form_t *form) {
    return attn_round_up(attn_round_up(form->features, TILE_ROWS), PRODUCT_WIDTH);
}

static int64_t chunk_floats(const attn_problem_t *problem, const linear_form_t *form) {
    return linear_chunk_keys(problem) * row_floats(form);
}

ATTN_RARE_STEP walk_t lay_out_chunks(const attn_problem_t *problem, const linear_form_t *form,
                                     attn_arena_t *arena) {
    const int64_t features = form->features, width = attn_round_up(features, PRODUCT_WIDTH);
    const int64_t keys = linear_chunk_keys(problem);
    const int is_wide = linear_map_is_wide(form->map);
    walk_t walk = {.form = form};
    walk.stride = attn_round_up(problem->value_dim, PRODUCT_WIDTH);
    walk.key_stride = row_floats(form);
    walk.own = attn_linear_state_take(problem, form, PRODUCT_WIDTH, 0, arena);
    const struct {
        float **array;
        int64_t columns, rows;
    } pieces[] = {
        {&walk.features, walk.key_stride, keys},
        {&walk.rows, walk.key_stride, CHUNK},
        {&walk.wide, is_wide ? attn_round_up(problem->dim, VF_LANES) : 0, keys + 1},
        {&walk.value_rows, walk.stride, keys},
        {&walk.queries, features + 1, CHUNK},
        {&walk.scores, CHUNK + 1, CHUNK},
        {&walk.out, walk.stride, CHUNK},
        {&walk.key_sum, width, 1},
        {&walk.key_abs, width, 1},
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        *pieces[i].array =
            attn_arena_take(arena, pieces[i].columns, (uint64_t)pieces[i].rows * sizeof(float));
    return walk;
}

static void scratch(const attn_problem_t *problem, const linear_form_t *form, attn_arena_t *arena) {
    lay_out_chunks(problem, form, arena);
}

ATTN_RARE_STEP walk_t begin(const attn_head_t *head, const linear_form_t *form,
                            const linear_state_t *state, int64_t known, void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    walk_t walk = lay_out_chunks(head->problem, form, &arena);
    walk.head = head;
    walk.signs = form->normalise &&
                 (linear_map_is_signed(form->map) || attn_own_array(head->io, LINEAR_STATE_Z));
    walk.keys = attn_keys_of(head->problem, head->io, head->batch);
    walk.known = known;
    walk.state = *state;
    return walk;
}

/* ---- loading ------------------------------------------------------------------------------------ */

ATTN_INLINE vf absolute(vf x) { return vf_max(x, vf_sub(vf_zero(), x)); }

/* sum[k] = the sum of the rows' numbers, or of their sizes: four sums side by side, which wait for nothing. */
ATTN_INLINE void sum_rows(float *sum, const float *rows, int64_t stride, int64_t count,
                          int64_t columns, int signs) {
    for (int64_t k = 0; k < columns; k += VF_LANES) {
        vf sums[4] = {vf_zero(), vf_zero(), vf_zero(), vf_zero()};
        for (int64_t j = 0; j < count; j += 4) {
            ATTN_UNROLL
            for (int64_t i = 0; i < 4; i++) {
                if (j + i >= count) break;
                const vf x = vf_load(rows + (j + i) * stride + k);
                sums[i] = vf_add(sums[i], signs ? absolute(x) : x);
            }
        }
        vf_store(sum + k, vf_add(vf_add(sums[0], sums[1]), vf_add(sums[2], sums[3])));
    }
}

/* Rows far apart are copied together: they would fall into few sets of the first cache. */
ATTN_RARE_STEP void load_values(walk_t *walk, int64_t first, int64_t count) {
    const attn_head_t *head = walk->head;
    const attn_tensor_t *value = &head->io->value;
    const int64_t columns = head->problem->value_dim;
    if (is_plain(value) && value->stride[2] == columns) {
        walk->values = attn_row(value, head->batch, head->kv_head, first);
        return;
    }
    rows_load(value, head->batch, head->kv_head, first, count, 1.0f, walk->value_rows, walk->stride,
              count);
    walk->values = walk->value_rows;
}

/* phi of the keys [first, first + count), and their values. */
static void load_keys(walk_t *walk, int64_t first, int64_t count) {
    const attn_head_t *head = walk->head;
    const linear_form_t *form = walk->form;
    if (walk->loaded == first && walk->count == count) return;
    features_load(form, &head->io->key, head->batch, head->kv_head, first, count, form->key_scale,
                  walk->features, walk->key_stride, count, walk->wide);
    load_values(walk, first, count);
    if (form->normalise)
        sum_rows(walk->key_sum, walk->features, walk->key_stride, count, (int64_t)walk->state.width,
                 0);
    if (walk->signs)
        sum_rows(walk->key_abs, walk->features, walk->key_stride, count, (int64_t)walk->state.width,
                 1);
    walk->loaded = first;
    walk->count = count;
}

/* Whether the state is read by rows of queries: where they have no scores. */
ATTN_INLINE int is_by_rows(const linear_rows_t *rows) { return !rows->causal; }

/* phi of the chunk's queries, and by columns. */
static void load_queries(const walk_t *walk, int64_t query_head, const linear_rows_t *rows) {
    const attn_head_t *head = walk->head;
    features_load(walk->form, &head->io->query, head->batch, query_head, rows->first, rows->count,
                  walk->form->query_scale, walk->rows, walk->key_stride,
                  attn_round_up(rows->count, NORMALISERS), walk->wide);
    if (!is_by_rows(rows))
        tile_pack(walk->queries, rows->stride, rows->count, walk->form->features, walk->rows,
                  walk->key_stride, 1, 1.0f);
}

/* ---- the state ---------------------------------------------------------------------------------- */

/* Makes the state one that can be added to. */
ATTN_RARE_STEP void own_state(walk_t *walk) {
    const size_t bytes = (size_t)attn_linear_state_sums(&walk->own) * sizeof(float);
    if (walk->state.s == walk->own.s) return;
    if (walk->state.keys)
        memcpy(walk->own.s, walk->state.s, bytes);
    else
        memset(walk->own.s, 0, bytes);
    walk->own.keys = walk->state.keys;
    walk->state = walk->own;
}

/* Rows [first, first + rows) of two tensors, to be asked for. */
ATTN_RARE_STEP product_ahead_t next_chunk(const walk_t *walk, const attn_tensor_t *a,
                                          const attn_tensor_t *b, int64_t head, int64_t first,
                                          int64_t rows) {
    product_ahead_t ahead = {.rows = rows};
    ahead_of(&ahead, 0, a, walk->head->batch, head, first);
    ahead_of(&ahead, 1, b, walk->head->batch, head, first);
    return ahead;
}

/* s += phi(K)^T V and z += phi(K)^T 1 for the head's keys up to `until` (Lemma A.8). */
static void add_keys(walk_t *walk, int64_t until) {
    const linear_form_t *form = walk->form;
    const linear_keep_t everything = {NULL, NULL, 0};
    while (walk->known < until) {
        const int64_t most = linear_chunk_keys(walk->head->problem);
        const int64_t count = attn_min(most, until - walk->known);
        load_keys(walk, walk->known, count);
        own_state(walk);
        product_ahead_t ahead = next_chunk(walk, &walk->head->io->key, &walk->head->io->value,
                                           walk->head->kv_head, walk->known + count, most);
        add_products(&walk->state, form->features, &everything, walk->features, walk->key_stride,
                     walk->values, count, &ahead);
        if (form->normalise) add_row(&walk->state, walk->state.z, &everything, walk->key_sum);
        if (walk->signs) add_row(&walk->state, walk->state.zabs, &everything, walk->key_abs);
        walk->known += count;
        walk->state.keys += count;
    }
}

/* ---- normalisers -------------------------------------------------------------------------------- */

/* to[i] = phi(q_i).z; of absolute features where `signs`. */
static void read_normalisers(const walk_t *walk, const linear_rows_t *rows, const float *z,
                             int signs, float *to) {
    const int64_t stride = walk->key_stride;
    const int64_t depth = walk->state.keys ? (int64_t)walk->state.width : 0;
    for (int64_t i = 0; i < rows->count; i += NORMALISERS) {
        vf sums[NORMALISERS] = {vf_zero(), vf_zero(), vf_zero(), vf_zero()};
        const float *queries = walk->rows + i * stride;
        for (int64_t k = 0; k < depth; k += VF_LANES) {
            const vf sum = vf_load(z + k);
            ATTN_UNROLL
            for (int r = 0; r < NORMALISERS; r++) {
                const vf query = vf_load(queries + r * stride + k);
                sums[r] = vf_mul_add(sum, signs ? absolute(query) : query, sums[r]);
            }
        }
        vf_reduce_add4(to + i, sums);
    }
}

/* to[i] += the sum of the scores of the chunk's keys up to i's own. */
static void add_scores(const walk_t *walk, const linear_rows_t *rows, int signs, float *to) {
    const int64_t count = rows->count;
    for (int64_t i = 0; i < count; i += VF_LANES) {
        vf sum = vf_load(to + i);
        const float *scores = walk->scores + i;
        for (int64_t j = 0; j < attn_min(count, i + VF_LANES); j++, scores += rows->stride) {
            vf score = vf_load(scores);
            if (j > i) score = vf_keep(score, j - i, VF_LANES, vf_zero());
            sum = vf_add(sum, signs ? absolute(score) : score);
        }
        vf_store(to + i, sum);
    }
}

/* Divides one by all normalisers, if none is degenerate: so most chunks have it. */
ATTN_INLINE int divide_all(linear_rows_t *rows, const float *abs, float rounding) {
    const vf most = vf_set1(FLT_MAX), least = vf_set1(FLT_MIN), one = vf_set1(1.0f);
    vf good = one;
    if (rows->count % VF_LANES != 0) return 0;
    for (int64_t r = 0; r < rows->count; r += VF_LANES) {
        const vf size = absolute(vf_load(rows->sum + r));
        const vf needed = vf_max(least, vf_mul(vf_set1(rounding), vf_load(abs + r)));
        good = vf_select_positive(vf_sub(size, needed), good, vf_zero());
        good = vf_select_positive(vf_sub(most, size), good, vf_zero());
    }
    if (vf_reduce_add(good) < (float)VF_LANES) return 0;
    for (int64_t r = 0; r < rows->count; r += VF_LANES)
        vf_store(rows->sum + r, vf_div(one, vf_load(rows->sum + r)));
    return 1;
}

/*
 * Makes factors of normalisers, sums of as many terms as there are keys and features. Returns the degenerate ones as
 * bits.
 */
ATTN_RARE_STEP uint64_t find_factors(const walk_t *walk, linear_rows_t *rows) {
    const float *abs = walk->signs ? rows->abs : rows->sum;
    const int64_t most = walk->state.keys + walk->form->features;
    const float rounding = FLT_EPSILON * sqrtf((float)(most + rows->count));
    uint64_t degenerate = 0;
    if (divide_all(rows, abs, rounding)) return 0;
    for (int64_t r = 0; r < rows->count; r++) {
        const float sum = rows->sum[r];
        const int64_t own = rows->causal ? r + 1 : 0;
        if (is_normaliser(sum, rounding * abs[r])) continue; /* most are, whatever they see */
        if (walk->state.keys + own > 0 &&
            !is_normaliser(sum, FLT_EPSILON * sqrtf((float)(most + own)) * abs[r]))
            degenerate |= (uint64_t)1 << r;
    }
    for (int64_t r = 0; r < rows->count; r++) rows->sum[r] = row_factor(rows->sum[r]);
    return degenerate;
}

/* The factors of the chunk's rows, and what their normalisers' terms add up to without signs. */
static uint64_t normalise(const walk_t *walk, linear_rows_t *rows) {
    for (int64_t r = 0; !walk->form->normalise && r < rows->count; r++) rows->sum[r] = 1.0f;
    if (!walk->form->normalise) return 0;
    for (int signs = 0; signs <= walk->signs; signs++) {
        float *to = signs ? rows->abs : rows->sum;
        read_normalisers(walk, rows, signs ? walk->state.zabs : walk->state.z, signs, to);
        if (rows->causal) add_scores(walk, rows, signs, to);
    }
    return find_factors(walk, rows);
}

/* ---- chunks -------------------------------------------------------------------------------------- */

/* How the keys that queries see go on from query `first`: the next chunk of at most `count`. */
ATTN_RARE_STEP linear_rows_t next_rows(const walk_t *walk, int64_t first, int64_t count) {
    const int64_t keys = walk->keys;
    linear_rows_t rows = {.first = first, .count = attn_min(CHUNK, count), .known = keys};
    /* The key it sees last */
    const int64_t own = attn_query_position(walk->head->problem, keys, first);
    if (walk->head->problem->causal != ATTN_CAUSAL_NONE && own < keys) {
        rows.causal = own >= 0;
        rows.known = attn_max(own, 0);
        rows.count = attn_min(rows.count, own < 0 ? -own : keys - own);
    }
    rows.stride = attn_min(CHUNK, attn_round_up(rows.count, PANEL));
    return rows;
}

/* Scores of the chunk's own keys. */
static void score(walk_t *walk, const linear_rows_t *rows, product_ahead_t *ahead) {
    load_keys(walk, rows->known, rows->count);
    product(walk->scores, rows->stride, walk->features, walk->key_stride, walk->queries,
            rows->stride, walk->form->features, rows->count,
            attn_round_up(rows->count, PRODUCT_WIDTH), NULL, 1, ahead);
}

ATTN_RARE_STEP void store_rows(const walk_t *walk, int64_t query_head, const linear_rows_t *rows) {
    const attn_tensor_t *out = &walk->head->io->out;
    for (int64_t r = 0; r < rows->count; r++) {
        const int64_t offset = attn_offset(out, walk->head->batch, query_head, rows->first + r);
        give_row((char *)out->data + offset * attn_dtype_size(out->dtype), out->dtype,
                 out->stride[3], walk->out + r * walk->stride, walk->head->problem->value_dim);
    }
}

/* Output of a chunk of one query head, with the state as it is; returns how many rows were degenerate. */
static int64_t attend_chunk(walk_t *walk, int64_t query_head, linear_rows_t *rows) {
    load_queries(walk, query_head, rows);
    product_ahead_t ahead = next_chunk(walk, &walk->head->io->query, &walk->head->io->out,
                                       query_head, rows->first + rows->count, CHUNK);
    if (rows->causal) score(walk, rows, &ahead);
    const uint64_t degenerate = normalise(walk, rows);
    const attn_tensor_t *tensor = &walk->head->io->out;
    const int in_place = is_plain(tensor);
    const int64_t stride = in_place ? tensor->stride[2] : walk->stride;
    float *out =
        in_place ? attn_row(tensor, walk->head->batch, query_head, rows->first) : walk->out;
    const product_chunk_t chunk = {
        .queries = walk->queries,
        .scores = rows->causal ? walk->scores : NULL,
        .stride = rows->stride,
        .state = walk->state.s,
        .values = walk->values,
        .state_stride = walk->stride,
        .values_stride = walk->stride,
        .depth = walk->state.keys ? walk->form->features : 0,
        .rows = rows->count,
        .factors = rows->sum,
    };
    if (is_by_rows(rows))
        product(out, stride, walk->rows, walk->key_stride, walk->state.s, walk->stride, chunk.depth,
                rows->count, walk->stride, rows->sum, 0, &ahead);
    else
        product_chunk(out, stride, &chunk, walk->stride, &ahead);
    for (int64_t r = 0; degenerate && r < rows->count; r++) /* 0 times NaN is NaN */
        if (rows->sum[r] == 0.0f) memset(out + r * stride, 0, (size_t)walk->stride * sizeof *out);
    if (!in_place) store_rows(walk, query_head, rows);
    return count_rows(degenerate | rows_not_finite(out, stride, rows->count, tensor->shape[3]));
}

/* zabs, where features are their own absolute values */
ATTN_RARE_STEP void copy_z(const walk_t *walk, const linear_state_t *state) {
    if (!walk->signs) memcpy(state->zabs, state->z, (size_t)state->width * sizeof(float));
}

static void add(const attn_head_t *head, const linear_form_t *form, int64_t first, int64_t last,
                linear_state_t *state, void *scratch_memory) {
    walk_t walk = begin(head, form, state, first, scratch_memory);
    walk.own = *state;
    add_keys(&walk, last);
    *state = walk.state;
    copy_z(&walk, state);
}

static void sum(const attn_head_t *head, const linear_form_t *form, const linear_chunk_t *chunk,
                const linear_state_t *state, void *scratch_memory) {
    walk_t walk = begin(head, form, state, chunk->first, scratch_memory);
    const int64_t count = chunk->last - chunk->first;
    walk.features = chunk->features;
    walk.key_sum = state->z;
    walk.key_abs = state->zabs;
    if (!form->normalise) memset(state->z, 0, (size_t)state->width * sizeof(float));
    load_keys(&walk, chunk->first, count);
    product_ahead_t ahead =
        next_chunk(&walk, &head->io->key, &head->io->value, head->kv_head, chunk->last, count);
    set_products(state, form->features, walk.features, walk.key_stride, walk.values, count, &ahead);
    copy_z(&walk, state);
}

/* As add_products() would have added them. */
static void pass_on(const linear_state_t *state, float *sums) {
    const vf zero = vf_zero();
    for (float *sum = state->s; sum < state->s + state->rest; sum += VF_LANES, sums += VF_LANES) {
        const vf before = vf_load(sum);
        add_vector(sum, sum + state->rest, vf_load(sums), 0, zero, zero);
        vf_store(sums, before);
    }
}

/* Query heads see the same keys: the state goes on once for all of them. */
static int64_t attend_chunks(const attn_head_t *head, const linear_form_t *form,
                             linear_state_t *state, int64_t known, const attn_queries_t *queries,
                             int64_t heads, const linear_chunk_t *chunk, int all) {
    walk_t walk = begin(head, form, state, known, queries->scratch);
    int64_t degenerate = 0;
    if (chunk) {
        walk.features = chunk->features;
        walk.loaded = chunk->first;
        walk.count = chunk->last - chunk->first;
        load_values(&walk, walk.loaded, walk.count);
    }
    for (int64_t done = 0; done < queries->count;) {
        linear_rows_t rows = next_rows(&walk, queries->first + done, queries->count - done);
        add_keys(&walk, rows.known);
        for (int64_t h = 0; h < heads; h++)
            degenerate += attend_chunk(&walk, queries->head + h, &rows);
        done += rows.count;
    }
    if (!all) return degenerate;
    add_keys(&walk, walk.keys);
    own_state(&walk);
    *state = walk.state;
    return degenerate;
}

const linear_kernels_t ATTN_KERNEL(attn_linear_kernels) = {
    .name = TILE_NAME,
    .scratch = scratch,
    .chunk_floats = chunk_floats,
    .add = add,
    .sum = sum,
    .pass_on = pass_on,
    .attend = attend_chunks,
};
