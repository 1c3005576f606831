/*
 * labs/separation/panels.c: the panels of the separation experiments. Figures 3, 4, 5 and 7 as the paper draws them; the
 * same axes within the theorems' premises ("-inside"); each theorem and each lemma by itself.
 */
#include "labs/separation/lab.h"

#include "labs/declare.h"

/* ---- columns ------------------------------------------------------------------------------------- */

/* F > 0 is the plain fact; that three of them are to be rare is what success says. */
#define COLUMNS(X_LABEL, SUCCESS, DETAIL)                                                          \
    {                                                                                              \
        {"x", X_LABEL, LAB_HIDDEN, 0}, {"success", SUCCESS, LAB_LINE, 0},                          \
            {"low", "95% interval", LAB_LOW, 0}, {"high", "95% interval", LAB_HIGH, 0},            \
            {"fexp1", "F_exp(D1) > 0", DETAIL, 0}, {"flin1", "F_lin(D1) > 0", DETAIL, 0},          \
            {"fexp0", "F_exp(D0) > 0", DETAIL, 0}, {"flin0", "F_lin(D0) > 0", DETAIL, 0},          \
            {"formula", "by formula, for many tokens", LAB_BOUND, 0},                              \
            {"trials", "trials", LAB_HIDDEN, 0},                                                   \
            {"close", "trials with a decision that rounding can turn", LAB_HIDDEN, 1},             \
            {"degenerate", "trials with a normaliser near 0", LAB_HIDDEN, 1},                      \
    }
#define TRIALS(X_LABEL) COLUMNS(X_LABEL, "success", LAB_FAINT)

static const lab_column_t columns_n[SEPARATION_COLUMNS] = TRIALS("tokens n");
static const lab_column_t columns_d[SEPARATION_COLUMNS] = TRIALS("dimension d");
static const lab_column_t columns_m[SEPARATION_COLUMNS] = TRIALS("width m");
static const lab_column_t columns_a1[SEPARATION_COLUMNS] = TRIALS("a1");
static const lab_column_t columns_a0[SEPARATION_COLUMNS] = TRIALS("a0");
static const lab_column_t columns_c[SEPARATION_COLUMNS] = TRIALS("c");
static const lab_column_t columns_decided[SEPARATION_COLUMNS] =
    COLUMNS("tokens n", "trials as the statement says", LAB_HIDDEN);

#define ENTRIES(...)                                                                               \
    {                                                                                              \
        {"x", "tokens n", LAB_HIDDEN, 0}, __VA_ARGS__,                                             \
            {"rounding", "what float's rounding can add", LAB_HIDDEN, 0},                          \
    }
#define ENTRY(NAME, LABEL)                                                                         \
    { NAME, LABEL, LAB_LINE, 0 }
static const lab_column_t columns_weights[SEPARATION_ENTRY_COLUMNS] =
    ENTRIES(ENTRY("u_mark", "u: mark, mark"), ENTRY("u_mark_other", "u: mark, others"),
            ENTRY("u_other_mark", "u: others, mark"), ENTRY("u_other", "u: others, others"),
            ENTRY("f_mark", "f: mark, mark"), ENTRY("f_mark_other", "f: mark, others"),
            ENTRY("f_other_mark", "f: others, mark"), ENTRY("f_other", "f: others, others"));
static const lab_column_t columns_outputs[SEPARATION_ENTRY_COLUMNS] = ENTRIES(
    ENTRY("mark_first", "mark: column 1"), ENTRY("mark_own", "mark: its block"),
    ENTRY("mark_rest", "mark: other blocks"), ENTRY("mark_last", "mark: column d"),
    ENTRY("other_first", "others: column 1"), ENTRY("other_own", "others: the mark's block"),
    ENTRY("other_rest", "others: other blocks"), ENTRY("other_last", "others: column d"));

/* ---- settings ------------------------------------------------------------------------------------ */

static const double self_d[] = {4, 6, 10, 18, 34, 66};
static const double cross_d[] = {2, 3, 5, 6, 9, 11, 21, 26, 41, 51};

static const lab_fixed_t regression_a[] = {{SEPARATION_NET, SEPARATION_REGRESSION},
                                           {SEPARATION_TRIALS, 1000}};
static const lab_fixed_t regression_b[] = {
    {SEPARATION_NET, SEPARATION_REGRESSION}, {SEPARATION_TRIALS, 1000}, {SEPARATION_N, 1000}};

#define SELF_FIXED(NAME, NET)                                                                      \
    static const lab_fixed_t NAME##_a[] = {                                                        \
        {SEPARATION_NET, NET}, {SEPARATION_D, 12}, {SEPARATION_B, 0.2}};                           \
    static const lab_fixed_t NAME##_b[] = {                                                        \
        {SEPARATION_NET, NET}, {SEPARATION_N, 256}, {SEPARATION_B, 0.2}};                          \
    static const lab_fixed_t NAME[] = {                                                            \
        {SEPARATION_NET, NET}, {SEPARATION_N, 200}, {SEPARATION_D, 22}, {SEPARATION_B, 0.2}};
SELF_FIXED(self, SEPARATION_SELF)
SELF_FIXED(ones, SEPARATION_SELF_ONES)

#define CROSS_FIXED(NAME, ...)                                                                     \
    static const lab_fixed_t NAME[] = {{SEPARATION_NET, SEPARATION_CROSS}, __VA_ARGS__}
CROSS_FIXED(over_n, {SEPARATION_A1, 3}, {SEPARATION_D, 11});
CROSS_FIXED(over_d, {SEPARATION_A1, 3}, {SEPARATION_N, 200});
CROSS_FIXED(over_m, {SEPARATION_A1, 3}, {SEPARATION_N, 200}, {SEPARATION_D, 11});
CROSS_FIXED(over_a1, {SEPARATION_N, 200}, {SEPARATION_D, 12});
CROSS_FIXED(over_a0, {SEPARATION_A1, 3}, {SEPARATION_N, 200}, {SEPARATION_D, 12});

/* Within the premises. X = I: b = sqrt(1 - c^2) = 0.19 is below 0.2. */
#define INSIDE(NAME, NET, FACTOR, ...)                                                             \
    static const lab_fixed_t NAME[] = {{SEPARATION_NET, NET},                                      \
                                       {SEPARATION_FACTOR, FACTOR},                                \
                                       {SEPARATION_ROWS, 1},                                       \
                                       {SEPARATION_TRIALS, 2000},                                  \
                                       __VA_ARGS__}
#define NARROW_B                                                                                   \
    { SEPARATION_C, 0.9817840903172143 }
static const lab_fixed_t regression_inside[] = {
    {SEPARATION_NET, SEPARATION_REGRESSION}, {SEPARATION_FACTOR, 1.5}, {SEPARATION_TRIALS, 2000}};
static const lab_fixed_t regression_inside_m[] = {
    {SEPARATION_NET, SEPARATION_REGRESSION}, {SEPARATION_N, 1000}, {SEPARATION_TRIALS, 2000}};
INSIDE(self_inside_n, SEPARATION_SELF, 3.5, NARROW_B, {SEPARATION_D, 66});
INSIDE(self_inside_d, SEPARATION_SELF, 3.5, NARROW_B, {SEPARATION_N, 512});
INSIDE(self_inside, SEPARATION_SELF, 3.5, NARROW_B, {SEPARATION_D, 66}, {SEPARATION_N, 1024});
INSIDE(self_inside_a1, SEPARATION_SELF, 3.5, NARROW_B, {SEPARATION_D, 66}, {SEPARATION_N, 2048});
INSIDE(ones_inside_n, SEPARATION_SELF_ONES, 3.5, {SEPARATION_D, 66});
INSIDE(ones_inside_d, SEPARATION_SELF_ONES, 3.5, {SEPARATION_N, 512});
INSIDE(ones_inside, SEPARATION_SELF_ONES, 3.5, {SEPARATION_D, 66}, {SEPARATION_N, 1024});
INSIDE(ones_inside_c, SEPARATION_SELF_ONES, 3.5, {SEPARATION_D, 130}, {SEPARATION_N, 1024});
INSIDE(cross_inside_n, SEPARATION_CROSS, 3.5, {SEPARATION_A1, 3}, {SEPARATION_D, 65});
INSIDE(cross_inside_d, SEPARATION_CROSS, 3.5, {SEPARATION_A1, 3}, {SEPARATION_N, 512});
INSIDE(cross_inside, SEPARATION_CROSS, 3.5, {SEPARATION_A1, 3}, {SEPARATION_D, 65},
       {SEPARATION_N, 1024});
INSIDE(cross_inside_a1, SEPARATION_CROSS, 3.5, {SEPARATION_D, 65}, {SEPARATION_N, 1024});

static const double tokens[] = {256, 512, 1024, 2048}; /* 64 t */
static const double regression_tokens[] = {500, 1000, 2000, 4000, 8000};
static const double blocks_d[] = {66, 130, 258}, cross_blocks_d[] = {17, 33, 65, 129, 257};
static const double regression_m[] = {18, 20, 30, 50, 100}, wide_m[] = {41, 48, 56, 64, 72, 80};
static const double self_a1[] = {1, 1.2, 1.5, 2, 2.5, 3}, ones_a1[] = {0.7, 1, 1.5, 2, 2.5, 3};
static const double cross_a1[] = {1.05, 1.2, 1.5, 2, 2.5, 3};
static const double small_a0[] = {0.01, 0.03, 0.05, 0.07, 0.09};
static const double ones_c[] = {0.7, 0.75, 0.8, 0.85, 0.9};

/* Parameters that a network does not have; delta, which m need not follow, is in every verdict. */
enum {
    NOT_SELF = 0,
    NOT_ONES = 0,
    NOT_CROSS = 1 << SEPARATION_B | 1 << SEPARATION_C,
    NOT_REGRESSION = NOT_CROSS | 1 << SEPARATION_D | 1 << SEPARATION_A0 | 1 << SEPARATION_A1 |
                     1 << SEPARATION_ROWS,
    /* m is the axis, whatever it would follow */
    OVER_M = 1 << SEPARATION_FACTOR,
    OVER_N = 0,
    OVER_D = 0,
    OVER_A1 = 0,
    OVER_A0 = 0,
    OVER_C = 0,
    NOT_LEMMA = 1 << SEPARATION_M | 1 << SEPARATION_DELTA | 1 << SEPARATION_TRIALS |
                1 << SEPARATION_ROWS | 1 << SEPARATION_FACTOR,
};

/* ---- figures as the paper draws them --------------------------------------------------------------- */

#define DRAWS(FIGURE, NET)                                                                         \
    "Figure " FIGURE " draws how often " NET                                                       \
    " with softmax tells D1 from D0 and with linear attention does not. It names no level that "   \
    "the curve reaches."
#define PLAIN_FIGURE                                                                               \
    "How often softmax attention notices one marked token that linear attention averages away, "   \
    "at the settings of the paper's figure."
#define FIGURE_REGRESSION DRAWS("3", "regression")
#define FIGURE_SELF DRAWS("4", "self-attention")
#define FIGURE_ONES DRAWS("5", "self-attention")
#define FIGURE_CROSS DRAWS("7", "cross-attention")
#define NO_CRITERION                                                                               \
    "None: no theorem is about so few tokens and signs. Dashed: what the signs alone make of it "  \
    "for many tokens."
#define DRAWN_REGRESSION                                                                           \
    "At the figure's own settings: with m = floor(log n) columns of signs all of them miss D1 "    \
    "with probability (1/2)^m."
#define DRAWN                                                                                      \
    "At the figure's own settings: m is too small for the theorems, as all columns of signs miss " \
    "D1 with probability (3/4)^m, and d is small, so that the signs of few blocks pass the "       \
    "threshold by themselves."
#define DRAWN_SELF DRAWN " b^2 + c^2 is not 1, as Theorem E.4 asks."
#define DRAWN_ONES DRAWN
#define DRAWN_CROSS DRAWN
#define OURS                                                                                       \
    "The dashed curve is exact for many tokens: the chance that a column of signs fires in D1 "    \
    "and "                                                                                         \
    "none raises an alarm by itself."

#define FIGURE(ID, TITLE, NET, X, NAME, FIXED)                                                     \
    .id = (ID), .title = (TITLE), .plain = PLAIN_FIGURE, .claim = FIGURE_##NET,                    \
    .states = "Figure " ID, .where = DRAWN_##NET, .criterion = NO_CRITERION, .ours = OURS,         \
    .flags = LAB_ILLUSTRATION, .idle = NOT_##NET | OVER_##X, .x_param = SEPARATION_##X,            \
    .x = {NAME, "", 0, 0, 0}, .y = {"ratio of trials", "", 0, 0, 1}, .fixed = (FIXED),             \
    .fixed_count = LAB_COUNT(FIXED)

/* a n, b d, c m, d a1, e a0, f c, as section 7.2's text orders them. */
#define SELF_FIGURES(FIGURE_ID, KIND, NET, FIXED)                                                  \
    {FIGURE(FIGURE_ID "a", "Self-attention, " KIND ", over n", NET, N, "n", FIXED##_a),            \
     .grid = {81, 200, 10, NULL}, LAB_COLUMNS_OF(columns_n)},                                      \
        {FIGURE(FIGURE_ID "b", "Self-attention, " KIND ", over d", NET, D, "d", FIXED##_b),        \
         .grid = LAB_GRID(self_d), LAB_COLUMNS_OF(columns_d)},                                     \
        {FIGURE(FIGURE_ID "c", "Self-attention, " KIND ", over m", NET, M, "m", FIXED),            \
         .grid = {80, 1, 1, NULL}, LAB_COLUMNS_OF(columns_m)},                                     \
        {FIGURE(FIGURE_ID "d", "Self-attention, " KIND ", over a1", NET, A1, "a1", FIXED),         \
         .grid = {81, 0.1, 0.036, NULL}, LAB_COLUMNS_OF(columns_a1)},                              \
        {FIGURE(FIGURE_ID "e", "Self-attention, " KIND ", over a0", NET, A0, "a0", FIXED),         \
         .grid = {80, 0.01, 0.01, NULL}, LAB_COLUMNS_OF(columns_a0)},                              \
    {                                                                                              \
        FIGURE(FIGURE_ID "f", "Self-attention, " KIND ", over c", NET, C, "c", FIXED),             \
            .grid = {81, 0.5, 0.005, NULL}, LAB_COLUMNS_OF(columns_c)                              \
    }

/* ---- the same within the premises ------------------------------------------------------------------ */

#define TELLS(NET, WHERE)                                                                          \
    "For n large enough, " NET " with softmax tells D1 from D0 and with linear attention does "    \
    "not, with probability 1 - delta/poly(n) (" WHERE ")."
#define CLAIM_REGRESSION TELLS("regression", "Lemmas 5.1 to 5.4")
#define CLAIM_SELF                                                                                 \
    TELLS("self-attention with X = I", "section E: Theorem E.4 for F_exp(D1), other proofs "       \
                                       "omitted")
#define CLAIM_ONES TELLS("self-attention with X = ones", "Theorems 1.1 and 6.2")
#define CLAIM_CROSS TELLS("cross-attention", "Theorem 1.2")
#define PLAIN_INSIDE                                                                               \
    "Softmax attention notices one marked token; linear attention averages it away."
#define STATES_REGRESSION "Lemma 5.1; Lemma 5.2; Lemma 5.3; Lemma 5.4"
#define STATES_SELF "Section E"
#define STATES_ONES "Theorem 1.1; Theorem 6.2"
#define STATES_CROSS "Theorem 1.2"

#define POINTWISE                                                                                  \
    "Each point within the premises: a 95% interval of its trials at 1 - delta or above counts "   \
    "for it, one below against it. Points are not pooled."
#define WIDE                                                                                       \
    "m = 3.5 log(n/delta) or more, for which all columns of signs miss D1 with probability "       \
    "(3/4)^m < delta/n"
#define MANY_BLOCKS                                                                                \
    "; d of 66 or more, as the signs of fewer blocks pass the threshold by themselves."
#define WHERE_REGRESSION                                                                           \
    "Where m = 1.5 log(n/delta) or more, for which all columns of signs miss D1 with probability " \
    "(1/2)^m < delta/n; n of 500 or more, as the signs of fewer tokens pass 1/4 by themselves."
#define WHERE_SELF                                                                                 \
    "Where a0 < 0.1, a1 >= 1, b^2 + c^2 = 1, b < 0.2 and n = t (d - 2); " WIDE MANY_BLOCKS
#define WHERE_ONES                                                                                 \
    "Where a0 < 0.1, a1 >= 0.7, b + c = 1, b and c >= 0.1 and n = t (d - 2); " WIDE MANY_BLOCKS
#define WHERE_CROSS                                                                                \
    "Where a0 < 0.1, a1 > 1 and n = t (d - 1); " WIDE                                              \
    "; d of 17 or more, as the signs of fewer blocks pass the threshold by themselves."

#define JUDGED(ID, TITLE, NET, X, NAME, GRID, FIXED)                                               \
    {                                                                                              \
        .id = ID "-inside", .title = TITLE ", within the premises", .plain = PLAIN_INSIDE,         \
        .claim = CLAIM_##NET, .states = STATES_##NET, .where = WHERE_##NET,                        \
        .criterion = POINTWISE, .idle = NOT_##NET | OVER_##X, .x_param = SEPARATION_##X,           \
        .x = {NAME, "", 0, 0, 0}, .y = {"ratio of trials", "", 0, 0, 1}, .fixed = (FIXED),         \
        .fixed_count = LAB_COUNT(FIXED), .grid = LAB_GRID(GRID)
#define JUDGED_SELF(FIGURE_ID, KIND, NET, FIXED, A1_FIXED, A1S)                                    \
    JUDGED(FIGURE_ID "a", "Self-attention, " KIND ", over n", NET, N, "n", tokens, FIXED##_n),     \
        LAB_COLUMNS_OF(columns_n)                                                                  \
    }                                                                                              \
    , JUDGED(FIGURE_ID "b", "Self-attention, " KIND ", over d", NET, D, "d", blocks_d, FIXED##_d), \
        LAB_COLUMNS_OF(columns_d)                                                                  \
    }                                                                                              \
    , JUDGED(FIGURE_ID "c", "Self-attention, " KIND ", over m", NET, M, "m", wide_m, FIXED),       \
        LAB_COLUMNS_OF(columns_m)                                                                  \
    }                                                                                              \
    , JUDGED(FIGURE_ID "d", "Self-attention, " KIND ", over a1", NET, A1, "a1", A1S, A1_FIXED),    \
        LAB_COLUMNS_OF(columns_a1)                                                                 \
    }                                                                                              \
    , JUDGED(FIGURE_ID "e", "Self-attention, " KIND ", over a0", NET, A0, "a0", small_a0, FIXED),  \
        LAB_COLUMNS_OF(columns_a0)                                                                 \
    }

/* ---- theorems by themselves ------------------------------------------------------------------------ */

#define PLAIN_EXP_1 "With a mark in the data, softmax attention notices it."
#define PLAIN_LIN_1 "With a mark in the data, linear attention does not notice it."
#define PLAIN_EXP_0 "Without a mark, softmax attention raises no false alarm."
#define PLAIN_LIN_0 "Without a mark, linear attention raises no false alarm."
#define DECIDED(ID, TITLE, PLAIN, STATES, CLAIM, NET, GRID, FIXED)                                 \
    {                                                                                              \
        .id = (ID), .title = (TITLE), .plain = (PLAIN), .claim = (CLAIM), .states = (STATES),      \
        .where = WHERE_##NET, .criterion = POINTWISE, .idle = NOT_##NET, .x_param = SEPARATION_N,  \
        .x = {"n", "", 1, 0, 0}, .y = {"ratio of trials", "", 0, 0, 1}, .fixed = (FIXED),          \
        .fixed_count = LAB_COUNT(FIXED), .grid = LAB_GRID(GRID), LAB_COLUMNS_OF(columns_decided),  \
    }
#define LEMMA_5(NUMBER, DECISION, DATA, VALUE)                                                     \
    DECIDED("lemma-5-" NUMBER, "Lemma 5." NUMBER ": " VALUE " for " DATA, PLAIN_##DECISION,        \
            "Lemma 5." NUMBER,                                                                     \
            "Regression: for data from " DATA ", " VALUE " with probability 1 - delta/poly(n) "    \
            "or more (Lemma 5." NUMBER ").",                                                       \
            REGRESSION, regression_tokens, regression_inside)
#define THEOREM(ID, NUMBER, DECISION, SIGNS, KIND, DATA, VALUE, D, NET, FIXED)                     \
    DECIDED("theorem-" ID, "Theorem " NUMBER ": " VALUE " for " DATA, PLAIN_##DECISION,            \
            "Theorem " NUMBER "; " SIGNS,                                                          \
            KIND ": for data from " DATA " and d from omega(" D ") to n, " VALUE                   \
                 " with probability 1 - delta/poly(n) (Theorem " NUMBER ").",                      \
            NET, tokens, FIXED)
#define ONES(ID, NUMBER, DECISION, SIGNS, DATA, VALUE, D)                                          \
    THEOREM(ID, NUMBER, DECISION, SIGNS, "Self-attention, X = ones", DATA, VALUE, D, ONES,         \
            ones_inside_n)
#define CROSS(ID, NUMBER, DECISION, SIGNS, DATA, VALUE, D)                                         \
    THEOREM(ID, NUMBER, DECISION, SIGNS, "Cross-attention", DATA, VALUE, D, CROSS, cross_inside_n)

/* ---- lemmas about entries -------------------------------------------------------------------------- */

#define PARTS                                                                                      \
    "Each part at each n: the largest share of what it allows counts for it up to 1 and what "     \
    "float's rounding can add, and against it above; an equality counts both ways."
#define NOTHING_RANDOM "At n = 64 t with no randomness: such entries can be decided at every n."
#define PLAIN_WEIGHTS "How much weight the mark and all other tokens get, entry by entry."
#define PLAIN_OUTPUTS "What the rows of the output hold, entry by entry."
#define LEMMA(ID, NUMBER, PLAIN, ENTRIES, DATA, KIND, NET, FIXED, COLUMNS, OTHER, PRINTED)         \
    {                                                                                              \
        .id = "lemma-" ID, .plain = (PLAIN),                                                       \
        .title = "Lemma " NUMBER ": " ENTRIES ", " DATA ", " KIND,                                 \
        .claim = "What Lemma " NUMBER " says of the entries of " ENTRIES " for data from " DATA    \
                 ", " KIND ".",                                                                    \
        .states = "Lemma " NUMBER, .where = NOTHING_RANDOM PRINTED, .criterion = PARTS,            \
        .idle = NOT_##NET | NOT_LEMMA | 1 << SEPARATION_##OTHER, .x_param = SEPARATION_N,          \
        .x = {"n", "", 1, 0, 0}, .y = {"part of what is allowed, largest", "", 1, 0, 0},           \
        .fixed = (FIXED), .fixed_count = LAB_COUNT(FIXED), .grid = LAB_GRID(tokens),               \
        LAB_COLUMNS_OF(COLUMNS),                                                                   \
    }
#define WEIGHTS(ID, NUMBER, DATA, KIND, NET, FIXED, OTHER, PRINTED)                                \
    LEMMA(ID, NUMBER, PLAIN_WEIGHTS, "u and f", DATA, KIND, NET, FIXED, columns_weights, OTHER,    \
          PRINTED)
#define OUTPUTS(ID, NUMBER, DATA, KIND, NET, FIXED, OTHER, PRINTED)                                \
    LEMMA(ID, NUMBER, PLAIN_OUTPUTS, "c", DATA, KIND, NET, FIXED, columns_outputs, OTHER, PRINTED)
#define SOFTMAX_ONES "softmax, X = ones"
#define LINEAR_ONES "linear, X = ones"
#define SOFTMAX_CROSS "softmax, cross-attention"
#define LINEAR_CROSS "linear, cross-attention"

const lab_panel_t separation_panels[SEPARATION_PANELS] =
    {{FIGURE("3a", "Softmax regression over n", REGRESSION, N, "n", regression_a),
      .grid = {191, 100, 10, NULL}, LAB_COLUMNS_OF(columns_n)},
     {FIGURE("3b", "Softmax regression over m", REGRESSION, M, "m", regression_b),
      .grid = {100, 1, 1, NULL}, LAB_COLUMNS_OF(columns_m)},
     SELF_FIGURES("4", "X = I", SELF, self),
     SELF_FIGURES("5", "X = ones", ONES, ones),
     {FIGURE("7a", "Cross-attention over n", CROSS, N, "n", over_n), .grid = {81, 200, 10, NULL},
      LAB_COLUMNS_OF(columns_n)},
     {FIGURE("7b", "Cross-attention over d", CROSS, D, "d", over_d), .grid = LAB_GRID(cross_d),
      LAB_COLUMNS_OF(columns_d)},
     {FIGURE("7c", "Cross-attention over m", CROSS, M, "m", over_m), .grid = {80, 1, 1, NULL},
      LAB_COLUMNS_OF(columns_m)},
     {FIGURE("7d", "Cross-attention over a1", CROSS, A1, "a1", over_a1),
      .grid = {81, 0.1, 0.036, NULL}, LAB_COLUMNS_OF(columns_a1)},
     {FIGURE("7e", "Cross-attention over a0", CROSS, A0, "a0", over_a0),
      .grid = {90, 0.01, 0.01, NULL}, LAB_COLUMNS_OF(columns_a0)},

     JUDGED("3a", "Softmax regression over n", REGRESSION, N, "n", regression_tokens,
            regression_inside),
     LAB_COLUMNS_OF(columns_n)},
                  JUDGED("3b", "Softmax regression over m", REGRESSION, M, "m", regression_m,
                         regression_inside_m),
                  LAB_COLUMNS_OF(columns_m)
}
, JUDGED_SELF("4", "X = I", SELF, self_inside, self_inside_a1, self_a1),
    JUDGED_SELF("5", "X = ones", ONES, ones_inside, ones_inside, ones_a1),
    JUDGED("5f", "Self-attention, X = ones, over c", ONES, C, "c", ones_c, ones_inside_c),
    LAB_COLUMNS_OF(columns_c)
}
, JUDGED("7a", "Cross-attention over n", CROSS, N, "n", tokens, cross_inside_n),
    LAB_COLUMNS_OF(columns_n)
}
, JUDGED("7b", "Cross-attention over d", CROSS, D, "d", cross_blocks_d, cross_inside_d),
    LAB_COLUMNS_OF(columns_d)
}
, JUDGED("7c", "Cross-attention over m", CROSS, M, "m", wide_m, cross_inside),
    LAB_COLUMNS_OF(columns_m)
}
, JUDGED("7d", "Cross-attention over a1", CROSS, A1, "a1", cross_a1, cross_inside_a1),
    LAB_COLUMNS_OF(columns_a1)
}
, JUDGED("7e", "Cross-attention over a0", CROSS, A0, "a0", small_a0, cross_inside),
    LAB_COLUMNS_OF(columns_a0)
}
,

    LEMMA_5("1", EXP_0, "D0", "F_exp = 0"), LEMMA_5("2", EXP_1, "D1", "F_exp > 0"),
    LEMMA_5("3", LIN_0, "D0", "F_lin = 0"), LEMMA_5("4", LIN_1, "D1", "F_lin = 0"),
    ONES("d5", "D.5", EXP_1, "Lemma D.4 (1)", "D1", "F_exp > 0", "n^0.02"),
    ONES("d9", "D.9", EXP_0, "Lemma D.8", "D0", "F_exp = 0", "n^(4 a0 + 0.02)"),
    ONES("d13", "D.13", LIN_1, "Lemma D.12", "D1", "F_lin = 0", "n^0.02"),
    ONES("d17", "D.17", LIN_0, "Lemma D.16", "D0", "F_lin = 0", "n^0.02"),
    THEOREM("e4", "E.4", EXP_1, "Lemma E.3", "Self-attention, X = I", "D1", "F_exp > 0",
            "n^(2 b^2 + 0.02)", SELF, self_inside_n),
    CROSS("f5", "F.5", EXP_1, "Lemma F.4", "D1", "F_exp > 0", "n^0.02"),
    CROSS("f9", "F.9", EXP_0, "Lemma F.8", "D0", "F_exp = 0", "n^(2 a0 + 0.02)"),
    CROSS("f13", "F.13", LIN_1, "Lemma F.12", "D1", "F_lin = 0", "n^0.02"),
    CROSS("f17", "F.17", LIN_0, "Lemma F.16", "D0", "F_lin = 0", "n^0.02"),

    WEIGHTS("d2", "D.2", "D1", SOFTMAX_ONES, ONES, ones_inside_n, A0, ""),
    OUTPUTS(
        "d3", "D.3", "D1", SOFTMAX_ONES, ONES, ones_inside_n, A0,
        " Rows beside the mark's see the mark, too, which its part 5 leaves out; Theorem D.5 does "
        "not need that part."),
    WEIGHTS("d6", "D.6", "D0", SOFTMAX_ONES, ONES, ones_inside_n, A1, " It prints D1."),
    OUTPUTS("d7", "D.7", "D0", SOFTMAX_ONES, ONES, ones_inside_n, A1, ""),
    WEIGHTS("d10", "D.10", "D1", LINEAR_ONES, ONES, ones_inside_n, A0, ""),
    OUTPUTS("d11", "D.11", "D1", LINEAR_ONES, ONES, ones_inside_n, A0, ""),
    WEIGHTS("d14", "D.14", "D0", LINEAR_ONES, ONES, ones_inside_n, A1, " It prints X = I."),
    OUTPUTS("d15", "D.15", "D0", LINEAR_ONES, ONES, ones_inside_n, A1, ""),
    WEIGHTS("e1", "E.1", "D1", "softmax, X = I", SELF, self_inside_n, A0,
            " Its part 1a is judged as proved, n^(a1^2 + b^2 + c^2); it prints n^((1 + a1)^2)."),
    OUTPUTS("e2", "E.2", "D1", "softmax, X = I", SELF, self_inside_n, A0, " It prints X = ones."),
    WEIGHTS("f2", "F.2", "D1", SOFTMAX_CROSS, CROSS, cross_inside_n, A0,
            " Its part 4 prints j0 = j2."),
    OUTPUTS("f3", "F.3", "D1", SOFTMAX_CROSS, CROSS, cross_inside_n, A0, ""),
    WEIGHTS("f6", "F.6", "D0", SOFTMAX_CROSS, CROSS, cross_inside_n, A1, " It prints D1."),
    OUTPUTS("f7", "F.7", "D0", SOFTMAX_CROSS, CROSS, cross_inside_n, A1,
            " It prints rows of j3 for those of j2."),
    WEIGHTS("f10", "F.10", "D1", LINEAR_CROSS, CROSS, cross_inside_n, A0, ""),
    OUTPUTS("f11", "F.11", "D1", LINEAR_CROSS, CROSS, cross_inside_n, A0, " It prints D0."),
    WEIGHTS("f14", "F.14", "D0", LINEAR_CROSS, CROSS, cross_inside_n, A1, " It prints D1."),
    OUTPUTS("f15", "F.15", "D0", LINEAR_CROSS, CROSS, cross_inside_n, A1,
            " It prints n = t (d - 2)."),
}
;

/* ---- what panels are beside that --------------------------------------------------------------------- */

enum { FIRST_THEOREM = SEPARATION_FIGURES + SEPARATION_INSIDE };
enum { FIRST_LEMMA = FIRST_THEOREM + SEPARATION_THEOREMS };

#define OF_WEIGHTS                                                                                 \
    { "1a", "1b", "2a", "2b", "3a", "3b", "4a", "4b" }
#define OF_OUTPUTS                                                                                 \
    { "1", "2", "2", "3", "4", "5", "5", "6" }
#define OF_CROSS                                                                                   \
    { "1", "2", "2", NULL, "3", "4", "4", NULL }

const separation_panel_t *separation_panel(const lab_panel_t *panel) {
    static const separation_panel_t trials = {.decision = SEPARATION_ALL};
    static const separation_panel_t theorems[SEPARATION_THEOREMS] = {
        {.decision = SEPARATION_EXP_0}, {.decision = SEPARATION_EXP_1},
        {.decision = SEPARATION_LIN_0}, {.decision = SEPARATION_LIN_1},
        {.decision = SEPARATION_EXP_1}, {.decision = SEPARATION_EXP_0},
        {.decision = SEPARATION_LIN_1}, {.decision = SEPARATION_LIN_0},
        {.decision = SEPARATION_EXP_1}, {.decision = SEPARATION_EXP_1},
        {.decision = SEPARATION_EXP_0}, {.decision = SEPARATION_LIN_1},
        {.decision = SEPARATION_LIN_0},
    };
    static const separation_panel_t lemmas[SEPARATION_LEMMAS] = {
        {.lemma = {1, 0, 0}, .parts = OF_WEIGHTS},
        {.lemma = {1, 0, 1}, .parts = OF_OUTPUTS},
        {.lemma = {0, 0, 0}, .parts = OF_WEIGHTS},
        {.lemma = {0, 0, 1}, .parts = OF_OUTPUTS},
        {.lemma = {1, 1, 0}, .parts = OF_WEIGHTS},
        {.lemma = {1, 1, 1}, .parts = OF_OUTPUTS},
        {.lemma = {0, 1, 0}, .parts = OF_WEIGHTS},
        {.lemma = {0, 1, 1}, .parts = OF_OUTPUTS},
        {.lemma = {1, 0, 0}, .parts = {"1a", "1b", "2", "2", "3a", "3b", "4", "4"}},
        {.lemma = {1, 0, 1}, .parts = OF_OUTPUTS},
        {.lemma = {1, 0, 0}, .parts = OF_WEIGHTS},
        {.lemma = {1, 0, 1}, .parts = OF_CROSS},
        {.lemma = {0, 0, 0}, .parts = OF_WEIGHTS},
        {.lemma = {0, 0, 1}, .parts = {"1", "2", "2", NULL, "4", "5", "5", NULL}},
        {.lemma = {1, 1, 0}, .parts = {"1", "2", "2", "2", "3", "4", "5", "5"}},
        {.lemma = {1, 1, 1}, .parts = OF_CROSS},
        {.lemma = {0, 1, 0}, .parts = {"1", "2", "2", "2", "3", "4", "5", "5"}},
        {.lemma = {0, 1, 1}, .parts = OF_CROSS},
    };
    const ptrdiff_t index = panel - separation_panels;
    if (index >= FIRST_LEMMA) return &lemmas[index - FIRST_LEMMA];
    return index >= FIRST_THEOREM ? &theorems[index - FIRST_THEOREM] : &trials;
}

int separation_is_lemma(const lab_panel_t *panel) {
    return panel - separation_panels >= FIRST_LEMMA;
}
