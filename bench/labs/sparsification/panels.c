/* labs/sparsification/panels.c: the panels of the sparsification experiment, their columns and claims. */
#include "labs/declare.h"
#include "labs/sparsification/lab.h"

/* ---- panels --------------------------------------------------------------------------------------- */

/* Columns come in groups with one for each of the SKETCHES methods. */
#define EACH(NAME, LABEL, MARK)                                                                    \
    {"gaussian" NAME, "gaussian" LABEL, MARK, 0}, {"ams" NAME, "ams" LABEL, MARK, 0},              \
        {"osnap" NAME, "osnap" LABEL, MARK, 0}, {"leverage" NAME, "leverage" LABEL, MARK, 0}, {    \
        "srht" NAME, "srht" LABEL, MARK, 0                                                         \
    }

const lab_column_t sparsification_error_columns[ERROR_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    EACH("", "", LAB_LINE),
    [BOUND] = {"bound", "12 r, where the distortion is below 1", LAB_BOUND, 0},
    [PROOF] = {"proof", "largest 6 r (A + A')_ij, of the proof", LAB_BOUND, 0},
    EACH("_eps", ": spectral distortion, largest", LAB_HIDDEN),
    EACH("_within", ": sketches of distortion below 1", LAB_HIDDEN),
    [VIOLATIONS] = {"violations", "of those, errors above 12 r", LAB_HIDDEN, 0},
    [SHARE] = {"share", "of those, largest part of 6 r (A + A')_ij", LAB_HIDDEN, 0},
};

/* A rate and its band stand side by side: 3 columns a method. */
#define RATE_OF(NAME)                                                                              \
    {NAME, NAME, LAB_LINE, 0}, {NAME "_low", "95% interval", LAB_LOW, 0}, {                        \
        NAME "_high", "95% interval", LAB_HIGH, 0                                                  \
    }
const lab_column_t sparsification_rate_columns[RATE_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    RATE_OF("gaussian"),
    RATE_OF("ams"),
    RATE_OF("osnap"),
    RATE_OF("leverage"),
    RATE_OF("srht"),
    [DELTA_LINE] = {"delta", "delta", LAB_BOUND, 0},
    [SIZES] = {"size", "sketch size m", LAB_HIDDEN, 0},
    [ASKED] = {"asked", "sketch size that the bound asks for", LAB_HIDDEN, 0},
};

const lab_column_t sparsification_fixed_columns[FIXED_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    [FIXED_DISTORTION] = {"deterministic", "deterministic", LAB_LINE, 0},
    [DRAWN_DISTORTION] = {"leverage", "leverage sampling", LAB_LINE, 0},
    [FIXED_BOUND] = {"bound", "2 sqrt q / (q + 1), q = m / n", LAB_BOUND, 0},
    [FIXED_ERROR] = {"error", "largest |A' - A|, deterministic", LAB_HIDDEN, 0},
    [DRAWN_ERROR] = {"leverage_error", "largest |A' - A|, leverage sampling", LAB_HIDDEN, 0},
    [FIXED_TWELVE] = {"twelve", "12 r", LAB_HIDDEN, 0},
    [FIXED_KEPT] = {"kept", "features with weight, most", LAB_HIDDEN, 0},
    [FIXED_ROUNDING] = {"rounding", "what reading logits in float can add", LAB_HIDDEN, 0},
};

const lab_column_t sparsification_time_columns[TIME_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    EACH("", ", measured", LAB_LINE),
    [NONZERO] = {"nonzero", "elements of X that are not 0", LAB_HIDDEN, 0},
};

const lab_column_t sparsification_csr_columns[CSR_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    EACH("", ", measured", LAB_LINE),
    {"approximate", "approximate scores, measured", LAB_LINE, 0},
    {"uniform", "uniform, measured", LAB_LINE, 0},
    [CSR_NONZERO] = {"nonzero", "elements of X that are not 0", LAB_HIDDEN, 0},
};

/* As sketching_names has them. */
#define EACH_SKETCHING(NAME, LABEL, MARK)                                                          \
    {"gaussian" NAME, "gaussian" LABEL, MARK, 0}, {"ams" NAME, "ams" LABEL, MARK, 0},              \
        {"osnap" NAME, "osnap" LABEL, MARK, 0}, {"leverage" NAME, "leverage" LABEL, MARK, 0},      \
        {"srht" NAME, "srht" LABEL, MARK, 0},                                                      \
        {"approximate" NAME, "approximate scores" LABEL, MARK, 0},                                 \
        {"uniform" NAME, "uniform" LABEL, MARK, 0}, {                                              \
        "deterministic" NAME, "deterministic" LABEL, MARK, 0                                       \
    }

const lab_column_t sparsification_least_columns[LEAST_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    EACH_SKETCHING("", "", LAB_LINE),
    EACH_SKETCHING("_narrow", ", d / 4", LAB_HIDDEN),
    [LEAST_LINE] = {"line", "n ln(10 n)", LAB_BOUND, 0},
};

const lab_column_t sparsification_lemma_columns[LEMMA_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    [LEMMA] = {"lemma_1", "Lemma 3.1: |B| of (1 + eps) r", LAB_LINE, 0},
    {"lemma_2", "Lemma 3.2: |exp A - exp B| of 6 r min", LAB_LINE, 0},
    {"lemma_3", "Lemma 3.3: sums of rows of 6 r min", LAB_LINE, 0},
    {"lemma_4", "Lemma 3.4: |A' - A| of 12 r", LAB_LINE, 0},
    [LEMMA_BOUND] = {"bound", "what the lemma allows", LAB_BOUND, 0},
    [LEMMA_WITHIN] = {"within", "sketches of distortion below 1", LAB_HIDDEN, 0},
    [LEMMA_ABOVE] = {"above", "of their four parts, those above 1", LAB_HIDDEN, 0},
};

const lab_column_t sparsification_work_columns[WORK_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    [WORK] = {"work", "deterministic, counted", LAB_LINE, 0},
    [WORK_BOUND] = {"bound", "sum of nnz(x_i)^2 + n^4 / eps^2 (Theorem 4.2, omega = 3)", LAB_BOUND,
                    0},
    [WORK_STEPS] = {"steps", "features that are added", LAB_HIDDEN, 0},
    [WORK_DISTORTION] = {"distortion", "distortion", LAB_HIDDEN, 0},
    [WORK_EPS] = {"eps", "eps", LAB_HIDDEN, 0},
};

static const double sizes[] = {8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 448};
static const double above_n[] = {9, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 448};
static const double small_sizes[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384};
static const double radii[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.099};
static const double deltas[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
static const double densities[] = {0.02, 0.05, 0.1, 0.2, 0.5, 1};
static const double features[] = {512, 1024, 2048, 4096, 8192, 16384};
static const double tokens[] = {4, 8, 12, 16, 24, 32, 48, 64};

static const double work_features[] = {1024, 2048, 4096, 8192, 16384};
static const double few_tokens[] = {4, 8, 16, 32};

static const lab_fixed_t many[] = {{TRIALS, 80}}, many_rare[] = {{TRIALS, 80}, {DELTA, 0.05}};
static const lab_fixed_t thousand[] = {{TRIALS, 1000}};
static const lab_fixed_t even[] = {{DIM, 2048}, {TRIALS, 20}, {DECAY, 0}};
static const lab_fixed_t spiked[] = {{DIM, 2048}, {TRIALS, 20}, {DECAY, 0}, {SPIKE, 30}};
static const lab_fixed_t thin[] = {{ROWS, 32}, {DENSITY, 0.2}, {SIZE, 64}};
static const lab_fixed_t thinner[] = {{ROWS, 32}, {DIM, 4096}, {SIZE, 64}};
static const lab_fixed_t wide[] = {{DIM, 4096}}, widest[] = {{DIM, 16384}};

/* ---- claims --------------------------------------------------------------------------------------- */

#define TWELVE_R                                                                                   \
    "Where a sketch has distortion below 1 and r < 0.1, no entry of the attention matrix moves "   \
    "by "                                                                                          \
    "more than 12 r (Lemmas 3.1 to 3.4)."
#define SMALL_R                                                                                    \
    "On random X with max |X X^T| = r < 0.1 and d >> n, for each sketch of distortion below 1."
#define ON_ONE_X "On a random X, n = 8 and d = 512, with independent sketches at each point."
#define BELOW_TWELVE_R                                                                             \
    "Each sketch of distortion below 1 counts for it where its largest error is at most 12 r, "    \
    "and "                                                                                         \
    "against it where not."
#define PROMISED(WHO, WHAT)                                                                        \
    WHO " at the size that the bound for eps and delta asks for, or more, has " WHAT               \
        " but for a part delta of the sketches"
#define SPECTRAL "a distortion of at most eps"
#define EACH_LOGIT "each logit within eps |x_i| |x_j|"
#define SQUARES "|S' - S|_F of at most eps |X|_F^2"
#define BELOW_DELTA(WHO)                                                                           \
    "Each rate of " WHO                                                                            \
    " at such a size: its 95% interval being at most delta counts for it, being "                  \
    "above delta against it, and holding delta neither way; other methods promise something else."
#define NNZ                                                                                        \
    "Sampling by approximate scores (Algorithms 1 and 2) takes time (nnz(X) + n^omega) "           \
    "poly(log(n / delta)) (Theorem 3.5): at fixed n at most linear in nnz(X)."
#define NNZ_OWN                                                                                    \
    "The plugin's methods take time at most linear in nnz(X) on dense X, but leverage over n, "    \
    "which needs n^2 d."
#define AT_MOST_LINEAR                                                                             \
    "Each method's exponent of time over nnz(X), but leverage's over n: surely at most 1.05 "      \
    "counts for it, surely above against it."
#define SAMPLING_AT_MOST_LINEAR                                                                    \
    "The exponent of approximate's time over nnz(X), and no other: surely at most 1.05 counts "    \
    "for it, however small, as the theorem bounds time from above; surely above against it."

/* ---- panels --------------------------------------------------------------------------------------- */

enum {
    NO_PROMISE = 1 << EPS | 1 << DELTA,
    NO_TIME = 1 << BUDGET,
    FOR_TIME = NO_PROMISE | 1 << TRIALS,
    ANY_SIZE = 1 << SIZE
};

#define ERRORS_OVER(ID, TITLE, X_PARAM, GRID, LABEL, UNIT)                                         \
    .plain = "A good sketch of the data changes no attention weight by much.", .id = (ID),         \
    .title = (TITLE), .claim = TWELVE_R, .states = "Lemma 3.4; Theorem 3.5", .where = SMALL_R,     \
    .criterion = BELOW_TWELVE_R, .x_param = (X_PARAM), .grid = LAB_GRID(GRID),                     \
    .x = {LABEL, UNIT, 1, 0, 0}, .y = {"largest |A' - A|", "", 1, 0, 0},                           \
    .idle = NO_PROMISE | NO_TIME, LAB_COLUMNS_OF(sparsification_error_columns)
#define RATES_OVER(ID, TITLE, CLAIM, WHO, X_PARAM, GRID, LABEL, UNIT, IDLE, FIXED)                 \
    .plain = "A sketch of the size that is asked for is good nearly always.", .id = (ID),          \
    .title = (TITLE), .claim = (CLAIM), .where = ON_ONE_X, .criterion = BELOW_DELTA(WHO),          \
    .x_param = (X_PARAM), .grid = LAB_GRID(GRID), .x = {LABEL, UNIT, 1, 0, 0},                     \
    .y = {"part of the sketches that fail", "", 0, 0, 1}, .fixed = (FIXED),                        \
    .fixed_count = LAB_COUNT(FIXED), .idle = (IDLE), LAB_COLUMNS_OF(sparsification_rate_columns)
#define OVER_DELTA(ID, TITLE, CLAIM, WHO)                                                          \
    RATES_OVER(ID, TITLE, CLAIM, WHO, DELTA, deltas, "delta", "", NO_TIME | ANY_SIZE, thousand)
#define OVER_SIZE(ID, TITLE, CLAIM, WHO, FIXED)                                                    \
    RATES_OVER(ID, TITLE, CLAIM, WHO, SIZE, small_sizes, "sketch size m", "features", NO_TIME,     \
               FIXED)
#define TIMES_OVER(ID, TITLE, X_PARAM, GRID, LABEL)                                                \
    .plain = "Sketching takes time at most in proportion to the data.", .id = (ID),                \
    .title = (TITLE), .claim = NNZ_OWN, .states = "Theorem 3.5",                                   \
    .where = "On dense X through the plugin, on the machine that is named.",                       \
    .criterion = AT_MOST_LINEAR, .flags = LAB_SERIAL | LAB_OWN, .x_param = (X_PARAM),              \
    .grid = LAB_GRID(GRID), .x = {LABEL, "", 1, 0, 0}, .y = {"processor time", "s", 1, 0, 0},      \
    .idle = FOR_TIME, LAB_COLUMNS_OF(sparsification_time_columns)

#define LEAST_OVER(ID, TITLE, FIXED)                                                               \
    .plain = "How many features are enough does not depend on how many there are.", .id = (ID),    \
    .title = (TITLE),                                                                              \
    .claim = "m = O(n log n) sampled features, or O(n) weighed ones, are enough however many "     \
             "there are (Theorems 3.5 and 3.6).",                                                  \
    .states = "Theorem 3.5; Theorem 3.6; Lemma 5.4",                                               \
    .where = "On random X with d = 2048 and d = 512 features, n = 4 to 32.",                       \
    .criterion =                                                                                   \
        "The least m for which at most a twentieth of the sketches has a distortion of 1 "         \
        "or more, in steps of a tenth: each of leverage, approximate and deterministic counts "    \
        "for it where it is less than twice that of d / 4, against it where not. A size in "       \
        "proportion to d would be four times that, to sqrt d twice; few sketches, in coarse "      \
        "steps, scatter by less.",                                                                 \
    .x_param = ROWS, .grid = LAB_GRID(few_tokens), .x = {"tokens n", "", 1, 0, 0},                 \
    .y = {"least sketch size m", "features", 1, 0, 0}, .fixed = (FIXED),                           \
    .fixed_count = LAB_COUNT(FIXED), .idle = NO_PROMISE | NO_TIME | ANY_SIZE,                      \
    LAB_COLUMNS_OF(sparsification_least_columns)
#define CSR_OVER(ID, TITLE, X_PARAM, GRID, LABEL, FIXED)                                           \
    .plain = "Sketching sparse data takes time at most in proportion to what is in them.",         \
    .id = (ID), .title = (TITLE), .claim = NNZ, .states = "Theorem 3.5; Algorithm 1; Lemma 5.2",   \
    .where = "From the arrays of a CSR to Y, n = 32, on the machine that is named; other methods " \
             "are drawn beside it.",                                                               \
    .criterion = SAMPLING_AT_MOST_LINEAR, .flags = LAB_SERIAL, .x_param = (X_PARAM),               \
    .grid = LAB_GRID(GRID), .x = {LABEL, "", 1, 0, 0}, .y = {"processor time", "s", 1, 0, 0},      \
    .fixed = (FIXED), .fixed_count = LAB_COUNT(FIXED), .idle = FOR_TIME,                           \
    LAB_COLUMNS_OF(sparsification_csr_columns)

#define WORK_OVER(ID, TITLE, X_PARAM, GRID, LABEL)                                                 \
    .id = (ID), .title = (TITLE), .x_param = (X_PARAM), .grid = LAB_GRID(GRID),                    \
    .x = {LABEL, "", 1, 0, 0}, .y = {"additions and multiplications", "", 1, 0, 0},                \
    .idle = NO_TIME | ANY_SIZE | 1 << TRIALS | 1 << DELTA,                                         \
    LAB_COLUMNS_OF(sparsification_work_columns)

#define LEVERAGE_PROMISE PROMISED("Leverage sampling", SPECTRAL) " (Lemma 5.4)."
#define ERROR_PROMISE                                                                              \
    PROMISED("Leverage sampling", "no entry of the attention matrix moved by more than O(r)")      \
    " (Theorem 3.5), here 12 r (Lemma 3.4)."
#define GAUSSIAN_PROMISE PROMISED("A Gaussian sketch", EACH_LOGIT) " (Dasgupta and Gupta, 2003)."
#define AMS_PROMISE PROMISED("An AMS, OSNAP or SRHT sketch", SQUARES) " (Markov's inequality)."

#define SPECTRAL_STATES "Lemma 5.4; Lemma 4.1; Theorem 3.5; Theorem 1.3"

enum {
    PANEL_SIZE,
    PANEL_R,
    PANEL_DETERMINISTIC,
    PANEL_DELTA,
    PANEL_DELTA_ERROR,
    PANEL_DELTA_LOGIT,
    PANEL_DELTA_FROBENIUS,
    PANEL_RATE,
    PANEL_RATE_LOGIT,
    PANEL_RATE_FROBENIUS,
    PANEL_NNZ,
    PANEL_TOKENS,
    PANEL_DENSITY,
    PANEL_CSR,
    PANEL_CSR_DENSITY,
    PANEL_LEAST,
    PANEL_LEAST_SPIKED,
    PANEL_LEMMAS,
    PANEL_WORK,
    PANEL_WORK_TOKENS,
    PANELS
};

const lab_panel_t sparsification_panels[PANELS] = {
    [PANEL_SIZE] = {ERRORS_OVER("size", "Error of the attention matrix over the sketch size", SIZE,
                                sizes, "sketch size m", "features")},
    [PANEL_R] = {ERRORS_OVER("r", "Error of the attention matrix over r", R, radii,
                             "r = largest entry of X X^T", ""),
                 .defined_low = 1e-4, .defined_high = 0.1},
    [PANEL_DETERMINISTIC] =
        {.id = "deterministic",
         .plain = "A few features that are chosen well are enough, without dice.",
         .title = "Distortion of the deterministic sketch over its size",
         .claim = "Deterministic weights on m = O(eps^-2 n) features keep X X^T within 1 +- eps "
                  "(Theorem 4.2; with the barrier method's constants eps = 2 sqrt q / (q + 1), q = "
                  "m / n), "
                  "and no entry of the attention matrix moves by more than 12 r (Theorem 3.6).",
         .states = "Theorem 4.2; Theorem 3.6; Theorem 1.4",
         .where = "On random X, n = 8 and d = 512, r = 0.008, from m = n + 1 on.",
         .criterion = "Each largest distortion counts for it where it is at most that eps and what "
                      "reading logits in float can add, against it where not; so does each largest "
                      "error against 12 r where the distortion is below 1.",
         .x_param = SIZE,
         .grid = LAB_GRID(above_n),
         .x = {"sketch size m", "features", 1, 0, 0},
         .y = {"distortion, largest", "", 1, 0, 0},
         .idle = NO_PROMISE | NO_TIME,
         LAB_COLUMNS_OF(sparsification_fixed_columns)},
    [PANEL_DELTA] = {OVER_DELTA("delta",
                                "How often the distortion is above eps, at leverage's size",
                                LEVERAGE_PROMISE, "leverage"),
                     .states = SPECTRAL_STATES},
    [PANEL_DELTA_ERROR] = {OVER_DELTA("delta-error",
                                      "How often the attention matrix moves by more than 12 r, at "
                                      "leverage's size",
                                      ERROR_PROMISE, "leverage"),
                           .states = "Theorem 3.5; Theorem 1.3"},
    [PANEL_DELTA_LOGIT] = {OVER_DELTA("delta-logit",
                                      "How often a logit is off by more than eps |x_i| |x_j|, at "
                                      "the Gaussian sketch's size",
                                      GAUSSIAN_PROMISE, "gaussian"),
                           .flags = LAB_OWN},
    [PANEL_DELTA_FROBENIUS] = {OVER_DELTA("delta-frobenius",
                                          "How often |S' - S|_F is above eps |X|_F^2, at the AMS "
                                          "sketch's size",
                                          AMS_PROMISE, "ams, osnap and srht"),
                               .flags = LAB_OWN},
    [PANEL_RATE] = {OVER_SIZE("rate", "How often the distortion is above eps, over the sketch size",
                              LEVERAGE_PROMISE, "leverage", many_rare),
                    .states = SPECTRAL_STATES},
    [PANEL_RATE_LOGIT] = {OVER_SIZE("rate-logit",
                                    "How often a logit is off by more than eps |x_i| |x_j|, over "
                                    "the sketch size",
                                    GAUSSIAN_PROMISE, "gaussian", many),
                          .flags = LAB_OWN},
    [PANEL_RATE_FROBENIUS] = {OVER_SIZE(
                                  "rate-frobenius",
                                  "How often |S' - S|_F is above eps |X|_F^2, over the sketch "
                                  "size",
                                  AMS_PROMISE, "ams, osnap and srht", many),
                              .flags = LAB_OWN},
    [PANEL_NNZ] = {TIMES_OVER("nnz", "Time of a run over the features d of a dense X, nnz(X) = n d",
                              DIM, features, "features d")},
    [PANEL_TOKENS] = {TIMES_OVER("tokens",
                                 "Time of a run over the tokens n of a dense X, nnz(X) = n d", ROWS,
                                 tokens, "tokens n"),
                      .fixed = wide, .fixed_count = LAB_COUNT(wide)},
    [PANEL_DENSITY] = {TIMES_OVER("density",
                                  "Time of a run over nnz(X) = density n d, at fixed n and d",
                                  DENSITY, densities, "density"),
                       .fixed = wide, .fixed_count = LAB_COUNT(wide)},
    [PANEL_CSR] = {CSR_OVER("csr", "Time from CSR over the features d, nnz(X) = density n d", DIM,
                            features, "features d", thin)},
    [PANEL_CSR_DENSITY] = {CSR_OVER("csr-density",
                                    "Time from CSR over nnz(X) = density n d, at fixed n and d",
                                    DENSITY, densities, "density", thinner)},
    [PANEL_LEAST] = {LEAST_OVER("least", "Least size that keeps the spectrum, features alike",
                                even)},
    [PANEL_LEAST_SPIKED] = {LEAST_OVER("least-spiked",
                                       "Least size that keeps the spectrum, one feature of 97 30 "
                                       "times as large",
                                       spiked)},
    [PANEL_LEMMAS] =
        {.id = "lemmas",
         .plain = "Each link of the proof holds for real sketches.",
         .title = "How much of what Lemmas 3.1 to 3.4 allow is taken, over r",
         .claim = "Where (1 - eps) A <= B <= (1 + eps) A, eps < 1, and |A| <= r < 0.1: |B| <= (1 + "
                  "eps) r; exp B is within 6 r of exp A, relative to either; so are the sums of "
                  "its rows; no entry of the attention matrix moves by more than 12 r (Lemmas 3.1 "
                  "to 3.4).",
         .states = "Lemma 3.1; Lemma 3.2; Lemma 3.3; Lemma 3.4",
         .where =
             SMALL_R " Lemma 3.1 prints (1 - eps) B <= A <= (1 + eps) B, for which it is false "
                     "(A = 0.1, B = 0.4, eps = 0.75): what its proof uses is judged.",
         .criterion = "Each lemma counts for it at each sketch of distortion below 1 where its "
                      "largest entry is within what it allows, and against it where not.",
         .x_param = R,
         .grid = LAB_GRID(radii),
         .x = {"r = largest entry of X X^T", "", 1, 0, 0},
         .y = {"part of what is allowed, largest", "", 1, 0, 0},
         .defined_low = 1e-4,
         .defined_high = 0.1,
         .idle = NO_PROMISE | NO_TIME,
         LAB_COLUMNS_OF(sparsification_lemma_columns)},
    [PANEL_WORK] =
        {WORK_OVER("deterministic-work",
                   "Work of the deterministic algorithm over the features d", DIM, work_features,
                   "features d"),
         .plain = "Choosing features without dice takes work in proportion to their number.",
         .claim = "At fixed n and eps the deterministic algorithm takes time at most linear in the "
                  "features (Theorems 3.6 and 4.2: min{sum of nnz(x_i)^2, d n^(omega - 1)}).",
         .states = "Theorem 3.6; Theorem 4.2; Theorem 1.4",
         .where = "On random dense X, n = 8, d = 1024 to 16384, eps = 0.75, where that term is the "
                  "largest. Counted: the steps that are taken, times the loops of each.",
         .criterion = "The exponent over d: it counts for it where its whole interval, the slopes "
                      "at both ends included, is at most 1 and 0.05, against it where the whole "
                      "interval is above; each point also where the distortion is at most eps, and "
                      "against it where it is above."},
    [PANEL_WORK_TOKENS] =
        {WORK_OVER("deterministic-work-tokens",
                   "Work of the deterministic algorithm over the tokens n", ROWS, tokens,
                   "tokens n"),
         .plain = "Our way of choosing features without dice is slower than the paper's.",
         .flags = LAB_OWN,
         .claim =
             "The library's barrier method goes over all features at each of 4 n / eps^2 steps: "
             "work ~ n^3 d, a factor of n / eps^2 above the first term of Theorem 4.2, whose "
             "algorithm ([SXZ22]) it is not.",
         .where = "On random dense X, d = 16384 and eps = 0.75. Counted: the steps that are taken, "
                  "times the loops of each.",
         .criterion = "The exponent over n: it counts for it where its interval comes within 0.05 "
                      "of 3, against it where not; each point also where the distortion is at most "
                      "eps, and against it where it is above.",
         .fixed = widest, .fixed_count = LAB_COUNT(widest)},
};

const rates_t *sparsification_rates_of(const lab_panel_t *panel) {
    static const rates_t rates[PANELS] = {
        [PANEL_DELTA] = {SKETCH_DISTORTION, 1, 0},
        [PANEL_DELTA_ERROR] = {SKETCH_DISTORTION, 1, 1},
        [PANEL_RATE] = {SKETCH_DISTORTION, 0, 0},
        [PANEL_DELTA_LOGIT] = {SKETCH_LOGIT, 1, 0},
        [PANEL_RATE_LOGIT] = {SKETCH_LOGIT, 0, 0},
        [PANEL_DELTA_FROBENIUS] = {SKETCH_FROBENIUS, 1, 0},
        [PANEL_RATE_FROBENIUS] = {SKETCH_FROBENIUS, 0, 0},
    };
    return &rates[panel - sparsification_panels];
}
