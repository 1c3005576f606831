/* cli/parameter.h: a declared parameter for people: --set, its range, its default, its help. */
#ifndef ATTN_CLI_PARAMETER_H
#define ATTN_CLI_PARAMETER_H

#include "attn/attn.h"

/** Two lines. */
void parameter_print(const attn_param_info_t *info);

#endif
