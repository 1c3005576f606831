/* cli/lab/list.c: `attn lab list`: the experiments, their panels and parameters. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/options.h"
#include "cli/parameter.h"
#include "labs/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_json(void) {
    const size_t size = lab_describe(NULL, 0) + 1;
    char *text = malloc(size);
    if (!text) return cli_complain(CLI_USAGE, "no memory for the list");
    lab_describe(text, size);
    puts(text);
    free(text);
    return CLI_OK;
}

/* "3b  Softmax regression over m; m from 1 to 100 in 100 points; n=1000, trials=1000" */
static void print_panel(const lab_t *lab, const lab_panel_t *panel) {
    lab_run_t run;
    char first[32], last[32], value[32];
    lab_run_init(&run, lab, panel, 0);
    printf("  --panel %-12s %s\n", panel->id, panel->title);
    printf("  %20s %s from %s to %s in %u points", "",
           panel->x_param >= 0 ? lab->params[panel->x_param].name : panel->x.label,
           lab_number_text(lab_run_x(&run, 0), first),
           lab_number_text(lab_run_x(&run, run.point_count - 1), last), run.point_count);
    for (uint32_t i = 0, said = 0; i < panel->fixed_count; i++) {
        const attn_param_info_t *info = &lab->params[panel->fixed[i].param];
        if (panel->fixed[i].param == panel->x_param) continue;
        printf("%s%s=%s", said++ ? ", " : "; ", info->name,
               lab_value_text(info, panel->fixed[i].value, value));
    }
    printf("%s%s\n", panel->preset ? "; --preset " : "", panel->preset ? panel->preset : "");
}

static void print_lab(const lab_t *lab) {
    printf("%s: %s\n  %s\n  %s\n", lab->name, lab->title, lab->summary, lab->reference);
    for (uint32_t i = 0; i < lab->panel_count; i++) print_panel(lab, &lab->panels[i]);
    for (uint32_t i = 0; i < lab->param_count; i++) parameter_print(&lab->params[i]);
}

static const char summary[] =
    "The papers' experiments there are, with their panels, parameters, ranges and defaults.";

int lab_command_list(int argc, char **argv) {
    int json = 0;
    const option_t options[] = {
        {"json", 0, OPTION_SWITCH, NULL, "as JSON, with everything that is known", &json, 0, 0},
        {.name = NULL},
    };
    const option_command_t command = {"lab list", summary, options, NULL};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    if (json) return print_json();
    for (uint32_t i = 0; i < lab_count(); i++) {
        fputs(i ? "\n" : "", stdout);
        print_lab(lab_at(i));
    }
    return CLI_OK;
}
