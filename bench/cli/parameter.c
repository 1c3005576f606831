/* cli/parameter.c: see parameter.h. */
#include "cli/parameter.h"

#include <stdio.h>

/* "gaussian, ams" for a choice, "0 to 64" for numbers, nothing for switches. */
static void print_range(const attn_param_info_t *info) {
    if (info->type == ATTN_PARAM_CHOICE)
        for (int i = 0; info->choices[i]; i++) printf("%s%s", i ? ", " : "", info->choices[i]);
    else if (info->type == ATTN_PARAM_BOOLEAN)
        printf("0 or 1");
    else
        printf("%s %.16g to %.16g%s%s", info->type == ATTN_PARAM_INTEGER ? "whole" : "number",
               info->minimum, info->maximum, info->unit[0] ? " " : "", info->unit);
}

static void print_default(const attn_param_info_t *info) {
    if (info->type == ATTN_PARAM_CHOICE)
        printf("%s", info->choices[(int)info->initial]);
    else
        printf("%.16g", info->initial);
    if (info->automatic) printf("%s%s", info->initial == 0 ? ": " : "; 0: ", info->automatic);
}

void parameter_print(const attn_param_info_t *info) {
    printf("  --set %s=", info->name);
    print_range(info);
    printf(" (default ");
    print_default(info);
    printf(")\n      %s\n", info->help);
}
