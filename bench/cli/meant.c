/* cli/meant.c: see meant.h. */
#include "cli/meant.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NAME = 40, BEGINNING = 3 /* letters that say which word it is */ };

static char folded(char letter) {
    if (letter == '-') return '_';
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static int is_same(char a, char b) { return folded(a) == folded(b); }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/*
 * How many letters to add, drop, change or swap with their neighbour make one name the other (optimal string
 * alignment); of long names: many.
 */
static size_t distance(const char *a, size_t length, const char *b) {
    size_t rows[3][MOST_NAME + 1];
    const size_t width = strlen(b);
    if (length > MOST_NAME || width > MOST_NAME) return MOST_NAME;
    for (size_t j = 0; j <= width; j++) rows[0][j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t *row = rows[i % 3];
        const size_t *before = rows[(i - 1) % 3], *earlier = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            const size_t changed = before[j - 1] + !is_same(a[i - 1], b[j - 1]);
            row[j] = least(changed, least(before[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], earlier[j - 2] + 1);
        }
    }
    return rows[length % 3][width];
}

/* Beyond that it is another word. */
static size_t farthest(size_t length) {
    if (length < BEGINNING) return 0;
    return length < 6 ? 1 : 2;
}

static int begins(const char *a, size_t length, const char *b) {
    const size_t shared = least(length, strlen(b));
    for (size_t i = 0; i < shared; i++)
        if (!is_same(a[i], b[i])) return 0;
    return shared >= BEGINNING;
}

meant_t meant_begin(const char *word, size_t length) {
    return (meant_t){.word = word, .length = length, .distance = MOST_NAME};
}

void meant_try(meant_t *meant, const char *name) {
    size_t found = distance(meant->word, meant->length, name);
    if (found > farthest(meant->length))
        found = begins(meant->word, meant->length, name) ? MOST_NAME - 1 : MOST_NAME;
    if (found >= meant->distance) return;
    meant->distance = found;
    meant->name = name;
}

const char *meant_advice(const meant_t *meant, const char *before, const char *otherwise,
                         char text[MEANT_TEXT]) {
    text[0] = 0;
    if (meant->name)
        snprintf(text, MEANT_TEXT, " (did you mean %s%.64s?)", before, meant->name);
    else if (otherwise)
        snprintf(text, MEANT_TEXT, " (%s)", otherwise);
    return text;
}
