/*
 * cli/options.h: options and arguments of a subcommand, from one table: the parser, the checks and
 * the help text are all made from it.
 *
 *     const char *output = NULL;
 *     int64_t threads = 1;
 *     const option_t options[] = {
 *         {"output", 'o', OPTION_TEXT | OPTION_REQUIRED, "FILE", "where to write", &output},
 *         {"threads", 0, OPTION_INTEGER, "N", "how many threads", &threads, 1, 1024},
 *         {NULL},
 *     };
 */
#ifndef ATTN_CLI_OPTIONS_H
#define ATTN_CLI_OPTIONS_H

#include <stdint.h>

/** What an option's value is, and what `target` points to. */
enum option_kind {
    OPTION_SWITCH = 1,   /**< no value; int becomes 1 */
    OPTION_TEXT = 2,     /**< const char * */
    OPTION_INTEGER = 3,  /**< int64_t within [minimum, maximum] */
    OPTION_NUMBER = 4,   /**< double, finite as a float; within the limits unless both are 0 */
    OPTION_TEXTS = 5,    /**< option_texts_t: may be repeated */
    OPTION_INTEGERS = 6, /**< option_integers_t: values between commas, within the limits */
    OPTION_MAYBE = 7,    /**< const char *: "" for --name, the value for --name=value */
    OPTION_ARGUMENT = 8, /**< const char *: no option but the next word; required */
    OPTION_KIND_MASK = 15,
    OPTION_REQUIRED = 16, /**< a flag beside the kind */
    OPTION_OPTIONAL = 32, /**< a flag beside OPTION_ARGUMENT, of the last ones: it may be missing */
};

enum { OPTION_LIST_SIZE = 64 };

typedef struct option_texts {
    int count;
    const char *items[OPTION_LIST_SIZE];
} option_texts_t;

typedef struct option_integers {
    int count;
    int64_t items[OPTION_LIST_SIZE];
} option_integers_t;

typedef struct option {
    const char *name;  /**< NULL ends a table */
    char letter;       /**< for -o; 0 for none */
    int kind;          /**< enum option_kind */
    const char *value; /**< what the help calls the value */
    const char *help;
    void *target; /**< where the value goes; holds the default */
    int64_t minimum, maximum;
} option_t;

/** A subcommand: its table of options and what the help says before and after it. */
typedef struct option_command {
    const char *name, *summary;
    const option_t *options;
    const char *details; /**< NULL for none */
} option_command_t;

enum option_outcome { OPTIONS_PARSED, OPTIONS_HELPED, OPTIONS_WRONG };

/** Read argv[1..argc): fills the targets. --help prints the help; errors are complained about. */
enum option_outcome options_parse(const option_command_t *command, int argc, char **argv);

/** A whole number and nothing else; 1 when `text` is one. Overflow is none. */
int option_integer(const char *text, int64_t *value);

/** Whether a text is a whole number, however large. */
int option_is_whole(const char *text);

/** What is wrong with a whole number, which becomes *value; NULL for nothing. */
const char *option_integer_wrong(const char *text, int64_t *value);

/** What is wrong with a number for an f32, which attn_number_read() read up to `end`; NULL for nothing. */
const char *option_float_wrong(const char *text, double value, const char *end);

enum { OPTION_WORD = 128 };

/** The item of a list that `item` begins, up to a comma or the end; 0 when no number is that long. */
int option_item(const char *item, char word[OPTION_WORD]);

#endif
