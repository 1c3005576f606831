/* cli/list.c: `attn list`: the backends, their parameters and their tensors. */
#include "cli/cli.h"
#include "cli/declared.h"
#include "cli/parameter.h"
#include "cli/settings.h"

#include "attn/ext/stream.h"

#include <stdio.h>
#include <stdlib.h>

static int print_json(const attn_context_t *context) {
    const size_t size = attn_describe(context, NULL, 0) + 1;
    char *text = malloc(size);
    if (!text) return cli_complain(CLI_USAGE, "no memory for the list");
    attn_describe(context, text, size);
    puts(text);
    free(text);
    return CLI_OK;
}

/* A plugin may have left it out. */
static const char *said(const char *text) { return text ? text : ""; }

static void print_features(const attn_backend_t *backend) {
    const char *before = "  does ";
#define PRINT(name, bit, text, words)                                                              \
    if (backend->features & ATTN_FEATURE_##name) printf("%s%s", before, words), before = ", ";
    ATTN_FEATURES(PRINT)
#undef PRINT
    if (backend->get_extension && backend->get_extension(ATTN_EXT_STREAM))
        printf("%sstreams", before), before = ", ";
    puts(before[0] == ',' ? "" : "  does the plain problem alone");
}

static void print_backend(const attn_backend_t *backend, const char *origin) {
    attn_param_info_t info = {.struct_size = sizeof info};
    printf("%s %s: %s (%s)\n", backend->id, said(backend->version), said(backend->name), origin);
    printf("  %s\n  %s\n", said(backend->description), said(backend->reference));
    print_features(backend);
    for (uint32_t i = 0; attn_backend_param(backend, i, &info); i++) parameter_print(&info);
    attn_array_info_t array = {.struct_size = sizeof array};
    for (uint32_t number = ATTN_ARRAY_OWN; attn_backend_array(backend, number, &array); number++)
        declared_print(&array);
}

static int print_backends(const attn_context_t *context, const char *only) {
    const option_texts_t list = {.count = only != NULL, .items = {only}};
    selection_t selection;
    if (settings_select(context, &list, &selection)) return CLI_USAGE;
    for (int i = 0; i < selection.count; i++) {
        const uint32_t index = selection.indices[i];
        fputs(i ? "\n" : "", stdout);
        print_backend(attn_backend_at(context, index), attn_backend_origin(context, index));
    }
    return CLI_OK;
}

static const char summary[] =
    "List the backends with their parameters, ranges and defaults, and their tensors.";

static const char notes[] =
    "In shapes, B is batches, H heads of Q, Hkv heads of K and V, n queries, m keys, d columns of\n"
    "Q and K, dv columns of V. |1: the axis may also be 1, the same for all. plan: the plan\n"
    "decides. A,B,...: one number for each head or batch, or one for all where the shape has |1.\n"
    "Parameters go by --set, arrays by --input and --output (see attn run --help).";

int cli_list(int argc, char **argv) {
    settings_t settings = {.threads = 1};
    const char *only = NULL;
    int json = 0;
    const option_t options[] = {
        {"BACKEND", 0, OPTION_ARGUMENT | OPTION_OPTIONAL, NULL, "only this backend", &only, 0, 0},
        {"json", 0, OPTION_SWITCH, NULL, "as JSON, with all details", &json, 0, 0},
        SETTINGS_PLUGIN(settings),
        {.name = NULL},
    };
    const option_command_t command = {"list", summary, options, notes};
    const enum option_outcome outcome = options_parse(&command, argc, argv);
    if (outcome != OPTIONS_PARSED) return outcome == OPTIONS_HELPED ? CLI_OK : CLI_USAGE;
    if (json && only) return cli_complain(CLI_USAGE, "list: --json is of all backends");

    attn_context_t *context;
    int status = settings_context(&settings, &context);
    if (status) return status;
    status = json ? print_json(context) : print_backends(context, only);
    attn_context_destroy(context);
    return status;
}
