/* cli/lab/choose.c: see choose.h. */
#include "cli/lab/choose.h"

#include "cli/cli.h"
#include "cli/meant.h"

#include <stdlib.h>
#include <string.h>

/* ---- panels -------------------------------------------------------------------------------------- */

static int unknown_lab(const char *name) {
    char names[512] = "", advice[MEANT_TEXT];
    meant_t meant = meant_begin(name, strlen(name));
    for (uint32_t i = 0; i < lab_count(); i++) {
        const size_t used = strlen(names);
        meant_try(&meant, lab_at(i)->name);
        snprintf(names + used, sizeof names - used, "%s, ", lab_at(i)->name);
    }
    return cli_complain(CLI_USAGE, "unknown lab '%s': there are %sand all of them by 'all'%s", name,
                        names, meant_advice(&meant, "", NULL, advice));
}

static int unknown_panel(const lab_t *lab, const char *id, size_t length) {
    char ids[512] = "", advice[MEANT_TEXT];
    meant_t meant = meant_begin(id, length);
    for (uint32_t i = 0; i < lab->panel_count; i++) {
        const size_t used = strlen(ids);
        meant_try(&meant, lab->panels[i].id);
        snprintf(ids + used, sizeof ids - used, "%s%s", i ? ", " : "", lab->panels[i].id);
    }
    return cli_complain(CLI_USAGE, "lab %s has no panel '%.*s': there are %s%s", lab->name,
                        (int)length, id, ids, meant_advice(&meant, "", NULL, advice));
}

static int add(tasks_t *tasks, const lab_t *lab, const lab_panel_t *panel, uint64_t seed) {
    for (uint32_t i = 0; i < tasks->count; i++)
        if (tasks->items[i].run.panel == panel)
            return cli_complain(CLI_USAGE, "panel '%s' is named twice", panel->id);
    lab_run_init(&tasks->items[tasks->count++].run, lab, panel, seed);
    return CLI_OK;
}

/* All panels, but for those that take hours. */
static int add_brief(tasks_t *tasks, const lab_t *lab, uint64_t seed) {
    int status = CLI_OK;
    for (uint32_t i = 0; i < lab->panel_count && !status; i++)
        if (!(lab->panels[i].flags & LAB_LONG)) status = add(tasks, lab, &lab->panels[i], seed);
    return status;
}

static int is_first_of_preset(const lab_t *lab, uint32_t panel) {
    for (uint32_t i = 0; i < panel; i++)
        if (lab->panels[i].preset && strcmp(lab->panels[i].preset, lab->panels[panel].preset) == 0)
            return 0;
    return 1;
}

static int unknown_preset(const lab_t *lab, const char *preset) {
    char names[512] = "", advice[MEANT_TEXT];
    meant_t meant = meant_begin(preset, strlen(preset));
    for (uint32_t i = 0; i < lab->panel_count; i++) {
        const char *name = lab->panels[i].preset;
        const size_t used = strlen(names);
        if (!name || !is_first_of_preset(lab, i)) continue;
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
        meant_try(&meant, name);
    }
    if (!names[0]) return cli_complain(CLI_USAGE, "lab %s has no presets", lab->name);
    return cli_complain(CLI_USAGE, "lab %s has no preset '%s': there are %s%s", lab->name, preset,
                        names, meant_advice(&meant, "", NULL, advice));
}

/* The panels of a preset, which is the first panel's where none is named. */
static int add_preset(tasks_t *tasks, const lab_t *lab, const char *preset, uint64_t seed) {
    const char *wanted = preset ? preset : lab->panels[0].preset;
    int status = CLI_OK;
    for (uint32_t i = 0; i < lab->panel_count && !status; i++) {
        const char *has = lab->panels[i].preset;
        if (!wanted || (has && strcmp(has, wanted) == 0))
            status = add(tasks, lab, &lab->panels[i], seed);
    }
    return status || tasks->count ? status : unknown_preset(lab, preset);
}

/* Names between commas. */
static int add_named(tasks_t *tasks, const lab_t *lab, const char *names, uint64_t seed) {
    for (;; names++) {
        char id[TASK_NAME];
        const size_t length = strcspn(names, ",");
        snprintf(id, sizeof id, "%.*s", (int)(length < TASK_NAME ? length : TASK_NAME), names);
        const lab_panel_t *panel = lab_panel_find(lab, id);
        if (!panel) return unknown_panel(lab, names, length);
        if (add(tasks, lab, panel, seed)) return CLI_USAGE;
        names += length;
        if (!*names) return CLI_OK;
    }
}

static int choose_panels(const choice_t *choice, tasks_t *tasks) {
    const int all = strcmp(choice->name, "all") == 0;
    const lab_t *lab = lab_find(choice->name);
    const uint64_t seed = (uint64_t)choice->seed;
    uint32_t most = 0;
    if (!lab && !all) return unknown_lab(choice->name);
    if (all && choice->panels.count)
        return cli_complain(CLI_USAGE, "--panel needs one lab, not all of them");
    if (choice->preset && (all || choice->panels.count))
        return cli_complain(CLI_USAGE, "--preset needs one lab, and no --panel");
    for (uint32_t i = 0; i < lab_count(); i++) most += lab_at(i)->panel_count;
    tasks->items = calloc(most, sizeof *tasks->items);
    if (!tasks->items) return cli_complain(CLI_USAGE, "no memory for %u panels", most);
    int status = CLI_OK;
    for (uint32_t i = 0; all && i < lab_count() && !status; i++)
        status = add_brief(tasks, lab_at(i), seed);
    if (lab && !choice->panels.count) status = add_preset(tasks, lab, choice->preset, seed);
    for (int i = 0; i < choice->panels.count && !status; i++)
        status = add_named(tasks, lab, choice->panels.items[i], seed);
    return status;
}

/* ---- parameters ---------------------------------------------------------------------------------- */

static int index_of(const lab_t *lab, const char *name) {
    for (uint32_t i = 0; i < lab->param_count; i++)
        if (strcmp(lab->params[i].name, name) == 0) return (int)i;
    return LAB_NO_PARAM;
}

/*
 * To every panel that has the parameter as a setting. Not having it is an error only when no panel
 * has: in one, it may be the axis, and another's network may not know it.
 */
static int assign(tasks_t *tasks, const char *lab, const char *name, const char *value) {
    attn_error_t error = {.message = "is of no lab that runs"};
    uint32_t taken = 0;
    for (uint32_t i = 0; i < tasks->count; i++) {
        lab_run_t *run = &tasks->items[i].run;
        const int index = index_of(run->lab, name);
        if (lab && strcmp(run->lab->name, lab) != 0) continue;
        if (index >= 0 && lab_run_takes(run, (uint32_t)index, &error)) continue;
        const attn_status_t status = lab_run_set(run, name, value, &error);
        if (status == ATTN_ERROR_NOT_FOUND) continue;
        if (status) return cli_reject(NULL, &error);
        taken++;
    }
    return taken ? CLI_OK : cli_reject(lab ? lab : NULL, &error);
}

/* NAME=VALUE or LAB.NAME=VALUE. */
static int assign_text(tasks_t *tasks, const char *text) {
    char lab[TASK_NAME], name[TASK_NAME];
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || equals - text >= TASK_NAME)
        return cli_complain(CLI_USAGE, "--set: '%s' is not of the form NAME=VALUE", text);
    const char *dot = memchr(text, '.', (size_t)(equals - text));
    const char *start = dot ? dot + 1 : text;
    snprintf(lab, sizeof lab, "%.*s", dot ? (int)(dot - text) : 0, text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - start), start);
    return assign(tasks, dot ? lab : NULL, name, equals + 1);
}

int choose_tasks(const choice_t *choice, tasks_t *tasks) {
    *tasks = (tasks_t){.count = 0};
    int status = choose_panels(choice, tasks);
    for (int i = 0; i < choice->assignments.count && !status; i++)
        status = assign_text(tasks, choice->assignments.items[i]);
    if (!status && choice->trials) status = assign(tasks, NULL, "trials", choice->trials);
    return status;
}

void choose_free(tasks_t *tasks) {
    for (uint32_t i = 0; i < tasks->count; i++) task_free(&tasks->items[i]);
    free(tasks->items);
    *tasks = (tasks_t){.count = 0};
}
