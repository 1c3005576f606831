/* matrix.c: see matrix.h. */
#include "matrix.h"

#include "sketch/leverage.h"
#include "sketch/matrices.h"
#include "support/test.h"
#ifdef TEST_SKETCHING
#include "sketching/approximate.h"
#include "sketching/barrier.h"
#include "sketching/scores.h"
#endif

#include <math.h>
#include <stdlib.h>

void *sketch_numbers(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (!memory) test_fail("the test itself has no memory");
    return memory;
}

static void add_draws(const arrays_t *arrays, int64_t batch, int64_t kv_head, int64_t size,
                      double *t) {
    const attn_problem_t *p = &arrays->problem;
    attn_leverage_scratch_t scratch;
    attn_arena_t arena = {.base = NULL};
    attn_leverage_scratch_take(&arena, p, &scratch);
    char *memory = sketch_numbers((int64_t)arena.used, 1);
    attn_sketch_draw_t *draws = sketch_numbers(size, sizeof *draws);
    arena = (attn_arena_t){.base = memory};
    attn_leverage_scratch_take(&arena, p, &scratch);
    attn_leverage_scores(p, &arrays->query.tensor, &arrays->key.tensor, batch, kv_head, &scratch);
    const uint64_t stream = attn_sketch_stream(ATTN_SKETCH_LEVERAGE, batch * p->kv_heads + kv_head);
    attn_leverage_draw(scratch.scores, p->dim, size, SKETCH_SEED, stream, draws);
    for (int64_t c = 0; c < size; c++) t[draws[c].feature * size + c] += (double)draws[c].weight;
    free(draws);
    free(memory);
}

#ifdef TEST_SKETCHING
/* [Q; K] of a key/value head. */
static float *stack(const arrays_t *arrays, int64_t batch, int64_t kv_head, sketching_x_t *x) {
    const attn_problem_t *p = &arrays->problem;
    const int64_t group = p->heads / p->kv_heads, queries = group * p->queries, d = p->dim;
    float *rows = sketch_numbers((queries + p->keys) * d, sizeof *rows);
    for (int64_t i = 0; i < queries + p->keys; i++)
        for (int64_t j = 0; j < d; j++)
            rows[i * d + j] = i < queries
                                  ? array_get(&arrays->query, batch,
                                              kv_head * group + i / p->queries, i % p->queries, j)
                                  : array_get(&arrays->key, batch, kv_head, i - queries, j);
    *x = (sketching_x_t){.rows = queries + p->keys, .columns = d, .dense = rows};
    return rows;
}

/* Theorem 4.2's weights, as `attn sketch` has them. */
static void add_weights(const sketching_features_t *features, int64_t size, double *t) {
    const int64_t d = features->x->columns;
    double *weights = sketch_numbers(d, sizeof *weights);
    sketching_basis_t basis;
    attn_barrier_end_t end;
    int64_t kept = 0;
    if (!sketching_basis_exact(features, &algebra_plain, &basis) ||
        !sketching_barrier(features, &basis, size, weights, &end) || !end.keeps)
        test_fail("no weights");
    for (int64_t j = 0; j < d; j++)
        if (weights[j] > 0) t[j * size + kept++] = (double)(float)sqrt(weights[j]);
    sketching_basis_destroy(&basis);
    free(weights);
}

/* Draws by Algorithm 2's scores, or exact ones where it has none, for the default factor and delta. */
static void add_approximate(const sketching_features_t *features, int64_t head, int64_t size,
                            double *t) {
    double *scores = sketch_numbers(features->x->columns, sizeof *scores);
    attn_sketch_draw_t *draws = sketch_numbers(size, sizeof *draws);
    sketching_basis_t basis = {.matrix = NULL};
    int64_t rank;
    if (sketching_scores_embedded(features, ATTN_SCORES_FACTOR, 0.1 / 4, SKETCH_SEED, &rank,
                                  scores) &&
        (!sketching_basis_exact(features, &algebra_plain, &basis) ||
         !sketching_scores(features, &basis, scores)))
        test_fail("no scores");
    attn_leverage_draw(scores, features->x->columns, size, SKETCH_SEED,
                       attn_sketch_stream(ATTN_SKETCH_LEVERAGE, head), draws);
    for (int64_t c = 0; c < size; c++) t[draws[c].feature * size + c] += (double)draws[c].weight;
    sketching_basis_destroy(&basis);
    free(draws);
    free(scores);
}

static void add_choices(const arrays_t *arrays, int method, int64_t batch, int64_t kv_head,
                        int64_t size, double *t) {
    sketching_x_t x;
    sketching_features_t features;
    float *rows = stack(arrays, batch, kv_head, &x);
    if (!sketching_features_create(&x, &features)) test_fail("no features");
    if (method == ATTN_SKETCH_DETERMINISTIC)
        add_weights(&features, size, t);
    else
        add_approximate(&features, batch * arrays->problem.kv_heads + kv_head, size, t);
    sketching_features_destroy(&features);
    free(rows);
}
#endif

static void add_entries(int64_t dim, int64_t size, double *t) {
    const attn_sketch_part_t all = {0, dim, size, SKETCH_SEED};
    const int64_t sparsity = attn_sketch_sparsity(size, 0);
    attn_sketch_entry_t *entries = sketch_numbers(dim * sparsity, sizeof *entries);
    attn_sketch_osnap(entries, &all, sparsity);
    for (int64_t e = 0; e < dim * sparsity; e++)
        t[e / sparsity * size + entries[e].column] += (double)entries[e].weight;
    free(entries);
}

static void add_hadamard(int64_t dim, int64_t size, double *t) {
    const attn_sketch_srht_t srht = {sketch_numbers(attn_sketch_order(dim), sizeof *srht.columns),
                                     sketch_numbers(dim, sizeof *srht.weights)};
    attn_sketch_srht(&srht, dim, size, SKETCH_SEED);
    for (int64_t j = 0; j < dim; j++)
        for (int64_t c = 0; c < size; c++) {
            int odd = 0;
            for (int64_t common = j & srht.columns[c]; common; common >>= 1) odd ^= common & 1;
            t[j * size + c] = odd ? -(double)srht.weights[j] : (double)srht.weights[j];
        }
    free(srht.columns);
    free(srht.weights);
}

double *sketch_matrix(const arrays_t *arrays, int method, int64_t batch, int64_t kv_head,
                      int64_t size) {
    const int64_t dim = arrays->problem.dim;
    const attn_sketch_part_t all = {0, dim, size, SKETCH_SEED};
    double *t = sketch_numbers(dim * size, sizeof *t);
    float *floats = sketch_numbers(dim * size, sizeof *floats);
    if (method == ATTN_SKETCH_GAUSSIAN) attn_sketch_gaussian(floats, &all);
    if (method == ATTN_SKETCH_AMS) attn_sketch_ams(floats, &all);
    for (int64_t i = 0; i < dim * size; i++) t[i] = (double)floats[i];
    if (method == ATTN_SKETCH_OSNAP) add_entries(dim, size, t);
    if (method == ATTN_SKETCH_SRHT) add_hadamard(dim, size, t);
#ifdef TEST_SKETCHING
    if (method > ATTN_SKETCH_SRHT) add_choices(arrays, method, batch, kv_head, size, t);
#endif
    if (method == ATTN_SKETCH_LEVERAGE) add_draws(arrays, batch, kv_head, size, t);
    free(floats);
    return t;
}
