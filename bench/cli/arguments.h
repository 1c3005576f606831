/*
 * cli/arguments.h: arrays that the command line gives by name, as they are declared: the library's by
 * flags of their own (--mask M.npy), these and a backend's own by --input and --output.
 */
#ifndef ATTN_CLI_ARGUMENTS_H
#define ATTN_CLI_ARGUMENTS_H

#include "cli/arrays.h"
#include "cli/declared.h"
#include "cli/options.h"
#include "cli/settings.h"

typedef struct arguments {
    option_texts_t inputs, outputs;      /**< --input, --output: NAME=VALUE */
    const char *flagged[ATTN_ARRAY_OWN]; /**< what the flags gave */

    /* of the table of options */
    char flags[ATTN_ARRAY_OWN][DECLARED_TEXT];
    char helps[ATTN_ARRAY_OWN][224];
} arguments_t;

/* For option tables, with `arguments` an arguments_t. */
#define ARGUMENTS_INPUT(arguments)                                                                 \
    {                                                                                              \
        "input", 0, OPTION_TEXTS, "NAME=VALUE",                                                    \
            "an array by its name, a file or a list (see attn list); may be repeated",             \
            &(arguments).inputs, 0, 0                                                              \
    }

/**
 * Add to the end of `options` a flag for each array of the library's that has this role (enum
 * attn_role_code) and that a run may have or not.
 */
void arguments_add_flags(arguments_t *arguments, int32_t role, option_t options[OPTION_LIST_SIZE]);

/**
 * Check that every --input and --output has the form NAME=VALUE (a FILE alone is the result's), that
 * the library or a backend of the selection has an array of that name, and that none is given twice; an
 * exit status.
 */
int arguments_check(const arguments_t *arguments, const attn_context_t *context,
                    const selection_t *selection);

/** The value behind "NAME=", and the length of the name; NULL where `text` is not of that form. */
const char *arguments_split(const char *text, size_t *length);

/** The same where a file alone is not meant: whatever is before the first "=" is a name, if a wrong one. */
const char *arguments_assigned(const char *text, size_t *length);

/** Whether the first `length` letters of `text` are this name. */
int arguments_is(const char *text, size_t length, const char *name);

/**
 * What is given for array number `number`: a list or a file; NULL for nothing. `label` (NULL: not
 * wanted) becomes "--mask" or "--input mask".
 */
const char *arguments_value(const arguments_t *arguments, uint32_t number,
                            const attn_array_info_t *info, char label[DECLARED_TEXT]);

/**
 * Say in the problem which inputs runs of this backend bring (NULL: the library's alone).
 * ATTN_ERROR_UNSUPPORTED when the backend needs one that is not arguments.
 */
attn_status_t arguments_apply(const arguments_t *arguments, const attn_backend_t *backend,
                              attn_problem_t *problem, attn_error_t *error);

#endif
