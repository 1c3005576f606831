/*
 * Linear attention for one key/value head, a chunk of tokens at a time: what a chunk's queries read of the
 * keys before the chunk is a product with the state (s, z), what they read of the chunk's own keys is
 * attention inside it, and then those keys join the state (Lemma A.8, blocked). Compiled once per tier.
 */
#include "kernels.h"

#include "ahead.h"
#include "phi.h"
#include "simd/convert.h"
#include "simd/product.h"

#include <string.h>

/* Tokens of a chunk: all tiers' panels and tiles divide it (AVX-512 takes its last 16 as one vector).
 * Longer ones compute more above and at the diagonal, shorter ones load and store the state more often. */
enum { CHUNK = 48 };

/* What keys add up to, in the kernels' own layout: one piece of sums_size() floats. */
typedef struct linear_sums {
    float *s; /* [dim][stride]: phi(K)^T V */
    float *z,
        *z_abs; /* [dim rounded up to whole vectors]: phi(K)^T 1, the same of absolute features */
} linear_sums_t;

/* One head on its way: where it is read from, its state, and scratch. */
typedef struct linear_state {
    const attn_head_t *head;
    linear_map_t map;
    int64_t dim, value_dim, stride; /* stride: value_dim rounded up to whole vectors */
    int64_t key_stride;             /* dim rounded up to whole vectors and tiles */
    int64_t known;                  /* the head's keys [0, known) are in the sums */
    int64_t loaded, count;          /* keys and values hold [loaded, loaded + count) */
    linear_sums_t sums;             /* NULL: no keys yet */
    linear_sums_t own;              /* where they can be written */
    float *keys;                    /* phi(k): [CHUNK][key_stride] */
    const float *values;            /* rows of `stride`: where they are, or copied */
    float *value_rows;              /* [CHUNK][stride]: a copy */
    float *queries;                 /* phi(q), transposed: [dim][CHUNK] */
    float *scores;                  /* phi(k).phi(q): [CHUNK keys][CHUNK] */
    float *out;                     /* [CHUNK][stride] */
    float *key_sum, *key_abs;       /* [dim rounded up to whole vectors]: of keys, of |keys| */
} linear_state_t;

/* The queries of a chunk, and their normalisers. */
typedef struct linear_rows {
    int64_t first, count;
    int64_t seen; /* keys that the last of them sees */
    int causal;   /* each sees one less than the next: the chunk's keys up to its own */
    float sum[CHUNK], abs[CHUNK];
} linear_rows_t;

static int64_t sums_size(const attn_problem_t *problem) {
    return problem->dim * tile_round_up(problem->value_dim, VF_LANES) +
           2 * tile_round_up(problem->dim, VF_LANES);
}

static linear_sums_t sums_at(const attn_problem_t *problem, float *numbers) {
    linear_sums_t sums = {.s = numbers};
    sums.z = numbers + problem->dim * tile_round_up(problem->value_dim, VF_LANES);
    sums.z_abs = sums.z + tile_round_up(problem->dim, VF_LANES);
    return sums;
}

static linear_state_t lay_out(const attn_problem_t *problem, attn_arena_t *arena) {
    const int64_t dim = problem->dim, width = tile_round_up(dim, VF_LANES);
    linear_state_t state = {.dim = dim, .value_dim = problem->value_dim};
    state.stride = tile_round_up(problem->value_dim, VF_LANES);
    state.key_stride = tile_round_up(tile_round_up(dim, TILE_ROWS), VF_LANES);
    float *sums = attn_arena_take(arena, sums_size(problem), sizeof(float));
    if (sums) state.own = sums_at(problem, sums);
    state.keys = attn_arena_take(arena, state.key_stride, CHUNK * sizeof(float));
    state.value_rows = attn_arena_take(arena, state.stride, CHUNK * sizeof(float));
    state.queries = attn_arena_take(arena, dim + 1, CHUNK * sizeof(float));
    state.scores = attn_arena_take(arena, CHUNK + 1, CHUNK * sizeof(float));
    state.out = attn_arena_take(arena, state.stride, CHUNK * sizeof(float));
    state.key_sum = attn_arena_take(arena, width, sizeof(float));
    state.key_abs = attn_arena_take(arena, width, sizeof(float));
    return state;
}

static void scratch(const attn_problem_t *problem, attn_arena_t *arena) { lay_out(problem, arena); }

/* ---- feature maps ------------------------------------------------------------------------------ */

/* Only features of both signs can cancel; sums of others are their own absolute sums. */
static int is_signed(linear_map_t map) { return map == LINEAR_LIN; }

ATTN_INLINE vf absolute(vf x) { return vf_max(x, vf_sub(vf_zero(), x)); }

/* ---- loading ------------------------------------------------------------------------------------ */

/* A row of `count` numbers as f32, zeros up to whole vectors. */
ATTN_INLINE void load_row(float *to, const attn_tensor_t *tensor, int64_t offset, int64_t count) {
    const char *from = (const char *)tensor->data + offset * attn_dtype_size(tensor->dtype);
    convert_row(to, from, tensor->dtype, tensor->stride[3], count, 1.0f);
    for (; count % VF_LANES; count++) to[count] = 0.0f;
}

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

/* Whether rows can be read and written where they are, in whole vectors. */
ATTN_INLINE int is_plain(const attn_tensor_t *tensor) {
    return tensor->dtype == ATTN_F32 && tensor->stride[3] == 1 && tensor->shape[3] % VF_LANES == 0;
}

/* Rows far apart are copied together: they would fall into few sets of the first cache. */
static void load_values(linear_state_t *state, int64_t first, int64_t count) {
    const attn_head_t *head = state->head;
    const attn_tensor_t *value = &head->io->value;
    if (is_plain(value) && value->stride[2] == state->value_dim) {
        state->values = attn_row(value, head->batch, head->kv_head, first);
        return;
    }
    for (int64_t j = 0; j < count; j++)
        load_row(state->value_rows + j * state->stride, value,
                 attn_offset(value, head->batch, head->kv_head, first + j), state->value_dim);
    state->values = state->value_rows;
}

/* phi of the keys [first, first + count), and their values. */
static void load_keys(linear_state_t *state, int64_t first, int64_t count) {
    const attn_head_t *head = state->head;
    const attn_tensor_t *key = &head->io->key;
    const int signs = is_signed(state->map);
    if (state->loaded == first && state->count == count) return;
    if (is_plain(key)) {
        map_from(state->map, state->keys, state->key_stride,
                 attn_row(key, head->batch, head->kv_head, first), key->stride[2], count,
                 state->dim);
    } else {
        for (int64_t j = 0; j < count; j++)
            load_row(state->keys + j * state->key_stride, key,
                     attn_offset(key, head->batch, head->kv_head, first + j), state->dim);
        map_rows(state->map, state->keys, state->key_stride, count, state->dim);
    }
    load_values(state, first, count);
    sum_rows(state->key_sum, state->keys, state->key_stride, count, state->dim, 0);
    if (signs) sum_rows(state->key_abs, state->keys, state->key_stride, count, state->dim, 1);
    state->loaded = first;
    state->count = count;
}

/* phi of the chunk's queries, transposed. */
static void load_queries(const linear_state_t *state, int64_t query_head,
                         const linear_rows_t *rows) {
    const attn_head_t *head = state->head;
    const attn_tensor_t *query = &head->io->query;
    tile_pack(state->queries, CHUNK, rows->count, state->dim,
              attn_row(query, head->batch, query_head, rows->first), query->stride[2],
              query->stride[3], head->scale);
    map_rows(state->map, state->queries, CHUNK, state->dim, CHUNK);
}

/* ---- the state ---------------------------------------------------------------------------------- */

/* Makes the sums something that can be added to. */
static void own_sums(linear_state_t *state) {
    const size_t bytes = (size_t)sums_size(state->head->problem) * sizeof(float);
    if (state->sums.s == state->own.s) return;
    if (state->sums.s)
        memcpy(state->own.s, state->sums.s, bytes);
    else
        memset(state->own.s, 0, bytes);
    state->sums = state->own;
}

/* Rows [first, first + CHUNK) of two tensors, to be asked for. */
static product_ahead_t next_chunk(const linear_state_t *state, const attn_tensor_t *a,
                                  const attn_tensor_t *b, int64_t head, int64_t first) {
    product_ahead_t ahead = {.rows = CHUNK};
    ahead_of(&ahead, 0, a, state->head->batch, head, first);
    ahead_of(&ahead, 1, b, state->head->batch, head, first);
    return ahead;
}

/* s += phi(K)^T V and z += phi(K)^T 1 for the head's keys up to `until` (Lemma A.8). */
static void add_keys(linear_state_t *state, int64_t until) {
    const int signs = is_signed(state->map);
    while (state->known < until) {
        const int64_t count = tile_min(CHUNK, until - state->known);
        load_keys(state, state->known, count);
        own_sums(state);
        product_ahead_t ahead = next_chunk(state, &state->head->io->key, &state->head->io->value,
                                           state->head->kv_head, state->known + count);
        product_transposed_add(state->sums.s, state->stride, state->keys, state->key_stride,
                               state->values, state->stride, count, state->dim, state->stride,
                               &ahead);
        for (int64_t k = 0; k < state->dim; k++) {
            state->sums.z[k] += state->key_sum[k];
            if (signs) state->sums.z_abs[k] += state->key_abs[k];
        }
        state->known += count;
    }
}

/* ---- normalisers -------------------------------------------------------------------------------- */

/* to[i] = phi(q_i).z; of absolute features where `signs`. */
static void read_normalisers(const linear_state_t *state, const float *z, int signs, float *to) {
    enum { BLOCK = CHUNK / VF_LANES > 3 ? 6 : 3 }; /* enough to wait for nothing */
    const int64_t depth = state->sums.s ? state->dim : 0;
    for (int64_t i = 0; i < CHUNK; i += BLOCK * VF_LANES) {
        vf sums[BLOCK];
        ATTN_UNROLL
        for (int v = 0; v < BLOCK; v++) sums[v] = vf_zero();
        for (int64_t k = 0; k < depth; k++) {
            ATTN_UNROLL
            for (int v = 0; v < BLOCK; v++) {
                const vf query = vf_load(state->queries + k * CHUNK + i + v * VF_LANES);
                sums[v] = vf_mul_add(vf_set1(z[k]), signs ? absolute(query) : query, sums[v]);
            }
        }
        ATTN_UNROLL
        for (int v = 0; v < BLOCK; v++) vf_store(to + i + v * VF_LANES, sums[v]);
    }
}

/* to[i] += the sum of the scores of the chunk's keys up to i's own. */
static void add_scores(const linear_state_t *state, int signs, int64_t count, float *to) {
    for (int64_t i = 0; i < count; i += VF_LANES) {
        vf sum = vf_load(to + i);
        for (int64_t j = 0; j < tile_min(count, i + VF_LANES); j++) {
            vf score = vf_load(state->scores + j * CHUNK + i);
            if (j > i) score = vf_keep(score, j - i, VF_LANES, vf_zero());
            sum = vf_add(sum, signs ? absolute(score) : score);
        }
        vf_store(to + i, sum);
    }
}

/* The normalisers of the chunk, and what their terms add up to without signs. */
static void normalise(const linear_state_t *state, linear_rows_t *rows) {
    read_normalisers(state, state->sums.z, 0, rows->sum);
    if (rows->causal) add_scores(state, 0, rows->count, rows->sum);
    if (!is_signed(state->map)) return;
    read_normalisers(state, state->sums.z_abs, 1, rows->abs);
    if (rows->causal) add_scores(state, 1, rows->count, rows->abs);
}

/*
 * A normaliser is degenerate when rounding alone could have made it: a sum of N = keys + dim terms
 * is off by about sqrt(N) eps sum |terms|. (Higham and Mary, "A New Approach to Probabilistic
 * Rounding Error Analysis", 2019.)
 */
static int64_t count_degenerate(const linear_state_t *state, const linear_rows_t *rows) {
    const float *abs = is_signed(state->map) ? rows->abs : rows->sum;
    const int64_t most = rows->seen;
    const float rounding = FLT_EPSILON * sqrtf((float)(most + state->dim));
    int64_t degenerate = 0;
    for (int64_t r = 0; r < rows->count; r++) {
        const float sum = fabsf(rows->sum[r]);
        if (!(sum <= rounding * abs[r])) continue; /* most are not, whatever they see */
        const int64_t keys = rows->causal ? most - (rows->count - 1 - r) : most;
        degenerate += keys > 0 && sum <= FLT_EPSILON * sqrtf((float)(keys + state->dim)) * abs[r];
    }
    return degenerate;
}

/* Normalisers become their inverses; 0 where one is 0, so that the row becomes zeros. */
static void invert(linear_rows_t *rows) {
    for (int64_t r = 0; r < rows->count; r++)
        rows->sum[r] = rows->sum[r] == 0.0f ? 0.0f : 1.0f / rows->sum[r];
}

/* ---- chunks -------------------------------------------------------------------------------------- */

/* How the keys that queries see go on from query `first`: the next chunk of at most `count`. */
static linear_rows_t next_rows(const attn_problem_t *problem, int64_t first, int64_t count) {
    const int64_t seen = attn_causal_limit(problem, first);
    linear_rows_t rows = {.first = first, .count = tile_min(CHUNK, count), .seen = seen};
    if (problem->causal == ATTN_CAUSAL_NONE) return rows;
    const int64_t own =
        attn_query_position(problem, problem->keys, first); /* the key it sees last */
    if (own < 0) rows.count = tile_min(rows.count, -own);   /* sees nothing */
    if (own < 0 || own >= problem->keys) return rows;
    rows.causal = 1;
    rows.count = tile_min(rows.count, problem->keys - own);
    rows.seen = seen + rows.count - 1;
    return rows;
}

/* Keys before the chunk's own. */
static int64_t seen_by_all(const linear_rows_t *rows) {
    return rows->causal ? rows->seen - rows->count : rows->seen;
}

/* Scores of the chunk's own keys. */
static void score(linear_state_t *state, const linear_rows_t *rows, product_ahead_t *ahead) {
    load_keys(state, seen_by_all(rows), rows->count);
    product(state->scores, CHUNK, state->keys, state->key_stride, state->queries, CHUNK, state->dim,
            rows->count, tile_round_up(rows->count, VF_LANES), 1, ahead);
}

static void store_rows(const linear_state_t *state, int64_t query_head, const linear_rows_t *rows) {
    const attn_tensor_t *out = &state->head->io->out;
    for (int64_t r = 0; r < rows->count; r++) {
        const int64_t offset = attn_offset(out, state->head->batch, query_head, rows->first + r);
        convert_back((char *)out->data + offset * attn_dtype_size(out->dtype), out->dtype,
                     out->stride[3], state->out + r * state->stride, state->value_dim);
    }
}

/* Output of a chunk of one query head, with the state as it is; returns how many rows were degenerate. */
static int64_t attend_chunk(linear_state_t *state, int64_t query_head, linear_rows_t *rows) {
    load_queries(state, query_head, rows);
    product_ahead_t ahead = next_chunk(state, &state->head->io->query, &state->head->io->out,
                                       query_head, rows->first + rows->count);
    if (rows->causal) score(state, rows, &ahead);
    normalise(state, rows);
    const int64_t degenerate = count_degenerate(state, rows);
    invert(rows);
    const product_chunk_t chunk = {
        .queries = state->queries,
        .scores = rows->causal ? state->scores : NULL,
        .stride = CHUNK,
        .state = state->sums.s,
        .values = state->values,
        .state_stride = state->stride,
        .values_stride = state->stride,
        .depth = state->sums.s ? state->dim : 0,
        .rows = rows->count,
        .factors = rows->sum,
    };
    const attn_tensor_t *out = &state->head->io->out;
    if (is_plain(out)) {
        product_chunk(attn_row(out, state->head->batch, query_head, rows->first), out->stride[2],
                      &chunk, state->stride, &ahead);
    } else {
        product_chunk(state->out, state->stride, &chunk, state->stride, &ahead);
        store_rows(state, query_head, rows);
    }
    return degenerate;
}

static linear_state_t begin(const attn_head_t *head, linear_map_t map, void *scratch) {
    attn_arena_t arena = {.base = scratch};
    linear_state_t state = lay_out(head->problem, &arena);
    state.head = head;
    state.map = map;
    return state;
}

static void sum(const attn_head_t *head, linear_map_t map, int64_t first, int64_t last, float *sums,
                void *scratch) {
    linear_state_t state = begin(head, map, scratch);
    state.own = sums_at(head->problem, sums);
    state.known = first;
    own_sums(&state);
    add_keys(&state, last);
}

/* Query heads see the same keys: the state goes on once for all of them. */
static int64_t attend(const attn_head_t *head, linear_map_t map, float *before, int64_t known,
                      const attn_queries_t *queries, int64_t heads) {
    linear_state_t state = begin(head, map, queries->scratch);
    int64_t degenerate = 0;
    if (known) state.sums = sums_at(head->problem, before);
    state.known = known;
    for (int64_t done = 0; done < queries->count;) {
        linear_rows_t rows = next_rows(head->problem, queries->first + done, queries->count - done);
        add_keys(&state, seen_by_all(&rows));
        for (int64_t h = 0; h < heads; h++)
            degenerate += attend_chunk(&state, queries->head + h, &rows);
        done += rows.count;
    }
    return degenerate;
}

const linear_kernels_t ATTN_KERNEL(attn_linear_kernels) = {
    .name = TILE_NAME,
    .chunk = CHUNK,
    .scratch = scratch,
    .sums_size = sums_size,
    .sum = sum,
    .attend = attend,
};
