/*
 * cli/place.h: where a path leads that something is to be written to, whatever it is called: "o.npy",
 * "./o.npy", a link to it, or "-".
 */
#ifndef ATTN_CLI_PLACE_H
#define ATTN_CLI_PLACE_H

#include <sys/stat.h>

enum place_kind {
    PLACE_FREE,   /**< nothing is there yet */
    PLACE_FILE,   /**< a regular file */
    PLACE_STREAM, /**< a pipe, a device */
    PLACE_STDOUT, /**< "-", or what standard output is anyway, unless it is a device */
};

enum { PLACE_PATH = 4096 };

typedef struct place {
    enum place_kind kind;
    char path[PLACE_PATH]; /**< of a file, or of what will be one: no symbolic link */
    struct stat info;      /**< of what is there; of the folder where nothing is */
} place_t;

/** 0, or an errno that says why nothing can be there; EISDIR for a folder. */
int place_find(place_t *place, const char *path);

/** Whether what is written to one would take the other's place. No two devices do. */
int place_is_same(const place_t *a, const place_t *b);

/** Whether this is where standard output goes: nothing else may be printed then. NULL is not. */
int place_is_stdout(const char *path);

/** The part of a path behind its last slash. */
const char *place_name(const char *path);

#endif
