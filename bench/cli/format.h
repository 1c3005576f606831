/*
 * cli/format.h: --md, --csv and --json, which exclude each other.
 */
#ifndef ATTN_CLI_FORMAT_H
#define ATTN_CLI_FORMAT_H

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/table.h"

typedef struct format {
    int markdown, csv, json;
} format_t;

/* For option tables, with `format` a format_t. */
#define FORMAT_OPTIONS(format)                                                                     \
    {"md", 0, OPTION_SWITCH, NULL, "as a Markdown table", &(format).markdown, 0, 0},               \
        {"csv", 0, OPTION_SWITCH, NULL, "as CSV, with all digits", &(format).csv, 0, 0}, {         \
        "json", 0, OPTION_SWITCH, NULL, "as JSON, with all digits", &(format).json, 0, 0           \
    }

static inline int format_choose(const format_t *format, enum table_format *chosen) {
    if (format->markdown + format->csv + format->json > 1)
        return cli_complain(CLI_USAGE, "--md, --csv and --json exclude each other");
    *chosen = format->json       ? TABLE_JSON
              : format->csv      ? TABLE_CSV
              : format->markdown ? TABLE_MARKDOWN
                                 : TABLE_TEXT;
    return CLI_OK;
}

#endif
