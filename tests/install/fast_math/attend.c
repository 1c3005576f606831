/* A program of a parent project under -ffast-math: attention against the oracle with a mask, NaN behind it, and a
 * query that sees nothing; a scale that is infinite is refused; and loading the library leaves denormals alone. As its
 * own comparisons may say anything of NaN and infinity, it looks at bits. */
#include <attn/attn.h>
#include <attn/oracle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUERIES = 19, KEYS = 37, DIM = 16, VALUE_DIM = 9 };

static float query[QUERIES * DIM], key[KEYS * DIM], value[KEYS * VALUE_DIM],
    out[QUERIES * VALUE_DIM];
static float bias[QUERIES * KEYS];

static float of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    return 1;
}

/* In [-1, 1). */
static void fill(float *numbers, int count) {
    static uint32_t state = 1;
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        numbers[i] = (float)(int32_t)state * 0x1p-31f;
    }
}

/* |S| <= d / 4 = 4 with an error of (d + 3) u 4 each; twice that, exp's and those of sums of m terms relative to
 * the sum of absolute terms. */
static int compare(const attn_problem_t *problem, const attn_io_t *io) {
    const double bound = (2.0 * (DIM + 3) * 4 + KEYS + 16) * 0x1p-24;
    double exact[VALUE_DIM], magnitude[VALUE_DIM], scratch[KEYS];
    for (int i = 0; i < QUERIES; i++) {
        attn_oracle_row(problem, io, 0, 0, i, exact, NULL, NULL, magnitude, scratch);
        for (int c = 0; c < VALUE_DIM; c++) {
            uint32_t bits;
            memcpy(&bits, &out[i * VALUE_DIM + c], sizeof bits);
            if ((bits & 0x7f800000u) == 0x7f800000u) return fail("output that is not finite");
            const double off = (double)out[i * VALUE_DIM + c] - exact[c];
            if (off > bound * magnitude[c] || -off > bound * magnitude[c])
                return fail("output is wrong");
        }
    }
    return 0;
}

int main(void) {
    attn_error_t error = {0};
    attn_context_t *context = NULL;
    attn_plan_t *plan = NULL;
    attn_problem_t problem;
    attn_problem_init(&problem, 1, 1, QUERIES, KEYS, DIM, VALUE_DIM);
    if (attn_context_create(NULL, &context, &error)) {
        fprintf(stderr, "%s\n", error.message);
        return error.status == ATTN_ERROR_UNSUPPORTED ? 77 : 1; /* this machine lacks the tier */
    }
    volatile float denormal = of_bits(1), unity = 1.0f;
    volatile float same = denormal * unity;
    uint32_t bits;
    memcpy(&bits, (const void *)&same, sizeof bits);
    if (EXPECT_DENORMALS && bits != 1) return fail("the library made denormals zero");

    problem.scale = of_bits(0x7f800000u);
    if (attn_plan_create(context, "softmax", &problem, NULL, 0, &plan, &error) == ATTN_OK)
        return fail("an infinite scale is accepted");
    problem.scale = 0.25f;
    problem.inputs = ATTN_INPUT_BIAS;
    problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    if (attn_plan_create(context, "softmax", &problem, NULL, 0, &plan, &error))
        return fail(error.message);

    fill(query, QUERIES * DIM);
    fill(key, KEYS * DIM);
    fill(value, KEYS * VALUE_DIM);
    for (int i = 0; i < QUERIES; i++)
        for (int j = 0; j < KEYS; j++)
            if (j == 5 || i == 7 || (i + j) % 11 == 0) bias[i * KEYS + j] = of_bits(0xff800000u);
    for (int c = 0; c < DIM; c++) key[5 * DIM + c] = of_bits(0x7fc00000u);
    for (int c = 0; c < VALUE_DIM; c++) value[5 * VALUE_DIM + c] = of_bits(0x7fc00000u);

    const size_t size = (size_t)attn_plan_workspace_size(plan);
    attn_io_t io = {
        .struct_size = sizeof io,
        .query = attn_tensor_bhnd(query, 1, 1, QUERIES, DIM),
        .key = attn_tensor_bhnd(key, 1, 1, KEYS, DIM),
        .value = attn_tensor_bhnd(value, 1, 1, KEYS, VALUE_DIM),
        .bias = attn_tensor_bhnd(bias, 1, 1, QUERIES, KEYS),
        .out = attn_tensor_bhnd(out, 1, 1, QUERIES, VALUE_DIM),
        .workspace = aligned_alloc(ATTN_ALIGNMENT, size + ATTN_ALIGNMENT - size % ATTN_ALIGNMENT),
        .workspace_size = size,
    };
    if (attn_run(plan, &io, &error)) return fail(error.message);
    const int status = compare(&problem, &io);
    free(io.workspace);
    attn_plan_destroy(plan);
    attn_context_destroy(context);
    return status;
}
