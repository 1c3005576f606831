/*
 * cli/settings.h: what run, compare and bench have in common: the context (--cpu, --threads,
 * --plugin), the backends and their parameters (--set, --seed).
 */
#ifndef ATTN_CLI_SETTINGS_H
#define ATTN_CLI_SETTINGS_H

#include "cli/options.h"

#include "attn/attn.h"

typedef struct settings {
    const char *cpu;
    int64_t threads;
    option_texts_t plugins, assignments; /* --plugin, --set */
    const char *seed;
} settings_t;

/* For option tables, with `settings` a settings_t. */
#define SETTINGS_PLUGIN(settings)                                                                  \
    {                                                                                              \
        "plugin", 0, OPTION_TEXTS, "PATH", "load a plugin's shared object; may be repeated",       \
            &(settings).plugins, 0, 0                                                              \
    }
#define SETTINGS_CPU(settings)                                                                     \
    {                                                                                              \
        "cpu", 0, OPTION_TEXT, "TIER",                                                             \
            "highest instruction set to use; attn --version lists them", &(settings).cpu, 0, 0     \
    }
#define SETTINGS_THREADS(settings)                                                                 \
    {                                                                                              \
        "threads", 0, OPTION_INTEGER, "N", "number of threads (default 1)", &(settings).threads,   \
            1, 1024                                                                                \
    }
#define SETTINGS_PARAMETERS(settings)                                                              \
    {"set",                                                                                        \
     0,                                                                                            \
     OPTION_TEXTS,                                                                                 \
     "NAME=VALUE",                                                                                 \
     "set a parameter (see attn list); may be repeated",                                           \
     &(settings).assignments,                                                                      \
     0,                                                                                            \
     0},                                                                                           \
    {                                                                                              \
        "seed", 0, OPTION_TEXT, "N",                                                               \
            "set the parameter 'seed' of backends that draw random numbers", &(settings).seed, 0,  \
            0                                                                                      \
    }

/** A context with the plugins loaded; an exit status. */
int settings_context(const settings_t *settings, attn_context_t **context);

enum { SELECTION_SIZE = 256 };

/** Numbers of registered backends, in the order they were asked for. */
typedef struct selection {
    int count;
    uint32_t indices[SELECTION_SIZE];
} selection_t;

/** All backends when `lists` is empty, else those that its texts name between commas. */
int settings_select(const attn_context_t *context, const option_texts_t *lists,
                    selection_t *selection);

/** Complain that there is no backend of this name, and say which one was meant; an exit status. */
int settings_unknown(const attn_context_t *context, const char *id, size_t length);

/**
 * Check that every --set has the form NAME=VALUE or BACKEND.NAME=VALUE, names a backend of the
 * selection, that a NAME is declared by at least one of them, and that a VALUE is among the choices
 * where there are some; an exit status.
 */
int settings_check(const settings_t *settings, const attn_context_t *context,
                   const selection_t *selection);

/** Does the backend declare a parameter of this name, the first `length` characters of `name`? */
int settings_declares(const attn_backend_t *backend, const char *name, size_t length);

enum { PARAMETER_TEXT = 128 };

/** The parameters of one backend; `params` points into `names` and the command line. */
typedef struct parameters {
    uint32_t count;
    attn_param_t params[OPTION_LIST_SIZE + 1];
    char names[OPTION_LIST_SIZE][PARAMETER_TEXT];
} parameters_t;

/** Collect what --set and --seed say to this backend. Not to be copied afterwards. */
void settings_parameters(const settings_t *settings, const attn_backend_t *backend,
                         parameters_t *parameters);

#endif
