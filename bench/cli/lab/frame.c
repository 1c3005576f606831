/* cli/lab/frame.c: see frame.h. */
#include "cli/lab/frame.h"

#include "cli/lab/curves.h"
#include "cli/lab/text.h"

#include <math.h>

enum {
    HEIGHT = 300,
    INSET = 9, /* between the frame and the ends of the axes: marks there stay whole */
};

/* ---- limits -------------------------------------------------------------------------------------- */

static void range_of_columns(const task_t *task, double *low, double *high) {
    for (uint32_t c = 1; c < task->run.panel->column_count; c++)
        if (curves_draws(&task->run.panel->columns[c])) curves_range(task, c, low, high);
}

frame_t frame_make(const task_t *task, double top) {
    const lab_panel_t *panel = task->run.panel;
    frame_t frame = {.top = top, .bottom = top + HEIGHT};
    double low = INFINITY, high = -INFINITY;
    curves_range(task, 0, &low, &high);
    frame.x = axis_make(&panel->x, low, high);
    low = INFINITY;
    high = -INFINITY;
    range_of_columns(task, &low, &high);
    if (low > 0 && low < 0.4 * high && !panel->y.log) low = 0; /* lengths are then comparable */
    frame.y = axis_make(&panel->y, low, high);
    frame.x.from = FRAME_LEFT + INSET;
    frame.x.to = FRAME_RIGHT - INSET;
    frame.y.from = frame.bottom - INSET;
    frame.y.to = frame.top + INSET;
    return frame;
}

static void print_tick_text(FILE *out, const tick_t *tick) {
    xml_string(out, tick->text);
    if (tick->power[0]) fprintf(out, "<tspan class=\"power\" dy=\"-5\">%s</tspan>", tick->power);
}

static void print_x_ticks(const frame_t *frame, FILE *out) {
    tick_t ticks[AXIS_TICKS];
    const int count = axis_ticks(&frame->x, ticks);
    for (int i = 0; i < count; i++) {
        const double x = axis_place(&frame->x, ticks[i].value);
        const double length = ticks[i].text[0] ? 5 : 3;
        if (ticks[i].text[0])
            fprintf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, frame->top,
                    frame->bottom);
        fprintf(out, "<path class=\"frame\" d=\"M%.1f %.1fv%.0f\"/>\n", x, frame->bottom, length);
        if (!ticks[i].text[0]) continue;
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x, frame->bottom + 19);
        print_tick_text(out, &ticks[i]);
        fputs("</text>\n", out);
    }
}

static void print_y_ticks(const frame_t *frame, FILE *out) {
    tick_t ticks[AXIS_TICKS];
    const int count = axis_ticks(&frame->y, ticks);
    for (int i = 0; i < count; i++) {
        const double y = axis_place(&frame->y, ticks[i].value);
        const int length = ticks[i].text[0] ? 5 : 3;
        if (ticks[i].text[0])
            fprintf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", FRAME_LEFT, y, FRAME_RIGHT);
        fprintf(out, "<path class=\"frame\" d=\"M%d %.1fh%d\"/>\n", FRAME_LEFT, y, -length);
        if (!ticks[i].text[0]) continue;
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", FRAME_LEFT - 9, y + 4);
        print_tick_text(out, &ticks[i]);
        fputs("</text>\n", out);
    }
}

static void print_axis_label(FILE *out, const lab_axis_t *axis) {
    xml_string(out, axis->label);
    if (!axis->unit[0]) return;
    fputs(" (", out);
    xml_string(out, axis->unit);
    fputs(")", out);
}

static void print_axis_labels(const frame_t *frame, const lab_panel_t *panel, FILE *out) {
    const double middle = (frame->top + frame->bottom) / 2;
    fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"middle\">",
            (FRAME_LEFT + FRAME_RIGHT) / 2, frame->bottom + 40);
    print_axis_label(out, &panel->x);
    fprintf(out,
            "</text>\n<text transform=\"translate(20 %.1f) rotate(-90)\" text-anchor=\"middle\">",
            middle);
    print_axis_label(out, &panel->y);
    fputs("</text>\n", out);
}

/* ---- where premises do not hold ------------------------------------------------------------- */

static const double *row_at(const task_t *task, uint32_t point) {
    return task->rows + (size_t)point * task->run.panel->column_count;
}

static int is_outside(const frame_t *frame, const task_t *task, uint32_t point) {
    const double *row = row_at(task, point);
    return axis_has(&frame->x, row[0]) && !lab_run_within(&task->run, row);
}

int frame_has_outside(const frame_t *frame, const task_t *task) {
    for (uint32_t i = 0; i < task->run.point_count; i++)
        if (is_outside(frame, task, i)) return 1;
    return 0;
}

/* Half way from one point to the next; to the frame where there is none. */
static double edge(const frame_t *frame, const task_t *task, uint32_t point, int before) {
    const double here = axis_place(&frame->x, row_at(task, point)[0]);
    if (before && point == 0) return FRAME_LEFT;
    if (!before && point + 1 == task->run.point_count) return FRAME_RIGHT;
    return (here + axis_place(&frame->x, row_at(task, before ? point - 1 : point + 1)[0])) / 2;
}

/* Stretches of points, each as one area. */
static void print_outside(const frame_t *frame, const task_t *task, FILE *out) {
    for (uint32_t i = 0, end; i < task->run.point_count; i = end + 1) {
        for (end = i; end < task->run.point_count && is_outside(frame, task, end);) end++;
        if (end == i) continue;
        const double from = edge(frame, task, i, 1), to = edge(frame, task, end - 1, 0);
        fprintf(out,
                "<rect class=\"outside\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n",
                from, frame->top, to - from, HEIGHT);
    }
}

/* ---- all ----------------------------------------------------------------------------------------- */

void frame_print(const frame_t *frame, const task_t *task, FILE *out) {
    const lab_panel_t *panel = task->run.panel;
    char name[TASK_NAME];
    task_name(task, name);
    print_outside(frame, task, out);
    print_x_ticks(frame, out);
    print_y_ticks(frame, out);
    fprintf(out,
            "<path class=\"frame\" d=\"M%d %.1fV%.1fH%d\"/>\n"
            "<clipPath id=\"clip-%s\"><path d=\"M%d %.1fV%.1fH%dV%.1fZ\"/></clipPath>\n"
            "<g clip-path=\"url(#clip-%s)\">\n",
            FRAME_LEFT, frame->top, frame->bottom, FRAME_RIGHT, name, FRAME_LEFT, frame->top,
            frame->bottom, FRAME_RIGHT, frame->top, name);
    curves_print(task, &frame->x, &frame->y, out);
    fputs("</g>\n", out);
    print_axis_labels(frame, panel, out);
}
