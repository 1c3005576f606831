/* cli/lab/run.c: `attn lab run`: make panels in a folder. */
#include "cli/cli.h"
#include "cli/lab/choose.h"
#include "cli/lab/commands.h"
#include "cli/lab/documents.h"
#include "cli/lab/folder.h"
#include "cli/lab/points.h"
#include "cli/lab/report.h"
#include "cli/lab/stop.h"
#include "cli/lab/store.h"
#include "cli/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct making {
    choice_t choice;
    settings_t settings;
    const char *folder;
    double minutes; /* at most; infinite */
    int restart, strict;
    uint32_t threads;
    store_t store;

    attn_context_t *context;
    origin_t here;
    tasks_t tasks;
} making_t;

/* ---- before anything is computed ----------------------------------------------------------------- */

static int prepare(making_t *making, task_t *task) {
    char name[TASK_NAME];
    attn_error_t error;
    task->context = making->context;
    task->origin = making->here;
    task->folder = making->folder;
    task->cpu = making->settings.cpu;
    task->run.store = &making->store.lab;
    const attn_status_t status = lab_run_begin(&task->run, making->context, &error);
    lab_run_end(&task->run);
    return status ? cli_reject(task_name(task, name), &error) : task_prepare(task);
}

/* What the store has of its points. */
static void remove_kept(const task_t *task) {
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        char name[LAB_FILE];
        lab_run_file(&task->run, i, name);
        if (name[0]) store_remove(task->run.store, name);
    }
}

/* Whether the folder has points of other settings; --restart empties what it has. */
static int check_checkpoint(const making_t *making, task_t *task) {
    checkpoint_t checkpoint;
    int status = checkpoint_load(&checkpoint, task, making->restart);
    if (!status && making->restart) {
        status = checkpoint_open(&checkpoint);
        if (!status) status = documents_remove(task);
        remove_kept(task);
    }
    checkpoint_free(&checkpoint);
    return status;
}

/* Everything that can be wrong is found here, for all panels. */
static int prepare_all(making_t *making) {
    int status = choose_tasks(&making->choice, &making->tasks);
    if (!status) status = settings_context(&making->settings, &making->context);
    if (!status) making->here = task_here(making->context);
    for (uint32_t i = 0; i < making->tasks.count && !status; i++)
        status = prepare(making, &making->tasks.items[i]);
    if (!status) status = folder_make(making->folder);
    for (uint32_t i = 0; i < making->tasks.count && !status; i++)
        status = check_checkpoint(making, &making->tasks.items[i]);
    return status;
}

/* ---- a panel ------------------------------------------------------------------------------------- */

static int kept(const making_t *making, int status) {
    uint32_t finished = 0, all = 0;
    for (uint32_t i = 0; i < making->tasks.count; i++) {
        finished += making->tasks.items[i].finished;
        all += making->tasks.items[i].run.point_count;
    }
    return cli_complain(status,
                        "stopped: %u of %u points are finished and kept in %s; the same command "
                        "goes on from there%s",
                        finished, all, making->folder,
                        making->restart ? ", without --restart" : "");
}

/* Its figures are made of what there is. */
static int is_long(const task_t *task) { return (task->run.panel->flags & LAB_LONG) != 0; }

static int compute(making_t *making, task_t *task, uint32_t number) {
    checkpoint_t checkpoint;
    attn_error_t error;
    char name[TASK_NAME];
    progress_t progress = {.panel = number + 1, .panels = making->tasks.count};
    if (lab_run_begin(&task->run, making->context, &error))
        return cli_reject(task_name(task, name), &error);
    task_forget(task);
    int status = checkpoint_load(&checkpoint, task, 0);
    if (!status) status = checkpoint_open(&checkpoint);
    if (!status) {
        status = points_compute(&checkpoint, making->threads, &progress);
        if (!status) status = making->store.status;
        if (status != CLI_USAGE && (status || !(task_is_complete(task) || is_long(task))))
            status =
                kept(making, status ? status : CLI_FAILED); /* what is refused does not go on */
    }
    checkpoint_free(&checkpoint);
    if (!status) {
        status = documents_write(task);
        if (status) kept(making, status);
    }
    lab_run_end(&task->run);
    return status;
}

static void tell(const task_t *task, uint32_t before) {
    char name[TASK_NAME];
    printf("%-28s %4u points in %.1f s", task_name(task, name), task->finished - before,
           task->seconds);
    if (before) printf(", %u from before", before);
    puts("");
    fflush(stdout);
}

static int is_over(const task_t *task) {
    return task->finished + task_spoilt(task) == task->run.point_count;
}

/* What is spoilt, point by point: what a panel has of it is kept and shown, and the same command tries it again. */
static uint32_t tell_spoilt(const task_t *task) {
    for (uint32_t i = 0; i < task->run.point_count; i++) {
        char name[TASK_NAME], file[LAB_FILE], x[32];
        if (!task->spoilt[i]) continue;
        lab_run_file(&task->run, i, file);
        if (file[0])
            cli_complain(CLI_FAILED, "%s/%s: %s", task->folder, file, task->spoilt[i]);
        else
            cli_complain(CLI_FAILED, "%s, x = %s: %s", task_name(task, name),
                         lab_number_text(lab_run_x(&task->run, i), x), task->spoilt[i]);
    }
    return task_spoilt(task);
}

/* ---- all of them --------------------------------------------------------------------------------- */

/* The report is of whatever has figures, also when the user stops in between. */
static int make_all(making_t *making) {
    const uint32_t count = making->tasks.count;
    uint32_t made = 0, over = 0, spoilt = 0;
    int status = CLI_OK;
    while (made < count && !status) {
        task_t *task = &making->tasks.items[made];
        const uint32_t before = task->finished;
        status = stop_wanted() && !is_long(task) ? kept(making, CLI_FAILED)
                                                 : compute(making, task, made);
        if (status) break;
        tell(task, before);
        over += (uint32_t)is_over(task);
        spoilt += tell_spoilt(task);
        made++;
    }
    if (status && !stop_wanted()) return status;
    const int report = made > 0 ? report_write(making->folder) : CLI_OK;
    if (!status && !report) printf("%s/report.html\n", making->folder);
    if (!status && !report && over < made) status = kept(making, CLI_FAILED);
    if (!status && spoilt && making->strict) status = CLI_FAILED;
    return status ? status : report;
}

static int execute(making_t *making) {
    int status = prepare_all(making);
    if (!status) {
        stop_listen();
        stop_after(60 * making->minutes);
        status = make_all(making);
    }
    choose_free(&making->tasks);
    attn_context_destroy(making->context);
    fflush(stdout);
    stop_end();
    return status;
}

/* ---- command ------------------------------------------------------------------------------------- */

static const char summary[] = "Make the panels of one lab, or of all, in a folder.";
static const char details[] =
    "NAME is a lab (see attn lab list) or 'all': every panel but those that take hours, whose\n"
    "lab has to be named. For every panel the folder gets LAB-PANEL.csv, .json (with the\n"
    "settings, and the command that makes it again) and .svg, and for all that it holds\n"
    "report.html. LAB-PANEL.points keeps each point as soon as it is finished: after ctrl-C, or\n"
    "whatever else ends the program, the same command goes on from there. What takes hours has\n"
    "figures of the points that there are, goes from cheap ones to expensive, and keeps each in a\n"
    "file of its own while it lasts, too; --minutes ends it as ctrl-C does. A model that diverges\n"
    "and a file that is damaged are marked and told, and the other points go on.\n"
    "\n"
    "--set NAME=VALUE goes to every chosen panel that has the parameter, --set LAB.NAME=VALUE to\n"
    "those of one lab. Numbers depend on the settings and the seed, not on the threads; panels\n"
    "that measure time are computed point by point in one thread.";

int lab_command_run(int argc, char **argv) {
    making_t making = {.settings = {.threads = 1}, .choice = {.seed = 1}, .minutes = INFINITY};
    int64_t threads = points_threads();
    store_make(&making.store, NULL); /* its folder is not yet known */
    const option_t options[] = {
        {"NAME", 0, OPTION_ARGUMENT, NULL, "a lab, or all", &making.choice.name, 0, 0},
        {"output", 'o', OPTION_TEXT | OPTION_REQUIRED, "DIR",
         "the folder, made where it is missing", &making.folder, 0, 0},
        {"panel", 0, OPTION_TEXTS, "P,...",
         "which panels; may be repeated (default: all of the preset)", &making.choice.panels, 0, 0},
        {"preset", 0, OPTION_TEXT, "P", "the panels of a preset (default: the lab's first)",
         &making.choice.preset, 0, 0},
        {"set", 0, OPTION_TEXTS, "NAME=VALUE",
         "set a parameter (see attn lab list); may be repeated", &making.choice.assignments, 0, 0},
        {"trials", 0, OPTION_TEXT, "T", "the same as --set trials=T", &making.choice.trials, 0, 0},
        {"seed", 0, OPTION_INTEGER, "N", "of all random numbers (default 1)", &making.choice.seed,
         0, (int64_t)1 << 53},
        {"threads", 0, OPTION_INTEGER, "N", "points at a time (default: as many as processors)",
         &threads, 1, 1024},
        SETTINGS_CPU(making.settings),
        {"minutes", 0, OPTION_NUMBER, "M", "stop by itself after so long, as by ctrl-C",
         &making.minutes, 0, 0},
        STORE_SECONDS(making.store),
        {"restart", 0, OPTION_SWITCH, NULL, "drop the points that the folder has of these panels",
         &making.restart, 0, 0},
        {"strict", 0, OPTION_SWITCH, NULL, "exit with 1 where a point could not be computed",
         &making.strict, 0, 0},
        {.name = NULL},
    };
    const option_command_t command = {"lab run", summary, options, details};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
#if defined(__wasm__)
    if (threads > 1) return cli_complain(CLI_USAGE, "--threads: this build has 1");
#endif
    if (!(making.minutes >= 0))
        return cli_complain(CLI_USAGE, "--minutes: %g is not 0 or more", making.minutes);
    if (store_check(&making.store)) return CLI_USAGE;
    making.threads = (uint32_t)threads;
    making.store.folder = making.folder;
    return execute(&making);
}
