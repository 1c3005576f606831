/* labs/separation/formula.c: what trials of the separation experiments come to for many tokens; see separation.h. */
#include "labs/separation/separation.h"

#include <math.h>

/*
 * For n without end a row's weights are either all on the mark or uniform, so that only signs are left: sa of the
 * marked column, sb of the mark's block, sc of the constant column, and the mean of all blocks. A mark or an alarm that
 * meets the threshold exactly is decided by what vanishes with n: a row of X = I has more weight on its own block, the
 * others have the mark, whose sign is sa.
 */
typedef struct signs {
    double a, b, c, mean;
} signs_t;

/* Whether all weight of a marked row goes to the mark, by the exponents of n. */
static int concentrates(const separation_t *what, double a) {
    const double g = what->b + what->c;
    if (what->net == SEPARATION_REGRESSION) return a == what->a[1];
    if (what->net == SEPARATION_SELF) return a * a + what->b * what->b > 1;
    if (what->net == SEPARATION_SELF_ONES) return a * (a + g) > 1;
    return a > 1;
}

static int is_above(double value, double threshold, int tie) {
    if (fabs(value - threshold) < 1e-9) return tie;
    return value > threshold;
}

static int is_mark(const separation_t *what, double a, const signs_t *y) {
    if (what->net == SEPARATION_CROSS) return y->a + y->b > 0.9;
    return is_above(a * y->a + what->b * y->b + what->c * y->c, what->c + 0.1, 0);
}

static int is_alarm(const separation_t *what, const signs_t *y) {
    if (what->net == SEPARATION_CROSS) return is_above(y->mean, 0.9, y->a > 0);
    return is_above(what->b * y->mean + what->c * y->c, what->c + 0.1,
                    what->net == SEPARATION_SELF || y->a > 0);
}

/* Of one column of y. */
typedef struct column {
    double mark, alarm, either;
} column_t;

static void add_signs(const separation_t *what, const signs_t *y, double chance, column_t *column) {
    const int marks = concentrates(what, what->a[1]) && is_mark(what, what->a[1], y);
    const int alarms = is_alarm(what, y);
    column->mark += marks ? chance : 0;
    column->alarm += alarms ? chance : 0;
    column->either += marks || alarms ? chance : 0;
}

static column_t column_of(const separation_t *what) {
    const int64_t blocks = what->d - (what->net == SEPARATION_CROSS ? 1 : 2), others = blocks - 1;
    column_t column = {0};
    if (what->net == SEPARATION_REGRESSION) return (column_t){0.5, 0, 0.5};
    for (int64_t plus = 0; plus <= others; plus++) {
        const double ways = lgamma((double)others + 1) - lgamma((double)plus + 1) -
                            lgamma((double)(others - plus) + 1);
        const double chance = exp(ways - (double)others * log(2)) / 8;
        for (int bits = 0; bits < 8; bits++) {
            signs_t y = {bits & 1 ? 1 : -1, bits & 2 ? 1 : -1, bits & 4 ? 1 : -1, 0};
            y.mean = (y.b + (double)(2 * plus - others)) / (double)blocks;
            add_signs(what, &y, chance, &column);
        }
    }
    return column;
}

separation_formula_t separation_formula(const separation_t *what) {
    const column_t column = column_of(what);
    const double m = (double)what->m, quiet = pow(1 - column.alarm, m);
    /* all ones: the rows beside the mark's see the mark, too, and raise no alarm in D1 */
    const int all = what->net == SEPARATION_SELF_ONES && what->a[1] * (what->b + what->c) > 1;
    const int early = what->net != SEPARATION_REGRESSION && concentrates(what, what->a[0]);
    return (separation_formula_t){
        .missed = pow(1 - (all ? column.mark : column.either), m),
        .alarm = 1 - quiet,
        .success = early ? 0 : quiet - pow(1 - column.either, m),
    };
}
