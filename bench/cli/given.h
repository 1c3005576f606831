/*
 * cli/given.h: arrays that the command line gives by name, as they are declared: the library's by
 * flags of their own (--mask M.npy), these and a backend's own by --input and --output.
 */
#ifndef ATTN_CLI_GIVEN_H
#define ATTN_CLI_GIVEN_H

#include "cli/arrays.h"
#include "cli/declared.h"
#include "cli/options.h"
#include "cli/settings.h"

typedef struct given {
    option_texts_t inputs, outputs;      /**< --input, --output: NAME=VALUE */
    const char *flagged[ATTN_ARRAY_OWN]; /**< what the flags gave */

    /* of the table of options */
    char flags[ATTN_ARRAY_OWN][DECLARED_TEXT];
    char helps[ATTN_ARRAY_OWN][224];
} given_t;

/* For option tables, with `given` a given_t. */
#define GIVEN_INPUT(given)                                                                         \
    {                                                                                              \
        "input", 0, OPTION_TEXTS, "NAME=VALUE",                                                    \
            "an array by its name, a file or a list (see attn list); may be repeated",             \
            &(given).inputs, 0, 0                                                                  \
    }

/**
 * Add to the end of `options` a flag for each array of the library's that has this role (enum
 * attn_role_code) and that a run may have or not.
 */
void given_add_flags(given_t *given, int32_t role, option_t options[OPTION_LIST_SIZE]);

/**
 * Check that every --input and --output has the form NAME=VALUE (a FILE alone is the result's), that
 * the library or a backend of the selection has an array of that name, and that none is given twice; an
 * exit status.
 */
int given_check(const given_t *given, const attn_context_t *context, const selection_t *selection);

/** The value behind "NAME=", and the length of the name; NULL where `text` is not of that form. */
const char *given_split(const char *text, size_t *length);

/** The same where a file alone is not meant: whatever is before the first "=" is a name, if a wrong one. */
const char *given_assigned(const char *text, size_t *length);

/** Whether the first `length` letters of `text` are this name. */
int given_is(const char *text, size_t length, const char *name);

/**
 * What is given for array number `number`: a list or a file; NULL for nothing. `label` (NULL: not
 * wanted) becomes "--mask" or "--input mask".
 */
const char *given_value(const given_t *given, uint32_t number, const attn_array_info_t *info,
                        char label[DECLARED_TEXT]);

/**
 * Say in the problem which inputs runs of this backend bring (NULL: the library's alone).
 * ATTN_ERROR_UNSUPPORTED when the backend needs one that is not given.
 */
attn_status_t given_apply(const given_t *given, const attn_backend_t *backend,
                          attn_problem_t *problem, attn_error_t *error);

#endif
