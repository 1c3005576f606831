/* cli/lab/draw.c: `attn lab draw`: the figures of finished runs, from their .json alone. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/lab/figure.h"
#include "cli/lab/folder.h"
#include "cli/lab/recorded.h"
#include "cli/lab/report.h"
#include "cli/lab/text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/settings.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct drawing {
    const char *from, *to;
    settings_t settings;
    attn_context_t *context;
    uint32_t drawn;
} drawing_t;

static int write_figure(drawing_t *drawing, recorded_t *recorded) {
    text_t svg;
    output_t output = {.count = 0};
    task_t *task = &recorded->task;
    task->folder = drawing->to;
    char *path = task_path(task, "svg");
    if (!path) return cli_complain(CLI_USAGE, "no memory for a path");
    int status = figure_make(task, &recorded->conclusion, recorded->command, &svg);
    if (!status) {
        output_add(&output, path, NULL, 0, svg.bytes, svg.size);
        status = output_write(&output);
        free(svg.bytes);
    }
    free(path);
    return status;
}

/* A panel that the folder has no run of is left out. */
static int draw(drawing_t *drawing, const lab_t *lab, const lab_panel_t *panel) {
    recorded_t recorded = {.task = {.run = {.lab = lab, .panel = panel},
                                    .context = drawing->context,
                                    .folder = drawing->from}};
    char *path = task_path(&recorded.task, "json");
    if (!path) return cli_complain(CLI_USAGE, "no memory for a path");
    int status = CLI_OK;
    if (access(path, F_OK) == 0) {
        status = recorded_read(&recorded, path);
        if (!status) status = write_figure(drawing, &recorded);
        recorded_free(&recorded);
        drawing->drawn++;
    }
    free(path);
    return status;
}

static int draw_all(drawing_t *drawing) {
    int status = settings_context(&drawing->settings, &drawing->context);
    if (!status) status = folder_make(drawing->to);
    for (uint32_t i = 0; i < lab_count(); i++)
        for (uint32_t p = 0; p < lab_at(i)->panel_count && !status; p++)
            status = draw(drawing, lab_at(i), &lab_at(i)->panels[p]);
    if (!status && !drawing->drawn)
        status =
            cli_complain(CLI_USAGE, "%s: has no LAB-PANEL.json of attn lab run", drawing->from);
    if (!status) status = report_write(drawing->to);
    if (!status) printf("%s/report.html: %u figures\n", drawing->to, drawing->drawn);
    attn_context_destroy(drawing->context);
    return status;
}

static const char summary[] = "Draw the figures of finished runs, and compute nothing.";
static const char details[] =
    "For every LAB-PANEL.json in DIR the other folder gets LAB-PANEL.svg, as attn lab run has\n"
    "drawn it, and for all of them report.html.\n"
    "\n"
    "For example:\n"
    "  attn lab draw bench/labs/figures -o figures";

int lab_command_draw(int argc, char **argv) {
    drawing_t drawing = {.settings = {.threads = 1}};
    const option_t options[] = {
        {"DIR", 0, OPTION_ARGUMENT, NULL, "where the runs are", &drawing.from, 0, 0},
        {"output", 'o', OPTION_TEXT | OPTION_REQUIRED, "DIR",
         "the folder of the figures, made where it is missing", &drawing.to, 0, 0},
        {.name = NULL},
    };
    const option_command_t command = {"lab draw", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    return draw_all(&drawing);
}
