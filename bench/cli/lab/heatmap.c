/* cli/lab/heatmap.c: see heatmap.h. */
#include "cli/lab/heatmap.h"

#include "cli/lab/frame.h"
#include "cli/lab/style.h"
#include "cli/lab/text.h"

#include <math.h>

/* In the units of the figure, as FRAME_WIDTH is. */
enum { LEFT = 18, LABEL = 26, GAP = 14, TITLE = 18, TILE = 26, TICKS = 18, AXIS = 16 };
enum { MOST = 16 /* values along an axis */ };

/** The values of a column, in the order in which they come. */
typedef struct values {
    double items[MOST];
    int count;
} values_t;

typedef struct map {
    const task_t *task;
    const lab_tiles_t *tiles;
    double row, column; /* which map it is */
    values_t xs, ys;
    double left, top, width;
    FILE *out;
} map_t;

static double value_at(const task_t *task, uint32_t point, uint32_t column) {
    return task->rows[(size_t)point * task->run.panel->column_count + column];
}

static void add(values_t *values, double value) {
    for (int i = 0; i < values->count; i++)
        if (values->items[i] == value) return;
    if (values->count < MOST) values->items[values->count++] = value;
}

static void print_value(const map_t *map, uint32_t column, double value) {
    const lab_panel_t *panel = map->task->run.panel;
    const char *name = panel->name_of ? panel->name_of(column, value) : NULL;
    char text[32];
    xml_string(map->out, name ? name : lab_number_text(value, text));
}

static int is_of(const map_t *map, uint32_t point) {
    return value_at(map->task, point, map->tiles->map_row) == map->row &&
           value_at(map->task, point, map->tiles->map_column) == map->column;
}

/* The mean of the points at a place that are finished; NaN for none. */
static double shade_at(const map_t *map, double x, double y) {
    double sum = 0, count = 0;
    for (uint32_t i = 0; i < map->task->run.point_count; i++) {
        const double shade = value_at(map->task, i, map->tiles->shade);
        if (!is_of(map, i) || value_at(map->task, i, map->tiles->x) != x ||
            value_at(map->task, i, map->tiles->y) != y || isnan(shade))
            continue;
        sum += shade, count++;
    }
    return sum / count; /* 0 / 0 is NaN */
}

static int is_spoilt(const map_t *map, double x, double y) {
    for (uint32_t i = 0; i < map->task->run.point_count; i++)
        if (map->task->spoilt[i] && is_of(map, i) && value_at(map->task, i, map->tiles->x) == x &&
            value_at(map->task, i, map->tiles->y) == y)
            return 1;
    return 0;
}

static void print_text(const map_t *map, const char *classes, double x, double y,
                       const char *text) {
    fprintf(map->out,
            "<text class=\"small%s\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%s</text>\n",
            classes, x, y, text);
}

static void print_tile(const map_t *map, int x, int y) {
    const double shade = shade_at(map, map->xs.items[x], map->ys.items[y]);
    const double width = map->width / map->xs.count, left = map->left + x * width;
    const double top = map->top + (map->ys.count - 1 - y) * TILE; /* the largest is above */
    const double middle = left + width / 2, base = top + TILE / 2 + 4;
    char classes[40], text[16];
    fprintf(map->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"",
            isnan(shade) ? "no-tile" : "tile", left + 1, top + 1, width - 2, TILE - 2);
    if (isnan(shade)) {
        fputs("/>\n", map->out);
        if (is_spoilt(map, map->xs.items[x], map->ys.items[y]))
            print_text(map, "", middle, base, "failed");
        return;
    }
    snprintf(classes, sizeof classes, " on-tile%s%s",
             style_wants_white(STYLE_LIGHT, shade) ? " white" : "",
             style_wants_white(STYLE_DARK, shade) ? " white-at-night" : "");
    snprintf(text, sizeof text, "%.1f", 100 * shade);
    fprintf(map->out, " fill-opacity=\"%.3f\"/>\n", shade);
    print_text(map, classes, middle, base, text);
}

static void print_map(const map_t *map) {
    fprintf(map->out, "<text x=\"%.1f\" y=\"%.1f\">", map->left, map->top - 6);
    print_value(map, map->tiles->map_column, map->column);
    fputs(", ", map->out);
    print_value(map, map->tiles->map_row, map->row);
    fputs("</text>\n", map->out);
    for (int y = 0; y < map->ys.count; y++) {
        fprintf(map->out, "<text class=\"small\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">",
                map->left - 5, map->top + (map->ys.count - 1 - y) * TILE + TILE / 2 + 4);
        print_value(map, map->tiles->y, map->ys.items[y]);
        fputs("</text>\n", map->out);
        for (int x = 0; x < map->xs.count; x++) print_tile(map, x, y);
    }
    for (int x = 0; x < map->xs.count; x++) {
        fprintf(map->out, "<text class=\"small\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">",
                map->left + (x + 0.5) * map->width / map->xs.count,
                map->top + map->ys.count * TILE + 13);
        print_value(map, map->tiles->x, map->xs.items[x]);
        fputs("</text>\n", map->out);
    }
}

static void fill(map_t *map) {
    map->xs.count = map->ys.count = 0;
    for (uint32_t i = 0; i < map->task->run.point_count; i++) {
        if (!is_of(map, i)) continue;
        add(&map->xs, value_at(map->task, i, map->tiles->x));
        add(&map->ys, value_at(map->task, i, map->tiles->y));
    }
}

double heatmap_print(const task_t *task, double top, FILE *out) {
    const lab_panel_t *panel = task->run.panel;
    map_t map = {.task = task, .tiles = panel->tiles, .out = out};
    values_t rows = {.count = 0}, columns = {.count = 0};
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        add(&rows, value_at(task, i, panel->tiles->map_row));
        add(&columns, value_at(task, i, panel->tiles->map_column));
    }
    const double room = (FRAME_RIGHT - LEFT + GAP) / (double)columns.count;
    map.width = room - LABEL - GAP;
    for (int r = 0; r < rows.count; r++) {
        int highest = 0;
        map.top = top + TITLE;
        for (int c = 0; c < columns.count; c++) {
            map.row = rows.items[r], map.column = columns.items[c];
            map.left = LEFT + c * room + LABEL;
            fill(&map);
            print_map(&map);
            highest = map.ys.count > highest ? map.ys.count : highest;
        }
        top = map.top + highest * TILE + TICKS;
    }
    fprintf(out, "<text class=\"small\" x=\"%d\" y=\"%.1f\">", LEFT, top + AXIS);
    xml_string(out, panel->columns[panel->tiles->shade].label);
    fputs(", %; rows: ", out);
    xml_string(out, panel->columns[panel->tiles->y].label);
    fputs("; columns: ", out);
    xml_string(out, panel->columns[panel->tiles->x].label);
    fputs("; empty: not finished</text>\n", out);
    return top + AXIS;
}
