/*
 * cli/host.h: where numbers were measured: machine, compiler, revision.
 */
#ifndef ATTN_CLI_HOST_H
#define ATTN_CLI_HOST_H

#include <stddef.h>

/** The CPU's model and how many of its cores the system uses; returns `text`. */
const char *host_cpu(char *text, size_t size);

/** Name and version of the compiler that built this program; static text. */
const char *host_compiler(void);

/** What git describe said when the build was configured, or "unknown"; static text. */
const char *host_commit(void);

#endif
