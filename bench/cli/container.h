/*
 * cli/container.h: arrays by name in files of several: "weights.safetensors:q", "arrays.npz:q".
 */
#ifndef ATTN_CLI_CONTAINER_H
#define ATTN_CLI_CONTAINER_H

#include "cli/arrays.h"

/**
 * Read the array that `path` names: an .npy file, or behind a colon one of an .npz or a .safetensors file; the name
 * may be left out where there is but one. What the file is, its first bytes say. An exit status; array_free() in any
 * case.
 */
int container_load(array_t *array, const char *path, const npy_wanted_t *wanted);

/** The same of a file that has been read: its bytes, memory that becomes the array's, and its path, which names none. */
int container_take(array_t *array, const char *path, char *bytes, size_t size,
                   const npy_wanted_t *wanted);

/** Whether a path names one of the arrays in a file. */
int container_has_name(const char *path);

/** Whether a path is of a file that has arrays by name, or of an array in one; arrays are not written to those. */
int container_is_named(const char *path);

#endif
