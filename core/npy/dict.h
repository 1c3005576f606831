/*
 * npy/dict.h: the header of an .npy file, as text: a Python dictionary literal (NEP 1).
 */
#ifndef ATTN_NPY_DICT_H
#define ATTN_NPY_DICT_H

#include "attn/types.h"

#include <stddef.h>

enum { NPY_MAX_RANK = 32, NPY_MAX_DESCR = 24 }; /* NumPy's own limit; the longest type we name */

extern const char npy_magic[6];

/** What the dictionary says. `descr` is "[" for records. */
typedef struct npy_dict {
    char descr[NPY_MAX_DESCR];
    int fortran_order;
    int32_t rank;
    int64_t shape[NPY_MAX_RANK];
    int has_descr, has_order, has_shape;
} npy_dict_t;

/** Read the header of the file image bytes[size]; *data is where the elements begin. */
attn_status_t npy_dict_read(const void *bytes, size_t size, npy_dict_t *dict, size_t *data,
                            attn_error_t *error);

#endif
