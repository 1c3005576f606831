/* ALiBi's slopes for any number of heads, against the paper's code. */
#include "attn/attn.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_HEADS = 300 };

/*
 * The paper's get_slopes(), as it is written there, recursion and all (github.com/ofirpress/attention_with_linear_biases).
 */
static void paper_slopes(double *slopes, int heads) {
    const double exponent = log2(heads);
    if (exponent == floor(exponent)) {
        const double start = exp2(-exp2(-(exponent - 3)));
        for (int i = 0; i < heads; i++) slopes[i] = start * pow(start, i);
        return;
    }
    const int closest = (int)exp2(floor(exponent));
    double more[2 * MOST_HEADS];
    paper_slopes(slopes, closest);
    paper_slopes(more, 2 * closest);
    for (int i = 0; i < heads - closest; i++) slopes[closest + i] = more[2 * i];
}

/** Within the rounding of pow(), which is far below that to float. */
static void are_the_papers(void **state) {
    (void)state;
    for (int heads = 1; heads <= MOST_HEADS; heads++) {
        float slopes[MOST_HEADS + 1];
        double expected[MOST_HEADS];
        slopes[heads] = 7;
        test_label("%d heads", heads);
        assert_int_equal(attn_alibi_slopes(slopes, heads, NULL), ATTN_OK);
        paper_slopes(expected, heads);
        for (int i = 0; i < heads; i++)
            if (!(fabs((double)slopes[i] - expected[i]) <= 0x1p-24 * expected[i] * 1.001))
                test_fail("slope %d is %.9g, not %.9g", i, (double)slopes[i], expected[i]);
        assert_true(slopes[heads] == 7);
    }
}

/** BLOOM-like 12 heads, by hand: eight halvings, then the odd ones of sixteen. */
static void of_twelve_heads(void **state) {
    (void)state;
    float slopes[12];
    assert_int_equal(attn_alibi_slopes(slopes, 12, NULL), ATTN_OK);
    for (int i = 0; i < 8; i++) assert_true(slopes[i] == (float)exp2(-(i + 1)));
    for (int i = 0; i < 4; i++) assert_true(slopes[8 + i] == (float)exp2(-0.5 * (2 * i + 1)));
}

static void of_no_heads_are_refused(void **state) {
    (void)state;
    float slope = 7;
    for (int64_t heads = -1; heads < 1; heads++) {
        attn_error_t error = {0};
        assert_int_equal(attn_alibi_slopes(&slope, heads, &error), ATTN_ERROR_RANGE);
        assert_non_null(strstr(error.message, "at least 1"));
        assert_true(slope == 7);
    }
}

TEST_MAIN(cmocka_unit_test(are_the_papers), cmocka_unit_test(of_twelve_heads),
          cmocka_unit_test(of_no_heads_are_refused))
