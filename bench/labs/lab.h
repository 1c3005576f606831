/*
 * labs/lab.h: the papers' experiments as data and one function each.
 *
 * A lab_t declares an experiment: its parameters (attn.params/1, so that the command line's --set,
 * JavaScript's checks and a page's controls come from one schema), the panels of its figures, and a
 * function that computes ONE point of a curve. A point is the unit of progress, of resuming and of
 * cancellation. Data flows lab + panel + settings -> lab_run_t -> rows:
 *
 *     lab_run_t run;
 *     const lab_t *lab = lab_find("separation");
 *     lab_run_init(&run, lab, lab_panel_find(lab, "3b"), 1);       // 1: the seed
 *     lab_run_set(&run, "trials", "500", &error);                  // as often as wanted
 *     lab_run_begin(&run, context, &error);                        // checks every point
 *     for (uint32_t i = 0; i < run.point_count; i++)               // in any order, on any threads
 *         lab_run_point(&run, i, row, &error);                     // row: panel->column_count numbers
 *     lab_run_end(&run);
 *
 * Nothing is printed, read or written, and there is no state beside the run: it builds natively, with
 * Emscripten and for WASI. Numbers depend on the lab, the panel, the values, the seed and x alone: not
 * on the grid, the order, the threads. (Between tiers and in WebAssembly float rounding differs: where
 * that can turn a decision, it is counted in a column.)
 *
 * To add an experiment: one file that ends in `const lab_t NAME = {...}`, its line in labs.c and in
 * CMakeLists.txt, its section in README.md. All randomness comes from lab_stream() with attn/random.h.
 * Attention goes through a backend of run->context (labs/head.h is of use), never by hand.
 */
#ifndef ATTN_LABS_LAB_H
#define ATTN_LABS_LAB_H

#include "attn/attn.h"
#include "labs/store.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LAB_PARAMS = 24, LAB_COLUMNS = 32 }; /**< at most so many of a lab and of a panel */
enum { LAB_NO_PARAM = -1 };
enum { LAB_FILE = 96 }; /**< room for a name in a store */

typedef struct lab lab_t;
typedef struct lab_panel lab_panel_t;
typedef struct lab_run lab_run_t;

/* ---- a figure ---------------------------------------------------------------------------------- */

typedef struct lab_axis {
    const char *label, *unit; /**< unit "" for none */
    int32_t log;              /**< logarithmic; what is not above 0 is then left out */
    double low, high;         /**< of the axis; both 0: as the data are */
} lab_axis_t;

/** How a column is drawn. LOW and HIGH are the band of the last LINE or POINTS before them. */
enum lab_mark {
    LAB_HIDDEN = 0, /**< in the tables only */
    LAB_LINE = 1,
    LAB_POINTS = 2,
    LAB_LOW = 3,
    LAB_HIGH = 4,
    LAB_BOUND = 5, /**< dashed: what a theorem promises */
    LAB_FAINT = 6, /**< a thin line: detail beside the main curve */
};

typedef struct lab_column {
    const char *name;  /**< in CSV and JSON: lower case, digits, '_'; the first column is "x" */
    const char *label; /**< for people */
    int32_t mark;      /**< enum lab_mark */
    int32_t aside;     /**< 1: in JSON, not in CSV (counts of doubtful decisions, flags) */
} lab_column_t;

/** A figure of heat maps instead of curves: which columns say where a point stands, and which is its shade. */
typedef struct lab_tiles {
    uint32_t map_row, map_column; /**< of the maps, side by side and below each other */
    uint32_t x, y;                /**< within a map */
    uint32_t shade;               /**< from 0 to 1 */
} lab_tiles_t;

/** Values of x: `list` when it is not NULL, else first + i step, rounded to 12 decimals. */
typedef struct lab_grid {
    uint32_t count;
    double first, step;
    const double *list;
} lab_grid_t;

/** A parameter that a panel sets; the caller may set it to something else. */
typedef struct lab_fixed {
    int32_t param; /**< index in the lab's params */
    double value;
} lab_fixed_t;

enum lab_panel_flags {
    LAB_SERIAL = 1, /**< it measures time: one point at a time, and nothing beside it */
    LAB_LONG =
        2, /**< hours: not among `all` labs, only where its lab is named; figures of what there is */
    LAB_ILLUSTRATION =
        4, /**< a figure as the paper draws it, of settings that no statement covers: no verdict */
    LAB_OWN = 8, /**< the claim is the library's own: no paper states it */
};

struct lab_panel {
    const char *id;    /**< in the names of files: lower case, digits, '-'; e.g. "3b" */
    const char *title; /**< one line */
    const char
        *claim; /**< what is tested: the paper's statement and where it stands, one sentence */
    const char *plain; /**< the claim in everyday words, one short sentence */
    const char *
        states; /**< the statements that it is about, as bench/labs/statements.json names them: "; " between */
    const char *where; /**< at which settings the claim is judged, and why there */
    const char
        *ours; /**< NULL, or what the library claims beyond the paper; no part of the verdict */
    const char *criterion; /**< when the points count for it and when against, one sentence */
    uint32_t flags;        /**< enum lab_panel_flags */
    const char
        *preset; /**< NULL, or which panels of the lab it goes with: the first panel's by default */
    int32_t x_param; /**< the parameter that x is, or LAB_NO_PARAM (e.g. steps of a descent) */
    lab_grid_t grid;
    lab_axis_t x, y;
    double defined_low, defined_high; /**< x the paper defines; both 0: all */
    const lab_fixed_t *fixed;
    uint32_t fixed_count;
    uint32_t idle; /**< bit i: params[i] makes no difference here; it is not told, and not taken */
    const lab_column_t *columns; /**< columns[0] is x */
    uint32_t column_count;
    const lab_tiles_t *tiles; /**< NULL: curves over x */
    /** NULL, or the name that CSV and JSON have for a column's value; NULL of it for a number. */
    const char *(*name_of)(uint32_t column, double value);
};

/* ---- what the points say ----------------------------------------------------------------------- */

enum lab_verdict {
    LAB_UNDECIDED = 0, /**< also where no point is within the claim's premises */
    LAB_HOLDS = 1,
    LAB_FAILS = 2,
    LAB_SHOWN = 3, /**< of a panel that is an illustration: nothing is judged */
};

/** A claim, judged by the panel's criterion from the numbers of the points alone. */
typedef struct lab_finding {
    int32_t verdict; /**< enum lab_verdict */
    char sure[240];  /**< how sure that is: points for and against, in a few words */
    char found[480]; /**< what was found, in a sentence */
} lab_finding_t;

/** "undecided", "holds", "fails", "illustration". */
const char *lab_verdict_name(int32_t verdict);

/* ---- an experiment ----------------------------------------------------------------------------- */

/** One point: what the functions of a lab are given. */
typedef struct lab_point {
    const lab_run_t *run;
    double x;
    uint32_t index;            /**< in the grid; nothing that is computed may depend on it */
    double values[LAB_PARAMS]; /**< the run's, with x in its place; a choice is its index */
} lab_point_t;

/** Constant data and text. */
struct lab {
    const char *name;      /**< lower case, '-' */
    const char *title;     /**< a few words */
    const char *reference; /**< e.g. "arXiv:2310.11685, sections 3, 7, D and F" */
    const char *summary;   /**< what is computed and what the paper says of it: a sentence or two */

    /**
     * The seed is no parameter: every run has one. If there is a "trials", --trials sets it. A default
     * of 0 below the minimum is `automatic`: it holds until the parameter is set.
     */
    const attn_param_info_t *params;
    uint32_t param_count;

    const lab_panel_t *panels;
    uint32_t panel_count;

    /**
     * NULL, or what no range of a parameter says: called for every point before any is computed.
     */
    attn_status_t (*check)(const lab_point_t *point, attn_error_t *error);

    /**
     * NULL, or what all points of a run share (data, a descent's whole path): *shared, read only
     * until end(). Must be brief: seconds at most.
     */
    attn_status_t (*begin)(const lab_run_t *run, void **shared, attn_error_t *error);
    void (*end)(void *shared); /**< NULL, or releases it; not called with NULL */

    /**
     * Compute one point: row[1] to row[column_count - 1]; row[0] is x already. NaN where there is
     * nothing. Several threads may be in it with one run. May allocate, but leaves nothing behind.
     * LAB_UNFINISHED: run->store wanted that. LAB_SPOILT: the error says why this point has none.
     */
    attn_status_t (*point)(const lab_point_t *point, double *row, attn_error_t *error);

    /** NULL (the grid's), or how many points a run with these settings has: x goes on as the grid begins. */
    uint32_t (*count)(const lab_run_t *run);

    /** NULL, or fill the columns that say where a point stands, which are known before it is computed. */
    void (*place)(const lab_point_t *point, double *row);

    /** NULL, or the name under which run->store keeps a point; "" for none. */
    void (*file)(const lab_point_t *point, char name[LAB_FILE]);

    /** NULL (all alike), or about how much work a point is, in any unit: for the time left. */
    double (*cost)(const lab_point_t *point);

    /**
     * NULL, or one line about a run for its caption: what was fitted, what is outside the paper's
     * definition. `rows` has `count` finished rows in the order of x. Terminated, cut to `size`.
     */
    void (*note)(const lab_run_t *run, const double *rows, uint32_t count, char *text, size_t size);

    /**
     * NULL (everywhere), or whether a finished row is within the premises of the panel's claim: the
     * figure shades where rows are not. `defined` says the same of x alone, before there are rows.
     */
    int (*within)(const lab_run_t *run, const double *row);

    /**
     * Judge the panel's claim by its criterion; rows as for note(), at least one (labs/judge.h). Where a panel is
     * LAB_LONG also those that are not finished, with NaN.
     */
    void (*judge)(const lab_run_t *run, const double *rows, uint32_t count, lab_finding_t *finding);
};

/** All experiments. */
uint32_t lab_count(void);
const lab_t *lab_at(uint32_t index);                                 /**< NULL past the last */
const lab_t *lab_find(const char *name);                             /**< NULL for none */
const lab_panel_t *lab_panel_find(const lab_t *lab, const char *id); /**< NULL for none */

/**
 * All experiments as JSON: [{"name", "title", "reference", "summary", "params": [as attn_describe()
 * has them], "panels": [{"id", "title", "x_param", "grid": [...], "x": {"label", "unit", "log"}, "y",
 * "claim", "criterion", "defined", "fixed": {name: value}, "idle": [name], "columns": [{"name", "label", "mark", "aside"}]}]}]. Writes at
 * most `size` bytes with the terminating zero; returns the length it needs without it.
 */
size_t lab_describe(char *buffer, size_t size);

/** The same of one panel, as it is in "panels". */
size_t lab_describe_panel(const lab_t *lab, const lab_panel_t *panel, char *buffer, size_t size);

/* ---- a run ------------------------------------------------------------------------------------- */

/** One panel with all its settings. Between begin and end it is read only, and any thread may read. */
struct lab_run {
    const lab_t *lab;
    const lab_panel_t *panel;
    uint64_t seed;
    double values[LAB_PARAMS]; /**< by the index in lab->params; a choice is its index */
    uint32_t given;            /**< bit i: params[i] was set by the caller */
    const double *xs; /**< NULL: the panel's grid; else the caller's, `point_count` of them */
    uint32_t point_count;

    const lab_store_t *store; /**< NULL, or where points are kept while they last */

    const attn_context_t *context; /**< from here on set by lab_run_begin() */
    void *shared;
};

/** The panel as the paper has it. */
void lab_run_init(lab_run_t *run, const lab_t *lab, const lab_panel_t *panel, uint64_t seed);

/**
 * Set a parameter from text, as a person writes it. Errors: a name that the lab does not have
 * (ATTN_ERROR_NOT_FOUND), x itself or text that is no number (ATTN_ERROR_ARGUMENT), a value outside the
 * declared range (ATTN_ERROR_RANGE).
 */
attn_status_t lab_run_set(lab_run_t *run, const char *name, const char *value, attn_error_t *error);

/**
 * Whether parameter `index` is a setting of this panel: ATTN_ERROR_ARGUMENT when it is the axis, idle
 * here, or when the lab's check() refuses that it is given, because it makes no difference.
 */
attn_status_t lab_run_takes(const lab_run_t *run, uint32_t index, attn_error_t *error);

/** Replace the grid; `xs` must outlive the run. */
void lab_run_grid(lab_run_t *run, const double *xs, uint32_t count);

/** Check all points and let the lab prepare. The context must outlive the run. */
attn_status_t lab_run_begin(lab_run_t *run, const attn_context_t *context, attn_error_t *error);

/** One row, `panel->column_count` numbers. Any thread, any order, between begin and end. */
attn_status_t lab_run_point(const lab_run_t *run, uint32_t index, double *row, attn_error_t *error);

/** What is known of a row before it is computed; NaN elsewhere. */
void lab_run_place(const lab_run_t *run, uint32_t index, double *row);

/** The name under which a point is kept in a store, or "". */
void lab_run_file(const lab_run_t *run, uint32_t index, char name[LAB_FILE]);

/** About how much work a point is; above 0. */
double lab_run_cost(const lab_run_t *run, uint32_t index);

/** The x of a point. */
double lab_run_x(const lab_run_t *run, uint32_t index);

/** The line for the caption; "" when there is nothing to say. */
void lab_run_note(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                  size_t size);

/** Whether a finished row is within the premises of the panel's claim. */
int lab_run_within(const lab_run_t *run, const double *row);

/** What the rows say about the panel's claim; without rows it is undecided. */
void lab_run_judge(const lab_run_t *run, const double *rows, uint32_t count,
                   lab_finding_t *finding);

/** Release what begin made; a run that was initialised but not begun is fine. */
void lab_run_end(lab_run_t *run);

/* ---- random numbers ---------------------------------------------------------------------------- */

/**
 * A stream for attn_random_*(point->run->seed, stream, index): a hash of the lab, the panel, x, the
 * trial and a number that says what the draws are for.
 */
uint64_t lab_stream(const lab_point_t *point, uint64_t trial, uint32_t purpose);

/** A choice's name, or the text of a number: shortest that reads back the same; returns `text`. */
const char *lab_value_text(const attn_param_info_t *info, double value, char text[32]);

/** The shortest decimal text that reads back as this double; "nan", "inf"; returns `text`. */
const char *lab_number_text(double value, char text[32]);

#ifdef __cplusplus
}
#endif

#endif
