/* labs/separation_panels.c: parameters, columns and the 19 panels of Figures 3, 4, 5 and 7. */
#include "labs/separation_lab.h"

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
                      .automatic = "log n for regression, max(log(n/delta), 15) for self-, "
                                   "log(n/delta) for cross-attention"},
    [SEPARATION_DELTA] = LAB_NUMBER("delta", "failure probability delta", "", 1e-12, 1, 0.01,
                                    "what the claim allows; m follows it unless m is set"),
    [SEPARATION_A0] = LAB_NUMBER("a0", "a0", "", 0, 10, 0.01,
                                 "the mark in D0; the definitions ask for 0 < a0 < 0.1"),
    [SEPARATION_A1] =
        LAB_NUMBER("a1", "a1", "", 0, 10, 1.2,
                   "the mark in D1; the definitions ask for 0.7 or more (self-), more "
                   "than 1 (cross-attention)"),
    [SEPARATION_B] = LAB_NUMBER("b", "b", "", 0, 10, 0.2, "size of the identity blocks"),
    [SEPARATION_C] = LAB_NUMBER("c", "c", "", 0, 10, 0.8,
                                "size of the constant column; tau = (c + 0.1) sqrt(log n)"),
    [SEPARATION_TRIALS] =
        LAB_INTEGER("trials", "trials", "", 1, 10000000, 100, "independent trials at each point"),
    [SEPARATION_ROWS] = CHOICE("rows", "rows of A1", ROWS, 1,
                               "distinct: rows that are the same are asked once; all: n of them"),
};

/* F > 0 is the plain fact; that three of them are to be rare is what success says. */
#define COLUMNS(X_LABEL)                                                                           \
    {                                                                                              \
        {"x", X_LABEL, LAB_HIDDEN, 0}, {"success", "success", LAB_LINE, 0},                        \
            {"low", "95% interval", LAB_LOW, 0}, {"high", "95% interval", LAB_HIGH, 0},            \
            {"fexp1", "F_exp(D1) > 0", LAB_FAINT, 0}, {"flin1", "F_lin(D1) > 0", LAB_FAINT, 0},    \
            {"fexp0", "F_exp(D0) > 0", LAB_FAINT, 0}, {"flin0", "F_lin(D0) > 0", LAB_FAINT, 0},    \
            {"trials", "trials", LAB_HIDDEN, 0},                                                   \
            {"close", "trials with a decision that rounding can turn", LAB_HIDDEN, 1},             \
            {"degenerate", "trials with a normaliser near 0", LAB_HIDDEN, 1},                      \
    }

static const lab_column_t columns_n[SEPARATION_COLUMNS] = COLUMNS("tokens n");
static const lab_column_t columns_d[SEPARATION_COLUMNS] = COLUMNS("dimension d");
static const lab_column_t columns_m[SEPARATION_COLUMNS] = COLUMNS("width m");
static const lab_column_t columns_a1[SEPARATION_COLUMNS] = COLUMNS("a1");
static const lab_column_t columns_a0[SEPARATION_COLUMNS] = COLUMNS("a0");
static const lab_column_t columns_c[SEPARATION_COLUMNS] = COLUMNS("c");

static const double self_d[] = {4, 6, 10, 18, 34, 66};
static const double cross_d[] = {2, 3, 5, 6, 9, 11, 21, 26, 41, 51};

static const lab_fixed_t regression_a[] = {{SEPARATION_NET, SEPARATION_REGRESSION},
                                           {SEPARATION_TRIALS, 1000}};
static const lab_fixed_t regression_b[] = {
    {SEPARATION_NET, SEPARATION_REGRESSION}, {SEPARATION_TRIALS, 1000}, {SEPARATION_N, 1000}};

#define SELF_FIXED(NAME, NET)                                                                      \
    static const lab_fixed_t NAME##_a[] = {{SEPARATION_NET, NET}, {SEPARATION_D, 12}};             \
    static const lab_fixed_t NAME##_b[] = {{SEPARATION_NET, NET}, {SEPARATION_N, 256}};            \
    static const lab_fixed_t NAME[] = {                                                            \
        {SEPARATION_NET, NET}, {SEPARATION_N, 200}, {SEPARATION_D, 22}};
SELF_FIXED(self, SEPARATION_SELF)
SELF_FIXED(ones, SEPARATION_SELF_ONES)

#define CROSS_FIXED(NAME, ...)                                                                     \
    static const lab_fixed_t NAME[] = {{SEPARATION_NET, SEPARATION_CROSS}, __VA_ARGS__}
CROSS_FIXED(over_n, {SEPARATION_A1, 3}, {SEPARATION_D, 11});
CROSS_FIXED(over_d, {SEPARATION_A1, 3}, {SEPARATION_N, 200});
CROSS_FIXED(over_m, {SEPARATION_A1, 3}, {SEPARATION_N, 200}, {SEPARATION_D, 11});
CROSS_FIXED(over_a1, {SEPARATION_N, 200}, {SEPARATION_D, 12});
CROSS_FIXED(over_a0, {SEPARATION_A1, 3}, {SEPARATION_N, 200}, {SEPARATION_D, 12});

/* Parameters that a network does not have; delta, which m need not follow, is in every verdict. */
enum {
    NOT_SELF = 0,
    NOT_ONES = 0,
    NOT_CROSS = 1 << SEPARATION_B | 1 << SEPARATION_C,
    NOT_REGRESSION = NOT_CROSS | 1 << SEPARATION_D | 1 << SEPARATION_A0 | 1 << SEPARATION_A1 |
                     1 << SEPARATION_ROWS,
};

#define TELLS(NET, WHERE)                                                                          \
    "At these sizes already, " NET                                                                 \
    " with softmax tells D1 from D0 and with linear attention does "                               \
    "not, with probability 1 - delta or more (" WHERE "; proved for n large enough)."
#define CLAIM_REGRESSION TELLS("regression", "Lemmas 5.1 to 5.4")
#define CLAIM_SELF                                                                                 \
    TELLS("self-attention",                                                                        \
          "section E: Theorem E.4 for F_exp(D1), asking for b^2 + c^2 = 1, a1 of 1 "               \
          "or more and b below 0.2, other proofs omitted")
#define CLAIM_ONES TELLS("self-attention", "Theorem 6.2; Theorems D.5, D.9, D.13 and D.17")
#define CLAIM_CROSS TELLS("cross-attention", "Theorems F.5, F.9, F.13 and F.17")

/* The premises are in separation_judge.c. */
static const char criterion[] =
    "All trials at points within the definitions' premises, with m of log(n / delta) or more, "
    "taken "
    "together: it holds where the 95% interval of their success is not below 1 - delta, and fails "
    "where the interval is below.";

#define PANEL(ID, TITLE, NET, X, NAME, FIXED)                                                      \
    .id = (ID), .title = (TITLE), .claim = CLAIM_##NET, .idle = NOT_##NET, .criterion = criterion, \
    .x_param = SEPARATION_##X, .x = {NAME, "", 0, 0, 0}, .y = {"ratio of trials", "", 0, 0, 1},    \
    .fixed = (FIXED), .fixed_count = LAB_COUNT(FIXED)

/* The statements ask for m = C log(n / delta), C > 1; the numbers are its floor for C = 1. */
#define WIDE_FROM(M) .defined_low = (M), .defined_high = 10000

/* a n, b d, c m, d a1, e a0, f c, as section 7.2's text orders them. */
#define SELF_PANELS(FIGURE, KIND, NET, FIXED)                                                      \
    {PANEL(FIGURE "a", "Self-attention, " KIND ", over n", NET, N, "n", FIXED##_a),                \
     .grid = {81, 200, 10, NULL}, LAB_COLUMNS_OF(columns_n)},                                      \
        {PANEL(FIGURE "b", "Self-attention, " KIND ", over d", NET, D, "d", FIXED##_b),            \
         .grid = LAB_GRID(self_d), LAB_COLUMNS_OF(columns_d)},                                     \
        {PANEL(FIGURE "c", "Self-attention, " KIND ", over m", NET, M, "m", FIXED),                \
         .grid = {80, 1, 1, NULL}, LAB_COLUMNS_OF(columns_m), WIDE_FROM(9)},                       \
        {PANEL(FIGURE "d", "Self-attention, " KIND ", over a1", NET, A1, "a1", FIXED),             \
         .grid = {81, 0.1, 0.036, NULL}, LAB_COLUMNS_OF(columns_a1), .defined_low = 0.7,           \
         .defined_high = 10},                                                                      \
        {PANEL(FIGURE "e", "Self-attention, " KIND ", over a0", NET, A0, "a0", FIXED),             \
         .grid = {80, 0.01, 0.01, NULL}, LAB_COLUMNS_OF(columns_a0), .defined_low = 0,             \
         .defined_high = 0.1},                                                                     \
    {                                                                                              \
        PANEL(FIGURE "f", "Self-attention, " KIND ", over c", NET, C, "c", FIXED),                 \
            .grid = {81, 0.5, 0.005, NULL}, LAB_COLUMNS_OF(columns_c)                              \
    }

const lab_panel_t separation_panels[SEPARATION_PANELS] = {
    {PANEL("3a", "Softmax regression over n", REGRESSION, N, "n", regression_a),
     .grid = {191, 100, 10, NULL}, LAB_COLUMNS_OF(columns_n)},
    {PANEL("3b", "Softmax regression over m", REGRESSION, M, "m", regression_b),
     .grid = {100, 1, 1, NULL}, LAB_COLUMNS_OF(columns_m), WIDE_FROM(11)},
    SELF_PANELS("4", "X = I", SELF, self),
    SELF_PANELS("5", "X = ones", ONES, ones),
    {PANEL("7a", "Cross-attention over n", CROSS, N, "n", over_n), .grid = {81, 200, 10, NULL},
     LAB_COLUMNS_OF(columns_n)},
    {PANEL("7b", "Cross-attention over d", CROSS, D, "d", over_d), .grid = LAB_GRID(cross_d),
     LAB_COLUMNS_OF(columns_d)},
    {PANEL("7c", "Cross-attention over m", CROSS, M, "m", over_m), .grid = {80, 1, 1, NULL},
     LAB_COLUMNS_OF(columns_m), WIDE_FROM(9)},
    {PANEL("7d", "Cross-attention over a1", CROSS, A1, "a1", over_a1),
     .grid = {81, 0.1, 0.036, NULL}, LAB_COLUMNS_OF(columns_a1), .defined_low = 1,
     .defined_high = 10},
    {PANEL("7e", "Cross-attention over a0", CROSS, A0, "a0", over_a0),
     .grid = {90, 0.01, 0.01, NULL}, LAB_COLUMNS_OF(columns_a0), .defined_low = 0,
     .defined_high = 0.1},
};
