/*
 * reasoning/arithmetic.c: expressions modulo a prime. One is made backwards: beginning with a number, n times a
 * random number is replaced by an expression of its value. The chain then evaluates the leftmost operator
 * whose operands are numbers and that nothing beside it precedes, so that each step is determined.
 */
#include "labs/reasoning/draw.h"

#include <string.h>

enum { PLUS = REASONING_OWN, MINUS, TIMES, OVER, OPEN, CLOSE, EQUALS, NUMBER };
enum { MOST = 512 };

typedef struct line {
    int32_t tokens[MOST];
    int32_t count;
} line_t;

void arithmetic_make(reasoning_task_t *task) {
    const int32_t n = task->size;
    task->first = NUMBER;
    task->numbers = task->modulus;
    task->vocabulary = task->first + task->numbers;
    /* e_i with k = n - i operators has 2 k + 1 tokens and at most k - 1 pairs of brackets; n times =; <eos> */
    task->length = (n + 1) * (n + 1) + n * (n - 1) + n + 1;
}

const char *arithmetic_text(int32_t token) {
    static const char *const texts[] = {"+", "-", "*", "/", "(", ")", "="};
    return texts[token - PLUS];
}

/* 0 of what is no operator: brackets, ends. */
static int rank(int32_t token) {
    return token == PLUS || token == MINUS ? 1 : token == TIMES || token == OVER ? 2 : 0;
}

static int32_t modulo(const reasoning_task_t *task, int32_t x) {
    return (x % task->modulus + task->modulus) % task->modulus;
}

static int32_t inverse(const reasoning_task_t *task, int32_t x) {
    int32_t y = 1;
    while (modulo(task, x * y) != 1) y++;
    return y;
}

static int32_t evaluate(const reasoning_task_t *task, int32_t a, int32_t operator, int32_t b) {
    if (operator== PLUS) return modulo(task, a + b);
    if (operator== MINUS) return modulo(task, a - b);
    return modulo(task, a * (operator== TIMES ? b : inverse(task, b)));
}

/* tokens[at, at + old) become these. */
static void replace(line_t *line, int32_t at, int32_t old, const int32_t *tokens, int32_t count) {
    int32_t *place = line->tokens + at;
    memmove(place + count, place + old, (size_t)(line->count - at - old) * sizeof *place);
    memcpy(place, tokens, (size_t)count * sizeof *place);
    line->count += count - old;
}

static int32_t token_at(const line_t *line, int32_t at) {
    return at >= 0 && at < line->count ? line->tokens[at] : REASONING_PAD;
}

/* ---- backwards ------------------------------------------------------------------------------------- */

/* a operator b, of value v; b of a division or product is not 0. */
static void draw_expression(const reasoning_task_t *task, draw_t *draw, int32_t v,
                            int32_t tokens[3]) {
    const int32_t operator= PLUS + draw_below(draw, 4);
    const int32_t b = operator<TIMES ? draw_below(draw, task->modulus)
                                     : draw_within(draw, 1, task->modulus - 1);
    /* a by the operator that undoes it */
    static const int32_t undone[] = {MINUS, PLUS, OVER, TIMES};
    tokens[0] = task->first + evaluate(task, v, undone[operator - PLUS], b);
    tokens[1] = operator;
    tokens[2] = task->first + b;
}

/*
 * Whether an expression in place of a number needs brackets: something before binds more, or as much and is no
 * associative operator's left side; or something behind binds more.
 */
static int needs_brackets(int32_t before, int32_t operator, int32_t behind) {
    if (rank(before) > rank(operator) || rank(behind) > rank(operator)) return 1;
    return before == MINUS ? rank(operator) == 1 : before == OVER;
}

static void expand(const reasoning_task_t *task, draw_t *draw, line_t *line) {
    int32_t places[MOST], count = 0, tokens[5] = {OPEN, 0, 0, 0, CLOSE};
    for (int32_t i = 0; i < line->count; i++)
        if (line->tokens[i] >= NUMBER) places[count++] = i;
    const int32_t at = places[draw_below(draw, count)];
    draw_expression(task, draw, line->tokens[at] - task->first, tokens + 1);
    if (needs_brackets(token_at(line, at - 1), tokens[2], token_at(line, at + 1)))
        replace(line, at, 1, tokens, 5);
    else
        replace(line, at, 1, tokens + 1, 3);
}

/* ---- forwards -------------------------------------------------------------------------------------- */

/* Whether the operator at `at` can be evaluated: a - b * c cannot begin with the minus, a - b + c must. */
static int is_ready(const line_t *line, int32_t at) {
    const int32_t operator= line->tokens[at];
    return rank(operator) && token_at(line, at - 1) >= NUMBER && token_at(line, at + 1) >= NUMBER &&
           rank(token_at(line, at - 2)) < rank(operator) &&
           rank(token_at(line, at + 2)) <= rank(operator);
}

static void reduce(const reasoning_task_t *task, line_t *line) {
    int32_t at = 0;
    while (!is_ready(line, at)) at++;
    const int32_t *t = line->tokens + at;
    const int32_t value =
        task->first + evaluate(task, t[-1] - task->first, t[0], t[1] - task->first);
    const int bracketed = token_at(line, at - 2) == OPEN && token_at(line, at + 2) == CLOSE;
    replace(line, at - 1 - bracketed, 3 + 2 * bracketed, &value, 1);
}

void arithmetic_draw(const reasoning_task_t *task, draw_t *draw, reasoning_sample_t *sample) {
    line_t line = {.tokens = {task->first + draw_below(draw, task->modulus)}, .count = 1};
    for (int32_t i = 0; i < task->size; i++) expand(task, draw, &line);
    for (int32_t i = 0;; i++) {
        for (int32_t k = 0; k < line.count; k++) sample_put(sample, line.tokens[k]);
        if (i == task->size) break;
        sample_put(sample, EQUALS);
        if (i == 0) sample->question = sample->count;
        reduce(task, &line);
    }
    sample_put(sample, REASONING_EOS);
}
