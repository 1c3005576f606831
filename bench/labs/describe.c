/* labs/describe.c: the experiments' declarations as JSON, for controls made elsewhere. */
#include "labs/lab.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Text that goes on being counted when the buffer is full. */
typedef struct writer {
    char *buffer;
    size_t size, length;
} writer_t;

static void put(writer_t *writer, const char *text) {
    for (; *text; text++, writer->length++)
        if (writer->length + 1 < writer->size) writer->buffer[writer->length] = *text;
}

/* Declarations are our own constant text: only quotes and backslashes need care. */
static void put_string(writer_t *writer, const char *text) {
    if (!text) {
        put(writer, "null");
        return;
    }
    put(writer, "\"");
    for (; *text; text++) {
        const char plain[2] = {*text, 0};
        if (*text == '"' || *text == '\\') put(writer, "\\");
        put(writer, plain);
    }
    put(writer, "\"");
}

static void put_number(writer_t *writer, double number) {
    char text[32];
    put(writer, isfinite(number) ? lab_number_text(number, text) : "null");
}

static void put_key(writer_t *writer, const char *name) {
    put_string(writer, name);
    put(writer, ": ");
}

static void put_text_field(writer_t *writer, const char *name, const char *text) {
    put_key(writer, name);
    put_string(writer, text);
    put(writer, ", ");
}

static void put_number_field(writer_t *writer, const char *name, double number) {
    put_key(writer, name);
    put_number(writer, number);
    put(writer, ", ");
}

static void put_value(writer_t *writer, const attn_param_info_t *info, double value) {
    if (info->type == ATTN_PARAM_CHOICE)
        put_string(writer, info->choices[(int)value]);
    else
        put_number(writer, value);
}

static void put_param(writer_t *writer, const attn_param_info_t *info) {
    static const char *const types[] = {"", "integer", "number", "boolean", "choice"};
    put(writer, "{");
    put_text_field(writer, "name", info->name);
    put_text_field(writer, "label", info->label);
    put_text_field(writer, "help", info->help);
    put_text_field(writer, "unit", info->unit);
    put_text_field(writer, "type", types[info->type]);
    put_number_field(writer, "min", info->minimum);
    put_number_field(writer, "max", info->maximum);
    put_key(writer, "default");
    put_value(writer, info, info->initial);
    put(writer, ", ");
    put_text_field(writer, "automatic", info->automatic);
    put_key(writer, "choices");
    if (!info->choices) put(writer, "null");
    for (int i = 0; info->choices && info->choices[i]; i++) {
        put(writer, i ? ", " : "[");
        put_string(writer, info->choices[i]);
    }
    put(writer, info->choices ? "]}" : "}");
}

static void put_axis(writer_t *writer, const char *name, const lab_axis_t *axis) {
    put_key(writer, name);
    put(writer, "{");
    put_text_field(writer, "label", axis->label);
    put_text_field(writer, "unit", axis->unit);
    put_number_field(writer, "low", axis->low < axis->high ? axis->low : NAN);
    put_number_field(writer, "high", axis->low < axis->high ? axis->high : NAN);
    put(writer, axis->log ? "\"log\": true}, " : "\"log\": false}, ");
}

static void put_column(writer_t *writer, const lab_column_t *column) {
    static const char *const marks[] = {"hidden", "line",  "points", "low",
                                        "high",   "bound", "faint"};
    put(writer, "{");
    put_text_field(writer, "name", column->name);
    put_text_field(writer, "label", column->label);
    put_text_field(writer, "mark", marks[column->mark]);
    put(writer, column->aside ? "\"aside\": true}" : "\"aside\": false}");
}

static void put_settings(writer_t *writer, const lab_t *lab, const lab_panel_t *panel) {
    lab_run_t run;
    lab_run_init(&run, lab, panel, 0);
    put(writer, "\"grid\": [");
    for (uint32_t i = 0; i < run.point_count; i++) {
        put(writer, i ? ", " : "");
        put_number(writer, lab_run_x(&run, i));
    }
    put(writer, "], \"fixed\": {");
    for (uint32_t i = 0; i < panel->fixed_count; i++) {
        const attn_param_info_t *info = &lab->params[panel->fixed[i].param];
        put(writer, i ? ", " : "");
        put_key(writer, info->name);
        put_value(writer, info, panel->fixed[i].value);
    }
    put(writer, "}, ");
}

static void put_panel(writer_t *writer, const lab_t *lab, const lab_panel_t *panel) {
    put(writer, "{");
    put_text_field(writer, "id", panel->id);
    put_text_field(writer, "title", panel->title);
    put_text_field(writer, "x_param",
                   panel->x_param >= 0 ? lab->params[panel->x_param].name : NULL);
    put_settings(writer, lab, panel);
    put_axis(writer, "x", &panel->x);
    put_axis(writer, "y", &panel->y);
    put(writer, panel->flags & LAB_SERIAL ? "\"serial\": true, " : "\"serial\": false, ");
    put_key(writer, "defined");
    if (panel->defined_low < panel->defined_high) {
        put(writer, "[");
        put_number(writer, panel->defined_low);
        put(writer, ", ");
        put_number(writer, panel->defined_high);
        put(writer, "]");
    } else
        put(writer, "null");
    put(writer, ", \"columns\": [");
    for (uint32_t i = 0; i < panel->column_count; i++) {
        put(writer, i ? ", " : "");
        put_column(writer, &panel->columns[i]);
    }
    put(writer, "]}");
}

static void put_lab(writer_t *writer, const lab_t *lab) {
    put(writer, "{");
    put_text_field(writer, "name", lab->name);
    put_text_field(writer, "title", lab->title);
    put_text_field(writer, "reference", lab->reference);
    put_text_field(writer, "summary", lab->summary);
    put(writer, "\"params\": [");
    for (uint32_t i = 0; i < lab->param_count; i++) {
        put(writer, i ? ", " : "");
        put_param(writer, &lab->params[i]);
    }
    put(writer, "], \"panels\": [");
    for (uint32_t i = 0; i < lab->panel_count; i++) {
        put(writer, i ? ",\n  " : "\n  ");
        put_panel(writer, lab, &lab->panels[i]);
    }
    put(writer, "]}");
}

/* Terminates what was written; the length it needs. */
static size_t finish(const writer_t *writer) {
    if (writer->size)
        writer->buffer[writer->length < writer->size ? writer->length : writer->size - 1] = 0;
    return writer->length;
}

size_t lab_describe_panel(const lab_t *lab, const lab_panel_t *panel, char *buffer, size_t size) {
    writer_t writer = {.buffer = buffer, .size = size};
    put_panel(&writer, lab, panel);
    return finish(&writer);
}

size_t lab_describe(char *buffer, size_t size) {
    writer_t writer = {.buffer = buffer, .size = size};
    put(&writer, "[");
    for (uint32_t i = 0; i < lab_count(); i++) {
        put(&writer, i ? ",\n" : "");
        put_lab(&writer, lab_at(i));
    }
    put(&writer, "]");
    return finish(&writer);
}
