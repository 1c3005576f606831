/*
 * Transformers with explicit weights that solve whole problems (arXiv:2402.13934, Theorem 4.2 and Proposition 5.1), on all
 * inputs of small sizes; and Theorem 4.2's linear transformer once more, in float64, with nothing of the library.
 */
#include "labs/programs/distance.h"
#include "labs/programs/expression.h"
#include "support/fixture.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

static void begin(machine_t *machine, const attn_context_t *context, int64_t length) {
    attn_error_t error = {0};
    if (machine_begin(machine, context, length, &error)) test_fail("%s", error.message);
}

/* ---- edit distance ----------------------------------------------------------------------------------- */

static distance_run_t solve(const distance_t *task, machine_t *machine, const int32_t *letters) {
    distance_run_t run;
    attn_error_t error = {0};
    if (distance_solve(task, machine, letters, &run, &error)) test_fail("%s", error.message);
    return run;
}

/* All pairs of words of two letters, for words of all these lengths. */
static void all_pairs_of_short_words(void **state) {
    (void)state;
    static const int32_t sizes[][2] = {{1, 1}, {2, 2}, {3, 3}, {1, 4}, {4, 1}, {2, 3}, {3, 2}};
    attn_context_t *context = fixture_context(1);
    for (size_t s = 0; s < TEST_COUNT(sizes); s++)
        for (int kind = 0; kind < DISTANCE_KINDS; kind++) {
            const distance_t task = distance_of(sizes[s][0], sizes[s][1]);
            machine_t machine;
            distance_build(&task, (enum distance_kind)kind, &machine);
            begin(&machine, context, task.length);
            for (int32_t pair = 0; pair < 1 << (task.first + task.second); pair++) {
                int32_t letters[MOST];
                for (int32_t i = 0; i < task.first + task.second; i++)
                    letters[i] = pair >> i & 1 ? DISTANCE_LETTERS : 1;
                const distance_run_t run = solve(&task, &machine, letters);
                test_label("%s, %d and %d letters, pair %d", kind ? "sparse" : "linear",
                           (int)task.first, (int)task.second, (int)pair);
                if (!run.right || !(run.off < 0.01)) test_fail("off by %g", run.off);
            }
            machine_destroy(&machine);
        }
    attn_context_destroy(context);
}

/* Longer words, and the distance itself: of a word to itself 0, of words without a common letter known. */
static void answers_are_distances(void **state) {
    (void)state;
    attn_context_t *context = fixture_context(1);
    for (int kind = 0; kind < DISTANCE_KINDS; kind++) {
        const distance_t task = distance_of(MOST, MOST);
        machine_t machine;
        int32_t same[2 * MOST], other[2 * MOST];
        distance_build(&task, (enum distance_kind)kind, &machine);
        begin(&machine, context, task.length);
        for (int32_t i = 0; i < MOST; i++) {
            same[i] = same[MOST + i] = 1 + i % 3;
            other[i] = 1 + i, other[MOST + i] = 20;
        }
        const distance_run_t none = solve(&task, &machine, same);
        const distance_run_t all = solve(&task, &machine, other);
        assert_true(none.right && none.answer == 0);
        assert_true(all.right && all.answer == 3 * MOST);
        machine_destroy(&machine);
    }
    attn_context_destroy(context);
}

/* The heads are needed: without their keys an average of all tokens comes, and chains are wrong. */
static void without_keys_it_is_wrong(void **state) {
    (void)state;
    static const int32_t letters[] = {1, 2, 3, 3, 1, 2};
    attn_context_t *context = fixture_context(1);
    for (int kind = 0; kind < DISTANCE_KINDS; kind++) {
        const distance_t task = distance_of(3, 3);
        machine_t machine;
        distance_build(&task, (enum distance_kind)kind, &machine);
        for (int32_t l = 0; l < machine.count; l++)
            for (int32_t i = 0; i < machine.layers[l].key.count; i++)
                machine.layers[l].key.terms[i].weight = 0;
        begin(&machine, context, task.length);
        assert_false(solve(&task, &machine, letters).right);
        machine_destroy(&machine);
    }
    attn_context_destroy(context);
}

/* A constant depth and number of heads, a width of at most 87 sqrt L, which falls. */
static void sizes_are_the_theorem_s(void **state) {
    (void)state;
    for (int kind = 0; kind < DISTANCE_KINDS; kind++) {
        double above = 87.5;
        for (int32_t n = 1; n <= 16; n++) {
            const distance_t task = distance_of(n, n);
            machine_t machine;
            distance_build(&task, (enum distance_kind)kind, &machine);
            const machine_size_t size = machine_size(&machine);
            const double share = size.width / (double)task.block;
            assert_true(size.attention == 1 + kind && size.heads == 5 && size.perceptrons == 16);
            assert_true(size.task == 74 && share < above);
            assert_true(size.norm <= (pow(task.bound, 4) + 8.0 * task.length) / task.eps);
            above = share;
            machine_destroy(&machine);
        }
    }
}

/* ---- Theorem 4.2's linear transformer in float64 ------------------------------------------------------- */

static double gelu(double x) { return x * 0.5 * erfc(-x / sqrt(2)); }
static double elu_plus_1(double x) { return x > 0 ? x + 1 : exp(x); }

/* Lemma A.2, and what is made of it: A.5 and A.6, A.4. */
static double relu(double x) { return gelu(1e5 * x) / 1e5; }
static double step(double x) { return relu(3 * x - 1) - relu(3 * x - 2); }
static double choose(double flag, double a, double b) {
    const double t = 4e4 * (flag - 0.5);
    return relu(a + t) - relu(t) + relu(b - t) - relu(-t);
}

/* Lemma A.1 for |a|, |b| <= 100. */
static double product(double a, double b) {
    const double h = 1e-7, p = h * (a + b), m = h * (a - b);
    return (gelu(p) + gelu(-p) - gelu(m) - gelu(-m)) * sqrt(acos(-1) / 2) / (4 * h * h);
}

enum { LENGTH = MOST * MOST + 2 * MOST + 2, WIDEST = 10 };

typedef struct token64 {
    double input, x, y, value, next_x, next_y, last;
    double block[WIDEST + 1], slots[2][WIDEST + 1]; /* e of its block; letter and value by place */
} token64_t;

/* Lemma A.7 and e_s = m_s n_s. */
static double block_of(double t, int W) {
    double block = 1;
    for (int j = 1; j < W; j++) block += step(t - j * W);
    return block;
}

static double hot(double s, int j) { return product(step(s - j + 1), step(j - s + 1)); }

/* What stands at position t: AGG of its block over tokens 1 to k (Lemma A.9), times their number, at t's place. */
static double at_position(const token64_t *tokens, int k, double t, int of_value, int W) {
    const double block = block_of(t, W), mu = log(2.0 * W * W * W / 1e-9);
    const double place = t - (block - 1) * W;
    double sums[WIDEST + 1] = {0}, weights = 0, found = 0;
    for (int j = 1; j <= k; j++) {
        double weight = 0;
        for (int o = 1; o <= W; o++)
            weight +=
                elu_plus_1(mu * (hot(block, o) - 1)) * elu_plus_1(mu * (tokens[j].block[o] - 1));
        weights += weight;
        for (int s = 1; s <= W; s++) sums[s] += weight * tokens[j].slots[of_value][s];
    }
    const double there = W - relu(W - (k - (block - 1) * W));
    for (int s = 1; s <= W; s++) found += product(product(sums[s] / weights, there), hot(place, s));
    return found;
}

/* Token k, whose generated fields are set, becomes the next one's: x, y, value, answer. */
static void step64(int first, int second, token64_t *tokens, int k, int W, double made[4]) {
    token64_t *own = &tokens[k];
    const int letters = first + second;
    const double wraps = step(own->y + 1 - second), block = block_of(k, W);
    own->next_x = own->x + step(letters + 2 - k) + wraps;
    own->next_y = own->y + 1 - second * wraps;
    own->last = step(own->x + own->y + 1 - letters);
    for (int s = 1; s <= W; s++) {
        const double place = hot(k - (block - 1) * W, s);
        own->block[s] = hot(block, s);
        own->slots[0][s] = product(place, own->input);
        own->slots[1][s] = product(place, own->value);
    }
    const double x = own->next_x, y = own->next_y, up = step(x - 1), left = step(y - 1);
    const double inner = step(up + left - 1), cell = letters + 1 + (x - 1) * second + y;
    const double differ = at_position(tokens, k, x, 0, W) - at_position(tokens, k, first + y, 0, W);
    const double above = at_position(tokens, k, choose(up, cell - second, 1), 1, W);
    const double before = at_position(tokens, k, choose(left, cell - 1, 1), 1, W);
    const double diagonal = at_position(tokens, k, choose(inner, cell - second - 1, 1), 1, W);
    const double a = choose(up, above, 2 * y), b = choose(left, before, 2 * x);
    const double c =
        choose(inner, diagonal, 2 * x + 2 * y - 4) + 3 * (step(differ) + step(-differ));
    const double one_letter = b + 2 - relu(b - a), value = c - relu(c - one_letter);
    made[0] = choose(own->last, 0, x);
    made[1] = choose(own->last, 0, y);
    made[2] = choose(own->last, 0, value);
    made[3] = choose(own->last, own->value, 0);
}

/*
 * Token by token, both go on from the float64 version's rounded tokens. A number that a head copies is off by what the
 * bricks are: W (4 M eps + 4 eps) and what float can add to sums of up to L terms; all else is off by less.
 */
static void compare64(const attn_context_t *context, int first, int second,
                      const int32_t *letters) {
    static token64_t tokens[LENGTH + 1];
    const distance_t task = distance_of(first, second);
    const double W = task.block, M = task.bound;
    const double off = W * (4 * M * task.eps + 4 * task.eps + 3 * task.length * 0x1p-24 * M);
    const int count = first + second;
    machine_t machine;
    double made[4] = {0}, embedding[DISTANCE_INPUTS] = {0}, answer[DISTANCE_FIELDS];
    int table[MOST + 1][MOST + 1];
    memset(tokens, 0, sizeof tokens);
    distance_build(&task, DISTANCE_LINEAR, &machine);
    begin(&machine, context, task.length);
    for (int i = 0; i <= first; i++)
        for (int j = 0; j <= second; j++) {
            table[i][j] = 2 * (i + j);
            if (i == 0 || j == 0) continue;
            const int differ = letters[i - 1] != letters[first + j - 1];
            table[i][j] = table[i - 1][j - 1] + 3 * differ;
            if (table[i - 1][j] + 2 < table[i][j]) table[i][j] = table[i - 1][j] + 2;
            if (table[i][j - 1] + 2 < table[i][j]) table[i][j] = table[i][j - 1] + 2;
        }
    for (int k = 1; k <= count + 1 + first * second; k++) {
        token64_t *own = &tokens[k];
        if (k <= count + 1)
            own->input = k <= count ? letters[k - 1] : DISTANCE_LETTERS + 1;
        else
            own->x = round(made[0]), own->y = round(made[1]), own->value = round(made[2]);
        embedding[DISTANCE_INPUT] = own->input;
        embedding[DISTANCE_X] = own->x, embedding[DISTANCE_Y] = own->y;
        embedding[DISTANCE_VALUE] = own->value;
        assert_int_equal(machine_step(&machine, embedding, answer, NULL), ATTN_OK);
        step64(first, second, tokens, k, task.block, made);
        if (k <= count) continue; /* what letters make of themselves is not read */
        test_label("%d and %d letters, token %d", first, second, k);
        for (int c = 0; c < 4; c++)
            if (!(fabs(made[c] - answer[DISTANCE_X + c]) <= 2 * off))
                test_fail("field %d: %g, in float64 %g", c, answer[DISTANCE_X + c], made[c]);
        if (k <= count + first * second) {
            const int x = (k - count - 1) / second + 1, y = (k - count - 1) % second + 1;
            assert_true(round(made[0]) == x && round(made[1]) == y);
            assert_true(round(made[2]) == table[x][y]);
        } else {
            assert_true(round(made[3]) == table[first][second] && round(made[0]) == 0);
        }
    }
    machine_destroy(&machine);
}

static void as_in_float64(void **state) {
    (void)state;
    static const int sizes[][2] = {{1, 1}, {2, 2}, {3, 4}, {5, 3}, {6, 6}};
    attn_context_t *context = fixture_context(1);
    for (uint64_t s = 0; s < TEST_COUNT(sizes); s++) {
        int32_t letters[2 * MOST];
        for (uint64_t i = 0; i < 2 * MOST; i++)
            letters[i] = 1 + (int32_t)fixture_draw(s * 100 + i, s % 2 ? 3 : DISTANCE_LETTERS);
        compare64(context, sizes[s][0], sizes[s][1], letters);
    }
    attn_context_destroy(context);
}

/* ---- arithmetic -------------------------------------------------------------------------------------- */

static void solve_expression(const expression_t *task, machine_t *machine,
                             const reasoning_sample_t *sample) {
    expression_run_t run;
    attn_error_t error = {0};
    if (expression_solve(task, machine, sample, &run, &error)) test_fail("%s", error.message);
    if (!run.right || run.answer != reasoning_answer(sample->tokens, sample->count))
        test_fail("wrong, %g off", run.off);
    assert_true(run.off < 0.01);
}

/* Each one of two operators modulo 3, with brackets to either side and without; those that divide by 0 are none. */
static void all_expressions_of_two_operators(void **state) {
    (void)state;
    static const char *const forms[] = {"%d%c%d%c%d", "(%d%c%d)%c%d", "%d%c(%d%c%d)"};
    static reasoning_sample_t sample;
    attn_context_t *context = fixture_context(1);
    expression_t task;
    machine_t machine;
    int solved = 0;
    assert_int_equal(expression_of(2, 3, &task, NULL), ATTN_OK);
    expression_build(&task, &machine);
    begin(&machine, context, task.task.length);
    for (int i = 0; i < 3 * 16 * 27; i++) {
        char text[32];
        snprintf(text, sizeof text, forms[i % 3], i / 3 % 3, "+-*/"[i / 9 % 4], i / 36 % 3,
                 "+-*/"[i / 108 % 4], i / 432 % 3);
        if (reasoning_read(&task.task, text, &sample, NULL)) continue;
        test_label("%s modulo 3", text);
        solve_expression(&task, &machine, &sample);
        solved++;
    }
    assert_true(solved > 900);
    machine_destroy(&machine);
    attn_context_destroy(context);
}

/* Longer ones: the same layers, heads and width at all sizes, and a modulus' results in one table. */
static void expressions_at_one_width(void **state) {
    (void)state;
    static const int32_t sizes[] = {2, 3, 4, 6, 9, 13};
    static reasoning_sample_t sample;
    attn_context_t *context = fixture_context(1);
    int32_t width = 0;
    for (size_t s = 0; s < TEST_COUNT(sizes); s++) {
        expression_t task;
        machine_t machine;
        assert_int_equal(expression_of(sizes[s], 11, &task, NULL), ATTN_OK);
        assert_true(expression_is_seen(&task));
        expression_build(&task, &machine);
        const machine_size_t size = machine_size(&machine);
        assert_true(size.attention == 5 && size.heads == 5 && (s == 0 || size.width == width));
        width = size.width;
        begin(&machine, context, task.task.length);
        for (uint64_t i = 0; i < 4; i++) {
            reasoning_draw(&task.task, test_seed(), REASONING_TEST, i, &sample);
            test_label("%d operators, sample %d", (int)sizes[s], (int)i);
            solve_expression(&task, &machine, &sample);
        }
        machine_destroy(&machine);
    }
    attn_context_destroy(context);
}

TEST_MAIN(cmocka_unit_test(all_pairs_of_short_words), cmocka_unit_test(answers_are_distances),
          cmocka_unit_test(without_keys_it_is_wrong), cmocka_unit_test(sizes_are_the_theorem_s),
          cmocka_unit_test(as_in_float64), cmocka_unit_test(all_expressions_of_two_operators),
          cmocka_unit_test(expressions_at_one_width))
