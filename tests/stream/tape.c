#include "tape.h"

#include "support/test.h"

#include <math.h>
#include <stdlib.h>

attn_stream_t *tape_open(const attn_context_t *context, const attn_problem_t *problem,
                         int64_t max_keys) {
    attn_stream_t *stream = NULL;
    attn_error_t error = {0};
    if (attn_stream_create(context, "softmax", problem, max_keys, &stream, &error) != ATTN_OK)
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

tape_t tape_create(const attn_context_t *context, const attn_problem_t *p, int64_t max_keys) {
    const int64_t query[4] = {p->batch, p->heads, p->keys, p->dim};
    const int64_t key[4] = {p->batch, p->kv_heads, p->keys, p->dim};
    const int64_t value[4] = {p->batch, p->kv_heads, p->keys, p->value_dim};
    const double deviation = p->kv_dtype == ATTN_I8 ? 40 : 1;
    tape_t tape = {.context = context,
                   .problem = *p,
                   .query = filled(p->dtype, query, 1, 1),
                   .key = filled(p->kv_dtype, key, 2, deviation),
                   .value = filled(p->kv_dtype, value, 3, deviation)};
    if (p->kv_dtype == ATTN_I8) {
        tape.key_scales = scales(p, 0x1p-7);
        tape.value_scales = scales(p, 0x1p-6);
    }
    tape.stream = tape_open(context, p, max_keys);
    return tape;
}

void tape_destroy(tape_t *tape) {
    typed_destroy(&tape->query);
    typed_destroy(&tape->key);
    typed_destroy(&tape->value);
    if (tape->key_scales.block) typed_destroy(&tape->key_scales);
    if (tape->value_scales.block) typed_destroy(&tape->value_scales);
    attn_stream_destroy(tape->stream);
}

/* Rows [first, first + count) of a tensor. */
attn_tensor_t tape_part(const attn_tensor_t *tensor, int64_t first, int64_t count) {
    attn_tensor_t view = *tensor;
    view.data = (char *)tensor->data + first * tensor->stride[2] * attn_dtype_size(tensor->dtype);
    view.shape[2] = count;
    return view;
}

attn_status_t tape_try_append(const tape_t *tape, attn_stream_t *stream, int64_t first,
                              int64_t count, attn_error_t *error) {
    const int quantised = tape->problem.kv_dtype == ATTN_I8;
    const attn_tensor_t key = tape_part(&tape->key.tensor, first, count),
                        value = tape_part(&tape->value.tensor, first, count);
    attn_tensor_t key_scales = {0}, value_scales = {0};
    if (quantised) {
        key_scales = tape_part(&tape->key_scales.tensor, first, count);
        value_scales = tape_part(&tape->value_scales.tensor, first, count);
    }
    return attn_stream_append(stream, &key, &value, quantised ? &key_scales : NULL,
                              quantised ? &value_scales : NULL, error);
}

void tape_append(const tape_t *tape, attn_stream_t *stream, int64_t first, int64_t count) {
    attn_error_t error = {0};
    if (tape_try_append(tape, stream, first, count, &error) != ATTN_OK)
        test_fail("append: %s", error.message);
}

/* ---- answers ------------------------------------------------------------------------------------- */

answer_t answer_create(const attn_problem_t *p, int64_t queries) {
    return (answer_t){
        .out = typed_create(p->dtype, LAYOUT_BHND,
                            (int64_t[4]){p->batch, p->heads, queries, p->value_dim}),
        .lse = typed_create(ATTN_F32, LAYOUT_BHND, (int64_t[4]){p->batch, p->heads, queries, 1}),
    };
}

void answer_destroy(answer_t *answer) {
    typed_destroy(&answer->out);
    typed_destroy(&answer->lse);
}

attn_status_t tape_try_ask(const tape_t *tape, attn_stream_t *stream, int64_t first,
                           int64_t queries, answer_t *answer, attn_error_t *error) {
    const attn_tensor_t query = tape_part(&tape->query.tensor, first, queries);
    return attn_stream_query(stream, &query, &answer->out.tensor, &answer->lse.tensor, error);
}

answer_t tape_ask(const tape_t *tape, attn_stream_t *stream, int64_t first, int64_t queries) {
    attn_error_t error = {0};
    answer_t answer = answer_create(&tape->problem, queries);
    if (tape_try_ask(tape, stream, first, queries, &answer, &error) != ATTN_OK)
        test_fail("query: %s", error.message);
    typed_check(&answer.out, "out");
    typed_check(&answer.lse, "lse");
    return answer;
}

/* The same by a batch plan over the tokens [0, length) of the tape. */
static answer_t batch(const attn_context_t *context, const tape_t *tape, int64_t length,
                      int64_t queries) {
    attn_problem_t problem = tape->problem;
    problem.keys = length;
    problem.queries = queries;
    if (problem.causal != ATTN_CAUSAL_NONE) problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    attn_plan_t *plan = fixture_plan(context, "softmax", &problem, NULL);
    answer_t answer = answer_create(&problem, queries);
    const uint64_t size = attn_plan_workspace_size(plan);
    attn_io_t io = {.struct_size = sizeof io,
                    .query = tape_part(&tape->query.tensor, length - queries, queries),
                    .key = tape_part(&tape->key.tensor, 0, length),
                    .value = tape_part(&tape->value.tensor, 0, length),
                    .out = answer.out.tensor,
                    .lse = answer.lse.tensor,
                    .workspace = aligned_alloc(64, (size / 64 + 1) * 64),
                    .workspace_size = size};
    if (problem.kv_dtype == ATTN_I8) {
        io.key_scales = tape_part(&tape->key_scales.tensor, 0, length);
        io.value_scales = tape_part(&tape->value_scales.tensor, 0, length);
    }
    attn_error_t error = {0};
    if (attn_run(plan, &io, &error) != ATTN_OK) test_fail("attn_run: %s", error.message);
    free(io.workspace);
    attn_plan_destroy(plan);
    return answer;
}

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

/* T: an upper limit of |scale| sum_k |q_k k_jk|, by Cauchy and Schwarz. */
static double largest_term(const tape_t *tape) {
    const attn_problem_t *p = &tape->problem;
    const double scale = isnan(p->scale) ? 1 / sqrt((double)p->dim) : (double)p->scale;
    const double quantum = p->kv_dtype == ATTN_I8 ? longest(&tape->key_scales) : 1;
    return scale * quantum * longest(&tape->query) * longest(&tape->key);
}

/*
 * Two correct computations of one sum differ by rounding alone. Each is within 2 u ((d + 12) T + 2 m
 * + 24) of the exact one, relative to the sum of absolute terms (support/exact.c; T as above), which
 * is at most `largest`, the largest |v|; then it is rounded to be stored.
 */
static void compare(const typed_t *actual, const typed_t *expected, const tape_t *tape,
                    double largest, const char *name) {
    const int64_t *shape = actual->tensor.shape;
    const double d = (double)tape->problem.dim, m = (double)tape->problem.keys;
    const double bound = 4 * 0x1p-24 * ((d + 12) * largest_term(tape) + 2 * m + 24) * largest;
    for (int64_t b = 0; b < shape[0]; b++)
        for (int64_t h = 0; h < shape[1]; h++)
            for (int64_t i = 0; i < shape[2]; i++)
                for (int64_t c = 0; c < shape[3]; c++) {
                    const double x = typed_get(&actual->tensor, b, h, i, c);
                    const double y = typed_get(&expected->tensor, b, h, i, c);
                    const double stored = 2 * typed_rounding(actual->tensor.dtype, y);
                    compare_number(x, y, bound + stored, name, (int64_t[4]){b, h, i, c});
                }
}

void tape_expect_batch(const attn_context_t *context, const tape_t *tape, attn_stream_t *stream,
                       int64_t length, int64_t queries) {
    assert_int_equal(attn_stream_length(stream), length);
    answer_t actual = tape_ask(tape, stream, length - queries, queries);
    answer_t expected = batch(context, tape, length, queries);
    const double quantum = tape->value_scales.block ? longest(&tape->value_scales) : 1;
    compare(&actual.out, &expected.out, tape, quantum * longest(&tape->value), "out");
    compare(&actual.lse, &expected.lse, tape, 1, "lse");
    answer_destroy(&actual);
    answer_destroy(&expected);
}

attn_problem_t tape_problem(int64_t tokens) {
    attn_problem_t problem = fixture_problem(2, 4, 1, tokens, 19, 11);
    problem.kv_heads = 2;
    return problem;
}
