/*
 * cli/csr.h: X as compressed sparse rows, from an .npz of SciPy's save_npz() or from three .npy files.
 */
#ifndef ATTN_CLI_CSR_H
#define ATTN_CLI_CSR_H

#include "cli/arrays.h"
#include "cli/options.h"
#include "cli/settings.h"

#include "attn/attn.h"

typedef struct csr {
    const char *archive;                 /* or */
    const char *data, *indptr, *indices; /* .npy */
    int64_t columns; /* features; 0: those up to the last one that has an element */

    int64_t rows, stored;
    double longest;           /* the largest |x|^2 of rows x, once csr_verify() has passed */
    int64_t *starts, *places; /* rows + 1; stored */
    float *values;
    char *files[3];   /* what the arrays stood in; values may stand there still */
    char setting[48]; /* "elements=..." */
} csr_t;

/* For option tables, with `csr` a csr_t. */
#define CSR_OPTIONS(csr)                                                                           \
    {"x-indptr", 0, OPTION_TEXT, "FILE", "CSR: where each row begins", &(csr).indptr, 0, 0},       \
        {"x-indices", 0, OPTION_TEXT, "FILE", "CSR: the column of each element", &(csr).indices,   \
         0,           0},                                                                          \
    {                                                                                              \
        "columns", 0, OPTION_INTEGER, "D",                                                         \
            "CSR: number of features, when the last ones have no element", &(csr).columns, 1,      \
            CSR_MOST_COLUMNS                                                                       \
    }

#define CSR_MOST_COLUMNS INT64_C(2147483648)

/** Whether a file is an archive, by its name or by what it begins with. */
int csr_is_archive(const char *path);

/** Whether these bytes are an archive with a sparse matrix, as SciPy's save_npz() writes it. */
int csr_is_packed(const char *bytes, size_t size);

/** Whether the options that are there go together; an exit status. */
int csr_check(const csr_t *csr);

/** The first of the arrays given by their names ("NAME=FILE") that is one of X's; NULL for none. */
const char *csr_given(const option_texts_t *given);

/** Read the files: arrays of the right lengths, whatever is in them; an exit status. csr_free() in any case. */
int csr_load(csr_t *csr);

/** The same of an archive that has been read: the bytes of csr->archive. */
int csr_unpack(csr_t *csr, const char *bytes, size_t size);

void csr_free(csr_t *csr);

/** Whether the backend takes X. */
int csr_fits(const attn_backend_t *backend);

/** Whether the library takes X; an exit status. */
int csr_verify(csr_t *csr);

/** Write out X, which csr_verify() has passed, where there are zeros: all features of a row side by side. */
void csr_write(const csr_t *csr, float *dense);

/** Name X in the problem as backend-specific tensors, and their length in the settings. */
attn_status_t csr_apply(csr_t *csr, const attn_backend_t *backend, attn_problem_t *problem,
                        settings_t *settings, attn_error_t *error);

/** Give X's arrays to those of a runner, which then has their memory. */
void csr_place(csr_t *csr, const attn_backend_t *backend, array_t *arrays);

#endif
