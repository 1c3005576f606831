/*
 * cli/stream.h: a runner's problem by a stream, as its tokens would arrive: so many keys, values and queries at a
 * time. The results are those of its plan, but for rounding.
 */
#ifndef ATTN_CLI_STREAM_H
#define ATTN_CLI_STREAM_H

#include "cli/runner.h"

/** Fill all outputs of a runner that is prepared; `*memory`: bytes of the stream at its end. */
attn_status_t stream_run(runner_t *runner, const attn_context_t *context,
                         const settings_t *settings, int64_t chunk, uint64_t *memory);

/**
 * The same, measured for about `budget` seconds: what one pass over all queries takes, token by token, once the
 * `*before` tokens in front of them are appended.
 */
attn_status_t stream_time(runner_t *runner, const attn_context_t *context,
                          const settings_t *settings, double budget, int64_t *before,
                          measure_t *time);

/** Name in the runner the kernel that answers so many queries at a time, which need not be its plan's. */
attn_status_t stream_name_kernel(runner_t *runner, const attn_context_t *context,
                                 const settings_t *settings, int64_t queries);

/**
 * Bytes of a stream of the runner's backend after all keys and values of the runner; NaN where it has none for the
 * runner's problem.
 */
double stream_bytes(runner_t *runner, const attn_context_t *context, const settings_t *settings);

#endif
