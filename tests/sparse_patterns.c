/* sparse's patterns of positions with all that a problem may ask for beside them: as a mask of all pairs would. */
#include "sparse_scene.h"

#include "support/reference.h"

#include <stdio.h>

static const char *const names[PATTERN_COUNT] = {"band",       "fixed",   "strided", "window",
                                                 "longformer", "bigbird", "dilated"};

static void keep(const formula_t *formula, scene_t *s) {
    const attn_problem_t *p = &s->problem;
    FOR_EACH_ROW(p, at) {
        const int64_t position = exact_position(p, &s->io, at[0], at[2]);
        for (int64_t j = 0; j < p->keys; j++)
            typed_set(&s->kept, at[0], at[1], at[2], j,
                      exact_sees(p, &s->io, at[0], at[1], at[2], j) &&
                          reference_keeps(formula, position, j));
    }
}

static void check(const attn_context_t *context, const attn_problem_t *problem,
                  const formula_t *formula, uint64_t number) {
    scene_t s = scene_create(problem, number);
    snprintf(s.settings, sizeof s.settings,
             "pattern=%s,block=%d,local=%d,global=%d,stride=%d,random=%d,seed=%d",
             names[formula->pattern], (int)formula->block, (int)formula->local,
             (int)formula->global, (int)formula->stride, (int)formula->random, (int)formula->seed);
    keep(formula, &s);
    scene_spoil_values(&s);
    scene_spoil_keys(&s);
    scene_check(context, &s);
}

/* Blocks from one key to all; the problems that scene_problem() has go round after MANY. */
static void equals_a_mask(void **state) {
    (void)state;
    enum { MANY = 42 };
    static const int64_t sizes[][2] = {{41, 41}, {1, 60}, {17, 50}, {30, 13}, {41, 41}};
    static const int64_t shapes[][4] = {{1, 3, 1, 5}, {7, 1, 3, 2}, {60, 2, 0, 3}};
    attn_context_t *context = fixture_context(2);
    for (int pattern = 0; pattern < PATTERN_COUNT; pattern++)
        for (size_t k = 0; k < TEST_COUNT(shapes); k++)
            for (uint64_t number = 0; number < MANY; number++) {
                const attn_problem_t problem =
                    scene_problem(number, sizes[number % TEST_COUNT(sizes)], 6);
                const formula_t formula = {.form = FORM_SPARSE,
                                           .pattern = (formula_pattern_t)pattern,
                                           .block = shapes[k][0],
                                           .local = shapes[k][1],
                                           .global = shapes[k][2],
                                           .stride = shapes[k][3],
                                           .random = 2,
                                           .seed = number,
                                           .causal = problem.causal != ATTN_CAUSAL_NONE,
                                           .among = (problem.keys - 1) / shapes[k][0] + 1};
                if (test_takes_case()) check(context, &problem, &formula, number);
            }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(equals_a_mask))
