/*
 * linear: streams of every map and rule, split by chance, are what the oracle says of all their tokens;
 * copies, saved bytes, and what is refused.
 */
#include "support/test.h"
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static attn_stream_t *open_stream(const trial_t *trial, const char *settings) {
    attn_stream_t *stream = NULL;
    attn_error_t error = {0};
    if (fixture_try_stream(trial->context, "linear", &trial->problem, settings, 1000, &stream,
                           &error) != ATTN_OK)
        test_fail("attn_stream_create: %s", error.message);
    return stream;
}

static void append(const trial_t *trial, attn_stream_t *stream, int64_t first, int64_t count) {
    attn_error_t error = {0};
    if (trial_append(trial, stream, first, count, &error) != ATTN_OK)
        test_fail("append: %s", error.message);
}

/* The last `queries` of `length` tokens, and with `states` the state, against the oracle. */
static void expect_of(const trial_t *trial, attn_stream_t *stream, int64_t length, int64_t queries,
                      int states) {
    attn_problem_t problem = trial->problem;
    const int64_t features = attn_oracle_linear_features(&trial->form, problem.dim);
    problem.keys = length;
    problem.queries = queries;
    if (problem.causal) problem.causal = ATTN_CAUSAL_BOTTOM_RIGHT;
    typed_t out =
        typed_create(problem.dtype, LAYOUT_PADDED,
                     (int64_t[4]){problem.batch, problem.heads, queries, problem.value_dim});
    typed_t s =
        typed_create(ATTN_F32, LAYOUT_PADDED,
                     (int64_t[4]){problem.batch, problem.kv_heads, features, problem.value_dim});
    typed_t z = typed_create(ATTN_F32, LAYOUT_PADDED,
                             (int64_t[4]){problem.batch, problem.kv_heads, features, 1});
    const attn_tensor_t *own[OWN] = {
        [STATE_OUT] = &s.tensor, [STATE_Z_OUT] = trial->form.normalise ? &z.tensor : NULL};
    attn_io_t io = {.struct_size = sizeof io,
                    .query = trial_rows(&trial->query.tensor, length - queries, queries),
                    .out = out.tensor,
                    .own = states ? own : NULL,
                    .own_count = states ? OWN : 0};
    attn_error_t error = {0};
    if (attn_stream_query(stream, &io, &error) != ATTN_OK) test_fail("query: %s", error.message);
    typed_check(&out, "out");
    io.key = trial->key.tensor;
    io.value = trial->value.tensor;
    trial_compare_part(trial, &problem, &io, &out.tensor, states ? &s.tensor : NULL,
                       states ? own[STATE_Z_OUT] : NULL);
    typed_destroy(&out);
    typed_destroy(&s);
    typed_destroy(&z);
}

static void expect(const trial_t *trial, attn_stream_t *stream, int64_t length, int64_t queries) {
    expect_of(trial, stream, length, queries, 1);
}

/* Save, restore into another, fork that: all three go on alike. */
static attn_stream_t *pass_on(const trial_t *trial, attn_stream_t *stream, const char *settings) {
    const uint64_t size = attn_stream_save(stream, NULL, 0);
    char *bytes = malloc(size);
    attn_stream_t *restored = open_stream(trial, settings), *fork = NULL;
    attn_error_t error = {0};
    assert_non_null(bytes);
    attn_stream_save(stream, bytes, size);
    if (attn_stream_restore(restored, bytes, size, &error) != ATTN_OK)
        test_fail("restore: %s", error.message);
    assert_int_equal(attn_stream_fork(restored, &fork, NULL), ATTN_OK);
    free(bytes);
    attn_stream_destroy(restored);
    attn_stream_destroy(stream);
    return fork;
}

/* Without the last append, `last` tokens, the query of the token before it is answered by the state alone. */
static void take_back(const trial_t *trial, attn_stream_t *stream, int64_t length, int64_t last) {
    assert_int_equal(attn_stream_truncate(stream, length - last, NULL), ATTN_OK);
    expect_of(trial, stream, length - last, 1, 0);
    append(trial, stream, length - last, last);
    expect(trial, stream, length, 1);
}

static void walk(trial_t *trial, uint64_t number) {
    char settings[160];
    trial_make(trial);
    trial_label(trial);
    attn_stream_t *stream = open_stream(trial, trial_settings(trial, settings));
    for (int64_t length = 0, i = 0; length < trial->problem.keys; i++) {
        const int64_t left = trial->problem.keys - length;
        int64_t piece = 1 + fixture_draw(100 * number + (uint64_t)i, i % 3 ? 3 : 17);
        if (piece > left) piece = left;
        append(trial, stream, length, piece);
        length += piece;
        expect_of(trial, stream, length, 1, 0);
        expect(trial, stream, length, 1);
        if (i % 2) expect(trial, stream, length, piece);
        if (i % 4 == 3) take_back(trial, stream, length, piece);
        if (i == 4) stream = pass_on(trial, stream, settings);
    }
    attn_stream_destroy(stream);
    trial_drop(trial);
}

/* A query whose answer is not looked at. */
static void ask(const trial_t *trial, attn_stream_t *stream) {
    const attn_io_t io = {.struct_size = sizeof io,
                          .query = trial_rows(&trial->query.tensor, 0, 1),
                          .out = trial_rows(&trial->out.tensor, 0, 1)};
    assert_int_equal(attn_stream_query(stream, &io, NULL), ATTN_OK);
}

/* A token and its query at a time, some copied, some after other appends that are taken back. */
static void decode(trial_t *trial, uint64_t number) {
    char settings[160];
    trial_make(trial);
    trial_label(trial);
    attn_stream_t *stream = open_stream(trial, trial_settings(trial, settings));
    const int64_t keys = trial->problem.keys;
    for (int64_t length = 0; length < keys; length++) {
        const int goes_on = fixture_draw(70 * number + (uint64_t)length, 4) != 0;
        for (int64_t others = 1; !goes_on && others <= 2 && others < keys - length; others++) {
            append(trial, stream, keys - others, others);
            ask(trial, stream);
            assert_int_equal(attn_stream_truncate(stream, length, NULL), ATTN_OK);
        }
        append(trial, stream, length, 1);
        expect_of(trial, stream, length + 1, 1, 0);
        if (length % 7 == 3) expect(trial, stream, length + 1, 1);
        if (length % 9 == 5) stream = pass_on(trial, stream, settings);
    }
    attn_stream_destroy(stream);
    trial_drop(trial);
}

static void splits_do_not_matter(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    uint64_t number = 0;
    for (int map = 0; map < MAPS_COUNT; map++)
        for (int rule = 0; rule < RULES_COUNT; rule++)
            for (int normalise = 0; normalise <= !is_delta(rule); normalise++, number++) {
                if (!test_takes_case()) continue;
                const int64_t dim = map == ATTN_ORACLE_TAYLOR2 ? 4 : 11;
                attn_problem_t problem = fixture_problem(2, 4, 60, 60, dim, 9);
                problem.kv_heads = 2;
                problem.causal = rule || number % 2 ? ATTN_CAUSAL_TOP_LEFT : ATTN_CAUSAL_NONE;
                problem.kv_dtype = number % 3 ? ATTN_F32 : ATTN_F16;
                trial_t trial = trial_of(context, &problem, map, rule, normalise);
                trial.decay_by = (int)(number % 4);
                if (is_wide(map) && trial.decay_by == DECAY_BY_COLUMN)
                    trial.decay_by = DECAY_BY_HEAD;
                walk(&trial, number);
                decode(&trial, number);
            }
    attn_context_destroy(context);
}

/** Decoding keeps a few tokens and one state, however many there were. */
static void memory_does_not_grow(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 500, 500, 8, 8);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    trial_t trial = trial_of(context, &problem, ATTN_ORACLE_LIN, ATTN_ORACLE_RULE_GATED_DELTA, 0);
    char settings[160];
    trial_make(&trial);
    trial_label(&trial);
    attn_stream_t *stream = open_stream(&trial, trial_settings(&trial, settings));
    append(&trial, stream, 0, 1);
    const uint64_t memory = attn_stream_memory(stream);
    for (int64_t i = 1; i < 500; i++) append(&trial, stream, i, 1);
    assert_int_equal(attn_stream_memory(stream), memory);
    expect(&trial, stream, 500, 1);
    attn_stream_destroy(stream);
    trial_drop(&trial);
    attn_context_destroy(context);
}

/** What a long append took is given back with the next one, with what truncates it, and when another is restored. */
static void room_is_given_back(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 500, 500, 8, 8);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    for (int rule = 0; rule < RULES_COUNT; rule++) {
        trial_t trial = trial_of(context, &problem, ATTN_ORACLE_LIN, rule, 0);
        char settings[160];
        trial_make(&trial);
        trial_label(&trial);
        attn_stream_t *stream = open_stream(&trial, trial_settings(&trial, settings));
        append(&trial, stream, 0, 30);
        append(&trial, stream, 30, 1);
        const uint64_t memory = attn_stream_memory(stream), bytes = attn_stream_save(stream, 0, 0);
        append(&trial, stream, 31, 400);
        assert_true(attn_stream_memory(stream) > memory);
        expect(&trial, stream, 431, 400);
        append(&trial, stream, 431, 1);
        assert_int_equal(attn_stream_memory(stream), memory);
        assert_int_equal(attn_stream_save(stream, 0, 0), bytes);
        expect(&trial, stream, 432, 1);
        char *saved = malloc(bytes);
        attn_stream_save(stream, saved, bytes);
        append(&trial, stream, 432, 68);
        assert_int_equal(attn_stream_truncate(stream, 433, NULL), ATTN_OK);
        assert_int_equal(attn_stream_memory(stream), memory);
        expect(&trial, stream, 433, 1);
        assert_int_equal(attn_stream_truncate(stream, 0, NULL), ATTN_OK);
        append(&trial, stream, 0, 500);
        assert_int_equal(attn_stream_restore(stream, saved, bytes, NULL), ATTN_OK);
        assert_int_equal(attn_stream_memory(stream), memory);
        expect(&trial, stream, 432, 1);
        free(saved);
        append(&trial, stream, 432, 68);
        assert_int_equal(attn_stream_truncate(stream, 0, NULL), ATTN_OK);
        assert_int_equal(attn_stream_memory(stream), memory);
        attn_stream_destroy(stream);
        trial_drop(&trial);
    }
    attn_context_destroy(context);
}

static attn_status_t try_queries(const trial_t *trial, attn_stream_t *stream, int64_t queries) {
    const attn_io_t io = {.struct_size = sizeof io,
                          .query = trial_rows(&trial->query.tensor, 0, queries),
                          .out = trial_rows(&trial->out.tensor, 0, queries)};
    return attn_stream_query(stream, &io, NULL);
}

/* The last append is all that is answered, and where truncate goes back to; or 0. */
static void expect_last(const trial_t *trial, attn_stream_t *stream, int64_t length, int64_t last) {
    const int64_t most = last > 1 ? last : 1;
    assert_int_equal(attn_stream_length(stream), length);
    expect(trial, stream, length, most);
    assert_int_equal(try_queries(trial, stream, most + 1),
                     last < length ? ATTN_ERROR_UNSUPPORTED : ATTN_OK);
    if (length - last > 1)
        assert_int_equal(attn_stream_truncate(stream, length - last - 1, NULL),
                         ATTN_ERROR_UNSUPPORTED);
}

/** Which queries are answered depends on the last append alone, not on how many tokens are there by chance. */
static void only_the_last_append_is_promised(void **state) {
    (void)state;
    static const int64_t histories[][3] = {{5, 2, 3},  {1, 1, 1},  {7, 1, 1},   {40, 3, 2},
                                           {3, 30, 1}, {12, 1, 1}, {11, 1, 12}, {2, 40, 7}};
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 60, 60, 8, 8);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    for (size_t i = 0; i < TEST_COUNT(histories); i++) {
        const int64_t *pieces = histories[i];
        int64_t length = pieces[0] + pieces[1];
        trial_t trial = trial_of(context, &problem, ATTN_ORACLE_ELU1, (int)i % RULES_COUNT,
                                 !is_delta((int)i % RULES_COUNT));
        char settings[160];
        trial_make(&trial);
        trial_label(&trial);
        attn_stream_t *stream = open_stream(&trial, trial_settings(&trial, settings));
        append(&trial, stream, 0, pieces[0]);
        expect_last(&trial, stream, pieces[0], pieces[0]);
        append(&trial, stream, pieces[0], pieces[1]);
        expect_last(&trial, stream, length, pieces[1]);
        stream = pass_on(&trial, stream, settings);
        expect_last(&trial, stream, length, pieces[1]);
        append(&trial, stream, length, pieces[2]);
        length += pieces[2];
        expect_last(&trial, stream, length, pieces[2]);
        assert_int_equal(attn_stream_truncate(stream, length - 1, NULL), ATTN_OK);
        expect_last(&trial, stream, length - 1, pieces[2] - 1);
        attn_stream_destroy(stream);
        trial_drop(&trial);
    }
    attn_context_destroy(context);
}

/** Bytes of another form are not taken, and the error says what is other. */
static void other_forms_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *own, *other, *word;
        float scale;
    } cases[] = {
        {"feature_map=elu1", "feature_map=relu", "feature_map", 1},
        {"normaliser=on", "normaliser=off", "normaliser", 1},
        {"feature_map=favor,seed=1", "feature_map=favor,seed=2", "seed", 1},
        {"feature_map=favor,features=8", "feature_map=favor,features=9", "features", 1},
        {"feature_map=favor", "feature_map=favor", "scale", 0.5f},
        {"rule=linear", "rule=gated,retnet=1", "rule", 1},
        {"feature_map=lin,normaliser=off", "feature_map=lin", "normaliser", 1},
    };
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 20, 20, 8, 8);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    problem.scale = 1;
    trial_t trial = trial_of(context, &problem, 0, 0, 1);
    trial_make(&trial);
    for (size_t i = 0; i < TEST_COUNT(cases); i++) {
        test_label("%s into %s", cases[i].own, cases[i].other);
        attn_stream_t *from = open_stream(&trial, cases[i].own);
        trial_t changed = trial;
        changed.problem.scale = cases[i].scale;
        attn_stream_t *to = open_stream(&changed, cases[i].other);
        append(&trial, from, 0, 15);
        char bytes[65536];
        const uint64_t size = attn_stream_save(from, bytes, sizeof bytes);
        assert_true(size <= sizeof bytes);
        attn_error_t error = {0};
        fixture_expect(attn_stream_restore(to, bytes, size, &error), &error, ATTN_ERROR_ARGUMENT,
                       cases[i].word);
        error = (attn_error_t){0};
        fixture_expect(attn_stream_restore(from, bytes, size - 4, &error), &error,
                       ATTN_ERROR_ARGUMENT, "bytes");
        attn_stream_destroy(from);
        attn_stream_destroy(to);
    }
    trial_drop(&trial);
    attn_context_destroy(context);
}

/** A decay above 0 changes nothing; a state cannot be given to begin with. */
static void bad_gates_are_refused(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 20, 20, 8, 8);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    trial_t trial = trial_of(context, &problem, ATTN_ORACLE_ELU1, ATTN_ORACLE_RULE_GATED, 1);
    char settings[160];
    trial_make(&trial);
    trial_label(&trial);
    attn_stream_t *stream = open_stream(&trial, trial_settings(&trial, settings));
    append(&trial, stream, 0, 9);
    const double decay = typed_get(trial.tensors[DECAY], 0, 1, 12, 3);
    typed_set(&trial.own[DECAY], 0, 1, 12, 3, 0.25);
    attn_error_t error = {0};
    fixture_expect(trial_append(&trial, stream, 9, 5, &error), &error, ATTN_ERROR_RANGE,
                   "decay|batch 0|head 1|key 3|above 0");
    typed_set(&trial.own[DECAY], 0, 1, 12, 3, decay);
    assert_int_equal(attn_stream_length(stream), 9);
    expect(&trial, stream, 9, 2);
    append(&trial, stream, 9, 5);
    expect(&trial, stream, 14, 5);
    attn_stream_destroy(stream);
    attn_stream_t *none = NULL;
    trial.problem.own_inputs |= 1u << STATE | 1u << STATE_Z;
    fixture_expect(
        fixture_try_stream(context, "linear", &trial.problem, settings, 10, &none, &error), &error,
        ATTN_ERROR_UNSUPPORTED, "stream|state");
    trial_drop(&trial);
    attn_context_destroy(context);
}

/** A gate that is no number is not forgotten when its token has gone into the state. */
static void nan_gates_are_remembered(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(1, 2, 60, 60, 6, 5);
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    trial_t trial = trial_of(context, &problem, ATTN_ORACLE_LIN, ATTN_ORACLE_RULE_DELTA, 0);
    char settings[160];
    trial_make(&trial);
    trial_label(&trial);
    typed_set(&trial.own[BETA], 0, 1, 3, 0, NAN);
    attn_stream_t *stream = open_stream(&trial, trial_settings(&trial, settings));
    for (int64_t length = 0; length < 60; length += 20) {
        append(&trial, stream, length, 20);
        if (length == 20) stream = pass_on(&trial, stream, settings);
        attn_report_t report = {.struct_size = sizeof report};
        const attn_io_t io = {.struct_size = sizeof io,
                              .query = trial_rows(&trial.query.tensor, length, 20),
                              .out = trial_rows(&trial.out.tensor, length, 20),
                              .report = &report};
        assert_int_equal(attn_stream_query(stream, &io, NULL), ATTN_OK);
        assert_int_equal(report.degenerate_rows, length == 0 ? 17 : 20);
    }
    assert_int_equal(attn_stream_truncate(stream, 0, NULL), ATTN_OK);
    for (int64_t length = 0; length < 9; length++) {
        append(&trial, stream, length, 1);
        attn_report_t report = {.struct_size = sizeof report};
        const attn_io_t io = {.struct_size = sizeof io,
                              .query = trial_rows(&trial.query.tensor, length, 1),
                              .out = trial_rows(&trial.out.tensor, length, 1),
                              .report = &report};
        assert_int_equal(attn_stream_query(stream, &io, NULL), ATTN_OK);
        assert_int_equal(report.degenerate_rows, length >= 3);
    }
    attn_stream_destroy(stream);
    trial_drop(&trial);
    attn_context_destroy(context);
}

/* An append of one token, a query of one, and as many features as the map has. */
static void arrays_have_their_shapes(void **state) {
    (void)state;
    static const struct {
        uint32_t number;
        int64_t shape[4];
    } wanted[] = {{ATTN_ARRAY_QUERY, {3, 4, 1, 6}},
                  {ATTN_ARRAY_VALUE, {3, 2, 1, 5}},
                  {ATTN_ARRAY_OWN + DECAY, {3, 2, 1, 6}},
                  {ATTN_ARRAY_OWN + BETA, {3, 2, 1, 1}},
                  {ATTN_ARRAY_OWN + STATE_OUT, {3, 2, 1 + 6 + 21, 5}},
                  {ATTN_ARRAY_OWN + STATE_Z_OUT, {3, 2, 1 + 6 + 21, 1}}};
    attn_context_t *context = fixture_context(1);
    attn_problem_t problem = fixture_problem(3, 4, 60, 60, 6, 5);
    problem.kv_heads = 2;
    problem.causal = ATTN_CAUSAL_TOP_LEFT;
    const trial_t trial =
        trial_of(context, &problem, ATTN_ORACLE_TAYLOR2, ATTN_ORACLE_RULE_LINEAR, 1);
    attn_stream_t *stream = open_stream(&trial, "feature_map=taylor2");
    attn_tensor_t tensor;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_true(attn_stream_array(stream, wanted[i].number, &tensor));
        assert_memory_equal(tensor.shape, wanted[i].shape, sizeof tensor.shape);
        assert_int_equal(tensor.dtype, ATTN_F32);
        assert_null(tensor.data);
    }
    assert_false(attn_stream_array(stream, ATTN_ARRAY_OWN + OWN, &tensor));
    attn_stream_destroy(stream);
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(arrays_have_their_shapes), cmocka_unit_test(splits_do_not_matter),
          cmocka_unit_test(memory_does_not_grow), cmocka_unit_test(room_is_given_back),
          cmocka_unit_test(only_the_last_append_is_promised),
          cmocka_unit_test(other_forms_are_refused), cmocka_unit_test(bad_gates_are_refused),
          cmocka_unit_test(nan_gates_are_remembered))
