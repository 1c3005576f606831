/* cli/host.c: see host.h. */
#include "cli/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef ATTN_COMMIT
#define ATTN_COMMIT "unknown"
#endif

#if defined(__wasm__)

/* The engine's machine is out of sight. */
const char *host_cpu(char *text, size_t size) {
    snprintf(text, size, "WebAssembly");
    return text;
}

#else

#if defined(__x86_64__)
#define ARCHITECTURE "x86-64"
#elif defined(__aarch64__)
#define ARCHITECTURE "AArch64"
#else
#define ARCHITECTURE "unknown"
#endif

/*
 * The value of the first line "model name : value" of Linux's /proc/cpuinfo, where there is one. It is
 * read without a stream, which might have no memory: the same machine always has the same name.
 */
static void read_model(char *model, size_t size) {
    static const char key[] = "\nmodel name";
    char start[2048];
    const int descriptor = open("/proc/cpuinfo", O_RDONLY);
    const ssize_t length = descriptor < 0 ? -1 : read(descriptor, start, sizeof start - 1);
    if (descriptor >= 0) close(descriptor);
    if (length <= 0) return;
    start[length] = 0;
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
