/* cli/lab/store.c: see store.h. */
#include "cli/lab/store.h"

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/lab/stop.h"
#include "cli/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_of(const store_t *store, const char *name) {
    const char *folder = store->folder ? store->folder : "";
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s%s%s", folder, store->folder ? "/" : "", name);
    return path;
}

static int failed(store_t *store, int status) {
    if (status && !store->status) store->status = status;
    return status;
}

static int read_file(void *data, const char *name, char **bytes, size_t *size) {
    store_t *store = data;
    struct stat info;
    char *path = path_of(store, name);
    if (!path) return failed(store, cli_complain(CLI_FAILED, "no memory for a path"));
    *bytes = NULL;
    const int is_there = stat(path, &info) == 0 && S_ISREG(info.st_mode);
    const int status = is_there ? file_read(path, bytes, size) : CLI_OK;
    free(path);
    return failed(store, status);
}

static int write_file(void *data, const char *name, const void *bytes, size_t size) {
    store_t *store = data;
    output_t output = {.count = 0};
    char *path = path_of(store, name);
    if (!path) return failed(store, cli_complain(CLI_FAILED, "no memory for a path"));
    output_add(&output, path, NULL, 0, bytes, size);
    const int status = output_write(&output);
    free(path);
    return failed(store, status);
}

/* In one piece, as several threads may; a terminal's line of progress makes room. */
static void tell(void *data, const char *name, const char *text) {
    const store_t *store = data;
    if (store->folder && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    printf("%s%s%s\n", store->folder ? name : "", store->folder ? ": " : "", text);
    fflush(stdout);
}

static int stop(void *data) {
    const store_t *store = data;
    return store->status || stop_wanted();
}

void store_make(store_t *store, const char *folder) {
    *store = (store_t){.folder = folder,
                       .lab = {.data = store,
                               .seconds = 30,
                               .read = read_file,
                               .write = write_file,
                               .tell = tell,
                               .stop = stop}};
}

int store_check(const store_t *store) {
    if (store->lab.seconds >= 0) return CLI_OK;
    return cli_complain(CLI_USAGE, "--keep: %g is not 0 or more", store->lab.seconds);
}

void store_remove(const lab_store_t *lab, const char *name) {
    char *path = path_of(lab->data, name);
    if (path) unlink(path);
    free(path);
}
