/* The template by vectors, which is written against core/simd, on every tier against its formula. */
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>

static const char *const ID = "org.libattn.template.simd";
enum { WIDTH = 3 };

static attn_context_t *context_with_plugin(void) {
    attn_context_t *context = fixture_context(3);
    attn_error_t error = {0};
    test_label("load " SIMD_PATH);
    if (attn_plugin_load(context, SIMD_PATH, &error)) test_fail("%s", error.message);
    return context;
}

static double logit(const attn_problem_t *p, int64_t i, int64_t j) {
    return -fabs((double)(attn_query_position(p, p->keys, i) - j)) / WIDTH;
}

/*
 * In units of 2^-24, of the sum of absolute terms: a logit of size l takes four roundings of at most l (scale, product,
 * largest, difference), an exponential is within 2 units in the last place, which are at most 4; both are in the weight
 * and in its divisor; sums of m terms are off by m each, and a weight is divided once.
 */
static double roundings(const attn_problem_t *p, int64_t i) {
    const double most = fmax(fabs(logit(p, i, 0)), fabs(logit(p, i, p->keys - 1)));
    return 2 * (4 * most + 4) + 2 * (double)p->keys + 1;
}

static void check_row(const arrays_t *arrays, int64_t h, int64_t i) {
    const attn_problem_t *p = &arrays->problem;
    const int64_t seen = attn_causal_limit(p, i);
    double total = 0;
    for (int64_t j = 0; j < seen; j++) total += exp(logit(p, i, j));
    for (int64_t c = 0; c < p->value_dim; c++) {
        double out = 0, magnitude = 0;
        for (int64_t j = 0; j < seen; j++) {
            const double term =
                exp(logit(p, i, j)) / total *
                (double)array_get(&arrays->value, 0, h / (p->heads / p->kv_heads), j, c);
            out += term;
            magnitude += fabs(term);
        }
        const int64_t at[4] = {0, h, i, c};
        compare_number((double)array_get(&arrays->out, 0, h, i, c), out,
                       magnitude * roundings(p, i) * 0x1p-24, "out", at);
    }
}

/** Of which all roundings but the sums over values are in the sum of exponentials, and so in its logarithm. */
static void check_lse(const arrays_t *arrays, int64_t h, int64_t i) {
    const attn_problem_t *p = &arrays->problem;
    double total = 0;
    for (int64_t j = 0; j < attn_causal_limit(p, i); j++) total += exp(logit(p, i, j));
    const double lse = log(total);
    const int64_t at[4] = {0, h, i, 0};
    const double tolerance = isinf(lse) ? 0 : (roundings(p, i) + 4 * fabs(lse)) * 0x1p-24;
    compare_number((double)array_get(&arrays->lse, 0, h, i, 0), lse, tolerance, "lse", at);
}

static void every_tier_computes_the_formula(void **state) {
    (void)state;
    attn_context_t *context = context_with_plugin();
    for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++)
        for (int layout = 0; layout < LAYOUT_COUNT; layout++)
            for (int64_t keys = 1; keys <= 67; keys += 22) {
                attn_problem_t problem = fixture_problem(1, 4, 25, keys, 6, keys + 3);
                problem.kv_heads = 2;
                problem.causal = causal;
                test_label("causal %d, layout %d, %d keys", causal, layout, (int)keys);
                arrays_t arrays = arrays_create(&problem, (layout_t)layout, 1);
                fixture_solve(context, ID, "width=3", &arrays);
                for (int64_t h = 0; h < 4; h++)
                    for (int64_t i = 0; i < 25; i++) {
                        check_row(&arrays, h, i);
                        check_lse(&arrays, h, i);
                    }
                arrays_destroy(&arrays);
            }
    attn_context_destroy(context);
}

/** The kernel is that of the tier which the context takes. */
static void the_tier_is_the_hosts(void **state) {
    (void)state;
    attn_context_t *context = context_with_plugin();
    const attn_problem_t problem = fixture_problem(1, 1, 2, 3, 4, 5);
    attn_plan_t *plan = fixture_plan(context, ID, &problem, NULL);
    assert_string_equal(attn_plan_kernel(plan), attn_tier_name(attn_context_tier(context)));
    attn_plan_destroy(plan);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(every_tier_computes_the_formula),
          cmocka_unit_test(the_tier_is_the_hosts))
