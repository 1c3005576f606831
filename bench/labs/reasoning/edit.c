/* reasoning/edit.c: edit distance, insertions and deletions 2, replacements 3; whole rows, or a band of them. */
#include "labs/reasoning/draw.h"
#include "labs/reasoning/read.h"

#include "attn/support.h"
#include "number/format.h"

#include <string.h>

enum { BAR = REASONING_OWN, COMMA, LETTER, LETTERS = 26 };
enum { MOST = 64, INSERT = 2, DELETE = 2, REPLACE = 3, FAR = 1 << 20 };
enum { SHORTER = 3, LONGER = 2 }; /* than n: at most, of the word that need not have n letters */
enum { FEWEST_LETTERS = 3, MOST_LETTERS = 10 }; /* different ones, that a pair is drawn from */

typedef struct text {
    int32_t letters[2 * MOST];
    int32_t count;
} text_t;

void edit_make(reasoning_task_t *task) {
    const int32_t n = task->size, most = n + LONGER;
    task->first = LETTER + LETTERS;
    /* 60, as the paper has it, or the most that a distance can be */
    task->numbers = REPLACE * n + INSERT * 2 + 1 > 60 ? REPLACE * n + INSERT * 2 + 1 : 60;
    task->vocabulary = task->first + task->numbers;
    task->length = n + 1 + most + 1 + n * (most + 1) + 3;
    if (task->kind == REASONING_ED_LOCAL) {
        const int32_t row = 2 * task->band + 1 < most ? 2 * task->band + 1 : most;
        task->length = n + 1 + most + 1 + n * (row + 1) + 3;
    }
}

const char *edit_text(int32_t token) {
    static const char *const letters[LETTERS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                                 "j", "k", "l", "m", "n", "o", "p", "q", "r",
                                                 "s", "t", "u", "v", "w", "x", "y", "z"};
    return token == BAR ? "|" : token == COMMA ? "," : letters[token - LETTER];
}

/* ---- two texts ------------------------------------------------------------------------------------- */

static void edit_once(draw_t *draw, const int32_t *letters, int32_t choice, text_t *text) {
    const int32_t letter = letters[draw_below(draw, choice)], kind = draw_below(draw, 3);
    const int32_t at = draw_below(draw, text->count + (kind == 2));
    const size_t behind = (size_t)(text->count - at) * sizeof *text->letters;
    int32_t *place = text->letters + at;
    if (kind == 0) { /* delete */
        memmove(place, place + 1, behind - sizeof *place);
        text->count--;
    } else if (kind == 1) {
        *place = letter;
    } else {
        memmove(place + 1, place, behind);
        *place = letter;
        text->count++;
    }
}

static void draw_text(draw_t *draw, const int32_t *letters, int32_t choice, int32_t count,
                      text_t *text) {
    text->count = count;
    for (int32_t i = 0; i < count; i++) text->letters[i] = letters[draw_below(draw, choice)];
}

static void draw_pair(const reasoning_task_t *task, draw_t *draw, text_t *s, text_t *t) {
    const int32_t n = task->size, least = n > SHORTER ? n - SHORTER : 1;
    int32_t letters[LETTERS];
    const int32_t choice = draw_within(draw, FEWEST_LETTERS, MOST_LETTERS);
    for (int32_t i = 0; i < LETTERS; i++) letters[i] = LETTER + i;
    draw_shuffle(draw, letters, LETTERS, choice);
    draw_text(draw, letters, choice, n, s);
    if (draw_below(draw, 10) < 4) {
        draw_text(draw, letters, choice, draw_within(draw, least, n + LONGER), t);
        return;
    }
    *t = *s;
    for (int32_t edits = draw_within(draw, 1, n); edits > 0 && t->count > 0; edits--)
        edit_once(draw, letters, choice, t);
}

/* Whether lengths are within the task, and texts differ. */
static int suits(const reasoning_task_t *task, const text_t *s, const text_t *t) {
    const int32_t n = task->size,
                  apart = s->count > t->count ? s->count - t->count : t->count - s->count;
    if (t->count < 1 || t->count < n - SHORTER || t->count > n + LONGER) return 0;
    if (task->kind == REASONING_ED_LOCAL && apart > task->band) return 0;
    return s->count != t->count ||
           memcmp(s->letters, t->letters, (size_t)s->count * sizeof *s->letters) != 0;
}

/* ---- the program ----------------------------------------------------------------------------------- */

static int32_t least_of(int32_t a, int32_t b) { return a < b ? a : b; }

/* row[j] from the row above; cells outside the band are FAR. */
static void next_row(const reasoning_task_t *task, const text_t *s, const text_t *t, int32_t i,
                     const int32_t *above, int32_t *row) {
    for (int32_t j = 0; j <= t->count; j++) {
        const int32_t apart = i > j ? i - j : j - i;
        int32_t best = above[j] + DELETE;
        if (j > 0) {
            const int32_t same = s->letters[i - 1] == t->letters[j - 1];
            best = least_of(best, above[j - 1] + (same ? 0 : REPLACE));
            best = least_of(best, row[j - 1] + INSERT);
        }
        row[j] = task->kind == REASONING_ED_LOCAL && apart > task->band ? FAR : best;
    }
}

static void put_text(reasoning_sample_t *sample, const text_t *text) {
    for (int32_t i = 0; i < text->count; i++) sample_put(sample, text->letters[i]);
}

/* The whole sample of two texts, the shorter first. */
static void put_pair(const reasoning_task_t *task, const text_t *a, const text_t *b,
                     reasoning_sample_t *sample) {
    const text_t *s = a->count > b->count ? b : a, *t = s == a ? b : a;
    int32_t rows[2][2 * MOST];
    put_text(sample, s);
    sample_put(sample, BAR);
    put_text(sample, t);
    sample_put(sample, REASONING_SEP);
    sample->question = sample->count;
    for (int32_t j = 0; j <= t->count; j++)
        rows[0][j] = task->kind == REASONING_ED_LOCAL && j > task->band ? FAR : j * INSERT;
    for (int32_t i = 1; i <= s->count; i++) {
        int32_t *row = rows[i % 2];
        next_row(task, s, t, i, rows[1 - i % 2], row);
        for (int32_t j = 1; j <= t->count; j++)
            if (row[j] < FAR) sample_put(sample, task->first + row[j]);
        sample_put(sample, COMMA);
    }
    sample_put(sample, REASONING_SEP);
    sample_put(sample, task->first + rows[s->count % 2][t->count]);
    sample_put(sample, REASONING_EOS);
}

void edit_draw(const reasoning_task_t *task, draw_t *draw, reasoning_sample_t *sample) {
    text_t s, t;
    do draw_pair(task, draw, &s, &t);
    while (!suits(task, &s, &t));
    put_pair(task, &s, &t, sample);
}

/* ---- in words -------------------------------------------------------------------------------------- */

static attn_status_t read_word(const char **at, int32_t most, text_t *word, attn_error_t *error) {
    const char *text = read_space(*at);
    word->count = 0;
    for (; *text >= 'a' && *text <= 'z'; text++) {
        if (word->count == most)
            return attn_fail(error, ATTN_ERROR_RANGE, "a word of more than %d letters", (int)most);
        word->letters[word->count++] = LETTER + (*text - 'a');
    }
    if (*text && *text != '|' && read_space(text) == text)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "'%.*s' is none of the letters a to z",
                         read_length(text), text);
    *at = read_space(text);
    return ATTN_OK;
}

attn_status_t edit_read(const reasoning_task_t *task, const char *text, reasoning_sample_t *sample,
                        attn_error_t *error) {
    text_t s, t;
    attn_status_t status = read_word(&text, task->size + LONGER, &s, error);
    if (!status && *text == '|') text++;
    if (!status) status = read_word(&text, task->size + LONGER, &t, error);
    if (status) return status;
    const int32_t shorter = least_of(s.count, t.count), apart = s.count + t.count - 2 * shorter;
    if (*text || shorter == 0)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "two words are compared, here are %s",
                         *text ? "more" : "fewer");
    if (shorter > task->size)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "both words have more than the %d letters of the task", (int)task->size);
    if (task->kind == REASONING_ED_LOCAL && apart > task->band)
        return attn_fail(error, ATTN_ERROR_RANGE,
                         "words whose lengths differ by %d, the band is %d", (int)apart,
                         (int)task->band);
    put_pair(task, &s, &t, sample);
    return ATTN_OK;
}

/* Of the words and what is between them. */
static int32_t different_letters(const int32_t *tokens, int32_t count) {
    int32_t letters[LETTERS] = {0}, different = 0;
    for (int32_t i = 0; i < count; i++)
        if (tokens[i] >= LETTER && !letters[tokens[i] - LETTER]++) different++;
    return different;
}

void edit_unlike(const reasoning_task_t *task, const reasoning_sample_t *sample,
                 char text[REASONING_UNLIKE]) {
    const int32_t *tokens = sample->tokens, n = task->size;
    int32_t first = 0;
    while (tokens[first] != BAR) first++;
    const int32_t second = sample->question - first - 2; /* a bar and <sep> */
    const size_t size = (size_t)first * sizeof *tokens;
    if (first != n && second != n)
        attn_format(text, REASONING_UNLIKE, "pairs with a word of exactly %d letters", (int)n);
    else if (least_of(first, second) < n - SHORTER)
        attn_format(text, REASONING_UNLIKE, "pairs of a word of %d letters and one of at least %d",
                    (int)n, (int)(n - SHORTER));
    else if (different_letters(tokens, sample->question) > MOST_LETTERS)
        attn_format(text, REASONING_UNLIKE, "pairs of at most %d different letters", MOST_LETTERS);
    else if (first == second && memcmp(tokens, tokens + first + 1, size) == 0)
        attn_format(text, REASONING_UNLIKE, "pairs of different words");
}
