/* cli/main.c: the list of subcommands. */
#include "cli/cli.h"
#include "cli/meant.h"
#include "cli/platform.h"

#include "attn/attn.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"list", cli_list, "list backends and their parameters"},
    {"run", cli_run, "compute attention on .npy files with one backend"},
    {"layout", cli_layout, "show which pairs of queries and keys a backend keeps"},
    {"statistics", cli_statistics, "say how spread the weights are and which keys get most"},
    {"compare", cli_compare, "compare time and error of several backends on the same files"},
    {"bench", cli_bench, "measure speed over ranges of sizes, against the machine's peak"},
    {"check", cli_check, "test a backend, yours too, against the rules of all backends"},
    {"lab", cli_lab, "run and plot the papers' experiments; train models, write text"},
    {"sketch", cli_sketch, "reduce the features of a matrix and report the error"},
    {"embed", cli_embed, "turn a text into vectors to use as Q, K and V"},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int help(void) {
    puts("usage: attn COMMAND [OPTION...]\n"
         "       attn COMMAND --help, or attn help COMMAND\n"
         "       attn --version\n"
         "\n"
         "Attention on the CPU: softmax(scale Q K^T) V, exact and approximate.\n");
    for (int i = 0; i < COMMANDS; i++) printf("  %-10s %s\n", commands[i].name, commands[i].help);
    puts("\n"
         "For example:\n"
         "  attn embed text.txt --dim 64 -o x.npy\n"
         "  attn compare --q x.npy --k x.npy --v x.npy\n"
         "  attn run sparse --q x.npy --k x.npy --v x.npy --set block=16 -o o.npy\n"
         "\n"
         "ATTN_CPU in the environment limits the instruction set, as the option --cpu does.\n"
         "\n"
         "An output file replaces another as cp does: mode, owner and links stay. It is complete\n"
         "or absent, with one exception: a file with hard links, of another owner, or in a\n"
         "folder where you may not write is overwritten in place. Room on the disk is reserved\n"
         "first and signals wait, but a kill -9 or a power cut during that copy leaves a damaged\n"
         "file. The complete file is then beside it as .attn-*, where the folder allows that;\n"
         "the next run that writes the same output removes it.\n"
         "\n"
         "Exit status: 0 done; 2 wrong input (one line on standard error says what was wrong,\n"
         "and no output file is written); 1 any other failure.");
    return CLI_OK;
}

static int version(void) {
    attn_tier_t tiers[16];
    const uint32_t count = attn_available_tiers(tiers, 16);
    printf("attn %s\n", attn_version());
    printf("instruction sets here:");
    for (uint32_t i = 0; i < count && i < 16; i++) printf(" %s", attn_tier_name(tiers[i]));
    printf("\n");
    return CLI_OK;
}

static int unknown_option(const char *word) {
    const char *name = word + 1 + (word[1] == '-');
    meant_t meant = meant_begin(name, strlen(name));
    char advice[MEANT_TEXT];
    meant_try(&meant, "version");
    meant_try(&meant, "help");
    return cli_complain(CLI_USAGE, "unknown option '%s' before a command%s", word,
                        meant_advice(&meant, "--", "see attn --help", advice));
}

static int unknown(const char *name) {
    meant_t meant = meant_begin(name, strlen(name));
    char advice[MEANT_TEXT];
    if (name[0] == '-') return unknown_option(name);
    for (int i = 0; i < COMMANDS; i++) meant_try(&meant, commands[i].name);
    return cli_complain(CLI_USAGE, "unknown command '%s'%s", name,
                        meant_advice(&meant, "", "see attn --help", advice));
}

static int run_command(int argc, char **argv) {
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[0], commands[i].name) == 0) return commands[i].run(argc, argv);
    return unknown(argv[0]);
}

/* "attn help lab run" is "attn lab run --help". */
static int help_of(int argc, char **argv) {
    static char option[] = "--help";
    for (int i = 0; i + 1 < argc; i++) argv[i] = argv[i + 1];
    argv[argc - 1] = option;
    return run_command(argc, argv);
}

static int dispatch(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) return cli_complain(CLI_USAGE, "a command is missing (see attn --help)");
    if (strcmp(name, "help") == 0 && argc > 2) return help_of(argc - 1, argv + 1);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help();
    return strcmp(name, "--version") == 0 ? version() : run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    platform_hold_standard();
    platform_called(argc > 0 ? argv[0] : NULL);
    platform_bound_memory();
    platform_report_limits();
    const int status = dispatch(argc, argv);
    const int lost = fflush(stdout) != 0 || ferror(stdout);
    if (lost && status == CLI_OK)
        return cli_complain(CLI_FAILED, "cannot write to standard output");
    return status;
}
