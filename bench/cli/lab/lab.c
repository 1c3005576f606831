/* cli/lab/lab.c: `attn lab`: its subcommands. */
#include "cli/cli.h"
#include "cli/lab/commands.h"

#include <stdio.h>
#include <string.h>

static int help(void) {
    puts("usage: attn lab list [OPTION...]\n"
         "       attn lab run NAME -o DIR [OPTION...]\n"
         "       attn lab train TASK -o FILE [OPTION...]\n"
         "       attn lab COMMAND --help\n"
         "\n"
         "The papers' experiments: computed, plotted, and with every number in a table.\n"
         "\n"
         "For example:\n"
         "  attn lab run separation --panel 3b -o results\n"
         "  attn lab run all -o results");
    return CLI_OK;
}

int cli_lab(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name)
        return cli_complain(CLI_USAGE, "lab: list, run or train is missing (see attn lab --help)");
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return help();
    if (strcmp(name, "list") == 0) return lab_command_list(argc - 1, argv + 1);
    if (strcmp(name, "run") == 0) return lab_command_run(argc - 1, argv + 1);
    if (strcmp(name, "train") == 0) return lab_command_train(argc - 1, argv + 1);
    return cli_complain(CLI_USAGE, "lab: unknown command '%s': there are list, run and train",
                        name);
}
