/* cli/lab/recorded.c: see recorded.h. */
#include "cli/lab/recorded.h"

#include "cli/cli.h"
#include "cli/files.h"
#include "json/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILE = 1 << 26, MOST_NAMES = 64 };

typedef struct reading {
    recorded_t *to;
    const char *path;
    json_reader_t text;
} reading_t;

static int damaged(const reading_t *reading, const char *what) {
    return cli_complain(CLI_USAGE, "%s: is no file of attn lab run, or damaged: %s", reading->path,
                        what);
}

/* ---- parameters ---------------------------------------------------------------------------------- */

/* A value as text, of a choice or of a number. */
static int read_value(json_reader_t *text, char value[64]) {
    json_skip_space(text);
    const char *first = text->at;
    if (first < text->end && *first == '"') return json_read_string(text, value, 64);
    if (!json_skip_value(text) || text->at - first >= 64) return 0;
    memcpy(value, first, (size_t)(text->at - first));
    value[text->at - first] = 0;
    return 1;
}

/* What the panel has anyway is left as it is: a parameter that is set stands for itself. */
static int set_parameter(reading_t *reading, const char *name, const char *value) {
    task_t *task = &reading->to->task;
    const lab_t *lab = task->run.lab;
    attn_error_t error;
    char text[32];
    for (uint32_t i = 0; i < lab->param_count; i++)
        if (strcmp(lab->params[i].name, name) == 0 && strcmp(task_value(task, i, text), value) == 0)
            return CLI_OK;
    return lab_run_set(&task->run, name, value, &error) ? cli_reject(reading->path, &error)
                                                        : CLI_OK;
}

static int read_parameters(reading_t *reading) {
    json_reader_t *text = &reading->text;
    if (!json_accept(text, '{')) return damaged(reading, "\"parameters\" is no object");
    if (json_accept(text, '}')) return CLI_OK;
    do {
        char name[64], value[64];
        if (!json_read_string(text, name, sizeof name) || !json_accept(text, ':') ||
            !read_value(text, value))
            return damaged(reading, "\"parameters\"");
        const int status = set_parameter(reading, name, value);
        if (status) return status;
    } while (json_accept(text, ','));
    return json_accept(text, '}') ? CLI_OK : damaged(reading, "\"parameters\"");
}

/* ---- points -------------------------------------------------------------------------------------- */

/* The number that a column has for a name. */
static double number_of(const lab_panel_t *panel, uint32_t column, const char *name) {
    for (int i = 0; i < MOST_NAMES; i++) {
        const char *known = panel->name_of ? panel->name_of(column, i) : NULL;
        if (known && strcmp(known, name) == 0) return i;
    }
    return NAN;
}

static int read_cell(json_reader_t *text, const lab_panel_t *panel, uint32_t column, double *cell) {
    char name[64];
    json_skip_space(text);
    if (text->at == text->end || *text->at != '"') return json_read_number(text, cell);
    if (!json_read_string(text, name, sizeof name)) return 0;
    *cell = number_of(panel, column, name);
    return !isnan(*cell);
}

static int read_failure(reading_t *reading, uint32_t point) {
    attn_error_t why;
    if (!json_read_string(&reading->text, why.message, sizeof why.message))
        return damaged(reading, "a point's \"failed\"");
    return task_spoil(&reading->to->task, point, why.message);
}

static int read_point(reading_t *reading, uint32_t point) {
    json_reader_t *text = &reading->text;
    task_t *task = &reading->to->task;
    const lab_panel_t *panel = task->run.panel;
    double *row = task->rows + (size_t)point * panel->column_count;
    if (!json_accept(text, '{')) return damaged(reading, "a point is no object");
    do {
        char name[64];
        uint32_t column = 0;
        if (!json_read_string(text, name, sizeof name) || !json_accept(text, ':'))
            return damaged(reading, "a point");
        while (column < panel->column_count && strcmp(panel->columns[column].name, name) != 0)
            column++;
        if (column == panel->column_count) {
            if (strcmp(name, "failed") != 0)
                return cli_complain(CLI_USAGE, "%s: panel %s has no column '%s'", reading->path,
                                    panel->id, name);
            const int status = read_failure(reading, point);
            if (status) return status;
        } else if (!read_cell(text, panel, column, &row[column])) {
            return cli_complain(CLI_USAGE, "%s: point %u: '%s' is no value of this column",
                                reading->path, point + 1, name);
        }
    } while (json_accept(text, ','));
    return json_accept(text, '}') ? CLI_OK : damaged(reading, "a point");
}

static int wrong_count(const reading_t *reading) {
    return cli_complain(CLI_USAGE, "%s: has not the %u points that its parameters make",
                        reading->path, reading->to->task.run.point_count);
}

/* Behind everything else, which says how many there are. */
static int read_points(reading_t *reading) {
    task_t *task = &reading->to->task;
    attn_error_t error;
    uint32_t count = 0;
    if (task->rows) return damaged(reading, "\"points\" stands twice");
    if (lab_run_begin(&task->run, task->context, &error)) return cli_reject(reading->path, &error);
    int status = task_prepare(task);
    if (status) return status;
    if (!json_accept(&reading->text, '[')) return damaged(reading, "\"points\" is no list");
    do {
        if (count == task->run.point_count) return wrong_count(reading);
        status = read_point(reading, count++);
    } while (!status && json_accept(&reading->text, ','));
    if (status) return status;
    if (count != task->run.point_count) return wrong_count(reading);
    return json_accept(&reading->text, ']') ? CLI_OK : damaged(reading, "\"points\"");
}

/* ---- the file ------------------------------------------------------------------------------------ */

static int read_verdict(json_reader_t *text, lab_finding_t *finding) {
    char name[32];
    if (!json_read_string(text, name, sizeof name)) return 0;
    for (int verdict = LAB_UNDECIDED; verdict <= LAB_SHOWN; verdict++)
        if (strcmp(lab_verdict_name(verdict), name) == 0) return finding->verdict = verdict, 1;
    return 0;
}

typedef struct field {
    const char *name;
    char *to;
    size_t size;
} field_t;

/* One field; those that only the page needs are skipped. */
static int read_field(reading_t *reading, const char *name) {
    recorded_t *to = reading->to;
    origin_t *origin = &to->task.origin;
    lab_finding_t *finding = &to->conclusion.finding;
    const field_t fields[] = {
        {"command", to->command, sizeof to->command},
        {"sure", finding->sure, sizeof finding->sure},
        {"found", finding->found, sizeof finding->found},
        {"note", to->conclusion.note, sizeof to->conclusion.note},
        {"version", origin->version, sizeof origin->version},
        {"commit", origin->commit, sizeof origin->commit},
        {"tier", origin->tier, sizeof origin->tier},
        {"host", origin->host, sizeof origin->host},
    };
    if (strcmp(name, "parameters") == 0) return read_parameters(reading);
    if (strcmp(name, "points") == 0) return read_points(reading);
    int is_read = 0, is_known = 0;
    if (strcmp(name, "seed") == 0)
        is_known = 1, is_read = json_read_size(&reading->text, &to->task.run.seed);
    if (strcmp(name, "verdict") == 0) is_known = 1, is_read = read_verdict(&reading->text, finding);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(name, fields[i].name) == 0)
            is_known = 1, is_read = json_read_string(&reading->text, fields[i].to, fields[i].size);
    if (!is_known) is_read = json_skip_value(&reading->text);
    return is_read ? CLI_OK : damaged(reading, name);
}

static int read_fields(reading_t *reading) {
    json_reader_t *text = &reading->text;
    int status = CLI_OK;
    if (!json_accept(text, '{')) return damaged(reading, "no object");
    do {
        char name[64];
        if (!json_read_string(text, name, sizeof name) || !json_accept(text, ':'))
            return damaged(reading, "a field");
        status = read_field(reading, name);
    } while (!status && json_accept(text, ','));
    if (status) return status;
    if (!json_accept(text, '}')) return damaged(reading, "its end");
    json_skip_space(text);
    if (text->at < text->end) return damaged(reading, "behind its end");
    return reading->to->task.rows ? CLI_OK : damaged(reading, "no \"points\"");
}

int recorded_read(recorded_t *recorded, const char *path) {
    char *bytes = NULL;
    size_t size = 0;
    lab_run_t *run = &recorded->task.run;
    lab_run_init(run, run->lab, run->panel, 0);
    int status = file_read_bounded(path, MOST_FILE, &bytes, &size);
    if (!status) {
        reading_t reading = {recorded, path, {bytes, bytes + size}};
        status = read_fields(&reading);
    }
    free(bytes);
    return status;
}

void recorded_free(recorded_t *recorded) {
    lab_run_end(&recorded->task.run);
    task_free(&recorded->task);
}
