/* cli/lab/curves.c: see curves.h. */
#include "cli/lab/curves.h"

#include "cli/lab/text.h"

#include <math.h>

/* The most points that are marked on a line: more would hide it. */
enum { MARKED_POINTS = 48 };

typedef struct curves {
    const task_t *task;
    const axis_t *x, *y;
    FILE *out;
} curves_t;

static double value_at(const task_t *task, uint32_t point, uint32_t column) {
    return task->rows[(size_t)point * task->run.panel->column_count + column];
}

int curves_draws(const lab_column_t *column) { return column->mark != LAB_HIDDEN; }

void curves_range(const task_t *task, uint32_t column, double *low, double *high) {
    const lab_axis_t *declared = column ? &task->run.panel->y : &task->run.panel->x;
    const axis_t axis = {.log = declared->log != 0};
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        const double value = value_at(task, i, column);
        if (!axis_has(&axis, value)) continue;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

/* ---- classes ------------------------------------------------------------------------------------- */

static int is_band(const lab_column_t *column) {
    return column->mark == LAB_LOW || column->mark == LAB_HIGH;
}

/*
 * Bounds have dashes of their own; all others are numbered in order, a band with its curve. Every other
 * thin line is dashed, too: what lies below it stays visible.
 */
const char *curves_class(const lab_panel_t *panel, uint32_t column, char text[48]) {
    static const char *const kinds[] = {"", "line", "points", "band", "band", "bound", "faint"};
    enum { COLOURS = 6, DASHES = 3 };
    const int mark = panel->columns[column].mark;
    int counts[LAB_FAINT + 1] = {0}; /* before this column */
    for (uint32_t i = 0; i < column; i++) counts[panel->columns[i].mark]++;
    int number = counts[LAB_LINE] + counts[LAB_POINTS] + counts[LAB_FAINT];
    if (is_band(&panel->columns[column]) && number > 0) number--;
    if (mark == LAB_BOUND)
        snprintf(text, 48, "bound dash%d", counts[LAB_BOUND] % DASHES);
    else
        snprintf(text, 48, "%s colour%d%s", kinds[mark], number % COLOURS,
                 (mark == LAB_FAINT && counts[LAB_FAINT] % 2) || number >= COLOURS ? " dash3" : "");
    return text;
}

/* ---- marks --------------------------------------------------------------------------------------- */

static int has(const curves_t *curves, uint32_t point, uint32_t column) {
    return axis_has(curves->x, value_at(curves->task, point, 0)) &&
           axis_has(curves->y, value_at(curves->task, point, column));
}

static void print_place(const curves_t *curves, char command, uint32_t point, uint32_t column) {
    fprintf(curves->out, "%c%.1f %.1f", command,
            axis_place(curves->x, value_at(curves->task, point, 0)),
            axis_place(curves->y, value_at(curves->task, point, column)));
}

/* Interrupted where there is no value. */
static void print_line(const curves_t *curves, uint32_t column) {
    const lab_panel_t *panel = curves->task->run.panel;
    char classes[48];
    int pen = 0;
    fprintf(curves->out, "<path class=\"curve %s\" data-column=\"%s\" d=\"",
            curves_class(panel, column, classes), panel->columns[column].name);
    for (uint32_t i = 0; i < curves->task->run.point_count; i++) {
        const int there = has(curves, i, column);
        if (there) print_place(curves, pen ? 'L' : 'M', i, column);
        pen = there;
    }
    fputs("\"/>\n", curves->out);
}

/* Up along the lower edge and back along the upper one, for each stretch without a gap. */
static void print_band(const curves_t *curves, uint32_t low, uint32_t high) {
    const uint32_t count = curves->task->run.point_count;
    char classes[48];
    fprintf(curves->out, "<path class=\"%s\" d=\"",
            curves_class(curves->task->run.panel, low, classes));
    for (uint32_t i = 0, end; i < count; i = end + 1) {
        for (end = i; end < count && has(curves, end, low) && has(curves, end, high);) end++;
        for (uint32_t j = i; j < end; j++) print_place(curves, j == i ? 'M' : 'L', j, low);
        for (uint32_t j = end; j > i; j--) print_place(curves, 'L', j - 1, high);
        if (end > i) fputc('Z', curves->out);
    }
    fputs("\"/>\n", curves->out);
}

static int is_alone(const curves_t *curves, uint32_t point, uint32_t column) {
    const uint32_t count = curves->task->run.point_count;
    return !(point > 0 && has(curves, point - 1, column)) &&
           !(point + 1 < count && has(curves, point + 1, column));
}

/* Dots, each of which tells its numbers where a page shows titles. */
static void print_dots(const curves_t *curves, uint32_t column) {
    const lab_panel_t *panel = curves->task->run.panel;
    const lab_column_t *info = &panel->columns[column];
    const uint32_t count = curves->task->run.point_count;
    const int all = info->mark == LAB_POINTS || (info->mark == LAB_LINE && count <= MARKED_POINTS);
    char classes[48];
    fprintf(curves->out, "<g class=\"dots %s\">\n", curves_class(panel, column, classes));
    for (uint32_t i = 0; i < count; i++) {
        if (!has(curves, i, column) || !(all || is_alone(curves, i, column))) continue;
        fprintf(curves->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"><title>",
                axis_place(curves->x, value_at(curves->task, i, 0)),
                axis_place(curves->y, value_at(curves->task, i, column)),
                info->mark == LAB_POINTS ? "3" : "2.4");
        xml_string(curves->out, panel->x.label);
        fprintf(curves->out, " = %.6g, ", value_at(curves->task, i, 0));
        xml_string(curves->out, info->label[0] ? info->label : info->name);
        fprintf(curves->out, ": %.6g</title></circle>\n", value_at(curves->task, i, column));
    }
    fputs("</g>\n", curves->out);
}

/* ---- exact zeros --------------------------------------------------------------------------------- */

static int is_zero(const curves_t *curves, uint32_t point, uint32_t column) {
    const int mark = curves->task->run.panel->columns[column].mark;
    return curves->y->log && (mark == LAB_LINE || mark == LAB_POINTS || mark == LAB_FAINT) &&
           axis_has(curves->x, value_at(curves->task, point, 0)) &&
           value_at(curves->task, point, column) == 0;
}

int curves_have_zeros(const task_t *task, const axis_t *x, const axis_t *y) {
    const curves_t curves = {.task = task, .x = x, .y = y};
    for (uint32_t c = 1; c < task->run.panel->column_count; c++)
        for (uint32_t i = 0; i < task->run.point_count; i++)
            if (is_zero(&curves, i, c)) return 1;
    return 0;
}

/* A logarithmic axis has no place for 0: an arrow at its foot, each curve's a little beside the others'. */
static void print_zeros(const curves_t *curves, uint32_t column) {
    const lab_panel_t *panel = curves->task->run.panel;
    char classes[48];
    for (uint32_t i = 0; i < curves->task->run.point_count; i++) {
        if (!is_zero(curves, i, column)) continue;
        fprintf(curves->out, "<path class=\"zero %s\" d=\"M%.1f %.1fl-4 -7h8z\"><title>",
                curves_class(panel, column, classes),
                axis_place(curves->x, value_at(curves->task, i, 0)) + 3 * (column % 3) - 3,
                curves->y->from + 7);
        xml_string(curves->out, panel->x.label);
        fprintf(curves->out, " = %.6g, ", value_at(curves->task, i, 0));
        xml_string(curves->out, panel->columns[column].label);
        fputs(": exactly 0</title></path>\n", curves->out);
    }
}

/* ---- all ----------------------------------------------------------------------------------------- */

static void print_bands(const curves_t *curves) {
    const lab_panel_t *panel = curves->task->run.panel;
    for (uint32_t low = 1; low < panel->column_count; low++) {
        if (panel->columns[low].mark != LAB_LOW) continue;
        for (uint32_t high = low + 1; high < panel->column_count; high++) {
            if (panel->columns[high].mark == LAB_LOW) break;
            if (panel->columns[high].mark != LAB_HIGH) continue;
            print_band(curves, low, high);
            break;
        }
    }
}

static void print_marks(const curves_t *curves, int mark) {
    const lab_panel_t *panel = curves->task->run.panel;
    for (uint32_t c = 1; c < panel->column_count; c++) {
        if (panel->columns[c].mark != mark) continue;
        if (mark != LAB_POINTS) print_line(curves, c);
        if (mark != LAB_BOUND) print_dots(curves, c);
    }
}

void curves_print(const task_t *task, const axis_t *x, const axis_t *y, FILE *out) {
    const curves_t curves = {.task = task, .x = x, .y = y, .out = out};
    print_bands(&curves);
    print_marks(&curves, LAB_FAINT);
    print_marks(&curves, LAB_BOUND);
    print_marks(&curves, LAB_LINE);
    print_marks(&curves, LAB_POINTS);
    for (uint32_t c = 1; c < task->run.panel->column_count; c++) print_zeros(&curves, c);
}
