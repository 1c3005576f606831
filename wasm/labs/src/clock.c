/*
 * clock.c: the one thing that the experiments ask of whoever loads their module: what time it is.
 * Some of them measure time, and WebAssembly has no clock of its own.
 */
#include <time.h>

/** Milliseconds since any moment, as performance.now() has them. */
__attribute__((import_module("clock"), import_name("now"))) double attnlabs_now(void);

int clock_gettime(clockid_t clock, struct timespec *time) {
    const double now = attnlabs_now(), seconds = now / 1e3;
    (void)clock;
    time->tv_sec = (time_t)seconds;
    time->tv_nsec = (long)((seconds - (double)time->tv_sec) * 1e9);
    return 0;
}
