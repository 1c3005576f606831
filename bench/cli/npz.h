/*
 * cli/npz.h: files of NumPy's .npz, which are ZIP archives of .npy files.
 */
#ifndef ATTN_CLI_NPZ_H
#define ATTN_CLI_NPZ_H

#include <stddef.h>

/** An archive in memory. Other bytes may stand before and behind it. */
typedef struct npz {
    const char *path; /* for complaints */
    const unsigned char *bytes;
    size_t size;
} npz_t;

enum { NPZ_MARK = 4 /* bytes that tell */ };

/** Whether these bytes begin as an archive does. */
int npz_is_one(const char *bytes, size_t size);

/** Whether an archive ends in these bytes, whatever stands before and behind it. */
int npz_is_behind(const char *bytes, size_t size);

/**
 * The file `name` of the archive, unpacked into memory that the caller frees, after a failure too; an exit
 * status. Stored or deflated, of any size (zip64), its check sum verified. Memory grows with what is
 * unpacked, not with the size that the archive claims.
 */
int npz_file(const npz_t *npz, const char *name, char **bytes, size_t *size);

/** Whether the archive is whole enough to tell that it has a file of this name. */
int npz_has(const npz_t *npz, const char *name);

/** How many .npy files there are in it, and their names without ".npy" between commas, as far as there is room; an exit
 *  status. */
int npz_names(const npz_t *npz, char *names, size_t room, int *count);

#endif
