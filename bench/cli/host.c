/* cli/host.c: see host.h. */
#include "cli/host.h"

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

/* The value of the first line "model name : value" of Linux's /proc/cpuinfo, where there is one. */
static void read_model(char *model, size_t size) {
    static const char key[] = "model name";
    char line[256];
    FILE *stream = fopen("/proc/cpuinfo", "r");
    while (stream && fgets(line, sizeof line, stream)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, sizeof key - 1) != 0) continue;
        colon += strspn(colon, ": \t");
        snprintf(model, size, "%.*s", (int)strcspn(colon, "\n"), colon);
        break;
    }
    if (stream) fclose(stream);
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
