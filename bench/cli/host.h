/*
 * cli/host.h: where numbers were measured: machine, compiler, revision.
 */
#ifndef ATTN_CLI_HOST_H
#define ATTN_CLI_HOST_H

#include <stddef.h>

/** The CPU's model and how many of its cores the system uses; returns `text`. */
const char *host_cpu(char *text, size_t size);

/** A cache of the first core, as the system tells it. */
typedef struct host_cache {
    int level;
    char kind[16];    /**< "Data", "Unified" */
    double bytes;     /**< 0 where the system does not say */
    char sharing[32]; /**< the cores that have it in common: "0-1" */
} host_cache_t;
enum { HOST_MOST_CACHES = 8 };

/** Those that hold data, nearest first, as far as the system tells (Linux); returns how many. */
int host_caches(host_cache_t caches[HOST_MOST_CACHES]);

/** Name and version of the compiler that built this program; static text. */
const char *host_compiler(void);

/** What git describe said when the build was configured, or "unknown"; static text. */
const char *host_commit(void);

#endif
