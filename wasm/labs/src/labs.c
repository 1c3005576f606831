/*
 * labs.c: the C side of libattn-labs: labs/lab.h as flat functions for js/lab/, in a module of their own.
 */
#include "bindings.h"
#include "labs/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_SIZE = 1024, NAMES_SIZE = sizeof((attn_error_t *)0)->message };

struct attnlabs_run {
    lab_run_t run;
    double *xs; /* NULL: the panel's own */
};

static void write_labs(attn_json_t *json, const void *nothing) {
    (void)nothing;
    json->length = lab_describe(json->buffer, json->size);
}

char *attnlabs_describe(attnjs_t *js) {
    return attnjs_json(js, "the description of the experiments", write_labs, NULL);
}

/* ---- settings -------------------------------------------------------------------------------- */

/* As many as the message of an error has room for. */
static void add_name(char names[NAMES_SIZE], const char *name) {
    const size_t used = strlen(names);
    snprintf(names + used, NAMES_SIZE - used, "%s%s", used ? ", " : "", name);
}

static const lab_t *find_lab(attnjs_t *js, const char *name) {
    const lab_t *lab = lab_find(name);
    char names[NAMES_SIZE] = "";
    if (lab) return lab;
    for (uint32_t i = 0; i < lab_count(); i++) add_name(names, lab_at(i)->name);
    attn_fail(&js->error, ATTN_ERROR_NOT_FOUND, "there is no experiment '%.60s' (there are %s)",
              name, names);
    return NULL;
}

static const lab_panel_t *find_panel(attnjs_t *js, const lab_t *lab, const char *id) {
    const lab_panel_t *panel = *id ? lab_panel_find(lab, id) : &lab->panels[0];
    char ids[NAMES_SIZE] = "";
    if (panel) return panel;
    for (uint32_t i = 0; i < lab->panel_count; i++) add_name(ids, lab->panels[i].id);
    attn_fail(&js->error, ATTN_ERROR_NOT_FOUND, "%s has no panel '%.60s' (there are %s)", lab->name,
              id, ids);
    return NULL;
}

attnlabs_run_t *attnlabs_create(attnjs_t *js, const char *lab_name, const char *panel_id,
                                uint32_t high, uint32_t low) {
    const lab_t *lab = find_lab(js, lab_name);
    const lab_panel_t *panel = lab ? find_panel(js, lab, panel_id) : NULL;
    if (!panel) return NULL;
    attnlabs_run_t *run = calloc(1, sizeof *run);
    if (run)
        lab_run_init(&run->run, lab, panel, (uint64_t)high << 32 | low);
    else
        attnjs_no_memory(js, "a run of an experiment");
    return run;
}

void attnlabs_destroy(attnlabs_run_t *run) {
    if (!run) return;
    lab_run_end(&run->run);
    free(run->xs);
    free(run);
}

attn_status_t attnlabs_set(attnjs_t *js, attnlabs_run_t *run, const char *name, const char *value) {
    return lab_run_set(&run->run, name, value, &js->error);
}

attn_status_t attnlabs_grid(attnjs_t *js, attnlabs_run_t *run, double *xs, size_t count) {
    double *copy = malloc(count * sizeof *copy + 1);
    if (!copy) return attnjs_no_memory(js, "the points of a run");
    memcpy(copy, xs, count * sizeof *copy);
    free(run->xs);
    run->xs = copy;
    lab_run_grid(&run->run, copy, (uint32_t)count);
    return ATTN_OK;
}

/* ---- points ---------------------------------------------------------------------------------- */

attn_status_t attnlabs_begin(attnjs_t *js, attnlabs_run_t *run) {
    return lab_run_begin(&run->run, js->context, &js->error);
}

static void write_params(attn_json_t *json, const lab_run_t *run) {
    attn_json_open(json, "params", '{');
    for (uint32_t i = 0; i < run->lab->param_count; i++) {
        const attn_param_info_t *info = &run->lab->params[i];
        if ((int32_t)i != run->panel->x_param && !(run->panel->idle >> i & 1))
            attn_json_setting(json, info->name, info, run->values[i]);
    }
    attn_json_close(json, '}');
}

static void write_points(attn_json_t *json, const char *name, const lab_run_t *run,
                         double (*number)(const lab_run_t *, uint32_t)) {
    attn_json_open(json, name, '[');
    for (uint32_t i = 0; i < run->point_count; i++) attn_json_number(json, NULL, number(run, i));
    attn_json_close(json, ']');
}

static void write_settings(attn_json_t *json, const void *subject) {
    const lab_run_t *run = subject;
    const lab_panel_t *panel = run->panel;
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "panel", panel->id);
    attn_json_boolean(json, "serial", panel->flags & LAB_SERIAL);
    attn_json_open(json, "columns", '[');
    for (uint32_t i = 0; i < panel->column_count; i++)
        attn_json_string(json, NULL, panel->columns[i].name);
    attn_json_close(json, ']');
    write_params(json, run);
    write_points(json, "xs", run, lab_run_x);
    write_points(json, "costs", run, lab_run_cost);
    attn_json_close(json, '}');
}

char *attnlabs_settings(attnjs_t *js, attnlabs_run_t *run) {
    return attnjs_json(js, "the settings of a run", write_settings, &run->run);
}

attn_status_t attnlabs_point(attnjs_t *js, attnlabs_run_t *run, uint32_t index, double *row) {
    return lab_run_point(&run->run, index, row, &js->error);
}

typedef struct rows {
    const lab_run_t *run;
    const double *numbers;
    uint32_t count;
} rows_t;

static void write_conclusion(attn_json_t *json, const void *subject) {
    const rows_t *rows = subject;
    char note[NOTE_SIZE];
    lab_finding_t finding;
    lab_run_note(rows->run, rows->numbers, rows->count, note, sizeof note);
    lab_run_judge(rows->run, rows->numbers, rows->count, &finding);
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "note", note);
    attn_json_string(json, "verdict", lab_verdict_name(finding.verdict));
    attn_json_string(json, "sure", finding.sure);
    attn_json_string(json, "found", finding.found);
    attn_json_open(json, "within", '[');
    for (uint32_t i = 0; i < rows->count; i++)
        attn_json_boolean(
            json, NULL,
            lab_run_within(rows->run, rows->numbers + (size_t)i * rows->run->panel->column_count));
    attn_json_close(json, ']');
    attn_json_close(json, '}');
}

char *attnlabs_conclude(attnjs_t *js, attnlabs_run_t *run, double *rows, uint32_t count) {
    const rows_t all = {&run->run, rows, count};
    return attnjs_json(js, "what a run says", write_conclusion, &all);
}
