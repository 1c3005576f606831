/* labs/programs/distance.c: see distance.h. Blocks are those of the proofs of Theorems B.3 and B.4. */
#include "labs/programs/distance.h"

#include "attn/support.h"
#include "labs/programs/bricks.h"

#include <math.h>
#include <stdlib.h>

enum { INSERT = 2, REPLACE = 3 };
/* What a cell asks for: its two letters, and the cells above, before, and above before. */
enum { G_FIRST, G_SECOND, H_ABOVE, H_BEFORE, H_DIAGONAL, TARGETS, LETTERS_WANTED = 2 };

/* Numbers of columns, as the layers add them. */
typedef struct columns {
    int32_t next_x, next_y, last;                   /* block 1 */
    int32_t above, before, inner;                   /* whether the next cell has those */
    int32_t target[TARGETS];                        /* positions */
    int32_t block[TARGETS + 1], place[TARGETS + 1]; /* of the targets and of the token itself */
    int32_t block_hot[TARGETS + 1], place_hot[TARGETS + 1]; /* W columns each */
    int32_t slots[2];                                       /* letter and value, W columns each */
    int32_t found[TARGETS];                                 /* what was asked for */
} columns_t;

typedef struct builder {
    const distance_t *task;
    machine_t *machine;
    bricks_t fine;  /* numbers up to the task's bound */
    bricks_t wide;  /* positions, up to a few L */
    bricks_t small; /* numbers up to 2 W */
    columns_t at;
} builder_t;

static form_t constant(double number) { return form_times(form_of(DISTANCE_ONE), number); }

static form_t column_plus(int32_t column, double number) {
    return form_plus(form_of(column), DISTANCE_ONE, number);
}

/* A new column that is this form. */
static int32_t copy(const bricks_t *bricks, form_t form) {
    const int32_t column = machine_column(bricks->machine);
    brick_linear(bricks, column, 1, form);
    return column;
}

static int32_t step(const bricks_t *bricks, form_t form) {
    const int32_t column = machine_column(bricks->machine);
    brick_step(bricks, column, 1, form);
    return column;
}

static int32_t choose(const bricks_t *bricks, int32_t flag, form_t a, form_t b) {
    const int32_t column = machine_column(bricks->machine);
    brick_select(bricks, column, flag, a, b);
    return column;
}

/* A perceptron that is one of the task's own functions. */
static void task_perceptron(const builder_t *b) { machine_perceptron(b->machine)->task = 1; }

/* ---- blocks 1 and 2: the next state, and where it has to look ----------------------------------------- */

/* (x, y) becomes (x, y + 1), at the end of a row (x + 1, 1); the bar's (0, 0) becomes (1, 1). */
static void next_state(builder_t *b) {
    const distance_t *task = b->task;
    const int32_t letters = task->first + task->second;
    const form_t begins = form_plus(constant(letters + 2), DISTANCE_POSITION, -1);
    const form_t wraps = column_plus(DISTANCE_Y, 1 - task->second);
    task_perceptron(b);
    b->at.next_x = copy(&b->wide, form_of(DISTANCE_X));
    brick_step(&b->wide, b->at.next_x, 1, begins);
    brick_step(&b->wide, b->at.next_x, 1, wraps);
    b->at.next_y = copy(&b->wide, column_plus(DISTANCE_Y, 1));
    brick_step(&b->wide, b->at.next_y, -task->second, wraps);
    form_t ends = form_plus(form_of(DISTANCE_X), DISTANCE_Y, 1);
    b->at.last = step(&b->wide, form_plus(ends, DISTANCE_ONE, 1 - letters));
}

/* Position of cell (x - up, y - left) of the next state. */
static form_t cell_position(const builder_t *b, int32_t up, int32_t left) {
    const distance_t *task = b->task;
    const double ahead = task->first + task->second + 1 - (1 + up) * (double)task->second - left;
    return form_plus(form_plus(constant(ahead), b->at.next_x, task->second), b->at.next_y, 1);
}

/* g and h of Eq. 9. Where a cell is not there, its position is 1, and what it holds is not used. */
static void targets(builder_t *b) {
    columns_t *at = &b->at;
    task_perceptron(b);
    at->above = step(&b->wide, column_plus(at->next_x, -1));
    at->before = step(&b->wide, column_plus(at->next_y, -1));
    task_perceptron(b);
    const form_t both = form_plus(form_of(at->above), at->before, 1);
    at->inner = step(&b->wide, form_plus(both, DISTANCE_ONE, -1));
    at->target[G_FIRST] = copy(&b->wide, form_of(at->next_x));
    at->target[G_SECOND] = copy(&b->wide, column_plus(at->next_y, b->task->first));
    at->target[H_ABOVE] = choose(&b->wide, at->above, cell_position(b, 1, 0), constant(1));
    at->target[H_BEFORE] = choose(&b->wide, at->before, cell_position(b, 0, 1), constant(1));
    task_perceptron(b);
    at->target[H_DIAGONAL] = choose(&b->wide, at->inner, cell_position(b, 1, 1), constant(1));
}

/* ---- block 3: getting it ------------------------------------------------------------------------------ */

static int32_t position_of(const builder_t *b, int32_t target) {
    return target == TARGETS ? DISTANCE_POSITION : b->at.target[target];
}

/* Blocks and places in them of all positions (Lemma A.7). */
static void quotients(builder_t *b) {
    const int32_t size = b->task->block;
    machine_perceptron(b->machine);
    for (int32_t t = 0; t <= TARGETS; t++) {
        b->at.block[t] = machine_column(b->machine);
        brick_block(&b->wide, b->at.block[t], form_of(position_of(b, t)), size, size);
    }
    machine_perceptron(b->machine);
    for (int32_t t = 0; t <= TARGETS; t++) {
        const form_t rest = form_plus(form_of(position_of(b, t)), b->at.block[t], -size);
        b->at.place[t] = copy(&b->wide, form_plus(rest, DISTANCE_ONE, size));
    }
}

/* e_s of blocks and places: the products of [j <= s] and [j >= s] (Lemmas A.5, A.6 and A.1). */
static void one_hot(builder_t *b) {
    enum { NUMBERS = 2 * (TARGETS + 1) };
    const int32_t size = b->task->block;
    int32_t from[NUMBERS];
    machine_perceptron(b->machine);
    for (int32_t i = 0; i < NUMBERS; i++) {
        const int32_t number = i % 2 ? b->at.place[i / 2] : b->at.block[i / 2];
        from[i] = b->machine->width;
        for (int32_t j = 1; j <= size; j++) {
            step(&b->wide, column_plus(number, 1 - j));
            step(&b->wide, form_plus(constant(j + 1), number, -1));
        }
    }
    machine_perceptron(b->machine);
    for (int32_t i = 0; i < NUMBERS; i++) {
        *(i % 2 ? &b->at.place_hot[i / 2] : &b->at.block_hot[i / 2]) = b->machine->width;
        for (int32_t j = 0; j < size; j++) {
            const int32_t out = machine_column(b->machine), below = from[i] + 2 * j;
            brick_product(&b->small, out, 1, form_of(below), form_of(below + 1));
        }
    }
}

/* The token's letter and value in the slot of its place; zeros in the others. */
static void slots(builder_t *b) {
    machine_perceptron(b->machine);
    for (int which = 0; which < 2; which++) {
        const int32_t of = which ? DISTANCE_VALUE : DISTANCE_INPUT;
        b->at.slots[which] = b->machine->width;
        for (int32_t j = 0; j < b->task->block; j++)
            brick_product(&b->fine, machine_column(b->machine), 1,
                          form_of(b->at.place_hot[TARGETS] + j), form_of(of));
    }
}

/* `count` products of a row of columns with a column, behind one another; returns the first. */
static int32_t scale(const builder_t *b, int32_t first, int32_t by, int32_t count) {
    const int32_t made = b->machine->width;
    for (int32_t j = 0; j < count; j++)
        brick_product(&b->fine, machine_column(b->machine), 1, form_of(first + j), form_of(by));
    return made;
}

/* Of the slots of each target's block the one of its place: products with e_place, summed. */
static void take(builder_t *b, const int32_t *rows) {
    machine_perceptron(b->machine);
    for (int32_t t = 0; t < TARGETS; t++) {
        b->at.found[t] = machine_column(b->machine);
        for (int32_t j = 0; j < b->task->block; j++)
            brick_product(&b->fine, b->at.found[t], 1, form_of(rows[t] + j),
                          form_of(b->at.place_hot[t] + j));
    }
}

static int32_t slots_of(const builder_t *b, int32_t target) {
    return b->at.slots[target >= LETTERS_WANTED];
}

/*
 * Linear: AGG of the slots of a block (Lemma A.9), times how many tokens of it are there: W, or those so far of the
 * token's own block. (The proof prints i - ceil(t / W) (W - 1) for i - (ceil(t / W) - 1) W.)
 */
static void fetch_linear(builder_t *b) {
    const int32_t size = b->task->block;
    const double mu = log(2 * pow(size, 3) / b->task->eps); /* an error of eps M */
    int32_t mean[TARGETS], there[TARGETS], rows[TARGETS];
    for (int32_t t = 0; t < TARGETS; t++) {
        machine_layer_t *head = machine_head(b->machine, "linear", size, size, t > 0);
        mean[t] = head->first;
        for (int32_t j = 0; j < size; j++) {
            machine_weight(b->machine, &head->query, j, b->at.block_hot[t] + j, mu);
            machine_weight(b->machine, &head->query, j, DISTANCE_ONE, -mu);
            machine_weight(b->machine, &head->key, j, b->at.block_hot[TARGETS] + j, mu);
            machine_weight(b->machine, &head->key, j, DISTANCE_ONE, -mu);
            machine_weight(b->machine, &head->value, j, slots_of(b, t) + j, 1);
        }
    }
    machine_perceptron(b->machine);
    for (int32_t t = 0; t < TARGETS; t++) {
        /* min(W, k - (block - 1) W) */
        const form_t left = form_plus(form_of(DISTANCE_POSITION), b->at.block[t], -size);
        there[t] = copy(&b->wide, constant(size));
        brick_relu(&b->wide, there[t], -1, form_times(left, -1));
    }
    machine_perceptron(b->machine);
    for (int32_t t = 0; t < TARGETS; t++) rows[t] = scale(b, mean[t], there[t], size);
    take(b, rows);
}

/*
 * A head that matches blocks (Lemma A.12, as in labs/constructions/sparse_copy.c): logits lambda (rated place_j - factor (b' - b_j)^2),
 * up to what all keys of a row have in common.
 */
static int32_t match(builder_t *b, int32_t wanted, int32_t square, int rated, int32_t values,
                     int32_t count, int beside) {
    const distance_t *task = b->task;
    const double seen = 2.0 * task->block + 1, factor = rated ? task->block : 1;
    const double lambda = ceil(log(4 * seen / task->eps));
    machine_layer_t *head = machine_head(b->machine, "sparse", 3, count, beside);
    machine_param(head, "block", task->block);
    machine_param(head, "local", 1);
    machine_param(head, "global", 1);
    machine_weight(b->machine, &head->query, 0, wanted, 2 * lambda * factor);
    machine_weight(b->machine, &head->query, 1, DISTANCE_ONE, -lambda * factor);
    if (rated) machine_weight(b->machine, &head->query, 2, DISTANCE_ONE, lambda);
    machine_weight(b->machine, &head->key, 0, b->at.block[TARGETS], 1);
    machine_weight(b->machine, &head->key, 1, square, 1);
    machine_weight(b->machine, &head->key, 2, b->at.place[TARGETS], 1);
    for (int32_t j = 0; j < count; j++) machine_weight(b->machine, &head->value, j, values + j, 1);
    return head->first;
}

/* Sparse: COPY (Lemma A.12). The own block's slots, then those at the end of the target's block. */
static void fetch_sparse(builder_t *b) {
    const int32_t size = b->task->block, own = b->at.block[TARGETS];
    int32_t rows[TARGETS];
    machine_perceptron(b->machine);
    const int32_t square = machine_column(b->machine);
    brick_product(&b->small, square, 1, form_of(own), form_of(own));
    const int32_t mean = match(b, own, square, 0, b->at.slots[0], 2 * size, 0);
    machine_perceptron(b->machine);
    const int32_t whole = scale(b, mean, b->at.place[TARGETS], 2 * size);
    for (int32_t t = 0; t < TARGETS; t++)
        rows[t] =
            match(b, b->at.block[t], square, 1, whole + (t >= LETTERS_WANTED) * size, size, t > 0);
    take(b, rows);
}

/* ---- the value, and block 4: the answer ---------------------------------------------------------------- */

/* f of Eq. 9: min(above + 2, before + 2, diagonal + 3 [letters differ]), 2 x + 2 y outside of the table. */
static int32_t next_value(builder_t *b) {
    const columns_t *at = &b->at;
    const form_t differ = form_plus(form_of(at->found[G_FIRST]), at->found[G_SECOND], -1);
    const form_t x = form_times(form_of(at->next_x), INSERT);
    const form_t y = form_times(form_of(at->next_y), INSERT);
    task_perceptron(b);
    const int32_t above = choose(&b->wide, at->above, form_of(at->found[H_ABOVE]), y);
    const int32_t before = choose(&b->wide, at->before, form_of(at->found[H_BEFORE]), x);
    const form_t edge = form_plus(form_plus(x, at->next_y, INSERT), DISTANCE_ONE, -2.0 * INSERT);
    const int32_t diagonal = choose(&b->wide, at->inner, form_of(at->found[H_DIAGONAL]), edge);
    brick_step(&b->wide, diagonal, REPLACE, differ);
    brick_step(&b->wide, diagonal, REPLACE, form_times(differ, -1));
    task_perceptron(b); /* min(a, b) = b - relu(b - a) */
    const int32_t one_letter = copy(&b->wide, column_plus(before, INSERT));
    brick_relu(&b->wide, one_letter, -1, form_plus(form_of(before), above, -1));
    const int32_t kept = copy(&b->wide, form_of(diagonal));
    task_perceptron(b);
    const int32_t value = copy(&b->wide, form_of(kept));
    brick_relu(&b->wide, value, -1, form_plus(form_of(kept), one_letter, -1));
    return value;
}

/* The next state and its value, or behind the last state the answer. */
static void answer(builder_t *b, int32_t value) {
    const form_t nothing = constant(0);
    task_perceptron(b);
    b->machine->answer = b->machine->width;
    b->machine->outputs = DISTANCE_FIELDS;
    machine_column(b->machine); /* no letter */
    choose(&b->wide, b->at.last, nothing, form_of(b->at.next_x));
    choose(&b->wide, b->at.last, nothing, form_of(b->at.next_y));
    choose(&b->wide, b->at.last, nothing, form_of(value));
    choose(&b->wide, b->at.last, form_of(DISTANCE_VALUE), nothing);
}

/* ---- all of it --------------------------------------------------------------------------------------- */

distance_t distance_of(int32_t first, int32_t second) {
    distance_t task = {.first = first, .second = second};
    task.length = first + second + 1 + first * second + 1;
    while (task.block * task.block < task.length) task.block++;
    task.bound = fmax(DISTANCE_LETTERS + 1, fmax(2 * task.block, INSERT * (first + second)));
    task.eps = 1 / (256 * task.block * task.bound);
    return task;
}

void distance_build(const distance_t *task, enum distance_kind kind, machine_t *machine) {
    builder_t b = {.task = task, .machine = machine};
    machine_init(machine, DISTANCE_INPUTS, DISTANCE_ONE, DISTANCE_POSITION);
    b.fine = (bricks_t){machine, task->bound, task->eps};
    b.wide = (bricks_t){machine, 4.0 * task->length, task->eps};
    b.small = (bricks_t){machine, 2.0 * task->block, task->eps};
    next_state(&b);
    targets(&b);
    quotients(&b);
    one_hot(&b);
    slots(&b);
    if (kind == DISTANCE_LINEAR)
        fetch_linear(&b);
    else
        fetch_sparse(&b);
    answer(&b, next_value(&b));
}

/* ---- generating -------------------------------------------------------------------------------------- */

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

/* The table of the dynamic program, first + 1 rows of second + 1. */
static void fill_table(const distance_t *task, const int32_t *letters, int32_t *table) {
    const int32_t row = task->second + 1;
    for (int32_t i = 0; i <= task->first; i++)
        for (int32_t j = 0; j <= task->second; j++) {
            int32_t *cell = table + i * row + j;
            *cell = INSERT * (i + j);
            if (i == 0 || j == 0) continue;
            const int differ = letters[i - 1] != letters[task->first + j - 1];
            *cell = least(least(cell[-row], cell[-1]) + INSERT, cell[-row - 1] + REPLACE * differ);
        }
}

/* What token `k` behind the bar, from 0, has to be. */
static void expected(const distance_t *task, const int32_t *table, int32_t k, double *token) {
    const int32_t row = task->second + 1;
    for (int c = 0; c < DISTANCE_FIELDS; c++) token[c] = 0;
    if (k == task->first * task->second) {
        token[DISTANCE_ANSWER] = table[(task->first + 1) * row - 1];
        return;
    }
    const int32_t x = k / task->second + 1, y = k % task->second + 1;
    token[DISTANCE_X] = x;
    token[DISTANCE_Y] = y;
    token[DISTANCE_VALUE] = table[x * row + y];
}

/* The letters and the bar, then as many tokens as the chain has, each made of the one before. */
static attn_status_t generate(const distance_t *task, machine_t *machine, const int32_t *letters,
                              const int32_t *table, distance_run_t *run, attn_error_t *error) {
    const int32_t count = task->first + task->second, cells = task->first * task->second;
    double token[DISTANCE_INPUTS] = {0}, made[DISTANCE_FIELDS], wanted[DISTANCE_FIELDS];
    attn_status_t status = ATTN_OK;
    *run = (distance_run_t){.right = 1};
    for (int32_t i = 0; i <= count && !status; i++) {
        token[DISTANCE_INPUT] = i < count ? letters[i] : DISTANCE_LETTERS + 1;
        status = machine_step(machine, token, made, error);
    }
    for (int32_t k = 0; k <= cells && !status; k++) {
        expected(task, table, k, wanted);
        for (int c = 0; c < DISTANCE_FIELDS; c++) {
            token[c] = round(made[c]);
            run->off = fmax(run->off, fabs(made[c] - token[c]));
            run->right &= token[c] == wanted[c];
        }
        run->answer = (int32_t)token[DISTANCE_ANSWER];
        if (k < cells) status = machine_step(machine, token, made, error);
    }
    return status;
}

attn_status_t distance_solve(const distance_t *task, machine_t *machine, const int32_t *letters,
                             distance_run_t *run, attn_error_t *error) {
    const size_t cells = (size_t)(task->first + 1) * (size_t)(task->second + 1);
    int32_t *table = malloc(cells * sizeof *table);
    if (!table)
        return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a table of %lld cells",
                         (long long)cells);
    fill_table(task, letters, table);
    attn_status_t status = machine_restart(machine, error);
    if (!status) status = generate(task, machine, letters, table, run, error);
    free(table);
    return status;
}
