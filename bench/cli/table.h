/*
 * cli/table.h: one table of named columns, printed as aligned text, Markdown, CSV or JSON.
 *
 * Text and Markdown round for people and put units into the titles; CSV and JSON use the columns'
 * names and all digits. A missing number, NaN and infinity are "-" for people, empty in CSV and
 * null in JSON.
 */
#ifndef ATTN_CLI_TABLE_H
#define ATTN_CLI_TABLE_H

#include <stdint.h>
#include <stdio.h>

enum table_format { TABLE_TEXT, TABLE_MARKDOWN, TABLE_CSV, TABLE_JSON };

enum table_kind {
    TABLE_WORD,    /**< text */
    TABLE_INTEGER, /**< a whole number */
    TABLE_FLAG,    /**< true or false */
    TABLE_NUMBER,  /**< three significant digits for people */
    TABLE_SCIENCE, /**< 1.2e-07 for people */
    TABLE_BYTES,   /**< 12.3 MiB for people */
    TABLE_PERCENT, /**< a share of 1, as 12.3% for people */
};

typedef struct table_column {
    const char *name;  /**< in CSV and JSON */
    const char *title; /**< for people */
    enum table_kind kind;
} table_column_t;

typedef struct table_cell {
    char *text;    /**< TABLE_WORD; the table's own copy */
    double number; /**< every other kind; NaN: missing */
} table_cell_t;

typedef struct table {
    const table_column_t *columns;
    int column_count, row_count;
    int used;     /**< cells that have been added */
    int capacity; /**< cells there is room for */
    int broken;   /**< there was no memory for a cell */
    table_cell_t *cells;
} table_t;

enum { TABLE_COLUMNS = 32 };

/** An empty table of at most TABLE_COLUMNS; `columns` must outlive it. */
table_t table_make(const table_column_t *columns, int column_count);

/** Add the next cell, row by row, of the kind that its column has. NULL is a missing text. */
void table_add_text(table_t *table, const char *text);
void table_add_number(table_t *table, double number);

/** Print it; in JSON, an array of objects. Returns 0 when there was no memory for a cell. */
int table_print(const table_t *table, enum table_format format, FILE *out);

void table_free(table_t *table);

/** A JSON string, or null for NULL; bytes that are not UTF-8 become U+FFFD. */
void json_string(FILE *out, const char *text);

/** The same for text that may have any bytes in it. */
void json_text(FILE *out, const char *text, size_t size);

/** A JSON number; null when it is not finite. */
void json_number(FILE *out, double number);

/** "640 B", "1.5 MiB" and so on; returns `text`. */
const char *table_bytes(char text[24], double bytes);

#endif
