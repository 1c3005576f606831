/* cli/lab/documents.c: see documents.h. */
#include "cli/lab/documents.h"

#include "cli/cli.h"
#include "cli/host.h"
#include "cli/lab/figure.h"
#include "cli/lab/text.h"
#include "cli/output.h"
#include "cli/table.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { CSV, JSON, SVG, DOCUMENTS };
static const char *const endings[DOCUMENTS] = {"csv", "json", "svg"};

static double value_at(const task_t *task, uint32_t point, uint32_t column) {
    return task->rows[(size_t)point * task->run.panel->column_count + column];
}

/* As in `attn compare`: what is no finite number is empty in CSV and null in JSON. */
static void print_number(FILE *out, double value, const char *missing) {
    char text[32];
    fputs(isfinite(value) ? lab_number_text(value, text) : missing, out);
}

/* ---- CSV ----------------------------------------------------------------------------------------- */

static void print_csv(const task_t *task, FILE *out) {
    const lab_panel_t *panel = task->run.panel;
    for (uint32_t c = 0; c < panel->column_count; c++)
        if (!panel->columns[c].aside) fprintf(out, "%s%s", c ? "," : "", panel->columns[c].name);
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        fputc('\n', out);
        for (uint32_t c = 0; c < panel->column_count; c++) {
            if (panel->columns[c].aside) continue;
            fputs(c ? "," : "", out);
            print_number(out, value_at(task, i, c), "");
        }
    }
    fputc('\n', out);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

static void print_field(FILE *out, const char *name, const char *text) {
    fprintf(out, "\"%s\": ", name);
    json_string(out, text);
    fputs(",\n", out);
}

static void print_command(const task_t *task, FILE *out) {
    text_t command;
    if (text_open(&command)) return;
    task_command(task, command.out);
    if (text_close(&command)) return;
    print_field(out, "command", command.bytes);
    free(command.bytes);
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

static void print_panel(const task_t *task, FILE *out) {
    const size_t size = lab_describe_panel(task->run.lab, task->run.panel, NULL, 0) + 1;
    char *text = malloc(size);
    if (!text) return;
    lab_describe_panel(task->run.lab, task->run.panel, text, size);
    fprintf(out, "\"panel\": %s,\n", text);
    free(text);
}

static void print_points(const task_t *task, FILE *out) {
    const lab_panel_t *panel = task->run.panel;
    fputs("\"points\": [", out);
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        fputs(i ? ",\n  {" : "\n  {", out);
        for (uint32_t c = 0; c < panel->column_count; c++) {
            fprintf(out, "%s\"%s\": ", c ? ", " : "", panel->columns[c].name);
            print_number(out, value_at(task, i, c), "null");
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

static void print_json(const task_t *task, const conclusion_t *conclusion, FILE *out) {
    const lab_t *lab = task->run.lab;
    char host[192];
    fputs("{\n", out);
    print_field(out, "lab", lab->name);
    print_field(out, "title", lab->title);
    print_field(out, "reference", lab->reference);
    print_field(out, "summary", lab->summary);
    print_command(task, out);
    fprintf(out, "\"seed\": %llu,\n", (unsigned long long)task->run.seed);
    print_parameters(task, out);
    print_finding(&conclusion->finding, out);
    print_field(out, "note", conclusion->note);
    print_field(out, "version", attn_version());
    print_field(out, "commit", host_commit());
    print_field(out, "tier", attn_tier_name(attn_context_tier(task->context)));
    print_field(out, "host", host_cpu(host, sizeof host));
    print_panel(task, out);
    print_points(task, out);
    fputs("\n}\n", out);
}

/* ---- files --------------------------------------------------------------------------------------- */

static int print(const task_t *task, int which, const conclusion_t *conclusion, text_t *text) {
    if (text_open(text)) return CLI_USAGE;
    if (which == CSV)
        print_csv(task, text->out);
    else if (which == JSON)
        print_json(task, conclusion, text->out);
    else
        figure_print(task, conclusion, text->out);
    return text_close(text);
}

int documents_write(const task_t *task) {
    conclusion_t conclusion;
    text_t texts[DOCUMENTS] = {{.out = NULL}};
    char *paths[DOCUMENTS] = {NULL};
    output_t output = {.count = 0};
    int status = CLI_OK;
    task_conclude(task, &conclusion);
    for (int i = 0; i < DOCUMENTS && !status; i++) {
        paths[i] = task_path(task, endings[i]);
        status = paths[i] ? print(task, i, &conclusion, &texts[i])
                          : cli_complain(CLI_USAGE, "no memory for a path");
        if (!status) output_add(&output, paths[i], NULL, 0, texts[i].bytes, texts[i].size);
    }
    if (!status) status = output_write(&output);
    for (int i = 0; i < DOCUMENTS; i++) {
        free(paths[i]);
        free(texts[i].bytes);
    }
    return status;
}

void documents_remove(const task_t *task) {
    for (int i = 0; i < DOCUMENTS; i++) {
        char *path = task_path(task, endings[i]);
        if (path) unlink(path);
        free(path);
    }
}
