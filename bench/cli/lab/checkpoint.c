/* cli/lab/checkpoint.c: see checkpoint.h. */
#include "cli/lab/checkpoint.h"

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/lab/text.h"
#include "cli/platform.h"
#include "number/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "attn lab points 1\n";

/* ---- the header ---------------------------------------------------------------------------------- */

/* Everything that numbers depend on. It ends in an empty line. */
static void print_header(const void *data, FILE *out) {
    const task_t *task = data;
    const lab_run_t *run = &task->run;
    char origin[320], value[32];
    fprintf(out, "%slab=%s\npanel=%s\nlibattn=%s\nseed=%llu\n", magic, run->lab->name,
            run->panel->id, task_origin(task, origin, sizeof origin),
            (unsigned long long)run->seed);
    for (uint32_t i = 0; i < run->lab->param_count; i++)
        if ((int32_t)i != run->panel->x_param)
            fprintf(out, "set %s=%s\n", run->lab->params[i].name, task_value(task, i, value));
    fprintf(out, "points=%u\ncolumns=", run->point_count);
    for (uint32_t i = 0; i < run->panel->column_count; i++)
        fprintf(out, "%s%s", i ? "," : "", run->panel->columns[i].name);
    fputs("\n\n", out);
}

static size_t line_length(const char *text) { return strcspn(text, "\n"); }

/* Where each point has a checkpoint of its own (lab->file), all builds and tiers go on from those. */
static int is_same_line(const checkpoint_t *checkpoint, const char *found, const char *wanted) {
    static const char origin[] = "libattn=";
    const size_t length = line_length(found), known = sizeof origin - 1;
    if (checkpoint->task->run.lab->file && strncmp(found, origin, known) == 0 &&
        strncmp(wanted, origin, known) == 0)
        return 1;
    return length == line_length(wanted) && strncmp(found, wanted, length) == 0;
}

/* Passes what headers have in common: `wanted` is at its end where that is all of it. */
static void skip_common(const checkpoint_t *checkpoint, const char **found, const char **wanted) {
    while (**found && **wanted && is_same_line(checkpoint, *found, *wanted)) {
        *found += line_length(*found);
        *found += **found == '\n';
        *wanted += line_length(*wanted) + 1;
    }
}

/* Says in which setting the file and this run differ: both are at the first line that is another. */
static int refuse(const checkpoint_t *checkpoint, const char *found, const char *wanted) {
    const size_t skip_found = strncmp(found, "set ", 4) == 0 ? 4 : 0;
    const size_t skip_wanted = strncmp(wanted, "set ", 4) == 0 ? 4 : 0;
    return cli_complain(CLI_USAGE,
                        "%s: holds points with %.*s, and now it is %.*s: choose another folder, "
                        "or %s",
                        checkpoint->path, (int)(line_length(found) - skip_found),
                        found + skip_found, (int)(line_length(wanted) - skip_wanted),
                        wanted + skip_wanted,
                        checkpoint->task->run.lab->file
                            ? "remove it: points are made again of the .study files that are here"
                            : "drop them with --restart");
}

/* ---- points -------------------------------------------------------------------------------------- */

/* Reads a line "INDEX X ...": 1 when it is whole, and of the grid that there is now. */
static int read_point(task_t *task, const char *line) {
    const uint32_t width = task->run.panel->column_count;
    char *behind;
    const unsigned long index = strtoul(line, &behind, 10);
    const char *at = behind;
    if (at == line || index >= task->run.point_count) return 0;
    double *row = task->rows + index * width;
    for (uint32_t i = 0; i < width; i++) {
        const char *number = at + 1;
        if (*at != ' ') return 0;
        row[i] = attn_number_read(number, &at);
        if (at == number) return 0;
    }
    if (*at != '\n' || row[0] != lab_run_x(&task->run, (uint32_t)index)) return 0;
    task->finished += !task->done[index];
    task->done[index] = 1;
    return 1;
}

/* A last line without its end was being written when something happened: it is left out. */
static int read_points(checkpoint_t *checkpoint, const char *bytes, const char *line) {
    for (const char *end; (end = strchr(line, '\n')); line = end + 1)
        if (!read_point(checkpoint->task, line))
            return cli_complain(CLI_USAGE,
                                "%s: '%.*s' is no point of this panel: choose another folder, or "
                                "drop all its points with --restart",
                                checkpoint->path, (int)(end - line < 40 ? end - line : 40), line);
    checkpoint->size = (size_t)(line - bytes);
    return CLI_OK;
}

static int has_points(const char *text) {
    const char *end = strstr(text, "\n\n"); /* of the header */
    return end && end[2];
}

static int read_checkpoint(checkpoint_t *checkpoint) {
    char *bytes, *text;
    size_t size;
    if (file_read(checkpoint->path, &bytes, &size)) return CLI_USAGE;
    text = realloc(bytes, size + 1);
    if (!text) {
        free(bytes);
        return cli_complain(CLI_USAGE, "%s: no memory", checkpoint->path);
    }
    text[size] = 0;
    const char *found = text, *wanted = checkpoint->header;
    skip_common(checkpoint, &found, &wanted);
    const size_t known = strlen(text) < sizeof magic - 1 ? strlen(text) : sizeof magic - 1;
    int status = CLI_OK;
    if (strncmp(text, magic, known) != 0)
        status = cli_complain(CLI_USAGE, "%s: is no file of attn lab", checkpoint->path);
    else if (!*wanted)
        status = read_points(checkpoint, text, found);
    else if (has_points(text))
        status = refuse(checkpoint, found, wanted);
    free(text);
    return status;
}

int checkpoint_load(checkpoint_t *checkpoint, task_t *task, int restart) {
    text_t header;
    *checkpoint = (checkpoint_t){.task = task, .descriptor = -1};
    if (text_make(&header, print_header, task)) return CLI_USAGE;
    checkpoint->header = header.bytes;
    checkpoint->path = task_path(task, "points");
    if (!checkpoint->path) return cli_complain(CLI_USAGE, "no memory for a path");
    struct stat info;
    if (stat(checkpoint->path, &info) != 0) return CLI_OK;
    if (!S_ISREG(info.st_mode)) /* a pipe would be waited for */
        return cli_complain(CLI_USAGE, "%s: is no regular file: choose another folder",
                            checkpoint->path);
    return restart ? CLI_OK : read_checkpoint(checkpoint);
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* All of it or nothing: what a full disk cut off is taken back. */
static int append(checkpoint_t *checkpoint, const char *bytes, size_t size) {
    const int code = file_write(checkpoint->descriptor, bytes, size);
    if (!code) {
        checkpoint->size += size;
        return CLI_OK;
    }
    if (ftruncate(checkpoint->descriptor, (off_t)checkpoint->size) != 0)
        cli_warn("%s: its last line is cut: %s", checkpoint->path, strerror(errno));
    return file_not_written(checkpoint->path, code);
}

/* Two that write would take each other's points away. The lock goes with the descriptor. */
static int lock(const checkpoint_t *checkpoint) {
    if (platform_lock(checkpoint->descriptor) == PLATFORM_HELD)
        return cli_complain(CLI_USAGE, "%s: another attn is computing it", checkpoint->path);
    return CLI_OK;
}

int checkpoint_open(checkpoint_t *checkpoint) {
    const int is_new = access(checkpoint->path, F_OK) != 0;
    checkpoint->descriptor = open(checkpoint->path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (checkpoint->descriptor < 0) return file_not_written(checkpoint->path, errno);
    if (lock(checkpoint)) return CLI_USAGE;
    if (ftruncate(checkpoint->descriptor, (off_t)checkpoint->size) != 0)
        return file_not_written(checkpoint->path, errno);
    if (checkpoint->size > 0) return CLI_OK;
    const int status = append(checkpoint, checkpoint->header, strlen(checkpoint->header));
    if (status && is_new) unlink(checkpoint->path);
    return status;
}

typedef struct point {
    const task_t *task;
    uint32_t index;
} point_t;

static void print_point(const void *data, FILE *out) {
    const point_t *point = data;
    const uint32_t width = point->task->run.panel->column_count;
    const double *row = point->task->rows + (size_t)point->index * width;
    char number[32];
    fprintf(out, "%u", point->index);
    for (uint32_t i = 0; i < width; i++) fprintf(out, " %s", lab_number_text(row[i], number));
    fputc('\n', out);
}

int checkpoint_add(checkpoint_t *checkpoint, uint32_t index) {
    const point_t point = {checkpoint->task, index};
    text_t line;
    if (text_make(&line, print_point, &point)) return CLI_USAGE;
    const int status = append(checkpoint, line.bytes, line.size);
    free(line.bytes);
    return status;
}

void checkpoint_free(checkpoint_t *checkpoint) {
    if (checkpoint->descriptor >= 0) close(checkpoint->descriptor);
    free(checkpoint->path);
    free(checkpoint->header);
    *checkpoint = (checkpoint_t){.descriptor = -1};
}
