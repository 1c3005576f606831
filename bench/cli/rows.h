/*
 * cli/rows.h: some rows of the array in an .npy file, without reading the others.
 */
#ifndef ATTN_CLI_ROWS_H
#define ATTN_CLI_ROWS_H

#include "cli/arrays.h"
#include "npy/dict.h"

typedef struct rows_file {
    const char *path;
    int descriptor;
    npy_dict_t dict;
    npy_wanted_t wanted;
    size_t data, item; /* where elements begin, and bytes of one */
} rows_file_t;

/** Rows [first, first + count) of the last axis but one. */
typedef struct rows_range {
    int64_t first, count;
} rows_range_t;

enum { ROWS_RANGES = 2 };

/**
 * Open a file and read its header: an .npy file in C order, of the size that its header says; an exit status, and
 * rows_close() in any case.
 */
int rows_open(rows_file_t *file, const char *path, const npy_wanted_t *wanted);
void rows_close(rows_file_t *file);

/** Type, rank and shape of the whole array, without memory. */
void rows_describe(const rows_file_t *file, array_t *array);

/** Read rows, one range after the other; no rows make an array that is absent. An exit status; array_free() in any case. */
int rows_read(const rows_file_t *file, const rows_range_t ranges[ROWS_RANGES], array_t *array);

#endif
