/*
 * Gradients of the plain rule, a chunk of tokens at a time. Of out_i = f_i^T S_i / N_i, where f_i = phi(q_i),
 * S_i = sum_(j seen by i) phi(k_j) v_j^T and N_i = f_i.z_i, with g_i = dL/dout_i, r_i = 1 / N_i, G_i = r_i g_i:
 *
 *     dL/df_i      = S_i G_i + c_i z_i,                         c_i = dL/dN_i = -r_i f_i.(S_i G_i)
 *     dL/dphi(k_j) = R_j v_j + sum_(i that see j) c_i f_i,      R_j = sum_(i that see j) f_i G_i^T
 *     dL/dv_j      = R_j^T phi(k_j)
 *
 * (without the normaliser arXiv:2006.16236, Eq. 13 to 15). Each of the three is linear attention of its own: readers
 * meet sources, the keys that a query sees, or, with time reversed, the queries that see a key. So each goes by
 * the forward pass's chunks: what came before is a state, what is in the chunk a triangle of products.
 * Compiled once per tier.
 */
#include "backward.h"

#include "add.h"
#include "ahead.h"
#include "backward_rows.h"

enum { CHUNK = 24, ROOM = CHUNK + TILE_ROWS /* left factors are read in whole tiles */ };

/* Readers i = 0, 1, ... see sources up to i + offset, or all. */
typedef struct span {
    int64_t readers, sources, offset;
    int causal;
} span_t;

/* Some readers: they see the sources [0, known), and where causal of as many more each up to its own. */
typedef struct part {
    int64_t first, count, known;
    int causal;
} part_t;

static part_t next_part(const span_t *span, int64_t first) {
    const int64_t own = first + span->offset;
    part_t part = {first, attn_min(CHUNK, span->readers - first), span->sources, 0};
    if (!span->causal || own >= span->sources) return part;
    part.causal = own >= 0;
    part.known = attn_max(own, 0);
    part.count = attn_min(part.count, own < 0 ? -own : span->sources - own);
    return part;
}

/* One head on its way. Rows of features are `width` apart, of values `value_width`, before phi `x_width`. */
typedef struct way {
    const linear_back_t *back;
    const attn_head_t *head;
    const linear_form_t *form;
    int64_t dim, value_dim, group, queries, keys;
    int64_t width, value_width, x_width;
    linear_state_t by_value;   /* [value_dim][width]: S^T and z, then R^T and sum c_i f_i */
    linear_state_t by_feature; /* [features][value_width]: R */
    float *query, *key;        /* phi */
    float *value, *gradient;   /* gradient: G */
    float *x, *wide;
    float *columns,
        *scores; /* of readers, and of sources and readers, as product_chunk() has them */
    float *out, *value_out, *more; /* [ROOM][width], [ROOM][value_width], [ROOM][the wider] */
    float *sums;                   /* [CHUNK][width]: of phi(k), of c phi(q) up to each row */
    float *normalisers;            /* [CHUNK][width]: z, of each row */
    float *factors;                /* [group][queries][2]: r and c */
    int64_t loaded, loaded_count, loaded_head; /* sources */
    int is_begun; /* whether there is anything in the state that queries see */
    float ones[CHUNK];
} way_t;

static linear_state_t take_sums(attn_arena_t *arena, int64_t height, int64_t stride) {
    linear_state_t sums = {.stride = stride, .width = (uint64_t)stride};
    sums.rest = (height + 1) * stride;
    sums.s = attn_arena_take(arena, height + 1, 2 * (uint64_t)stride * sizeof(float));
    if (sums.s) sums.z = sums.s + height * stride;
    return sums;
}

static way_t lay_out_chunks_backward(const attn_problem_t *problem, const linear_form_t *form,
                                     attn_arena_t *arena) {
    way_t way = {.form = form, .dim = problem->dim, .value_dim = problem->value_dim};
    const int is_wide = linear_map_is_wide(form->map);
    way.group = problem->heads / problem->kv_heads;
    way.queries = problem->queries;
    way.width = attn_round_up(form->features, PRODUCT_WIDTH);
    way.value_width = attn_round_up(problem->value_dim, PRODUCT_WIDTH);
    way.x_width = attn_round_up(problem->dim, PRODUCT_WIDTH);
    way.by_value = take_sums(arena, way.value_dim, way.width);
    way.by_feature = take_sums(arena, form->features, way.value_width);
    const int64_t wider = attn_max(way.width, way.value_width);
    const back_piece_t pieces[] = {
        {&way.query, way.width, ROOM},
        {&way.key, way.width, ROOM},
        {&way.value, way.value_width, ROOM},
        {&way.gradient, way.value_width, ROOM},
        {&way.x, way.x_width, ROOM},
        {&way.wide, is_wide ? way.x_width : 0, ROOM},
        {&way.columns, wider + 1, CHUNK},
        {&way.scores, CHUNK + 1, CHUNK},
        {&way.out, attn_max(way.width, attn_max(way.x_width, way.value_width)), ROOM},
        {&way.value_out, way.value_width, ROOM},
        {&way.more, way.group > 1 ? wider : 0, ROOM},
        {&way.sums, way.width, CHUNK},
        {&way.normalisers, form->normalise ? way.width : 0, CHUNK},
        {&way.factors, form->normalise ? problem->queries : 0, 2 * way.group},
    };
    take_pieces(arena, pieces, sizeof pieces / sizeof *pieces);
    return way;
}

static void scratch(const attn_problem_t *problem, const linear_form_t *form, attn_arena_t *arena) {
    lay_out_chunks_backward(problem, form, arena);
}

static way_t begin(const linear_back_t *back) {
    attn_arena_t arena = {.base = back->scratch};
    way_t way = lay_out_chunks_backward(back->head->problem, back->form, &arena);
    way.back = back;
    way.head = back->head;
    way.keys = attn_keys_of(way.head->problem, way.head->io, way.head->batch);
    for (int i = 0; i < CHUNK; i++) way.ones[i] = 1.0f;
    return way;
}

static void clear_sums(linear_state_t *sums) {
    memset(sums->s, 0, 2 * (size_t)sums->rest * sizeof *sums->s);
}

/* Rows [0, count) of a tensor from the last on. */
static attn_tensor_t reversed(const attn_tensor_t *tensor, int64_t count) {
    attn_tensor_t view = *tensor;
    if (!view.data || count == 0) return view;
    view.data =
        (char *)tensor->data + (count - 1) * tensor->stride[2] * attn_dtype_size(tensor->dtype);
    view.stride[2] = -tensor->stride[2];
    return view;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static void load_phi(const way_t *way, const attn_tensor_t *tensor, int64_t head, int64_t first,
                     int64_t count, float scale, float *to) {
    features_load(way->form, tensor, way->head->batch, head, first, count, scale, to, way->width,
                  count, way->wide);
}

static void load_values(const way_t *way, const attn_tensor_t *tensor, int64_t head, int64_t first,
                        int64_t count, float *to) {
    rows_load(tensor, way->head->batch, head, first, count, 1.0f, to, way->value_width, count);
}

/* r and c of a query of the group's query head h. */
static float *factors_of(const way_t *way, int64_t h, int64_t query) {
    return way->factors + 2 * (h * way->queries + query);
}

/* The gradient by phi, `out`, becomes that of rows of queries or keys, and leaves. */
static void store_through_phi(const way_t *way, const attn_tensor_t *from, const attn_tensor_t *to,
                              int64_t head, int64_t first, int64_t count, const float *phi,
                              float scale) {
    const features_back_rows_t rows = {way->x, phi, way->out, way->x_width, way->width, count};
    rows_load(from, way->head->batch, head, first, count, scale, way->x, way->x_width, count);
    features_back(way->form, &rows, way->dim, scale);
    rows_store(to, way->head->batch, head, first, count, way->x, way->x_width);
}

/* Rows [first, first + CHUNK) of up to three tensors, to be asked for. */
static product_ahead_t next_rows(const way_t *way, const attn_tensor_t *const tensors[3],
                                 int64_t head, int64_t first) {
    return ahead_of_rows(tensors, CHUNK, way->head->batch, head, first);
}

/* ---- readers and sources --------------------------------------------------------------------------- */

/* What a chunk's readers meet. */
typedef struct meeting {
    const float *readers, *left,
        *right; /* rows: readers' and sources' that are multiplied, and what is then read */
    int64_t stride, depth; /* of the first two */
    int with_state;
    const linear_state_t *state; /* of the sources before; also has the stride of `right` */
} meeting_t;

/* out[r] = reader_r^T state + sum_(j <= r) (reader_r.left_j) right_j, the latter where causal. */
static void meet(const way_t *way, const part_t *part, const meeting_t *meeting, float *out,
                 product_ahead_t *ahead) {
    const int64_t stride = attn_min(CHUNK, attn_round_up(part->count, PANEL));
    tile_pack(way->columns, stride, part->count, meeting->depth, meeting->readers, meeting->stride,
              1, 1.0f);
    if (part->causal)
        product(way->scores, stride, meeting->left, meeting->stride, way->columns, stride,
                meeting->depth, part->count, attn_round_up(part->count, PRODUCT_WIDTH), NULL, 1,
                ahead);
    const product_chunk_t chunk = {
        .queries = way->columns,
        .scores = part->causal ? way->scores : NULL,
        .stride = stride,
        .state = meeting->state->s,
        .values = meeting->right,
        .state_stride = meeting->state->stride,
        .values_stride = meeting->state->stride,
        .depth = meeting->with_state ? meeting->depth : 0,
        .rows = part->count,
        .factors = way->ones,
    };
    product_chunk(out, meeting->state->stride, &chunk, meeting->state->stride, ahead);
}

static void join(linear_state_t *state, int64_t rows, const float *left, int64_t left_stride,
                 const float *right, int64_t count, product_ahead_t *ahead) {
    const linear_keep_t everything = {NULL, NULL, 0};
    add_products(state, rows, &everything, left, left_stride, right, count, ahead);
}

static void join_row(const linear_state_t *state, const float *row) {
    const linear_keep_t everything = {NULL, NULL, 0};
    add_row(state, state->z, &everything, row);
}

/* ---- queries --------------------------------------------------------------------------------------- */

static void load_keys(way_t *way, int64_t first, int64_t count) {
    const attn_io_t *io = way->head->io;
    if (way->loaded == first && way->loaded_count == count) return;
    load_phi(way, &io->key, way->head->kv_head, first, count, way->form->key_scale, way->key);
    load_values(way, &io->value, way->head->kv_head, first, count, way->value);
    way->loaded = first;
    way->loaded_count = count;
}

static void join_keys(way_t *way, int64_t *known, int64_t until) {
    while (*known < until) {
        const int64_t count = attn_min(CHUNK, until - *known);
        const attn_io_t *io = way->head->io;
        product_ahead_t ahead =
            next_rows(way, (const attn_tensor_t *[3]){&io->key, &io->value, NULL},
                      way->head->kv_head, *known + count);
        load_keys(way, *known, count);
        join(&way->by_value, way->value_dim, way->value, way->value_width, way->key, count, &ahead);
        memset(way->sums, 0, (size_t)way->width * sizeof *way->sums);
        for (int64_t j = 0; way->form->normalise && j < count; j++)
            add_to_row(way->sums, way->key + j * way->width, way->width, 1.0f);
        if (way->form->normalise) join_row(&way->by_value, way->sums);
        *known += count;
    }
}

/* z as each row of the chunk sees it. */
static void find_normalisers(const way_t *way, const part_t *part) {
    const int64_t width = way->width;
    for (int64_t r = 0; r < part->count; r++) {
        float *row = way->normalisers + r * width;
        sum_row(row, r && part->causal ? row - width : way->by_value.z, way->key + r * width, width,
                part->causal ? 1.0f : 0.0f);
    }
}

/* G and r */
static void normalise(const way_t *way, const part_t *part, int64_t h) {
    for (int64_t r = 0; r < part->count; r++) {
        float *factors = factors_of(way, h, part->first + r);
        factors[0] = row_factor(
            dot_of(way->query + r * way->width, way->normalisers + r * way->width, way->width));
        scale_row(way->gradient + r * way->value_width, way->value_width, factors[0]);
    }
}

/* c, and its part of the gradient by phi. */
static void add_normalisers(const way_t *way, const part_t *part, int64_t h) {
    for (int64_t r = 0; r < part->count; r++) {
        float *factors = factors_of(way, h, part->first + r), *out = way->out + r * way->width;
        if (factors[0] == 0.0f) scale_row(out, way->width, 0.0f); /* 0 times NaN is NaN */
        factors[1] = -factors[0] * dot_of(way->query + r * way->width, out, way->width);
        if (factors[0] != 0.0f)
            add_to_row(out, way->normalisers + r * way->width, way->width, factors[1]);
    }
}

static void answer(const way_t *way, const part_t *part, int64_t h) {
    const attn_io_t *io = way->head->io, *gradients = way->back->gradients;
    const int64_t head = way->head->kv_head * way->group + h;
    const meeting_t meeting = {way->gradient,  way->value,    way->key,      way->value_width,
                               way->value_dim, way->is_begun, &way->by_value};
    load_phi(way, &io->query, head, part->first, part->count, way->form->query_scale, way->query);
    load_values(way, &gradients->out, head, part->first, part->count, way->gradient);
    if (way->form->normalise) normalise(way, part, h);
    product_ahead_t ahead =
        next_rows(way, (const attn_tensor_t *[3]){&io->query, &gradients->out, &gradients->query},
                  head, part->first + part->count);
    meet(way, part, &meeting, way->out, &ahead);
    if (way->form->normalise) add_normalisers(way, part, h);
    if (gradients->query.data)
        store_through_phi(way, &io->query, &gradients->query, head, part->first, part->count,
                          way->query, way->form->query_scale);
}

/* The transposed of the state that the run's arrays give, if they do. */
static void load_state(const way_t *way) {
    const attn_head_t *head = way->head;
    const attn_tensor_t *s = attn_own_array(head->io, LINEAR_STATE);
    const attn_tensor_t *z = attn_own_array(head->io, LINEAR_STATE_Z);
    for (int64_t k = 0; s && k < way->form->features; k++) {
        const float *row = attn_row(s, head->batch, head->kv_head, k);
        for (int64_t c = 0; c < way->value_dim; c++)
            way->by_value.s[c * way->width + k] = row[c * s->stride[3]];
        if (z) way->by_value.z[k] = *attn_row(z, head->batch, head->kv_head, k);
    }
}

static void go_forth(way_t *way) {
    const attn_problem_t *problem = way->head->problem;
    const span_t span = {way->queries, way->keys, attn_query_position(problem, way->keys, 0),
                         problem->causal != ATTN_CAUSAL_NONE};
    int64_t known = 0;
    clear_sums(&way->by_value);
    load_state(way);
    way->loaded_count = 0;
    way->is_begun = attn_own_array(way->head->io, LINEAR_STATE) != NULL;
    for (int64_t first = 0; first < span.readers;) {
        const part_t part = next_part(&span, first);
        way->is_begun |= part.known > 0;
        join_keys(way, &known, part.known);
        if (part.causal) load_keys(way, part.known, part.count);
        if (way->form->normalise) find_normalisers(way, &part);
        for (int64_t h = 0; h < way->group; h++) answer(way, &part, h);
        first += part.count;
    }
}

/* ---- keys and values, time reversed ------------------------------------------------------------------ */

typedef struct reversal {
    attn_tensor_t query, gradient;              /* sources */
    attn_tensor_t key, value, to_key, to_value; /* readers, and what they write */
} reversal_t;

/* phi and G of queries of the group's head h, and c phi in `sums`. */
static void load_sources(way_t *way, const reversal_t *tensors, int64_t h, int64_t first,
                         int64_t count) {
    const int64_t head = way->head->kv_head * way->group + h;
    if (way->loaded == first && way->loaded_count == count && way->loaded_head == h) return;
    load_phi(way, &tensors->query, head, first, count, way->form->query_scale, way->query);
    load_values(way, &tensors->gradient, head, first, count, way->gradient);
    for (int64_t r = 0; way->form->normalise && r < count; r++) {
        const float *factors = factors_of(way, h, way->queries - 1 - first - r);
        float *sum = way->sums + r * way->width;
        scale_row(way->gradient + r * way->value_width, way->value_width, factors[0]);
        if (r == 0) memset(sum, 0, (size_t)way->width * sizeof *sum);
        sum_row(sum, r ? sum - way->width : sum, way->query + r * way->width, way->width,
                factors[1]);
    }
    way->loaded = first;
    way->loaded_count = count;
    way->loaded_head = h;
}

static void join_sources(way_t *way, const reversal_t *tensors, int64_t *known, int64_t until) {
    while (*known < until) {
        const int64_t count = attn_min(CHUNK, until - *known);
        for (int64_t h = way->group - 1; h >= 0; h--) { /* the last is there already */
            load_sources(way, tensors, h, *known, count);
            product_ahead_t ahead =
                next_rows(way, (const attn_tensor_t *[3]){&tensors->to_value, NULL, NULL},
                          way->head->kv_head, *known + count);
            join(&way->by_feature, way->form->features, way->query, way->width, way->gradient,
                 count, &ahead);
            if (way->form->normalise)
                join_row(&way->by_value, way->sums + (count - 1) * way->width);
        }
        *known += count;
    }
}

/* out[r] of a meeting, or with `more` what is added to it. */
static void meet_again(const way_t *way, const part_t *part, const meeting_t *meeting, float *out,
                       float *more, product_ahead_t *ahead) {
    const int64_t stride = meeting->state->stride;
    meet(way, part, meeting, more ? more : out, ahead);
    for (int64_t r = 0; more && r < part->count; r++)
        add_to_row(out + r * stride, more + r * stride, stride, 1.0f);
}

/* What the chunk's readers get of its sources of one head, and with the first of them of all before. */
static void meet_head(way_t *way, const reversal_t *tensors, const part_t *part, int64_t h) {
    const int64_t width = way->width;
    if (h > 0 && !part->causal) return;
    if (part->causal) load_sources(way, tensors, h, part->known, part->count);
    const meeting_t values = {way->key, way->query,      way->gradient, width, way->form->features,
                              h == 0,   &way->by_feature};
    const meeting_t keys = {way->value,     way->gradient, way->query,    way->value_width,
                            way->value_dim, h == 0,        &way->by_value};
    product_ahead_t sources =
        next_rows(way, (const attn_tensor_t *[3]){&tensors->query, &tensors->gradient, NULL},
                  way->head->kv_head * way->group + h, part->known + part->count);
    product_ahead_t readers =
        next_rows(way, (const attn_tensor_t *[3]){&tensors->key, &tensors->value, &tensors->to_key},
                  way->head->kv_head, part->first + part->count);
    meet_again(way, part, &values, way->value_out, h ? way->more : NULL, &sources);
    meet_again(way, part, &keys, way->out, h ? way->more : NULL, &readers);
    for (int64_t r = 0; way->form->normalise && r < part->count; r++) {
        if (h == 0) add_to_row(way->out + r * width, way->by_value.z, width, 1.0f);
        if (part->causal) add_to_row(way->out + r * width, way->sums + r * width, width, 1.0f);
    }
}

static void answer_keys(way_t *way, const reversal_t *tensors, const part_t *part) {
    const int64_t head = way->head->kv_head;
    const float scale = way->form->key_scale;
    load_phi(way, &tensors->key, head, part->first, part->count, scale, way->key);
    load_values(way, &tensors->value, head, part->first, part->count, way->value);
    tile_pack(way->by_value.s, way->width, way->form->features, way->value_dim, way->by_feature.s,
              way->value_width, 1, 1.0f);
    for (int64_t h = 0; h < way->group; h++) meet_head(way, tensors, part, h);
    if (tensors->to_value.data)
        rows_store(&tensors->to_value, way->head->batch, head, part->first, part->count,
                   way->value_out, way->value_width);
    if (tensors->to_key.data)
        store_through_phi(way, &tensors->key, &tensors->to_key, head, part->first, part->count,
                          way->key, scale);
}

/* Keys from `first` on, which no query sees. */
static void clear_keys(const way_t *way, const attn_tensor_t *tensor, int64_t first) {
    if (tensor->data)
        rows_clear(tensor, way->head->batch, way->head->kv_head, first,
                   way->head->problem->keys - first, way->out);
}

/* What all queries pass on to the state before the first key. */
static void store_state(const way_t *way) {
    const attn_head_t *head = way->head;
    const attn_tensor_t *s = attn_own_array(way->back->gradients, LINEAR_STATE);
    const attn_tensor_t *z = attn_own_array(way->back->gradients, LINEAR_STATE_Z);
    for (int64_t k = 0; k < way->form->features; k++) {
        float *row = s ? attn_row(s, head->batch, head->kv_head, k) : NULL;
        for (int64_t c = 0; s && c < way->value_dim; c++)
            row[c * s->stride[3]] = way->by_feature.s[k * way->value_width + c];
        if (z) *attn_row(z, head->batch, head->kv_head, k) = way->by_value.z[k];
    }
}

static void go_back(way_t *way) {
    const attn_problem_t *problem = way->head->problem;
    const attn_io_t *io = way->head->io, *gradients = way->back->gradients;
    const int causal = problem->causal != ATTN_CAUSAL_NONE;
    const int64_t seen = attn_query_position(problem, way->keys, way->queries - 1) + 1;
    const int64_t readers = causal ? attn_max(0, attn_min(way->keys, seen)) : way->keys;
    const span_t span = {readers, way->queries, seen - readers, causal};
    const reversal_t tensors = {
        .query = reversed(&io->query, way->queries),
        .gradient = reversed(&gradients->out, way->queries),
        .key = reversed(&io->key, readers),
        .value = reversed(&io->value, readers),
        .to_key = reversed(&gradients->key, readers),
        .to_value = reversed(&gradients->value, readers),
    };
    int64_t known = 0;
    clear_sums(&way->by_value);
    clear_sums(&way->by_feature);
    way->loaded_count = 0;
    for (int64_t first = 0; first < readers;) {
        const part_t part = next_part(&span, first);
        join_sources(way, &tensors, &known, part.known);
        answer_keys(way, &tensors, &part);
        first += part.count;
    }
    clear_keys(way, &gradients->key, readers);
    clear_keys(way, &gradients->value, readers);
    if (!attn_own_array(io, LINEAR_STATE)) return;
    join_sources(way, &tensors, &known, way->queries);
    store_state(way);
}

static void run_chunks_backward(const linear_back_t *back) {
    way_t way = begin(back);
    const attn_io_t *gradients = back->gradients;
    go_forth(&way);
    if (gradients->key.data || gradients->value.data || attn_own_array(gradients, LINEAR_STATE) ||
        attn_own_array(gradients, LINEAR_STATE_Z))
        go_back(&way);
}

const linear_backward_t ATTN_KERNEL(attn_linear_backward) = {.scratch = scratch,
                                                             .run = run_chunks_backward};
