/* cli/settings.c: see settings.h. */
#include "cli/settings.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

/* ---- context and backends -------------------------------------------------------------------- */

static void log_line(void *user, const char *line) {
    (void)user;
    cli_warn("%s", line);
}

int settings_context(const settings_t *settings, attn_context_t **context) {
    const attn_context_options_t options = {.struct_size = sizeof options,
                                            .threads = (int32_t)settings->threads,
                                            .cpu = settings->cpu,
                                            .log = log_line};
    attn_error_t error;
    *context = NULL;
    if (attn_context_create(&options, context, &error)) return cli_reject(NULL, &error);
    for (int i = 0; i < settings->plugins.count; i++) {
        if (attn_plugin_load(*context, settings->plugins.items[i], &error)) {
            attn_context_destroy(*context);
            *context = NULL;
            return cli_reject(NULL, &error);
        }
    }
    return CLI_OK;
}

static int select_one(const attn_context_t *context, const char *id, size_t length,
                      selection_t *selection) {
    for (uint32_t i = 0; i < attn_backend_count(context); i++) {
        const char *known = attn_backend_at(context, i)->id;
        if (strlen(known) != length || strncmp(known, id, length) != 0) continue;
        for (int j = 0; j < selection->count; j++)
            if (selection->indices[j] == i)
                return cli_complain(CLI_USAGE, "backend '%s' is named twice", known);
        if (selection->count == SELECTION_SIZE)
            return cli_complain(CLI_USAGE, "more than %d backends", SELECTION_SIZE);
        selection->indices[selection->count++] = i;
        return CLI_OK;
    }
    return cli_complain(CLI_USAGE, "unknown backend '%.*s' (see attn list)", (int)length, id);
}

int settings_select(const attn_context_t *context, const option_texts_t *lists,
                    selection_t *selection) {
    selection->count = 0;
    const uint32_t all = attn_backend_count(context);
    for (uint32_t i = 0; lists->count == 0 && i < all && i < SELECTION_SIZE; i++)
        selection->indices[selection->count++] = i;
    for (int i = 0; i < lists->count; i++) {
        for (const char *id = lists->items[i];; id++) {
            const size_t length = strcspn(id, ",");
            if (select_one(context, id, length, selection)) return CLI_USAGE;
            id += length;
            if (!*id) break;
        }
    }
    return CLI_OK;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* A --set in its parts: an id may have dots of its own, a parameter's name has none. */
typedef struct assignment {
    const char *id; /* NULL: for all */
    size_t id_length;
    const char *name;
    size_t name_length;
    const char *value;
} assignment_t;

static int split(const char *text, assignment_t *parts) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) return 0;
    const char *dot = equals;
    while (dot > text && dot[-1] != '.') dot--;
    *parts =
        (assignment_t){.name = dot, .name_length = (size_t)(equals - dot), .value = equals + 1};
    if (dot > text) {
        parts->id = text;
        parts->id_length = (size_t)(dot - 1 - text);
    }
    return parts->name_length > 0 && parts->name_length < PARAMETER_TEXT;
}

static int is_for(const assignment_t *parts, const attn_backend_t *backend) {
    return parts->id && strlen(backend->id) == parts->id_length &&
           strncmp(backend->id, parts->id, parts->id_length) == 0;
}

int settings_declares(const attn_backend_t *backend, const char *name, size_t length) {
    attn_param_info_t info = {.struct_size = sizeof info};
    for (uint32_t i = 0; attn_backend_param(backend, i, &info); i++)
        if (strlen(info.name) == length && strncmp(info.name, name, length) == 0) return 1;
    return 0;
}

enum { MOST_NAME = 32 };

/* How many letters to add, drop or change make one name the other (Levenshtein); of long names: many. */
static size_t distance(const char *name, size_t length, const char *other) {
    size_t row[MOST_NAME + 1];
    const size_t width = strlen(other);
    if (length > MOST_NAME || width > MOST_NAME) return MOST_NAME;
    for (size_t j = 0; j <= width; j++) row[j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t before = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            const size_t changed = before + (name[i - 1] != other[j - 1]);
            const size_t least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            before = row[j];
            row[j] = changed < least ? changed : least;
        }
    }
    return row[width];
}

/* "did you mean block?", or where to look. */
static const char *advise(const assignment_t *parts, const attn_context_t *context,
                          const selection_t *selection, char text[PARAMETER_TEXT]) {
    attn_param_info_t info = {.struct_size = sizeof info};
    size_t nearest = parts->name_length < 6 ? 2 : 3; /* beyond that it is another word */
    snprintf(text, PARAMETER_TEXT, "see attn list");
    for (int i = 0; i < selection->count; i++) {
        const attn_backend_t *backend = attn_backend_at(context, selection->indices[i]);
        if (parts->id && !is_for(parts, backend)) continue;
        for (uint32_t k = 0; attn_backend_param(backend, k, &info); k++) {
            const size_t found = distance(parts->name, parts->name_length, info.name);
            if (found >= nearest) continue;
            nearest = found;
            snprintf(text, PARAMETER_TEXT, "did you mean %.64s?", info.name);
        }
    }
    return text;
}

static int check(const assignment_t *parts, const attn_context_t *context,
                 const selection_t *selection) {
    char advice[PARAMETER_TEXT];
    advise(parts, context, selection, advice);
    for (int i = 0; i < selection->count; i++) {
        const attn_backend_t *backend = attn_backend_at(context, selection->indices[i]);
        if (parts->id && !is_for(parts, backend)) continue;
        if (settings_declares(backend, parts->name, parts->name_length)) return CLI_OK;
        if (parts->id || selection->count == 1)
            return cli_complain(CLI_USAGE, "backend '%s' has no parameter '%.*s' (%s)", backend->id,
                                (int)parts->name_length, parts->name, advice);
    }
    if (parts->id)
        return cli_complain(CLI_USAGE, "--set: '%.*s' is not one of the backends that run",
                            (int)parts->id_length, parts->id);
    return cli_complain(CLI_USAGE, "none of the backends has a parameter '%.*s' (%s)",
                        (int)parts->name_length, parts->name, advice);
}

int settings_check(const settings_t *settings, const attn_context_t *context,
                   const selection_t *selection) {
    int64_t seed;
    for (int i = 0; i < settings->assignments.count; i++) {
        assignment_t parts;
        if (!split(settings->assignments.items[i], &parts))
            return cli_complain(CLI_USAGE, "--set: '%s' is not of the form NAME=VALUE",
                                settings->assignments.items[i]);
        if (check(&parts, context, selection)) return CLI_USAGE;
    }
    if (settings->seed && !option_integer(settings->seed, &seed))
        return cli_complain(CLI_USAGE, "--seed: '%s' is not a whole number", settings->seed);
    return CLI_OK;
}

void settings_parameters(const settings_t *settings, const attn_backend_t *backend,
                         parameters_t *parameters) {
    parameters->count = 0;
    if (settings->seed && settings_declares(backend, "seed", 4))
        parameters->params[parameters->count++] = (attn_param_t){"seed", settings->seed};
    for (int i = 0; i < settings->assignments.count; i++) {
        assignment_t parts;
        if (!split(settings->assignments.items[i], &parts)) continue;
        if (parts.id ? !is_for(&parts, backend)
                     : !settings_declares(backend, parts.name, parts.name_length))
            continue;
        snprintf(parameters->names[i], PARAMETER_TEXT, "%.*s", (int)parts.name_length, parts.name);
        parameters->params[parameters->count++] = (attn_param_t){parameters->names[i], parts.value};
    }
}
