/*
 * Sketches of symmetric attention (arXiv:2304.04397): the bound of 12 r wherever the spectral condition
 * holds, and how often promises fail.
 */
#include "algebra/algebra.h"
#include "attn/random.h"
#include "labs/sparsification/sketches.h"
#include "labs/sparsification/symmetric.h"
#include "sketching/barrier.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static symmetric_t draw(int64_t dim, double r, double decay, double density, uint64_t trial) {
    const symmetric_shape_t shape = {.rows = 6,
                                     .dim = dim,
                                     .r = r,
                                     .decay = decay,
                                     .density = density,
                                     .spike = 1,
                                     .seed = test_seed(),
                                     .trial = trial};
    symmetric_t symmetric;
    assert_true(symmetric_create(&shape, &symmetric));
    return symmetric;
}

static void inputs_keep_to_the_premises(void **state) {
    (void)state;
    symmetric_t dense = draw(256, 0.05, 0.5, 1, 0), thin = draw(256, 0.05, 0, 0.25, 0);
    assert_true(dense.largest <= 0.05 && dense.largest > 0.0499);
    assert_int_equal(dense.nonzero, 6 * 256);
    /* Binomial: 5 standard deviations. */
    assert_true(fabs((double)thin.nonzero - 384) < 5 * sqrt(6 * 256 * 0.25 * 0.75));
    symmetric_destroy(&dense);
    symmetric_destroy(&thin);
}

/** Lemmas 3.1 to 3.4, as printed and sharply. */
static void attention_moves_by_twelve_r_at_most(void **state) {
    (void)state;
    static const double radii[] = {0.002, 0.02, 0.099};
    attn_context_t *context = fixture_context(1);
    const char *const *methods = sketch_methods(context);
    assert_non_null(methods);
    for (const char *const *method = methods; *method; method++) {
        int within = 0;
        for (size_t trial = 0; trial < 4 * TEST_COUNT(radii); trial++) {
            symmetric_t symmetric =
                draw(512, radii[trial % TEST_COUNT(radii)], 0.3, 1, (uint64_t)trial);
            sketch_result_t result;
            const sketch_request_t request = {
                .method = *method, .size = 300, .seed = test_seed() + trial};
            test_label("%s, trial %d", *method, (int)trial);
            const attn_status_t status =
                symmetric_sketch(context, &symmetric, &request, &result, NULL);
            assert_int_equal(status, ATTN_OK);
            if (result.distortion < 1) {
                within++;
                const double r = symmetric.largest;
                if (!(result.error <= 12 * r)) test_fail("%g, r = %g", result.error, r);
                if (!(result.share <= 1)) test_fail("6 r (A + A')_ij is exceeded, r = %g", r);
                // Logits move by eps r, weights by the exp of twice that; both logits and log A + lse
                // are read in float, within 8 * 2^-23.
                if (!(result.error <= expm1(2 * (result.distortion * r + 8 * 0x1p-23))))
                    test_fail("%g, eps = %g, r = %g", result.error, result.distortion, r);
            }
            symmetric_destroy(&symmetric);
        }
        print_message("%s: distortion below 1 in %d of 12\n", *method, within);
        assert_true(within > 0); // or nothing was tested
    }
    attn_context_destroy(context);
}

/** Theorem 3.6 end to end: the sketch of X itself, through softmax attention. */
static void deterministic_sketches_keep_their_bound(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    symmetric_t symmetric = draw(256, 0.05, 0.4, 1, 0);
    for (int64_t size = 12; size <= 192; size *= 2) {
        sketch_result_t result;
        test_label("%d features", (int)size);
        assert_int_equal(symmetric_deterministic(context, &symmetric, size, &result, NULL),
                         ATTN_OK);
        assert_true(result.size > 0 && result.size <= (double)size);
        /* Logits are read in float, within 8 * 2^-23, against entries of r. */
        const double rounding = 6 * 8 * 0x1p-23 / (symmetric.largest / 2);
        const double bound = attn_barrier_distortion(6, size) + rounding;
        if (!(result.distortion <= bound)) test_fail("%g, not %g", result.distortion, bound);
        assert_true(result.error <= 12 * symmetric.largest && result.share <= 1);
    }
    sketch_result_t result;
    attn_error_t error = {0};
    assert_int_equal(symmetric_deterministic(context, &symmetric, 6, &result, &error),
                     ATTN_ERROR_RANGE);
    assert_non_null(strstr(
        error.message, "6 features are too few: deterministic takes more than the rank of X, 6"));
    symmetric_destroy(&symmetric);
    attn_context_destroy(context);
}

static void all_features_are_exact(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    symmetric_t symmetric = draw(128, 0.05, 0, 1, 0);
    const sketch_request_t request = {.method = "gaussian", .size = 128};
    sketch_result_t result;
    assert_int_equal(symmetric_sketch(context, &symmetric, &request, &result, NULL), ATTN_OK);
    assert_true(result.exact && result.guaranteed);
    assert_true(result.error <= 8 * 0x1p-23);
    symmetric_destroy(&symmetric);
    attn_context_destroy(context);
}

/** A promise for eps and delta fails in at most a part delta of the trials (3 standard deviations). */
static void promises_fail_seldom(void **state) {
    (void)state;
    enum { TRIALS = 40 };
    static const double eps = 0.9, delta = 0.25;
    attn_context_t *context = fixture_context(1);
    /* What approximate scores ask for, before their sum is known, is nine times what exact ones do. */
    symmetric_t narrow = draw(384, 0.05, 0.3, 1, 0), wide = draw(4096, 0.05, 0.3, 1, 0);
    for (const char *const *method = sketch_methods(context); *method; method++) {
        symmetric_t *symmetric = strcmp(*method, "approximate") == 0 ? &wide : &narrow;
        int failed = 0;
        test_label("%s", *method);
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            sketch_result_t result;
            const sketch_request_t request = {
                .method = *method, .eps = eps, .delta = delta, .seed = test_seed() + trial};
            const attn_status_t status =
                symmetric_sketch(context, symmetric, &request, &result, NULL);
            assert_int_equal(status, ATTN_OK);
            assert_true(result.guaranteed);
            const enum sketch_measure measure = sketch_promise(*method);
            if (measure == SKETCH_MEASURES)
                test_fail("a method whose promise the experiment does not know");
            failed += sketch_value(&result, measure) > eps;
        }
        print_message("%s: %d of %d\n", *method, failed, TRIALS);
        assert_true(failed <= TRIALS * delta + 3 * sqrt(TRIALS * delta * (1 - delta)));
    }
    symmetric_destroy(&narrow);
    symmetric_destroy(&wide);
    attn_context_destroy(context);
}

static void wrong_requests_are_refused(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    symmetric_t symmetric = draw(16, 0.05, 0, 1, 0);
    const sketch_request_t unknown = {.method = "magic", .size = 4};
    sketch_result_t result;
    attn_error_t error = {0};
    const attn_status_t status = symmetric_sketch(context, &symmetric, &unknown, &result, &error);
    assert_int_not_equal(status, ATTN_OK);
    assert_non_null(strstr(error.message, "magic"));
    symmetric_destroy(&symmetric);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(inputs_keep_to_the_premises),
          cmocka_unit_test(attention_moves_by_twelve_r_at_most),
          cmocka_unit_test(deterministic_sketches_keep_their_bound),
          cmocka_unit_test(all_features_are_exact), cmocka_unit_test(promises_fail_seldom),
          cmocka_unit_test(wrong_requests_are_refused))
