/* cli/lab/documents.c: see documents.h. */
#include "cli/lab/documents.h"

#include "cli/cli.h"
#include "cli/lab/figure.h"
#include "cli/lab/text.h"
#include "cli/output.h"
#include "cli/table.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { CSV, JSON, SVG, DOCUMENTS };
static const char *const endings[DOCUMENTS] = {"csv", "json", "svg"};

/* What is known of a panel before anything is printed. */
typedef struct document {
    const task_t *task;
    conclusion_t conclusion;
    text_t command;
    char *panel; /* as JSON */
} document_t;

static double value_at(const task_t *task, uint32_t point, uint32_t column) {
    return task->rows[(size_t)point * task->run.panel->column_count + column];
}

static const char *name_at(const task_t *task, uint32_t point, uint32_t column) {
    const lab_panel_t *panel = task->run.panel;
    return panel->name_of ? panel->name_of(column, value_at(task, point, column)) : NULL;
}

/* As in `attn compare`: what is no finite number is empty in CSV and null in JSON. */
static void print_number(FILE *out, double value, const char *missing) {
    char text[32];
    fputs(isfinite(value) ? lab_number_text(value, text) : missing, out);
}

/* Panels of long work have a last column: why a point could not be computed. */
static int has_failures(const task_t *task) { return (task->run.panel->flags & LAB_LONG) != 0; }

/* ---- CSV ----------------------------------------------------------------------------------------- */

/* In quotes, which inside of them are two. */
static void print_failure(const char *why, FILE *out) {
    fputc(',', out);
    if (!why) return;
    fputc('"', out);
    for (; *why; why++) {
        if (*why == '"') fputc('"', out);
        fputc(*why, out);
    }
    fputc('"', out);
}

static void print_csv(const void *data, FILE *out) {
    const task_t *task = ((const document_t *)data)->task;
    const lab_panel_t *panel = task->run.panel;
    for (uint32_t c = 0; c < panel->column_count; c++)
        if (!panel->columns[c].aside) fprintf(out, "%s%s", c ? "," : "", panel->columns[c].name);
    if (has_failures(task)) fputs(",failed", out);
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        fputc('\n', out);
        for (uint32_t c = 0; c < panel->column_count; c++) {
            if (panel->columns[c].aside) continue;
            fputs(c ? "," : "", out);
            if (name_at(task, i, c))
                fputs(name_at(task, i, c), out);
            else
                print_number(out, value_at(task, i, c), "");
        }
        if (has_failures(task)) print_failure(task->spoilt[i], out);
    }
    fputc('\n', out);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static void print_field(FILE *out, const char *name, const char *text) {
    fprintf(out, "\"%s\": ", name);
    json_string(out, text);
    fputs(",\n", out);
}

static void print_parameters(const task_t *task, FILE *out) {
    const lab_t *lab = task->run.lab;
    const char *separator = "";
    fputs("\"parameters\": {", out);
    for (uint32_t i = 0; i < lab->param_count; i++) {
        char text[32];
        if (!task_has(task, i)) continue;
        const char *value = task_value(task, i, text);
        fprintf(out, "%s\"%s\": ", separator, lab->params[i].name);
        if (lab->params[i].type == ATTN_PARAM_CHOICE || value[0] == 'a')
            json_string(out, value);
        else
            fputs(value, out);
        separator = ", ";
    }
    fputs("},\n", out);
}

static void print_points(const task_t *task, FILE *out) {
    const lab_panel_t *panel = task->run.panel;
    fputs("\"points\": [", out);
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        fputs(i ? ",\n  {" : "\n  {", out);
        for (uint32_t c = 0; c < panel->column_count; c++) {
            fprintf(out, "%s\"%s\": ", c ? ", " : "", panel->columns[c].name);
            if (name_at(task, i, c))
                json_string(out, name_at(task, i, c));
            else
                print_number(out, value_at(task, i, c), "null");
        }
        if (task->spoilt[i]) {
            fputs(", \"failed\": ", out);
            json_string(out, task->spoilt[i]);
        }
        fputs("}", out);
    }
    fputs("\n]", out);
}

static void print_finding(const lab_finding_t *finding, FILE *out) {
    print_field(out, "verdict", lab_verdict_name(finding->verdict));
    print_field(out, "sure", finding->sure);
    print_field(out, "found", finding->found);
}

static void print_json(const void *data, FILE *out) {
    const document_t *document = data;
    const task_t *task = document->task;
    const lab_t *lab = task->run.lab;
    fputs("{\n", out);
    print_field(out, "lab", lab->name);
    print_field(out, "title", lab->title);
    print_field(out, "reference", lab->reference);
    print_field(out, "summary", lab->summary);
    print_field(out, "command", document->command.bytes);
    fprintf(out, "\"seed\": %llu,\n", (unsigned long long)task->run.seed);
    print_parameters(task, out);
    print_finding(&document->conclusion.finding, out);
    print_field(out, "note", document->conclusion.note);
    print_field(out, "version", task->origin.version);
    print_field(out, "commit", task->origin.commit);
    print_field(out, "tier", task->origin.tier);
    print_field(out, "host", task->origin.host);
    fprintf(out, "\"panel\": %s,\n", document->panel);
    print_points(task, out);
    fputs("\n}\n", out);
}

/* ---- files --------------------------------------------------------------------------------------- */

static void print_command(const void *data, FILE *out) { task_command(data, out); }

static int describe_panel(document_t *document) {
    const lab_run_t *run = &document->task->run;
    const size_t size = lab_describe_panel(run->lab, run->panel, NULL, 0) + 1;
    document->panel = malloc(size);
    if (!document->panel) return cli_complain(CLI_USAGE, "no memory for a panel's description");
    lab_describe_panel(run->lab, run->panel, document->panel, size);
    return CLI_OK;
}

static int prepare(document_t *document) {
    const task_t *task = document->task;
    task_conclude(task, &document->conclusion);
    const int status = text_make(&document->command, print_command, task);
    return status ? status : describe_panel(document);
}

static int print(const document_t *document, int which, text_t *text) {
    if (which == CSV) return text_make(text, print_csv, document);
    if (which == JSON) return text_make(text, print_json, document);
    return figure_make(document->task, &document->conclusion, document->command.bytes, text);
}

int documents_write(const task_t *task) {
    document_t document = {.task = task};
    text_t texts[DOCUMENTS] = {{.bytes = NULL}};
    char *paths[DOCUMENTS] = {NULL};
    output_t output = {.count = 0};
    int status = prepare(&document);
    for (int i = 0; i < DOCUMENTS && !status; i++) {
        paths[i] = task_path(task, endings[i]);
        status = paths[i] ? print(&document, i, &texts[i])
                          : cli_complain(CLI_USAGE, "no memory for a path");
        if (!status) output_add(&output, paths[i], NULL, 0, texts[i].bytes, texts[i].size);
    }
    if (!status) status = output_write(&output);
    for (int i = 0; i < DOCUMENTS; i++) {
        free(paths[i]);
        free(texts[i].bytes);
    }
    free(document.command.bytes);
    free(document.panel);
    return status;
}

int documents_remove(const task_t *task) {
    for (int i = 0; i < DOCUMENTS; i++) {
        char *path = task_path(task, endings[i]);
        if (!path) return cli_complain(CLI_USAGE, "no memory for a path");
        unlink(path);
        free(path);
    }
    return CLI_OK;
}
