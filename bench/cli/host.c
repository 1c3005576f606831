/* cli/host.c: see host.h. */
#include "cli/host.h"

#include "commit.h" /* of this build: see commit.cmake */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__wasm__)

/* The engine's machine is out of sight. */
const char *host_cpu(char *text, size_t size) {
    snprintf(text, size, "WebAssembly");
    return text;
}

int host_caches(host_cache_t caches[HOST_MOST_CACHES]) {
    (void)caches;
    return 0;
}

#else

#if defined(__x86_64__)
#define ARCHITECTURE "x86-64"
#elif defined(__aarch64__)
#define ARCHITECTURE "AArch64"
#else
#define ARCHITECTURE "unknown"
#endif

/* Of a file's first bytes, as text, whether there are any. Without a stream, which might have no memory: the
 * same machine always has the same name. */
static int read_start(const char *path, char *start, size_t size) {
    const int descriptor = open(path, O_RDONLY);
    const ssize_t length = descriptor < 0 ? -1 : read(descriptor, start, size - 1);
    if (descriptor >= 0) close(descriptor);
    start[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* The value of the first line "model name : value" of Linux's /proc/cpuinfo, where there is one. */
static void read_model(char *model, size_t size) {
    static const char key[] = "\nmodel name";
    char start[2048];
    if (!read_start("/proc/cpuinfo", start, sizeof start)) return;
    const char *line = strstr(start, key);
    if (!line) return;
    line += sizeof key - 1;
    line += strspn(line, ": \t");
    snprintf(model, size, "%.*s", (int)strcspn(line, "\n"), line);
}

const char *host_cpu(char *text, size_t size) {
    char model[128] = ARCHITECTURE " CPU";
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    read_model(model, sizeof model);
    snprintf(text, size, "%s, %ld core%s", model, cores, cores == 1 ? "" : "s");
    return text;
}

/* A line that the system tells of a cache. */
static int read_cache(int index, const char *name, char *line, size_t size) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    if (!read_start(path, line, size)) return 0;
    line[strcspn(line, "\n")] = 0;
    return 1;
}

/* "32K", "36M" */
static double bytes_of(const char *size) {
    char *unit;
    const double number = (double)strtoll(size, &unit, 10);
    return number * (*unit == 'K' ? 0x1p10 : *unit == 'M' ? 0x1p20 : 1);
}

int host_caches(host_cache_t caches[HOST_MOST_CACHES]) {
    char line[32];
    int count = 0;
    for (int i = 0; count < HOST_MOST_CACHES && read_cache(i, "level", line, sizeof line); i++) {
        host_cache_t cache = {.level = (int)bytes_of(line)};
        if (!read_cache(i, "type", cache.kind, sizeof cache.kind)) continue;
        if (strcmp(cache.kind, "Instruction") == 0) continue;
        if (read_cache(i, "size", line, sizeof line)) cache.bytes = bytes_of(line);
        read_cache(i, "shared_cpu_list", cache.sharing, sizeof cache.sharing);
        caches[count++] = cache;
    }
    return count;
}

#endif

const char *host_compiler(void) {
#if defined(__clang__)
    return __VERSION__; /* names itself */
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

const char *host_commit(void) { return ATTN_COMMIT; }
