/* labs/lab.c: runs: one panel with its settings; see lab.h. */
#include "labs/lab.h"

#include "attn/random.h"
#include "attn/support.h"
#include "number/format.h"
#include "number/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings ---------------------------------------------------------------------------------- */

void lab_run_init(lab_run_t *run, const lab_t *lab, const lab_panel_t *panel, uint64_t seed) {
    *run = (lab_run_t){.lab = lab, .panel = panel, .seed = seed, .point_count = panel->grid.count};
    for (uint32_t i = 0; i < lab->param_count; i++) run->values[i] = lab->params[i].initial;
    for (uint32_t i = 0; i < panel->fixed_count; i++)
        run->values[panel->fixed[i].param] = panel->fixed[i].value;
}

void lab_run_grid(lab_run_t *run, const double *xs, uint32_t count) {
    run->xs = xs;
    run->point_count = count;
}

static attn_status_t read_choice(const attn_param_info_t *info, const char *text, double *value,
                                 attn_error_t *error) {
    char names[160] = "";
    for (int i = 0; info->choices[i]; i++) {
        if (strcmp(info->choices[i], text) == 0) {
            *value = i;
            return ATTN_OK;
        }
        const size_t used = strlen(names);
        attn_format(names + used, sizeof names - used, "%s%s", i ? ", " : "", info->choices[i]);
    }
    return attn_fail(error, ATTN_ERROR_RANGE, "parameter '%s': '%.30s' is not one of %s",
                     info->name, text, names);
}

static attn_status_t check_number(const attn_param_info_t *info, double number,
                                  attn_error_t *error) {
    char text[32], low[32], high[32];
    lab_number_text(number, text);
    if (!(number >= info->minimum && number <= info->maximum))
        return attn_fail(error, ATTN_ERROR_RANGE, "parameter '%s': %s is outside %s to %s",
                         info->name, text, lab_number_text(info->minimum, low),
                         lab_number_text(info->maximum, high));
    if (info->type != ATTN_PARAM_NUMBER && number != floor(number))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "parameter '%s': %s is not a whole number",
                         info->name, text);
    return ATTN_OK;
}

static attn_status_t read_number(const attn_param_info_t *info, const char *text, double *value,
                                 attn_error_t *error) {
    const char *end;
    if (info->type == ATTN_PARAM_BOOLEAN && strcmp(text, "true") == 0) text = "1";
    if (info->type == ATTN_PARAM_BOOLEAN && strcmp(text, "false") == 0) text = "0";
    const double number = attn_number_read(text, &end);
    if (end == text || *end || isnan(number))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "parameter '%s': '%.60s' is not a number",
                         info->name, text);
    const attn_status_t status = check_number(info, number, error);
    if (!status) *value = number;
    return status;
}

attn_status_t lab_run_set(lab_run_t *run, const char *name, const char *value,
                          attn_error_t *error) {
    const lab_t *lab = run->lab;
    uint32_t i = 0;
    while (i < lab->param_count && strcmp(lab->params[i].name, name) != 0) i++;
    if (i == lab->param_count)
        return attn_fail(error, ATTN_ERROR_NOT_FOUND, "%s has no parameter '%.60s'", lab->name,
                         name);
    if ((int32_t)i == run->panel->x_param)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "parameter '%s' is the axis of panel %s: its values are the grid's", name,
                         run->panel->id);
    run->given |= 1u << i;
    if (lab->params[i].type == ATTN_PARAM_CHOICE)
        return read_choice(&lab->params[i], value, &run->values[i], error);
    return read_number(&lab->params[i], value, &run->values[i], error);
}

/* ---- points ------------------------------------------------------------------------------------ */

double lab_run_x(const lab_run_t *run, uint32_t index) {
    const lab_grid_t *grid = &run->panel->grid;
    if (run->xs) return run->xs[index];
    if (grid->list) return grid->list[index];
    /* 0.1 + 36 * 0.036 is to be 1.396: rounded to 12 decimals, and divided exactly. */
    return round((grid->first + index * grid->step) * 1e12) / 1e12;
}

static lab_point_t point_of(const lab_run_t *run, uint32_t index) {
    lab_point_t point = {.run = run, .x = lab_run_x(run, index), .index = index};
    memcpy(point.values, run->values, sizeof point.values);
    if (run->panel->x_param >= 0) point.values[run->panel->x_param] = point.x;
    return point;
}

/* Nobody shall vary what makes no difference and conclude something from that. */
static attn_status_t check_idle(const lab_run_t *run, uint32_t given, attn_error_t *error) {
    for (uint32_t i = 0; i < run->lab->param_count; i++)
        if ((given & run->panel->idle) >> i & 1)
            return attn_fail(error, ATTN_ERROR_ARGUMENT,
                             "parameter '%s' makes no difference to panel %s of %s",
                             run->lab->params[i].name, run->panel->id, run->lab->name);
    return ATTN_OK;
}

attn_status_t lab_run_takes(const lab_run_t *run, uint32_t index, attn_error_t *error) {
    lab_run_t probe = *run;
    probe.given = 1u << index;
    if ((int32_t)index == run->panel->x_param)
        return attn_fail(error, ATTN_ERROR_ARGUMENT,
                         "parameter '%s' is the axis of panel %s: its values are the grid's",
                         run->lab->params[index].name, run->panel->id);
    const attn_status_t idle = check_idle(run, probe.given, error);
    if (idle) return idle;
    const lab_point_t point = point_of(&probe, 0);
    const attn_status_t status = run->lab->check ? run->lab->check(&point, error) : ATTN_OK;
    return status == ATTN_ERROR_ARGUMENT ? status : ATTN_OK;
}

static attn_status_t check_points(const lab_run_t *run, attn_error_t *error) {
    const int32_t x = run->panel->x_param;
    for (uint32_t i = 0; i < run->point_count; i++) {
        const lab_point_t point = point_of(run, i);
        if (!isfinite(point.x))
            return attn_fail(error, ATTN_ERROR_ARGUMENT, "panel %s: a point is not a number",
                             run->panel->id);
        attn_status_t status =
            x >= 0 ? check_number(&run->lab->params[x], point.x, error) : ATTN_OK;
        if (!status && run->lab->check) status = run->lab->check(&point, error);
        if (status) return status;
    }
    return ATTN_OK;
}

attn_status_t lab_run_begin(lab_run_t *run, const attn_context_t *context, attn_error_t *error) {
    run->context = context;
    run->shared = NULL;
    if (run->lab->count && !run->xs) run->point_count = run->lab->count(run);
    attn_status_t status = check_idle(run, run->given, error);
    if (!status) status = check_points(run, error);
    if (status || !run->lab->begin) return status;
    return run->lab->begin(run, &run->shared, error);
}

attn_status_t lab_run_point(const lab_run_t *run, uint32_t index, double *row,
                            attn_error_t *error) {
    const lab_point_t point = point_of(run, index);
    lab_run_place(run, index, row);
    return run->lab->point(&point, row, error);
}

void lab_run_place(const lab_run_t *run, uint32_t index, double *row) {
    const lab_point_t point = point_of(run, index);
    row[0] = point.x;
    for (uint32_t i = 1; i < run->panel->column_count; i++) row[i] = NAN;
    if (run->lab->place) run->lab->place(&point, row);
}

void lab_run_file(const lab_run_t *run, uint32_t index, char name[LAB_FILE]) {
    const lab_point_t point = point_of(run, index);
    name[0] = 0;
    if (run->lab->file) run->lab->file(&point, name);
}

double lab_run_cost(const lab_run_t *run, uint32_t index) {
    const lab_point_t point = point_of(run, index);
    const double cost = run->lab->cost ? run->lab->cost(&point) : 1;
    return cost > 0 ? cost : 1;
}

void lab_run_note(const lab_run_t *run, const double *rows, uint32_t count, char *text,
                  size_t size) {
    text[0] = 0;
    if (run->lab->note) run->lab->note(run, rows, count, text, size);
}

int lab_run_within(const lab_run_t *run, const double *row) {
    const lab_panel_t *panel = run->panel;
    const int bounded = panel->defined_low < panel->defined_high;
    if (bounded && !(row[0] >= panel->defined_low && row[0] <= panel->defined_high)) return 0;
    return !run->lab->within || run->lab->within(run, row);
}

const char *lab_verdict_name(int32_t verdict) {
    static const char *const names[] = {"undecided", "holds", "fails", "illustration"};
    return names[verdict];
}

void lab_run_judge(const lab_run_t *run, const double *rows, uint32_t count,
                   lab_finding_t *finding) {
    *finding = (lab_finding_t){.sure = "there are no points"};
    if (count > 0) {
        finding->sure[0] = 0;
        run->lab->judge(run, rows, count, finding);
    }
    if (run->panel->flags & LAB_ILLUSTRATION) finding->verdict = LAB_SHOWN;
}

void lab_run_end(lab_run_t *run) {
    if (run->shared && run->lab->end) run->lab->end(run->shared);
    run->shared = NULL;
}

/* ---- random numbers ---------------------------------------------------------------------------- */

/* One step of a hash: any bit of `value` changes all bits that come. */
static uint64_t absorb(uint64_t hash, uint64_t value) {
    return attn_random_u64(hash, 0x6C6162, value); /* "lab" */
}

static uint64_t absorb_text(uint64_t hash, const char *text) {
    for (; *text; text++) hash = absorb(hash, (unsigned char)*text);
    return absorb(hash, 0);
}

uint64_t lab_stream(const lab_point_t *point, uint64_t trial, uint32_t purpose) {
    const double x = point->x + 0.0; /* no -0 */
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t hash = absorb_text(0, point->run->lab->name);
    hash = absorb(absorb_text(hash, point->run->panel->id), bits);
    return absorb(absorb(hash, trial), purpose);
}

/* ---- text -------------------------------------------------------------------------------------- */

const char *lab_number_text(double value, char text[32]) {
    if (isnan(value)) return memcpy(text, "nan", 4); /* never "-nan" */
    return attn_number_text(value, text);
}

const char *lab_value_text(const attn_param_info_t *info, double value, char text[32]) {
    if (info->type != ATTN_PARAM_CHOICE) return lab_number_text(value, text);
    attn_format(text, 32, "%s", info->choices[(int)value]);
    return text;
}
