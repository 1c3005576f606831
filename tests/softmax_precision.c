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
    problem.backward = dtype == ATTN_BF16;
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

/* dV of one key, whose weights are 1, where each of so many dO is this number. */
static double value_gradient(const attn_context_t *context, const char *precision, float number) {
    attn_problem_t problem = fixture_problem(1, 1, 64, 1, 3, 2);
    char settings[32];
    problem.backward = 1;
    snprintf(settings, sizeof settings, "precision=%s", precision);
    attn_plan_t *plan = fixture_plan(context, "softmax", &problem, settings);
    arrays_t arrays = arrays_create(&problem, LAYOUT_BHND, 1);
    arrays_run(&arrays, plan);
    attn_io_t gradients;
    attn_io_init(&gradients);
    float out[64 * 2], value[2];
    for (size_t i = 0; i < TEST_COUNT(out); i++) out[i] = number;
    gradients.out = attn_tensor_bhnd(out, 1, 1, 64, 2);
    gradients.value = attn_tensor_bhnd(value, 1, 1, 1, 2);
    attn_error_t error = {0};
    if (attn_backward(plan, &arrays.io, &gradients, &error)) test_fail("%s", error.message);
    arrays_destroy(&arrays);
    attn_plan_destroy(plan);
    return (double)value[0];
}

/** A number between two of bf16 shows of which products a gradient is. */
static void gradients_are_of_the_same_products(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    const int bf16 = fixture_multiplies_bf16(context);
    const double whole = 64 * (1 + 0x1p-10), off = 64 * 0x1p-20;
    static const int64_t at[4] = {0};
    compare_number(value_gradient(context, "f32", 1 + 0x1p-10f), whole, off, "f32", at);
    compare_number(value_gradient(context, "bf16x3", 1 + 0x1p-10f), whole, off, "bf16x3", at);
    compare_number(value_gradient(context, "bf16", 1 + 0x1p-10f), bf16 ? 64 : whole, off, "bf16",
                   at);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(products_of_bf16), cmocka_unit_test(products_of_integers),
          cmocka_unit_test(gradients_are_of_the_same_products))
