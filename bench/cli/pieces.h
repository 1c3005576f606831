/* cli/pieces.h: `attn bench --kernels`. */
#ifndef ATTN_CLI_PIECES_H
#define ATTN_CLI_PIECES_H

#include "cli/table.h"

/** Times each piece for about `seconds` on every tier of this machine, and prints the table. */
int pieces_print(enum table_format format, double seconds);

#endif
