/* labs/separation/params.c: the parameters of the separation experiments. */
#include "labs/separation/lab.h"

#include "labs/declare.h"

static const char *const NETS[] = {"regression", "self", "self_ones", "cross", NULL};
static const char *const ROWS[] = {"all", "distinct", NULL};

#define CHOICE(NAME, LABEL, NAMES, LAST, HELP)                                                     \
    {                                                                                              \
        .struct_size = sizeof(attn_param_info_t), .type = ATTN_PARAM_CHOICE, .name = (NAME),       \
        .label = (LABEL), .help = (HELP), .unit = "", .maximum = (LAST), .choices = (NAMES),       \
    }

const attn_param_info_t separation_params[SEPARATION_PARAMS] = {
    [SEPARATION_NET] = CHOICE("net", "network", NETS, 3,
                              "softmax regression; self-attention with X = I or X = all ones; "
                              "cross-attention"),
    [SEPARATION_N] = LAB_INTEGER("n", "tokens n", "", 2, 100000, 200,
                                 "rows of the data; where no whole number of blocks fits, the last "
                                 "is cut"),
    [SEPARATION_D] = LAB_INTEGER("d", "dimension d", "", 2, 1024, 22,
                                 "columns of the data: 3 or more for self-, 2 or more for "
                                 "cross-attention"),
    [SEPARATION_M] = {.struct_size = sizeof(attn_param_info_t),
                      .type = ATTN_PARAM_NUMBER,
                      .name = "m",
                      .label = "width m",
                      .help = "columns of random signs y; a fraction is dropped",
                      .unit = "",
                      .minimum = 1,
                      .maximum = 10000,
                      .initial = 0,
                      .automatic = "by factor C, else log n for regression, max(log(n/delta), 15) "
                                   "for self-, log(n/delta) for cross-attention"},
    [SEPARATION_DELTA] = LAB_NUMBER("delta", "failure probability delta", "", 1e-12, 1, 0.01,
                                    "what the claim allows; m follows it unless m is set"),
    [SEPARATION_A0] = LAB_NUMBER("a0", "a0", "", 0, 10, 0.01,
                                 "the mark in D0; the definitions ask for 0 < a0 < 0.1"),
    [SEPARATION_A1] =
        LAB_NUMBER("a1", "a1", "", 0, 10, 1.2,
                   "the mark in D1; the definitions ask for 0.7 or more (self-), more "
                   "than 1 (cross-attention)"),
    [SEPARATION_B] = {.struct_size = sizeof(attn_param_info_t),
                      .type = ATTN_PARAM_NUMBER,
                      .name = "b",
                      .label = "b",
                      .help = "size of the identity blocks; the figures' is 0.2",
                      .unit = "",
                      .minimum = 1e-6,
                      .maximum = 10,
                      .automatic = "what the definitions ask for: 1 - c, for X = I sqrt(1 - c^2)"},
    [SEPARATION_C] = LAB_NUMBER("c", "c", "", 0, 10, 0.8,
                                "size of the constant column; tau = (c + 0.1) sqrt(log n)"),
    [SEPARATION_TRIALS] =
        LAB_INTEGER("trials", "trials", "", 1, 10000000, 100, "independent trials at each point"),
    [SEPARATION_ROWS] = CHOICE("rows", "rows of A1", ROWS, 1,
                               "distinct: rows that are the same are asked once; all: n of them"),
    [SEPARATION_FACTOR] = {.struct_size = sizeof(attn_param_info_t),
                           .type = ATTN_PARAM_NUMBER,
                           .name = "factor",
                           .label = "factor C",
                           .help = "m = C log(n/delta), rounded up, where m is not set",
                           .unit = "",
                           .minimum = 0.1,
                           .maximum = 100,
                           .automatic = "m as the paper's figures have it"},
};
