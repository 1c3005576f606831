/* cli/mpi/elsewhere.c: in `attn`, which becomes `attn-mpi` (see ranks.h). */
#include "cli/cli.h"
#include "cli/mpi/join.h"
#include "cli/mpi/ranks.h"
#include "cli/place.h"
#include "cli/platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Help is everybody's; among ranks the others have to hear that this one does not run. */
static int is_asked(int argc, char **argv) {
    int asked = 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const int is_help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
        if (is_help && join_told_size() <= 1) return 0;
        asked |= strcmp(argv[i], "--mpi") == 0;
    }
    return asked;
}

static int become(const char *program, int argc, char **argv) {
#ifdef __wasi__
    (void)program, (void)argc, (void)argv;
    errno = ENOENT;
#else
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words) return cli_complain(CLI_USAGE, "no memory for %d arguments", argc);
    words[0] = (char *)(uintptr_t)program;
    for (int i = 0; i < argc; i++) words[1 + i] = argv[i];
    execv(program, words);
    free(words);
#endif
    return cli_complain(CLI_USAGE,
                        "--mpi: %s: %s: this build has no MPI; install one (Debian: libopenmpi-dev "
                        "openmpi-bin) and build again",
                        program, strerror(errno));
}

int ranks_elsewhere(int argc, char **argv, int *status) {
    char folder[PLACE_PATH], program[PLACE_PATH + 16];
    if (!is_asked(argc, argv)) return 0;
    const int is_known = platform_own_folder(folder, sizeof folder);
    snprintf(program, sizeof program, "%sattn-mpi", is_known ? folder : "");
    *status = become(program, argc, argv);
    return 1;
}

int ranks_run(ranks_run_t *run) {
    (void)run;
    return cli_complain(CLI_USAGE, "--mpi: is not done in this program");
}
