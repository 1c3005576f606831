/* cli/pieces.h: `attn bench --kernels`. */
#ifndef ATTN_CLI_PIECES_H
#define ATTN_CLI_PIECES_H

#include "cli/settings.h"
#include "cli/table.h"

/** Times each piece for about `seconds` on every tier of this machine up to --cpu, and prints the table; an exit status. */
int pieces_print(const settings_t *settings, enum table_format format, double seconds);

#endif
