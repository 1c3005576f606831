/* cli/calibrate.h: `attn bench --calibrate`. */
#ifndef ATTN_CLI_CALIBRATE_H
#define ATTN_CLI_CALIBRATE_H

#include "cli/settings.h"
#include "cli/table.h"

/**
 * Measures what this machine does at most (arithmetic by tier, reading by order and by size), and tells
 * its caches and the kernels that the selected backends choose here for some usual problems. Prints
 * tables, in JSON one object of them. With less effort where a row has fewer `seconds` (peak_share()). An exit status.
 */
int calibrate_print(const settings_t *settings, const option_texts_t *backends,
                    enum table_format format, double seconds);

#endif
