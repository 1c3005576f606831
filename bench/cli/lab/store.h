/*
 * cli/lab/store.h: files as a store: in a folder, or by their own paths.
 */
#ifndef ATTN_CLI_LAB_STORE_H
#define ATTN_CLI_LAB_STORE_H

#include "cli/options.h"
#include "labs/store.h"

#define STORE_SECONDS(STORE)                                                                       \
    {                                                                                              \
        "keep", 0, OPTION_NUMBER, "S", "seconds between checkpoints (default 30)",                 \
            &(STORE).lab.seconds, 0, 0                                                             \
    }

typedef struct store {
    lab_store_t lab;    /**< what an experiment takes; points here */
    const char *folder; /**< NULL: names are paths, and are not told */
    int status;         /**< of the first failure, which has been complained about; CLI_OK */
} store_t;

/** It stays where it is. Stops when the user wants it (stop.h). */
void store_make(store_t *store, const char *folder);

/** Whether STORE_SECONDS was given as something else than a time; an exit status. */
int store_check(const store_t *store);

/** Forget what is kept by this name, if anything. */
void store_remove(const lab_store_t *lab, const char *name);

#endif
