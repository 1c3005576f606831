/* labs.c: see labs.h. */
#include "labs.h"
#include "json.h"
#include "labs/lab.h"

#include <stdlib.h>
#include <string.h>

enum { NOTE_SIZE = 1024 };

struct attnlabs_run {
    lab_run_t run;
    double *xs; /* NULL: the panel's own */
};

char *attnlabs_describe(attnjs_t *js) {
    const size_t size = lab_describe(NULL, 0) + 1;
    char *json = malloc(size);
    if (json)
        lab_describe(json, size);
    else
        attnjs_no_memory(js, "the description of the experiments");
    return json;
}

/* ---- settings -------------------------------------------------------------------------------- */

static const lab_t *find_lab(attnjs_t *js, const char *name) {
    const lab_t *lab = lab_find(name);
    attnjs_text_t names = {0};
    if (lab) return lab;
    for (uint32_t i = 0; i < lab_count(); i++)
        attnjs_text_add(&names, "%s%s", i ? ", " : "", lab_at(i)->name);
    char *list = attnjs_text_take(&names);
    attn_fail(&js->error, ATTN_ERROR_NOT_FOUND, "there is no experiment '%.60s' (there are %s)",
              name, list ? list : "others");
    free(list);
    return NULL;
}

static const lab_panel_t *find_panel(attnjs_t *js, const lab_t *lab, const char *id) {
    const lab_panel_t *panel = *id ? lab_panel_find(lab, id) : &lab->panels[0];
    attnjs_text_t ids = {0};
    if (panel) return panel;
    for (uint32_t i = 0; i < lab->panel_count; i++)
        attnjs_text_add(&ids, "%s%s", i ? ", " : "", lab->panels[i].id);
    char *list = attnjs_text_take(&ids);
    attn_fail(&js->error, ATTN_ERROR_NOT_FOUND, "%s has no panel '%.60s' (there are %s)", lab->name,
              id, list ? list : "others");
    free(list);
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

attn_status_t attnlabs_grid(attnjs_t *js, attnlabs_run_t *run, const double *xs, uint32_t count) {
    double *copy = malloc(count * sizeof *copy + 1);
    if (!copy) return attnjs_no_memory(js, "the points of a run");
    memcpy(copy, xs, count * sizeof *copy);
    free(run->xs);
    run->xs = copy;
    lab_run_grid(&run->run, copy, count);
    return ATTN_OK;
}

/* ---- points ---------------------------------------------------------------------------------- */

attn_status_t attnlabs_begin(attnjs_t *js, attnlabs_run_t *run) {
    return lab_run_begin(&run->run, js->context, &js->error);
}

static void add_values(attnjs_text_t *json, const lab_run_t *run) {
    int any = 0;
    for (uint32_t i = 0; i < run->lab->param_count; i++) {
        const attn_param_info_t *info = &run->lab->params[i];
        if ((int32_t)i == run->panel->x_param) continue;
        attnjs_text_add(json, any++ ? "," : "");
        attnjs_text_string(json, info->name);
        attnjs_text_add(json, ":");
        if (info->type == ATTN_PARAM_CHOICE)
            attnjs_text_string(json, info->choices[(int)run->values[i]]);
        else
            attnjs_text_number(json, run->values[i]);
    }
}

static void add_numbers(attnjs_text_t *json, const char *name, const lab_run_t *run,
                        double (*number)(const lab_run_t *, uint32_t)) {
    attnjs_text_add(json, ",\"%s\":[", name);
    for (uint32_t i = 0; i < run->point_count; i++) {
        attnjs_text_add(json, i ? "," : "");
        attnjs_text_number(json, number(run, i));
    }
    attnjs_text_add(json, "]");
}

char *attnlabs_settings(attnjs_t *js, const attnlabs_run_t *run) {
    const lab_panel_t *panel = run->run.panel;
    attnjs_text_t json = {0};
    attnjs_text_add(&json, "{\"panel\":");
    attnjs_text_string(&json, panel->id);
    attnjs_text_add(&json, ",\"serial\":%s,\"columns\":[",
                    panel->flags & LAB_SERIAL ? "true" : "false");
    for (uint32_t i = 0; i < panel->column_count; i++) {
        attnjs_text_add(&json, i ? "," : "");
        attnjs_text_string(&json, panel->columns[i].name);
    }
    attnjs_text_add(&json, "],\"params\":{");
    add_values(&json, &run->run);
    attnjs_text_add(&json, "}");
    add_numbers(&json, "xs", &run->run, lab_run_x);
    add_numbers(&json, "costs", &run->run, lab_run_cost);
    attnjs_text_add(&json, "}");
    char *result = attnjs_text_take(&json);
    if (!result) attnjs_no_memory(js, "the settings of a run");
    return result;
}

attn_status_t attnlabs_point(attnjs_t *js, const attnlabs_run_t *run, uint32_t index, double *row) {
    return lab_run_point(&run->run, index, row, &js->error);
}

char *attnlabs_note(attnjs_t *js, const attnlabs_run_t *run, const double *rows, uint32_t count) {
    char note[NOTE_SIZE];
    attnjs_text_t json = {0};
    lab_run_note(&run->run, rows, count, note, sizeof note);
    attnjs_text_string(&json, note);
    char *result = attnjs_text_take(&json);
    if (!result) attnjs_no_memory(js, "the note of a run");
    return result;
}
