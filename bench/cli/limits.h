/*
 * cli/limits.h: what a row of `attn bench` could reach: the machine's arithmetic in the number format and with the
 * instruction set that the row's kernel names, and reading memory. Each is measured when a row first asks for it.
 */
#ifndef ATTN_CLI_LIMITS_H
#define ATTN_CLI_LIMITS_H

#include "attn/ext/cpu.h"

enum limit_format { LIMIT_F32, LIMIT_BF16, LIMIT_INT16, LIMIT_INT8, LIMIT_FORMATS };

/** All zero but for tier and share: nothing is measured yet. */
typedef struct limits {
    attn_tier_t tier;
    double share;                /**< of the usual effort (measure/peak.h) */
    double peaks[LIMIT_FORMATS]; /**< 1e9 operations a second of one core */
    double read; /**< 1e9 bytes a second of one core, from memory; 0: not measured */
} limits_t;

enum { LIMIT_TEXT = 48 };

typedef struct limit {
    char of
        [LIMIT_TEXT]; /**< such as "avx512 f32", or "amx bf16 / 3" of a kernel of three products for each */
    double gflops; /**< of one core */
} limit_t;

/** Arithmetic of a plan whose kernel has this name (attn_plan_kernel()). */
limit_t limits_of(limits_t *limits, const char *kernel);

/** Reading memory; 0 where there is no memory for it. */
double limits_read(limits_t *limits);

#endif
