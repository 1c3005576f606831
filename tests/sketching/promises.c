/*
 * What arXiv:2304.04397 promises of sketches of X, with the constants of plugins/sketch/bound.h: spectral bounds,
 * the entries of the attention matrix, sizes; and 4-wise independent signs.
 */
#include "inputs.h"
#include "sketch/bound.h"
#include "sketch/matrices.h"
#include "sketching/barrier.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sketching_distance_t distance_of(const sketching_features_t *features,
                                        const sketching_result_t *sketch) {
    sketching_distance_t distance;
    assert_int_equal(
        sketching_measure(features, &algebra_plain, sketch->y, sketch->size, &distance, NULL),
        ATTN_OK);
    return distance;
}

/**
 * Lemmas 4.1 and 5.4: with the size that the bound gives for eps and delta, the distortion is within eps in at
 * least a part 1 - delta of 1,000 seeds; by exact scores, and by those of Algorithm 2.
 */
static void sampling_keeps_the_spectrum(void **state) {
    (void)state;
    enum { ROWS = 6, COLUMNS = 1500, SEEDS = 1000 };
    static const double delta = 0.1, eps = 0.75;
    static const enum sketching_method methods[] = {SKETCHING_LEVERAGE, SKETCHING_APPROXIMATE};
    input_t input = input_create(INPUT_SPIKED, ROWS, COLUMNS, 0.05);
    sketching_features_t features = features_of(&input.csr);
    for (size_t m = 0; m < TEST_COUNT(methods); m++) {
        double largest = 0, size = 0, asked = 0;
        int failed = 0, seeds = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            const sketching_options_t options = {methods[m], &algebra_plain, eps, delta, 0,
                                                 0,          seed,           0};
            sketching_result_t sketch;
            if (!test_takes_case()) continue;
            test_label("%s", sketching_names[methods[m]]);
            assert_int_equal(sketching_sketch(&features, &options, &sketch, NULL), ATTN_OK);
            assert_false(sketch.is_exact);
            assert_int_equal(sketch.rank, ROWS);
            seeds++;
            const double off = distance_of(&features, &sketch).distortion;
            largest = fmax(largest, off);
            failed += off > eps;
            size = (double)sketch.size;
            asked = methods[m] == SKETCHING_LEVERAGE
                        ? ceil(3 * ROWS * log(2 * ROWS / delta) / (eps * eps))
                        : ceil(3 * 3 * sketch.total * log(2 * ROWS / (delta / 2)) / (eps * eps));
            sketching_result_destroy(&sketch);
        }
        print_message("%s: distortion up to %.3g of eps = %g at m = %g, above it for %d of %d "
                      "seeds\n",
                      sketching_names[methods[m]], largest, eps, size, failed, seeds);
        assert_true(failed <= delta * seeds);
        assert_true(size >= asked && size < asked + 5); // rounded up, and that times total / rank
    }
    sketching_features_destroy(&features);
    input_destroy(&input);
}

/**
 * Theorem 4.2 on all kinds of X: within eps, by at most ceil(4 n / eps^2) features, the same ones again, from CSR
 * and with LAPACK's factors too.
 */
static void barriers_keep_the_spectrum(void **state) {
    (void)state;
    enum { ROWS = 8, COLUMNS = 1100 };
    static const double bounds[] = {0.25, 0.5, 0.9};
    for (int kind = 0; kind < INPUT_KINDS; kind++)
        for (size_t e = 0; e < TEST_COUNT(bounds); e++) {
            if (!test_takes_case()) continue;
            input_t input = input_create((enum input_kind)kind, ROWS, COLUMNS, 0.05);
            sketching_result_t sketches[3];
            for (int way = 0; way < 3; way++) {
                const algebra_solver_t *solver = way == 2 ? algebra_best() : &algebra_plain;
                const sketching_options_t options = {
                    SKETCHING_DETERMINISTIC, solver, bounds[e], 0.1, 0, 0, (uint64_t)way, 0};
                sketching_features_t features = features_of(way == 1 ? &input.csr : &input.x);
                test_label("%s, eps %g, way %d", input_names[kind], bounds[e], way);
                assert_int_equal(sketching_sketch(&features, &options, &sketches[way], NULL),
                                 ATTN_OK);
                assert_int_equal(sketches[way].rank, input.rank);
                assert_true((double)sketches[way].size <= ceil(4 * ROWS / (bounds[e] * bounds[e])));
                const double off = distance_of(&features, &sketches[way]).distortion;
                const double bound = attn_barrier_distortion(
                    input.rank, (int64_t)attn_barrier_steps(input.rank, bounds[e]));
                assert_true(bound <= bounds[e]);
                /* Y is in float: 2^-23 of each of its entries, twice in a square. */
                if (!(off <= bound + 0x1p-20)) test_fail("off by %g, not %g", off, bound);
                assert_int_equal(sketches[way].size, sketches[0].size);
                assert_memory_equal(sketches[way].kept, sketches[0].kept,
                                    (size_t)sketches[0].size * sizeof(int64_t));
                sketching_features_destroy(&features);
            }
            for (int way = 0; way < 3; way++) sketching_result_destroy(&sketches[way]);
            input_destroy(&input);
        }
}

/**
 * Vectors that are not isotropic, as rounding may leave them, have no room between the barriers: it is told, and how far
 * from 1 they are; the same basis on its own features keeps the promise.
 */
static void barriers_tell_of_a_closed_way(void **state) {
    (void)state;
    enum { ROWS = 6, COLUMNS = 300, STEPS = 96 };
    input_t input = input_create(INPUT_RANDOM, ROWS, COLUMNS, 0.05);
    float *lost = calloc((size_t)(ROWS * COLUMNS), sizeof *lost);
    double weights[COLUMNS];
    assert_non_null(lost);
    memcpy(lost, input.x.dense, sizeof *lost * (ROWS - 1) * COLUMNS);
    const sketching_x_t xs[] = {input.x, {.rows = ROWS, .columns = COLUMNS, .dense = lost}};
    sketching_features_t features[] = {features_of(&xs[0]), features_of(&xs[1])};
    sketching_basis_t basis;
    attn_barrier_end_t ends[2];
    assert_true(sketching_basis_exact(&features[0], &algebra_plain, &basis));
    for (int x = 0; x < 2; x++)
        assert_true(sketching_barrier(&features[x], &basis, STEPS, weights, &ends[x]));
    assert_true(ends[0].keeps && ends[0].steps == STEPS);
    assert_true(ends[0].distortion <= attn_barrier_distortion(ROWS, STEPS));
    assert_false(ends[1].keeps);
    assert_true(ends[1].steps < STEPS && ends[1].distortion > attn_barrier_distortion(ROWS, STEPS));
    for (int x = 0; x < 2; x++) sketching_features_destroy(&features[x]);
    sketching_basis_destroy(&basis);
    input_destroy(&input);
    free(lost);
}

/** Lemmas 3.1 to 3.4: wherever the distortion is below 1, no entry of attention moves by more than 12 r. */
static void attention_moves_by_twelve_r_at_most(void **state) {
    (void)state;
    enum { ROWS = 12, COLUMNS = 1500 };
    static const double radii[] = {0.01, 0.05, 0.0999};
    for (int method = 0; method < SKETCHING_METHODS; method++) {
        int within = 0;
        if (!test_takes_case()) continue;
        for (size_t i = 0; i < TEST_COUNT(radii); i++)
            for (int kind = 0; kind < INPUT_KINDS; kind++) {
                input_t input = input_create((enum input_kind)kind, ROWS, COLUMNS, radii[i]);
                sketching_features_t features = features_of(&input.csr);
                const sketching_options_t options = {.method = (enum sketching_method)method,
                                                     .solver = &algebra_plain,
                                                     .eps = 0.5,
                                                     .delta = 0.1,
                                                     .size = 300,
                                                     .seed = (uint64_t)i};
                sketching_result_t sketch;
                test_label("%s, %s, r = %g", sketching_names[method], input_names[kind], radii[i]);
                assert_int_equal(sketching_sketch(&features, &options, &sketch, NULL), ATTN_OK);
                const sketching_distance_t distance = distance_of(&features, &sketch);
                const double r = sketching_largest(&input.csr);
                assert_true(r <= radii[i] && r > 0.999 * radii[i]);
                /* Sums of COLUMNS squares in lanes of 8, each within (COLUMNS / 8 + 8) 2^-53. */
                assert_true(fabs(r - sketching_largest(&input.x)) <=
                            2 * (COLUMNS / 8.0 + 8) * 0x1p-53 * r);
                if (distance.distortion < 1) {
                    within++;
                    if (!(distance.entry <= 12 * r))
                        test_fail("an entry moves by %g", distance.entry);
                    /* Logits move by eps r, weights by the exponential of twice that. */
                    assert_true(distance.entry <= expm1(2 * r * (distance.distortion + 0x1p-20)));
                }
                sketching_result_destroy(&sketch);
                sketching_features_destroy(&features);
                input_destroy(&input);
            }
        print_message("%s: distortion below 1 in %d of %d\n", sketching_names[method], within,
                      (int)TEST_COUNT(radii) * INPUT_KINDS);
        assert_true(within > 0 || method == SKETCHING_UNIFORM);
    }
}

/** m >= d: Y is X, and it is said. */
static void all_features_are_exact(void **state) {
    (void)state;
    input_t input = input_create(INPUT_SPARSE, 5, 40, 0.05);
    for (int form = 0; form < 2; form++) {
        sketching_features_t features = features_of(form ? &input.csr : &input.x);
        for (int method = 0; method < SKETCHING_METHODS; method++) {
            const sketching_options_t options = {
                (enum sketching_method)method, &algebra_plain, 0.1, 0.1, 41, 0, 1, 0};
            sketching_result_t sketch;
            test_label("%s, %s", sketching_names[method], form ? "CSR" : "dense");
            assert_int_equal(sketching_sketch(&features, &options, &sketch, NULL), ATTN_OK);
            assert_true(sketch.is_exact && sketch.size == 40);
            assert_memory_equal(sketch.y, input.x.dense, 5 * 40 * sizeof(float));
            sketching_result_destroy(&sketch);
        }
        sketching_features_destroy(&features);
    }
    input_destroy(&input);
}

/**
 * Def. 2.6 asks for 4-wise independent signs: the mean of the product of any 1 to 4 of a column's signs is 0.
 * Over C columns it is within 5 / sqrt(C). Consecutive features, and some that are far from each other.
 */
static void signs_are_four_wise_independent(void **state) {
    (void)state;
    enum { COLUMNS = 40000, SETS = 7 };
    static const int64_t sets[SETS][4] = {{0, 1, 2, 3},          {0, 1, 2, 1000},
                                          {5, 7, 11, 13},        {0, 2, 4, 6},
                                          {1, 1024, 2048, 4096}, {0, 1, 1 << 30, (int64_t)1 << 40},
                                          {3, 6, 12, 24}};
    float *signs[4];
    for (int i = 0; i < 4; i++) {
        signs[i] = calloc(COLUMNS, sizeof *signs[i]);
        assert_non_null(signs[i]);
    }
    for (size_t s = 0; s < SETS; s++) {
        for (int i = 0; i < 4; i++) {
            const attn_sketch_part_t part = {sets[s][i], 1, COLUMNS, test_seed()};
            attn_sketch_ams(signs[i], &part);
        }
        for (int which = 1; which < 16; which++) {
            double sum = 0;
            for (int t = 0; t < COLUMNS; t++) {
                double product = 1;
                for (int i = 0; i < 4; i++)
                    if (which >> i & 1) product *= (double)signs[i][t] * sqrt(COLUMNS);
                sum += product;
            }
            if (!(fabs(sum) <= 5 * sqrt(COLUMNS)))
                test_fail("set %d, signs %d: the product is %g in the mean", (int)s, which,
                          sum / COLUMNS);
        }
    }
    for (int i = 0; i < 4; i++) free(signs[i]);
}

/** Exact scores add up to the rank but for rounding, which differs between solvers: sizes are the same. */
static void rounding_of_a_sum_moves_no_size(void **state) {
    (void)state;
    for (int64_t rank = 1; rank <= 300; rank++)
        for (int ulps = -8; ulps <= 8; ulps++) {
            const attn_sketch_promise_t approximate = {.rank = rank, .delta = 0.1};
            const attn_sketch_promise_t exact = {
                .method = ATTN_SKETCH_LEVERAGE, .rank = rank, .delta = 0.05};
            const double sum = (double)rank * (1 + ulps * 0x1p-52);
            test_label("rank %d, %d units in the last place", (int)rank, ulps);
            assert_true(attn_sketch_bound_approximate(&approximate, 3, sum, 0.9) ==
                        3 * attn_sketch_bound(&exact, 0.9));
        }
}

TEST_MAIN(cmocka_unit_test(rounding_of_a_sum_moves_no_size),
          cmocka_unit_test(sampling_keeps_the_spectrum),
          cmocka_unit_test(barriers_keep_the_spectrum),
          cmocka_unit_test(barriers_tell_of_a_closed_way),
          cmocka_unit_test(attention_moves_by_twelve_r_at_most),
          cmocka_unit_test(all_features_are_exact),
          cmocka_unit_test(signs_are_four_wise_independent))
