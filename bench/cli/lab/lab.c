/* cli/lab/lab.c: `attn lab`: its subcommands. */
#include "cli/cli.h"
#include "cli/lab/commands.h"
#include "cli/meant.h"

#include <stdio.h>
#include <string.h>

static int help(void) {
    puts("usage: attn lab list [OPTION...]\n"
         "       attn lab run NAME -o DIR [OPTION...]\n"
         "       attn lab draw DIR -o DIR\n"
         "       attn lab train TASK -o FILE [OPTION...]\n"
         "       attn lab export CHECKPOINT -o FILE [OPTION...]\n"
         "       attn lab solve TASK QUESTION [OPTION...]\n"
         "       attn lab write BEGINNING [OPTION...]\n"
         "       attn lab heads --corpus FOLDER [OPTION...]\n"
         "       attn lab dump TASK QUESTION --q Q.npy --k K.npy --v V.npy [OPTION...]\n"
         "       attn lab COMMAND --help\n"
         "\n"
         "The papers' experiments: computed, plotted, and with every number in a table.\n"
         "\n"
         "For example:\n"
         "  attn lab run separation --panel 3b -o results\n"
         "  attn lab run all -o results");
    return CLI_OK;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"list", lab_command_list},   {"run", lab_command_run},       {"draw", lab_command_draw},
    {"train", lab_command_train}, {"export", lab_command_export}, {"solve", lab_command_solve},
    {"dump", lab_command_dump},   {"write", lab_command_write},   {"heads", lab_command_heads},
};

static int unknown(const char *name) {
    meant_t meant = meant_begin(name, strlen(name));
    char advice[MEANT_TEXT];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        meant_try(&meant, commands[i].name);
    return cli_complain(CLI_USAGE, "lab: unknown command '%s'%s", name,
                        meant_advice(&meant, "", "see attn lab --help", advice));
}

int cli_lab(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) return cli_complain(CLI_USAGE, "lab: a command is missing (see attn lab --help)");
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return help();
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
    return unknown(name);
}
