/* cli/mpi/join.c: see join.h. */
#include "cli/mpi/join.h"

#include "cli/cli.h"
#include "cli/options.h"

#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char line[256];
static size_t length;

/* In a handler of signals: nothing but what is written already. */
static void give_up(int number) {
    (void)number;
    if (write(STDERR_FILENO, line, length) < 0) _exit(CLI_FAILED);
    _exit(CLI_FAILED);
}

/* Before the options are read, which the others have to hear of: what is none is refused then. */
static int64_t wait_of(int argc, char **argv) {
    static const char name[] = "--mpi-wait";
    int64_t wait = JOIN_WAIT;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *text = NULL;
        int64_t given;
        if (strcmp(argv[i], name) == 0 && i + 1 < argc) text = argv[i + 1];
        if (strncmp(argv[i], name, sizeof name - 1) == 0 && argv[i][sizeof name - 1] == '=')
            text = argv[i] + sizeof name;
        if (text && !option_integer_wrong(text, &given) && given >= 0 && given <= JOIN_MOST)
            wait = given;
    }
    return wait;
}

/* The first of those who wait speaks, while the others have a moment left to be ended in. */
static void set_limit(int64_t wait) {
    enum { APART = 2, MOST_APART = 30 };
    const int rank = join_told_rank(), later = rank > 0 ? APART * rank : 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = give_up;
    length = (size_t)snprintf(
        line, sizeof line,
        "attn: rank %d: --mpi: after %lld s not all ranks have joined: some were started without "
        "--mpi, cannot start, or have no memory for MPI (--mpi-wait: how long to wait)\n",
        rank < 0 ? 0 : rank, (long long)wait);
    sigaction(SIGALRM, &action, NULL);
    alarm((unsigned)(wait + (later < MOST_APART ? later : MOST_APART)));
}

void join(int *argc, char ***argv) {
    const int64_t wait = wait_of(*argc, *argv);
    int provided;
    if (wait) set_limit(wait);
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
}
