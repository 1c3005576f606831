/* labs/programs/expression.c: see expression.h. */
#include "labs/programs/expression.h"

#include "attn/support.h"
#include "labs/programs/bricks.h"

#include <math.h>

enum { PLUS = REASONING_OWN, MINUS, TIMES, OVER, OPEN, CLOSE, EQUALS };
enum { OPERATORS = 4, BACK = 4 };
enum { POSITION = EXPRESSION_VOCABULARY, ONE, INPUTS };

/* Columns, as the layers add them. */
typedef struct columns {
    int32_t number, rank, square, equals_at; /* 1 of numbers; + - 1, * / 2; k^2; k of =, else 0 */
    int32_t back[BACK + 1];                  /* the tokens before: their fields */
    int32_t own_equals;                      /* E: where the last = is, up to the token itself */
    int32_t ready, bracketed, result;        /* of the handle that ends before this token */
    int32_t ready_at;
    int32_t start, start_square, last_ready; /* S: the last = before it; the last ready token */
    int32_t before, start_of_equals;         /* the last ready token before it; S of token E */
    int32_t leftmost;
    int32_t handle;                       /* its place, result, brackets */
    int32_t is_at, source, second, token; /* what comes next, and where from */
} columns_t;

typedef struct builder {
    const expression_t *task;
    machine_t *machine;
    bricks_t bricks; /* positions, up to a few L */
    columns_t at;
} builder_t;

/* What a head copies of a token before: whether it is a number, rank, (, operators and numbers one by one. */
enum { B_NUMBER, B_RANK, B_OPEN, B_OPERATORS, B_NUMBERS = B_OPERATORS + OPERATORS };

static form_t constant(double number) { return form_times(form_of(ONE), number); }

static form_t column_plus(int32_t column, double number) {
    return form_plus(form_of(column), ONE, number);
}

static int32_t copy(const builder_t *b, form_t form) {
    const int32_t column = machine_column(b->machine);
    brick_linear(&b->bricks, column, 1, form);
    return column;
}

static int32_t step(const builder_t *b, form_t form) {
    const int32_t column = machine_column(b->machine);
    brick_step(&b->bricks, column, 1, form);
    return column;
}

static int32_t product(const builder_t *b, int32_t x, int32_t y) {
    const int32_t column = machine_column(b->machine);
    brick_product(&b->bricks, column, 1, form_of(x), form_of(y));
    return column;
}

static int32_t choose(const builder_t *b, int32_t flag, form_t x, form_t y) {
    const int32_t column = machine_column(b->machine);
    brick_select(&b->bricks, column, flag, x, y);
    return column;
}

/* ---- heads ------------------------------------------------------------------------------------------- */

/* Keys that are 1 below the best weigh, together, less than eps / L. */
static double lambda_of(const expression_t *task) {
    const double length = task->task.length;
    const double seen = EXPRESSION_LOCAL * task->block + length / task->block + 1;
    return ceil(log(4 * seen * length / task->eps));
}

static machine_layer_t *head(const builder_t *b, int32_t dim, int32_t values, int beside) {
    machine_layer_t *made = machine_head(b->machine, "sparse", dim, values, beside);
    machine_param(made, "block", b->task->block);
    machine_param(made, "local", EXPRESSION_LOCAL);
    machine_param(made, "global", 1);
    return made;
}

/*
 * The tokens whose columns `of` and `square` have x and x^2 for the query's x = form: logits -lambda (of - x)^2, up to what
 * all keys have in common, and lambda more where `flag` (-1: none) is 1.
 */
static machine_layer_t *at_number(const builder_t *b, form_t x, int32_t of, int32_t square,
                                  int32_t flag, int32_t values, int beside) {
    const double lambda = lambda_of(b->task);
    machine_layer_t *made = head(b, 3, values, beside);
    for (int32_t i = 0; i < x.count; i++)
        machine_weight(b->machine, &made->query, 0, x.columns[i], 2 * lambda * x.weights[i]);
    machine_weight(b->machine, &made->query, 1, ONE, -lambda);
    if (flag >= 0) machine_weight(b->machine, &made->query, 2, ONE, lambda);
    machine_weight(b->machine, &made->key, 0, of, 1);
    machine_weight(b->machine, &made->key, 1, square, 1);
    if (flag >= 0) machine_weight(b->machine, &made->key, 2, flag, 1);
    return made;
}

/* The last token with this flag: COPY with a token's position as its rating (Lemma A.11). */
static machine_layer_t *last_with(const builder_t *b, int32_t flag, int32_t values, int beside) {
    const double lambda = lambda_of(b->task);
    machine_layer_t *made = head(b, 2, values, beside);
    machine_weight(b->machine, &made->query, 0, ONE, lambda * 2 * b->task->task.length);
    machine_weight(b->machine, &made->query, 1, ONE, lambda);
    machine_weight(b->machine, &made->key, 0, flag, 1);
    machine_weight(b->machine, &made->key, 1, POSITION, 1);
    return made;
}

static void take(const builder_t *b, machine_layer_t *made, int32_t row, int32_t column) {
    machine_weight(b->machine, &made->value, row, column, 1);
}

/* ---- layer 1: the four tokens before, and the last = ------------------------------------------------- */

static void fields(builder_t *b) {
    machine_perceptron(b->machine);
    form_t numbers = {.count = 0};
    for (int32_t v = 0; v < b->task->task.modulus; v++)
        numbers = form_plus(numbers, EXPRESSION_NUMBER + v, 1);
    b->at.number = copy(b, numbers);
    form_t rank = form_plus(form_of(PLUS), MINUS, 1);
    b->at.rank = copy(b, form_plus(form_plus(rank, TIMES, 2), OVER, 2));
    b->at.square = product(b, POSITION, POSITION);
    b->at.equals_at = product(b, EQUALS, POSITION);
}

static void look_back(builder_t *b) {
    const int32_t values = B_NUMBERS + b->task->task.modulus;
    for (int32_t r = 1; r <= BACK; r++) {
        machine_layer_t *made =
            at_number(b, column_plus(POSITION, -r), POSITION, b->at.square, -1, values, r > 1);
        b->at.back[r] = made->first;
        take(b, made, B_NUMBER, b->at.number);
        take(b, made, B_RANK, b->at.rank);
        take(b, made, B_OPEN, OPEN);
        for (int32_t o = 0; o < OPERATORS; o++) take(b, made, B_OPERATORS + o, PLUS + o);
        for (int32_t v = 0; v < b->task->task.modulus; v++)
            take(b, made, B_NUMBERS + v, EXPRESSION_NUMBER + v);
    }
    machine_layer_t *made = last_with(b, EQUALS, 1, 1);
    b->at.own_equals = made->first;
    take(b, made, 0, b->at.equals_at);
}

/* ---- whether a handle ends before this token, and its value ------------------------------------------ */

static int32_t modulo(const builder_t *b, int32_t x) {
    const int32_t p = b->task->task.modulus;
    return (x % p + p) % p;
}

static int32_t evaluate(const builder_t *b, int32_t x, int32_t operator, int32_t y) {
    int32_t inverse = 1;
    if (operator== PLUS) return modulo(b, x + y);
    if (operator== MINUS) return modulo(b, x - y);
    if (operator== OVER) {
        while (modulo(b, inverse * y) != 1) inverse++;
        y = inverse;
    }
    return modulo(b, x * y);
}

/* A table of all results: a neuron for each, [x] + [operator] + [y] - 2. */
static void tabulate(builder_t *b) {
    const int32_t p = b->task->task.modulus, *back = b->at.back;
    b->at.result = b->machine->width;
    for (int32_t v = 0; v < p; v++) machine_column(b->machine);
    for (int32_t o = 0; o < OPERATORS; o++)
        for (int32_t x = 0; x < p; x++)
            for (int32_t y = 0; y < p; y++) {
                form_t form = column_plus(back[3] + B_NUMBERS + x, -2);
                if (PLUS + o == OVER && y == 0) continue;
                form = form_plus(form, back[2] + B_OPERATORS + o, 1);
                form = form_plus(form, back[1] + B_NUMBERS + y, 1);
                brick_relu(&b->bricks, b->at.result + evaluate(b, x, PLUS + o, y), 1, form);
            }
}

/* x operator y, where what is before binds less and what is behind (this token) binds no more. */
static void find_handles(builder_t *b) {
    const int32_t *back = b->at.back, rank = back[2] + B_RANK;
    machine_perceptron(b->machine);
    const int32_t is = step(b, form_of(rank));
    const int32_t before = step(b, form_plus(form_of(rank), back[4] + B_RANK, -1));
    const int32_t behind = step(b, form_plus(column_plus(rank, 1), b->at.rank, -1));
    const form_t brackets = form_plus(form_of(back[4] + B_OPEN), CLOSE, 1);
    b->at.bracketed = step(b, form_plus(brackets, ONE, -1));
    tabulate(b);
    machine_perceptron(b->machine);
    form_t all = form_plus(form_of(back[1] + B_NUMBER), back[3] + B_NUMBER, 1);
    all = form_plus(form_plus(form_plus(all, is, 1), before, 1), behind, 1);
    b->at.ready = step(b, form_plus(all, ONE, -4));
    machine_perceptron(b->machine);
    b->at.ready_at = product(b, b->at.ready, POSITION);
}

/* ---- layers 2 to 4: the leftmost handle of the expression before ------------------------------------- */

static void segments(builder_t *b) {
    machine_layer_t *made =
        at_number(b, column_plus(POSITION, -1), POSITION, b->at.square, -1, 1, 0);
    b->at.start = made->first;
    take(b, made, 0, b->at.own_equals);
    made = last_with(b, b->at.ready, 1, 1);
    b->at.last_ready = made->first;
    take(b, made, 0, b->at.ready_at);
    machine_perceptron(b->machine);
    b->at.start_square = product(b, b->at.start, b->at.start);
}

static void leftmost(builder_t *b) {
    machine_layer_t *made =
        at_number(b, column_plus(POSITION, -1), POSITION, b->at.square, -1, 1, 0);
    b->at.before = made->first;
    take(b, made, 0, b->at.last_ready);
    made = at_number(b, form_of(b->at.own_equals), POSITION, b->at.square, -1, 1, 1);
    b->at.start_of_equals = made->first;
    take(b, made, 0, b->at.start);
    machine_perceptron(b->machine);
    const int32_t first = step(b, form_plus(column_plus(b->at.start, 1), b->at.before, -1));
    machine_perceptron(b->machine);
    const form_t both = form_plus(form_of(b->at.ready), first, 1);
    b->at.leftmost = step(b, form_plus(both, ONE, -1));
}

enum { HANDLE_AT, HANDLE_BRACKETED, HANDLE_RESULT };

static void handle(builder_t *b) {
    const int32_t p = b->task->task.modulus;
    machine_layer_t *made = at_number(b, form_of(b->at.start_of_equals), b->at.start,
                                      b->at.start_square, b->at.leftmost, HANDLE_RESULT + p, 0);
    b->at.handle = made->first;
    take(b, made, HANDLE_AT, POSITION);
    take(b, made, HANDLE_BRACKETED, b->at.bracketed);
    for (int32_t v = 0; v < p; v++) take(b, made, HANDLE_RESULT + v, b->at.result + v);
}

/* ---- layer 5: the token that comes next ---------------------------------------------------------------- */

/* From the place q of the expression before: q itself in front of the handle, q + 2 or q + 4 behind it. */
static void source(builder_t *b) {
    const int32_t brackets = b->at.handle + HANDLE_BRACKETED;
    form_t q = form_plus(column_plus(POSITION, 1), b->at.own_equals, -1);
    const form_t in = q; /* how many tokens of its expression the next one is, from 1 */
    q = form_plus(q, b->at.start_of_equals, 1);
    /* q - (handle's token - 3 - brackets) */
    form_t over = form_plus(form_plus(q, b->at.handle + HANDLE_AT, -1), brackets, 1);
    over = form_plus(over, ONE, 3);
    machine_perceptron(b->machine);
    const int32_t behind = step(b, over);
    const int32_t from = step(b, form_plus(over, ONE, 1));
    const int32_t kept = copy(b, q);
    /* 1 less what is off 2 */
    b->at.second = copy(b, constant(1));
    brick_step(&b->bricks, b->at.second, -1, form_plus(in, ONE, -2));
    brick_step(&b->bricks, b->at.second, -1, form_plus(form_times(in, -1), ONE, 2));
    machine_perceptron(b->machine);
    b->at.is_at = copy(b, form_plus(form_of(from), behind, -1));
    b->at.source = copy(b, form_plus(form_of(kept), behind, 2));
    const form_t both = form_plus(form_of(behind), brackets, 1);
    brick_step(&b->bricks, b->at.source, 2, form_plus(both, ONE, -1));
}

static void fetch(builder_t *b) {
    machine_layer_t *made = at_number(b, form_of(b->at.source), POSITION, b->at.square, -1,
                                      b->task->task.vocabulary, 0);
    b->at.token = made->first;
    for (int32_t v = 0; v < b->task->task.vocabulary; v++) take(b, made, v, v);
}

/* The result, or the token that was copied: <eos> in place of the = behind a single number. */
static void answer(builder_t *b) {
    const int32_t vocabulary = b->task->task.vocabulary;
    machine_perceptron(b->machine);
    form_t ends = form_plus(form_of(b->at.token + EQUALS), b->at.second, 1);
    const int32_t end = step(b, form_plus(form_plus(ends, b->at.is_at, -1), ONE, -1));
    machine_perceptron(b->machine);
    b->machine->answer = b->machine->width;
    b->machine->outputs = vocabulary;
    for (int32_t v = 0; v < vocabulary; v++) {
        const int32_t number = v - EXPRESSION_NUMBER;
        const form_t result =
            number < 0 ? constant(0) : form_of(b->at.handle + HANDLE_RESULT + number);
        form_t copied = form_of(b->at.token + v);
        if (v == EQUALS) copied = form_plus(copied, end, -1);
        if (v == REASONING_EOS) copied = form_of(end);
        choose(b, b->at.is_at, result, copied);
    }
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

attn_status_t expression_of(int32_t operators, int32_t modulus, expression_t *task,
                            attn_error_t *error) {
    *task = (expression_t){.block = 1};
    if (modulus > EXPRESSION_MOST_MODULUS)
        return attn_fail(error, ATTN_ERROR_RANGE, "the modulus (%d) must not be above %d",
                         (int)modulus, (int)EXPRESSION_MOST_MODULUS);
    const attn_status_t status =
        reasoning_make(REASONING_ARITHMETIC, operators, modulus, 0, &task->task, error);
    if (status) return status;
    while (task->block * task->block < task->task.length) task->block++;
    task->eps = 1e-3;
    return ATTN_OK;
}

/* An expression and its = have 4 n tokens at most; two of them, and the four that a token looks back. */
int expression_is_seen(const expression_t *task) {
    return EXPRESSION_LOCAL * task->block >= 8 * task->task.size + BACK;
}

void expression_build(const expression_t *task, machine_t *machine) {
    builder_t b = {.task = task, .machine = machine};
    machine_init(machine, INPUTS, ONE, POSITION);
    b.bricks = (bricks_t){machine, 4.0 * task->task.length, task->eps};
    fields(&b);
    look_back(&b);
    find_handles(&b);
    segments(&b);
    leftmost(&b);
    handle(&b);
    source(&b);
    fetch(&b);
    answer(&b);
}

/* ---- generating ---------------------------------------------------------------------------------------- */

static int32_t largest(const double *made, int32_t count) {
    int32_t best = 0;
    for (int32_t v = 1; v < count; v++)
        if (made[v] > made[best]) best = v;
    return best;
}

attn_status_t expression_solve(const expression_t *task, machine_t *machine,
                               const reasoning_sample_t *sample, expression_run_t *run,
                               attn_error_t *error) {
    const int32_t vocabulary = task->task.vocabulary;
    double token[INPUTS], made[EXPRESSION_VOCABULARY];
    int32_t last = -1;
    *run = (expression_run_t){.right = 1, .answer = -1};
    attn_status_t status = machine_restart(machine, error);
    for (int32_t i = 0; i < task->task.length && last != REASONING_EOS && !status; i++) {
        if (i < sample->question) {
            last = sample->tokens[i];
        } else {
            run->answer = last;
            last = largest(made, vocabulary);
            run->right &= i < sample->count && last == sample->tokens[i];
            for (int32_t v = 0; v < vocabulary; v++)
                run->off = fmax(run->off, fabs(made[v] - (v == last)));
        }
        for (int32_t v = 0; v < INPUTS; v++) token[v] = v == last;
        status = machine_step(machine, token, made, error);
    }
    run->right &= last == REASONING_EOS;
    return status;
}
