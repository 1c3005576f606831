/*
 * reasoning/arithmetic.c: expressions modulo a prime. One is made backwards: beginning with a number, n times a
 * random number is replaced by an expression of its value. The chain then evaluates the leftmost operator
 * whose operands are numbers and that nothing beside it precedes, so that each step is determined.
 */
#include "labs/reasoning/draw.h"
#include "labs/reasoning/read.h"

#include "attn/support.h"
#include "number/format.h"

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

/* 0 where that divides by 0. */
static int reduce(const reasoning_task_t *task, line_t *line) {
    int32_t at = 0;
    while (!is_ready(line, at)) at++;
    const int32_t *t = line->tokens + at;
    if (t[0] == OVER && t[1] == task->first) return 0;
    const int32_t value =
        task->first + evaluate(task, t[-1] - task->first, t[0], t[1] - task->first);
    const int bracketed = token_at(line, at - 2) == OPEN && token_at(line, at + 2) == CLOSE;
    replace(line, at - 1 - bracketed, 3 + 2 * bracketed, &value, 1);
    return 1;
}

/* The whole sample of an expression with operators; 0 where that divides by 0. */
static int put_chain(const reasoning_task_t *task, line_t *line, reasoning_sample_t *sample) {
    for (sample->question = 0;;) {
        for (int32_t k = 0; k < line->count; k++) sample_put(sample, line->tokens[k]);
        if (line->count == 1) break;
        sample_put(sample, EQUALS);
        if (!sample->question) sample->question = sample->count;
        if (!reduce(task, line)) return 0;
    }
    sample_put(sample, REASONING_EOS);
    return 1;
}

void arithmetic_draw(const reasoning_task_t *task, draw_t *draw, reasoning_sample_t *sample) {
    line_t line = {.tokens = {task->first + draw_below(draw, task->modulus)}, .count = 1};
    for (int32_t i = 0; i < task->size; i++) expand(task, draw, &line);
    put_chain(task, &line, sample);
}

/* ---- in words -------------------------------------------------------------------------------------- */

/* Whether precedence needs the bracket at `open`, by the operator that binds least in it; *close is its other half. */
static int is_needed(const line_t *line, int32_t open, int32_t *close) {
    int32_t weakest = 0, depth = 1, at = open + 1;
    for (; depth > 0; at++) {
        const int32_t token = line->tokens[at];
        depth += (token == OPEN) - (token == CLOSE);
        if (depth == 1 && rank(token) && (!weakest || rank(token) < rank(weakest))) weakest = token;
    }
    *close = at - 1;
    return weakest && needs_brackets(token_at(line, open - 1), weakest, token_at(line, at));
}

static void drop(line_t *line, int32_t at) { replace(line, at, 1, line->tokens, 0); }

/* Samples have no other brackets than those that are needed. */
static void drop_brackets(line_t *line) {
    int32_t close;
    for (int32_t at = 0; at < line->count; at++)
        while (line->tokens[at] == OPEN && !is_needed(line, at, &close)) {
            drop(line, close);
            drop(line, at);
        }
}

static attn_status_t read_token(const reasoning_task_t *task, const char **text, int32_t *token,
                                attn_error_t *error) {
    static const char signs[] = "+-*/()";
    const char *sign = strchr(signs, **text);
    int32_t value = 0;
    if (sign) {
        ++*text;
        *token = PLUS + (int32_t)(sign - signs);
        return ATTN_OK;
    }
    const attn_status_t status = read_number(text, 0, task->modulus - 1, &value, error);
    *token = task->first + value;
    return status;
}

/* Whether `token` can come next; `depth` brackets are open after it. */
static int follows(const line_t *line, int32_t token, int32_t *depth) {
    const int32_t last = token_at(line, line->count - 1);
    const int wants_operand = line->count == 0 || last == OPEN || rank(last);
    *depth += (token == OPEN) - (token == CLOSE);
    return *depth >= 0 && wants_operand == (token == OPEN || token >= NUMBER);
}

static attn_status_t read_line(const reasoning_task_t *task, const char *text, line_t *line,
                               attn_error_t *error) {
    int32_t depth = 0, operators = 0;
    line->count = 0;
    for (text = read_space(text); *text; text = read_space(text)) {
        int32_t token;
        const char *const before = text;
        const attn_status_t status = read_token(task, &text, &token, error);
        if (status) return status;
        if (!follows(line, token, &depth))
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "no expression: '%.*s' cannot be here",
                             (int)(text - before), before);
        if (line->count == MOST)
            return attn_fail(error, ATTN_ERROR_RANGE,
                             "more than %d numbers, operators and brackets", MOST);
        operators += rank(token) > 0;
        if (operators > task->size)
            return attn_fail(error, ATTN_ERROR_RANGE, "more than the %d operators of the task",
                             (int)task->size);
        line->tokens[line->count++] = token;
    }
    const int32_t last = token_at(line, line->count - 1);
    if (last < NUMBER && last != CLOSE)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "no expression: a number is missing");
    if (depth)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "no expression: a bracket is not closed");
    return operators ? ATTN_OK
                     : attn_fail(error, ATTN_ERROR_ARGUMENT, "there is no operator to evaluate");
}

attn_status_t arithmetic_read(const reasoning_task_t *task, const char *text,
                              reasoning_sample_t *sample, attn_error_t *error) {
    line_t line;
    const attn_status_t status = read_line(task, text, &line, error);
    if (status) return status;
    drop_brackets(&line);
    if (!put_chain(task, &line, sample))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "it divides by 0");
    return ATTN_OK;
}

/* draw_expression() has no product by 0, and any step of a chain may be one it has drawn. */
void arithmetic_unlike(const reasoning_task_t *task, const reasoning_sample_t *sample,
                       char text[REASONING_UNLIKE]) {
    int32_t operators = 0, zero = 0;
    for (int32_t i = 0; i < sample->question; i++) operators += rank(sample->tokens[i]) > 0;
    for (int32_t i = 0; i + 1 < sample->count; i++)
        zero |= sample->tokens[i] == TIMES && sample->tokens[i + 1] == task->first;
    if (operators != task->size)
        attn_format(text, REASONING_UNLIKE, "expressions of exactly %d operators", (int)task->size);
    else if (zero)
        attn_format(text, REASONING_UNLIKE, "expressions that never multiply by 0");
}
