#include "shard.h"

#include "support/combined.h"
#include "support/compare.h"
#include "support/fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- arrays ---------------------------------------------------------------------------------- */

typed_t shard_rows(const typed_t *whole, layout_t layout, const attn_mpi_rows_t *rows) {
    const attn_tensor_t *from = &whole->tensor;
    typed_t taken = {0};
    if (!from->data || !rows->total) return taken;
    taken = typed_create(from->dtype, layout,
                         (int64_t[]){from->shape[0], from->shape[1], rows->total, from->shape[3]});
    for (int64_t b = 0; b < from->shape[0]; b++)
        for (int64_t h = 0; h < from->shape[1]; h++)
            for (int64_t i = 0; i < rows->total; i++) {
                const int64_t of =
                    i < rows->count[0] ? rows->first[0] + i : rows->first[1] + i - rows->count[0];
                for (int64_t c = 0; c < from->shape[3]; c++)
                    typed_set(&taken, b, h, i, c, typed_get(from, b, h, of, c));
            }
    typed_seal(&taken);
    return taken;
}

typed_t shard_pairs(const typed_t *whole, layout_t layout, const attn_mpi_rows_t *rows) {
    static const attn_mpi_rows_t one = {.count = {1}, .total = 1};
    return shard_rows(whole, layout, whole->tensor.shape[2] == 1 ? &one : rows);
}

static int64_t row_of(const attn_mpi_rows_t *rows, int64_t i) {
    return i < rows->count[0] ? rows->first[0] + i : rows->first[1] + i - rows->count[0];
}

/* A sum of numbers that all ranks but one leave at 0 is that number. */
void shard_gather(typed_t *whole, const typed_t *rows, const attn_mpi_rows_t *own) {
    const int64_t *shape = whole->tensor.shape;
    const int64_t count = shape[0] * shape[1] * shape[2] * shape[3];
    double *numbers = calloc((size_t)count, sizeof *numbers);
    if (!numbers) test_fail("the test itself has no memory");
    for (int64_t b = 0; rows->tensor.data && b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < own->total; i++)
                for (int64_t c = 0; c < shape[3]; c++)
                    numbers[((b * shape[1] + h) * shape[2] + row_of(own, i)) * shape[3] + c] =
                        typed_get(&rows->tensor, b, h, i, c);
    MPI_Allreduce(MPI_IN_PLACE, numbers, (int)count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int64_t at = 0; at < count; at++)
        typed_set(whole, at / shape[3] / shape[2] / shape[1], at / shape[3] / shape[2] % shape[1],
                  at / shape[3] % shape[2], at % shape[3], numbers[at]);
    free(numbers);
}

void shard_begin(void) {
    static int has_subject;
    if (!has_subject++) trial_next_subject(); /* softmax */
}

trial_t shard_trial(const attn_problem_t *problem, const look_t *look) {
    shard_begin();
    return trial_create(problem, look);
}

shard_t shard_create(trial_t *trial, attn_mpi_plan_t *plan) {
    const attn_problem_t *p = &trial->problem;
    const layout_t layout = (layout_t)((trial->look.layout + ranks_rank()) % LAYOUT_COUNT);
    shard_t s = {.trial = trial, .plan = plan};
    attn_mpi_query_rows(plan, ranks_rank(), &s.queries);
    attn_mpi_key_rows(plan, ranks_rank(), &s.keys);
    s.query = shard_rows(&trial->query, layout, &s.queries);
    s.key = shard_rows(&trial->key, layout, &s.keys);
    s.value = shard_rows(&trial->value, layout, &s.keys);
    s.key_scales = shard_rows(&trial->key_scales, layout, &s.keys);
    s.value_scales = shard_rows(&trial->value_scales, layout, &s.keys);
    s.mask = shard_pairs(&trial->mask, layout, &s.queries);
    s.bias = shard_pairs(&trial->bias, layout, &s.queries);
    if (s.queries.total) {
        s.out = typed_create(p->dtype, layout,
                             (int64_t[]){p->batch, p->heads, s.queries.total, p->value_dim});
        s.lse = typed_create(ATTN_F32, layout, (int64_t[]){p->batch, p->heads, s.queries.total, 1});
    }
    if (s.queries.total && trial->look.scores)
        s.scores = typed_create(ATTN_F32, LAYOUT_BNHD,
                                (int64_t[]){p->batch, p->heads, s.queries.total, p->keys});
    s.io = trial->io;
    s.io.scores = s.scores.tensor;
    s.io.query = s.query.tensor, s.io.key = s.key.tensor, s.io.value = s.value.tensor;
    s.io.key_scales = s.key_scales.tensor, s.io.value_scales = s.value_scales.tensor;
    s.io.mask = s.mask.tensor, s.io.bias = s.bias.tensor;
    s.io.out = s.out.tensor;
    s.io.lse = trial->look.lse ? s.lse.tensor : (attn_tensor_t){.data = NULL};
    return s;
}

void shard_destroy(shard_t *shard) {
    typed_t *const all[] = {&shard->query,        &shard->key,   &shard->value, &shard->key_scales,
                            &shard->value_scales, &shard->mask,  &shard->bias,  &shard->out,
                            &shard->lse,          &shard->scores};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->block) typed_destroy(all[i]);
}

static void check_array(const typed_t *array, const char *name) {
    if (array->block) typed_check(array, name);
}

void shard_run(shard_t *shard) {
    attn_error_t error = {0};
    if (shard->out.block) typed_reset(&shard->out);
    if (shard->lse.block) typed_reset(&shard->lse);
    if (shard->scores.block) typed_reset(&shard->scores);
    if (attn_mpi_run(shard->plan, &shard->io, &error)) test_fail("attn_mpi_run: %s", error.message);
    check_array(&shard->out, "out");
    if (shard->io.lse.data) check_array(&shard->lse, "lse");
    check_array(&shard->scores, "scores");
    check_array(&shard->query, "query");
    check_array(&shard->key, "key");
    check_array(&shard->value, "value");
    check_array(&shard->mask, "mask");
    check_array(&shard->bias, "bias");
}

/* A weight is made of its logit and of an lse that was combined: each is off by its own, and rounded by half a unit. */
static void compare_scores(const shard_t *shard, const exact_t *exact, const int64_t at[4],
                           int64_t row) {
    const attn_problem_t *p = &shard->trial->problem;
    for (int64_t j = 0; shard->scores.block && j < p->keys; j++) {
        double bound = exact_score_bound(exact, p->scores, j);
        if (p->scores == ATTN_SCORES_WEIGHTS && exact->weight[j] > 0)
            bound += exact->weight[j] *
                     (exp(2 * exact->lse_bound + exact_score_bound(exact, ATTN_SCORES_MASKED, j) +
                          0x1p-23 * (fabs(exact->lse) + 1)) -
                      1);
        compare_number(typed_get(&shard->scores.tensor, at[0], at[1], row, j),
                       exact_score(exact, p->scores, j), bound, "scores",
                       (int64_t[]){at[0], at[1], at[2], j});
    }
}

void shard_compare(const shard_t *shard) { shard_compare_under(shard, NULL); }

void shard_compare_under(const shard_t *shard, exact_pattern_t *pattern) {
    const attn_problem_t *p = &shard->trial->problem;
    exact_t exact = trial_exact(shard->trial);
    if (pattern) exact.has = pattern;
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->heads; h++)
            for (int64_t i = 0; i < shard->queries.total; i++) {
                const int64_t of = i < shard->queries.count[0]
                                       ? shard->queries.first[0] + i
                                       : shard->queries.first[1] + i - shard->queries.count[0];
                const int64_t at[4] = {b, h, of, 0};
                exact_row(&exact, p, &shard->trial->io, &EXACT_F32, b, h, of);
                combined_compare_row(&exact, p, &shard->trial->io, at, &shard->io.out,
                                     &shard->io.lse, i, 2 * ranks_size() + 1);
                compare_scores(shard, &exact, at, i);
            }
    exact_destroy(&exact);
}

attn_mpi_plan_t *ranks_plan(const attn_context_t *context, const attn_problem_t *problem,
                            int32_t layout, int32_t way) {
    const attn_mpi_options_t options = {
        .struct_size = sizeof options, .layout = layout, .way = way};
    attn_mpi_plan_t *plan = NULL;
    attn_error_t error = {0};
    attn_param_t params[FIXTURE_SETTINGS];
    char text[256];
    shard_begin();
    snprintf(text, sizeof text, "%s", trial_subject()->settings);
    const uint32_t count = fixture_settings(text, params);
    if (attn_mpi_plan_create(context, MPI_COMM_WORLD, trial_subject()->backend, problem, params,
                             count, &options, &plan, &error))
        test_fail("attn_mpi_plan_create: %s", error.message);
    return plan;
}

/* A mask or a bias with rows of its own. */
static int is_rowwise(const trial_t *trial) {
    return (trial->mask.tensor.data && trial->mask.tensor.shape[2] > 1) ||
           (trial->bias.tensor.data && trial->bias.tensor.shape[2] > 1);
}

void shard_check(const attn_context_t *context, const attn_problem_t *problem, const look_t *look,
                 int32_t layout, int32_t way) {
    trial_t trial = shard_trial(problem, look);
    trial_label(&trial, "on ranks");
    if (way != ATTN_MPI_WAY_TREE || !is_rowwise(&trial)) {
        attn_mpi_plan_t *plan = ranks_plan(context, problem, layout, way);
        shard_t shard = shard_create(&trial, plan);
        shard_run(&shard);
        shard_compare(&shard);
        shard_destroy(&shard);
        attn_mpi_plan_destroy(plan);
    }
    trial_destroy(&trial);
}
