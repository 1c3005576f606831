/* Sketched attention over ranks: the same features on every rank, drawn by the seed, as one run of the whole has them. */
#include "shard.h"

#include "support/compare.h"
#include "support/fixture.h"

#include <math.h>
#include <stdlib.h>

static double size_of(const attn_tensor_t *tensor, int64_t b, int64_t h, int64_t i) {
    double sum = 0;
    for (int64_t c = 0; c < tensor->shape[3]; c++) sum += fabs(typed_get(tensor, b, h, i, c));
    return sum;
}

/*
 * Both runs compute logits of the same features. Entries of T are at most `most` / sqrt(s), and of osnap as many fewer as
 * they are larger, so that the absolute terms of a logit are at most most^2 |q|_1 |k|_1 scale; they are rounded d times in
 * each feature of q and k, s times in their product, and a few times more. A weight that moves by e moves the row by 2 e
 * of the largest value; its sum is rounded once a key, and once a rank more.
 */
static double tolerance(const trial_t *trial, int64_t b, int64_t h, int64_t i, double most) {
    const attn_problem_t *p = &trial->problem;
    const int64_t kv_head = h / (p->heads / p->kv_heads);
    double logit = 0, value = 0;
    for (int64_t j = 0; j < p->keys; j++) {
        logit = fmax(logit, size_of(&trial->key.tensor, b, kv_head, j));
        for (int64_t c = 0; c < p->value_dim; c++)
            value = fmax(value, fabs(typed_get(&trial->value.tensor, b, kv_head, j, c)));
    }
    logit *= most * most * size_of(&trial->query.tensor, b, h, i) / sqrt((double)p->dim);
    const double roundings = (double)(3 * p->dim + 16) * logit + (double)(p->keys + 64);
    return 2 * 2 * roundings * 0x1p-24 * value;
}

static void compare(const shard_t *shard, double most) {
    const trial_t *trial = shard->trial;
    const attn_problem_t *p = &trial->problem;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->heads; h++)
            for (int64_t i = 0; i < shard->queries.total; i++) {
                const int64_t of = i < shard->queries.count[0]
                                       ? shard->queries.first[0] + i
                                       : shard->queries.first[1] + i - shard->queries.count[0];
                const double bound = tolerance(trial, b, h, of, most);
                for (int64_t c = 0; c < p->value_dim; c++)
                    compare_number(typed_get(&shard->out.tensor, b, h, i, c),
                                   typed_get(&trial->out.tensor, b, h, of, c), bound, "out",
                                   (int64_t[]){b, h, of, c});
            }
}

/* A normal number is above 6 once in 5e8. */
static const struct {
    trial_subject_t subject;
    double most;
} METHODS[] = {
    {{"sketch", "method=gaussian,size=5,seed=3", {.form = FORM_SOFTMAX}}, 6},
    {{"sketch", "method=ams,eps=0.9", {.form = FORM_SOFTMAX}}, 1},
    {{"sketch", "method=osnap,size=6,sparsity=2", {.form = FORM_SOFTMAX}}, 1},
    {{"sketch", "method=srht,size=9,seed=11", {.form = FORM_SOFTMAX}}, 1},
    {{"sketch", "method=srht,size=64", {.form = FORM_SOFTMAX}}, 1},
};

static void check(const attn_context_t *context, const attn_problem_t *problem, double most,
                  int32_t layout, int32_t way) {
    const look_t look = {.lse = 1};
    trial_t trial = shard_trial(problem, &look);
    trial_label(&trial, trial_subject()->settings);
    trial_solve(context, &trial);
    attn_mpi_plan_t *plan = ranks_plan(context, problem, layout, way);
    shard_t shard = shard_create(&trial, plan);
    shard_run(&shard);
    compare(&shard, most);
    shard_destroy(&shard);
    attn_mpi_plan_destroy(plan);
    trial_destroy(&trial);
}

static void features_are_those_of_the_whole(void **state) {
    static const int64_t sizes[][2] = {{3, 37}, {45, 45}, {45, 90}, {90, 33}};
    attn_context_t *context = fixture_context(2);
    (void)state;
    for (size_t m = 0; m < TEST_COUNT(METHODS); m++)
        for (size_t n = 0; n < TEST_COUNT(sizes); n++)
            for (int32_t causal = 0; causal <= ATTN_CAUSAL_BOTTOM_RIGHT; causal++)
                for (int32_t variant = 0; variant < 4; variant++) {
                    attn_problem_t problem =
                        fixture_problem(2, 4, sizes[n][0], sizes[n][1], 12, 10);
                    problem.causal = causal;
                    if (variant % 2) problem.kv_heads = 2;
                    if (!test_takes_case()) continue;
                    trial_set_subject(&METHODS[m].subject);
                    check(context, &problem, METHODS[m].most, 1 + variant % 2, 1 + variant / 2);
                    trial_set_subject(NULL);
                }
    attn_context_destroy(context);
}

RANKS_MAIN(cmocka_unit_test(features_are_those_of_the_whole))
