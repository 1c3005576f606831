/*
 * Gradients of linear attention (attn/oracle_linear.h) in double, token by token, all states kept. Each number goes
 * with its absolute terms, those of a sum added, those of a product multiplied, and with what the errors of features
 * move it by.
 */
#include "linear.h"

#include "element.h"

#include <stddef.h>

typedef attn_oracle_sum_t sum_t;

static sum_t of(double value, double error) { return (sum_t){value, fabs(value), error}; }
static sum_t exact(double value) { return of(value, 0); }
static sum_t minus(sum_t a) { return (sum_t){-a.value, a.absolute, a.error}; }

static sum_t product(sum_t a, sum_t b) {
    return (sum_t){a.value * b.value, a.absolute * b.absolute,
                   a.absolute * b.error + a.error * b.absolute};
}

static void add(sum_t *sum, sum_t a, sum_t b) {
    const sum_t term = product(a, b);
    sum->value += term.value;
    sum->absolute += term.absolute;
    sum->error += term.error;
}

/* 1 / x moves by x's error over x^2. */
static sum_t inverse(const attn_oracle_linear_gradients_t *to, sum_t x) {
    const double size = fabs(x.value);
    const double left = size - to->unit * (to->roundings * x.absolute + x.error);
    if (left <= 0) return (sum_t){1 / x.value, (double)INFINITY, (double)INFINITY};
    return (sum_t){1 / x.value, x.absolute / (size * left), x.error / (size * left)};
}

typedef struct back {
    attn_oracle_work_t w;
    const attn_tensor_t *gradient;
    const attn_oracle_linear_gradients_t *to;
    double *rows;    /* scratch of w */
    int64_t columns; /* dv, and z's */
    int64_t keys;
    sum_t *states;             /* [m + 1][features][columns] */
    sum_t *r;                  /* dL/dS: [features][columns] */
    sum_t *phi, *phi_gradient; /* [features] */
    sum_t *u, *du, *rest;      /* [columns]; rest: v - P^T k */
    sum_t *found;              /* [columns]: of a query */
} back_t;

static int64_t lay_out_linear_backward(back_t *b, const attn_oracle_linear_t *form,
                                       const attn_problem_t *problem, double *scratch) {
    const int64_t features = attn_oracle_linear_features(form, problem->dim);
    const int64_t columns = problem->value_dim + 1, state = features * columns;
    sum_t *at = (sum_t *)(void *)scratch;
    b->columns = columns;
    b->states = at, at += (problem->keys + 1) * state;
    b->r = at, at += state;
    b->phi = at, at += features;
    b->phi_gradient = at, at += features;
    b->u = at, at += columns;
    b->du = at, at += columns;
    b->rest = at, at += columns;
    b->found = at, at += columns;
    b->rows = (double *)(void *)at;
    return b->rows - scratch + attn_oracle_linear_scratch(form, problem);
}

int64_t attn_oracle_linear_backward_scratch(const attn_oracle_linear_t *form,
                                            const attn_problem_t *problem) {
    back_t b;
    double none;
    return lay_out_linear_backward(&b, form, problem, &none);
}

/* ---- phi ------------------------------------------------------------------------------------------- */

/* phi'(x) */
static sum_t slope(int32_t map, double x) {
    const double e = exp(x);
    switch (map) {
    case ATTN_ORACLE_ELU1:
        return x < 0 ? of(e, e * -x) : exact(1);
    case ATTN_ORACLE_RELU:
        return exact(x > 0);
    case ATTN_ORACLE_RELU2:
        return x > 0 ? of(2 * x, 2 * x) : exact(0);
    case ATTN_ORACLE_EXP:
        return of(e, e * fabs(x));
    default:
        return exact(1);
    }
}

static void favor_back(const back_t *b, double factor, sum_t *to) {
    const attn_oracle_work_t *w = &b->w;
    for (int64_t k = 0; k < w->problem->dim; k++) {
        sum_t sum = exact(0);
        for (int64_t f = 0; f < w->features; f++) {
            const sum_t e = product(b->phi[f], b->phi_gradient[f]);
            add(&sum, e, exact(w->w[f * w->problem->dim + k]));
            add(&sum, e, exact(-w->x[k]));
        }
        to[k] = product(sum, exact(factor));
    }
}

static void taylor2_back(const back_t *b, double factor, sum_t *to) {
    const attn_oracle_work_t *w = &b->w;
    const int64_t dim = w->problem->dim;
    const sum_t *pair = b->phi_gradient + 1 + dim;
    for (int64_t k = 0; k < dim; k++) to[k] = b->phi_gradient[1 + k];
    for (int64_t k = 0; k < dim; k++)
        for (int64_t l = k; l < dim; l++, pair++) {
            const double half = l == k ? sqrt(0.5) : 1;
            add(&to[k], *pair, exact(half * w->x[l]));
            add(&to[l], *pair, exact(half * w->x[k]));
        }
    for (int64_t k = 0; k < dim; k++) to[k] = product(to[k], exact(factor));
}

/* From dL/dphi to the row before phi, which x is `factor` times of. */
static void phi_back(const back_t *b, double factor, sum_t *to) {
    if (b->w.form->map == ATTN_ORACLE_FAVOR) {
        favor_back(b, factor, to);
    } else if (b->w.form->map == ATTN_ORACLE_TAYLOR2) {
        taylor2_back(b, factor, to);
    } else {
        for (int64_t k = 0; k < b->w.features; k++)
            to[k] = product(product(b->phi_gradient[k], slope(b->w.form->map, b->w.x[k])),
                            exact(factor));
    }
}

static void take_phi(const back_t *b, const double *phi, const double *err) {
    for (int64_t f = 0; f < b->w.features; f++) b->phi[f] = of(phi[f], err[f]);
}

/* ---- keys ------------------------------------------------------------------------------------------ */

static sum_t *state_of(const back_t *b, int64_t keys) {
    return b->states + keys * b->w.features * b->columns;
}

/* A_t S_{t-1} */
static sum_t kept(const back_t *b, int64_t key, int64_t f, int64_t c) {
    return product(exact(b->w.a[f]), state_of(b, key)[f * b->columns + c]);
}

/* phi(k), v - P^T k and u of a key; returns the factor of x. */
static double take_key(back_t *b, int64_t key) {
    attn_oracle_work_t *w = &b->w;
    const double factor = attn_oracle_work_key(w, key);
    take_phi(b, w->key, w->key_err);
    for (int64_t c = 0; c < b->columns; c++) {
        sum_t rest = exact(1);
        if (c < w->dv) rest = exact(oracle_element(&w->io->value, w->batch, w->kv_head, key, c));
        for (int64_t f = 0; w->has_delta && f < w->features; f++)
            add(&rest, b->phi[f], minus(kept(b, key, f, c)));
        b->rest[c] = rest;
        b->u[c] = product(exact(w->beta), rest);
    }
    return factor;
}

static void absorb(back_t *b, int64_t key) {
    sum_t *next = state_of(b, key + 1);
    take_key(b, key);
    for (int64_t f = 0; f < b->w.features; f++)
        for (int64_t c = 0; c < b->columns; c++) {
            next[f * b->columns + c] = kept(b, key, f, c);
            add(&next[f * b->columns + c], b->phi[f], b->u[c]);
        }
}

static void key_back(back_t *b, int64_t key) {
    const attn_oracle_work_t *w = &b->w;
    const attn_oracle_linear_gradients_t *to = b->to;
    const double factor = take_key(b, key);
    const sum_t beta = exact(w->beta);
    to->beta[key] = exact(0);
    for (int64_t c = 0; c < b->columns; c++) {
        b->du[c] = exact(0);
        for (int64_t f = 0; f < w->features; f++)
            add(&b->du[c], b->phi[f], b->r[f * b->columns + c]);
        if (c == w->dv) continue;
        to->value[key * w->dv + c] = product(beta, b->du[c]);
        add(&to->beta[key], b->du[c], b->rest[c]);
    }
    for (int64_t f = 0; f < w->features; f++) {
        sum_t *decay = &to->decay[key * w->features + f];
        b->phi_gradient[f] = *decay = exact(0);
        for (int64_t c = 0; c < b->columns; c++) {
            sum_t *r = &b->r[f * b->columns + c];
            add(&b->phi_gradient[f], *r, b->u[c]);
            if (w->has_delta) {
                const sum_t taken = minus(product(beta, b->du[c]));
                add(&b->phi_gradient[f], kept(b, key, f, c), taken);
                add(r, b->phi[f], taken);
            }
            add(decay, *r, kept(b, key, f, c));
            *r = product(*r, exact(w->a[f]));
        }
    }
    phi_back(b, factor, to->key + key * w->problem->dim);
}

/* ---- queries --------------------------------------------------------------------------------------- */

/* G, and by the normaliser, in `found`. */
static void find_change(const back_t *b, int64_t head, int64_t query, const sum_t *state) {
    const attn_oracle_work_t *w = &b->w;
    sum_t factor = exact(1), loss = exact(0);
    for (int64_t c = 0; c < b->columns; c++) {
        b->found[c] = exact(0);
        for (int64_t f = 0; f < w->features; f++)
            add(&b->found[c], b->phi[f], state[f * b->columns + c]);
    }
    if (w->form->normalise && fabs(b->found[w->dv].value) < 0x1p-126)
        factor = exact(0); /* the row is zeros */
    else if (w->form->normalise)
        factor = inverse(b->to, b->found[w->dv]);
    for (int64_t c = 0; c < w->dv; c++) {
        const sum_t change = exact(oracle_element(b->gradient, w->batch, head, query, c));
        add(&loss, change, b->found[c]);
        b->found[c] = product(factor, change);
    }
    b->found[w->dv] = w->form->normalise ? minus(product(product(factor, factor), loss)) : exact(0);
}

/* A query that sees so many keys. */
static void query_back(const back_t *b, int64_t head, int64_t query, int64_t keys) {
    const attn_oracle_work_t *w = &b->w;
    const int64_t dim = w->problem->dim, group = w->problem->heads / w->problem->kv_heads;
    const sum_t *state = state_of(b, keys);
    sum_t *to = b->to->query + (head % group * w->problem->queries + query) * dim;
    for (int64_t k = 0; k < dim; k++) to[k] = exact(0);
    if (keys == 0 && !w->form->state) return;
    const double factor = attn_oracle_work_query(w, head, query);
    take_phi(b, w->query, w->query_err);
    find_change(b, head, query, state);
    for (int64_t f = 0; f < w->features; f++) {
        b->phi_gradient[f] = exact(0);
        for (int64_t c = 0; c < b->columns; c++) {
            add(&b->phi_gradient[f], state[f * b->columns + c], b->found[c]);
            add(&b->r[f * b->columns + c], b->phi[f], b->found[c]);
        }
    }
    phi_back(b, factor, to);
}

static void queries_back(const back_t *b, int64_t keys) {
    const attn_problem_t *problem = b->w.problem;
    const int64_t group = problem->heads / problem->kv_heads;
    for (int64_t h = b->w.kv_head * group; h < (b->w.kv_head + 1) * group; h++)
        for (int64_t i = 0; i < problem->queries; i++) {
            int64_t first, last;
            attn_key_range(problem, b->keys, i, &first, &last);
            if (last == keys) query_back(b, h, i, keys);
        }
}

/* ---- the head -------------------------------------------------------------------------------------- */

static void begin_sums(const back_t *b) {
    const attn_oracle_work_t *w = &b->w;
    const attn_oracle_linear_gradients_t *to = b->to;
    const int64_t keys = w->problem->keys, dim = w->problem->dim;
    for (int64_t i = 0; i < keys * dim; i++) to->key[i] = exact(0);
    for (int64_t i = 0; i < keys * w->dv; i++) to->value[i] = exact(0);
    for (int64_t i = 0; i < keys * w->features; i++) to->decay[i] = exact(0);
    for (int64_t i = 0; i < keys; i++) to->beta[i] = exact(0);
    for (int64_t f = 0; f < w->features; f++)
        for (int64_t c = 0; c < b->columns; c++) {
            b->r[f * b->columns + c] = exact(0);
            b->states[f * b->columns + c] = exact(c < w->dv ? w->s[f * w->dv + c] : w->z[f]);
        }
}

void attn_oracle_linear_backward(const attn_oracle_linear_t *form, const attn_problem_t *problem,
                                 const attn_io_t *io, const attn_tensor_t *gradient, int64_t batch,
                                 int64_t kv_head, const attn_oracle_linear_gradients_t *to,
                                 double *scratch) {
    back_t b = {.gradient = gradient, .to = to};
    const int64_t head = kv_head * (problem->heads / problem->kv_heads);
    lay_out_linear_backward(&b, form, problem, scratch);
    b.w = attn_oracle_work_begin(form, problem, io, batch, head, b.rows);
    b.keys = attn_oracle_work_keys(problem, io, batch);
    begin_sums(&b);
    for (int64_t j = 0; j < b.keys; j++) absorb(&b, j);
    for (int64_t j = b.keys; j >= 0; j--) {
        queries_back(&b, j);
        if (j > 0) key_back(&b, j - 1);
    }
    for (int64_t f = 0; f < b.w.features; f++)
        for (int64_t c = 0; c < b.columns; c++) {
            sum_t *sum = c < b.w.dv ? &to->state[f * b.w.dv + c] : &to->state_z[f];
            *sum = b.r[f * b.columns + c];
        }
}
