/* Samples of the tasks against the definitions, by solvers that share nothing with the generators. */
#include "labs/reasoning/task.h"

#include "support/fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 300 };

/* ---- reading a sample by its text ------------------------------------------------------------------ */

typedef struct reader {
    const reasoning_task_t *task;
    const reasoning_sample_t *sample;
    int32_t at;
} reader_t;

static const char *peek(const reader_t *reader, char text[16]) {
    if (reader->at >= reader->sample->count) test_fail("the sample ends early");
    return reasoning_text(reader->task, reader->sample->tokens[reader->at], text);
}

static int takes(reader_t *reader, const char *expected) {
    char text[16];
    const int same = strcmp(peek(reader, text), expected) == 0;
    reader->at += same;
    return same;
}

static void expect(reader_t *reader, const char *expected) {
    char text[16];
    if (!takes(reader, expected))
        test_fail("token %d is %s, expected %s", (int)reader->at, peek(reader, text), expected);
}

static int number(reader_t *reader) {
    char text[16], *end;
    const long value = strtol(peek(reader, text), &end, 10);
    if (*end || end == text) test_fail("token %d, %s, is no number", (int)reader->at, text);
    reader->at++;
    return (int)value;
}

static int at_question_end(const reader_t *reader) {
    return reader->at == reader->sample->question;
}

/* ---- LIS ------------------------------------------------------------------------------------------- */

/* Of increasing subsequences that end at i, by trying all. */
static int longest(const int *x, int i) {
    int best = 0;
    for (int j = 0; j < i; j++)
        if (x[j] < x[i]) {
            const int before = longest(x, j);
            if (before > best) best = before;
        }
    return best + 1;
}

static int check_lis(reader_t *reader) {
    int x[64], answer = 0;
    const int n = reader->task->size;
    for (int i = 0; i < n; i++) {
        x[i] = number(reader);
        if (x[i] <= n) test_fail("input %d names a length", x[i]);
    }
    expect(reader, "<sep>");
    assert_true(at_question_end(reader));
    for (int i = 0; i < n; i++) {
        const int length = longest(x, i);
        assert_int_equal(number(reader), length);
        if (length > answer) answer = length;
    }
    expect(reader, "<sep>");
    assert_int_equal(number(reader), answer);
    return answer;
}

/* ---- edit distance --------------------------------------------------------------------------------- */

typedef struct pair {
    char s[64], t[64];
    int band;
} pair_t;

/* The definition, cell by cell; as few as there are, without a table. */
static int distance(const pair_t *pair, int i, int j) {
    const int apart = abs(i - j);
    if (apart > pair->band) return 1000;
    if (i == 0 || j == 0) return 2 * (i + j);
    if (pair->s[i - 1] == pair->t[j - 1]) {
        /* nothing is cheaper than keeping a letter, unless the band forbids it, which it does not here */
        return distance(pair, i - 1, j - 1);
    }
    const int replaced = distance(pair, i - 1, j - 1) + 3;
    const int deleted = distance(pair, i - 1, j) + 2, inserted = distance(pair, i, j - 1) + 2;
    const int moved = deleted < inserted ? deleted : inserted;
    return replaced < moved ? replaced : moved;
}

static void read_letters(reader_t *reader, const char *end, char *letters) {
    char text[16];
    while (!takes(reader, end)) {
        const char *letter = peek(reader, text);
        if (strlen(letter) != 1 || *letter < 'a' || *letter > 'z') test_fail("%s", letter);
        *letters++ = *letter;
        reader->at++;
    }
    *letters = 0;
}

static int check_edit(reader_t *reader) {
    pair_t pair = {.band = reader->task->kind == REASONING_ED_LOCAL ? reader->task->band : 1000};
    const int n = reader->task->size;
    read_letters(reader, "|", pair.s);
    read_letters(reader, "<sep>", pair.t);
    assert_true(at_question_end(reader));
    const int rows = (int)strlen(pair.s), columns = (int)strlen(pair.t);
    assert_true(strcmp(pair.s, pair.t) != 0);
    assert_true(rows >= 1 && rows <= columns && columns >= n && columns <= n + 2 && rows >= n - 3);
    for (int i = 1; i <= rows; i++) {
        for (int j = 1; j <= columns; j++)
            if (abs(i - j) <= pair.band) assert_int_equal(number(reader), distance(&pair, i, j));
        expect(reader, ",");
    }
    expect(reader, "<sep>");
    const int answer = number(reader);
    assert_int_equal(answer, distance(&pair, rows, columns));
    return answer;
}

/* ---- arithmetic ------------------------------------------------------------------------------------ */

static int sum(reader_t *reader, int *operators);

static int factor(reader_t *reader, int *operators) {
    if (!takes(reader, "(")) return number(reader);
    const int value = sum(reader, operators);
    expect(reader, ")");
    return value;
}

static int product(reader_t *reader, int *operators) {
    const int p = reader->task->modulus;
    int value = factor(reader, operators);
    for (;;) {
        if (takes(reader, "*")) {
            value = value * factor(reader, operators) % p;
        } else if (takes(reader, "/")) {
            const int by = factor(reader, operators);
            int quotient = 0;
            if (by % p == 0) test_fail("a division by 0");
            while (quotient * by % p != value) quotient++;
            value = quotient;
        } else {
            return value;
        }
        ++*operators;
    }
}

static int sum(reader_t *reader, int *operators) {
    const int p = reader->task->modulus;
    int value = product(reader, operators);
    for (;;) {
        if (takes(reader, "+"))
            value = (value + product(reader, operators)) % p;
        else if (takes(reader, "-"))
            value = (value + p - product(reader, operators)) % p;
        else
            return value;
        ++*operators;
    }
}

/* Every line has the same value, and one operator less than the one before. */
static int check_arithmetic(reader_t *reader) {
    int value = 0;
    for (int left = reader->task->size; left >= 0; left--) {
        int operators = 0;
        const int this = sum(reader, &operators);
        assert_int_equal(operators, left);
        if (left < reader->task->size) assert_int_equal(this, value);
        value = this;
        if (left > 0) expect(reader, "=");
        if (left == reader->task->size) assert_true(at_question_end(reader));
    }
    return value;
}

/* ---- all ------------------------------------------------------------------------------------------- */

static const struct {
    int32_t kind, size, modulus, band;
    int32_t longest; /* tokens before <eos>, as the papers have them; 0: not told */
} cases[] = {
    {REASONING_LIS, 6, 0, 0, 0},         {REASONING_LIS, 12, 0, 0, 0},
    {REASONING_LIS, 40, 0, 0, 83},       {REASONING_ED, 3, 0, 0, 0},
    {REASONING_ED, 6, 0, 0, 72},         {REASONING_ED_LOCAL, 4, 0, 1, 0},
    {REASONING_ED_LOCAL, 6, 0, 2, 0},    {REASONING_ARITHMETIC, 2, 5, 0, 0},
    {REASONING_ARITHMETIC, 4, 11, 0, 0}, {REASONING_ARITHMETIC, 6, 11, 0, 87},
};

static reasoning_task_t make(size_t index) {
    reasoning_task_t task;
    attn_error_t error;
    if (reasoning_make(cases[index].kind, cases[index].size, cases[index].modulus,
                       cases[index].band, &task, &error))
        test_fail("%s", error.message);
    test_label("%s of %d", reasoning_name(task.kind), (int)task.size);
    return task;
}

static int check(const reasoning_task_t *task, const reasoning_sample_t *sample) {
    reader_t reader = {task, sample, 0};
    int answer;
    for (int32_t i = 0; i < sample->count; i++)
        assert_true(sample->tokens[i] > REASONING_PAD && sample->tokens[i] < task->vocabulary);
    if (task->kind == REASONING_LIS)
        answer = check_lis(&reader);
    else
        answer =
            task->kind == REASONING_ARITHMETIC ? check_arithmetic(&reader) : check_edit(&reader);
    expect(&reader, "<eos>");
    assert_int_equal(reader.at, sample->count);
    assert_int_equal(reasoning_answer(sample->tokens, sample->count), task->first + answer);
    return answer;
}

static void definitions(void **state) {
    (void)state;
    static reasoning_sample_t sample, again;
    for (size_t c = 0; c < TEST_COUNT(cases); c++) {
        const reasoning_task_t task = make(c);
        int32_t most = 0, low = 1000, high = 0;
        /* trying all subsequences of 40 takes too long */
        const int solves = !(task.kind == REASONING_LIS && task.size > 12);
        for (uint64_t i = 0; i < SAMPLES; i++) {
            const enum reasoning_use use = i % 2 ? REASONING_TRAIN : REASONING_TEST;
            reasoning_draw(&task, test_seed(), use, i, &sample);
            reasoning_draw(&task, test_seed(), use, i, &again);
            assert_memory_equal(sample.tokens, again.tokens,
                                (size_t)sample.count * sizeof *sample.tokens);
            char unlike[REASONING_UNLIKE];
            reasoning_unlike(&task, &sample, unlike);
            if (*unlike) test_fail("a sample is none of %s", unlike);
            if (sample.count > most) most = sample.count;
            const int answer = solves ? check(&task, &sample) : 0;
            if (answer < low) low = answer;
            if (answer > high) high = answer;
        }
        assert_true(most <= task.length);
        if (solves && high - low < 3) test_fail("answers are all %d to %d", low, high);
        if (cases[c].longest > 0 && task.length - 1 > cases[c].longest)
            test_fail("%d tokens, the paper's have %d", (int)task.length - 1,
                      (int)cases[c].longest);
        if (task.kind == REASONING_LIS) assert_int_equal(most, task.length);
    }
}

/* Tables of the generators and samples have room for the largest task of each kind; a larger one is none. */
static void largest_sizes(void **state) {
    (void)state;
    static const int32_t most[][4] = {{REASONING_LIS, 250, 0, 0},
                                      {REASONING_ED, 32, 0, 0},
                                      {REASONING_ED_LOCAL, 32, 0, 34},
                                      {REASONING_ARITHMETIC, 20, 97, 0}};
    static reasoning_sample_t sample;
    for (size_t i = 0; i < TEST_COUNT(most); i++) {
        const int32_t *m = most[i];
        reasoning_task_t task;
        assert_int_equal(reasoning_make(m[0], m[1] + 1, m[2], m[3], &task, NULL), ATTN_ERROR_RANGE);
        assert_int_equal(reasoning_make(m[0], m[1], m[2], m[3], &task, NULL), ATTN_OK);
        test_label("%s of %d", reasoning_name(task.kind), (int)task.size);
        assert_true(task.length <= REASONING_MOST_TOKENS);
        for (uint64_t number = 0; number < 20; number++) {
            reasoning_draw(&task, test_seed(), REASONING_TRAIN, number, &sample);
            assert_true(sample.count <= task.length);
        }
    }
}

/* ---- in words -------------------------------------------------------------------------------------- */

/* The question of a sample, without the token that ends it. */
static void write_question(const reasoning_task_t *task, const reasoning_sample_t *sample,
                           char text[2048]) {
    const char *between = task->kind == REASONING_LIS ? ", " : "";
    *text = 0;
    for (int32_t i = 0; i < sample->question - 1; i++) {
        char token[16];
        strcat(text, reasoning_text(task, sample->tokens[i], token));
        strcat(text, between);
    }
}

static void questions_in_words(void **state) {
    (void)state;
    static reasoning_sample_t sample, again;
    for (size_t c = 0; c < TEST_COUNT(cases); c++) {
        const reasoning_task_t task = make(c);
        for (uint64_t i = 0; i < SAMPLES; i++) {
            char text[2048];
            attn_error_t error;
            reasoning_draw(&task, test_seed(), REASONING_TEST, i, &sample);
            write_question(&task, &sample, text);
            if (reasoning_read(&task, text, &again, &error))
                test_fail("%s: %s", text, error.message);
            assert_int_equal(again.question, sample.question);
            assert_int_equal(again.count, sample.count);
            assert_memory_equal(again.tokens, sample.tokens,
                                (size_t)sample.count * sizeof *sample.tokens);
        }
    }
}

typedef struct asked {
    int32_t kind, size, modulus, band;
    const char *question, *expected; /* the sample, or what is wrong */
} asked_t;

static void ask(const asked_t *a, reasoning_task_t *task, reasoning_sample_t *sample,
                attn_error_t *error, attn_status_t *status) {
    test_label("%s of %s", reasoning_name(a->kind), a->question);
    assert_int_equal(reasoning_make(a->kind, a->size, a->modulus, a->band, task, NULL), ATTN_OK);
    *status = reasoning_read(task, a->question, sample, error);
}

static void questions_of_people(void **state) {
    (void)state;
    static const asked_t asked[] = {
        {REASONING_LIS, 4, 0, 0, " 7 9,8\n", "7 9 8 <sep> 1 2 2 <sep> 2 <eos>"},
        {REASONING_ED, 2, 0, 0, "abc b", "b | a b c <sep> 3 2 4 , <sep> 4 <eos>"},
        {REASONING_ED_LOCAL, 2, 0, 1, "ab | cb", "a b | c b <sep> 3 5 , 5 3 , <sep> 3 <eos>"},
        {REASONING_ARITHMETIC, 2, 5, 0, "3 + 4 * 2", "3 + 4 * 2 = 3 + 3 = 1 <eos>"},
        {REASONING_ARITHMETIC, 3, 5, 0, "1-2", "1 - 2 = 4 <eos>"},
        /* brackets that say nothing */
        {REASONING_ARITHMETIC, 2, 5, 0, "(((3))+((4*(2))))", "3 + 4 * 2 = 3 + 3 = 1 <eos>"},
        {REASONING_ARITHMETIC, 2, 5, 0, "((3 + 4)) * 2", "( 3 + 4 ) * 2 = 2 * 2 = 4 <eos>"},
        {REASONING_ARITHMETIC, 2, 5, 0, "4-((3-1))", "4 - ( 3 - 1 ) = 4 - 2 = 2 <eos>"},
        {REASONING_ARITHMETIC, 2, 5, 0, "4+(3-1)", "4 + 3 - 1 = 2 - 1 = 1 <eos>"},
        {REASONING_ARITHMETIC, 2, 5, 0, "(4*3)-1", "4 * 3 - 1 = 2 - 1 = 1 <eos>"},
        {REASONING_ARITHMETIC, 2, 5, 0, "1/((2*3))", "1 / ( 2 * 3 ) = 1 / 1 = 1 <eos>"},
    };
    for (size_t i = 0; i < TEST_COUNT(asked); i++) {
        static reasoning_sample_t sample;
        reasoning_task_t task;
        attn_error_t error;
        attn_status_t status;
        char said[512] = "";
        ask(&asked[i], &task, &sample, &error, &status);
        if (status) test_fail("%s", error.message);
        for (int32_t t = 0; t < sample.count; t++) {
            char token[16];
            strcat(strcat(said, t ? " " : ""), reasoning_text(&task, sample.tokens[t], token));
        }
        assert_string_equal(said, asked[i].expected);
    }
}

static void no_questions(void **state) {
    (void)state;
    enum { ARITHMETIC = REASONING_ARITHMETIC };
    static char brackets[5000];
    memset(brackets, '(', sizeof brackets - 1);
    const asked_t asked[] = {
        {REASONING_LIS, 4, 0, 0, " ", "no number"},
        {REASONING_LIS, 4, 0, 0, "7 8 x", "'x'"},
        {REASONING_LIS, 4, 0, 0, "7 4", "4 is outside|5 to 149"},
        {REASONING_LIS, 4, 0, 0, "7 150", "150 is outside|5 to 149"},
        {REASONING_LIS, 4, 0, 0, "7 99999999999999999999999", "99999... is outside"},
        {REASONING_LIS, 4, 0, 0, "7 -8", "'-8'"},
        {REASONING_LIS, 4, 0, 0, "7 8 9 10 11", "more than the 4 numbers"},
        {REASONING_ED, 2, 0, 0, "", "fewer"},
        {REASONING_ED, 2, 0, 0, "ab", "two words|fewer"},
        {REASONING_ED, 2, 0, 0, "|ab", "fewer"},
        {REASONING_ED, 2, 0, 0, "ab a b", "two words|more"},
        {REASONING_ED, 2, 0, 0, "ab|a|b", "more"},
        {REASONING_ED, 2, 0, 0, "ab aB", "'B' is none of the letters"},
        {REASONING_ED, 2, 0, 0, "abcde a", "more than 4 letters"},
        {REASONING_ED, 2, 0, 0, "abc abd", "more than the 2 letters"},
        {REASONING_ED_LOCAL, 2, 0, 1, "abc a", "differ by 2|band is 1"},
        {ARITHMETIC, 2, 5, 0, "", "number is missing"},
        {ARITHMETIC, 2, 5, 0, "3 +", "number is missing"},
        {ARITHMETIC, 2, 5, 0, "3", "no operator"},
        {ARITHMETIC, 2, 5, 0, "(3)", "no operator"},
        {ARITHMETIC, 2, 5, 0, "3 4", "'4' cannot be here"},
        {ARITHMETIC, 2, 5, 0, "-3", "'-' cannot be here"},
        {ARITHMETIC, 2, 5, 0, "3 + * 4", "'*' cannot be here"},
        {ARITHMETIC, 2, 5, 0, "3 ( + 4 )", "'(' cannot be here"},
        {ARITHMETIC, 2, 5, 0, "() + 4", "')' cannot be here"},
        {ARITHMETIC, 2, 5, 0, "3 + 4)", "')' cannot be here"},
        {ARITHMETIC, 2, 5, 0, "(3 + 4", "not closed"},
        {ARITHMETIC, 2, 5, 0, "3 + 5", "5 is outside|0 to 4"},
        {ARITHMETIC, 2, 5, 0, "3 + x", "'x'"},
        {ARITHMETIC, 2, 5, 0, "1 + 2 + 3 + 4", "more than the 2 operators"},
        {ARITHMETIC, 2, 5, 0, "3 / (2 - 2)", "divides by 0"},
        {ARITHMETIC, 2, 5, 0, brackets, "more than 512 numbers"},
    };
    for (size_t i = 0; i < TEST_COUNT(asked); i++) {
        static reasoning_sample_t sample;
        reasoning_task_t task;
        attn_error_t error = {0};
        attn_status_t status;
        ask(&asked[i], &task, &sample, &error, &status);
        assert_true(status == ATTN_ERROR_RANGE || status == ATTN_ERROR_ARGUMENT);
        fixture_expect(status, &error, status, asked[i].expected);
    }
}

/* ---- uses ------------------------------------------------------------------------------------------ */

static int by_question(const void *a, const void *b) {
    const reasoning_sample_t *one = a, *other = b;
    const int32_t least = one->question < other->question ? one->question : other->question;
    const int order = memcmp(one->tokens, other->tokens, (size_t)least * sizeof *one->tokens);
    return order ? order : one->question - other->question;
}

/* A task of few questions, so that both uses draw many of them often: none is in both. */
static void nothing_overlaps(void **state) {
    (void)state;
    enum { MANY = 1500 };
    reasoning_task_t task;
    reasoning_sample_t *samples = malloc(2 * MANY * sizeof *samples);
    assert_non_null(samples);
    assert_int_equal(reasoning_make(REASONING_ARITHMETIC, 2, 2, 0, &task, NULL), ATTN_OK);
    for (uint64_t i = 0; i < MANY; i++) {
        reasoning_draw(&task, 1, REASONING_TEST, i, &samples[i]);
        reasoning_draw(&task, 2, REASONING_TRAIN, i, &samples[MANY + i]);
    }
    qsort(samples, MANY, sizeof *samples, by_question);
    int64_t repeated = 0;
    for (int64_t i = 1; i < MANY; i++) repeated += by_question(&samples[i - 1], &samples[i]) == 0;
    assert_true(repeated > MANY / 2);
    for (int64_t i = MANY; i < 2L * MANY; i++)
        if (bsearch(&samples[i], samples, MANY, sizeof *samples, by_question))
            test_fail("sample %" PRId64 " is also a test's", i);
    free(samples);
}

static void refusals(void **state) {
    (void)state;
    reasoning_task_t task;
    attn_error_t error = {0};
    fixture_expect(reasoning_make(REASONING_KINDS, 4, 11, 2, &task, &error), &error,
                   ATTN_ERROR_RANGE, "task");
    fixture_expect(reasoning_make(REASONING_LIS, 251, 0, 0, &task, &error), &error,
                   ATTN_ERROR_RANGE, "lis|251|250");
    fixture_expect(reasoning_make(REASONING_ARITHMETIC, 3, 9, 0, &task, &error), &error,
                   ATTN_ERROR_RANGE, "modulus 9|prime");
    fixture_expect(reasoning_make(REASONING_ED_LOCAL, 3, 0, 0, &task, &error), &error,
                   ATTN_ERROR_RANGE, "band of 0");
    assert_int_equal(reasoning_answer(NULL, 0), -1);
}

/* Questions that no sample has, by what all have. */
static void questions_unlike_samples(void **state) {
    (void)state;
    static const struct {
        int32_t kind, size;
        const char *question, *unlike;
    } asked[] = {
        {REASONING_LIS, 3, "5 7 6", ""},
        {REASONING_LIS, 3, "5 7", "sequences of exactly 3 numbers"},
        {REASONING_ED, 3, "abc b", ""},
        {REASONING_ED, 3, "abcde abc", ""},
        {REASONING_ED, 3, "ab abcd", "pairs with a word of exactly 3 letters"},
        {REASONING_ED_LOCAL, 3, "ab b", "pairs with a word of exactly 3 letters"},
        {REASONING_ED, 3, "abc abc", "pairs of different words"},
        {REASONING_ED, 6, "abcdef ab", "pairs of a word of 6 letters and one of at least 3"},
        {REASONING_ED, 6, "abcdef fed", ""},
        {REASONING_ED, 6, "abcdef ghij", ""},
        {REASONING_ED, 6, "abcdef ghijk", "pairs of at most 10 different letters"},
        {REASONING_ARITHMETIC, 2, "3 + 4 * 2", ""},
        {REASONING_ARITHMETIC, 2, "0 * 4 / 2", ""},
        {REASONING_ARITHMETIC, 2, "3 + 4", "expressions of exactly 2 operators"},
        {REASONING_ARITHMETIC, 2, "3 + 4 * 0", "expressions that never multiply by 0"},
        {REASONING_ARITHMETIC, 2, "3 * (2 - 2)", "expressions that never multiply by 0"},
    };
    static reasoning_sample_t sample;
    for (size_t i = 0; i < TEST_COUNT(asked); i++) {
        reasoning_task_t task;
        char unlike[REASONING_UNLIKE];
        test_label("%s", asked[i].question);
        assert_int_equal(reasoning_make(asked[i].kind, asked[i].size, 5, 2, &task, NULL), ATTN_OK);
        assert_int_equal(reasoning_read(&task, asked[i].question, &sample, NULL), ATTN_OK);
        reasoning_unlike(&task, &sample, unlike);
        assert_string_equal(unlike, asked[i].unlike);
    }
}

TEST_MAIN(cmocka_unit_test(definitions), cmocka_unit_test(largest_sizes),
          cmocka_unit_test(nothing_overlaps), cmocka_unit_test(refusals),
          cmocka_unit_test(questions_in_words), cmocka_unit_test(questions_unlike_samples),
          cmocka_unit_test(questions_of_people), cmocka_unit_test(no_questions))
