/*
 * AGG and COPY by layers with explicit weights (efficient-transformers, Lemmas A.9, A.11 and A.12): the
 * promised error over m, M and eps; and what each kind of attention carries along.
 */
#include "labs/complexity/scaling.h"
#include "labs/constructions/construction.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>

static const struct {
    const char *name;
    construct_t *construct;
} CONSTRUCTIONS[] = {
    {"AGG, linear", construct_agg},
    {"COPY, softmax", construct_copy},
    {"COPY, sparse", construct_sparse_copy},
};

static construction_error_t run_construction(const attn_context_t *context, construct_t *construct,
                                             const construction_t *what) {
    construction_error_t result;
    attn_error_t error = {0};
    if (construct(context, what, &result, &error)) test_fail("%s", error.message);
    return result;
}

static void errors_are_below_eps(void **state) {
    (void)state;
    static const int64_t blocks[] = {2, 3, 5, 8, 16};
    static const double bounds[] = {0.5, 1, 50}, errors[] = {0.5, 1e-2, 1e-5};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(CONSTRUCTIONS); s++)
        for (size_t i = 0; i < 45; i++) {
            const construction_t what = {.blocks = blocks[i % 5],
                                         .dim = 3,
                                         .bound = bounds[i / 5 % 3],
                                         .eps = errors[i / 15],
                                         .seed = test_seed(),
                                         .trial = i};
            test_label("%s, m = %d, M = %g, eps = %g", CONSTRUCTIONS[s].name, (int)what.blocks,
                       what.bound, what.eps);
            const construction_error_t error =
                run_construction(context, CONSTRUCTIONS[s].construct, &what);
            if (!(error.measured <= what.eps + error.rounding))
                test_fail("error %g, rounding %g", error.measured, error.rounding);
            if (!(error.exact <= what.eps)) test_fail("error %g of the formula", error.exact);
        }
    attn_context_destroy(context);
}

/* The largest parameter, by construction.h's formulas: weights are rounded to float once. */
static void norms(void **state) {
    (void)state;
    static const double bounds[] = {0.5, 1, 50}, errors[] = {0.5, 1e-2, 1e-5};
    attn_context_t *context = fixture_context(1);
    for (int i = 0; i < 27; i++) {
        const int64_t m = 3 + 5 * (i % 3), block = m < 4 ? 2 : m < 8 ? 4 : 8;
        const double M = bounds[i / 3 % 3], eps = errors[i / 9], length = (double)(m * m);
        const construction_t what = {
            .blocks = m, .dim = 2, .bound = M, .eps = eps, .seed = test_seed()};
        const double delta = 2 * M / (length - 1), seen = (double)(block + m * m / block);
        const double expected[] = {
            fmax(1, log(2 * M * length * (double)m / eps)),
            /* lambda c, or lambda c (delta + rho) */
            4 * log(2 * length * M / eps) / delta * 3 * M * fmax(1 / delta, 1 + delta / (8 * M)),
            2 * (double)block * fmax(1, ceil(log(4 * (M + eps) * seen / eps))),
        };
        for (size_t s = 0; s < TEST_COUNT(CONSTRUCTIONS); s++) {
            test_label("%s, m = %d, M = %g, eps = %g", CONSTRUCTIONS[s].name, (int)m, M, eps);
            const construction_error_t error =
                run_construction(context, CONSTRUCTIONS[s].construct, &what);
            /* COPY's delta is smaller by 2^-10, so that float can tell ratings apart; squared. */
            const double tolerance = (0x1p-23 + (s == 1 ? 3 * 0x1p-10 : 0)) * expected[s];
            if (!(fabs(error.norm - expected[s]) <= tolerance))
                test_fail("%g, expected %g", error.norm, expected[s]);
        }
    }
    attn_context_destroy(context);
}

/* ---- AGG in double precision ----------------------------------------------------------------------- */

static uint64_t random_state = 1;

/* splitmix64, as the library's draws shall not be in this. */
static double uniform(void) {
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double elu_plus_1(double x) { return x > 0 ? x + 1 : exp(x); }

/*
 * Lemma A.9 as it is printed, with nothing of the library: tokens of L = m^2 with blocks of m, q = mu e_q - mu 1,
 * k = mu e_b - mu 1, causal linear attention with elu + 1, against the mean of the wanted block's tokens so far.
 */
static double agg_error(int m, double bound, double eps) {
    enum { MOST = 12 };
    const double mu = log(2 * bound * m * m * m / eps);
    double x[MOST * MOST], worst = 0;
    for (int i = 0; i < m * m; i++) x[i] = (2 * uniform() - 1) * bound;
    for (int i = 0; i < m * m; i++) {
        const int wanted = (int)(uniform() * (i / m + 1));
        double sum = 0, weights = 0, mean = 0, count = 0;
        for (int j = 0; j <= i; j++) {
            double weight = 0;
            for (int o = 0; o < m; o++)
                weight += elu_plus_1(o == wanted ? 0 : -mu) * elu_plus_1(o == j / m ? 0 : -mu);
            weights += weight;
            sum += weight * x[j];
            if (j / m == wanted) mean += x[j], count++;
        }
        worst = fmax(worst, fabs(sum / weights - mean / count));
    }
    return worst;
}

/* Sums of up to L positive terms of at most M each, twice: roundings of double. */
static void agg_is_within_eps_in_double(void **state) {
    (void)state;
    for (int m = 2; m <= 12; m++)
        for (double eps = 1; eps >= 1e-10; eps /= 10)
            for (double bound = 1; bound <= 100; bound *= 10) {
                const double error = agg_error(m, bound, eps * bound);
                const double rounding = 2 * (m * m + 8) * 0x1p-53 * bound;
                test_label("m = %d, M = %g, eps = %g", m, bound, eps * bound);
                if (!(error <= eps * bound + rounding)) test_fail("error %g", error);
                if (m > 4 && eps >= 0.1 && !(error > eps * bound * 1e-4))
                    test_fail("an error of %g says nothing of eps", error);
            }
}

/** The construction does depend on eps: a large one is made use of, in part. */
static void large_eps_shows(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(CONSTRUCTIONS); s++) {
        construction_t what = {
            .blocks = 5, .dim = 3, .bound = 1, .eps = 1, .seed = test_seed(), .trial = 0};
        test_label("%s", CONSTRUCTIONS[s].name);
        const double loose = run_construction(context, CONSTRUCTIONS[s].construct, &what).measured;
        what.eps = 1e-4;
        const construction_error_t strict =
            run_construction(context, CONSTRUCTIONS[s].construct, &what);
        if (!(loose > 10 * (strict.measured + strict.rounding)))
            test_fail("error %g for eps = 1, %g for 1e-4", loose, strict.measured);
    }
    attn_context_destroy(context);
}

/** Tokens j <= L that Eq. 6 shows to some query behind L; a block of 0 is B = 2^floor(log2 sqrt(L + 1)). */
static int64_t seen_later(int64_t length, int64_t block) {
    int64_t count = 0;
    if (!block)
        for (block = 1; 4 * block * block <= length + 1;) block *= 2;
    for (int64_t j = 1; j <= length; j++)
        count += length + 1 - block < j || (j - 1) % block >= block - 1;
    return count;
}

static void states_are_what_must_be_carried(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int64_t length = 1; length < 3000; length = length * 3 + 1) {
        double softmax, sparse, linear, bytes;
        assert_int_equal(scaling_kept_tokens(context, SCALING_SOFTMAX, length, 0, &softmax, NULL),
                         0);
        assert_int_equal(scaling_kept_tokens(context, SCALING_SPARSE, length, 0, &sparse, NULL), 0);
        assert_int_equal(scaling_kept_tokens(context, SCALING_LINEAR, length, 0, &linear, NULL), 0);
        assert_int_equal((int64_t)softmax, length);
        assert_int_equal((int64_t)sparse, seen_later(length, 0));
        assert_int_equal((int64_t)linear, 0);
        assert_int_equal(scaling_cache_bytes(context, length, 8, &bytes, NULL), ATTN_OK);
        assert_true(bytes >= 4 * scaling_state(SCALING_SOFTMAX, softmax, 8));
        for (int kind = 0; kind < SCALING_KINDS; kind++) {
            const double tokens = kind == SCALING_SPARSE ? sparse : softmax;
            const double dim = scaling_needed_dim((enum scaling_kind)kind, tokens, (double)length);
            assert_true(scaling_state((enum scaling_kind)kind, tokens, dim) >= (double)length);
            assert_true(dim == 1 ||
                        scaling_state((enum scaling_kind)kind, tokens, dim - 1) < (double)length);
        }
        for (int64_t block = 1; block <= length; block *= 8) {
            assert_int_equal(
                scaling_kept_tokens(context, SCALING_SPARSE, length, block, &sparse, NULL), 0);
            assert_int_equal((int64_t)sparse, seen_later(length, block));
        }
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(errors_are_below_eps), cmocka_unit_test(agg_is_within_eps_in_double),
          cmocka_unit_test(norms), cmocka_unit_test(large_eps_shows),
          cmocka_unit_test(states_are_what_must_be_carried))
