/*
 * cli/rules.h: everything about a problem but Q, K and V: which keys a query sees, and what is done
 * to the logits.
 */
#ifndef ATTN_CLI_RULES_H
#define ATTN_CLI_RULES_H

#include "cli/arrays.h"
#include "cli/options.h"

#include "attn/attn.h"

typedef struct rules {
    const char *causal; /* NULL, "", "top-left" or "bottom-right" */
    const char *window; /* "L,R" */
    const char *mask_path, *bias_path;
    const char *kv_lengths_text, *sinks_text, *slopes_text; /* a list or a file; slopes: "" */
    double scale;                                           /* NaN: the backend's own */
    double softcap;

    array_t mask, bias, kv_lengths, sinks, slopes;
} rules_t;

/* For option tables, with `rules` a rules_t. */
#define RULES_OPTIONS(rules)                                                                       \
    {"causal",                                                                                     \
     0,                                                                                            \
     OPTION_MAYBE,                                                                                 \
     "CORNER",                                                                                     \
     "top-left: query i sees keys j <= i; bottom-right: j <= i + m - n",                           \
     &(rules).causal,                                                                              \
     0,                                                                                            \
     0},                                                                                           \
        {"window",                                                                                 \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         "L,R",                                                                                    \
         "keys seen to the left and to the right of a query; -1 or nothing: all",                  \
         &(rules).window,                                                                          \
         0,                                                                                        \
         0},                                                                                       \
        {"mask",                                                                                   \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         "M.npy",                                                                                  \
         "bool, broadcast to (B, H, n, m): false hides a key",                                     \
         &(rules).mask_path,                                                                       \
         0,                                                                                        \
         0},                                                                                       \
        {"bias",                                                                                   \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         "B.npy",                                                                                  \
         "float, likewise: added to the logits; -inf hides a key",                                 \
         &(rules).bias_path,                                                                       \
         0,                                                                                        \
         0},                                                                                       \
        {"kv-lens",                                                                                \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         "LENS",                                                                                   \
         "keys that count, 0 to m, for each batch: int .npy (B), or a,b,...",                      \
         &(rules).kv_lengths_text,                                                                 \
         0,                                                                                        \
         0},                                                                                       \
        {"scale",                                                                                  \
         0,                                                                                        \
         OPTION_NUMBER,                                                                            \
         "S",                                                                                      \
         "factor of the logits (default: the backend's, 1/sqrt(d) for softmax)",                   \
         &(rules).scale,                                                                           \
         0,                                                                                        \
         0},                                                                                       \
        {"softcap",                                                                                \
         0,                                                                                        \
         OPTION_NUMBER,                                                                            \
         "C",                                                                                      \
         "logits x become C tanh(x / C), before bias and masks (0: not)",                          \
         &(rules).softcap,                                                                         \
         0,                                                                                        \
         0},                                                                                       \
        {"sinks",                                                                                  \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         "SINKS",                                                                                  \
         "a logit more in each head's sums, without a value: .npy (H), or a,b,...",                \
         &(rules).sinks_text,                                                                      \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "alibi", 0, OPTION_MAYBE, "SLOPES",                                                        \
            "logits -= slope * distance: .npy (H), or a,b,..., or auto: 2^(-8 i / H)",             \
            &(rules).slopes_text, 0, 0                                                             \
    }

/** Put into the problem what needs no file, and which arrays will come; an exit status. */
int rules_pose(const rules_t *rules, attn_problem_t *problem);

/** Read the arrays and fit them to the problem; an exit status. rules_free() in any case. */
int rules_load(rules_t *rules, const attn_problem_t *problem);

/** Put the arrays into `io`. */
void rules_attach(const rules_t *rules, attn_io_t *io);

/**
 * "past 4, window (3, 0), softcap 30, mask, sinks": what there is beside causal and scale; returns
 * `text`, which is empty for none.
 */
const char *rules_describe(const attn_problem_t *problem, char text[256]);

void rules_free(rules_t *rules);

#endif
