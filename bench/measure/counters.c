/* measure/counters.c: see counters.h. */
#define _DEFAULT_SOURCE /* syscall() */
#include "measure/counters.h"

#include <math.h>

#if defined(__linux__)

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint64_t events[COUNTERS] = {
    [COUNTER_CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
    [COUNTER_INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
    [COUNTER_MISSES] = PERF_COUNT_HW_CACHE_MISSES,
};

static int open_event(uint64_t event) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = event;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}

const char *counters_open(counters_t *counters) {
    for (int i = 0; i < COUNTERS; i++) counters->files[i] = open_event(events[i]);
    if (counters->files[COUNTER_CYCLES] > 0) return NULL;
    const int why = errno;
    counters_close(counters);
    return why == EACCES || why == EPERM
               ? "the system does not let this program read them (kernel.perf_event_paranoid)"
               : "the processor, or a virtual machine around it, has none";
}

void counters_close(counters_t *counters) {
    for (int i = 0; i < COUNTERS; i++)
        if (counters->files[i] > 0) close(counters->files[i]);
}

void counters_start(counters_t *counters) {
    for (int i = 0; i < COUNTERS; i++) {
        if (counters->files[i] <= 0) continue;
        ioctl(counters->files[i], PERF_EVENT_IOC_RESET, 0);
        ioctl(counters->files[i], PERF_EVENT_IOC_ENABLE, 0);
    }
}

void counters_stop(counters_t *counters, double counts[COUNTERS]) {
    for (int i = 0; i < COUNTERS; i++)
        if (counters->files[i] > 0) ioctl(counters->files[i], PERF_EVENT_IOC_DISABLE, 0);
    for (int i = 0; i < COUNTERS; i++) {
        struct {
            uint64_t count, enabled, running;
        } got;
        counts[i] = NAN;
        if (counters->files[i] <= 0 || read(counters->files[i], &got, sizeof got) != sizeof got)
            continue;
        if (got.running) counts[i] = (double)got.count * (double)got.enabled / (double)got.running;
    }
}

#else

const char *counters_open(counters_t *counters) {
    (void)counters;
    return "only Linux has them for programs";
}
void counters_close(counters_t *counters) { (void)counters; }
void counters_start(counters_t *counters) { (void)counters; }
void counters_stop(counters_t *counters, double counts[COUNTERS]) {
    (void)counters;
    for (int i = 0; i < COUNTERS; i++) counts[i] = NAN;
}

#endif
