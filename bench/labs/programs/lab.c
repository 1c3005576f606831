/*
 * labs/programs/lab.c: transformers with explicit weights that solve whole problems step by step: edit distance by linear and
 * by sparse attention (Theorem 4.2) and arithmetic by sparse attention of constant width (Proposition 5.1) of "Do Efficient
 * Transformers Really Save Computation?". labs/programs/ has the weights.
 */
#include "labs/lab.h"
#include "attn/random.h"
#include "labs/declare.h"
#include "labs/judge.h"
#include "labs/programs/distance.h"
#include "labs/programs/expression.h"
#include "labs/statistics.h"

#include <math.h>

enum { LETTERS, OPERATORS, MODULUS, TRIALS, PARAMS };
enum { MOST_LETTERS = 40, MOST_OPERATORS = 20 };

static const attn_param_info_t params[PARAMS] = {
    [LETTERS] = LAB_INTEGER("letters", "letters n", "", 1, MOST_LETTERS, 8, "of either word"),
    [OPERATORS] =
        LAB_INTEGER("operators", "operators n", "", 2, MOST_OPERATORS, 6, "of an expression"),
    [MODULUS] = LAB_INTEGER("modulus", "modulus", "", 2, EXPRESSION_MOST_MODULUS, 11,
                            "of arithmetic, a prime"),
    [TRIALS] = LAB_INTEGER("trials", "trials", "", 1, 10000, 20,
                           "pairs of words, or expressions, a point"),
};

/* ---- panels ---------------------------------------------------------------------------------------- */

enum { KINDS = DISTANCE_KINDS };
/* Beside what is drawn: the share of right chains, and what the machines are made of. */
enum { X, OFF, HALF = OFF + KINDS, RIGHT, LENGTH = RIGHT + KINDS, DISTANCE_COLUMNS };
static const lab_column_t distance_columns[DISTANCE_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    [OFF] = {"linear_off", "linear attention", LAB_LINE, 0},
    {"sparse_off", "sparse attention", LAB_LINE, 0},
    [HALF] = {"half", "1/2: the next whole number is another", LAB_BOUND, 0},
    [RIGHT] = {"linear", "chains that are right, linear", LAB_HIDDEN, 0},
    {"sparse", "chains that are right, sparse", LAB_HIDDEN, 0},
    [LENGTH] = {"length", "length L", LAB_HIDDEN, 0},
};

/* Of the widths; each for linear and for sparse. */
enum {
    WIDTH = 1,
    ROOT = WIDTH + KINDS,
    TOKENS,
    TASK,
    DEPTH = TASK + KINDS,
    HEADS = DEPTH + KINDS,
    PERCEPTRONS = HEADS + KINDS,
    NORM = PERCEPTRONS + KINDS,
    NORM_BOUND = NORM + KINDS,
    WIDTH_COLUMNS
};
static const lab_column_t width_columns[WIDTH_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    [WIDTH] = {"linear", "linear attention", LAB_LINE, 0},
    {"sparse", "sparse attention", LAB_LINE, 0},
    [ROOT] = {"root", "50 sqrt L", LAB_BOUND, 0},
    [TOKENS] = {"length", "length L", LAB_HIDDEN, 0},
    [TASK] = {"linear_task", "neurons of f, g, h, u and the next state, linear", LAB_HIDDEN, 0},
    {"sparse_task", "neurons of f, g, h, u and the next state, sparse", LAB_HIDDEN, 0},
    [DEPTH] = {"linear_depth", "layers of attention, linear", LAB_HIDDEN, 0},
    {"sparse_depth", "layers of attention, sparse", LAB_HIDDEN, 0},
    [HEADS] = {"linear_heads", "heads, linear", LAB_HIDDEN, 0},
    {"sparse_heads", "heads, sparse", LAB_HIDDEN, 0},
    [PERCEPTRONS] = {"linear_perceptrons", "perceptrons, linear", LAB_HIDDEN, 0},
    {"sparse_perceptrons", "perceptrons, sparse", LAB_HIDDEN, 0},
    [NORM] = {"linear_norm", "largest weight, linear", LAB_HIDDEN, 0},
    {"sparse_norm", "largest weight, sparse", LAB_HIDDEN, 0},
    [NORM_BOUND] = {"norm_bound", "(M^4 + 8 L) / eps (Lemma A.1)", LAB_HIDDEN, 0},
};

enum {
    EXPRESSION_OFF = 1,
    EXPRESSION_HALF,
    EXPRESSION_RIGHT,
    EXPRESSION_LENGTH,
    EXPRESSION_BLOCK,
    EXPRESSION_WIDTH,
    EXPRESSION_DEPTH,
    EXPRESSION_HEADS,
    EXPRESSION_NORM,
    EXPRESSION_SEEN,
    EXPRESSION_COLUMNS
};
static const lab_column_t expression_columns[EXPRESSION_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    [EXPRESSION_OFF] = {"off", "sparse attention", LAB_LINE, 0},
    [EXPRESSION_HALF] = {"half", "1/2: another token may win", LAB_BOUND, 0},
    [EXPRESSION_RIGHT] = {"right", "chains that are right", LAB_HIDDEN, 0},
    [EXPRESSION_LENGTH] = {"length", "length L", LAB_HIDDEN, 0},
    [EXPRESSION_BLOCK] = {"block", "block size B", LAB_HIDDEN, 0},
    [EXPRESSION_WIDTH] = {"width", "width D", LAB_HIDDEN, 0},
    [EXPRESSION_DEPTH] = {"depth", "layers of attention", LAB_HIDDEN, 0},
    [EXPRESSION_HEADS] = {"heads", "heads", LAB_HIDDEN, 0},
    [EXPRESSION_NORM] = {"norm", "largest weight", LAB_HIDDEN, 0},
    [EXPRESSION_SEEN] = {"seen", "1: the expression before is within what a query sees", LAB_HIDDEN,
                         0},
};

static const double letters[] = {1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 28, 32};
static const double operators[] = {2, 3, 4, 5, 6, 8, 10, 13, 16, 20};

enum { OF_WORDS = 1 << OPERATORS | 1 << MODULUS };

static const lab_panel_t panels[] = {
    {.id = "distance",
     .plain = "With hand-made weights, linear and sparse attention compute an edit distance.",
     .title = "Edit distance by explicit weights",
     .claim = "For any n a linear and a sparse transformer of constant depth generate the right "
              "output for all inputs of length n (Theorem 4.2, Theorems B.3 and B.4), here of "
              "edit distance.",
     .states = "Theorem 4.2; Theorem B.3; Theorem B.4",
     .where = "Two words of 1 to 32 letters, of an alphabet of 2, 3 or 26, at random: there are "
              "too many to try all. A model is made for one n. Perceptrons with GeLU are "
              "computed in double, attention by the plugins in float.",
     .criterion = "Each n, of either kind: for it where all tokens of all chains are right, "
                  "against it where one is not.",
     .idle = OF_WORDS,
     .x_param = LETTERS,
     .grid = LAB_GRID(letters),
     .x = {"letters n", "", 1, 0, 0},
     .y = {"off a whole number, most", "", 1, 0, 0},
     LAB_COLUMNS_OF(distance_columns)},
    {.id = "distance-width",
     .plain = "These models grow as the square root of the length, and only in width.",
     .title = "Width of the models of edit distance",
     .claim = "The linear and the sparse transformer have a width of O(sqrt L), constant depth and "
              "heads, and weights that are polynomial in L (Theorem 4.2, Theorems B.3 and B.4).",
     .states = "Theorem 4.2; Theorem B.3; Theorem B.4",
     .where = "Of the weights for 1 to 32 letters. The width is the largest number of columns of "
              "a token, of neurons of a layer and of columns of a head. The task's own functions "
              "must have as many neurons at each n (Assumptions B.1 and B.2).",
     .criterion = "The exponents of the widths over L count for it where their intervals come "
                  "within 0.05 of 0.5; depth and heads where they are the same at all n; the "
                  "largest weight where it is at most (M^4 + 8 L) / eps at all n.",
     .idle = OF_WORDS | 1 << TRIALS,
     .x_param = LETTERS,
     .grid = LAB_GRID(letters),
     .x = {"letters n", "", 1, 0, 0},
     .y = {"width D", "", 1, 0, 0},
     LAB_COLUMNS_OF(width_columns)},
    {.id = "arithmetic",
     .plain = "With hand-made weights, sparse attention of one small width evaluates expressions.",
     .title = "Arithmetic by explicit weights of constant width",
     .claim = "For any n a sparse transformer with blocks of B ~ sqrt L, 5 layers, 5 heads and a "
              "constant width generates the right output for expressions of n operators "
              "(Proposition 5.1).",
     .states = "Proposition 5.1; Table 1",
     .where = "Random expressions of 2 to 20 operators modulo 11. The chain evaluates the leftmost "
              "operator that is ready. A query must see the whole expression before its own: 7 "
              "blocks of sqrt L tokens.",
     .criterion = "Each n: for it where all tokens of all chains are right, with 5 layers, 5 heads "
                  "and the width of the first n, against it where not.",
     .idle = 1 << LETTERS,
     .x_param = OPERATORS,
     .grid = LAB_GRID(operators),
     .x = {"operators n", "", 1, 0, 0},
     .y = {"off 0 or 1, most", "", 1, 0, 0},
     LAB_COLUMNS_OF(expression_columns)},
};

/* ---- points ---------------------------------------------------------------------------------------- */

/* A word pair of an alphabet of 2, 3 or 26 letters. */
static void draw_words(const lab_point_t *point, const distance_t *task, uint64_t trial,
                       int32_t *words) {
    static const double alphabets[] = {2, 3, DISTANCE_LETTERS};
    const uint64_t stream = lab_stream(point, trial, 0);
    for (int32_t i = 0; i < task->first + task->second; i++) {
        const double part = attn_random_uniform(point->run->seed, stream, (uint64_t)i);
        words[i] = 1 + (int32_t)(part * alphabets[trial % 3]);
    }
}

static attn_status_t solve_words(const lab_point_t *point, const distance_t *task, int kind,
                                 machine_t *machine, double *row, attn_error_t *error) {
    const double trials = point->values[TRIALS];
    attn_status_t status = machine_begin(machine, point->run->context, task->length, error);
    for (uint64_t trial = 0; trial < (uint64_t)trials && !status; trial++) {
        int32_t words[2 * MOST_LETTERS];
        distance_run_t run;
        draw_words(point, task, trial, words);
        status = distance_solve(task, machine, words, &run, error);
        if (status) break;
        row[RIGHT + kind] += run.right;
        row[OFF + kind] = fmax(row[OFF + kind], run.off);
    }
    row[RIGHT + kind] /= trials;
    return status;
}

static attn_status_t compute_distance(const lab_point_t *point, double *row, attn_error_t *error) {
    const int32_t count = (int32_t)point->values[LETTERS];
    const distance_t task = distance_of(count, count);
    attn_status_t status = ATTN_OK;
    row[HALF] = 0.5;
    row[LENGTH] = task.length;
    for (int kind = 0; kind < KINDS && !status; kind++) {
        machine_t machine;
        row[RIGHT + kind] = row[OFF + kind] = 0;
        distance_build(&task, (enum distance_kind)kind, &machine);
        status = solve_words(point, &task, kind, &machine, row, error);
        machine_destroy(&machine);
    }
    return status;
}

static attn_status_t compute_width(const lab_point_t *point, double *row, attn_error_t *error) {
    const int32_t count = (int32_t)point->values[LETTERS];
    const distance_t task = distance_of(count, count);
    attn_status_t status = ATTN_OK;
    row[TOKENS] = task.length;
    row[ROOT] = 50 * sqrt(task.length);
    row[NORM_BOUND] = (pow(task.bound, 4) + 8.0 * task.length) / task.eps;
    for (int kind = 0; kind < KINDS && !status; kind++) {
        machine_t machine;
        distance_build(&task, (enum distance_kind)kind, &machine);
        const machine_size_t size = machine_size(&machine);
        status = machine_check(&machine, error);
        row[WIDTH + kind] = size.width;
        row[TASK + kind] = size.task;
        row[DEPTH + kind] = size.attention;
        row[HEADS + kind] = size.heads;
        row[PERCEPTRONS + kind] = size.perceptrons;
        row[NORM + kind] = size.norm;
        machine_destroy(&machine);
    }
    return status;
}

static attn_status_t solve_expressions(const lab_point_t *point, const expression_t *task,
                                       machine_t *machine, double *row, attn_error_t *error) {
    const double trials = point->values[TRIALS];
    attn_status_t status = machine_begin(machine, point->run->context, task->task.length, error);
    for (uint64_t trial = 0; trial < (uint64_t)trials && !status; trial++) {
        reasoning_sample_t sample;
        expression_run_t run;
        reasoning_draw(&task->task, point->run->seed, REASONING_TEST, trial, &sample);
        status = expression_solve(task, machine, &sample, &run, error);
        if (status) break;
        row[EXPRESSION_RIGHT] += run.right;
        row[EXPRESSION_OFF] = fmax(row[EXPRESSION_OFF], run.off);
    }
    row[EXPRESSION_RIGHT] /= trials;
    return status;
}

static attn_status_t compute_expression(const lab_point_t *point, double *row,
                                        attn_error_t *error) {
    expression_t task;
    machine_t machine;
    attn_status_t status = expression_of((int32_t)point->values[OPERATORS],
                                         (int32_t)point->values[MODULUS], &task, error);
    if (status) return status;
    expression_build(&task, &machine);
    const machine_size_t size = machine_size(&machine);
    row[EXPRESSION_HALF] = 0.5;
    row[EXPRESSION_OFF] = row[EXPRESSION_RIGHT] = 0;
    row[EXPRESSION_LENGTH] = task.task.length;
    row[EXPRESSION_BLOCK] = task.block;
    row[EXPRESSION_WIDTH] = size.width;
    row[EXPRESSION_DEPTH] = size.attention;
    row[EXPRESSION_HEADS] = size.heads;
    row[EXPRESSION_NORM] = size.norm;
    row[EXPRESSION_SEEN] = expression_is_seen(&task);
    status = solve_expressions(point, &task, &machine, row, error);
    machine_destroy(&machine);
    return status;
}

static attn_status_t compute_point(const lab_point_t *point, double *row, attn_error_t *error) {
    const lab_column_t *columns = point->run->panel->columns;
    if (columns == distance_columns) return compute_distance(point, row, error);
    if (columns == width_columns) return compute_width(point, row, error);
    return compute_expression(point, row, error);
}

/* ---- about a run ------------------------------------------------------------------------------------ */

static attn_status_t check(const lab_point_t *point, attn_error_t *error) {
    expression_t task;
    if (point->run->panel->columns != expression_columns) return ATTN_OK;
    return expression_of((int32_t)point->values[OPERATORS], (int32_t)point->values[MODULUS], &task,
                         error);
}

/* Tokens times the numbers that each of them is. */
static double cost(const lab_point_t *point) {
    const double *values = point->values;
    if (point->run->panel->columns == width_columns) return 1;
    if (point->run->panel->columns == expression_columns)
        return values[TRIALS] * values[OPERATORS] * values[OPERATORS] * 2000;
    return values[TRIALS] * pow(values[LETTERS] + 2, 3) * 200;
}

static int within(const lab_run_t *run, const double *row) {
    return run->panel->columns != expression_columns || row[EXPRESSION_SEEN] != 0;
}

/* A point that has a wrong chain is against the claim, one that has none for it. */
static void add_right(tally_t *tally, double share, int as_claimed) {
    tally_add(tally, isnan(share)               ? LAB_UNDECIDED
                     : share == 1 && as_claimed ? LAB_HOLDS
                                                : LAB_FAILS);
}

static void judge_distance(const double *rows, uint32_t count, lab_finding_t *finding) {
    tally_t tally = {0};
    double off = 0;
    for (uint32_t i = 0; i < count; i++)
        for (int kind = 0; kind < KINDS; kind++) {
            const double *row = rows + (size_t)i * DISTANCE_COLUMNS;
            add_right(&tally, row[RIGHT + kind], 1);
            off = fmax(off, row[OFF + kind]);
        }
    judge_tally(&tally, "models", finding);
    judge_found(finding, "Numbers are off whole ones by %.2g at most.", off);
}

static void judge_expression(const double *rows, uint32_t count, lab_finding_t *finding) {
    tally_t tally = {0};
    double off = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * EXPRESSION_COLUMNS;
        if (!row[EXPRESSION_SEEN]) continue;
        add_right(&tally, row[EXPRESSION_RIGHT],
                  row[EXPRESSION_DEPTH] <= 5 && row[EXPRESSION_HEADS] <= 5 &&
                      row[EXPRESSION_WIDTH] == rows[EXPRESSION_WIDTH]);
        off = fmax(off, row[EXPRESSION_OFF]);
    }
    judge_tally(&tally, "models", finding);
    judge_found(finding, "All have a width of %.0f; numbers are off 0 and 1 by %.2g at most.",
                rows[EXPRESSION_WIDTH], off);
}

/* Whether a column is the same in all rows. */
static int is_constant(const double *rows, uint32_t count, uint32_t column) {
    for (uint32_t i = 1; i < count; i++)
        if (rows[(size_t)i * WIDTH_COLUMNS + column] != rows[column]) return 0;
    return 1;
}

/* First the premise: the task's functions are perceptrons of constant size. */
static void judge_width(const lab_run_t *run, const double *rows, uint32_t count,
                        lab_finding_t *finding) {
    static const judged_exponent_t widths[] = {{"linear", WIDTH, 0.5}, {"sparse", WIDTH + 1, 0.5}};
    if (!is_constant(rows, count, TASK) || !is_constant(rows, count, TASK + 1)) {
        judge_sure(finding, "no points are within its premises");
        return;
    }
    judge_exponents(run, rows, count, TOKENS, widths, KINDS, finding);
    int constant = 1, small = 1;
    for (int kind = 0; kind < KINDS; kind++) {
        constant &= is_constant(rows, count, (uint32_t)(DEPTH + kind)) &&
                    is_constant(rows, count, (uint32_t)(HEADS + kind)) &&
                    is_constant(rows, count, (uint32_t)(PERCEPTRONS + kind));
        for (uint32_t i = 0; i < count; i++) {
            const double *row = rows + (size_t)i * WIDTH_COLUMNS;
            small &= row[NORM + kind] <= row[NORM_BOUND];
        }
    }
    if (!constant || !small) finding->verdict = LAB_FAILS;
    judge_found(finding, constant ? " Depth and heads are constant" : " Depth or heads change");
    judge_found(finding, small ? ", and weights within the bound." : ", weights above the bound.");
}

static void judge(const lab_run_t *run, const double *rows, uint32_t count,
                  lab_finding_t *finding) {
    if (run->panel->columns == distance_columns)
        judge_distance(rows, count, finding);
    else if (run->panel->columns == width_columns)
        judge_width(run, rows, count, finding);
    else
        judge_expression(rows, count, finding);
}

const lab_t lab_programs = {
    .name = "programs",
    .title = "Whole problems by explicit weights",
    .reference = "Do Efficient Transformers Really Save Computation?, Theorem 4.2, Proposition 5.1",
    .summary = "Linear and sparse transformers with weights written out by hand solve edit "
               "distance and arithmetic step by step, one token at a time.",
    .params = params,
    .param_count = PARAMS,
    .panels = panels,
    .panel_count = LAB_COUNT(panels),
    .check = check,
    .point = compute_point,
    .cost = cost,
    .within = within,
    .judge = judge,
};
