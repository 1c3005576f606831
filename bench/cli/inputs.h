/*
 * cli/inputs.h: Q, K and V from .npy files, or X as CSR for Q and K, with what came before them, and the problem
 * that they and the rules make.
 */
#ifndef ATTN_CLI_INPUTS_H
#define ATTN_CLI_INPUTS_H

#include "cli/arguments.h"
#include "cli/arrays.h"
#include "cli/csr.h"
#include "cli/options.h"
#include "cli/rules.h"

#include "attn/attn.h"

enum { INPUT_QUERY, INPUT_KEY, INPUT_VALUE, INPUT_COUNT };

/** Who takes Q and K as dense arrays, where the files have them as CSR. */
enum inputs_dense {
    INPUTS_DENSE_FOR_NONE, /**< a backend that takes no CSR is refused */
    INPUTS_DENSE_FOR_ERROR,
    INPUTS_DENSE_FOR_ALL, /**< also backends that take no CSR */
};

typedef struct inputs {
    const char *paths[INPUT_COUNT]; /* --q, --k, --v */
    const char *pasts[INPUT_COUNT]; /* --past-k, --past-v; NULL for Q */
    csr_t x;                        /* --x or --x-data: Q = K = X */
    enum inputs_dense dense;        /* set before inputs_load() */
    rules_t rules;
    arguments_t arguments;
    int32_t scores;   /* enum attn_scores_code */
    int32_t backward; /* whether gradients are asked for */

    array_t arrays
        [INPUT_COUNT]; /* with the past in front; of X in CSR alone Q and K have shapes and no data */
    int64_t nonfinite[INPUT_COUNT];
    attn_problem_t problem;
    attn_io_t io;                   /* Q, K and V of a run */
    array_t shared[ATTN_ARRAY_OWN]; /* more of the library's, which runner_load() reads */
} inputs_t;

/* For option tables, with `inputs` an inputs_t. */
#define INPUTS_ARRAYS(inputs)                                                                      \
    {"q",                                                                                          \
     0,                                                                                            \
     OPTION_TEXT,                                                                                  \
     "Q.npy",                                                                                      \
     "queries, (n, d), (H, n, d) or (B, H, n, d)",                                                 \
     &(inputs).paths[INPUT_QUERY],                                                                 \
     0,                                                                                            \
     0},                                                                                           \
        {"k",                                                                                      \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         "K.npy",                                                                                  \
         "keys, (m, d) likewise; the heads of Q are a multiple of theirs",                         \
         &(inputs).paths[INPUT_KEY],                                                               \
         0,                                                                                        \
         0},                                                                                       \
        {"v",                                                                                      \
         0,                                                                                        \
         OPTION_TEXT | OPTION_REQUIRED,                                                            \
         "V.npy",                                                                                  \
         "values, (m, dv) likewise",                                                               \
         &(inputs).paths[INPUT_VALUE],                                                             \
         0,                                                                                        \
         0},                                                                                       \
        {"past-k",                                                                                 \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         "PK.npy",                                                                                 \
         "p keys before those of K; query i then stands at p + i",                                 \
         &(inputs).pasts[INPUT_KEY],                                                               \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "past-v", 0, OPTION_TEXT, "PV.npy", "their values", &(inputs).pasts[INPUT_VALUE], 0, 0     \
    }

/* The same of X. */
#define INPUTS_CSR(inputs)                                                                         \
    {"x",                                                                                          \
     0,                                                                                            \
     OPTION_TEXT,                                                                                  \
     "X.npz",                                                                                      \
     "one array for both Q and K: .npy, or CSR in a .npz of SciPy's save_npz()",                   \
     &(inputs).x.archive,                                                                          \
     0,                                                                                            \
     0},                                                                                           \
        {"x-data",                                                                                 \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         "X.npy",                                                                                  \
         "CSR: the elements, with --x-indptr and --x-indices",                                     \
         &(inputs).x.data,                                                                         \
         0,                                                                                        \
         0},                                                                                       \
        CSR_OPTIONS((inputs).x)

/** Whether the files have Q and K as CSR. */
int inputs_are_csr(const inputs_t *inputs);

/**
 * Whether the options that are there go together, and none is missing that is needed; an exit status. A dense X is Q and K
 * from then on. `needs`: options that CSR does not go with, as a message begins; NULL for none.
 */
int inputs_check(inputs_t *inputs, const char *command, const char *needs);

/** The largest |x|^2 of rows x of Q and K. */
double inputs_longest(const inputs_t *inputs);

/** The rank of the files: that of Q, or of V where Q is CSR. */
int32_t inputs_rank(const inputs_t *inputs);

/**
 * Read the files, check that they fit together, fill in problem and io, and warn about elements
 * that are NaN or infinite; an exit status. inputs_free() in any case.
 */
int inputs_load(inputs_t *inputs);

/** What a file of input `which` may hold. */
npy_wanted_t inputs_wanted(int which);

/** Whether both files of a past are given, or none; an exit status. */
int inputs_check_pasts(const inputs_t *inputs);

/**
 * The problem of files that have not been read: of arrays and pasts, which have types, ranks and shapes alone. K and V have the
 * past's rows in front from then on, and the type that both have in memory; an exit status.
 */
int inputs_make_problem(inputs_t *inputs, const array_t pasts[INPUT_COUNT]);

/** The same for random ones of the sizes, element types and past that `sizes` has. */
int inputs_draw(inputs_t *inputs, const attn_problem_t *sizes);

void inputs_free(inputs_t *inputs);

/** "(8, 1024, 64)": the shape of input `which` as its file has it; returns `text`. */
const char *inputs_shape(const inputs_t *inputs, int which, char text[96]);

#endif
