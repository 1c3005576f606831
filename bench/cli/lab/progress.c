/* cli/lab/progress.c: see progress.h. */
#include "cli/lab/progress.h"

#include "cli/lab/stop.h"
#include "measure/measure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if !defined(__wasm__)
#include <sys/ioctl.h>
#endif

enum { BAR = 24, LINE = 240 };

/* Columns of the terminal, one less so that nothing wraps. */
static int terminal_width(void) {
#if defined(TIOCGWINSZ)
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        return size.ws_col < LINE ? size.ws_col - 1 : LINE - 1;
#endif
    return 79;
}

/* "0:07", "12:34", "2:03:04" */
static const char *duration(char text[32], double seconds) {
    const long all = seconds < 360000 ? (long)ceil(seconds) : 360000;
    if (all >= 3600)
        snprintf(text, 32, "%ld:%02ld:%02ld", all / 3600, all / 60 % 60, all % 60);
    else
        snprintf(text, 32, "%ld:%02ld", all / 60, all % 60);
    return text;
}

void progress_begin(progress_t *progress, const task_t *task, double work) {
    progress->is_terminal = isatty(STDERR_FILENO) == 1;
    progress->task = task;
    progress->total = work;
    progress->done = 0;
    progress->start = progress->at = measure_clock();
    progress->width = 0;
    progress_draw(progress);
}

void progress_add(progress_t *progress, double work) {
    progress->done += work;
    progress->at = measure_clock();
}

/* By the work that the finished points were, less the time since the last of them. */
static void time_left(const progress_t *progress, char *text, size_t size) {
    char left[32];
    const double spent = progress->at - progress->start;
    double seconds = (progress->total - progress->done) * spent / progress->done;
    seconds -= measure_clock() - progress->at;
    if (progress->done > 0)
        snprintf(text, size, "%s left", duration(left, seconds > 0 ? seconds : 0));
}

void progress_draw(progress_t *progress) {
    char name[TASK_NAME], line[LINE], left[48] = "", bar[BAR + 1], panels[48] = "";
    if (!progress->is_terminal) return;
    const double share = progress->done / progress->total;
    const int full = (int)(BAR * (share < 1 ? share : 1));
    memset(bar, '=', (size_t)full);
    memset(bar + full, ' ', (size_t)(BAR - full));
    bar[BAR] = 0;
    time_left(progress, left, sizeof left);
    if (progress->panels > 1)
        snprintf(panels, sizeof panels, "  (panel %u of %u)", progress->panel, progress->panels);
    snprintf(line, sizeof line, "%s [%s] %u/%u points  %s%s", task_name(progress->task, name), bar,
             progress->task->finished, progress->task->run.point_count,
             stop_wanted() ? "finishing what has begun" : left, panels);
    line[terminal_width()] = 0;
    const int width = (int)strlen(line);
    fprintf(stderr, "\r%s%*s", line, width < progress->width ? progress->width - width : 0, "");
    fflush(stderr);
    progress->width = width;
}

double progress_end(progress_t *progress) {
    if (progress->width) fprintf(stderr, "\r%*s\r", progress->width, "");
    progress->width = 0;
    return measure_clock() - progress->start;
}
