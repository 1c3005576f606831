/* Features that stand alone, of which an embedding may lose differences: scores keep their factor all the same. */
#include "inputs.h"
#include "sketch/matrices.h"
#include "sketching/scores.h"
#include "sketching/sketch.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether two features share 3 of their 4 buckets, with signs that are all the same or all opposite there. */
static int shares_three(const attn_sketch_entry_t *entries, int64_t features) {
    for (int64_t j = 0; j < features; j++)
        for (int64_t k = 0; k < j; k++) {
            double product = 0;
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 4; b++)
                    if (entries[4 * j + a].column == entries[4 * k + b].column)
                        product += (double)(entries[4 * j + a].weight * entries[4 * k + b].weight);
            if (fabs(product) >= 0.75) return 1;
        }
    return 0;
}

/* What scores of `attn sketch --method leverage` are off by at most. */
static double factor_of_seed(const sketching_features_t *features, const double *exact,
                             uint64_t seed, double factor) {
    const sketching_options_t options = {
        SKETCHING_APPROXIMATE, &algebra_plain, 0.5, 0.1, 600, 0, seed, factor};
    sketching_result_t sketch;
    double off = 1;
    assert_int_equal(sketching_sketch(features, &options, &sketch, NULL), ATTN_OK);
    for (int64_t j = 0; j < features->x->columns; j++)
        off = fmax(off, fmax(sketch.scores[j] / exact[j], exact[j] / sketch.scores[j]));
    sketching_result_destroy(&sketch);
    return off;
}

/**
 * Of 64 features that stand alone, and all their pairs' sums and differences at 10^-4 of them, an embedding loses the difference
 * of two that share 3 of their 4 buckets with the same signs: |S (e_j - e_k)|^2 is then a quarter of what it should be, and the score of
 * that difference 4 times too large. At 1,024 buckets this befalls one of 2016 pairs in 1 of 22,000 seeds: 4 * 1020 of
 * the (1024 over 4) ways to draw 4, and a quarter of the signs. 60,000 seeds' draws are looked through for them: whatever becomes of such
 * a seed, its scores are within the factor. So they are for most of the others, for a factor of 2, which two shared buckets miss.
 */
static void features_that_stand_alone_keep_the_factor(void **state) {
    (void)state;
    enum { ROWS = 64, COLUMNS = ROWS * ROWS, SEEDS = 60000, MORE = 300 };
    static float x[ROWS * COLUMNS];
    int64_t j = ROWS;
    memset(x, 0, sizeof x);
    for (int64_t i = 0; i < ROWS; i++) x[i * COLUMNS + i] = 1;
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t k = 0; k < i; k++)
            for (int sign = -1; sign <= 1; sign += 2, j++) {
                x[i * COLUMNS + j] = 1e-4f;
                x[k * COLUMNS + j] = 1e-4f * (float)sign;
            }
    const sketching_x_t dense = {.rows = ROWS, .columns = COLUMNS, .dense = x};
    sketching_features_t features = features_of(&dense);
    sketching_basis_t basis;
    static double exact[COLUMNS];
    assert_true(sketching_basis_exact(&features, &algebra_plain, &basis));
    assert_true(sketching_scores(&features, &basis, exact));
    sketching_basis_destroy(&basis);
    int found = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const attn_sketch_part_t part = {0, ROWS, 16 * ROWS, seed};
        attn_sketch_entry_t entries[4 * ROWS];
        attn_sketch_osnap(entries, &part, 4);
        if (!shares_three(entries, ROWS)) continue;
        found++;
        test_label("seed %d", (int)seed);
        assert_true(factor_of_seed(&features, exact, seed, 3) <= 3);
    }
    print_message("%d of %d seeds have features that share 3 buckets with the same signs\n", found,
                  SEEDS);
    assert_true(found > 0);
    int failed = 0;
    for (uint64_t seed = 0; seed < MORE; seed++)
        failed += test_takes_case() && factor_of_seed(&features, exact, seed, 2) > 2;
    print_message("a factor of 2: above it for %d of %d seeds\n", failed, MORE);
    assert_int_equal(failed, 0);
    sketching_features_destroy(&features);
}

TEST_MAIN(cmocka_unit_test(features_that_stand_alone_keep_the_factor))
