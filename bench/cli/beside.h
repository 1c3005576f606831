/*
 * cli/beside.h: a file beside the one whose place it will take, so that a path never leads to half of
 * one.
 *
 * It is called ".attn-" and a number that its target's name makes, so that the next run which
 * writes the same target finds what one that was killed has left, and removes it: its process held
 * a lock on it, and the lock is gone. Signals that can be caught leave nothing. (Without locks,
 * under WASI, it stays.)
 */
#ifndef ATTN_CLI_BESIDE_H
#define ATTN_CLI_BESIDE_H

#include "cli/place.h"

typedef struct beside {
    char path[PLACE_PATH + 32]; /**< "": there is none */
    int descriptor;
} beside_t;

enum { BESIDE_MOST = 16 };

/** Before the first one: signals that can be caught remove them from now on. */
void beside_begin(void);

/**
 * Open one, empty, for a place that is free or a file; 0, or an errno. At most BESIDE_MOST at a
 * time, and in one thread.
 */
int beside_open(beside_t *beside, const place_t *place);

/** When all is written: mode and owner of the file it is to replace, and all on the disk; 0, or an errno. */
int beside_finish(beside_t *beside, const place_t *place);

/** Put it in its place, and close it; 0, or an errno. */
int beside_put(beside_t *beside, const place_t *place);

/** Leave it where it is, for people: no name of it is known any more. */
void beside_leave(beside_t *beside);

/** Remove it, unless it is in its place. */
void beside_drop(beside_t *beside);

#endif
