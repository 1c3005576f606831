/*
 * More rows than features: the same scores, choices and distortions, of R in X = Q R, and numbers for n d, not for n n.
 * X = A B of small whole numbers is exact in float, and known by B: its rows span what B's do.
 */
#include "algebra/algebra.h"
#include "attn/random.h"
#include "sketching/barrier.h"
#include "sketching/scores.h"
#include "sketching/sketch.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 90, FEATURES = 24, MOST_RANK = FEATURES, SIZE = 18 };

typedef struct product {
    int64_t rank;
    double b[MOST_RANK * FEATURES];
    float x[ROWS * FEATURES];
    int64_t starts[ROWS + 1];
    int32_t indices[ROWS * FEATURES];
    float data[ROWS * FEATURES];
    sketching_x_t forms[2]; /* dense, CSR */
} product_t;

static int64_t digit(uint64_t stream, int64_t at) {
    return (int64_t)(attn_random_u64(test_seed(), stream, (uint64_t)at) % 15) - 7;
}

/* Features j and j + 8 are alike where j % 8 is 3, and those with j % 8 == 5 are zeros: neither where the rank is full. */
static void fill(product_t *p, int64_t rank) {
    int64_t used = 0;
    p->rank = rank;
    for (int64_t k = 0; k < rank; k++)
        for (int64_t j = 0; j < FEATURES; j++) {
            const int64_t from = rank < FEATURES && j % 8 == 3 ? 3 : j;
            const int is_zero = rank < FEATURES && j % 8 == 5;
            p->b[k * FEATURES + j] = is_zero ? 0 : (double)digit(1, k * FEATURES + from);
        }
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = 0; j < FEATURES; j++) {
            double sum = 0;
            for (int64_t k = 0; k < rank; k++)
                sum += (double)digit(2, i * rank + k) * p->b[k * FEATURES + j];
            p->x[i * FEATURES + j] = (float)sum / 1024;
            if (sum != 0) p->indices[used] = (int32_t)j, p->data[used++] = p->x[i * FEATURES + j];
        }
        p->starts[i + 1] = used;
    }
    p->forms[0] = (sketching_x_t){.rows = ROWS, .columns = FEATURES, .dense = p->x};
    p->forms[1] = (sketching_x_t){ROWS, FEATURES, NULL, p->starts, p->indices, p->data};
}

/* b_j^T (B B^T)^-1 b_j. */
static void scores_of(const product_t *p, double *scores) {
    const int64_t k = p->rank;
    double gram[MOST_RANK * MOST_RANK], inverse[MOST_RANK * MOST_RANK];
    for (int64_t a = 0; a < k; a++)
        for (int64_t c = 0; c < k; c++)
            gram[a * k + c] = algebra_dot(p->b + a * FEATURES, p->b + c * FEATURES, FEATURES);
    assert_true(algebra_invert(gram, k, inverse));
    for (int64_t j = 0; j < FEATURES; j++) {
        scores[j] = 0;
        for (int64_t a = 0; a < k; a++)
            for (int64_t c = 0; c < k; c++)
                scores[j] += p->b[a * FEATURES + j] * inverse[a * k + c] * p->b[c * FEATURES + j];
    }
}

static const int64_t ranks[] = {1, 4, 11, FEATURES};

/** By both solvers, dense and CSR. X' in float is off by 2^-24 of sqrt(rank) in all, and a projection by twice that. */
static void scores_are_those_of_the_rows_space(void **state) {
    (void)state;
    static product_t p;
    for (size_t c = 0; c < TEST_COUNT(ranks); c++) {
        double known[FEATURES], scores[FEATURES];
        fill(&p, ranks[c]);
        scores_of(&p, known);
        for (int way = 0; way < 4; way++) {
            const algebra_solver_t *solver = way & 1 ? algebra_best() : &algebra_plain;
            sketching_features_t features;
            sketching_basis_t basis;
            test_label("rank %d, %s, %s", (int)p.rank, solver->name, way & 2 ? "CSR" : "dense");
            assert_true(sketching_features_create(&p.forms[way / 2], &features));
            assert_true(sketching_basis_exact(&features, solver, &basis));
            assert_int_equal(basis.rank, p.rank);
            assert_true(sketching_scores(&features, &basis, scores));
            for (int64_t j = 0; j < FEATURES; j++) {
                if (!(fabs(scores[j] - known[j]) <= 0x1p-22 * sqrt((double)p.rank)))
                    test_fail("score %d is %.9g, not %.9g", (int)j, scores[j], known[j]);
                if (known[j] == 0) assert_true(scores[j] == 0);
            }
            sketching_basis_destroy(&basis);
            sketching_features_destroy(&features);
        }
    }
}

/**
 * The same features whichever form and solver, and the same as of B itself, which is wide: that is what the barrier method
 * and the draws are to see. A feature is taken for its like only where it is its copy.
 */
static void choices_are_those_of_a_wide_basis(void **state) {
    (void)state;
    static const enum sketching_method methods[] = {SKETCHING_APPROXIMATE, SKETCHING_LEVERAGE,
                                                    SKETCHING_DETERMINISTIC};
    static product_t p;
    static float b[MOST_RANK * FEATURES];
    fill(&p, 11);
    for (int64_t at = 0; at < p.rank * FEATURES; at++) b[at] = (float)p.b[at];
    const sketching_x_t wide = {.rows = p.rank, .columns = FEATURES, .dense = b};
    for (size_t m = 0; m < TEST_COUNT(methods); m++)
        for (uint64_t seed = 0; seed < 10; seed++) {
            sketching_options_t options = {methods[m], &algebra_plain, 0.9, 0.1, SIZE, 0, seed, 0};
            sketching_result_t known, sketch;
            sketching_features_t features;
            assert_true(sketching_features_create(&wide, &features));
            assert_int_equal(sketching_sketch(&features, &options, &known, NULL), ATTN_OK);
            sketching_features_destroy(&features);
            for (int way = 0; way < 4; way++) {
                options.solver = way & 1 ? algebra_best() : &algebra_plain;
                test_label("%s, seed %d, way %d", sketching_names[methods[m]], (int)seed, way);
                assert_true(sketching_features_create(&p.forms[way / 2], &features));
                assert_int_equal(sketching_sketch(&features, &options, &sketch, NULL), ATTN_OK);
                assert_int_equal(sketch.rank, p.rank);
                assert_int_equal(sketch.size, known.size);
                assert_memory_equal(sketch.kept, known.kept,
                                    (size_t)known.size * sizeof *known.kept);
                sketching_result_destroy(&sketch);
                sketching_features_destroy(&features);
            }
            sketching_result_destroy(&known);
        }
}

/** Theorem 4.2 of a tall X: within what so many features promise. */
static void barriers_keep_the_spectrum(void **state) {
    (void)state;
    static product_t p;
    for (int64_t rank = 1; rank <= 11; rank += 5) {
        const sketching_options_t options = {
            SKETCHING_DETERMINISTIC, &algebra_plain, 0.9, 0.1, SIZE, 0, 0, 0};
        sketching_features_t features;
        sketching_result_t sketch;
        sketching_distance_t distance;
        fill(&p, rank);
        assert_true(sketching_features_create(&p.forms[0], &features));
        assert_int_equal(sketching_sketch(&features, &options, &sketch, NULL), ATTN_OK);
        assert_int_equal(
            sketching_measure(&features, &algebra_plain, sketch.y, sketch.size, &distance, NULL),
            ATTN_OK);
        test_label("rank %d", (int)rank);
        assert_true(distance.distortion <= attn_barrier_distortion(rank, SIZE) + 0x1p-20);
        sketching_result_destroy(&sketch);
        sketching_features_destroy(&features);
    }
}

/** 20000 x 8, of which n x n would be 3.2 GB: all methods, in a moment. */
static void many_rows_take_no_square(void **state) {
    (void)state;
    enum { MANY = 20000, FEW = 8 };
    float *x = calloc((size_t)MANY * FEW, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < MANY; i++)
        for (int64_t j = 0; j < FEW; j++) /* rank 3 */
            x[i * FEW + j] =
                (float)(digit(3, i) + digit(4, i) * (j % 3) + digit(5, i) * (j / 4)) / 64;
    const sketching_x_t dense = {.rows = MANY, .columns = FEW, .dense = x};
    sketching_features_t features;
    assert_true(sketching_features_create(&dense, &features));
    for (int method = 0; method < SKETCHING_METHODS; method++)
        for (int64_t size = 5; size <= FEW; size += 3) {
            const sketching_options_t options = {
                (enum sketching_method)method, &algebra_plain, 0.9, 0.1, size, 0, 1, 0};
            sketching_result_t sketch;
            test_label("%s to %d", sketching_names[method], (int)size);
            assert_int_equal(sketching_sketch(&features, &options, &sketch, NULL), ATTN_OK);
            assert_true(sketch.rank == 3 || sketch.rank < 0);
            if (size == FEW) assert_memory_equal(sketch.y, x, (size_t)MANY * FEW * sizeof *x);
            sketching_result_destroy(&sketch);
        }
    sketching_features_destroy(&features);
    free(x);
}

TEST_MAIN(cmocka_unit_test(scores_are_those_of_the_rows_space),
          cmocka_unit_test(choices_are_those_of_a_wide_basis),
          cmocka_unit_test(barriers_keep_the_spectrum), cmocka_unit_test(many_rows_take_no_square))
