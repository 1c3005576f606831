/*
 * cli/meant.h: which of the names that there are an unknown one was probably meant to be.
 *
 *     meant_t meant = meant_begin(word, strlen(word));
 *     for (...) meant_try(&meant, name);
 *     cli_complain(CLI_USAGE, "unknown lab '%s'%s", word, meant_advice(&meant, "", "see attn lab list", text));
 */
#ifndef ATTN_CLI_MEANT_H
#define ATTN_CLI_MEANT_H

#include <stddef.h>

typedef struct meant {
    const char *word; /**< the unknown one */
    size_t length;
    size_t distance;  /**< of the nearest name, or the least that is too far */
    const char *name; /**< the nearest one so far; NULL: none is near */
} meant_t;

enum { MEANT_TEXT = 128 };

/** Nothing yet; the word stays the caller's and need not end behind its `length` letters. */
meant_t meant_begin(const char *word, size_t length);

/**
 * Whether this name is nearer than those before it. Near is: one letter added, dropped or changed, or two
 * neighbours swapped, or two of that in words of six letters or more; capitals, '-' and '_' make no difference.
 * After these come names that begin with the word, or that the word begins with. The name has to outlive `meant`.
 */
void meant_try(meant_t *meant, const char *name);

/** " (did you mean --block?)", with "--" before the name; where none is near " (otherwise)", or "" for NULL. */
const char *meant_advice(const meant_t *meant, const char *before, const char *otherwise,
                         char text[MEANT_TEXT]);

#endif
