/*
 * cli/inputs.h: Q, K and V from .npy files, and the problem that they, --causal and --scale pose.
 */
#ifndef ATTN_CLI_INPUTS_H
#define ATTN_CLI_INPUTS_H

#include "cli/options.h"

#include "attn/attn.h"

enum { INPUT_QUERY, INPUT_KEY, INPUT_VALUE, INPUT_COUNT };

typedef struct inputs {
    const char *paths[INPUT_COUNT]; /* --q, --k, --v */
    const char *causal;             /* NULL, "", "top-left" or "bottom-right" */
    double scale;                   /* NaN: the backend's own */

    attn_tensor_t tensors[INPUT_COUNT];
    int32_t ranks[INPUT_COUNT];
    int64_t nonfinite[INPUT_COUNT];
    attn_problem_t problem;
    char *memory[INPUT_COUNT];
} inputs_t;

/* For option tables, with `inputs` an inputs_t. */
#define INPUTS_ARRAYS(inputs)                                                                      \
    {"q",                                                                                          \
     0,                                                                                            \
     OPTION_TEXT | OPTION_REQUIRED,                                                                \
     "Q.npy",                                                                                      \
     "queries, (n, d), (H, n, d) or (B, H, n, d)",                                                 \
     &(inputs).paths[INPUT_QUERY],                                                                 \
     0,                                                                                            \
     0},                                                                                           \
        {"k",                                                                                      \
         0,                                                                                        \
         OPTION_TEXT | OPTION_REQUIRED,                                                            \
         "K.npy",                                                                                  \
         "keys, (m, d) likewise; their number of heads divides that of Q",                         \
         &(inputs).paths[INPUT_KEY],                                                               \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "v", 0, OPTION_TEXT | OPTION_REQUIRED, "V.npy", "values, (m, dv) likewise",                \
            &(inputs).paths[INPUT_VALUE], 0, 0                                                     \
    }
#define INPUTS_RULES(inputs)                                                                       \
    {"causal",                                                                                     \
     0,                                                                                            \
     OPTION_MAYBE,                                                                                 \
     "CORNER",                                                                                     \
     "top-left: query i sees keys j <= i; bottom-right: j <= i + m - n",                           \
     &(inputs).causal,                                                                             \
     0,                                                                                            \
     0},                                                                                           \
    {                                                                                              \
        "scale", 0, OPTION_NUMBER, "S",                                                            \
            "factor of the logits (default: the backend's, 1/sqrt(d) for softmax)",                \
            &(inputs).scale, 0, 0                                                                  \
    }

/** What `causal` says as an enum attn_causal_code; an exit status. */
int inputs_corner(const char *causal, int32_t *corner);

/**
 * Read the files, check that they fit together, fill in the problem, and warn about elements that
 * are NaN or infinite; an exit status. inputs_free() in any case.
 */
int inputs_load(inputs_t *inputs);

void inputs_free(inputs_t *inputs);

/** "(8, 1024, 64)": the shape of input `which` as its file has it; returns `text`. */
const char *inputs_shape(const inputs_t *inputs, int which, char text[96]);

#endif
