/*
 * Linear attention for one key/value head. Tiles of queries go through in order; whole panels of keys that
 * all rows of a tile see go into the state (s, z), the others are weighed one by one.
 * Compiled once per tier.
 */
#include "kernels.h"

#include "simd/math.h"
#include "simd/tile.h"

#include <string.h>

enum {
    /* The rows of a tile have causal limits at most TILE_ROWS - 1 apart, and the keys before the
     * lowest limit are in the state but for less than a panel. */
    NEAR_PANELS = (PANEL - 1 + TILE_ROWS - 1 + PANEL - 1) / PANEL,
    NEAR_KEYS = NEAR_PANELS * PANEL,
};

/* One head on its way: where it is read from, its state, and scratch. */
typedef struct linear_state {
    const attn_head_t *head;
    linear_map_t map;
    int64_t dim, value_dim, stride; /* stride: value_dim rounded up to whole vectors */
    int64_t before;                 /* keys before the head's, in (s, z) */
    int64_t known;                  /* and the head's keys [0, known) */
    float *s;                       /* [dim rounded up to TILE_ROWS][stride] */
    float *z, *z_abs;               /* [dim rounded up to VF_LANES]: sums of phi(k), |phi(k)| */
    float *panel;                   /* phi of keys: [dim rounded up to TILE_ROWS][PANEL] */
    float *values;                  /* [NEAR_KEYS][value_dim]: for values without unit stride */
    float *packed;                  /* phi(query): [dim][TILE_ROWS] */
    float *query;                   /* phi(query): [TILE_ROWS][dim rounded up to VF_LANES] */
    float *scores;                  /* [TILE_ROWS][NEAR_KEYS] */
    float *out;                     /* [TILE_ROWS][stride] */
} linear_state_t;

/* Rows of one tile: how far they see, and their normalisers. */
typedef struct linear_rows {
    int64_t first, count;
    int64_t none[TILE_ROWS], limit[TILE_ROWS];
    float sum[TILE_ROWS], abs[TILE_ROWS], ones[TILE_ROWS];
} linear_rows_t;

static linear_state_t lay_out(const attn_problem_t *problem, attn_arena_t *arena) {
    const int64_t rows = tile_round_up(problem->dim, TILE_ROWS);
    const int64_t width = tile_round_up(problem->dim, VF_LANES);
    linear_state_t state = {.dim = problem->dim, .value_dim = problem->value_dim};
    state.stride = tile_round_up(problem->value_dim, VF_LANES);
    state.s = attn_arena_take(arena, rows, (uint64_t)state.stride * sizeof(float));
    state.z = attn_arena_take(arena, width, sizeof(float));
    state.z_abs = attn_arena_take(arena, width, sizeof(float));
    state.panel = attn_arena_take(arena, rows, PANEL * sizeof(float));
    state.values = attn_arena_take(arena, problem->value_dim, NEAR_KEYS * sizeof(float));
    state.packed = attn_arena_take(arena, problem->dim, TILE_ROWS * sizeof(float));
    state.query = attn_arena_take(arena, width, TILE_ROWS * sizeof(float));
    state.scores = attn_arena_take(arena, TILE_ROWS, NEAR_KEYS * sizeof(float));
    state.out = attn_arena_take(arena, state.stride, TILE_ROWS * sizeof(float));
    return state;
}

static void scratch(const attn_problem_t *problem, attn_arena_t *arena) { lay_out(problem, arena); }

/* ---- feature maps ------------------------------------------------------------------------------ */

ATTN_INLINE vf phi(linear_map_t map, vf x) {
#define PHI(NAME, name, help, expression)                                                          \
    case LINEAR_##NAME:                                                                            \
        return expression;
    switch (map) {
        LINEAR_MAPS(PHI)
    default:
        return x;
    }
#undef PHI
}

/* phi of `rows` rows of `width` columns, in place; columns past `count` become 0, not phi(0). */
static void map_rows(linear_map_t map, float *data, int64_t rows, int64_t width, int64_t count) {
    for (int64_t k = 0; k < rows; k++)
        for (int64_t j = 0; j < width; j += VF_LANES) {
            float *at = data + k * width + j;
            const vf mapped =
                vf_keep(phi(map, vf_load_first(at, width - j)), 0, count - j, vf_zero());
            vf_store_first(at, mapped, width - j);
        }
}

/* ---- keys and queries --------------------------------------------------------------------------- */

/* phi of the keys [first, first + PANEL), packed; returns how many of them exist. */
static int64_t pack_keys(const linear_state_t *state, int64_t first, float *panel) {
    const attn_head_t *head = state->head;
    const attn_tensor_t *key = &head->io->key;
    const int64_t count = tile_min(PANEL, head->problem->keys - first);
    tile_pack(panel, PANEL, count, state->dim, attn_row(key, head->batch, head->kv_head, first),
              key->stride[2], key->stride[3], 1.0f);
    map_rows(state->map, panel, state->dim, PANEL, count);
    return count;
}

/* Rows of the values [first, first + count) with unit stride: in place, or a copy. */
static const float *value_rows(const linear_state_t *state, int64_t first, int64_t count,
                               int64_t *stride) {
    const attn_head_t *head = state->head;
    const attn_tensor_t *value = &head->io->value;
    *stride = value->stride[2];
    if (value->stride[3] == 1) return attn_row(value, head->batch, head->kv_head, first);
    *stride = state->value_dim;
    for (int64_t j = 0; j < count; j++) {
        const float *row = attn_row(value, head->batch, head->kv_head, first + j);
        for (int64_t c = 0; c < state->value_dim; c++)
            state->values[j * state->value_dim + c] = row[c * value->stride[3]];
    }
    return state->values;
}

/* phi of the tile's queries, packed and by rows. */
static void pack_queries(const linear_state_t *state, int64_t query_head,
                         const linear_rows_t *rows) {
    const attn_head_t *head = state->head;
    const attn_tensor_t *query = &head->io->query;
    const int64_t width = tile_round_up(state->dim, VF_LANES);
    tile_pack(state->packed, TILE_ROWS, rows->count, state->dim,
              attn_row(query, head->batch, query_head, rows->first), query->stride[2],
              query->stride[3], head->scale);
    map_rows(state->map, state->packed, state->dim, TILE_ROWS, rows->count);
    for (int64_t r = 0; r < TILE_ROWS; r++)
        for (int64_t k = 0; k < width; k++)
            state->query[r * width + k] = k < state->dim ? state->packed[k * TILE_ROWS + r] : 0.0f;
}

/* ---- the state ---------------------------------------------------------------------------------- */

/* s += phi(K)^T V and z += phi(K)^T 1 for the next panel of keys (Lemma A.8). */
ATTN_STEP void add_panel(linear_state_t *state) {
    int64_t values_stride;
    float ones[TILE_ROWS];
    for (int r = 0; r < TILE_ROWS; r++) ones[r] = 1.0f;
    const int64_t count = pack_keys(state, state->known, state->panel);
    const float *values = value_rows(state, state->known, count, &values_stride);
    for (int64_t k = 0; k < state->dim; k += TILE_ROWS)
        tile_accumulate(state->s + k * state->stride, state->stride, ones, state->panel + k * PANEL,
                        PANEL, values, values_stride, count, state->value_dim);
    for (int64_t k = 0; k < state->dim; k++)
        for (int64_t j = 0; j < PANEL; j += VF_LANES) {
            const vf features = vf_load(state->panel + k * PANEL + j);
            state->z[k] += vf_reduce_add(features);
            state->z_abs[k] += vf_reduce_add(vf_max(features, vf_sub(vf_zero(), features)));
        }
    state->known += count;
}

/* The state update: all panels that every row of the tile sees. */
static void update_state(linear_state_t *state, const linear_rows_t *rows) {
    const int64_t keys = state->head->problem->keys;
    int64_t seen = keys;
    for (int64_t r = 0; r < rows->count; r++) seen = tile_min(seen, rows->limit[r]);
    while (state->known < keys && (state->known + PANEL <= seen || seen == keys)) add_panel(state);
}

/* out = phi(Q) s, sum = phi(Q) z. */
static void read_state(const linear_state_t *state, linear_rows_t *rows) {
    const int64_t width = tile_round_up(state->dim, VF_LANES);
    tile_accumulate(state->out, state->stride, rows->ones, state->query, width, state->s,
                    state->stride, state->dim, state->value_dim);
    for (int64_t r = 0; r < rows->count; r++) {
        vf sum = vf_zero(), abs = vf_zero();
        for (int64_t k = 0; k < width; k += VF_LANES) {
            const vf query = vf_load(state->query + r * width + k);
            sum = vf_mul_add(query, vf_load(state->z + k), sum);
            abs =
                vf_mul_add(vf_max(query, vf_sub(vf_zero(), query)), vf_load(state->z_abs + k), abs);
        }
        rows->sum[r] += vf_reduce_add(sum);
        rows->abs[r] += vf_reduce_add(abs);
    }
}

/* phi(Q) phi(K)^T for the panel at `first`, zero where a row does not look; sums go to the rows. */
static void weigh_panel(const linear_state_t *state, linear_rows_t *rows, int64_t first,
                        const float *panel, float *scores, int64_t stride) {
    tile_panel_product(state->dim, state->packed, panel, scores, stride);
    for (int64_t r = 0; r < TILE_ROWS; r++)
        for (int64_t j = 0; j < PANEL; j += VF_LANES) {
            float *at = scores + r * stride + j;
            const vf seen = vf_keep(vf_load(at), 0, rows->limit[r] - first - j, vf_zero());
            vf_store(at, seen);
            rows->sum[r] += vf_reduce_add(seen);
            rows->abs[r] += vf_reduce_add(vf_max(seen, vf_sub(vf_zero(), seen)));
        }
}

/* The keys behind the state that some row of the tile sees, one by one. */
static void weigh_near_keys(const linear_state_t *state, linear_rows_t *rows) {
    int64_t end = 0, last[TILE_ROWS], values_stride;
    for (int64_t r = 0; r < rows->count; r++) end = tile_max(end, rows->limit[r]);
    const int64_t base = state->known;
    if (end <= base) return;
    for (int64_t first = base; first < end; first += PANEL) {
        pack_keys(state, first, state->panel);
        weigh_panel(state, rows, first, state->panel, state->scores + first - base, NEAR_KEYS);
    }
    for (int r = 0; r < TILE_ROWS; r++) last[r] = tile_max(0, rows->limit[r] - base);
    const float *values = value_rows(state, base, end - base, &values_stride);
    tile_accumulate_ranges(state->out, state->stride, rows->ones, state->scores, NEAR_KEYS, values,
                           values_stride, rows->none, last, 0, state->value_dim);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static linear_rows_t begin_rows(const linear_state_t *state, const attn_queries_t *queries,
                                int64_t done) {
    linear_rows_t rows = {.first = queries->first + done,
                          .count = tile_min(TILE_ROWS, queries->count - done)};
    for (int r = 0; r < TILE_ROWS; r++) {
        rows.ones[r] = 1.0f;
        if (r < rows.count) rows.limit[r] = attn_causal_limit(state->head->problem, rows.first + r);
    }
    return rows;
}

/*
 * A normaliser is degenerate when rounding alone could have made it: a sum of N = keys + dim terms
 * is off by about sqrt(N) eps sum |terms|. (Higham and Mary, "A New Approach to Probabilistic
 * Rounding Error Analysis", 2019.)
 */
static int is_degenerate(const linear_state_t *state, const linear_rows_t *rows, int64_t r) {
    const int64_t keys = state->before + rows->limit[r];
    const float rounding = FLT_EPSILON * sqrtf((float)(keys + state->dim));
    return keys > 0 && fabsf(rows->sum[r]) <= rounding * rows->abs[r];
}

/* 1 / normaliser; 0 where that is 0, so that the row becomes zeros. */
static float inverse(const linear_rows_t *rows, int64_t r) {
    return rows->sum[r] == 0.0f ? 0.0f : 1.0f / rows->sum[r];
}

static linear_state_t begin(const attn_head_t *head, linear_map_t map, const linear_sums_t *before,
                            void *scratch) {
    attn_arena_t arena = {.base = scratch};
    linear_state_t state = lay_out(head->problem, &arena);
    state.head = head;
    state.map = map;
    const int64_t rows = tile_round_up(state.dim, TILE_ROWS);
    const int64_t width = tile_round_up(state.dim, VF_LANES);
    for (int64_t i = 0; i < rows * state.stride; i++) state.s[i] = 0.0f;
    for (int64_t i = 0; i < rows * PANEL; i++) state.panel[i] = 0.0f;
    for (int64_t k = 0; k < width; k++) state.z[k] = state.z_abs[k] = 0.0f;
    state.before = before->keys;
    for (int64_t k = 0; before->keys && k < state.dim; k++) {
        state.z[k] = before->z[k];
        state.z_abs[k] = before->z_abs[k];
        memcpy(state.s + k * state.stride, before->s + k * state.value_dim,
               (size_t)state.value_dim * sizeof(float));
    }
    return state;
}

static void add(const attn_head_t *head, linear_map_t map, linear_sums_t *sums, void *scratch) {
    linear_state_t state = begin(head, map, sums, scratch);
    while (state.known < head->problem->keys) add_panel(&state);
    for (int64_t k = 0; k < state.dim; k++) {
        sums->z[k] = state.z[k];
        sums->z_abs[k] = state.z_abs[k];
        memcpy(sums->s + k * state.value_dim, state.s + k * state.stride,
               (size_t)state.value_dim * sizeof(float));
    }
    sums->keys += state.known;
}

/* Output of a tile of one query head, with the state as it is; returns how many rows were degenerate. */
static int64_t attend_tile(const linear_state_t *state, int64_t query_head, linear_rows_t rows) {
    const attn_head_t *head = state->head;
    const attn_tensor_t *out = &head->io->out;
    int64_t degenerate = 0;
    pack_queries(state, query_head, &rows);
    for (int64_t i = 0; i < TILE_ROWS * state->stride; i++) state->out[i] = 0.0f;
    read_state(state, &rows);
    weigh_near_keys(state, &rows);
    for (int64_t r = 0; r < rows.count; r++) {
        float *target = attn_row(out, head->batch, query_head, rows.first + r);
        const float scale = inverse(&rows, r);
        for (int64_t c = 0; c < state->value_dim; c++)
            target[c * out->stride[3]] =
                rows.sum[r] == 0.0f ? 0.0f : scale * state->out[r * state->stride + c];
        degenerate += is_degenerate(state, &rows, r);
    }
    return degenerate;
}

/* Query heads see the same keys: the state goes on once for all of them. */
static int64_t attend(const attn_head_t *head, linear_map_t map, const linear_sums_t *before,
                      const attn_queries_t *queries, int64_t heads) {
    linear_state_t state = begin(head, map, before, queries->scratch);
    int64_t degenerate = 0;
    for (int64_t done = 0; done < queries->count; done += TILE_ROWS) {
        const linear_rows_t rows = begin_rows(&state, queries, done);
        update_state(&state, &rows);
        for (int64_t h = 0; h < heads; h++)
            degenerate += attend_tile(&state, queries->head + h, rows);
    }
    return degenerate;
}

static void weights(const attn_head_t *head, linear_map_t map, const attn_queries_t *queries,
                    float *rows_out, int64_t stride) {
    const int64_t keys = head->problem->keys;
    const linear_sums_t none = {.keys = 0};
    const linear_state_t state = begin(head, map, &none, queries->scratch);
    for (int64_t done = 0; done < queries->count; done += TILE_ROWS) {
        linear_rows_t rows = begin_rows(&state, queries, done);
        float *target = rows_out + done * stride;
        pack_queries(&state, queries->head, &rows);
        for (int64_t first = 0; first < keys; first += PANEL) {
            const int64_t count = pack_keys(&state, first, state.panel);
            weigh_panel(&state, &rows, first, state.panel, state.scores, NEAR_KEYS);
            for (int64_t r = 0; r < rows.count; r++)
                for (int64_t j = 0; j < count; j++)
                    target[r * stride + first + j] = state.scores[r * NEAR_KEYS + j];
        }
        for (int64_t r = 0; r < rows.count; r++)
            for (int64_t j = 0; j < keys; j++) target[r * stride + j] *= inverse(&rows, r);
    }
}

const linear_kernels_t ATTN_KERNEL(attn_linear_kernels) = {
    .name = TILE_NAME,
    .scratch = scratch,
    .attend = attend,
    .add = add,
    .weights = weights,
};
