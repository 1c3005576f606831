/*
 * cli/visible.h: what a run costs of the keys that are visible. A plan's own cost knows of positions alone; these
 * add key lengths, and the keys that are there when tokens arrive one by one.
 */
#ifndef ATTN_CLI_VISIBLE_H
#define ATTN_CLI_VISIBLE_H

#include "cli/runner.h"

/**
 * Count a runner's cost anew, with the key lengths of its arrays; without these it stays what it is. NaN where no plan
 * tells; no memory for one is an error, in the runner's.
 */
attn_status_t visible_lengths(runner_t *runner, const attn_context_t *context,
                              const settings_t *settings);

/**
 * The same for its queries one by one, the first beside `before` + 1 keys, each of the others beside one more. NaN
 * where weights are not softmax's: such a stream keeps sums, not keys.
 */
attn_status_t visible_tokens(runner_t *runner, const attn_context_t *context,
                             const settings_t *settings, int64_t before);

#endif
