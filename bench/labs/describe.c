/* labs/describe.c: the experiments' declarations as JSON, for controls made elsewhere. */
#include "labs/lab.h"
#include "json/json.h"

#include <math.h>

static void put_axis(attn_json_t *json, const char *name, const lab_axis_t *axis) {
    attn_json_open(json, name, '{');
    attn_json_string(json, "label", axis->label);
    attn_json_string(json, "unit", axis->unit);
    attn_json_number(json, "low", axis->low < axis->high ? axis->low : NAN);
    attn_json_number(json, "high", axis->low < axis->high ? axis->high : NAN);
    attn_json_boolean(json, "log", axis->log);
    attn_json_close(json, '}');
}

static void put_column(attn_json_t *json, const lab_column_t *column) {
    static const char *const marks[] = {"hidden", "line",  "points", "low",
                                        "high",   "bound", "faint"};
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "name", column->name);
    attn_json_string(json, "label", column->label);
    attn_json_string(json, "mark", marks[column->mark]);
    attn_json_boolean(json, "aside", column->aside);
    attn_json_close(json, '}');
}

static void put_settings(attn_json_t *json, const lab_t *lab, const lab_panel_t *panel) {
    lab_run_t run;
    lab_run_init(&run, lab, panel, 0);
    attn_json_open(json, "grid", '[');
    for (uint32_t i = 0; i < run.point_count; i++) attn_json_number(json, NULL, lab_run_x(&run, i));
    attn_json_close(json, ']');
    attn_json_open(json, "fixed", '{');
    for (uint32_t i = 0; i < panel->fixed_count; i++) {
        const attn_param_info_t *info = &lab->params[panel->fixed[i].param];
        attn_json_setting(json, info->name, info, panel->fixed[i].value);
    }
    attn_json_close(json, '}');
    attn_json_open(json, "idle", '[');
    for (uint32_t i = 0; i < lab->param_count; i++)
        if (panel->idle >> i & 1) attn_json_string(json, NULL, lab->params[i].name);
    attn_json_close(json, ']');
}

static void put_defined(attn_json_t *json, const lab_panel_t *panel) {
    if (!(panel->defined_low < panel->defined_high)) {
        attn_json_string(json, "defined", NULL);
        return;
    }
    attn_json_open(json, "defined", '[');
    attn_json_number(json, NULL, panel->defined_low);
    attn_json_number(json, NULL, panel->defined_high);
    attn_json_close(json, ']');
}

static void put_panel(attn_json_t *json, const lab_t *lab, const lab_panel_t *panel) {
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "id", panel->id);
    attn_json_string(json, "title", panel->title);
    attn_json_string(json, "plain", panel->plain);
    attn_json_string(json, "claim", panel->claim);
    attn_json_string(json, "states", panel->states);
    attn_json_string(json, "where", panel->where);
    attn_json_string(json, "criterion", panel->criterion);
    attn_json_string(json, "ours", panel->ours);
    attn_json_string(json, "x_param",
                     panel->x_param >= 0 ? lab->params[panel->x_param].name : NULL);
    put_settings(json, lab, panel);
    put_axis(json, "x", &panel->x);
    put_axis(json, "y", &panel->y);
    attn_json_boolean(json, "own", panel->flags & LAB_OWN);
    attn_json_boolean(json, "serial", panel->flags & LAB_SERIAL);
    put_defined(json, panel);
    attn_json_open(json, "columns", '[');
    for (uint32_t i = 0; i < panel->column_count; i++) put_column(json, &panel->columns[i]);
    attn_json_close(json, ']');
    attn_json_close(json, '}');
}

static void put_lab(attn_json_t *json, const lab_t *lab) {
    attn_json_open(json, NULL, '{');
    attn_json_string(json, "name", lab->name);
    attn_json_string(json, "title", lab->title);
    attn_json_string(json, "reference", lab->reference);
    attn_json_string(json, "summary", lab->summary);
    attn_json_open(json, "params", '[');
    for (uint32_t i = 0; i < lab->param_count; i++) attn_json_param(json, &lab->params[i]);
    attn_json_close(json, ']');
    attn_json_open(json, "panels", '[');
    for (uint32_t i = 0; i < lab->panel_count; i++) put_panel(json, lab, &lab->panels[i]);
    attn_json_close(json, ']');
    attn_json_close(json, '}');
}

size_t lab_describe_panel(const lab_t *lab, const lab_panel_t *panel, char *buffer, size_t size) {
    attn_json_t json = {.buffer = buffer, .size = size};
    put_panel(&json, lab, panel);
    return attn_json_end(&json);
}

size_t lab_describe(char *buffer, size_t size) {
    attn_json_t json = {.buffer = buffer, .size = size};
    attn_json_open(&json, NULL, '[');
    for (uint32_t i = 0; i < lab_count(); i++) put_lab(&json, lab_at(i));
    attn_json_close(&json, ']');
    return attn_json_end(&json);
}
