/* cli/container.c: see container.h. */
#include "cli/container.h"

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/npz.h"
#include "npy/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { PATH_ROOM = 4096, NAMES_ROOM = 512 };

typedef struct container {
    const char *path; /* as it was given */
    char file[PATH_ROOM];
    const char *name; /* behind the colon; NULL: none */
    char *bytes;
    size_t size;
} container_t;

/* ---- file.npz:name ------------------------------------------------------------------------------- */

/* In any case of letters. */
static int ends_in(const char *text, const char *end) {
    const size_t length = strlen(text), own = strlen(end);
    return length >= own && strcasecmp(text + length - own, end) == 0;
}

static int is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

/* Whether files of this name have arrays of several names. */
static int is_called_container(const char *path) {
    return ends_in(path, ".npz") || ends_in(path, ".safetensors");
}

int container_is_named(const char *path) {
    char file[PATH_ROOM];
    snprintf(file, sizeof file, "%s", path);
    if (is_called_container(file)) return 1;
    for (char *colon = strchr(file, ':'); colon; colon = strchr(colon + 1, ':')) {
        *colon = 0;
        if (is_called_container(file)) return 1;
        *colon = ':';
    }
    return 0;
}

/* At the first colon behind what is a file, or is called as one that has names; a file of the whole name comes first. */
static void split(container_t *c) {
    c->name = NULL;
    snprintf(c->file, sizeof c->file, "%s", c->path);
    if (strlen(c->path) >= PATH_ROOM || is_file(c->path)) return;
    for (char *colon = strchr(c->file, ':'); colon; colon = strchr(colon + 1, ':')) {
        *colon = 0;
        if (colon > c->file && (is_file(c->file) || is_called_container(c->file))) {
            c->name = c->path + (colon + 1 - c->file);
            return;
        }
        *colon = ':';
    }
}

/* ---- kinds of files ------------------------------------------------------------------------------ */

/* No name, or a wrong one. */
static int complain_name(const container_t *c, size_t count, const char *names) {
    if (!count)
        return cli_complain(CLI_USAGE, "%s: has no arrays in it%s", c->file,
                            npz_is_one(c->bytes, c->size) ? " (files that end in .npy)" : "");
    if (c->name)
        return cli_complain(CLI_USAGE, "%s: has no array '%s'; there %s %s", c->file, c->name,
                            count == 1 ? "is" : "are", names);
    return cli_complain(CLI_USAGE, "%s: has %zu arrays; name one as %s:NAME, of %s", c->file, count,
                        c->file, names);
}

/* Whether a list of names between commas has this one, as far as there was room for it. */
static int is_listed(const char *names, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = names; at; at = strstr(at, ", ") ? strstr(at, ", ") + 2 : NULL)
        if (strncmp(at, name, length) == 0 && (!at[length] || strncmp(at + length, ", ", 2) == 0))
            return 1;
    return strlen(names) >= NAMES_ROOM - 1;
}

static int load_npz(const container_t *c, array_t *array, const npy_wanted_t *wanted) {
    const npz_t npz = {c->file, (const unsigned char *)c->bytes, c->size};
    char names[NAMES_ROOM], member[NAMES_ROOM + 8];
    int count;
    if (npz_names(&npz, names, sizeof names, &count)) return CLI_USAGE;
    const char *name = c->name ? c->name : names;
    if (!count || (c->name ? !is_listed(names, name) : count > 1))
        return complain_name(c, (size_t)count, names);
    snprintf(member, sizeof member, "%.*s.npy", NAMES_ROOM, name);
    char *bytes = NULL;
    size_t size;
    const int status = npz_file(&npz, member, &bytes, &size);
    if (!status) return array_take(array, c->path, bytes, size, wanted);
    free(bytes);
    return status;
}

static void list_names(const safetensors_t *file, char names[NAMES_ROOM]) {
    size_t used = 0;
    names[0] = 0;
    for (size_t i = 0; i < file->count && used < NAMES_ROOM; i++)
        used += (size_t)snprintf(names + used, NAMES_ROOM - used, "%s%s", i ? ", " : "",
                                 file->list[i].name);
}

/* The array is in c->bytes, which become its own. */
static int take_tensor(container_t *c, const safetensors_t *file, array_t *array,
                       const npy_wanted_t *wanted) {
    char names[NAMES_ROOM];
    attn_error_t error;
    npy_dict_t dict;
    const safetensor_t *tensor = c->name            ? safetensors_find(file, c->name)
                                 : file->count == 1 ? file->list
                                                    : NULL;
    if (!tensor) {
        list_names(file, names);
        return complain_name(c, file->count, names);
    }
    array->memory = c->bytes;
    c->bytes = NULL;
    attn_status_t status = safetensors_dict(tensor, &dict, &error);
    if (!status)
        status = npy_take(array->memory, (size_t)tensor->end, (size_t)tensor->begin, &dict, wanted,
                          &array->tensor, &array->rank, &error);
    return status ? cli_complain(CLI_USAGE, "%s %s", c->path, error.message) : CLI_OK;
}

static int load_safetensors(container_t *c, array_t *array, const npy_wanted_t *wanted) {
    safetensors_t file;
    attn_error_t error;
    int status = CLI_OK;
    if (safetensors_read(c->bytes, c->size, &file, &error))
        status = cli_complain(CLI_USAGE, "%s %s", c->file, error.message);
    if (!status) status = take_tensor(c, &file, array, wanted);
    safetensors_free(&file);
    return status;
}

static int begins_as_npy(const container_t *c) {
    const size_t size = c->size < sizeof npy_magic ? c->size : sizeof npy_magic;
    return memcmp(c->bytes, npy_magic, size) == 0;
}

static int load_npy(container_t *c, array_t *array, const npy_wanted_t *wanted) {
    if (c->name)
        return cli_complain(CLI_USAGE, "%s: is neither .npz nor .safetensors, and has no '%s'",
                            c->file, c->name);
    if (ends_in(c->file, ".npz") && !begins_as_npy(c))
        return cli_complain(CLI_USAGE, "%s: is no .npz file: it does not begin as an archive does",
                            c->file);
    const int status = array_take(array, c->path, c->bytes, c->size, wanted);
    c->bytes = NULL;
    return status;
}

/* A file that is called so may have other bytes before the archive. */
static int is_npz(const container_t *c) {
    return npz_is_one(c->bytes, c->size) ||
           (ends_in(c->file, ".npz") && !begins_as_npy(c) && npz_is_behind(c->bytes, c->size));
}

static int take(container_t *c, array_t *array, const npy_wanted_t *wanted) {
    int status;
    if (is_npz(c))
        status = load_npz(c, array, wanted);
    else if (safetensors_is_one(c->bytes, c->size) || ends_in(c->file, ".safetensors"))
        status = load_safetensors(c, array, wanted);
    else
        status = load_npy(c, array, wanted);
    free(c->bytes);
    return status;
}

int container_load(array_t *array, const char *path, const npy_wanted_t *wanted) {
    container_t c = {.path = path};
    split(&c);
    const int status = file_read(c.name ? c.file : path, &c.bytes, &c.size);
    return status ? status : take(&c, array, wanted);
}

int container_take(array_t *array, const char *path, char *bytes, size_t size,
                   const npy_wanted_t *wanted) {
    container_t c = {.path = path, .bytes = bytes, .size = size};
    snprintf(c.file, sizeof c.file, "%s", path);
    return take(&c, array, wanted);
}

int container_has_name(const char *path) {
    container_t c = {.path = path};
    split(&c);
    return c.name != NULL;
}
