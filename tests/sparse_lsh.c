/*
 * sparse over the keys of a query's buckets: as a mask of all pairs would. Queries and keys are small whole
 * numbers and rotations have few bits, so that the oracle's buckets, in double, are those of floats.
 */
#include "attn/random.h"
#include "sparse/kernels.h"
#include "sparse_scene.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct lsh {
    int64_t buckets, rounds, seed;
    int shared;
} lsh_t;

/* ---- the oracle ------------------------------------------------------------------------------------- */

/* [rounds][dim][buckets / 2], of few bits */
static double *rotations(const lsh_t *lsh, int64_t dim) {
    const int64_t size = dim * (lsh->buckets / 2);
    double *entries = malloc((size_t)(lsh->rounds * size + 1) * sizeof *entries);
    assert_non_null(entries);
    for (int64_t i = 0; i < lsh->rounds * size; i++) {
        const double normal =
            attn_random_normal((uint64_t)lsh->seed, (uint64_t)(i / size), (uint64_t)(i % size));
        entries[i] = floor(normal * 4096 + 0.5) / 4096;
    }
    return entries;
}

/* argmax [xR; -xR] of a token, the first of equal ones. */
static int64_t bucket_of(const lsh_t *lsh, const double *x, int64_t dim, const double *matrix) {
    const int64_t half = lsh->buckets / 2;
    double most = -INFINITY;
    int64_t best = 0;
    for (int64_t bucket = 0; half && bucket < lsh->buckets; bucket++) {
        double y = 0;
        for (int64_t k = 0; k < dim; k++) y += x[k] * matrix[k * half + bucket % half];
        if (bucket >= half) y = -y;
        if (y > most) most = y, best = bucket;
    }
    return best;
}

/* [batch][heads][tokens][rounds] */
static int64_t *all_buckets(const lsh_t *lsh, const attn_tensor_t *x) {
    const int64_t dim = x->shape[3], tokens = x->shape[0] * x->shape[1] * x->shape[2];
    int64_t *buckets = malloc((size_t)(tokens * lsh->rounds) * sizeof *buckets);
    assert_non_null(buckets);
    double *matrices = rotations(lsh, dim), row[64];
    for (int64_t t = 0; t < tokens; t++) {
        const int64_t head = t / x->shape[2];
        for (int64_t k = 0; k < dim; k++)
            row[k] = typed_get(x, head / x->shape[1], head % x->shape[1], t % x->shape[2], k);
        for (int64_t round = 0; round < lsh->rounds; round++)
            buckets[t * lsh->rounds + round] =
                bucket_of(lsh, row, dim, matrices + round * dim * (lsh->buckets / 2));
    }
    free(matrices);
    return buckets;
}

static int share(const int64_t *a, const int64_t *b, int64_t rounds) {
    for (int64_t round = 0; round < rounds; round++)
        if (a[round] == b[round]) return 1;
    return 0;
}

/* Sets which pairs are kept; returns how many. */
static int64_t keep(const lsh_t *lsh, scene_t *s) {
    const attn_problem_t *p = &s->problem;
    const int64_t group = p->heads / p->kv_heads, rounds = lsh->rounds;
    int64_t *queries = all_buckets(lsh, &s->io.query), *keys = all_buckets(lsh, &s->io.key);
    int64_t count = 0;
    FOR_EACH_ROW(p, at) {
        const int64_t query = (at[0] * p->heads + at[1]) * p->queries + at[2];
        const int64_t first = (at[0] * p->kv_heads + at[1] / group) * p->keys;
        for (int64_t j = 0; j < p->keys; j++) {
            const int kept = exact_sees(p, &s->io, at[0], at[1], at[2], j) &&
                             share(queries + query * rounds, keys + (first + j) * rounds, rounds);
            typed_set(&s->kept, at[0], at[1], at[2], j, kept);
            count += kept;
        }
    }
    free(queries);
    free(keys);
    return count;
}

/* Reformer's -10^5 on a query's own position, beside the bias. */
static void add_offset(scene_t *s) {
    const attn_problem_t *p = &s->problem;
    s->offset = typed_create(ATTN_F32, LAYOUT_BHND, SHAPE(p->batch, p->heads, p->queries, p->keys));
    FOR_EACH_ROW(p, at)
    for (int64_t j = 0; j < p->keys; j++) {
        const double bias =
            s->bias.tensor.data ? typed_get(&s->bias.tensor, 0, at[1], at[2], j) : 0;
        const int own = exact_position(p, &s->io, at[0], at[2]) == j;
        typed_set(&s->offset, at[0], at[1], at[2], j, own ? bias - 1e5 : bias);
    }
}

static scene_t create(const attn_problem_t *problem, uint64_t number, const lsh_t *lsh) {
    scene_t s = scene_create(problem, number);
    snprintf(s.settings, sizeof s.settings,
             "pattern=lsh,buckets=%" PRId64 ",rounds=%" PRId64 ",seed=%" PRId64 ",shared=%s",
             lsh->buckets, lsh->rounds, lsh->seed, lsh->shared ? "true" : "false");
    if (lsh->shared) add_offset(&s);
    return s;
}

/* ---- runs -------------------------------------------------------------------------------------------- */

/* One bucket, and more buckets than there are keys; rows that see no key. */
static void equals_a_mask(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{70, 70}, {1, 100}, {17, 400}, {40, 13}, {5, 3}, {1, 1}};
    static const lsh_t all[] = {{1, 1, 1, 0}, {2, 1, 2, 0},  {8, 1, 3, 0},   {8, 4, 4, 1},
                                {4, 2, 5, 1}, {34, 2, 6, 0}, {512, 8, 7, 0}, {1, 3, 8, 1}};
    attn_context_t *context = fixture_context(2);
    uint64_t number = 0;
    for (size_t n = 0; n < TEST_COUNT(sizes); n++)
        for (size_t k = 0; k < TEST_COUNT(all); k++)
            for (int turn = 0; turn < 4; turn++, number++) {
                const attn_problem_t problem = scene_problem(number, sizes[n], turn ? 9 : 2);
                if (!test_takes_case()) continue;
                scene_t s = create(&problem, number, &all[k]);
                keep(&all[k], &s);
                if (!all[k].shared) scene_spoil_values(&s); /* else a query's own weight is 0 */
                scene_check(context, &s);
            }
    attn_context_destroy(context);
}

/* More rounds keep more pairs, other seeds others; so many as one expects: of 8 buckets about an eighth. */
static void rounds_and_seeds(void **state) {
    (void)state;
    static const int64_t sizes[2] = {150, 150};
    const attn_problem_t problem = scene_problem(0, sizes, 9);
    const double pairs = 2 * 4 * 150.0 * 150.0;
    int64_t counts[4];
    for (int t = 0; t < 4; t++) {
        const lsh_t lsh = {8, t < 2 ? 1 : t, t ? 1 : 2, 0};
        scene_t s = create(&problem, 0, &lsh);
        counts[t] = keep(&lsh, &s);
        scene_destroy(&s);
    }
    assert_true(counts[0] != counts[1]);
    assert_true(counts[1] < counts[2] && counts[2] < counts[3]);
    assert_true((double)counts[1] > 0.08 * pairs && (double)counts[1] < 0.2 * pairs);
}

/* A value that no bucket of the query has tells nothing, even where it is NaN. */
static void poison(void **state) {
    (void)state;
    const lsh_t lsh = {8, 2, 1, 0};
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 60, 90, 6, 4);
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    scene_t s = create(&problem, 1, &lsh);
    keep(&lsh, &s);
    for (int64_t k = 0; k < 4; k++) typed_set(&s.value, 0, 0, 40, k, NAN);
    attn_plan_t *plan = scene_plan(context, &s);
    scene_run(plan, &s);
    for (int64_t i = 0; i < 60; i++)
        assert_int_equal(isnan(typed_get(&s.io.out, 0, 0, i, 1)) != 0,
                         typed_get(&s.kept.tensor, 0, 0, i, 40) != 0);
    attn_plan_destroy(plan);
    scene_destroy(&s);
    attn_context_destroy(context);
}

/* A key that an earlier round has seen adds nothing once more: not 0 times an infinite value. */
static void infinite_values(void **state) {
    (void)state;
    const lsh_t lsh = {1, 3, 1, 0};
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 1, 20, 50, 6, 4);
    scene_t s = create(&problem, 0, &lsh);
    keep(&lsh, &s);
    for (int64_t k = 0; k < 4; k++) typed_set(&s.value, 0, 0, 30, k, INFINITY);
    attn_plan_t *plan = scene_plan(context, &s);
    scene_run(plan, &s);
    for (int64_t i = 0; i < 20; i++)
        assert_true(typed_get(&s.io.out, 0, 0, i, 1) == (double)INFINITY);
    attn_plan_destroy(plan);
    scene_destroy(&s);
    attn_context_destroy(context);
}

/*
 * Columns that are equal in real numbers, as pairs of equal features have their terms exchanged: which is the
 * largest is a matter of rounding, and has to be that of sums in order.
 */
enum { DIM = 40, COLUMNS = 48 };

static float in_order(const float *x, const float *matrix, int64_t column) {
    float sum = 0.0f;
    for (int64_t k = 0; k < DIM; k++) {
        const float term = x[k] * matrix[k * COLUMNS + column];
        sum = sum + term;
    }
    return sum;
}

static void tiers_choose_alike(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const sparse_kernels_t *kernels = attn_sparse_kernels(attn_context_tier(context));
    float rows[ROTATED * DIM], matrix[DIM * COLUMNS], codes[ROTATED];
    const sparse_rotation_t rotation = {matrix, COLUMNS - 3, COLUMNS};
    for (uint64_t turn = 0; turn < 200; turn++) {
        for (uint64_t k = 0; k < ROTATED * DIM; k++)
            rows[k] = (float)attn_random_normal(turn, 1, k / 2);
        for (int64_t k = 0; k < DIM; k++)
            for (int64_t c = 0; c < COLUMNS; c++)
                matrix[k * COLUMNS + c] =
                    (float)attn_random_normal(turn, 2, (uint64_t)(k ^ (c >> (k / 2) % 6 & 1)));
        kernels->rotate(rows, DIM, &rotation, codes);
        for (int64_t i = 0; i < ROTATED; i++) {
            float most = -INFINITY;
            int64_t best = 0;
            for (int64_t code = 0; code < 2 * rotation.columns; code++) {
                const float sum = in_order(rows + i * DIM, matrix, code % rotation.columns);
                const float y = code < rotation.columns ? sum : -sum;
                if (y > most) most = y, best = code;
            }
            assert_int_equal((int64_t)codes[i], best);
        }
    }
    attn_context_destroy(context);
}

/* ---- what a plan says ---------------------------------------------------------------------------------- */

static void cost_and_facts(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_problem_t problem = fixture_problem(1, 2, 100, 100, 4, 4);
    attn_plan_t *plan = fixture_plan(context, "sparse", &problem, "pattern=lsh,rounds=3");
    attn_cost_t cost = {.struct_size = sizeof cost};
    assert_int_equal(attn_plan_cost(plan, &cost, NULL), ATTN_OK);
    assert_true(isnan(cost.pairs));                       /* a run's arrays decide */
    assert_true(fixture_fact(plan, "buckets", -1) == 14); /* blocks of 8 */
    assert_true(fixture_fact(plan, "rounds", -1) == 3);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

static void refuses(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 1, 5, 5, 4, 4);
    fixture_refuse_plan(context, "sparse", &problem, "pattern=lsh,buckets=7", ATTN_ERROR_RANGE,
                        "buckets|7|even");
    fixture_refuse_plan(context, "sparse", &problem, "pattern=lsh,rounds=9", ATTN_ERROR_RANGE,
                        "rounds");
    fixture_refuse_plan(context, "sparse", &problem, "pattern=lsh,rounds=0", ATTN_ERROR_RANGE,
                        "rounds");
    problem.backward = 1;
    fixture_refuse_plan(context, "sparse", &problem, "pattern=lsh", ATTN_ERROR_UNSUPPORTED,
                        "lsh|gradients");
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(equals_a_mask), cmocka_unit_test(rounds_and_seeds),
          cmocka_unit_test(poison), cmocka_unit_test(infinite_values),
          cmocka_unit_test(tiers_choose_alike), cmocka_unit_test(cost_and_facts),
          cmocka_unit_test(refuses))
