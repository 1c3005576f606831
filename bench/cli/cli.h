/*
 * cli/cli.h: the command line `attn`: subcommands, exit statuses, and the one way to complain.
 *
 * Every command is `int cli_<name>(int argc, char **argv)`, argv[0] being the command's name, and
 * returns an exit status. Whatever goes wrong is one line on standard error.
 */
#ifndef ATTN_CLI_CLI_H
#define ATTN_CLI_CLI_H

#include "attn/types.h"

enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1, /**< the machine's fault: a full disk, a closed pipe */
    CLI_USAGE = 2,  /**< the input's fault: options, files, shapes, parameters, sizes */
};

#if defined(__GNUC__)
#define CLI_FORMAT(string, first) __attribute__((format(printf, string, first)))
#else
#define CLI_FORMAT(string, first)
#endif

/** Print "attn: " and one line (control characters of a file's name become '?'); returns `status`.
 */
int cli_complain(int status, const char *format, ...) CLI_FORMAT(2, 3);

/** Say something that is no failure: "attn: warning: ...". */
void cli_warn(const char *format, ...) CLI_FORMAT(1, 2);

/** Complain about what the library found; returns CLI_USAGE. `what` may be NULL. */
int cli_reject(const char *what, const attn_error_t *error);

/** Hears every line that is to be printed on standard error, and its prefix; returns whether it is. */
typedef int cli_listener_t(const char *prefix, const char *line);
void cli_listen(cli_listener_t *listener);

int cli_list(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_layout(int argc, char **argv);
int cli_statistics(int argc, char **argv);
int cli_compare(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_embed(int argc, char **argv);
int cli_lab(int argc, char **argv);
int cli_sketch(int argc, char **argv);

#endif
