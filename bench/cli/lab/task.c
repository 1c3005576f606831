/* cli/lab/task.c: see task.h. */
#include "cli/lab/task.h"

#include "cli/cli.h"
#include "cli/host.h"

#include <stdlib.h>
#include <string.h>

int task_prepare(task_t *task) {
    const size_t points = task->run.point_count, width = task->run.panel->column_count;
    task->rows = calloc(points * width, sizeof *task->rows);
    task->done = calloc(points, 1);
    task->spoilt = calloc(points, sizeof *task->spoilt);
    for (uint32_t i = 0; task->rows && i < points; i++)
        lab_run_place(&task->run, i, task->rows + i * width);
    if (task->rows && task->done && task->spoilt) return CLI_OK;
    return cli_complain(CLI_USAGE, "no memory for %zu points", points);
}

void task_free(task_t *task) {
    for (uint32_t i = 0; task->spoilt && i < task->run.point_count; i++) free(task->spoilt[i]);
    free(task->rows);
    free(task->done);
    free(task->spoilt);
    task->rows = NULL;
    task->done = NULL;
    task->spoilt = NULL;
}

int task_is_complete(const task_t *task) { return task->finished == task->run.point_count; }

int task_spoil(task_t *task, uint32_t point, const char *why) {
    char *text = malloc(strlen(why) + 1);
    if (!text) return cli_complain(CLI_USAGE, "no memory for what is wrong with a point");
    free(task->spoilt[point]);
    task->spoilt[point] = strcpy(text, why);
    return CLI_OK;
}

void task_forget(task_t *task) {
    task->finished = 0;
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        task->done[i] = 0;
        free(task->spoilt[i]);
        task->spoilt[i] = NULL;
    }
}

uint32_t task_spoilt(const task_t *task) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < task->run.point_count; i++) count += task->spoilt[i] != NULL;
    return count;
}

void task_conclude(const task_t *task, conclusion_t *conclusion) {
    const lab_run_t *run = &task->run;
    lab_run_note(run, task->rows, run->point_count, conclusion->note, sizeof conclusion->note);
    lab_run_judge(run, task->rows, run->point_count, &conclusion->finding);
}

const char *task_name(const task_t *task, char name[TASK_NAME]) {
    snprintf(name, TASK_NAME, "%s-%s", task->run.lab->name, task->run.panel->id);
    return name;
}

char *task_path(const task_t *task, const char *ending) {
    char name[TASK_NAME];
    const size_t length = strlen(task->folder);
    const char *slash = length && task->folder[length - 1] == '/' ? "" : "/";
    const size_t size = length + TASK_NAME + strlen(ending) + 3;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s%s%s.%s", task->folder, slash, task_name(task, name), ending);
    return path;
}

/* ---- settings ---------------------------------------------------------------------------------- */

int task_has(const task_t *task, uint32_t index) {
    attn_error_t error;
    return lab_run_takes(&task->run, index, &error) == ATTN_OK;
}

const char *task_value(const task_t *task, uint32_t index, char text[32]) {
    const attn_param_info_t *info = &task->run.lab->params[index];
    const double value = task->run.values[index];
    if (info->automatic && value == info->initial && value < info->minimum) {
        memcpy(text, "auto", 5);
        return text;
    }
    return lab_value_text(info, value, text);
}

void task_command(const task_t *task, FILE *out) {
    const lab_run_t *run = &task->run;
    lab_run_t plain;
    lab_run_init(&plain, run->lab, run->panel, run->seed);
    fprintf(out, "attn lab run %s --panel %s", run->lab->name, run->panel->id);
    for (uint32_t i = 0; i < run->lab->param_count; i++) {
        char text[32];
        const char *name = run->lab->params[i].name;
        if (run->values[i] == plain.values[i]) continue;
        const int is_trials = strcmp(name, "trials") == 0;
        fprintf(out, is_trials ? " --%s %s" : " --set %s=%s", name, task_value(task, i, text));
    }
    if (task->cpu) fprintf(out, " --cpu %s", task->cpu);
    fprintf(out, " --seed %llu -o results", (unsigned long long)run->seed);
}

origin_t task_here(const attn_context_t *context) {
    origin_t here;
    snprintf(here.version, sizeof here.version, "%s", attn_version());
    snprintf(here.commit, sizeof here.commit, "%s", host_commit());
    snprintf(here.tier, sizeof here.tier, "%s", attn_tier_name(attn_context_tier(context)));
    host_cpu(here.host, sizeof here.host);
    return here;
}

const char *task_origin(const task_t *task, char *text, size_t size) {
    const origin_t *origin = &task->origin;
    const int timed = (task->run.panel->flags & LAB_SERIAL) != 0;
    snprintf(text, size, "%s (%s), %s%s%s", origin->version, origin->commit, origin->tier,
             timed ? ", " : "", timed ? origin->host : "");
    return text;
}
