/* cli/mpi/main.c: `attn-mpi run BACKEND --mpi ...`, what `attn run --mpi` becomes on each rank. */
#include "cli/cli.h"
#include "cli/mpi/join.h"
#include "cli/mpi/ranks.h"
#include "cli/mpi/settle.h"
#include "cli/platform.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

int ranks_elsewhere(int argc, char **argv, int *status) {
    (void)argc, (void)argv, (void)status;
    return 0;
}

/* The ranks of another MPI's mpirun are each alone in this one's, and would all write the same file. */
static int is_alone(void) { return settle_size() == 1 && join_told_size() > 1; }

static int dispatch(int argc, char **argv) {
    int is_asked = 0;
    for (int i = 2; i < argc; i++) is_asked |= strcmp(argv[i], "--mpi") == 0;
    if (is_asked && strcmp(argv[1], "run") == 0) return cli_run(argc - 1, argv + 1);
    return cli_complain(CLI_USAGE, "attn-mpi: is what attn run --mpi starts on each rank");
}

/* It has been given, which no other rank waits for. */
static int explain_help(void) {
    cli_complain(CLI_USAGE, "--help: this rank was asked for help, not for a run as the others");
    return SETTLE_HELPED;
}

/* A rank that did not come to its run, or came back from it, tells the others. */
int main(int argc, char **argv) {
    platform_hold_standard();
    platform_called(argc > 0 ? argv[0] : NULL);
    platform_report_limits();
    join(&argc, &argv);
    if (is_alone()) {
        if (join_told_rank() == 0)
            cli_complain(CLI_USAGE,
                         "--mpi: mpirun is of another MPI than this build, %s: each rank "
                         "is alone; use its mpirun",
                         ATTN_MPIEXEC);
        MPI_Finalize();
        return CLI_USAGE;
    }
    settle_begin();
    int status = dispatch(argc, argv);
    if (!ranks_have_settled()) status = settle(status ? status : explain_help());
    const int lost = fflush(stdout) != 0 || ferror(stdout);
    MPI_Finalize();
    if (!lost || status) return status;
    fputs("attn: cannot write to standard output\n", stderr);
    return CLI_FAILED;
}
