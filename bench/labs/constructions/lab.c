/*
 * labs/constructions/lab.c: AGG by a linear layer, COPY by softmax and by three sparse layers, with the error
 * that efficient-transformers' Lemmas A.9, A.11 and A.12 promise; and what each kind of attention carries
 * from token to token (the bottleneck of Theorem 4.4). construction.h has the constructions.
 *
 * Trials depend on the seed alone: all points of a curve see the same draws.
 */
#include "labs/constructions/construction.h"

#include "attn/support.h"
#include "labs/complexity/scaling.h"
#include "labs/declare.h"
#include "labs/judge.h"
#include "labs/lab.h"
#include "labs/statistics.h"
#include "number/format.h"
#include "number/number.h"

#include <math.h>
#include <string.h>

enum { BLOCKS, BOUND, EPS, DIM, TRIALS, PARAMS };

static const attn_param_info_t params[PARAMS] = {
    [BLOCKS] = LAB_INTEGER("m", "blocks m", "", 2, 96, 16, "the sequence has L = m^2 tokens"),
    [BOUND] = LAB_NUMBER("bound", "bound M", "", 1e-3, 1e6, 1, "numbers are within [-M, M]"),
    [EPS] = LAB_NUMBER("eps", "promised error eps", "", 1e-12, 1e6, 1e-3,
                       "what the weights are made for; at most M"),
    [DIM] = LAB_INTEGER("d", "dimension d", "", 1, 64, 4,
                        "of the vectors that are averaged or copied, and of a head"),
    [TRIALS] = LAB_INTEGER("trials", "trials", "", 1, 1000, 5, "sequences a point"),
};

/* ---- panels --------------------------------------------------------------------------------------- */

enum { KINDS = 3 };

static construct_t *const constructs[KINDS] = {construct_agg, construct_copy,
                                               construct_sparse_copy};

enum {
    X,
    ERROR,
    PROMISE = ERROR + KINDS,
    EXACT,
    ROUNDING = EXACT + KINDS,
    ABOVE = ROUNDING + KINDS,
    ERROR_COLUMNS
};
static const lab_column_t error_columns[ERROR_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    [ERROR] = {"agg", "AGG, linear attention", LAB_LINE, 0},
    {"copy", "COPY, softmax attention", LAB_LINE, 0},
    {"sparse_copy", "COPY, three sparse layers", LAB_LINE, 0},
    [PROMISE] = {"eps", "promised eps", LAB_BOUND, 0},
    [EXACT] = {"agg_exact", "AGG, in double", LAB_FAINT, 0},
    {"copy_exact", "COPY, softmax, in double", LAB_FAINT, 0},
    {"sparse_copy_exact", "COPY, sparse, in double", LAB_FAINT, 0},
    [ROUNDING] = {"agg_rounding", "what float can add, AGG", LAB_HIDDEN, 0},
    {"copy_rounding", "what float can add, COPY", LAB_HIDDEN, 0},
    {"sparse_copy_rounding", "what float can add, COPY by sparse layers", LAB_HIDDEN, 0},
    [ABOVE] = {"above", "errors above eps and rounding", LAB_HIDDEN, 0},
};

/* Of the norms: OVER is what their growth is over, REST a norm over ln(2 L M / eps). */
enum { NORM = 1, OVER = NORM + KINDS, REST, NORM_COLUMNS = REST + KINDS };
static const lab_column_t norm_columns[NORM_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    [NORM] = {"agg", "AGG, linear attention", LAB_LINE, 0},
    {"copy", "COPY, softmax attention", LAB_LINE, 0},
    {"sparse_copy", "COPY, three sparse layers", LAB_LINE, 0},
    [OVER] = {"over", "L, or 1 / eps", LAB_HIDDEN, 0},
    [REST] = {"agg_rest", "over ln(2 L M / eps), AGG", LAB_HIDDEN, 0},
    {"copy_rest", "over ln(2 L M / eps), COPY", LAB_HIDDEN, 0},
    {"sparse_copy_rest", "over ln(2 L M / eps), COPY by sparse layers", LAB_HIDDEN, 0},
};

enum { STATE = 1, CACHE = STATE + SCALING_KINDS, INFORMATION, STATE_COLUMNS };
static const lab_column_t state_columns[STATE_COLUMNS] = {
    [X] = {"x", "", LAB_HIDDEN, 0},
    [STATE] = {"softmax", "softmax: a key and a value a token", LAB_LINE, 0},
    {"sparse", "sparse: tokens that later queries see", LAB_LINE, 0},
    {"linear", "linear: the state (s, z)", LAB_LINE, 0},
    [CACHE] = {"cache_bytes", "bytes of a softmax stream with L tokens", LAB_HIDDEN, 0},
    [INFORMATION] = {"input", "L: a number a token of input", LAB_BOUND, 0},
};

enum { NEEDED = 1, ROOT = NEEDED + SCALING_KINDS, NEEDED_COLUMNS };
#define NEEDED_OF(BOUND)                                                                           \
    {                                                                                              \
        {"x", "", LAB_HIDDEN, 0}, {"softmax", "softmax", LAB_LINE, 0},                             \
            {"sparse", "sparse", LAB_LINE, 0}, {"linear", "linear", LAB_LINE, 0},                  \
            {"root", BOUND, LAB_BOUND, 0},                                                         \
    }
static const lab_column_t needed_columns[NEEDED_COLUMNS] = NEEDED_OF("sqrt L (Theorem 4.4)");
static const lab_column_t arithmetic_columns[NEEDED_COLUMNS] =
    NEEDED_OF("L^0.25 (Proposition 5.2)");
static const lab_column_t local_columns[NEEDED_COLUMNS] = NEEDED_OF("sqrt m (Proposition 5.5)");

static const double promises[] = {1,    0.3,  0.1,  0.03, 1e-2, 3e-3, 1e-3,
                                  3e-4, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};
static const double bounds[] = {0.01, 0.1, 0.3, 1, 3, 10, 30, 100, 1000, 10000};
static const double blocks[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
static const double norm_blocks[] = {4, 6, 8, 12, 16, 24, 32, 48, 64};
static const double localities[] = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
static const double lengths[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};

enum { LOCAL_LENGTH = 16384 };
enum { NO_ERRORS = 1 << BLOCKS | 1 << BOUND | 1 << EPS | 1 << TRIALS };

enum { NO_DRAWS = 1 << DIM | 1 << TRIALS };

static const lab_fixed_t state_dim[] = {{DIM, 64}};

#define WITHIN_EPS                                                                                 \
    "AGG by linear attention and COPY by softmax and by sparse attention, with the "               \
    "explicit weights of Lemmas A.9, A.11 and A.12 (for j <= i, where they print j < i; A.12 "     \
    "with "                                                                                        \
    "tokens of B d numbers, where it prints O(d)), are off by eps at most."
#define EXPONENTS                                                                                  \
    "Exponents over L: one counts for it where its interval comes within 0.05 of the "             \
    "claimed one (softmax, sparse, linear: 1, 0.5, 0 of the state; 0, 0.5, 0.5 of the dimension; " \
    "0, 0, 0.25 for arithmetic; 0, 0, 0.5 over m), against it where not, and is "                  \
    "undecided where the interval is wider than 0.5."
#define NORMS                                                                                      \
    "The largest parameter of AGG grows as logarithms alone (Lemma A.9), those of COPY as "        \
    "polynomials of M, 1/delta, log L and log 1/eps (Lemmas A.11, A.12), here "
#define NORM_EXPONENTS(OVER)                                                                       \
    "Exponents over " OVER " of the norm over ln(2 L M / eps): one counts for it where its "       \
    "interval comes within 0.05 of the claimed one, against it where not, and is undecided where " \
    "the interval is wider than 0.5."
#define BELOW_EPS                                                                                  \
    "Each largest error of the layers in double precision: one of eps or less counts for it, one " \
    "above it against it. Through the plugins, in float, each error within eps and what counted "  \
    "roundings can add is drawn beside it."
#define IN_FLOAT                                                                                   \
    "Through the plugins, in float, no error is above eps and what counted roundings can add."
#define IN_DOUBLE                                                                                  \
    "On random tokens within [-M, M] that keep Assumption A.10 as tightly as it allows; in "       \
    "double, as float cannot store what is wanted at eps = 1e-8."
#define COUNTED "At L = 16 to 32768; numbers are counted, in the plugins' weights and states."

static const lab_panel_t panels[] = {
    {.id = "eps",
     .plain = "Layers with hand-made weights average and copy tokens as precisely as promised.",
     .title = "Measured error over the promised one",
     .claim = WITHIN_EPS,
     .states = "Lemma A.9; Lemma A.11; Lemma A.12",
     .where = IN_DOUBLE,
     .ours = IN_FLOAT,
     .criterion = BELOW_EPS,
     .x_param = EPS,
     .grid = LAB_GRID(promises),
     .x = {"promised error eps", "", 1, 0, 0},
     .y = {"largest error", "", 1, 0, 0},
     LAB_COLUMNS_OF(error_columns)},
    {.id = "m",
     .plain = "Layers with hand-made weights average and copy tokens as precisely as promised.",
     .title = "Measured error over the length, L = m^2",
     .claim = WITHIN_EPS,
     .states = "Lemma A.9; Lemma A.11; Lemma A.12",
     .where = IN_DOUBLE,
     .ours = IN_FLOAT,
     .criterion = BELOW_EPS,
     .x_param = BLOCKS,
     .grid = LAB_GRID(blocks),
     .x = {"blocks m", "", 1, 0, 0},
     .y = {"largest error", "", 1, 0, 0},
     LAB_COLUMNS_OF(error_columns)},
    {.id = "bound",
     .plain = "Layers with hand-made weights average and copy tokens as precisely as promised.",
     .title = "Measured error over the size M of the numbers",
     .claim = WITHIN_EPS,
     .states = "Lemma A.9; Lemma A.11; Lemma A.12",
     .where = IN_DOUBLE,
     .ours = IN_FLOAT,
     .criterion = BELOW_EPS,
     .x_param = BOUND,
     .grid = LAB_GRID(bounds),
     .x = {"bound M", "", 1, 0, 0},
     .y = {"largest error", "", 1, 0, 0},
     LAB_COLUMNS_OF(error_columns)},
    {.id = "norm-m",
     .plain = "The hand-made weights grow no faster than promised.",
     .idle = NO_DRAWS,
     .title = "Largest parameter over the length, L = m^2",
     .states = "Lemma A.9; Lemma A.11; Lemma A.12",
     .where = "Of the constructions' weight matrices, which do not depend on the tokens.",
     .claim = NORMS "1/delta^2 ~ L^2 by softmax and the block B ~ sqrt L by sparse attention.",
     .criterion = NORM_EXPONENTS("L"),
     .x_param = BLOCKS,
     .grid = LAB_GRID(norm_blocks),
     .x = {"blocks m", "", 1, 0, 0},
     .y = {"largest parameter", "", 1, 0, 0},
     LAB_COLUMNS_OF(norm_columns)},
    {.id = "norm-eps",
     .plain = "The hand-made weights grow no faster than promised.",
     .idle = NO_DRAWS,
     .title = "Largest parameter over the promised error",
     .states = "Lemma A.9; Lemma A.11; Lemma A.12",
     .where = "Of the constructions' weight matrices, which do not depend on the tokens.",
     .claim = NORMS "all of them as log 1/eps.",
     .criterion = NORM_EXPONENTS("1/eps"),
     .x_param = EPS,
     .grid = LAB_GRID(promises),
     .x = {"promised error eps", "", 1, 0, 0},
     .y = {"largest parameter", "", 1, 0, 0},
     LAB_COLUMNS_OF(norm_columns)},
    {.id = "state",
     .plain =
         "Softmax remembers all tokens, sparse attention some, linear attention a fixed amount.",
     .idle = NO_ERRORS,
     .title = "Numbers that a head carries from token to token",
     .claim = "At a constant dimension softmax carries ~ L numbers, sparse attention ~ sqrt L and "
              "linear attention as many at any L: the bottleneck of Theorem 4.4.",
     .states = "Theorem 4.4",
     .where = COUNTED,
     .criterion = EXPONENTS,
     .x_param = LAB_NO_PARAM,
     .grid = LAB_GRID(lengths),
     .x = {"length L", "tokens", 1, 0, 0},
     .y = {"state", "numbers", 1, 0, 0},
     .fixed = state_dim,
     .fixed_count = LAB_COUNT(state_dim),
     LAB_COLUMNS_OF(state_columns)},
    {.id = "dimension",
     .plain = "To remember as much, sparse and linear attention must be wider.",
     .idle = NO_ERRORS | 1 << DIM,
     .title = "Least dimension of a head whose state holds L numbers",
     .claim = "For a state of L numbers the dimension of sparse and linear attention must grow as "
              "sqrt L (Theorem 4.4, Theorems B.5 and B.6), that of softmax not at all.",
     .states = "Theorem 4.4; Theorem B.5; Theorem B.6",
     .where = COUNTED,
     .criterion = EXPONENTS,
     .x_param = LAB_NO_PARAM,
     .grid = LAB_GRID(lengths),
     .x = {"length L", "tokens", 1, 0, 0},
     .y = {"dimension", "", 1, 0, 0},
     LAB_COLUMNS_OF(needed_columns)},
    {.id = "dimension-arithmetic",
     .plain = "Arithmetic needs less memory, and so less width.",
     .idle = NO_ERRORS | 1 << DIM,
     .title = "Least dimension of a head whose state holds an expression of sqrt L numbers",
     .claim =
         "For arithmetic, where a chain of L tokens is of an expression of ~ sqrt L, linear "
         "attention needs a dimension of L^0.25 (Proposition 5.2), sparse attention a constant "
         "one (Proposition 5.1): Table 1's column of arithmetic, by the state's capacity.",
     .states = "Proposition 5.1; Proposition 5.2; Table 1",
     .where = COUNTED,
     .criterion = EXPONENTS,
     .x_param = LAB_NO_PARAM,
     .grid = LAB_GRID(lengths),
     .x = {"length L", "tokens", 1, 0, 0},
     .y = {"dimension", "", 1, 0, 0},
     LAB_COLUMNS_OF(arithmetic_columns)},
    {.id = "dimension-local",
     .plain = "Steps that look back a little only need less width.",
     .idle = NO_ERRORS | 1 << DIM,
     .title = "Least dimension of a head whose state holds m numbers, L = 16384",
     .claim = "Where steps depend on the last m tokens, linear attention needs a dimension of "
              "sqrt m (Proposition 5.5), sparse attention with blocks of m a constant one "
              "(Proposition 5.4): Table 1's column of locality, by the state's capacity.",
     .states = "Proposition 5.4; Proposition 5.5; Table 1",
     .where = "At L = 16384; numbers are counted, in the plugins' weights and states.",
     .criterion = EXPONENTS,
     .x_param = LAB_NO_PARAM,
     .grid = LAB_GRID(localities),
     .x = {"locality m", "tokens", 1, 0, 0},
     .y = {"dimension", "", 1, 0, 0},
     LAB_COLUMNS_OF(local_columns)},
};

/* ---- points --------------------------------------------------------------------------------------- */

static construction_t construction_of(const lab_point_t *point, uint64_t trial) {
    return (construction_t){
        .blocks = (int64_t)point->values[BLOCKS],
        .dim = (int64_t)point->values[DIM],
        .bound = point->values[BOUND],
        .eps = point->values[EPS],
        .seed = point->run->seed,
        .trial = trial,
    };
}

static attn_status_t add_trial(const lab_point_t *point, int kind, uint64_t trial, double *row,
                               attn_error_t *error) {
    const construction_t what = construction_of(point, trial);
    construction_error_t result;
    const attn_status_t status = constructs[kind](point->run->context, &what, &result, error);
    if (status) return status;
    row[ERROR + kind] = fmax(row[ERROR + kind], result.measured);
    if (isnan(result.exact) || result.exact > row[EXACT + kind]) row[EXACT + kind] = result.exact;
    row[ROUNDING + kind] = result.rounding;
    row[ABOVE] += !(result.measured <= what.eps + result.rounding);
    return ATTN_OK;
}

static attn_status_t compute_errors(const lab_point_t *point, double *row, attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    for (int c = X + 1; c < ERROR_COLUMNS; c++) row[c] = 0;
    row[PROMISE] = point->values[EPS];
    for (uint64_t trial = 0; trial < (uint64_t)point->values[TRIALS] && !status; trial++)
        for (int kind = 0; kind < KINDS && !status; kind++)
            status = add_trial(point, kind, trial, row, error);
    return status;
}

/* Weights do not depend on the tokens, so that one trial has them. */
static attn_status_t compute_norms(const lab_point_t *point, double *row, attn_error_t *error) {
    const construction_t what = construction_of(point, 0);
    const double length = (double)(what.blocks * what.blocks);
    attn_status_t status = ATTN_OK;
    row[OVER] = point->run->panel->x_param == EPS ? 1 / what.eps : length;
    for (int kind = 0; kind < KINDS && !status; kind++) {
        construction_error_t result = {.norm = 0};
        status = constructs[kind](point->run->context, &what, &result, error);
        row[NORM + kind] = result.norm;
        row[REST + kind] = result.norm / log(2 * length * what.bound / what.eps);
    }
    return status;
}

/* What is carried where. */
typedef struct demand {
    double length, numbers; /* of tokens, to be held */
    int64_t block;          /* of sparse attention; 0: its own */
} demand_t;

static demand_t demand_of(const lab_point_t *point) {
    const lab_column_t *columns = point->run->panel->columns;
    if (columns == local_columns)
        return (demand_t){.length = LOCAL_LENGTH, .numbers = point->x, .block = (int64_t)point->x};
    return (demand_t){.length = point->x,
                      .numbers = columns == arithmetic_columns ? sqrt(point->x) : point->x};
}

/* State sizes at L = x, or the dimension where they are what has to be held. */
static attn_status_t compute_state(const lab_point_t *point, double *row, attn_error_t *error) {
    const int needed = point->run->panel->columns != state_columns;
    const demand_t demand = demand_of(point);
    const attn_context_t *context = point->run->context;
    attn_status_t status = ATTN_OK;
    for (int k = 0; k < SCALING_KINDS && !status; k++) {
        const enum scaling_kind kind = (enum scaling_kind)k;
        double tokens = 0;
        status = scaling_kept_tokens(context, kind, (int64_t)demand.length, demand.block, &tokens,
                                     error);
        row[STATE + k] = needed ? scaling_needed_dim(kind, tokens, demand.numbers)
                                : scaling_state(kind, tokens, point->values[DIM]);
    }
    if (needed) {
        row[ROOT] = sqrt(demand.numbers);
    } else {
        row[INFORMATION] = point->x;
        if (!status)
            status = scaling_cache_bytes(context, (int64_t)point->x, (int64_t)point->values[DIM],
                                         &row[CACHE], error);
    }
    return status;
}

static attn_status_t compute_point(const lab_point_t *point, double *row, attn_error_t *error) {
    const lab_column_t *columns = point->run->panel->columns;
    if (columns == error_columns) return compute_errors(point, row, error);
    if (columns == norm_columns) return compute_norms(point, row, error);
    return compute_state(point, row, error);
}

/* ---- about a run ------------------------------------------------------------------------------------ */

static attn_status_t check(const lab_point_t *point, attn_error_t *error) {
    static const double longest = 1 << 18, most = 1 << 24;
    char x[32], eps[32];
    if (point->run->panel->x_param == LAB_NO_PARAM) {
        if (point->x >= 1 && point->x <= longest && point->x == floor(point->x)) return ATTN_OK;
        return attn_fail(error, ATTN_ERROR_RANGE, "L must be a whole number from 1 to %.0f, not %s",
                         longest, attn_number_text(point->x, x));
    }
    if (point->values[EPS] > point->values[BOUND])
        return attn_fail(error, ATTN_ERROR_RANGE, "eps (%s) must not be above bound (%s)",
                         attn_number_text(point->values[EPS], eps),
                         attn_number_text(point->values[BOUND], x));
    /* COPY's second layer has B <= m vectors of d numbers at each of m^2 tokens. */
    const double numbers = pow(point->values[BLOCKS], 3) * point->values[DIM];
    if (numbers > most)
        return attn_fail(error, ATTN_ERROR_RANGE, "m^3 d (%.0f) must not be above %.0f numbers",
                         numbers, most);
    return ATTN_OK;
}

static double cost(const lab_point_t *point) {
    const double *values = point->values, length = values[BLOCKS] * values[BLOCKS];
    if (point->run->panel->x_param == LAB_NO_PARAM) return point->x + 1000;
    return values[TRIALS] * (length + 100) * (length / 8 + 100 * values[BLOCKS]);
}

/* What the errors say, over all points. */
typedef struct errors {
    tally_t tally;         /* of errors in double */
    uint32_t above[KINDS]; /* in float, above eps */
    double beyond;         /* and above what rounding can add */
    double ratio, allowance,
        at; /* the largest error in double and rounding of float in units of eps, and where */
} errors_t;

static errors_t count_errors(const double *rows, uint32_t count) {
    errors_t errors = {.ratio = 0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * ERROR_COLUMNS, eps = row[PROMISE];
        for (int kind = 0; kind < KINDS; kind++) {
            const double error = row[EXACT + kind];
            tally_add(&errors.tally, judge_at_most(error, error, eps));
            errors.above[kind] += row[ERROR + kind] > eps;
            errors.allowance = fmax(errors.allowance, row[ROUNDING + kind] / eps);
            if (!(error / eps > errors.ratio)) continue;
            errors.ratio = error / eps;
            errors.at = row[X];
        }
        if (row[ABOVE] > 0) errors.beyond += row[ABOVE];
    }
    return errors;
}

/* Decimals of a number that may be small or in the thousands. */
static int digits(double number) { return number < 10 ? 2 : 0; }

/* The columns whose growth is judged, over which, and what is claimed of it. */
typedef struct growth {
    uint32_t over, first;
    double claimed[SCALING_KINDS];
    const char *names[SCALING_KINDS];
} growth_t;

_Static_assert((int)KINDS == (int)SCALING_KINDS, "a growth is of three of either");

static growth_t growth_of(const lab_run_t *run) {
    const lab_panel_t *panel = run->panel;
    if (panel->columns == norm_columns)
        return (growth_t){
            .over = OVER,
            .first = REST,
            .claimed = {0, panel->x_param == EPS ? 0 : 2, panel->x_param == EPS ? 0 : 0.5},
            .names = {"AGG", "COPY by softmax", "COPY by sparse layers"}};
    growth_t growth = {.over = X, .first = STATE};
    for (uint32_t k = 0; k < SCALING_KINDS; k++) {
        static const double state[] = {1, 0.5, 0}, needed[] = {0, 0.5, 0.5};
        static const double arithmetic[] = {0, 0, 0.25}, local[] = {0, 0, 0.5};
        const double *claimed = panel->columns == state_columns        ? state
                                : panel->columns == needed_columns     ? needed
                                : panel->columns == arithmetic_columns ? arithmetic
                                                                       : local;
        growth.claimed[k] = claimed[k];
        growth.names[k] = scaling_backend((enum scaling_kind)k);
    }
    return growth;
}

/* How many errors are above their promise, and what they are allowed; or how states grow. */
static void note(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                 size_t size) {
    const uint32_t width = run->panel->column_count;
    if (run->panel->columns == error_columns) {
        const errors_t errors = count_errors(rows, count);
        attn_format(text, size,
                    "in float above eps: AGG at %u, COPY at %u, COPY by sparse layers at %u of %u "
                    "points; above "
                    "eps and what float's rounding can add, which is up to %.*f eps: %.0f",
                    errors.above[0], errors.above[1], errors.above[2], count,
                    digits(errors.allowance), errors.allowance, errors.beyond);
        return;
    }
    const growth_t growth = growth_of(run);
    attn_format(text, size, "~ %s^p, p:",
                run->panel->x_param == EPS             ? "(1/eps)"
                : run->panel->columns == local_columns ? "m"
                                                       : "L");
    for (uint32_t k = 0; k < SCALING_KINDS; k++) {
        const size_t used = strlen(text);
        const exponent_t exponent =
            statistics_exponent_of_columns(rows, count, width, growth.over, growth.first + k);
        attn_format(text + used, size - used, "%s %s %.2f", k ? "," : "", growth.names[k],
                    exponent.value);
    }
}

static void judge(const lab_run_t *run, const double *rows, uint32_t count,
                  lab_finding_t *finding) {
    if (run->panel->columns == error_columns) {
        const errors_t errors = count_errors(rows, count);
        judge_tally(&errors.tally, "errors", finding);
        judge_found(finding, "The largest error is %.3g eps, at %s = %.6g.", errors.ratio,
                    run->lab->params[run->panel->x_param].name, errors.at);
        return;
    }
    const growth_t growth = growth_of(run);
    judged_exponent_t exponents[SCALING_KINDS];
    for (uint32_t k = 0; k < SCALING_KINDS; k++)
        exponents[k] = (judged_exponent_t){growth.names[k], growth.first + k, growth.claimed[k]};
    judge_exponents(run, rows, count, growth.over, exponents, SCALING_KINDS, finding);
}

const lab_t lab_constructions = {
    .name = "constructions",
    .title = "AGG and COPY by layers with explicit weights",
    .reference = "Do Efficient Transformers Really Save Computation?, Lemmas A.9, A.11, A.12, "
                 "Theorem 4.4",
    .summary = "Linear attention averages a block, softmax and sparse attention copy a token, with "
               "explicit weights and an error of at most eps. What a head can carry along is what "
               "limits sparse and linear attention.",
    .params = params,
    .param_count = PARAMS,
    .panels = panels,
    .panel_count = LAB_COUNT(panels),
    .check = check,
    .point = compute_point,
    .cost = cost,
    .note = note,
    .judge = judge,
};
