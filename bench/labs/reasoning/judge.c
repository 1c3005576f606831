/* labs/reasoning/judge.c: from cells to the three claims about width, Table 2's about FLOPs and Table 1's about least widths. */
#include "labs/judge.h"
#include "labs/reasoning/lab.h"
#include "labs/reasoning/task.h"

#include <math.h>

typedef struct cells {
    const double *rows;
    uint32_t count;
} cells_t;

static const double *row_of(const cells_t *cells, uint32_t i) {
    return cells->rows + (size_t)i * REASONING_COLUMNS;
}

/* Whether rows are of one task and size, and with `columns` of one attention and width, too. */
static int alike(const double *a, const double *b, int columns) {
    for (int c = REASONING_TASK; c < REASONING_TASK + columns; c++)
        if (a[c] != b[c]) return 0;
    return 1;
}

/* Whether no row before row i is alike. */
static int is_first(const cells_t *cells, uint32_t i, int columns) {
    for (uint32_t j = 0; j < i; j++)
        if (alike(row_of(cells, j), row_of(cells, i), columns)) return 0;
    return 1;
}

enum { OF_PROBLEM = 2, OF_MODEL = 4 }; /* columns: task, size; attention, width */

/* ---- least widths ---------------------------------------------------------------------------------- */

/* Whether the model of row i has this share of answers right: by the means of its seeds' intervals. */
static int32_t reaches(const cells_t *cells, uint32_t i, double share) {
    double low = 0, high = 0, seeds = 0;
    for (uint32_t j = i; j < cells->count; j++) {
        const double *row = row_of(cells, j);
        if (!alike(row, row_of(cells, i), OF_MODEL)) continue;
        low += row[REASONING_LOW], high += row[REASONING_HIGH], seeds++;
    }
    return judge_at_least(low / seeds, high / seeds, share);
}

reasoning_least_t reasoning_least(const double *rows, uint32_t count, int32_t task, int32_t size,
                                  int32_t attention, double share) {
    const cells_t cells = {rows, count};
    reasoning_least_t least = {INFINITY, INFINITY};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = row_of(&cells, i), width = row[REASONING_WIDTH];
        if (row[REASONING_TASK] != task || row[REASONING_SIZE] != size ||
            row[REASONING_ATTENTION] != attention || !is_first(&cells, i, OF_MODEL))
            continue;
        const int32_t verdict = reaches(&cells, i, share);
        if (verdict != LAB_FAILS) least.low = fmin(least.low, width);
        if (verdict == LAB_HOLDS) least.high = fmin(least.high, width);
    }
    return least;
}

static reasoning_least_t least_like(const cells_t *cells, const double *row, int32_t task,
                                    int32_t attention) {
    return reasoning_least(cells->rows, cells->count, task, (int32_t)row[REASONING_SIZE], attention,
                           REASONING_ENOUGH);
}

/* Where no width of the grid is known to be enough for b, how many it needs is not known, and a may need fewer. */
static int surely_no_less(reasoning_least_t a, reasoning_least_t b) {
    return !isinf(b.high) && a.low >= b.high;
}

/* Whether surely no width is enough for either: then nothing is compared. */
static int are_beyond(reasoning_least_t a, reasoning_least_t b) {
    return isinf(a.low) && isinf(b.low);
}

/* Whether a > b, in a comparison where equal widths decide nothing. */
static void add_larger(tally_t *tally, uint32_t *ties, reasoning_least_t a, reasoning_least_t b) {
    const int are_known = a.low == a.high && b.low == b.high;
    if (are_beyond(a, b)) return;
    if (are_known && a.low == b.low)
        ++*ties;
    else
        tally_add(tally, a.low > b.high ? LAB_HOLDS : a.high < b.low ? LAB_FAILS : LAB_UNDECIDED);
}

/* Whether a > b, where equal widths are against it. */
static void add_more(tally_t *tally, reasoning_least_t a, reasoning_least_t b) {
    if (are_beyond(a, b)) return;
    tally_add(tally, a.low > b.high ? LAB_HOLDS : surely_no_less(b, a) ? LAB_FAILS : LAB_UNDECIDED);
}

/* ---- claims ---------------------------------------------------------------------------------------- */

/* All problems at one width. */
static tally_t tally_at(const cells_t *cells, double width) {
    tally_t tally = {0};
    for (uint32_t i = 0; i < cells->count; i++)
        if (row_of(cells, i)[REASONING_WIDTH] == width && is_first(cells, i, OF_MODEL))
            tally_add(&tally, reaches(cells, i, REASONING_ENOUGH));
    return tally;
}

/* The narrowest width with which all problems are solved; else the one with which most are. */
static void judge_solves(const cells_t *cells, lab_finding_t *finding) {
    tally_t best = {0};
    double width = 0;
    for (uint32_t i = 0; i < cells->count; i++) {
        const double other = row_of(cells, i)[REASONING_WIDTH];
        if (!(other > 0)) continue;
        const tally_t tally = tally_at(cells, other);
        const int fewer = tally.fails < best.fails;
        const int more = tally.fails == best.fails && tally.holds > best.holds;
        const int same = tally.fails == best.fails && tally.holds == best.holds && other < width;
        if (width == 0 || fewer || more || same) best = tally, width = other;
    }
    judge_tally(&best, "problems", finding);
    if (width > 0) judge_sure(finding, ", at D = %.0f", width);
}

/* Of linear and sparse: more than softmax's; and on LIS, more than for the smallest problem. */
static void add_wider(const cells_t *cells, const double *row, tally_t *tally, uint32_t *ties) {
    const int32_t task = (int32_t)row[REASONING_TASK];
    const reasoning_least_t softmax = least_like(cells, row, task, REASONING_SOFTMAX);
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < cells->count; i++) {
        if (row_of(cells, i)[REASONING_TASK] != task) continue;
        least = fmin(least, row_of(cells, i)[REASONING_SIZE]);
        most = fmax(most, row_of(cells, i)[REASONING_SIZE]);
    }
    for (int32_t a = REASONING_LINEAR; a <= REASONING_SPARSE; a++) {
        const reasoning_least_t own = least_like(cells, row, task, a);
        add_larger(tally, ties, own, softmax);
        if (task == REASONING_LIS && row[REASONING_SIZE] == most && most > least)
            add_more(tally, own,
                     reasoning_least(cells->rows, cells->count, task, (int32_t)least, a,
                                     REASONING_ENOUGH));
    }
}

static void add_local(const cells_t *cells, const double *row, tally_t *tally, uint32_t *ties) {
    if (row[REASONING_TASK] != REASONING_ED_LOCAL) return;
    for (int32_t a = REASONING_LINEAR; a <= REASONING_SPARSE; a++)
        add_larger(tally, ties, least_like(cells, row, REASONING_ED, a),
                   least_like(cells, row, REASONING_ED_LOCAL, a));
}

/* ---- Table 2 --------------------------------------------------------------------------------------- */

/* Whether a model of any attention is good enough at the size of a table's row: else it is missing. */
static int is_known(const double *row) {
    int known = 0;
    for (int32_t a = 0; a < REASONING_ATTENTIONS; a++) known |= !isnan(row[1 + a]);
    return known;
}

/* All rows, behind `what`; those without a known model are told as missing. */
static void tell_table(const double *rows, uint32_t count, uint32_t width, const char *what,
                       const char *of, lab_finding_t *finding) {
    uint32_t missing = 0;
    judge_found(finding, "%s", what);
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * width;
        missing += !is_known(row);
        judge_found(finding, "%s %.0f%s:", i ? ";" : "", row[0], of);
        for (int32_t a = 0; a < REASONING_ATTENTIONS; a++)
            judge_found(finding, isnan(row[1 + a]) ? " %s -" : " %s %.3g", reasoning_attention(a),
                        row[1 + a]);
    }
    if (missing) judge_sure(finding, "; %u sizes are missing", missing);
}

/* Softmax against each other kind, size by size; NaN: no width is enough. */
static void judge_flops(const double *rows, uint32_t count, lab_finding_t *finding) {
    tally_t tally = {0};
    for (uint32_t i = 0; i < count; i++) {
        const double *row = rows + (size_t)i * REASONING_TABLE_COLUMNS;
        const double softmax = row[1 + REASONING_SOFTMAX];
        for (int32_t a = REASONING_LINEAR; a <= REASONING_SPARSE; a++)
            tally_add(&tally, !is_known(row)          ? LAB_UNDECIDED
                              : softmax <= row[1 + a] ? LAB_HOLDS
                              : isnan(row[1 + a])     ? LAB_HOLDS
                                                      : LAB_FAILS);
    }
    judge_tally(&tally, "comparisons", finding);
    tell_table(rows, count, REASONING_TABLE_COLUMNS, "GFLOP of a sequence,", " operators", finding);
}

/* ---- least widths of a table ------------------------------------------------------------------------ */

/* More than all that were tried, where none is enough. */
static double width_of(const double *row, int32_t attention) {
    return isnan(row[1 + attention]) ? INFINITY : row[1 + attention];
}

static void judge_widths(const double *rows, uint32_t count, lab_finding_t *finding) {
    const double *last = rows + (size_t)(count - 1) * REASONING_WIDTH_COLUMNS;
    tally_t tally = {0};
    for (int32_t a = REASONING_LINEAR; a <= REASONING_SPARSE; a++) {
        for (uint32_t i = 0; i < count; i++) {
            const double *row = rows + (size_t)i * REASONING_WIDTH_COLUMNS;
            const int holds = width_of(row, a) >= row[REASONING_CAPACITY];
            tally_add(&tally, !is_known(row) ? LAB_UNDECIDED : holds ? LAB_HOLDS : LAB_FAILS);
        }
        const int grows = width_of(last, a) > width_of(rows, a);
        const int both = is_known(rows) && is_known(last) && !isinf(width_of(rows, a));
        tally_add(&tally, !both ? LAB_UNDECIDED : grows ? LAB_HOLDS : LAB_FAILS);
    }
    judge_tally(&tally, "comparisons", finding);
    tell_table(rows, count, REASONING_WIDTH_COLUMNS, "Least width, by size", "", finding);
}

/* ---- all of it ------------------------------------------------------------------------------------- */

static void tell_least(reasoning_least_t least, lab_finding_t *finding) {
    if (least.low != least.high)
        judge_found(finding, "?");
    else if (isinf(least.low))
        judge_found(finding, "none");
    else
        judge_found(finding, "%.0f", least.low);
}

static int has_attention(const cells_t *cells, int32_t attention) {
    for (uint32_t i = 0; i < cells->count; i++)
        if (row_of(cells, i)[REASONING_ATTENTION] == attention) return 1;
    return 0;
}

/* " (softmax, linear):" */
static void tell_attentions(const cells_t *cells, lab_finding_t *finding) {
    for (int32_t a = 0, said = 0; a < REASONING_ATTENTIONS; a++)
        if (has_attention(cells, a))
            judge_found(finding, "%s%s", said++ ? ", " : " (", reasoning_attention(a));
    judge_found(finding, "):");
}

static uint32_t missing_cells(const cells_t *cells) {
    uint32_t missing = 0;
    for (uint32_t i = 0; i < cells->count; i++) missing += isnan(row_of(cells, i)[REASONING_RIGHT]);
    return missing;
}

void reasoning_judge(enum reasoning_claim claim, const double *rows, uint32_t count,
                     lab_finding_t *finding) {
    static void (*const adds[])(const cells_t *, const double *, tally_t *, uint32_t *) = {
        [REASONING_SOLVES] = NULL, [REASONING_WIDER] = add_wider, [REASONING_LOCAL] = add_local};
    const cells_t cells = {rows, count};
    const double share = REASONING_ENOUGH;
    tally_t tally = {0};
    uint32_t ties = 0;
    if (claim == REASONING_LEAST_FLOPS) {
        judge_flops(rows, count, finding);
        return;
    }
    if (claim == REASONING_LEAST_WIDTH) {
        judge_widths(rows, count, finding);
        return;
    }
    judge_found(finding, "Least width with %.0f%%", 100 * share);
    tell_attentions(&cells, finding);
    for (uint32_t i = 0; i < count; i++) {
        const double *row = row_of(&cells, i);
        if (isnan(row[REASONING_TASK]) || !is_first(&cells, i, OF_PROBLEM)) continue;
        const int32_t task = (int32_t)row[REASONING_TASK], size = (int32_t)row[REASONING_SIZE];
        if (adds[claim]) adds[claim](&cells, row, &tally, &ties);
        judge_found(finding, "%s %s %d", i ? ";" : "", reasoning_name(task), (int)size);
        for (int32_t a = 0, said = 0; a < REASONING_ATTENTIONS; a++) {
            if (!has_attention(&cells, a)) continue;
            judge_found(finding, said++ ? ", " : " ");
            tell_least(reasoning_least(rows, count, task, size, a, share), finding);
        }
    }
    judge_found(finding, ".");
    const int only_ties = tally.holds + tally.fails + tally.open == 0;
    if (only_ties) tally.open = ties;
    if (claim == REASONING_SOLVES)
        judge_solves(&cells, finding);
    else
        judge_tally(&tally, "comparisons", finding);
    if (ties && !only_ties) judge_sure(finding, ", and %u %s", ties, ties == 1 ? "tie" : "ties");
    const uint32_t missing = missing_cells(&cells);
    if (missing) judge_sure(finding, "; %u of %u cells are missing", missing, count);
}
