/* Exponents of what does not depend on the clock: counted work, and memory. */
#include "labs/complexity/scaling.h"
#include "labs/statistics.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>

typedef struct expected {
    enum scaling_kind kind;
    double flops,
        flops_off; /* exponent of L, and how far steps of B and lesser terms may move it */
    double working_low, working_high; /* of the bytes beside the arrays */
} expected_t;

/*
 * Table 1 for a constant dimension; softmax keeps no L x L matrix, linear nothing of L at all. Sketch makes
 * 2 L rows of s = d / 2 features, 4 L d s, for logits and sums of L^2 / 2 pairs, (s + d) L^2: at 128 tokens a
 * seventh, by which the slope there is less than 2, and all others are nearer.
 */
static void work_and_memory_grow_as_table_1_says(void **state) {
    (void)state;
    static const expected_t table[] = {{SCALING_SOFTMAX, 2, 0.02, 0.5, 1.01},
                                       {SCALING_SPARSE, 1.5, 0.05, 0.5, 1.05},
                                       {SCALING_LINEAR, 1, 1e-6, -1e-6, 1e-6},
                                       {SCALING_SKETCH, 2, 1.0 / 7, 0.5, 1.01}};
    enum { POINTS = 8 };
    for (size_t i = 0; i < TEST_COUNT(table); i++) {
        double length[POINTS], flops[POINTS], working[POINTS];
        for (int p = 0; p < POINTS; p++) {
            const scaling_request_t request = {
                .kind = table[i].kind, .length = 128 << p, .dim = 16};
            scaling_t result;
            assert_int_equal(scaling_measure(&request, &result, NULL), ATTN_OK);
            length[p] = (double)request.length;
            flops[p] = result.flops;
            working[p] = result.working;
            assert_true(isnan(result.seconds)); // nothing was to be run
        }
        const double growth = statistics_exponent(length, flops, POINTS).value;
        const double memory = statistics_exponent(length, working, POINTS).value;
        test_label("%s", scaling_backend(table[i].kind));
        if (!(fabs(growth - table[i].flops) <= table[i].flops_off)) test_fail("work: %g", growth);
        if (!(memory >= table[i].working_low && memory <= table[i].working_high))
            test_fail("memory: %g", memory);
    }
}

static void runs_take_time(void **state) {
    (void)state;
    for (int kind = 0; kind < SCALING_BACKENDS; kind++) {
        const scaling_request_t request = {
            .kind = (enum scaling_kind)kind, .length = 64, .dim = 8, .budget = 0.005};
        scaling_t result;
        assert_int_equal(scaling_measure(&request, &result, NULL), ATTN_OK);
        assert_true(result.seconds > 0);
        if (isnan(result.low)) /* a slow machine: too few runs for an interval */
            assert_true(isnan(result.high));
        else
            assert_true(result.low <= result.seconds && result.seconds <= result.high);
        assert_true(result.arrays == 4.0 * 64 * 8 * 4);
    }
}

TEST_MAIN(cmocka_unit_test(work_and_memory_grow_as_table_1_says), cmocka_unit_test(runs_take_time))
