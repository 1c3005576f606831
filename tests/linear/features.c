/*
 * linear: the two maps that stand for softmax's exponential, by what they are for and not by a twin: favor's
 * directions are orthogonal in blocks, as long as normal vectors, and its products exp(scale q.k) on average over
 * seeds; taylor2's are 1 + s + s^2 / 2.
 */
#include "support/test.h"
#include "trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 3, DIM = 5, FEATURES = 2 * DIM + 2 };

/* How many standard deviations a mean may be off: by chance one in two million is more. */
static const double SIGMAS = 5;

/* phi(q_i).phi(k_0) for each of the queries, as the sum of one value of 1; phi(k_0) as the state that it leaves. */
static void run_features(const attn_context_t *context, const char *settings, float scale,
                         const float query[ROWS][DIM], const float key[DIM], float out[ROWS],
                         float *state, int64_t features) {
    attn_problem_t problem = fixture_problem(1, 1, ROWS, 1, DIM, 1);
    problem.scale = scale;
    const float one = 1;
    const attn_tensor_t s = attn_tensor_bhnd(state, 1, 1, features, 1);
    const attn_tensor_t *own[OWN] = {[STATE_OUT] = &s};
    attn_plan_t *plan = fixture_plan(context, "linear", &problem, settings);
    attn_io_t io = {.struct_size = sizeof io, .own = own, .own_count = OWN};
    io.query = attn_tensor_bhnd((float *)(uintptr_t)query, 1, 1, ROWS, DIM);
    io.key = attn_tensor_bhnd((float *)(uintptr_t)key, 1, 1, 1, DIM);
    io.value = attn_tensor_bhnd((float *)(uintptr_t)&one, 1, 1, 1, 1);
    io.out = attn_tensor_bhnd(out, 1, 1, ROWS, 1);
    io.workspace_size = attn_plan_workspace_size(plan);
    io.workspace = aligned_alloc(64, (io.workspace_size / 64 + 1) * 64);
    assert_non_null(io.workspace);
    attn_error_t error;
    if (attn_run(plan, &io, &error) != ATTN_OK) test_fail("attn_run: %s", error.message);
    free(io.workspace);
    attn_plan_destroy(plan);
}

static const char *favor(int seed, char text[80]) {
    snprintf(text, 80, "feature_map=favor,normaliser=off,features=%d,seed=%d", FEATURES, seed);
    return text;
}

/*
 * w_f[k] from phi(e_k)_f = exp(w_f[k] - 1/2) / sqrt(features). An error of phi, relative, is one of w: 8 roundings and
 * the exponent's, (d + 8) of its terms |w| + 1/2 (core/oracle/linear.c).
 */
static void find_directions(const attn_context_t *context, int seed, double w[FEATURES][DIM],
                            double off[FEATURES]) {
    static const float queries[ROWS][DIM];
    char settings[80];
    for (int f = 0; f < FEATURES; f++) off[f] = 0;
    for (int k = 0; k < DIM; k++) {
        float key[DIM] = {0}, phi[FEATURES], out[ROWS];
        key[k] = 1;
        run_features(context, favor(seed, settings), 1, queries, key, out, phi, FEATURES);
        for (int f = 0; f < FEATURES; f++) {
            w[f][k] = log((double)phi[f] * sqrt(FEATURES)) + 0.5;
            off[f] = fmax(off[f], 0x1p-24 * (8 + (DIM + 8) * (fabs(w[f][k]) + 0.5)));
        }
    }
}

static double dot(const double a[DIM], const double b[DIM]) {
    double sum = 0;
    for (int k = 0; k < DIM; k++) sum += a[k] * b[k];
    return sum;
}

/* |w|^2 is chi-square of d degrees, of mean d and variance 2 d. */
static void directions_are_orthogonal_and_normal(void **state) {
    (void)state;
    enum { SEEDS = 100 };
    attn_context_t *context = fixture_context(1);
    double squares = 0, others = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        double w[FEATURES][DIM], off[FEATURES];
        find_directions(context, seed, w, off);
        for (int f = 0; f < FEATURES; f++) squares += dot(w[f], w[f]);
        for (int f = 0; f < FEATURES; f++)
            for (int g = f / DIM * DIM; g < f; g++) {
                const double bound = sqrt(DIM * dot(w[f], w[f])) * off[g] +
                                     sqrt(DIM * dot(w[g], w[g])) * off[f] + DIM * off[f] * off[g];
                if (fabs(dot(w[f], w[g])) > bound)
                    test_fail("seed %d: w_%d.w_%d = %g", seed, f, g, dot(w[f], w[g]));
            }
        for (int f = 0; f < DIM; f++) others += pow(dot(w[f], w[DIM + f]), 2);
    }
    const double count = SEEDS * FEATURES, mean = squares / count;
    if (fabs(mean - DIM) > SIGMAS * sqrt(2 * DIM / count))
        test_fail("|w|^2 is %g on average", mean);
    /* Of two blocks they are hardly correlated: (w.w')^2 has mean d, and variance 2 d^2 + 6 d. */
    const double spread = sqrt((2.0 * DIM * DIM + 6 * DIM) / (SEEDS * DIM));
    if (fabs(others / (SEEDS * DIM) - DIM) > SIGMAS * spread)
        test_fail("(w.w')^2 of two blocks is %g on average", others / (SEEDS * DIM));
    attn_context_destroy(context);
}

static const float QUERIES[ROWS][DIM] = {{0.5f, -0.3f, 0.2f, 0.1f, -0.6f},
                                         {-0.4f, 0.7f, 0.1f, -0.2f, 0.3f},
                                         {0.1f, 0.1f, -0.8f, 0.4f, 0}};
static const float KEY[DIM] = {0.4f, -0.5f, 0.3f, 0.6f, -0.2f};

static double product_of(int row) {
    double sum = 0;
    for (int k = 0; k < DIM; k++) sum += (double)QUERIES[row][k] * (double)KEY[k];
    return sum;
}

/* Seeds are independent, so that the mean's own deviation is what theirs say. */
static void favor_is_the_exponential_on_average(void **state) {
    (void)state;
    enum { SEEDS = 2000 };
    static const float scales[] = {1, 0.25f, -0.5f};
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(scales); i++) {
        if (!test_takes_case()) continue;
        double sum[ROWS] = {0}, square[ROWS] = {0};
        for (int seed = 0; seed < SEEDS; seed++) {
            char settings[80];
            float out[ROWS], phi[FEATURES];
            run_features(context, favor(seed, settings), scales[i], QUERIES, KEY, out, phi,
                         FEATURES);
            for (int r = 0; r < ROWS; r++) {
                sum[r] += (double)out[r];
                square[r] += (double)out[r] * (double)out[r];
            }
        }
        for (int r = 0; r < ROWS; r++) {
            const double mean = sum[r] / SEEDS, expected = exp((double)scales[i] * product_of(r));
            const double deviation = sqrt((square[r] / SEEDS - mean * mean) / SEEDS);
            assert_true(deviation < expected / 20);
            if (fabs(mean - expected) > SIGMAS * deviation)
                test_fail("scale %g, row %d: %g on average, +-%g, not %g", (double)scales[i], r,
                          mean, deviation, expected);
        }
    }
    attn_context_destroy(context);
}

/* Off by the roundings of its terms, of which each passes one a feature, and a few of the map's and the product's. */
static void taylor2_is_its_polynomial(void **state) {
    (void)state;
    enum { TERMS = 1 + DIM + DIM * (DIM + 1) / 2 };
    static const float scales[] = {1, 0.25f, -3};
    attn_context_t *context = fixture_context(1);
    for (size_t i = 0; i < TEST_COUNT(scales); i++) {
        float out[ROWS], phi[TERMS];
        run_features(context, "feature_map=taylor2,normaliser=off", scales[i], QUERIES, KEY, out,
                     phi, TERMS);
        for (int r = 0; r < ROWS; r++) {
            const double s = (double)scales[i] * product_of(r);
            double terms = 0;
            for (int k = 0; k < DIM; k++)
                terms += fabs((double)scales[i] * (double)QUERIES[r][k] * (double)KEY[k]);
            compare_number((double)out[r], 1 + s + s * s / 2,
                           0x1p-24 * (TERMS + 10) * (1 + terms + terms * terms / 2), "phi.phi",
                           (int64_t[4]){0, 0, r, 0});
        }
    }
    attn_context_destroy(context);
}

/* Refuses more than `user` says. */
static void *allocate_little(void *user, size_t size) {
    return size <= *(const size_t *)user ? aligned_alloc(64, (size / 64 + 1) * 64) : NULL;
}

static void release(void *user, void *memory) {
    (void)user;
    free(memory);
}

/** Making them takes as many rows at a time as are orthogonal, which are no more than there are features. */
static void few_directions_take_little_memory(void **state) {
    (void)state;
    enum { LONG = 1024, FEW = 3 };
    size_t most =
        sizeof(double) * LONG * 16; /* of the directions, in whole vectors of floats, half */
    const attn_ext_memory_t memory = {.struct_size = sizeof memory,
                                      .user = &most,
                                      .allocate = allocate_little,
                                      .release = release};
    const attn_context_options_t options = {.struct_size = sizeof options, .memory = &memory};
    const attn_problem_t problem = fixture_problem(1, 1, 1, 1, LONG, 1);
    char settings[80];
    attn_context_t *context = NULL;
    attn_plan_t *plan = NULL;
    attn_error_t error = {0};
    assert_int_equal(attn_context_create(&options, &context, NULL), ATTN_OK);
    snprintf(settings, sizeof settings, "feature_map=favor,features=%d", FEW);
    if (fixture_try_plan(context, "linear", &problem, settings, &plan, &error) != ATTN_OK)
        test_fail("%s", error.message);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(directions_are_orthogonal_and_normal),
          cmocka_unit_test(favor_is_the_exponential_on_average),
          cmocka_unit_test(taylor2_is_its_polynomial),
          cmocka_unit_test(few_directions_take_little_memory))
