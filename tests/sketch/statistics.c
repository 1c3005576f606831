/*
 * What the sketches promise in the mean, over many fixed seeds.
 *
 * Every method is an unbiased estimate of the logits, and for all but leverage the variance is
 * known exactly. Means of R independent draws are compared within 5 standard errors: by chance a
 * right implementation is outside once in 1.7 million comparisons, and with fixed seeds never again.
 */
#include "logits.h"
#include "support/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DRAWS = 2000, N = 4, M = 4, D = 48, SIZE = 24 };
static const double SIGMAS = 5;

typedef struct sample {
    double values[DRAWS], mean, variance, mean_error, variance_error;
} sample_t;

/** Mean and variance of the draws with their standard errors (of the variance by 4th moment). */
static void summarise(sample_t *s) {
    double sum = 0, squares = 0, fourths = 0;
    for (int r = 0; r < DRAWS; r++) sum += s->values[r];
    s->mean = sum / DRAWS;
    for (int r = 0; r < DRAWS; r++) {
        const double square = (s->values[r] - s->mean) * (s->values[r] - s->mean);
        squares += square;
        fourths += square * square;
    }
    s->variance = squares / (DRAWS - 1);
    s->mean_error = sqrt(s->variance / DRAWS);
    s->variance_error = sqrt((fourths / DRAWS - s->variance * s->variance) / DRAWS);
}

/** Draws of all logits: samples[i*M + j]. */
static sample_t *draw(const attn_context_t *context, arrays_t *arrays, const char *method) {
    sample_t *samples = calloc(N * M, sizeof *samples);
    assert_non_null(samples);
    for (int r = 0; r < DRAWS; r++) {
        char text[96];
        double logits[N * M];
        snprintf(text, sizeof text, "method=%s,size=%d,seed=%d", method, SIZE, 1000 + r);
        sketch_logits(context, arrays, text, logits);
        for (int p = 0; p < N * M; p++) samples[p].values[r] = logits[p];
    }
    for (int p = 0; p < N * M; p++) summarise(&samples[p]);
    return samples;
}

/**
 * Short vectors, so that logits stay far from where a weight would underflow. Features weigh
 * differently; key 1 is query 1, where a wrong scale of the sketch shows best; and query and key 2
 * have all features alike, where signs that are not 4-wise independent show in the variance.
 */
static arrays_t short_vectors(void) {
    attn_problem_t problem = fixture_problem(1, 1, N, M, D, 1);
    problem.scale = 1;
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
    array_fill_normal(&arrays.query, 1, 0.2);
    array_fill_normal(&arrays.key, 2, 0.2);
    for (int64_t k = 0; k < D; k += 5)
        for (int64_t i = 0; i < N; i++)
            array_set(&arrays.query, 0, 0, i, k, 3 * array_get(&arrays.query, 0, 0, i, k));
    for (int64_t k = 0; k < D; k++) {
        array_set(&arrays.key, 0, 0, 1, k, array_get(&arrays.query, 0, 0, 1, k));
        array_set(&arrays.query, 0, 0, 2, k, 0.2f);
        array_set(&arrays.key, 0, 0, 2, k, 0.2f);
    }
    return arrays;
}

static void check_mean(const sample_t *sample, double expected, int64_t i, int64_t j) {
    const double off = (sample->mean - expected) / sample->mean_error;
    if (!(fabs(off) <= SIGMAS))
        test_fail("logit (%" PRId64 ", %" PRId64
                  ") is %.4g in the mean, exactly %.4g: %.2g standard "
                  "errors",
                  i, j, sample->mean, expected, off);
}

static void logits_are_unbiased(void **state) {
    (void)state;
    static const char *const methods[] = {"gaussian", "ams", "osnap", "leverage", "srht"};
    attn_context_t *context = fixture_context(1);
    arrays_t arrays = short_vectors();
    for (size_t m = 0; m < TEST_COUNT(methods); m++) {
        test_label("%s", methods[m]);
        sample_t *samples = draw(context, &arrays, methods[m]);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < M; j++) {
                assert_true(samples[i * M + j].variance > 0);
                check_mean(&samples[i * M + j], exact_logit(&arrays, i, j), i, j);
            }
        free(samples);
    }
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

/**
 * Var <Tq, Tk> for one sketch of s rows: (|q|^2 |k|^2 + <q,k>^2) / s for normal entries, less
 * 2 sum_f q_f^2 k_f^2 / s for signs, which have no fourth cumulant to spare; a sparse embedding has
 * the sign matrix's variance for any number of entries a column, as two columns share s_c^2/s rows; a Hadamard
 * transform has it, too, less what drawing its columns without replacement saves, (D' - s) / (D' - 1) of it, D'
 * being the power of two.
 */
static double variance_of(const arrays_t *arrays, int64_t i, int64_t j, int signs) {
    double qq = 0, kk = 0, qk = 0, both = 0;
    for (int64_t f = 0; f < D; f++) {
        const double q = (double)array_get(&arrays->query, 0, 0, i, f);
        const double k = (double)array_get(&arrays->key, 0, 0, j, f);
        qq += q * q, kk += k * k, qk += q * k, both += q * q * k * k;
    }
    return (qq * kk + qk * qk - (signs ? 2 * both : 0)) / SIZE;
}

static void logits_have_their_variance(void **state) {
    (void)state;
    static const struct {
        const char *method;
        int signs;
        double without; /* replacement */
    } cases[] = {{"gaussian", 0, 1},
                 {"ams", 1, 1},
                 {"osnap", 1, 1},
                 {"osnap,sparsity=1", 1, 1},
                 {"osnap,sparsity=7", 1, 1},
                 {"srht", 1, (64.0 - SIZE) / 63}};
    attn_context_t *context = fixture_context(1);
    arrays_t arrays = short_vectors();
    for (size_t m = 0; m < TEST_COUNT(cases); m++) {
        test_label("%s", cases[m].method);
        sample_t *samples = draw(context, &arrays, cases[m].method);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < M; j++) {
                const sample_t *s = &samples[i * M + j];
                const double expected =
                    cases[m].without * variance_of(&arrays, i, j, cases[m].signs);
                const double off = (s->variance - expected) / s->variance_error;
                if (!(fabs(off) <= SIGMAS))
                    test_fail("the variance of logit (%" PRId64 ", %" PRId64 ") is %.4g, exactly "
                              "%.4g: %.2g standard errors",
                              i, j, s->variance, expected, off);
            }
        free(samples);
    }
    arrays_destroy(&arrays);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(logits_are_unbiased), cmocka_unit_test(logits_have_their_variance))
