/* cli/settings.c: see settings.h. */
#include "cli/settings.h"

#include "cli/cli.h"
#include "cli/meant.h"

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

int settings_unknown(const attn_context_t *context, const char *id, size_t length) {
    meant_t meant = meant_begin(id, length);
    char advice[MEANT_TEXT];
    for (uint32_t i = 0; i < attn_backend_count(context); i++)
        meant_try(&meant, attn_backend_at(context, i)->id);
    return cli_complain(CLI_USAGE, "unknown backend '%.*s'%s", (int)length, id,
                        meant_advice(&meant, "", "see attn list", advice));
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
    return settings_unknown(context, id, length);
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

static int declared(const attn_backend_t *backend, const char *name, size_t length,
                    attn_param_info_t *info) {
    *info = (attn_param_info_t){.struct_size = sizeof *info};
    for (uint32_t i = 0; attn_backend_param(backend, i, info); i++)
        if (strlen(info->name) == length && strncmp(info->name, name, length) == 0) return 1;
    return 0;
}

int settings_declares(const attn_backend_t *backend, const char *name, size_t length) {
    attn_param_info_t info;
    return declared(backend, name, length, &info);
}

/* Whether --set is for this backend. */
static int concerns(const assignment_t *parts, const attn_backend_t *backend) {
    return !parts->id || is_for(parts, backend);
}

static int unknown_id(const assignment_t *parts, const attn_context_t *context,
                      const selection_t *selection) {
    meant_t meant = meant_begin(parts->id, parts->id_length);
    char advice[MEANT_TEXT];
    for (int i = 0; i < selection->count; i++)
        meant_try(&meant, attn_backend_at(context, selection->indices[i])->id);
    return cli_complain(CLI_USAGE, "--set: '%.*s' is not one of the backends that run%s",
                        (int)parts->id_length, parts->id, meant_advice(&meant, "", NULL, advice));
}

/* `alone`: the one backend that could have it; NULL where there are several. */
static int unknown_name(const assignment_t *parts, const attn_context_t *context,
                        const selection_t *selection, const attn_backend_t *alone) {
    attn_param_info_t info = {.struct_size = sizeof info};
    meant_t meant = meant_begin(parts->name, parts->name_length);
    char advice[MEANT_TEXT];
    for (int i = 0; i < selection->count; i++) {
        const attn_backend_t *backend = attn_backend_at(context, selection->indices[i]);
        if (!concerns(parts, backend)) continue;
        for (uint32_t k = 0; attn_backend_param(backend, k, &info); k++)
            meant_try(&meant, info.name);
    }
    meant_advice(&meant, "", "see attn list", advice);
    if (alone)
        return cli_complain(CLI_USAGE, "backend '%s' has no parameter '%.*s'%s", alone->id,
                            (int)parts->name_length, parts->name, advice);
    return cli_complain(CLI_USAGE, "none of the backends has a parameter '%.*s'%s",
                        (int)parts->name_length, parts->name, advice);
}

static int unknown_choice(const attn_param_info_t *info, const char *value) {
    meant_t meant = meant_begin(value, strlen(value));
    char advice[MEANT_TEXT], names[256] = "";
    for (size_t i = 0, used = 0; info->choices[i]; i++) {
        meant_try(&meant, info->choices[i]);
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                     info->choices[i]);
    }
    return cli_complain(CLI_USAGE, "parameter '%s': '%.30s' is not one of %s%s", info->name, value,
                        names, meant_advice(&meant, "", NULL, advice));
}

/* A parameter that names one of several things; numbers are the library's to read. */
static int check_value(const attn_param_info_t *info, const char *value) {
    if (info->type != ATTN_PARAM_CHOICE) return CLI_OK;
    for (size_t i = 0; info->choices[i]; i++)
        if (strcmp(info->choices[i], value) == 0) return CLI_OK;
    return unknown_choice(info, value);
}

static int check(const assignment_t *parts, const attn_context_t *context,
                 const selection_t *selection) {
    attn_param_info_t info;
    const attn_backend_t *alone = NULL;
    int concerned = 0, found = 0;
    for (int i = 0; i < selection->count; i++) {
        const attn_backend_t *backend = attn_backend_at(context, selection->indices[i]);
        if (!concerns(parts, backend)) continue;
        concerned++;
        alone = backend;
        if (!declared(backend, parts->name, parts->name_length, &info)) continue;
        found++;
        if (check_value(&info, parts->value)) return CLI_USAGE;
    }
    if (found) return CLI_OK;
    if (!concerned) return unknown_id(parts, context, selection);
    return unknown_name(parts, context, selection, concerned == 1 ? alone : NULL);
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
