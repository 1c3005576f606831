#include "tape.h"

#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const subject_t *tape_next_subject(const attn_context_t *context, const subject_t *subject) {
    subject = subject ? subject + 1 : SUBJECTS;
    while (subject < SUBJECTS + TEST_COUNT(SUBJECTS) &&
           (strstr(subject->settings, "leverage") || !attn_backend_find(context, subject->backend)))
        subject++;
    return subject < SUBJECTS + TEST_COUNT(SUBJECTS) ? subject : NULL;
}

int tape_can(const attn_context_t *context, const subject_t *subject,
             const attn_problem_t *problem) {
    const int has_places =
        subject->formula.form == FORM_SPARSE; /* which only causal gives a stream's queries */
    if (has_places && problem->causal == ATTN_CAUSAL_NONE && problem->window_left < 0) return 0;
    return !(attn_problem_features(problem) &
             ~attn_backend_find(context, subject->backend)->features);
}

attn_stream_t *tape_open(const attn_context_t *context, const subject_t *subject,
                         const attn_problem_t *problem, int64_t max_keys) {
    attn_stream_t *stream = NULL;
    attn_error_t error = {0};
    if (fixture_try_stream(context, subject->backend, problem, subject->settings, max_keys, &stream,
                           &error) != ATTN_OK)
        test_fail("attn_stream_create: %s", error.message);
    return stream;
}

static typed_t filled(attn_dtype_t dtype, const int64_t shape[4], uint64_t seed, double deviation) {
    typed_t array = typed_create(dtype, LAYOUT_PADDED, shape);
    typed_fill(&array, seed, deviation);
    return array;
}

/* Scales of tokens: positive, and not all the same. */
static typed_t scales(const attn_problem_t *p, double base) {
    typed_t array =
        typed_create(ATTN_F32, LAYOUT_BHND, (int64_t[4]){p->batch, p->kv_heads, p->keys, 1});
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t h = 0; h < p->kv_heads; h++)
            for (int64_t j = 0; j < p->keys; j++)
                typed_set(&array, b, h, j, 0, base * (double)(1 + (j + h + b) % 5));
    return array;
}

tape_t tape_create(const attn_context_t *context, const subject_t *subject, const attn_problem_t *p,
                   int64_t max_keys) {
    const int64_t query[4] = {p->batch, p->heads, p->keys, p->dim};
    const int64_t key[4] = {p->batch, p->kv_heads, p->keys, p->dim};
    const int64_t value[4] = {p->batch, p->kv_heads, p->keys, p->value_dim};
    const double deviation = p->kv_dtype == ATTN_I8 ? 40 : 1;
    tape_t tape = {.context = context,
                   .subject = subject,
                   .problem = *p,
                   .query = filled(p->dtype, query, 1, 1),
                   .key = filled(p->kv_dtype, key, 2, deviation),
                   .value = filled(p->kv_dtype, value, 3, deviation)};
    if (p->kv_dtype == ATTN_I8) {
        tape.key_scales = scales(p, 0x1p-7);
        tape.value_scales = scales(p, 0x1p-6);
    }
    const int64_t heads[4] = {1, p->heads, 1, 1};
    if (p->inputs & ATTN_INPUT_SINKS) tape.sinks = filled(ATTN_F32, heads, 4, 1);
    if (p->inputs & ATTN_INPUT_SLOPES) tape.slopes = filled(ATTN_F32, heads, 5, 0.1);
    if (!tape_can(context, subject, p)) tape.problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    tape.stream = tape_open(context, subject, &tape.problem, max_keys);
    return tape;
}

void tape_destroy(tape_t *tape) {
    typed_destroy(&tape->query);
    typed_destroy(&tape->key);
    typed_destroy(&tape->value);
    typed_t *const maybe[] = {&tape->key_scales, &tape->value_scales, &tape->sinks, &tape->slopes};
    for (size_t i = 0; i < TEST_COUNT(maybe); i++)
        if (maybe[i]->block) typed_destroy(maybe[i]);
    attn_stream_destroy(tape->stream);
}

/* Rows [first, first + count) of a tensor. */
attn_tensor_t tape_part(const attn_tensor_t *tensor, int64_t first, int64_t count) {
    attn_tensor_t view = *tensor;
    view.data = (char *)tensor->data + first * tensor->stride[2] * attn_dtype_size(tensor->dtype);
    view.shape[2] = count;
    return view;
}

attn_io_t tape_tokens(const tape_t *tape, int64_t first, int64_t count) {
    attn_io_t io = {.struct_size = sizeof io,
                    .key = tape_part(&tape->key.tensor, first, count),
                    .value = tape_part(&tape->value.tensor, first, count)};
    if (tape->problem.kv_dtype == ATTN_I8) {
        io.key_scales = tape_part(&tape->key_scales.tensor, first, count);
        io.value_scales = tape_part(&tape->value_scales.tensor, first, count);
    }
    return io;
}

attn_status_t tape_try_append(const tape_t *tape, attn_stream_t *stream, int64_t first,
                              int64_t count, attn_error_t *error) {
    const attn_io_t io = tape_tokens(tape, first, count);
    return attn_stream_append(stream, &io, error);
}

void tape_append(const tape_t *tape, attn_stream_t *stream, int64_t first, int64_t count) {
    attn_error_t error = {0};
    if (tape_try_append(tape, stream, first, count, &error) != ATTN_OK)
        test_fail("append: %s", error.message);
}

/* ---- answers ------------------------------------------------------------------------------------- */

answer_t answer_create(const tape_t *tape, int64_t queries) {
    const attn_problem_t *p = &tape->problem;
    const attn_backend_t *backend = attn_backend_find(tape->context, tape->subject->backend);
    answer_t answer = {.out =
                           typed_create(p->dtype, LAYOUT_BHND,
                                        (int64_t[4]){p->batch, p->heads, queries, p->value_dim})};
    if (backend->features & ATTN_FEATURE_LSE)
        answer.lse =
            typed_create(ATTN_F32, LAYOUT_BHND, (int64_t[4]){p->batch, p->heads, queries, 1});
    return answer;
}

void answer_destroy(answer_t *answer) {
    typed_destroy(&answer->out);
    if (answer->lse.block) typed_destroy(&answer->lse);
}

void answer_check_same(const answer_t *a, const answer_t *b) {
    typed_check_same(&a->out, &b->out, "out");
    if (a->lse.block) typed_check_same(&a->lse, &b->lse, "lse");
}

attn_status_t tape_try_ask(const tape_t *tape, attn_stream_t *stream, int64_t first,
                           int64_t queries, answer_t *answer, attn_error_t *error) {
    const attn_io_t io = {.struct_size = sizeof io,
                          .query = tape_part(&tape->query.tensor, first, queries),
                          .sinks = tape->sinks.tensor,
                          .slopes = tape->slopes.tensor,
                          .out = answer->out.tensor,
                          .lse = answer->lse.tensor};
    return attn_stream_query(stream, &io, error);
}

static void check_written(const answer_t *answer) {
    typed_check(&answer->out, "out");
    if (answer->lse.block) typed_check(&answer->lse, "lse");
}

answer_t tape_ask(const tape_t *tape, attn_stream_t *stream, int64_t first, int64_t queries) {
    attn_error_t error = {0};
    answer_t answer = answer_create(tape, queries);
    if (tape_try_ask(tape, stream, first, queries, &answer, &error) != ATTN_OK)
        test_fail("query: %s", error.message);
    check_written(&answer);
    return answer;
}

/* The arrays and the problem of a batch plan over the tokens [0, length) of the tape. */
static attn_io_t batch_io(const tape_t *tape, int64_t length, int64_t queries,
                          attn_problem_t *problem) {
    *problem = tape->problem;
    problem->keys = length;
    problem->queries = queries;
    if (problem->causal != ATTN_CAUSAL_NONE || problem->window_left >= 0)
        problem->causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    attn_io_t io = tape_tokens(tape, 0, length);
    io.query = tape_part(&tape->query.tensor, length - queries, queries);
    io.sinks = tape->sinks.tensor;
    io.slopes = tape->slopes.tensor;
    return io;
}

/* What the plan makes of them. */
static answer_t batch(const tape_t *tape, int64_t length, int64_t queries) {
    attn_problem_t problem;
    attn_io_t io = batch_io(tape, length, queries, &problem);
    attn_plan_t *plan =
        fixture_plan(tape->context, tape->subject->backend, &problem, tape->subject->settings);
    answer_t answer = answer_create(tape, queries);
    const uint64_t size = attn_plan_workspace_size(plan);
    io.out = answer.out.tensor;
    io.lse = answer.lse.tensor;
    io.workspace = aligned_alloc(64, (size / 64 + 1) * 64);
    io.workspace_size = size;
    attn_error_t error = {0};
    if (attn_run(plan, &io, &error) != ATTN_OK) test_fail("attn_run: %s", error.message);
    free(io.workspace);
    attn_plan_destroy(plan);
    return answer;
}

/* ---- against the formula ------------------------------------------------------------------------- */

/* One row: the stream's and the batch's are each within the formula's bound. */
static void compare_row(const tape_t *tape, const reference_t *row, const answer_t *actual,
                        const answer_t *expected, double factor, const int64_t place[3]) {
    const attn_problem_t *p = &tape->problem;
    const int64_t b = place[0], h = place[1], i = place[2];
    for (int64_t c = 0; c < p->value_dim; c++) {
        const int64_t at[4] = {b, h, i, c};
        const double stored = typed_rounding(p->dtype, fabs(row->out[c]) + row->out_bound[c]);
        const double bound = factor * row->out_bound[c] + (p->dtype == ATTN_F32 ? 0 : stored);
        const double x = typed_get(&actual->out.tensor, b, h, i, c);
        const double y = typed_get(&expected->out.tensor, b, h, i, c);
        compare_number(x, row->out[c], bound, "out", at);
        compare_number(x, y, 2 * bound, "out beside the batch's", at);
    }
    if (!actual->lse.block) return;
    compare_number(typed_get(&actual->lse.tensor, b, h, i, 0), row->lse, factor * row->lse_bound,
                   "lse", (int64_t[4]){b, h, i, 0});
}

/* Sums of `factor` times as many terms have bounds no more than so many times as large. */
static void compare_formula(const tape_t *tape, const answer_t *actual, const answer_t *expected,
                            double factor, int64_t length, int64_t queries) {
    attn_problem_t problem;
    const attn_io_t io = batch_io(tape, length, queries, &problem);
    const formula_t *formula = &tape->subject->formula;
    reference_t row = reference_create(&problem);
    for (int64_t b = 0; b < problem.batch; b++)
        for (int64_t h = 0; h < problem.heads; h++)
            for (int64_t i = 0; i < queries; i++) {
                reference_row(&row, formula, &problem, &io, b, h, i);
                if (formula->form == FORM_LINEAR && row.kept > 0 &&
                    fabs(row.normaliser) <= 2 * row.normaliser_bound)
                    continue; /* its sum drowns in rounding */
                compare_row(tape, &row, actual, expected, factor, (int64_t[3]){b, h, i});
            }
    reference_destroy(&row);
}

/* ---- without a formula --------------------------------------------------------------------------- */

/* The longest row of an array. */
static double longest(const typed_t *array) {
    const int64_t *shape = array->tensor.shape;
    double most = 0;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t j = 0; j < shape[2]; j++) {
                double squares = 0;
                for (int64_t c = 0; c < shape[3]; c++)
                    squares += pow(typed_get(&array->tensor, b, h, j, c), 2);
                most = fmax(most, sqrt(squares));
            }
    return most;
}

/*
 * T: an upper limit of |scale| sum_k |q_k k_jk|, by Cauchy and Schwarz. Sketching multiplies both sides by one
 * matrix, whose Frobenius norm has a square of d, or of a chi-square sum with that mean: of at most 2 d.
 */
static double largest_term(const tape_t *tape) {
    const attn_problem_t *p = &tape->problem;
    const double scale = isnan(p->scale) ? 1 / sqrt((double)p->dim) : (double)p->scale;
    return 2 * (double)p->dim * scale * longest(&tape->query) * longest(&tape->key);
}

/*
 * Sketches are the same bits in stream and batch. Two correct computations of one sum over them differ by
 * rounding alone: each is within 2 u ((d + 12) T + 2 m + 24) of the exact one, relative to the sum of
 * absolute terms (support/exact.c; T as above), which is at most `largest`, the largest |v|.
 */
static void compare(const typed_t *actual, const typed_t *expected, const tape_t *tape,
                    double largest, const char *name) {
    const int64_t *shape = actual->tensor.shape;
    const double d = (double)tape->problem.dim, m = (double)tape->problem.keys;
    const double bound = 4 * 0x1p-24 * ((d + 12) * largest_term(tape) + 2 * m + 24) * largest;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t c = 0; c < shape[3]; c++)
                    compare_number(typed_get(&actual->tensor, b, h, i, c),
                                   typed_get(&expected->tensor, b, h, i, c), bound, name,
                                   (int64_t[4]){b, h, i, c});
}

static void expect(const tape_t *tape, attn_stream_t *stream, double factor, int64_t length,
                   int64_t queries) {
    answer_t actual = tape_ask(tape, stream, length - queries, queries);
    answer_t expected = batch(tape, length, queries);
    if (tape->subject->exact) {
        compare_formula(tape, &actual, &expected, factor, length, queries);
    } else {
        compare(&actual.out, &expected.out, tape, longest(&tape->value), "out");
        compare(&actual.lse, &expected.lse, tape, 1, "lse");
    }
    answer_destroy(&actual);
    answer_destroy(&expected);
}

void tape_expect_batch(const tape_t *tape, attn_stream_t *stream, int64_t length, int64_t queries) {
    assert_int_equal(attn_stream_length(stream), length);
    expect(tape, stream, 1, length, queries);
}

void tape_expect_repeated(const tape_t *tape, attn_stream_t *stream, int64_t times,
                          int64_t queries) {
    assert_int_equal(attn_stream_length(stream), times * tape->problem.keys);
    expect(tape, stream, (double)times, tape->problem.keys, queries);
}

attn_problem_t tape_problem(int64_t tokens) {
    attn_problem_t problem = fixture_problem(2, 4, 1, tokens, 19, 11);
    problem.kv_heads = 2;
    return problem;
}
