/* cli/lab/stop.c: see stop.h. WASI has no signals. */
#include "cli/lab/stop.h"

#include "measure/measure.h"

#include <math.h>
#include <stddef.h>

static double stop_time = INFINITY; /* of measure_clock(); set before there are threads */

void stop_after(double seconds) { stop_time = measure_clock() + seconds; }

static int is_late(void) { return stop_time < INFINITY && measure_clock() >= stop_time; }

#if defined(__wasm__)

void stop_listen(void) {}
int stop_wanted(void) { return is_late(); }
void stop_end(void) {}

#else

#include <signal.h>

static volatile sig_atomic_t stop_signal;

static void remember(int signal_number) { stop_signal = signal_number; }

void stop_listen(void) {
    struct sigaction action = {.sa_handler = remember, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int stop_wanted(void) { return stop_signal != 0 || is_late(); }

void stop_end(void) {
    if (!stop_signal) return;
    signal(stop_signal, SIG_DFL);
    raise(stop_signal);
}

#endif
