/*
 * labs/separation/entries.c: the lemmas of arXiv:2310.11685 about single entries of u, f and c, which have no
 * randomness: what each part allows, and the largest part of it that is taken. f and c are the plugins'.
 */
#include "labs/separation/entries.h"

#include "attn/support.h"
#include "labs/head.h"

#include <math.h>
#include <stdlib.h>

enum relation { EQUAL, AT_MOST, AT_LEAST };

/* What a part of a lemma says of an entry. */
typedef struct claim {
    enum relation relation;
    double value;
} claim_t;

/* One lemma's data, and the numbers that its claims are made of. */
typedef struct subject {
    const separation_t *what;
    int set, lin; /* D0 or D1; exp or the identity */
    double n, log_n, t, a;
} subject_t;

/* Where an entry stands: its row and its key (or column) are the mark's, or in the row's block. */
typedef struct place {
    int row, key, block;
} place_t;

static double power(const subject_t *of, double exponent) { return exp(exponent * of->log_n); }

/* ---- u and f ------------------------------------------------------------------------------------- */

static claim_t claim_u(const subject_t *of, place_t at) {
    const double a = of->a, b = of->what->b, c = of->what->c;
    const int both = at.row && at.key;
    double product; /* over log n */
    if (of->what->net == SEPARATION_SELF)
        product = c * c + (both ? a * a + b * b : at.block ? b * b : 0);
    else if (of->what->net == SEPARATION_SELF_ONES)
        product = (at.row ? 1 + a : 1) * (at.key ? 1 + a : 1);
    else
        product = both ? 1 + a : 1;
    return (claim_t){EQUAL, of->lin ? product * of->log_n : power(of, product)};
}

static claim_t claim_f_other(const subject_t *of, place_t at) {
    const double b = of->what->b;
    if (of->what->net == SEPARATION_CROSS) return (claim_t){EQUAL, 1 / of->n};
    if (of->what->net == SEPARATION_SELF)
        return (claim_t){AT_MOST, at.block ? power(of, b * b - 1) : 1 / of->n};
    if (!at.key) return (claim_t){AT_MOST, 1 / of->n};
    return (claim_t){AT_MOST, of->lin ? (1 + of->a) / of->n : power(of, of->a - 1)};
}

static claim_t claim_f(const subject_t *of, place_t at) {
    const double a = of->a, b = of->what->b;
    if (!at.row) return claim_f_other(of, at);
    if (!at.key)
        return (claim_t){AT_MOST,
                         of->what->net == SEPARATION_SELF ? power(of, b * b - 1) : 1 / of->n};
    if (of->lin) return (claim_t){AT_MOST, (1 + a) / of->n};
    if (of->set == 1) return (claim_t){AT_LEAST, 0.5};
    return (claim_t){AT_MOST, power(of, of->what->net == SEPARATION_CROSS ? a - 1 : 2 * a - 1)};
}

/* ---- c ------------------------------------------------------------------------------------------- */

enum {
    FIRST,
    OWN,
    REST,
    LAST
}; /* columns of c: the mark's; its block's; other blocks'; the constant one */

/* What weight the mark and a block have at most; the entries of the values are 1 (cross) or a s, b s, c s. */
static claim_t claim_c_cross(const subject_t *of, int row, int column) {
    const double uniform = (column == FIRST ? 1 : of->t) / of->n;
    if (!row) return (claim_t){AT_MOST, uniform};
    if (of->lin) return (claim_t){AT_MOST, (1 + of->a) * uniform};
    if (of->set == 0) return (claim_t){AT_MOST, power(of, of->a) * uniform};
    return column == REST ? (claim_t){AT_MOST, uniform} : (claim_t){AT_LEAST, 0.5};
}

static claim_t claim_c_softmax(const subject_t *of, int row, int column) {
    const double b = of->what->b, uniform = of->t / of->n;
    const int self = of->what->net == SEPARATION_SELF;
    const double mark = self ? power(of, b * b - 1) : power(of, (row ? 2 * of->a : of->a) - 1);
    const double block = self ? of->t * mark : uniform;
    if (of->set == 1 && row && column != REST) return (claim_t){AT_LEAST, 0.5};
    if (column == FIRST) return (claim_t){AT_MOST, mark};
    if (of->set == 0 && column == OWN) return (claim_t){AT_MOST, mark + (of->t - 1) / of->n};
    return (claim_t){AT_MOST, block};
}

static claim_t claim_c(const subject_t *of, int row, int column) {
    const double unit = sqrt(of->log_n);
    claim_t claim;
    if (of->what->net == SEPARATION_CROSS) return claim_c_cross(of, row, column);
    if (column == LAST) return (claim_t){EQUAL, of->what->c * unit};
    if (of->lin)
        claim = (claim_t){AT_MOST, (1 + of->a) / of->n * (column == FIRST ? 1 : of->t)};
    else
        claim = claim_c_softmax(of, row, column);
    claim.value *= unit * (column == FIRST ? of->a : of->what->b);
    return claim;
}

/* ---- entries ------------------------------------------------------------------------------------- */

static void take(claim_t claim, double measured, double *part) {
    double ratio = measured / claim.value;
    if (claim.relation == AT_LEAST) ratio = 1 / ratio;
    if (claim.relation == EQUAL) ratio = fmax(ratio, 1 / ratio);
    if (!(ratio <= *part)) *part = ratio; /* also what is no number */
}

static double logit(const float *query, const float *key, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++) sum += (double)query[k] * (double)key[k];
    return sum;
}

typedef struct arrays {
    separation_arrays_t of;
    float *weights;
} arrays_t;

static void release(arrays_t *arrays) {
    free(arrays->of.query);
    free(arrays->of.key);
    free(arrays->of.signs);
    free(arrays->of.out);
    free(arrays->weights);
}

static int allocate(const separation_t *what, arrays_t *arrays) {
    const size_t d = (size_t)what->d, queries = (size_t)what->queries, n = (size_t)what->n;
    arrays->of.query = malloc(2 * queries * d * sizeof(float));
    arrays->of.key = malloc(2 * n * d * sizeof(float));
    arrays->of.signs = malloc(d * (size_t)what->stride * sizeof(float));
    arrays->of.out = malloc(queries * d * sizeof(float));
    arrays->weights = malloc(queries * n * sizeof(float));
    return arrays->of.query && arrays->of.key && arrays->of.signs && arrays->of.out &&
           arrays->weights;
}

/* A row's block: the column beside the first that is not 0. */
static int64_t block_of(const float *row) {
    int64_t k = 1;
    while (row[k] == 0) k++;
    return k;
}

static int64_t marked(const separation_t *what, const float *key) {
    int64_t j = 0;
    while (j < what->n - 1 && key[j * what->d] == 0) j++;
    return j;
}

/* u and f of one row, over all keys. */
static void take_row(const subject_t *of, const float *query, const float *key,
                     const float *weights, int is_mark, double *parts) {
    const separation_t *what = of->what;
    const int64_t d = what->d, mark = marked(what, key);
    for (int64_t j = 0; j < what->n; j++) {
        place_t at = {is_mark, j == mark, 0};
        if (what->net == SEPARATION_SELF) at.block = block_of(query) == block_of(key + j * d);
        const double product = logit(query, key + j * d, d);
        double *part = parts + 2 * !at.row + !at.key;
        take(claim_u(of, at), of->lin ? product : exp(product), part);
        take(claim_f(of, at), (double)weights[j], part + 4);
    }
}

static void take_output(const subject_t *of, const float *key, const float *out, int is_mark,
                        double *parts) {
    const separation_t *what = of->what;
    const int64_t d = what->d, own = block_of(key + marked(what, key) * d);
    for (int64_t k = 0; k < d; k++) {
        const int last = what->net != SEPARATION_CROSS && k == d - 1;
        const int column = k == 0 ? FIRST : last ? LAST : k == own ? OWN : REST;
        take(claim_c(of, is_mark, column), (double)out[k], parts + 4 * !is_mark + column);
    }
}

static attn_status_t take_all(const subject_t *of, const attn_context_t *context, int is_output,
                              const arrays_t *arrays, double *parts, attn_error_t *error) {
    static const attn_param_t lin[] = {{"feature_map", "lin"}};
    const separation_t *what = of->what;
    const int64_t d = what->d, n = what->n, queries = what->queries;
    const float *query = arrays->of.query + of->set * queries * d;
    const float *key = arrays->of.key + of->set * n * d;
    const attn_problem_t problem = head_problem(queries, n, d, d);
    head_t head;
    attn_status_t status = head_create(context, of->lin ? "linear" : "softmax", &problem, lin,
                                       of->lin ? 1 : 0, &head, error);
    if (status) return status;
    status = is_output ? head_run(&head, query, key, key, arrays->of.out, NULL, error)
                       : head_weights(&head, query, key, 0, queries, arrays->weights, error);
    for (int64_t q = 0; q < queries && !status; q++) {
        const int is_mark = q == queries - 1; /* rows that are asked once each: separation.h */
        if (is_output)
            take_output(of, key, arrays->of.out + q * d, is_mark, parts);
        else
            take_row(of, query + q * d, key, arrays->weights + q * n, is_mark, parts);
    }
    head_destroy(&head);
    return status;
}

attn_status_t separation_entries(const lab_point_t *point, const separation_t *what,
                                 const separation_lemma_t *lemma, double *parts,
                                 attn_error_t *error) {
    const int64_t kinds = what->d - (what->net == SEPARATION_CROSS ? 1 : 2);
    const subject_t of = {.what = what,
                          .set = lemma->set,
                          .lin = lemma->lin,
                          .n = (double)what->n,
                          .log_n = log((double)what->n),
                          .t = (double)(what->n / kinds),
                          .a = what->a[lemma->set]};
    arrays_t arrays = {.weights = NULL};
    attn_status_t status = ATTN_ERROR_MEMORY;
    for (int p = 0; p < SEPARATION_PARTS; p++) parts[p] = -INFINITY;
    if (allocate(what, &arrays)) {
        separation_draw(what, point, 0, &arrays.of);
        status = take_all(&of, point->run->context, lemma->is_output, &arrays, parts, error);
    } else {
        attn_fail(error, status, "no memory for n = %lld", (long long)what->n);
    }
    release(&arrays);
    for (int p = 0; p < SEPARATION_PARTS; p++)
        if (isinf(parts[p]) && parts[p] < 0) parts[p] = NAN; /* the lemma has no such part */
    return status;
}
