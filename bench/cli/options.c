/* cli/options.c: see options.h. */
#include "cli/options.h"

#include "cli/cli.h"
#include "cli/meant.h"
#include "number/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kind_of(const option_t *option) { return option->kind & OPTION_KIND_MASK; }

/* ---- values ---------------------------------------------------------------------------------- */

int option_integer(const char *text, int64_t *value) {
    char *end;
    const char first = text[0] == '-' ? text[1] : text[0];
    if (first < '0' || first > '9') return 0;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (*end || errno) return 0;
    *value = number;
    return 1;
}

int option_is_whole(const char *text) {
    const char *digits = text[0] == '-' ? text + 1 : text;
    return digits[0] && !digits[strspn(digits, "0123456789")];
}

const char *option_integer_wrong(const char *text, int64_t *value) {
    if (option_integer(text, value)) return NULL;
    return option_is_whole(text) ? "is beyond 64 bits" : "is not a whole number";
}

static int read_integer(const option_t *option, const char *text, int64_t *value) {
    const int fits = option_integer(text, value);
    if (!fits && !option_is_whole(text))
        return cli_complain(CLI_USAGE, "--%s: '%s' is not a whole number", option->name, text);
    if (!fits || *value < option->minimum || *value > option->maximum)
        return cli_complain(CLI_USAGE, "--%s: %s is outside %lld to %lld", option->name, text,
                            (long long)option->minimum, (long long)option->maximum);
    return CLI_OK;
}

const char *option_float_wrong(const char *text, double value, const char *end) {
    const int is_written = text[strcspn(text, "0123456789")] != 0; /* not as inf */
    if (end == text || *end || isnan(value) || !is_written) return "is not a finite number";
    return isfinite((float)value) ? NULL : "is beyond the largest f32, 3.4e38";
}

static int read_number(const option_t *option, const char *text, double *value) {
    const char *end;
    *value = attn_number_read(text, &end);
    const char *wrong = option_float_wrong(text, *value, end);
    if (wrong) return cli_complain(CLI_USAGE, "--%s: '%s' %s", option->name, text, wrong);
    if ((float)*value == 0.0f && !attn_number_is_zero(text)) /* where 0 may stand for nothing */
        return cli_complain(CLI_USAGE, "--%s: '%s' is below the smallest f32, 1.4e-45",
                            option->name, text);
    if (option->maximum != 0 &&
        (*value < (double)option->minimum || *value > (double)option->maximum))
        return cli_complain(CLI_USAGE, "--%s: %s is outside %lld to %lld", option->name, text,
                            (long long)option->minimum, (long long)option->maximum);
    return CLI_OK;
}

int option_item(const char *item, char word[OPTION_WORD]) {
    const size_t length = strcspn(item, ",");
    if (length >= OPTION_WORD) return 0;
    memcpy(word, item, length);
    word[length] = 0;
    return 1;
}

static int read_integers(const option_t *option, const char *text, option_integers_t *list) {
    list->count = 0;
    for (const char *item = text;; item++) {
        char word[OPTION_WORD];
        if (list->count == OPTION_LIST_SIZE)
            return cli_complain(CLI_USAGE, "--%s: more than %d values", option->name,
                                OPTION_LIST_SIZE);
        if (!option_item(item, word))
            return cli_complain(CLI_USAGE, "--%s: '%.20s...' is too long for a number",
                                option->name, item);
        if (read_integer(option, word, &list->items[list->count++])) return CLI_USAGE;
        item += strlen(word);
        if (!*item) return CLI_OK;
    }
}

static int add_text(const option_t *option, const char *text, option_texts_t *list) {
    if (list->count == OPTION_LIST_SIZE)
        return cli_complain(CLI_USAGE, "--%s: given more than %d times", option->name,
                            OPTION_LIST_SIZE);
    list->items[list->count++] = text;
    return CLI_OK;
}

static int store(const option_t *option, const char *text) {
    switch (kind_of(option)) {
    case OPTION_SWITCH:
        *(int *)option->target = 1;
        return CLI_OK;
    case OPTION_INTEGER:
        return read_integer(option, text, option->target);
    case OPTION_NUMBER:
        return read_number(option, text, option->target);
    case OPTION_TEXTS:
        return add_text(option, text, option->target);
    case OPTION_INTEGERS:
        return read_integers(option, text, option->target);
    default:
        *(const char **)option->target = text;
        return CLI_OK;
    }
}

/* ---- the command line ------------------------------------------------------------------------ */

/*
 * The option that argv's `word` names, and where its value begins in the word (or NULL): behind '='
 * after a name, right behind a letter.
 */
static const option_t *find(const option_t *options, const char *word, const char **value) {
    const int is_long = word[1] == '-';
    const size_t length = is_long ? strcspn(word + 2, "=") : 1;
    const char *rest = is_long ? word + 2 + length : word + 2;
    *value = !*rest ? NULL : is_long ? rest + 1 : rest;
    for (const option_t *option = options; option->name; option++) {
        if (kind_of(option) == OPTION_ARGUMENT) continue;
        if (is_long ? strlen(option->name) == length && !strncmp(option->name, word + 2, length)
                    : option->letter && option->letter == word[1])
            return option;
    }
    return NULL;
}

static const option_t *argument_number(const option_t *options, int number) {
    for (const option_t *option = options; option->name; option++)
        if (kind_of(option) == OPTION_ARGUMENT && number-- == 0) return option;
    return NULL;
}

static int missing(const option_command_t *command, int given[], int arguments) {
    for (const option_t *option = command->options; option->name; option++) {
        if (kind_of(option) == OPTION_ARGUMENT && arguments-- <= 0 &&
            !(option->kind & OPTION_OPTIONAL))
            return cli_complain(CLI_USAGE, "%s: %s is missing (see attn %s --help)", command->name,
                                option->name, command->name);
        if ((option->kind & OPTION_REQUIRED) && !given[option - command->options])
            return cli_complain(CLI_USAGE, "%s: --%s is missing (see attn %s --help)",
                                command->name, option->name, command->name);
    }
    return CLI_OK;
}

static int takes_next_word(const option_t *option) {
    return kind_of(option) != OPTION_SWITCH && kind_of(option) != OPTION_MAYBE;
}

/* The word before an unexpected one, if it is an option whose value that word may have meant to be. */
static const option_t *maybe_meant(const option_command_t *command, const char *before) {
    const char *value;
    const option_t *option = before[0] == '-' ? find(command->options, before, &value) : NULL;
    return option && kind_of(option) == OPTION_MAYBE && !value ? option : NULL;
}

static int unexpected(const option_command_t *command, char **argv, int at, const char *last) {
    const option_t *option = maybe_meant(command, argv[at - 1]);
    if (last == argv[at - 1])
        return cli_complain(CLI_USAGE,
                            "%s: unexpected '%s' (several words for one argument need quotes)",
                            command->name, argv[at]);
    if (option)
        return cli_complain(CLI_USAGE, "%s: unexpected '%s' (a value of --%s follows '=': --%s=%s)",
                            command->name, argv[at], option->name, option->name, argv[at]);
    return cli_complain(CLI_USAGE, "%s: unexpected '%s' (see attn %s --help)", command->name,
                        argv[at], command->name);
}

static int unknown(const option_command_t *command, const char *word) {
    const char *name = word + 1 + (word[1] == '-');
    meant_t meant = meant_begin(name, strcspn(name, "="));
    char advice[MEANT_TEXT], help[MEANT_TEXT];
    snprintf(help, sizeof help, "see attn %.64s --help", command->name);
    if (strchr("0123456789. (", word[1]))
        return cli_complain(CLI_USAGE,
                            "%s: unknown option '%s' (use -- before arguments that start with -)",
                            command->name, word);
    for (const option_t *option = command->options; option->name; option++)
        if (kind_of(option) != OPTION_ARGUMENT) meant_try(&meant, option->name);
    meant_try(&meant, "help");
    return cli_complain(CLI_USAGE, "%s: unknown option '%s'%s", command->name, word,
                        meant_advice(&meant, "--", help, advice));
}

/* Whether a word is a long option by its name, and so no value: a file of such a name is ./--name. */
static int is_option(const option_command_t *command, const char *word) {
    const char *value;
    return word[0] == '-' && word[1] == '-' && word[2] && find(command->options, word, &value);
}

/* Reads the option argv[*at] with its value, which may be the next word. */
static int read_option(const option_command_t *command, int argc, char **argv, int *at,
                       int given[]) {
    const char *value;
    const option_t *option = find(command->options, argv[*at], &value);
    if (!option) return unknown(command, argv[*at]);
    if (value && kind_of(option) == OPTION_SWITCH)
        return cli_complain(CLI_USAGE, "%s: --%s takes no value", command->name, option->name);
    if (!value && takes_next_word(option)) {
        if (*at + 1 == argc || is_option(command, argv[*at + 1]))
            return cli_complain(CLI_USAGE, "%s: --%s needs a value: %s", command->name,
                                option->name, option->value);
        value = argv[++*at];
    }
    if (value && !*value)
        return cli_complain(CLI_USAGE, "%s: the value of --%s is empty; it takes %s", command->name,
                            option->name, option->value);
    given[option - command->options] = 1;
    return store(option, value ? value : "");
}

static void print_help(const option_command_t *command);

enum option_outcome options_parse(const option_command_t *command, int argc, char **argv) {
    int given[OPTION_LIST_SIZE] = {0};
    int arguments = 0, only_arguments = 0;
    const char *last = NULL; /* argument */
    for (int i = 1; i < argc; i++) {
        if (!only_arguments && strcmp(argv[i], "--") == 0) {
            only_arguments = 1;
            continue;
        }
        if (!only_arguments && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)) {
            print_help(command);
            return OPTIONS_HELPED;
        }
        if (!only_arguments && argv[i][0] == '-' && argv[i][1]) {
            if (read_option(command, argc, argv, &i, given)) return OPTIONS_WRONG;
            continue;
        }
        const option_t *argument = argument_number(command->options, arguments++);
        if (!argument) {
            unexpected(command, argv, i, last);
            return OPTIONS_WRONG;
        }
        *(const char **)argument->target = last = argv[i];
    }
    return missing(command, given, arguments) ? OPTIONS_WRONG : OPTIONS_PARSED;
}

/* ---- help ------------------------------------------------------------------------------------ */

static void print_usage(const option_command_t *command) {
    printf("usage: attn %s", command->name);
    for (const option_t *option = command->options; option->name; option++) {
        if (kind_of(option) == OPTION_ARGUMENT)
            printf(option->kind & OPTION_OPTIONAL ? " [%s]" : " %s", option->name);
        else if ((option->kind & OPTION_REQUIRED) && option->letter)
            printf(" -%c %s", option->letter, option->value);
        else if (option->kind & OPTION_REQUIRED)
            printf(" --%s %s", option->name, option->value);
    }
    puts(" [OPTION...]\n");
}

enum { LEFT_WIDTH = 22, HELP_WIDTH = 72 };

/* Breaks between words; texts from declarations may be long. */
static void print_words(const char *text) {
    while (strlen(text) > HELP_WIDTH) {
        int length = HELP_WIDTH;
        while (length > 0 && text[length] != ' ') length--;
        if (length == 0) break;
        printf("%.*s\n  %*s  ", length, text, LEFT_WIDTH, "");
        text += length + 1;
    }
    puts(text);
}

static void print_line(const char *left, const char *help) {
    if (strlen(left) > LEFT_WIDTH)
        printf("  %s\n  %*s  ", left, LEFT_WIDTH, "");
    else
        printf("  %-*s  ", LEFT_WIDTH, left);
    print_words(help);
}

static void print_option(const option_t *option) {
    char left[80], letter[8] = "";
    const char *format = option->value ? "%s--%s %s" : "%s--%s%s";
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    if (kind_of(option) == OPTION_MAYBE) format = "%s--%s[=%s]";
    snprintf(left, sizeof left, format, letter, option->name, option->value ? option->value : "");
    print_line(kind_of(option) == OPTION_ARGUMENT ? option->name : left, option->help);
}

static void print_help(const option_command_t *command) {
    print_usage(command);
    printf("%s\n\n", command->summary);
    for (const option_t *option = command->options; option->name; option++) print_option(option);
    print_line("-h, --help", "this");
    if (command->details) printf("\n%s\n", command->details);
}
