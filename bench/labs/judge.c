/* labs/judge.c: see judge.h. */
#include "labs/judge.h"

#include "labs/statistics.h"
#include "number/format.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- counting ------------------------------------------------------------------------------------ */

void tally_add(tally_t *tally, int32_t verdict) {
    tally->holds += verdict == LAB_HOLDS;
    tally->fails += verdict == LAB_FAILS;
    tally->open += verdict == LAB_UNDECIDED;
}

int32_t judge_at_most(double low, double high, double bound) {
    if (high <= bound) return LAB_HOLDS;
    return low > bound ? LAB_FAILS : LAB_UNDECIDED;
}

int32_t judge_at_least(double low, double high, double bound) {
    return judge_at_most(-high, -low, -bound);
}

int32_t tally_verdict(const tally_t *tally) {
    if (tally->fails) return LAB_FAILS;
    return tally->open || !tally->holds ? LAB_UNDECIDED : LAB_HOLDS;
}

void judge_tally(const tally_t *tally, const char *what, lab_finding_t *finding) {
    const uint32_t count = tally->holds + tally->fails + tally->open;
    finding->verdict = tally_verdict(tally);
    if (!count) judge_sure(finding, "no %s are within its premises", what);
    if (count) judge_sure(finding, "%u of %u %s for it", tally->holds, count, what);
    if (tally->fails) judge_sure(finding, ", %u against", tally->fails);
    if (tally->open) judge_sure(finding, ", %u undecided", tally->open);
}

/* ---- words --------------------------------------------------------------------------------------- */

static void append(char *text, size_t size, const char *format, va_list arguments) {
    const size_t used = strlen(text);
    attn_vformat(text + used, size - used, format, arguments);
}

void judge_sure(lab_finding_t *finding, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(finding->sure, sizeof finding->sure, format, arguments);
    va_end(arguments);
}

void judge_found(lab_finding_t *finding, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    append(finding->found, sizeof finding->found, format, arguments);
    va_end(arguments);
}

/* ---- exponents ----------------------------------------------------------------------------------- */

static int32_t judge_exponent(const exponent_t *exponent, double claimed) {
    static const double slack = JUDGE_EXPONENT_SLACK;
    if (!(exponent->high - exponent->low <= JUDGE_EXPONENT_WIDTH)) return LAB_UNDECIDED;
    const int near = exponent->low <= claimed + slack && exponent->high >= claimed - slack;
    return near ? LAB_HOLDS : LAB_FAILS;
}

void judge_exponents(const lab_run_t *run, const double *rows, uint32_t count, uint32_t x,
                     const judged_exponent_t *exponents, uint32_t exponent_count,
                     lab_finding_t *finding) {
    tally_t tally = {0};
    for (uint32_t i = 0; i < exponent_count; i++) {
        const judged_exponent_t *judged = &exponents[i];
        const exponent_t exponent = statistics_exponent_of_columns(
            rows, count, run->panel->column_count, x, judged->column);
        tally_add(&tally, judge_exponent(&exponent, judged->claimed));
        judge_found(finding, "%s of %s is %.2f (%.2f to %.2f; claimed %g)",
                    i ? "," : "The exponent", judged->name, exponent.value, exponent.low,
                    exponent.high, judged->claimed);
    }
    judge_found(finding, ".");
    judge_tally(&tally, "exponents", finding);
}
