/*
 * Linear attention from its recurrences (attn/oracle_linear.h), in double, one token after the other.
 *
 * Bounds. u is float's unit roundoff. A feature is off by `err` u: its own rounding and that of the
 * scaled x before it. A computation in float may take tokens one by one or a few at a time, so a term
 * phi(k)_f v_c of the state is rounded at most 3 times when it is made, once in each addition that it
 * passes, of which there is no more than one a token, and, where states decay, 6 times a token (exp within
 * 2 ulp, one product). With T the state of absolute terms, its error E follows the recurrence of S:
 *     E_t = A E_{t-1} + 6 u A T_{t-1} + (err + 3) u |phi v| + u T_t.
 * Delta rules take absolute terms beyond all measure, but their transition T = (I - b k k^T) A does not grow
 * while b |k|^2 <= 2; columns of S are on their own, so that the 2-norm of a column's error is at most
 *     e_t = |T_t ... T_{r+1}| e_r + d_t,   d_t = |T_t| d_{t-1} + what this token rounds,   d_r = 0,
 * for any token r before. |T| is at most max(1, |1 - b |k|^2|) max(A), and of a product it is no more than what
 * these multiply to, and than the product's Frobenius norm, which falls below 1 where keys point everywhere. r is the
 * last token at which it had halved since the r before: so errors that are forgotten are forgotten in e, and
 * however many tokens there are, e is about what is rounded from one r to the next.
 * What a token may round is as large as the terms of the last tokens that are taken together: at most
 * 16, M_t = |s_t| + sum over those of |k| |u|, for which a leaking sum stands.
 * Last, a row adds features terms, and within the tokens taken together 16 more.
 */
#include "linear.h"

#include "attn/random.h"
#include "element.h"

#include <stddef.h>

static const double U = 0x1p-24;
static const double TINY = 0x1p-125; /* float has fewer digits below, or 0 */
enum { TOGETHER = 16 };

/* ---- what a head works on ------------------------------------------------------------------------ */

typedef attn_oracle_work_t work_t;

static double *take(double **scratch, int64_t count) {
    double *piece = *scratch;
    *scratch += count;
    return piece;
}

static int corrects(const attn_oracle_linear_t *form) {
    return form->rule == ATTN_ORACLE_RULE_DELTA || form->rule == ATTN_ORACLE_RULE_GATED_DELTA;
}

static int64_t lay_out_linear(work_t *w, double *scratch) {
    double *const first = scratch;
    const int64_t dim = w->problem->dim, features = w->features, dv = w->dv;
    w->w = take(&scratch, w->form->map == ATTN_ORACLE_FAVOR ? features * dim : 0);
    w->x = take(&scratch, dim);
    double **const vectors[] = {&w->key, &w->key_err, &w->query, &w->query_err,
                                &w->a,   &w->z,       &w->zt,    &w->ze};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = take(&scratch, features);
    w->s = take(&scratch, features * dv);
    w->t = take(&scratch, features * dv);
    w->e = take(&scratch, features * dv);
    w->value = take(&scratch, dv);
    w->leak = take(&scratch, dv);
    w->old = take(&scratch, dv);
    w->since = take(&scratch, dv);
    w->maps = take(&scratch, w->has_delta ? features * features : 0);
    return scratch - first;
}

int64_t attn_oracle_linear_features(const attn_oracle_linear_t *form, int64_t dim) {
    if (form->map == ATTN_ORACLE_FAVOR) return form->features;
    if (form->map == ATTN_ORACLE_TAYLOR2) return 1 + dim + dim * (dim + 1) / 2;
    return dim;
}

int64_t attn_oracle_linear_scratch(const attn_oracle_linear_t *form,
                                   const attn_problem_t *problem) {
    work_t w = {.form = form, .problem = problem, .dv = problem->value_dim};
    w.features = attn_oracle_linear_features(form, problem->dim);
    const int64_t vectors = 8 * w.features + 4 * w.dv + problem->dim;
    const int64_t directions = form->map == ATTN_ORACLE_FAVOR ? w.features * problem->dim : 0;
    const int64_t maps = corrects(form) ? w.features * w.features : 0;
    return vectors + directions + maps + 3 * w.features * w.dv;
}

/* ---- features ------------------------------------------------------------------------------------ */

/*
 * Performer's directions: rows of independent normal numbers, made orthogonal within each block of
 * `dim` (Gram and Schmidt), each with the length that it had (arXiv:2009.14794, Section 2.4).
 */
static void draw_directions(work_t *w) {
    const int64_t dim = w->problem->dim;
    for (int64_t f = 0; f < w->features; f++) {
        double *row = w->w + f * dim, length = 0, rest = 0;
        for (int64_t k = 0; k < dim; k++) {
            row[k] = attn_random_normal(w->form->seed, 0, (uint64_t)(f * dim + k));
            length += row[k] * row[k];
        }
        for (int64_t g = f / dim * dim; g < f; g++) {
            const double *other = w->w + g * dim;
            double dot = 0, square = 0;
            for (int64_t k = 0; k < dim; k++)
                dot += row[k] * other[k], square += other[k] * other[k];
            for (int64_t k = 0; k < dim; k++) row[k] -= dot / square * other[k];
        }
        for (int64_t k = 0; k < dim; k++) rest += row[k] * row[k];
        for (int64_t k = 0; k < dim; k++) row[k] *= sqrt(length / rest);
    }
}

/* phi(x), and |x phi'(x)|: what an error of x's last digit moves it by. */
static double elementwise(int32_t map, double x, double *moves) {
    switch (map) {
    case ATTN_ORACLE_ELU1:
        *moves = fabs(x < 0 ? x * exp(x) : x);
        return x < 0 ? exp(x) : x + 1;
    case ATTN_ORACLE_RELU:
        *moves = x < 0 ? 0 : x;
        return x < 0 ? 0 : x;
    case ATTN_ORACLE_RELU2:
        *moves = x < 0 ? 0 : 2 * x * x;
        return x < 0 ? 0 : x * x;
    case ATTN_ORACLE_EXP:
        *moves = fabs(x * exp(x));
        return exp(x);
    default:
        *moves = fabs(x);
        return x;
    }
}

static void favor(const work_t *w, double *phi, double *err) {
    const int64_t dim = w->problem->dim;
    double square = 0;
    for (int64_t k = 0; k < dim; k++) square += w->x[k] * w->x[k];
    for (int64_t f = 0; f < w->features; f++) {
        double dot = 0, terms = square / 2;
        for (int64_t k = 0; k < dim; k++) {
            dot += w->w[f * dim + k] * w->x[k];
            terms += fabs(w->w[f * dim + k] * w->x[k]);
        }
        phi[f] = exp(dot - square / 2) / sqrt((double)w->features);
        err[f] = phi[f] * (8 + (double)(dim + 8) * terms) + TINY / U;
    }
}

static void taylor2(const work_t *w, double *phi, double *err) {
    const int64_t dim = w->problem->dim;
    double *pair = phi + 1 + dim;
    phi[0] = 1;
    for (int64_t k = 0; k < dim; k++) {
        phi[1 + k] = w->x[k];
        for (int64_t l = k; l < dim; l++) *pair++ = w->x[k] * w->x[l] * (l == k ? sqrt(0.5) : 1);
    }
    for (int64_t f = 0; f < w->features; f++) err[f] = 5 * fabs(phi[f]) + TINY / U;
}

static double scale_of(const work_t *w) {
    const int approximates_softmax =
        w->form->map == ATTN_ORACLE_FAVOR || w->form->map == ATTN_ORACLE_TAYLOR2;
    if (!isnan(w->problem->scale)) return (double)w->problem->scale;
    return approximates_softmax ? 1 / sqrt((double)w->problem->dim) : 1;
}

/* phi of a row, which is multiplied by `factor` first. */
static void map_row(const work_t *w, const attn_tensor_t *tensor, int64_t head, int64_t row,
                    double factor, double *phi, double *err) {
    for (int64_t k = 0; k < w->problem->dim; k++)
        w->x[k] = factor * oracle_element(tensor, w->batch, head, row, k);
    if (w->form->map == ATTN_ORACLE_FAVOR) {
        favor(w, phi, err);
        return;
    }
    if (w->form->map == ATTN_ORACLE_TAYLOR2) {
        taylor2(w, phi, err);
        return;
    }
    for (int64_t k = 0; k < w->features; k++) {
        phi[k] = elementwise(w->form->map, w->x[k], &err[k]);
        err[k] += 5 * fabs(phi[k]) + TINY / U;
    }
}

double attn_oracle_work_query(const work_t *w, int64_t head, int64_t query) {
    const double scale = scale_of(w);
    const double factor =
        w->form->map == ATTN_ORACLE_FAVOR ? copysign(sqrt(fabs(scale)), scale) : scale;
    map_row(w, &w->io->query, head, query, factor, w->query, w->query_err);
    return factor;
}

double attn_oracle_work_key(work_t *w, int64_t key) {
    const attn_oracle_linear_t *form = w->form;
    const double factor = form->map == ATTN_ORACLE_FAVOR ? sqrt(fabs(scale_of(w))) : 1;
    map_row(w, &w->io->key, w->kv_head, key, factor, w->key, w->key_err);
    for (int64_t k = 0; k < w->features; k++) {
        double decay = 0;
        if (w->has_decay && form->decay)
            decay = oracle_element(form->decay, w->batch, w->kv_head, key,
                                   form->decay->shape[3] > 1 ? k : 0);
        else if (w->has_decay && form->retnet)
            decay = log1p(-exp2(-5 - (double)w->kv_head));
        w->a[k] = exp(decay);
    }
    w->beta = 1;
    if (w->has_delta && form->beta)
        w->beta = oracle_element(form->beta, w->batch, w->kv_head, key, 0);
    return factor;
}

/* ---- the state ----------------------------------------------------------------------------------- */

static double norm(const double *row, int64_t count, int64_t stride) {
    double sum = 0;
    for (int64_t k = 0; k < count; k++) sum += row[k * stride] * row[k * stride];
    return sqrt(sum);
}

/* From here on errors are followed anew. */
static void begin_maps(work_t *w) {
    w->growth = 1;
    for (int64_t i = 0; i < w->features * w->features; i++) w->maps[i] = i % (w->features + 1) == 0;
    for (int64_t c = 0; c < w->dv; c++) w->old[c] = w->e[c], w->since[c] = 0;
}

/* maps = (I - b k k^T) A maps. Returns how much larger an error from its beginning may be now. */
static double follow_maps(work_t *w, double grows) {
    const int64_t features = w->features;
    double square = 0;
    for (int64_t j = 0; j < features; j++) {
        double *column = w->maps + j * features, found = 0;
        for (int64_t k = 0; k < features; k++) {
            column[k] *= w->a[k];
            found += w->key[k] * column[k];
        }
        for (int64_t k = 0; k < features; k++) {
            column[k] -= w->beta * found * w->key[k];
            square += column[k] * column[k];
        }
    }
    w->growth *= grows;
    return fmin(w->growth, sqrt(square));
}

work_t attn_oracle_work_begin(const attn_oracle_linear_t *form, const attn_problem_t *problem,
                              const attn_io_t *io, int64_t batch, int64_t head, double *scratch) {
    const int32_t rule = form->rule;
    work_t w = {.form = form, .problem = problem, .io = io, .batch = batch};
    w.kv_head = head / (problem->heads / problem->kv_heads);
    w.features = attn_oracle_linear_features(form, problem->dim);
    w.dv = problem->value_dim;
    w.has_decay = rule == ATTN_ORACLE_RULE_GATED || rule == ATTN_ORACLE_RULE_GATED_DELTA;
    w.has_delta = corrects(form);
    lay_out_linear(&w, scratch);
    if (form->map == ATTN_ORACLE_FAVOR) draw_directions(&w);
    for (int64_t k = 0; k < w.features; k++) {
        w.z[k] = form->state_z ? oracle_element(form->state_z, batch, w.kv_head, k, 0) : 0;
        w.zt[k] = fabs(w.z[k]);
        w.ze[k] = 0;
        for (int64_t c = 0; c < w.dv; c++) {
            const int64_t at = k * w.dv + c;
            w.s[at] = form->state ? oracle_element(form->state, batch, w.kv_head, k, c) : 0;
            w.t[at] = fabs(w.s[at]);
            w.e[at] = 0;
        }
    }
    for (int64_t c = 0; w.has_delta && c < w.dv; c++) {
        w.leak[c] = 0;
        w.t[c] = norm(w.s + c, w.features, w.dv);
    }
    if (w.has_delta) begin_maps(&w);
    return w;
}

static void add_terms(const work_t *w) {
    const double rounds = w->has_decay ? 6 * U : 0;
    for (int64_t k = 0; k < w->features; k++) {
        const double a = w->a[k], off = rounds * a + (w->has_decay ? TINY : 0);
        for (int64_t c = 0; c <= w->dv; c++) { /* the last is z */
            const int64_t at = k * w->dv + c;
            const double value = c < w->dv ? w->value[c] : 1;
            double *s = c < w->dv ? &w->s[at] : &w->z[k], *t = c < w->dv ? &w->t[at] : &w->zt[k];
            double *e = c < w->dv ? &w->e[at] : &w->ze[k];
            *e = a * *e + off * *t;
            *s = a * *s + w->key[k] * value;
            *t = a * *t + fabs(w->key[k] * value);
            *e += U * ((w->key_err[k] + 3 * fabs(w->key[k])) * fabs(value) + *t);
        }
    }
}

static void add_delta(work_t *w) {
    const double size = norm(w->key, w->features, 1), off = norm(w->key_err, w->features, 1);
    const double beta = fabs(w->beta), reach = (double)w->features + 2 * TOGETHER;
    double largest = 0;
    for (int64_t k = 0; k < w->features; k++) largest = fmax(largest, w->a[k]);
    const double grows = largest * fmax(1, fabs(1 - w->beta * size * size));
    const double kept = follow_maps(w, grows);
    for (int64_t c = 0; c < w->dv; c++) {
        double found = 0;
        for (int64_t k = 0; k < w->features; k++) {
            w->s[k * w->dv + c] *= w->a[k];
            found += w->key[k] * w->s[k * w->dv + c];
        }
        const double u = w->beta * (w->value[c] - found);
        for (int64_t k = 0; k < w->features; k++) w->s[k * w->dv + c] += w->key[k] * u;
        w->leak[c] = w->leak[c] * (1 - 1.0 / TOGETHER) + size * fabs(u);
        w->t[c] = norm(w->s + c, w->features, w->dv) + 2.7 * w->leak[c];
        const double rounded =
            8 * w->t[c] + (off + 4 * size) * fabs(u) +
            beta * size * ((reach * size + 2 * off) * w->t[c] + 8 * fabs(w->value[c]));
        w->since[c] = grows * w->since[c] + U * rounded + TINY;
        w->e[c] = kept * w->old[c] + w->since[c];
    }
    if (kept <= 0.5) begin_maps(w);
}

static void absorb(work_t *w, int64_t key) {
    attn_oracle_work_key(w, key);
    for (int64_t c = 0; c < w->dv; c++)
        w->value[c] = oracle_element(&w->io->value, w->batch, w->kv_head, key, c);
    if (w->has_delta)
        add_delta(w);
    else
        add_terms(w);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

typedef struct sum {
    double value, bound;
} sum_t;

/* phi(q).column, whose absolute terms and error are known. */
static sum_t read_column(const work_t *w, const double *s, const double *t, const double *e,
                         int64_t stride) {
    const double reach = (double)w->features + 2 * TOGETHER;
    sum_t sum = {0, 0};
    for (int64_t k = 0; k < w->features; k++) {
        const double q = fabs(w->query[k]);
        sum.value += w->query[k] * s[k * stride];
        sum.bound += q * e[k * stride] + U * (w->query_err[k] + reach * q) * t[k * stride];
    }
    return sum;
}

/* The same by norms. */
static sum_t read_delta(const work_t *w, int64_t c) {
    const double reach = (double)w->features + 2 * TOGETHER;
    const double size = norm(w->query, w->features, 1), off = norm(w->query_err, w->features, 1);
    sum_t sum = {0, size * w->e[c] + U * (off + reach * size) * w->t[c]};
    for (int64_t k = 0; k < w->features; k++) sum.value += w->query[k] * w->s[k * w->dv + c];
    return sum;
}

static void answer(const work_t *w, int64_t query, int is_empty, const attn_oracle_rows_t *rows) {
    sum_t z = {1, 0};
    if (w->form->normalise) z = read_column(w, w->z, w->zt, w->ze, 1);
    if (rows->normaliser) rows->normaliser[query] = z.value;
    if (rows->normaliser_bound) rows->normaliser_bound[query] = z.bound;
    for (int64_t c = 0; rows->out && c < w->dv; c++) {
        const sum_t sum =
            w->has_delta ? read_delta(w, c) : read_column(w, w->s + c, w->t + c, w->e + c, w->dv);
        const int64_t at = query * w->dv + c;
        rows->out[at] = is_empty ? 0 : sum.value / z.value;
        if (!rows->out_bound) continue;
        const double own = fabs(rows->out[at]);
        rows->out_bound[at] =
            is_empty ? 0
            : w->form->normalise
                ? (sum.bound + own * z.bound) / (fabs(z.value) - z.bound) + 2 * U * own + TINY
                : sum.bound + TINY;
    }
}

static void tell_state(const work_t *w, const attn_oracle_rows_t *rows) {
    for (int64_t k = 0; k < w->features; k++) {
        if (rows->z) rows->z[k] = w->z[k];
        if (rows->z_bound) rows->z_bound[k] = w->ze[k];
        for (int64_t c = 0; c < w->dv; c++) {
            const int64_t at = k * w->dv + c;
            if (rows->state) rows->state[at] = w->s[at];
            if (rows->state_bound) rows->state_bound[at] = w->has_delta ? w->e[c] : w->e[at];
        }
    }
}

int64_t attn_oracle_work_keys(const attn_problem_t *problem, const attn_io_t *io, int64_t batch) {
    if (!(problem->inputs & ATTN_INPUT_KV_LENGTHS)) return problem->keys;
    return (int64_t)oracle_element(&io->kv_lengths, batch, 0, 0, 0);
}

void attn_oracle_linear_head(const attn_oracle_linear_t *form, const attn_problem_t *problem,
                             const attn_io_t *io, int64_t batch, int64_t head,
                             const attn_oracle_rows_t *rows, double *scratch) {
    work_t w = attn_oracle_work_begin(form, problem, io, batch, head, scratch);
    const int64_t keys = attn_oracle_work_keys(problem, io, batch);
    int64_t known = 0;
    for (int64_t i = 0; i < problem->queries; i++) {
        int64_t first, last;
        attn_key_range(problem, keys, i, &first, &last);
        while (known < last) absorb(&w, known++);
        attn_oracle_work_query(&w, head, i);
        answer(&w, i, known == 0 && !form->state, rows);
    }
    while (known < keys) absorb(&w, known++);
    tell_state(&w, rows);
}

/* ---- weights ------------------------------------------------------------------------------------- */

void attn_oracle_linear_weights(const attn_oracle_linear_t *form, const attn_problem_t *problem,
                                const attn_io_t *io, int64_t batch, int64_t head, int64_t query,
                                double *weights, double *bounds, double *scratch) {
    work_t w = attn_oracle_work_begin(form, problem, io, batch, head, scratch);
    double *r = w.query, *t = w.zt, *e = w.query_err; /* r, its absolute terms, its error */
    double total = 0, total_terms = 0, total_bound = 0, norm_bound = 0;
    int64_t first, last;
    attn_key_range(problem, attn_oracle_work_keys(problem, io, batch), query, &first, &last);
    attn_oracle_work_query(&w, head, query);
    for (int64_t k = 0; k < w.features; k++) t[k] = fabs(r[k]), e[k] *= U;
    norm_bound = norm(e, w.features, 1);
    for (int64_t j = 0; j < problem->keys; j++) {
        weights[j] = 0;
        if (bounds) bounds[j] = 0;
    }
    const double reach = (double)w.features + 2 * TOGETHER;
    for (int64_t j = last - 1; j >= first; j--) {
        attn_oracle_work_key(&w, j);
        double dot = 0, bound = 0, largest = 0;
        for (int64_t k = 0; k < w.features; k++) {
            dot += w.key[k] * r[k];
            bound += fabs(w.key[k]) * e[k] + U * (w.key_err[k] + reach * fabs(w.key[k])) * t[k];
            largest = fmax(largest, w.a[k]);
        }
        const double size = norm(w.key, w.features, 1), rest = norm(r, w.features, 1);
        if (w.has_delta)
            bound = size * norm_bound + U * (norm(w.key_err, w.features, 1) + reach * size) * rest;
        weights[j] = w.beta * dot;
        if (bounds) bounds[j] = fabs(w.beta) * bound + 2 * U * fabs(weights[j]) + TINY;
        total += weights[j], total_terms += fabs(weights[j]), total_bound += bound;
        const double grows = fmax(1, fabs(1 - w.beta * size * size));
        norm_bound = largest * (grows * norm_bound + fabs(w.beta) * size * U * reach * size * rest +
                                10 * U * (rest + fabs(w.beta * dot) * size));
        for (int64_t k = 0; k < w.features; k++) {
            const double off = w.has_decay ? 6 * U * w.a[k] + TINY : 0;
            e[k] = w.a[k] * e[k] + off * t[k];
            t[k] *= w.a[k];
            r[k] = w.a[k] * (r[k] - (w.has_delta ? weights[j] * w.key[k] : 0));
        }
    }
    if (!form->normalise) return;
    for (int64_t k = 0; k < w.features; k++) {
        total += r[k] * w.z[k], total_terms += fabs(r[k] * w.z[k]);
        total_bound += (e[k] + U * reach * t[k]) * fabs(w.z[k]);
    }
    total_bound += U * (double)(last + TOGETHER) * total_terms; /* the sum's own additions */
    for (int64_t j = first; j < last; j++) {
        weights[j] /= total;
        if (bounds)
            bounds[j] = (bounds[j] + fabs(weights[j]) * total_bound) / (fabs(total) - total_bound) +
                        2 * U * fabs(weights[j]);
    }
}
