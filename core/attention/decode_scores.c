/* Scores and weights of plans that decode: products with the keys where they are, straight into the rows of the result.
 * Needs no more workspace than a run. */
#include "attention/span_iterator.h"
#include "attention/units.h"

#include <math.h>

/* Rows that read a unit of keys, a few at a time. */
typedef struct decode_scores_run {
    const exact_plan_t *plan;
    const attn_io_t *io;
    exact_units_t units;
    int64_t rows, parts; /* of a unit, and in how many tasks */
    char *scratch;       /* of each worker */
    uint64_t scratch_size;
} decode_scores_run_t;

static decode_scores_run_t begin(const exact_plan_t *plan, const attn_io_t *io,
                                 exact_units_t units) {
    attn_arena_t scratch = {.base = NULL}, arena = {.base = io->workspace};
    plan->decode->scratch(&plan->problem, &scratch);
    decode_scores_run_t run = {
        .plan = plan, .io = io, .units = units, .scratch_size = scratch.used};
    run.rows = attn_unit_rows(plan, units);
    run.parts = (run.rows - 1) / DECODE_ROWS + 1;
    run.scratch = attn_arena_take(&arena, attn_host_workers(plan->host), scratch.used);
    return run;
}

static void fill(float *const *rows, int64_t count, int64_t keys, float value) {
    for (int64_t r = 0; r < count; r++)
        for (int64_t j = 0; j < keys; j++) rows[r][j] = value;
}

/* Scores of the keys that a pattern's spans have. */
static void score_pattern(const exact_plan_t *plan, decode_task_t *task, int32_t stage,
                          float *const *rows, void *scratch) {
    attn_key_span_t spans[DECODE_RUNS];
    attn_span_iterator_t walk;
    attn_queries_t queries = attn_all_queries(task->head);
    queries.lines = 1; /* what they see depends on their numbers alone */
    task->pattern = plan->pattern;
    task->runs = spans;
    attn_spans_begin(&walk, plan->pattern, task->head, &queries, 1);
    while ((task->run_count = attn_spans_take(&walk, spans, DECODE_RUNS, INT64_MAX / 2, 1)) > 0)
        plan->decode->score(task, stage, rows, scratch);
}

/* All scores of a unit's rows from number `first` on, to rows[r][j]. Before masking those of all keys are wanted. */
static void score(const exact_plan_t *plan, const attn_head_t *head, int64_t first, int64_t count,
                  int32_t stage, float *const *rows, void *scratch) {
    const attn_queries_t all = attn_all_queries(head);
    const int64_t keys = plan->problem.keys;
    const int weights = stage == ATTN_SCORES_WEIGHTS, masked = stage == ATTN_SCORES_MASKED;
    const attn_key_span_t whole = {.last = keys};
    decode_task_t task = {
        .head = head, .heads = 1, .first = first, .count = count, .runs = &whole, .run_count = 1};
    if (weights || masked) fill(rows, count, keys, -INFINITY);
    if (plan->pattern && (weights || masked))
        score_pattern(plan, &task, stage, rows, scratch);
    else
        plan->decode->score(&task, stage, rows, scratch);
    for (int64_t r = 0; weights && r < count; r++)
        plan->decode->weigh(head, attn_place_of(head, &all, first + r), rows[r]);
}

static void score_task(void *data, int64_t number, uint32_t worker) {
    const decode_scores_run_t *run = data;
    const attn_head_t head = attn_unit(run->plan, run->io, run->units, number / run->parts);
    const attn_queries_t all = attn_all_queries(&head);
    const int64_t first = number % run->parts * DECODE_ROWS;
    const int64_t count = attn_min(DECODE_ROWS, run->rows - first);
    float *rows[DECODE_ROWS];
    for (int64_t r = 0; r < count; r++) {
        const attn_place_t at = attn_place_of(&head, &all, first + r);
        rows[r] = attn_row(&run->io->scores, at.batch, at.head, at.query);
    }
    score(run->plan, &head, first, count, run->plan->problem.scores, rows,
          run->scratch + worker * run->scratch_size);
}

void attn_decode_scores(const exact_plan_t *plan, const attn_io_t *io) {
    decode_scores_run_t run = begin(plan, io, attn_units_of(plan, io));
    attn_host_parallel_for(plan->host, attn_unit_count(plan, run.units) * run.parts, score_task,
                           &run);
}

void attn_decode_weights(const exact_plan_t *plan, const attn_io_t *io, attn_place_t at,
                         int64_t count, float *rows, int64_t row_stride) {
    const attn_problem_t *problem = &plan->problem;
    const int64_t group = attn_group(problem), number = at.head / group;
    const decode_scores_run_t run = begin(plan, io, attn_single_units());
    const attn_head_t head = attn_unit(plan, io, run.units, at.batch * problem->kv_heads + number);
    const int64_t first = (at.head - number * group) * problem->queries + at.query;
    for (int64_t done = 0; done < count; done += DECODE_ROWS) {
        const int64_t some = attn_min(DECODE_ROWS, count - done);
        float *to[DECODE_ROWS];
        for (int64_t r = 0; r < some; r++) to[r] = rows + (done + r) * row_stride;
        score(plan, &head, first + done, some, ATTN_SCORES_WEIGHTS, to, run.scratch);
    }
}
