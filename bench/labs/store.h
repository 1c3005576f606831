/*
 * labs/store.h: where long work is kept while it lasts, and whom it tells how it goes. An experiment reads and writes
 * nothing itself: its caller may.
 */
#ifndef ATTN_LABS_STORE_H
#define ATTN_LABS_STORE_H

#include <stddef.h>

/** Statuses of work beside attn_status_t. */
enum {
    LAB_UNFINISHED =
        -1, /**< it stopped before its end: what there is is kept, and nothing went wrong with it */
    LAB_SPOILT =
        -2 /**< it cannot go on, and other work can: a training diverged, what was kept is damaged */
};

/** Names are of letters, digits, '-', '_' and '.'. Any thread may call. */
typedef struct lab_store {
    void *data;
    double seconds;    /**< between two times that work is kept */
    int finished_only; /**< what is not finished is left as it is */

    /** *bytes are free()'s, NULL where nothing of that name is kept. Not 0: the store has said what is wrong. */
    int (*read)(void *data, const char *name, char **bytes, size_t *size);

    /** All of it, or what was there before. Not 0: the store has said what is wrong. */
    int (*write)(void *data, const char *name, const void *bytes, size_t size);

    void (*tell)(void *data, const char *name, const char *text); /**< one line */
    int (*stop)(void *data);                                      /**< whether to end soon */
} lab_store_t;

#endif
