/* peers/worker.c: the process around a contender. See worker.h. */
#include "worker.h"

#include <stdio.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int write_output(const task_t *task, const char *path) {
    const size_t count = (size_t)task_out_size(task);
    FILE *file = fopen(path, "wb");
    if (!file) return 1;
    const size_t put = fwrite(task->out, sizeof(float), count, file);
    return (fclose(file) != 0) | (put != count);
}

static int call(const task_t *task, int64_t count, about_t *about) {
    for (int64_t i = 0; i < count; i++)
        if (contender_run(task, about)) return 1;
    return 0;
}

/*
 * A tenth of the time, and at least one call, brings caches and clock frequency back. Of short calls as many are
 * timed together as take a millisecond: what is done between two of them is no part of it.
 */
static int time_calls(const task_t *task, double seconds, about_t *about) {
    const double start = now(), together = 1e-3;
    int64_t warm = 0;
    do {
        if (call(task, 1, about)) return 1;
        warm++;
    } while (now() < start + seconds / 10);
    const int64_t count = 1 + (int64_t)((double)warm * together / (now() - start));
    fputs("times", stdout);
    do {
        const double begin = now();
        if (call(task, count, about)) return 1;
        printf(" %.9g", (now() - begin) / (double)count);
    } while (now() < start + seconds);
    puts("");
    return fflush(stdout);
}

static int serve(const task_t *task, about_t *about) {
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        double seconds;
        if (sscanf(line, "time %lf", &seconds) == 1 && time_calls(task, seconds, about)) return 1;
    }
    return 0;
}

static int prepare(task_t *task, int count, char **arguments, about_t *about) {
    if (task_read(task, count, arguments, about)) return 1;
    task->out = task_floats(task_out_size(task));
    return !task->out || contender_open(task, about);
}

static int compute_once(const task_t *task, const char *path, about_t *error) {
    if (contender_run(task, error)) return 1;
    if (!path || write_output(task, path) == 0) return 0;
    snprintf(error->text, sizeof error->text, "cannot write %.200s", path);
    return 1;
}

int main(int count, char **arguments) {
    task_t task;
    about_t about = {"no memory"};
    int failed = prepare(&task, count, arguments, &about);
    about_t error = about;
    if (!failed) failed = compute_once(&task, task_argument(count, arguments, "out"), &error);
    if (!failed) {
        printf("ready %s\n", about.text);
        fflush(stdout);
        failed = serve(&task, &error);
    }
    if (failed) printf("fail %s\n", error.text);
    return failed;
}
