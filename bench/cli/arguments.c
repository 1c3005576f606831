/* cli/arguments.c: see arguments.h. */
#include "cli/arguments.h"

#include "cli/cli.h"
#include "cli/meant.h"

#include <stdio.h>
#include <string.h>

/* ---- NAME=VALUE ------------------------------------------------------------------------------ */

const char *arguments_split(const char *text, size_t *length) {
    *length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return *length && text[*length] == '=' ? text + *length + 1 : NULL;
}

const char *arguments_assigned(const char *text, size_t *length) {
    *length = strcspn(text, "=");
    return *length && text[*length] ? text + *length + 1 : NULL;
}

int arguments_is(const char *text, size_t length, const char *name) {
    return strlen(name) == length && strncmp(text, name, length) == 0;
}

static const option_texts_t *list_of(const arguments_t *arguments, int32_t role) {
    return role == ATTN_ROLE_INPUT ? &arguments->inputs : &arguments->outputs;
}

static const char *option_of(int32_t role) { return role == ATTN_ROLE_INPUT ? "input" : "output"; }

/* Whether an entry of a list is for the array of this name; a file without a name is the result's. */
static int is_for(const char *text, const char *name, const char **value) {
    size_t length;
    *value = arguments_split(text, &length);
    if (*value) return arguments_is(text, length, name);
    *value = text;
    return strcmp(name, "out") == 0;
}

/* How often an array is arguments, and its last value. */
static int find(const arguments_t *arguments, uint32_t number, const attn_array_info_t *info,
                const char **found) {
    const option_texts_t *list = list_of(arguments, info->role);
    const char *value;
    int count = 0;
    *found = number < ATTN_ARRAY_OWN ? arguments->flagged[number] : NULL;
    count += *found != NULL;
    for (int i = 0; i < list->count; i++)
        if (is_for(list->items[i], info->name, &value)) {
            *found = value;
            count++;
        }
    return count;
}

const char *arguments_value(const arguments_t *arguments, uint32_t number,
                            const attn_array_info_t *info, char label[DECLARED_TEXT]) {
    const char *value;
    char flag[DECLARED_TEXT];
    if (!find(arguments, number, info, &value)) return NULL;
    if (label && number < ATTN_ARRAY_OWN && arguments->flagged[number])
        snprintf(label, DECLARED_TEXT, "--%.60s", declared_flag(number, info, flag));
    else if (label)
        snprintf(label, DECLARED_TEXT, "--%s %.50s", option_of(info->role), info->name);
    return value;
}

/* ---- flags ----------------------------------------------------------------------------------- */

static option_t make_flag(arguments_t *arguments, uint32_t number, const attn_array_info_t *info) {
    const declared_special_t *special = declared_special(number);
    char kind[DECLARED_TEXT];
    snprintf(arguments->helps[number], sizeof arguments->helps[number], "%s%s: %.120s%s%s",
             info->role == ATTN_ROLE_OUTPUT ? "also write " : "", declared_kind(info, kind),
             info->help, special->filled ? "; auto: " : "", special->filled ? special->filled : "");
    return (option_t){.name = declared_flag(number, info, arguments->flags[number]),
                      .kind = special->fill ? OPTION_MAYBE : OPTION_TEXT,
                      .value = info->role == ATTN_ROLE_INPUT && declared_list_axis(info) >= 0
                                   ? "A,B,...|FILE"
                                   : "FILE",
                      .help = arguments->helps[number],
                      .target = &arguments->flagged[number]};
}

void arguments_add_flags(arguments_t *arguments, int32_t role, option_t options[OPTION_LIST_SIZE]) {
    attn_array_info_t info = {.struct_size = sizeof info};
    int count = 0;
    while (options[count].name) count++;
    for (uint32_t number = 0; attn_backend_array(NULL, number, &info); number++)
        if (info.role == role && declared_is_choice(&info) && count < OPTION_LIST_SIZE - 1)
            options[count++] = make_flag(arguments, number, &info);
    options[count] = (option_t){.name = NULL};
}

/* ---- names ----------------------------------------------------------------------------------- */

typedef struct checked {
    const arguments_t *arguments;
    int32_t role;
    const char *text; /* NAME=VALUE */
} checked_t;

static int is_named(const attn_array_info_t *info, int32_t role, uint32_t number) {
    return info->role == role &&
           (number >= ATTN_ARRAY_OWN || number == ATTN_ARRAY_OUT || declared_is_choice(info));
}

/* Looks through the arrays from `number` on: 1 when the text is for one of them; an exit status. */
static int look(const checked_t *checked, const attn_backend_t *backend, uint32_t number,
                int *found) {
    attn_array_info_t info = {.struct_size = sizeof info};
    const char *value;
    for (; attn_backend_array(backend, number, &info); number++) {
        if (!is_named(&info, checked->role, number) || !is_for(checked->text, info.name, &value))
            continue;
        *found = 1;
        if (find(checked->arguments, number, &info, &value) > 1)
            return cli_complain(CLI_USAGE, "--%s: '%s' is given twice", option_of(checked->role),
                                info.name);
    }
    return CLI_OK;
}

/* What at least one of them does (enum attn_feature_bits). */
static uint64_t features_of(const attn_context_t *context, const selection_t *selection) {
    uint64_t features = 0;
    for (int i = 0; i < selection->count; i++)
        features |= attn_backend_at(context, selection->indices[i])->features;
    return features;
}

typedef struct known {
    char names[512];
    size_t used;
    meant_t meant;
} known_t;

static void add_names(known_t *known, const attn_backend_t *backend, uint32_t number, int32_t role,
                      uint64_t features) {
    attn_array_info_t info = {.struct_size = sizeof info};
    for (; attn_backend_array(backend, number, &info); number++) {
        if (!is_named(&info, role, number) || (info.feature & ~features)) continue;
        meant_try(&known->meant, info.name);
        if (known->used < sizeof known->names)
            known->used +=
                (size_t)snprintf(known->names + known->used, sizeof known->names - known->used,
                                 "%s%s", known->used ? ", " : "", info.name);
    }
}

static int complain_unknown(const checked_t *checked, const attn_context_t *context,
                            const selection_t *selection) {
    const uint64_t features = features_of(context, selection);
    const char *option = option_of(checked->role);
    char advice[MEANT_TEXT];
    size_t length;
    arguments_assigned(checked->text, &length);
    known_t known = {.meant = meant_begin(checked->text, length)};
    add_names(&known, NULL, 0, checked->role, features);
    for (int i = 0; i < selection->count; i++)
        add_names(&known, attn_backend_at(context, selection->indices[i]), ATTN_ARRAY_OWN,
                  checked->role, features);
    return cli_complain(CLI_USAGE, "--%s: there is no %s '%.*s'; there are %s%s", option, option,
                        (int)length, checked->text, *known.names ? known.names : "none",
                        meant_advice(&known.meant, "", NULL, advice));
}

static int check(const checked_t *checked, const attn_context_t *context,
                 const selection_t *selection) {
    size_t length;
    int found = 0;
    const char *value = arguments_split(checked->text, &length);
    if (checked->role == ATTN_ROLE_INPUT && !arguments_assigned(checked->text, &length))
        return cli_complain(CLI_USAGE, "--input: '%s' is not of the form NAME=VALUE",
                            checked->text);
    if (checked->role == ATTN_ROLE_INPUT && value && !*value)
        return cli_complain(CLI_USAGE, "--input: '%s' has no value", checked->text);
    if (checked->role == ATTN_ROLE_OUTPUT && !*(value ? value : checked->text))
        return cli_complain(CLI_USAGE, "--output: '%s' names no file", checked->text);
    int status = look(checked, NULL, 0, &found);
    for (int i = 0; !status && i < selection->count; i++)
        status =
            look(checked, attn_backend_at(context, selection->indices[i]), ATTN_ARRAY_OWN, &found);
    if (status || found) return status;
    return complain_unknown(checked, context, selection);
}

int arguments_check(const arguments_t *arguments, const attn_context_t *context,
                    const selection_t *selection) {
    for (int32_t role = ATTN_ROLE_INPUT; role <= ATTN_ROLE_OUTPUT; role++) {
        const option_texts_t *list = list_of(arguments, role);
        for (int i = 0; i < list->count; i++) {
            const checked_t checked = {arguments, role, list->items[i]};
            if (check(&checked, context, selection)) return CLI_USAGE;
        }
    }
    return CLI_OK;
}

/* ---- the problem ----------------------------------------------------------------------------- */

attn_status_t arguments_apply(const arguments_t *arguments, const attn_backend_t *backend,
                              attn_problem_t *problem, attn_error_t *error) {
    attn_array_info_t info = {.struct_size = sizeof info};
    attn_status_t status = ATTN_OK;
    for (uint32_t number = 0; !status && attn_backend_array(backend, number, &info); number++) {
        if (info.role != ATTN_ROLE_INPUT) continue;
        const int is_given = arguments_value(arguments, number, &info, NULL) != NULL;
        if (is_given && info.presence == ATTN_PRESENCE_NAMED)
            status = attn_problem_add_input(problem, backend, info.name, error);
        else if (!is_given && number >= ATTN_ARRAY_OWN && info.presence == ATTN_PRESENCE_REQUIRED)
            status = attn_fail(error, ATTN_ERROR_UNSUPPORTED, "backend '%.60s' needs --input %s",
                               backend->id, info.name);
    }
    return status;
}
