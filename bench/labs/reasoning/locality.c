/* labs/reasoning/locality.c: how the least width falls as steps look back less: ED_LOCAL of several bands, and ED. */
#include "labs/judge.h"
#include "labs/reasoning/lab.h"

#include <math.h>

typedef struct cells {
    const double *rows;
    uint32_t count;
} cells_t;

static const double *row_of(const cells_t *cells, uint32_t i) {
    return cells->rows + (size_t)i * REASONING_LOCALITY_COLUMNS;
}

/* Whether the models of this band and width have a share of 90%: by the means of their seeds' intervals. */
static int32_t reaches(const cells_t *cells, double band, double width) {
    double low = 0, high = 0, seeds = 0;
    for (uint32_t i = 0; i < cells->count; i++) {
        const double *row = row_of(cells, i);
        if (row[REASONING_BAND] != band || row[REASONING_WIDTH] != width) continue;
        low += row[REASONING_LOW], high += row[REASONING_HIGH], seeds++;
    }
    return judge_at_least(low / seeds, high / seeds, REASONING_ENOUGH);
}

/* The widths at which a band may first be solved. */
static reasoning_least_t least_of(const cells_t *cells, double band) {
    reasoning_least_t least = {INFINITY, INFINITY};
    for (uint32_t i = 0; i < cells->count; i++) {
        const double *row = row_of(cells, i), width = row[REASONING_WIDTH];
        if (row[REASONING_BAND] != band) continue;
        const int32_t verdict = reaches(cells, band, width);
        if (verdict != LAB_FAILS) least.low = fmin(least.low, width);
        if (verdict == LAB_HOLDS) least.high = fmin(least.high, width);
    }
    return least;
}

/* Bands as the cells have them, from the narrowest; whole rows, 0, are last. */
static int list_bands(const cells_t *cells, double bands[REASONING_BANDS]) {
    int count = 0;
    for (uint32_t i = 0; i < cells->count; i++) {
        const double band = row_of(cells, i)[REASONING_BAND];
        int known = isnan(band);
        for (int b = 0; b < count; b++) known |= bands[b] == band;
        if (!known && count < REASONING_BANDS) bands[count++] = band;
    }
    return count;
}

static void tell(double band, reasoning_least_t least, lab_finding_t *finding) {
    judge_found(finding, band > 0 ? "band %.0f: " : "whole rows: ", band);
    if (least.low != least.high)
        judge_found(finding, "?");
    else if (isinf(least.low))
        judge_found(finding, "none");
    else
        judge_found(finding, "%.0f", least.low);
}

void reasoning_judge_locality(const double *rows, uint32_t count, lab_finding_t *finding) {
    const cells_t cells = {rows, count};
    double bands[REASONING_BANDS];
    const int band_count = list_bands(&cells, bands);
    tally_t tally = {0};
    uint32_t missing = 0;
    reasoning_least_t before = {0};
    judge_found(finding, "Least width with %.0f%%, ", 100 * REASONING_ENOUGH);
    for (int b = 0; b < band_count; b++) {
        const reasoning_least_t least = least_of(&cells, bands[b]);
        if (b)
            tally_add(&tally, before.high < least.low   ? LAB_HOLDS
                              : before.low > least.high ? LAB_FAILS
                                                        : LAB_UNDECIDED);
        if (b) judge_found(finding, "; ");
        tell(bands[b], least, finding);
        before = least;
    }
    judge_found(finding, ".");
    judge_tally(&tally, "comparisons", finding);
    for (uint32_t i = 0; i < count; i++) missing += isnan(row_of(&cells, i)[REASONING_RIGHT]);
    if (missing) judge_sure(finding, ", %u of %u cells are missing", missing, count);
}
