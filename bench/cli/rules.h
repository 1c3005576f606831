/*
 * cli/rules.h: what a problem says beside its arrays: which keys a query sees, and what is done to the
 * logits.
 */
#ifndef ATTN_CLI_RULES_H
#define ATTN_CLI_RULES_H

#include "cli/options.h"

#include "attn/attn.h"

typedef struct rules {
    const char *causal; /* NULL, "", "top-left" or "bottom-right" */
    const char *window; /* "L,R" */
    double scale;       /* NaN: the backend's own */
    double softcap;
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
         "visible keys to the left and to the right of a query; -1 or nothing: all",               \
         &(rules).window,                                                                          \
         0,                                                                                        \
         0},                                                                                       \
        {"scale",                                                                                  \
         0,                                                                                        \
         OPTION_NUMBER,                                                                            \
         "S",                                                                                      \
         "scale of the logits (default: the backend's, 1/sqrt(d) for softmax)",                    \
         &(rules).scale,                                                                           \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        "softcap", 0, OPTION_NUMBER, "C",                                                          \
            "logits x become C tanh(x / C), before bias and masks (0: off)", &(rules).softcap, 0,  \
            0                                                                                      \
    }

/** "none", "top-left" or "bottom-right": what every output calls ATTN_CAUSAL_... . */
const char *rules_corner(int32_t causal);

/** Put them into the problem; an exit status. */
int rules_apply(const rules_t *rules, attn_problem_t *problem);

/**
 * "past 4, window (3, 0), softcap 30, mask, sinks": what there is beside causal and scale; returns
 * `text`, which is empty for none.
 */
const char *rules_describe(const attn_problem_t *problem, char text[256]);

#endif
