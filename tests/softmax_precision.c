/* Which products softmax takes for a precision, on each tier. */
#include "support/exact.h"
#include "support/fixture.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static attn_plan_t *plan_of(const attn_context_t *context, attn_dtype_t dtype,
                            const char *precision) {
    attn_problem_t problem = fixture_problem(1, 1, 200, 200, 8, 8);
    char settings[32];
    problem.dtype = problem.kv_dtype = dtype;
    snprintf(settings, sizeof settings, "precision=%s", precision);
    return fixture_plan(context, "softmax", &problem, settings);
}

static int parts_of(const attn_context_t *context, attn_dtype_t dtype, const char *precision) {
    attn_plan_t *plan = plan_of(context, dtype, precision);
    const int parts = exact_parts(plan);
    attn_plan_destroy(plan);
    return parts;
}

/** Products of bf16 are taken where they are faster: one or three for each of floats by vectors, and six by tiles. */
static void products_of_bf16(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const int floats = attn_context_tier(context) == ATTN_TIER_AMX ? 3 : 0;
    const int bf16 = fixture_multiplies_bf16(context);
    assert_int_equal(parts_of(context, ATTN_F32, "auto"), floats);
    assert_int_equal(parts_of(context, ATTN_F32, "f32"), floats);
    assert_int_equal(parts_of(context, ATTN_F16, "auto"), floats);
    assert_int_equal(parts_of(context, ATTN_BF16, "f32"), floats);
    assert_int_equal(parts_of(context, ATTN_BF16, "auto"), bf16 ? 1 : 0);
    assert_int_equal(parts_of(context, ATTN_F32, "bf16"), bf16 ? 1 : 0);
    assert_int_equal(parts_of(context, ATTN_F32, "bf16x3"), bf16 ? 2 : 0);
    attn_context_destroy(context);
}

/* The tier whose integer products another has, where it is not its own. */
static attn_tier_t integers_of(attn_tier_t tier) {
    if (tier == ATTN_TIER_AVX512BF16) return ATTN_TIER_AVX512VNNI;
    return tier == ATTN_TIER_NEONBF16 ? ATTN_TIER_NEONI8MM : tier;
}

/** Those of 8 bits are the tier's own; those of 16 are vectors', also where tiles multiply bytes. */
static void products_of_integers(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const attn_tier_t own = integers_of(attn_context_tier(context));
    for (int bits = 8; bits <= 16; bits += 8) {
        const attn_tier_t tier = own == ATTN_TIER_AMX && bits == 16 ? ATTN_TIER_AVX512VNNI : own;
        const char *name = attn_tier_name(tier);
        attn_plan_t *plan = plan_of(context, ATTN_F32, bits == 8 ? "int8" : "int16");
        const char *kernel = attn_plan_kernel(plan), *behind = kernel + strlen(name);
        test_label("kernel '%s'", kernel);
        assert_int_equal(strncmp(kernel, name, strlen(name)), 0);
        assert_int_equal(*behind, ' ');
        assert_non_null(strstr(behind, bits == 8 ? " int8 " : " int16 "));
        attn_plan_destroy(plan);
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(products_of_bf16), cmocka_unit_test(products_of_integers))
