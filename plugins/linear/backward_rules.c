/*
 * Gradients of the rules that decay or correct, token by token (attn/oracle_linear.h has the formulas), time
 * reversed. The states they need are made anew: those before each chunk are kept, those within a chunk when it is
 * gone through. z is a column of the state behind those of values, whose v is 1. Compiled once per tier.
 */
#include "backward.h"

#include "backward_rows.h"

#include "simd/convert.h"
#include "simd/math.h"

enum { CHUNK = 48 /* tokens */ };

typedef struct way {
    const linear_back_t *back;
    const attn_head_t *head;
    const linear_form_t *form;
    int64_t group, keys, offset; /* keys: those that some query sees, of query i up to i + offset */
    int64_t columns, width, x_width; /* whole vectors: of a state's rows, of features, before phi */
    int64_t size;                    /* of a state: [features][columns] */
    float *kept;                     /* states before each chunk */
    float *states;                   /* [CHUNK + 1]: of the chunk */
    float *sums;                     /* R = dL/dS */
    float *phi, *a,
        *rest; /* of the chunk's keys: [CHUNK][width], the same, [CHUNK][columns]: v - P^T k */
    float beta[CHUNK];
    float *query, *by_phi;  /* [width] */
    float *x, *wide;        /* [x_width], and a row more */
    float *out, *found, *u; /* [columns] */
} way_t;

static way_t lay_out(const attn_problem_t *problem, const linear_form_t *form,
                     attn_arena_t *arena) {
    enum { ROOM = TILE_ROWS + 1 };
    way_t way = {.form = form, .group = problem->heads / problem->kv_heads};
    way.columns = tile_round_up(problem->value_dim + form->normalise, PRODUCT_WIDTH);
    way.width = tile_round_up(form->features, PRODUCT_WIDTH);
    way.x_width = tile_round_up(problem->dim, PRODUCT_WIDTH);
    way.size = form->features * way.columns;
    const back_piece_t pieces[] = {
        {&way.kept, way.size, problem->keys / CHUNK + 1},
        {&way.states, way.size, CHUNK + 1},
        {&way.sums, way.size, 1},
        {&way.phi, way.width, CHUNK + TILE_ROWS},
        {&way.a, way.width, CHUNK},
        {&way.rest, way.columns, CHUNK},
        {&way.query, way.width, ROOM},
        {&way.by_phi, tile_max(tile_max(way.width, way.columns), way.x_width), 1},
        {&way.x, way.x_width, 2},
        {&way.wide, way.x_width, CHUNK + TILE_ROWS},
        {&way.out, way.columns, 1},
        {&way.found, way.columns, 1},
        {&way.u, way.columns, 1},
    };
    take_pieces(arena, pieces, sizeof pieces / sizeof *pieces);
    return way;
}

static void scratch(const attn_problem_t *problem, const linear_form_t *form, attn_arena_t *arena) {
    lay_out(problem, form, arena);
}

static way_t begin(const linear_back_t *back) {
    attn_arena_t arena = {.base = back->scratch};
    const attn_head_t *head = back->head;
    way_t way = lay_out(head->problem, back->form, &arena);
    const int64_t keys = attn_keys_of(head->problem, head->io, head->batch);
    way.back = back;
    way.head = head;
    way.offset = attn_query_position(head->problem, keys, 0);
    way.keys = tile_max(0, tile_min(keys, way.offset + head->problem->queries));
    return way;
}

/* ---- states ---------------------------------------------------------------------------------------- */

/* The state that the run's arrays give, or zeros. */
static void load_state(const way_t *way, float *state) {
    const attn_head_t *head = way->head;
    const attn_tensor_t *s = attn_own_array(head->io, LINEAR_STATE);
    const attn_tensor_t *z = attn_own_array(head->io, LINEAR_STATE_Z);
    memset(state, 0, (size_t)way->size * sizeof *state);
    for (int64_t k = 0; s && k < way->form->features; k++) {
        float *row = state + k * way->columns;
        convert_row(row, attn_row(s, head->batch, head->kv_head, k), ATTN_F32, s->stride[3],
                    s->shape[3], 1.0f);
        if (z) row[s->shape[3]] = *attn_row(z, head->batch, head->kv_head, k);
    }
}

/* exp(decay) of a key for each feature; without the array RetNet's, or 1. */
static void load_decay(const way_t *way, int64_t key, float *a) {
    const attn_head_t *head = way->head;
    const attn_tensor_t *decay = attn_own_array(head->io, LINEAR_DECAY);
    const float forgets =
        linear_has_decay(way->form) ? ldexpf(1.0f, -5 - (int)tile_min(head->kv_head, 100)) : 0.0f;
    const float *row = decay ? (const float *)decay->data +
                                   attn_broadcast_offset(decay, head->batch, head->kv_head, key)
                             : NULL;
    if (row && decay->shape[3] > 1)
        convert_row(a, row, ATTN_F32, decay->stride[3], way->form->features, 1.0f);
    else
        for (int64_t k = 0; k < way->width; k++) a[k] = row ? *row : 1.0f - forgets;
    for (int64_t k = 0; row && k < way->form->features; k += VF_LANES)
        vf_store(a + k, vf_exp(vf_load(a + k)));
}

static float load_beta(const way_t *way, int64_t key) {
    const attn_tensor_t *beta = attn_own_array(way->head->io, LINEAR_BETA);
    if (!beta) return 1.0f;
    return ((const float *)
                beta->data)[attn_broadcast_offset(beta, way->head->batch, way->head->kv_head, key)];
}

/* Token i of the chunk that begins with key `first`: its v - P^T k, and next = P + k u^T. */
static void absorb(const way_t *way, int64_t first, int64_t i, const float *state, float *next) {
    const attn_tensor_t *value = &way->head->io->value;
    const float *phi = way->phi + i * way->width, *a = way->a + i * way->width;
    float *rest = way->rest + i * way->columns;
    const int64_t columns = way->columns;
    rows_load(value, way->head->batch, way->head->kv_head, first + i, 1, 1.0f, rest, columns, 1);
    if (way->form->normalise) rest[value->shape[3]] = 1.0f;
    for (int64_t k = 0; linear_has_delta(way->form) && k < way->form->features; k++)
        add_to_row(rest, state + k * columns, columns, -phi[k] * a[k]);
    for (int64_t k = 0; k < way->form->features; k++) {
        const vf keeps = vf_set1(a[k]), factor = vf_set1(way->beta[i] * phi[k]);
        for (int64_t c = 0; c < columns; c += VF_LANES)
            vf_store(next + k * columns + c,
                     vf_mul_add(factor, vf_load(rest + c),
                                vf_mul(keeps, vf_load(state + k * columns + c))));
    }
}

static void load_keys(way_t *way, int64_t first, int64_t count) {
    features_load(way->form, &way->head->io->key, way->head->batch, way->head->kv_head, first,
                  count, way->form->key_scale, way->phi, way->width, count, way->wide);
    for (int64_t i = 0; i < count; i++) {
        load_decay(way, first + i, way->a + i * way->width);
        way->beta[i] = load_beta(way, first + i);
    }
}

/* All states of a chunk after the one that is kept, or where `each` is 0 only the last, in two places by turns. */
static const float *go_through(way_t *way, int64_t first, int64_t count, int each) {
    const float *state = way->kept + first / CHUNK * way->size;
    load_keys(way, first, count);
    for (int64_t i = 0; i < count; i++) {
        float *next = way->states + (each ? i + 1 : i % 2) * way->size;
        absorb(way, first, i, state, next);
        state = next;
    }
    return state;
}

static void keep_states(way_t *way) {
    load_state(way, way->kept);
    for (int64_t first = 0; first + CHUNK <= way->keys; first += CHUNK)
        memcpy(way->kept + (first / CHUNK + 1) * way->size, go_through(way, first, CHUNK, 0),
               (size_t)way->size * sizeof *way->kept);
}

/* ---- queries --------------------------------------------------------------------------------------- */

/* G, with what the normaliser's change comes to behind it: `out` from dL/dout. */
static void normalise(const way_t *way, const float *state, int64_t value_dim) {
    memset(way->found, 0, (size_t)way->columns * sizeof *way->found);
    for (int64_t k = 0; k < way->form->features; k++)
        add_to_row(way->found, state + k * way->columns, way->columns, way->query[k]);
    const float factor = row_factor(way->found[value_dim]);
    scale_row(way->out, way->columns, factor);
    if (factor == 0.0f) return; /* a row of zeros */
    way->found[value_dim] = 0.0f;
    way->out[value_dim] = -factor * dot_of(way->out, way->found, way->columns);
}

static void query_back(const way_t *way, int64_t query_head, int64_t query, const float *state) {
    const attn_head_t *head = way->head;
    const attn_io_t *gradients = way->back->gradients;
    const int64_t dim = head->problem->dim;
    const features_back_rows_t rows = {way->x,       way->query, way->by_phi,
                                       way->x_width, way->width, 1};
    features_load(way->form, &head->io->query, head->batch, query_head, query, 1,
                  way->form->query_scale, way->query, way->width, 1, way->wide);
    rows_load(&gradients->out, head->batch, query_head, query, 1, 1.0f, way->out, way->columns, 1);
    if (way->form->normalise) normalise(way, state, head->problem->value_dim);
    for (int64_t k = 0; k < way->form->features; k++) {
        way->by_phi[k] = dot_of(state + k * way->columns, way->out, way->columns);
        add_to_row(way->sums + k * way->columns, way->out, way->columns, way->query[k]);
    }
    for (int64_t k = way->form->features; k < way->width; k++) way->by_phi[k] = 0.0f;
    if (!gradients->query.data) return;
    rows_load(&head->io->query, head->batch, query_head, query, 1, way->form->query_scale, way->x,
              way->x_width, 1);
    features_back(way->form, &rows, dim, way->form->query_scale);
    rows_store(&gradients->query, head->batch, query_head, query, 1, way->x, way->x_width);
}

/* Those that see `keys` keys: of all heads that share them. */
static void queries_back(const way_t *way, int64_t keys, const float *state) {
    const int64_t queries = way->head->problem->queries;
    const int64_t first = keys ? tile_max(0, keys - 1 - way->offset) : 0;
    const int64_t last = keys == way->keys ? queries : tile_min(queries, keys - way->offset);
    const int is_empty = keys == 0 && !attn_own_array(way->head->io, LINEAR_STATE);
    for (int64_t h = 0; h < way->group; h++)
        for (int64_t i = first; i < last; i++) {
            const int64_t head = way->head->kv_head * way->group + h;
            const attn_tensor_t *to = &way->back->gradients->query;
            if (!is_empty)
                query_back(way, head, i, state);
            else if (to->data)
                rows_clear(to, way->head->batch, head, i, 1, way->by_phi);
        }
}

/* ---- keys ------------------------------------------------------------------------------------------ */

/* dL/dbeta, and dL/dv */
static void value_back(const way_t *way, int64_t key, int64_t i, const float *change) {
    const attn_head_t *head = way->head;
    const attn_tensor_t *to = &way->back->gradients->value;
    if (way->back->beta)
        way->back->beta[key] = dot_of(change, way->rest + i * way->columns, way->columns);
    if (to->data) {
        memcpy(way->out, change, (size_t)way->columns * sizeof *change);
        scale_row(way->out, way->columns, way->beta[i]);
        rows_store(to, head->batch, head->kv_head, key, 1, way->out, way->columns);
    }
}

/* A feature's row of R before the token, and of what it passes on to the decay. */
static void row_back(const way_t *way, int64_t i, int64_t k, const float *state, const float *taken,
                     float *decay) {
    const float a = way->a[i * way->width + k], phi = way->phi[i * way->width + k];
    float *sums = way->sums + k * way->columns;
    const float *row = state + k * way->columns;
    way->by_phi[k] = dot_of(sums, way->u, way->columns);
    if (taken) {
        way->by_phi[k] -= a * dot_of(row, taken, way->columns);
        add_to_row(sums, taken, way->columns, -phi);
    }
    if (decay) *decay += a * dot_of(sums, row, way->columns);
    if (linear_has_decay(way->form)) scale_row(sums, way->columns, a);
}

/* Token i of a chunk, behind the state before it. */
static void key_back(const way_t *way, int64_t key, int64_t i, const float *state) {
    const attn_head_t *head = way->head;
    const attn_io_t *gradients = way->back->gradients;
    const int64_t features = way->form->features, columns = way->columns;
    const int64_t decays = way->back->decays;
    float *decay = way->back->decay ? way->back->decay + key * decays : NULL;
    float *change = way->found, *taken = linear_has_delta(way->form) ? way->out : NULL;
    const features_back_rows_t rows = {
        way->x, way->phi + i * way->width, way->by_phi, way->x_width, way->width, 1};
    memset(change, 0, (size_t)columns * sizeof *change);
    for (int64_t k = 0; k < features; k++)
        add_to_row(change, way->sums + k * columns, columns, way->phi[i * way->width + k]);
    value_back(way, key, i, change);
    memcpy(way->out, change, (size_t)columns * sizeof *change);
    scale_row(way->out, columns, way->beta[i]);
    memcpy(way->u, way->rest + i * columns, (size_t)columns * sizeof *way->u);
    scale_row(way->u, columns, way->beta[i]);
    for (int64_t k = 0; decay && k < decays; k++) decay[k] = 0.0f;
    for (int64_t k = 0; k < features; k++)
        row_back(way, i, k, state, taken, decay ? decay + (decays > 1 ? k : 0) : NULL);
    for (int64_t k = features; k < way->width; k++) way->by_phi[k] = 0.0f;
    if (!gradients->key.data) return;
    rows_load(&head->io->key, head->batch, head->kv_head, key, 1, way->form->key_scale, way->x,
              way->x_width, 1);
    features_back(way->form, &rows, head->problem->dim, way->form->key_scale);
    rows_store(&gradients->key, head->batch, head->kv_head, key, 1, way->x, way->x_width);
}

/* Keys that no query sees */
static void clear_keys(const way_t *way) {
    const linear_back_t *back = way->back;
    const attn_head_t *head = way->head;
    const attn_tensor_t *const tensors[] = {&back->gradients->key, &back->gradients->value};
    const int64_t count = head->problem->keys - way->keys;
    for (int i = 0; i < 2; i++)
        if (tensors[i]->data)
            rows_clear(tensors[i], head->batch, head->kv_head, way->keys, count, way->by_phi);
    for (int64_t j = way->keys; j < head->problem->keys; j++) {
        if (back->beta) back->beta[j] = 0.0f;
        for (int64_t k = 0; back->decay && k < back->decays; k++)
            back->decay[j * back->decays + k] = 0.0f;
    }
}

static void store_state(const way_t *way) {
    const attn_head_t *head = way->head;
    const attn_tensor_t *s = attn_own_array(way->back->gradients, LINEAR_STATE);
    const attn_tensor_t *z = attn_own_array(way->back->gradients, LINEAR_STATE_Z);
    for (int64_t k = 0; k < way->form->features; k++) {
        const float *row = way->sums + k * way->columns;
        if (s)
            convert_back(attn_row(s, head->batch, head->kv_head, k), ATTN_F32, s->stride[3], row,
                         s->shape[3]);
        if (z) *attn_row(z, head->batch, head->kv_head, k) = row[head->problem->value_dim];
    }
}

static void run(const linear_back_t *back) {
    way_t way = begin(back);
    memset(way.sums, 0, (size_t)way.size * sizeof *way.sums);
    keep_states(&way);
    for (int64_t last = way.keys; last > 0;) {
        const int64_t first = (last - 1) / CHUNK * CHUNK;
        go_through(&way, first, last - first, 1);
        memcpy(way.states, way.kept + first / CHUNK * way.size,
               (size_t)way.size * sizeof *way.states);
        for (; last > first; last--) {
            const float *state = way.states + (last - first) * way.size;
            queries_back(&way, last, state);
            key_back(&way, last - 1, last - 1 - first, state - way.size);
        }
    }
    queries_back(&way, 0, way.kept);
    clear_keys(&way);
    store_state(&way);
}

const linear_backward_t ATTN_KERNEL(attn_linear_backward_rules) = {.scratch = scratch, .run = run};
