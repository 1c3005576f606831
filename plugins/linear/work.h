/*
 * work.h: one head on its way through its recurrence, for the tier being compiled: tokens with their gates
 * from the run's arrays, and rows of the output back to them. recurrence.c takes many tokens a step, decode.c
 * one.
 */
#ifndef ATTN_LINEAR_WORK_H
#define ATTN_LINEAR_WORK_H

#include "recurrence.h"

#include "add.h"
#include "features.h"
#include "finite.h"
#include "gemm/product.h"
#include "rows.h"
#include "simd/convert.h"
#include "simd/math.h"

/* What is shaped by it is another function with another. */
#ifndef LINEAR_STEP
#define LINEAR_STEP 12 /* whole tiles on every tier */
#define WORK_STEP ATTN_SHARED_STEP
#else
#define WORK_STEP ATTN_STEP
#endif

enum {
    STEP = LINEAR_STEP, /* tokens: whole blocks */
    BLOCK = 4,          /* of those whose products with a key are taken together */
};

/* One head on its way. Rows that are left factors have a tile's more behind them. */
typedef struct work {
    const attn_head_t *head;
    const linear_form_t *form;
    linear_state_t *state;
    int64_t degenerate;    /* rows so far */
    int64_t width, stride; /* features and value_dim in whole vectors */
    int64_t known;         /* keys in the state */
    uint64_t drowned;      /* bit i: the normaliser of row i is degenerate */
    float *wide;           /* [STEP][dim]: rows before a wide map */
    float *k, *q;          /* [STEP][width]: phi of keys and queries */
    float *a, *p;          /* [STEP][width]: decays, and their products from the step's first on */
    float *kp;             /* [STEP][width]: p times k or q */
    float *last;           /* [STEP][width]: keys decayed until the step's last */
    float *columns;        /* [width][STEP]: queries */
    float *log;            /* [width]: sums of the step's decays; and what they keep (add.h): */
    float *base, *more;    /* [width] */
    float *u, *found;      /* [STEP][stride] */
    float *out;            /* [STEP][stride] */
    float *products;       /* [STEP][STEP]: of key j and row i at [j][i] */
    float beta[STEP];
} work_t;

#define COUNT_OF(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* Arrays [height][width], taken as one. */
ATTN_RARE_STEP void lay_rows(attn_arena_t *arena, float **const *arrays, int64_t count,
                             int64_t width, int64_t height) {
    float *first = attn_arena_take(arena, width, (uint64_t)(count * height) * sizeof(float));
    for (int64_t i = 0; first && i < count; i++) *arrays[i] = first + i * height * width;
}

ATTN_RARE_STEP work_t lay_out_recurrence(const attn_problem_t *problem, const linear_form_t *form,
                                         attn_arena_t *arena) {
    enum { ROWS = STEP + TILE_ROWS };
    work_t work = {.form = form};
    work.width = attn_round_up(form->features, PRODUCT_WIDTH);
    work.stride = attn_round_up(problem->value_dim, PRODUCT_WIDTH);
    work.wide =
        linear_map_is_wide(form->map)
            ? attn_arena_take(arena, attn_round_up(problem->dim, VF_LANES), ROWS * sizeof(float))
            : NULL;
    float **const rows[] = {&work.k,  &work.q,    &work.a,      &work.p,
                            &work.kp, &work.last, &work.columns};
    float **const outs[] = {&work.u, &work.found, &work.out};
    float **const singles[] = {&work.log, &work.base, &work.more};
    lay_rows(arena, rows, COUNT_OF(rows), work.width, ROWS);
    lay_rows(arena, singles, COUNT_OF(singles), work.width, 1);
    lay_rows(arena, outs, COUNT_OF(outs), work.stride, ROWS);
    work.products = attn_arena_take(arena, STEP + 1, STEP * sizeof(float));
    return work;
}

ATTN_RARE_STEP work_t begin(const attn_head_t *head, const linear_form_t *form,
                            linear_state_t *state, void *scratch_memory) {
    attn_arena_t arena = {.base = scratch_memory};
    work_t work = lay_out_recurrence(head->problem, form, &arena);
    work.head = head;
    work.state = state;
    return work;
}

/* ---- tokens -------------------------------------------------------------------------------------- */

ATTN_RARE_STEP const float *own_row(const work_t *work, uint32_t index, int64_t key,
                                    const attn_tensor_t **tensor) {
    const attn_head_t *head = work->head;
    *tensor = attn_own_array(head->io, index);
    if (!*tensor) return NULL;
    return (const float *)(*tensor)->data +
           attn_broadcast_offset(*tensor, head->batch, head->kv_head, key);
}

/* log(1 - 2^(-5-h)) (arXiv:2307.08621, Eq. 8) */
ATTN_RARE_STEP float retnet_decay(int64_t kv_head) {
    const float x = bits_to_float((uint32_t)attn_max(122 - kv_head, 0) << 23);
    float sum = 0.0f; /* x + x^2/2 + ... of x at most 1/32 */
    for (int i = 5; i > 0; i--) sum = x * (sum + 1.0f / (float)i);
    return -sum;
}

/* The decays of one token, added to log, and a = exp(decay); all features of a head may have the same. */
WORK_STEP void load_decay(work_t *work, int64_t key, float *a) {
    const attn_tensor_t *tensor;
    const float *row = own_row(work, LINEAR_DECAY, key, &tensor);
    const int64_t count = row && tensor->shape[3] > 1 ? work->form->features : 1;
    const float one = row ? *row : retnet_decay(work->head->kv_head);
    if (count == 1)
        for (int64_t k = 0; k < work->width; k++) a[k] = one;
    else
        convert_row(a, row, ATTN_F32, tensor->stride[3], count, 1.0f);
    for (int64_t k = work->form->features; k < work->width; k++) a[k] = -1.0f;
    for (int64_t k = 0; k < work->width; k += VF_LANES) {
        const vf decay = vf_load(a + k);
        vf_store(work->log + k, vf_add(vf_load(work->log + k), decay));
        vf_store(a + k, vf_exp(decay));
    }
}

/*
 * What tokens whose decays add up to `log` keep of the state (add.h). Of a product of decays close to 1 float has too few digits: over
 * thousands of steps it would be off by more than all else. e^x - 1 is a polynomial near 0. Where all errors are
 * forgotten after as many steps as a chunk has tokens, these sums are better than those.
 */
ATTN_RARE_STEP linear_keep_t find_keep(const work_t *work) {
    static const float factors[] = {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f};
    linear_keep_t keep = {NULL, NULL, 0};
    vf lasts = vf_zero(); /* where errors do */
    if (!linear_has_decay(work->form)) return keep;
    for (int64_t k = 0; k < work->width; k += VF_LANES) {
        const vf x = vf_add(vf_load(work->log + k), vf_set1(1.0f / 32));
        lasts = vf_add(lasts, vf_select_positive(x, vf_set1(1.0f), vf_zero()));
    }
    keep = (linear_keep_t){work->base, work->more, vf_reduce_add(lasts) == 0.0f};
    for (int64_t k = 0; k < work->width; k += VF_LANES) {
        const vf x = vf_load(work->log + k);
        const vf is_near = vf_add(x, vf_set1(keep.forgets ? -1.0f : 0.25f));
        vf more = vf_zero();
        for (int64_t i = 0; i < COUNT_OF(factors); i++)
            more = vf_mul(x, vf_add(more, vf_set1(factors[i])));
        vf_store(work->base + k, vf_select_positive(is_near, vf_set1(1.0f), vf_zero()));
        vf_store(work->more + k, vf_select_positive(is_near, more, vf_exp(x)));
    }
    return keep;
}

/* S = P_n S + sum_j k_j^(n) u_j^T, and z, by tokens in rows: keys decayed until the last, and u. */
ATTN_RARE_STEP void add_step(work_t *work, const float *keys, const float *u, int64_t count,
                             product_ahead_t *ahead) {
    linear_state_t *state = work->state;
    const int64_t width = work->width;
    const linear_keep_t keep = find_keep(work);
    add_products(state, work->form->features, &keep, keys, width, u, count, ahead);
    for (int64_t k = 0; work->form->normalise && k < width; k += VF_LANES) {
        vf sum = vf_zero(), abs = vf_zero();
        for (int64_t t = 0; t < count; t++) {
            const vf key = vf_load(keys + t * width + k);
            sum = vf_add(sum, key);
            abs = vf_add(abs, vf_max(key, vf_sub(vf_zero(), key)));
        }
        vf_store(work->kp + k, sum);
        vf_store(work->kp + width + k, abs);
    }
    if (work->form->normalise) {
        add_row(state, state->z, &keep, work->kp);
        add_row(state, state->zabs, &keep, work->kp + width);
    }
    state->keys += count;
}

/* Features and values of the tokens [known, known + count), the features with zeros up to `all`. */
WORK_STEP void load_rows(work_t *work, int64_t count, int64_t all) {
    const attn_head_t *head = work->head;
    features_load(work->form, &head->io->key, head->batch, head->kv_head, work->known, count,
                  work->form->key_scale, work->k, work->width, all, work->wide);
    rows_load(&head->io->value, head->batch, head->kv_head, work->known, count, 1.0f, work->u,
              work->stride, count);
}

/* u of a delta rule, in place of the values: forward substitution. */
WORK_STEP void solve_delta(const work_t *work, int64_t count) {
    const int64_t stride = work->stride;
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < stride; c += VF_LANES) {
            float *u = work->u + i * stride + c;
            vf sum = vf_load(work->found + i * stride + c);
            for (int64_t j = 0; j < i; j++)
                sum = vf_mul_add(vf_set1(work->products[j * STEP + i]),
                                 vf_load(work->u + j * stride + c), sum);
            vf_store(u, vf_mul(vf_set1(work->beta[i]), vf_sub(vf_load(u), sum)));
        }
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* to = row^T S for vectors [c, c + vectors) of columns, as sums of so many rows each side by side: few would wait for
 * each other. */
ATTN_INLINE void read_columns(const work_t *work, const float *row, int vectors, int apart,
                              int64_t c, float *to) {
    enum { MOST = 8 };
    const int64_t features = work->form->features, stride = work->stride;
    const float *s = work->state->s + c;
    vf sums[MOST];
    int64_t k = 0;
    ATTN_UNROLL
    for (int v = 0; v < apart * vectors; v++) sums[v] = vf_zero();
    for (; k + apart <= features; k += apart, s += apart * stride) {
        ATTN_UNROLL
        for (int i = 0; i < apart; i++) {
            const vf factor = vf_set1(row[k + i]);
            ATTN_UNROLL
            for (int v = 0; v < vectors; v++)
                sums[i * vectors + v] = vf_mul_add(factor, vf_load(s + i * stride + v * VF_LANES),
                                                   sums[i * vectors + v]);
        }
    }
    for (; apart > 1 && k < features; k++, s += stride) {
        ATTN_UNROLL
        for (int v = 0; v < vectors; v++)
            sums[v] = vf_mul_add(vf_set1(row[k]), vf_load(s + v * VF_LANES), sums[v]);
    }
    ATTN_UNROLL
    for (int i = apart; i > 1; i /= 2) {
        ATTN_UNROLL
        for (int v = 0; v < i / 2 * vectors; v++)
            sums[v] = vf_add(sums[v], sums[v + i / 2 * vectors]);
    }
    ATTN_UNROLL
    for (int v = 0; v < vectors; v++) vf_store(to + c + v * VF_LANES, sums[v]);
}

/* to = rows^T S; a single row, as when decoding, is no tile. */
WORK_STEP void read_state(const work_t *work, const float *rows, int64_t count, float *to) {
    int64_t c = 0;
    if (count > 1) {
        product_ahead_t none = {.rows = 0};
        product(to, work->stride, rows, work->width, work->state->s, work->stride,
                work->form->features, count, work->stride, NULL, 0, &none);
        return;
    }
    for (; c + 8 * VF_LANES <= work->stride; c += 8 * VF_LANES)
        read_columns(work, rows, 8, 1, c, to);
    for (; c + 4 * VF_LANES <= work->stride; c += 4 * VF_LANES)
        read_columns(work, rows, 4, 2, c, to);
    for (; c < work->stride; c += VF_LANES) read_columns(work, rows, 1, 4, c, to);
}

/* The normaliser of row i; `seen` tokens of this step are products. */
WORK_STEP float normaliser(work_t *work, const float *row, int64_t i, int64_t seen) {
    const linear_state_t *state = work->state;
    vf sums = vf_zero(), terms = vf_zero();
    for (int64_t k = 0; k < work->width; k += VF_LANES) {
        const vf x = vf_load(row + i * work->width + k);
        sums = vf_mul_add(x, vf_load(state->z + k), sums);
        terms = vf_mul_add(vf_max(x, vf_sub(vf_zero(), x)), vf_load(state->zabs + k), terms);
    }
    float sum = vf_reduce_add(sums), abs = vf_reduce_add(terms);
    for (int64_t j = 0; j < seen; j++) {
        const float product = work->products[j * STEP + i];
        sum += product;
        abs += fabsf(product);
    }
    const int64_t keys = state->keys + seen;
    const float rounding = FLT_EPSILON * sqrtf((float)(keys + work->form->features));
    if (keys > 0 && !is_normaliser(sum, rounding * abs)) work->drowned |= (uint64_t)1 << i;
    return sum;
}

/* The rows' factors: one over their normalisers, where there are any. */
WORK_STEP void find_factors(work_t *work, const float *rows, int64_t lead, int64_t count,
                            int64_t tokens, float *factors) {
    for (int64_t r = 0; r < lead + count; r++) {
        const int64_t seen = tokens ? r + 1 : 0;
        factors[r] = 1.0f;
        if (r >= lead && work->form->normalise)
            factors[r] = row_factor(normaliser(work, rows, r, seen));
    }
}

/* out[i] = factor * (out[i] + sum_j products[j][i] u_j) for j < seen. */
WORK_STEP void mix_row(const work_t *work, int64_t i, int64_t seen, float factor) {
    float *out = work->out + i * work->stride;
    for (int64_t c = 0; c < work->stride; c += VF_LANES) {
        vf sum = vf_load(out + c);
        for (int64_t j = 0; j < seen; j++)
            sum = vf_mul_add(vf_set1(work->products[j * STEP + i]),
                             vf_load(work->u + j * work->stride + c), sum);
        vf_store(out + c, vf_mul(vf_set1(factor), sum));
    }
}

/* Rows [lead, lead + count) of `out` are those of queries from `first` on; where a factor is 0 they are zeros. */
WORK_STEP void store_rows(work_t *work, int64_t query_head, int64_t first, int64_t count,
                          int64_t lead, const float *factors) {
    const attn_head_t *head = work->head;
    const attn_tensor_t *out = &head->io->out;
    const int64_t stride = work->stride, columns = head->problem->value_dim;
    for (int64_t r = 0; r < count; r++) {
        float *row = work->out + (lead + r) * stride;
        const int64_t offset = attn_offset(out, head->batch, query_head, first + r);
        if (factors[lead + r] == 0.0f) memset(row, 0, (size_t)stride * sizeof *row);
        give_row((char *)out->data + offset * attn_dtype_size(out->dtype), out->dtype,
                 out->stride[3], row, columns);
    }
    work->degenerate += count_rows(
        work->drowned >> lead | rows_not_finite(work->out + lead * stride, stride, count, columns));
    work->drowned = 0;
}

/* linear_recurrence_t.step, of decode.c. */
int64_t ATTN_KERNEL(attn_linear_step)(const attn_head_t *first, const linear_form_t *form,
                                      linear_state_t *states, int64_t count, void *scratch_memory);

#endif
