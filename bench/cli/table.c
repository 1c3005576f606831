/* cli/table.c: see table.h. */
#include "cli/table.h"

#include "text/embed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_SIZE = 512 }; /* longest text of a cell for people */

/* ---- filling --------------------------------------------------------------------------------- */

table_t table_make(const table_column_t *columns, int column_count) {
    return (table_t){.columns = columns,
                     .column_count = column_count < TABLE_COLUMNS ? column_count : TABLE_COLUMNS};
}

static table_cell_t *next_cell(table_t *table) {
    if (table->used == table->capacity) {
        const int capacity = table->capacity ? 2 * table->capacity : 256;
        table_cell_t *cells = realloc(table->cells, (size_t)capacity * sizeof *cells);
        if (!cells) {
            table->broken = 1;
            return NULL;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    table_cell_t *cell = &table->cells[table->used++];
    table->row_count = (table->used + table->column_count - 1) / table->column_count;
    *cell = (table_cell_t){.number = NAN};
    return cell;
}

void table_add_text(table_t *table, const char *text) {
    table_cell_t *cell = next_cell(table);
    if (!cell || !text) return;
    const size_t size = strlen(text) + 1;
    cell->text = malloc(size);
    if (cell->text)
        memcpy(cell->text, text, size);
    else
        table->broken = 1;
}

void table_add_number(table_t *table, double number) {
    table_cell_t *cell = next_cell(table);
    if (cell) cell->number = number;
}

void table_free(table_t *table) {
    for (int i = 0; i < table->used; i++) free(table->cells[i].text);
    free(table->cells);
    *table = table_make(table->columns, table->column_count);
}

/* ---- cells ----------------------------------------------------------------------------------- */

const char *table_bytes(char text[24], double bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++) bytes /= 1024;
    snprintf(text, 24, bytes < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

/* Three significant digits without an exponent where that is readable. */
static void round_number(char *text, size_t size, double number) {
    const double magnitude = fabs(number);
    if (magnitude != 0 && (magnitude < 0.001 || magnitude >= 1e7))
        snprintf(text, size, "%.2e", number);
    else
        snprintf(text, size, "%.*f",
                 magnitude >= 100    ? 0
                 : magnitude >= 10   ? 1
                 : magnitude >= 1    ? 2
                 : magnitude >= 0.1  ? 3
                 : magnitude >= 0.01 ? 4
                                     : 5,
                 number);
}

static void format_cell(char text[CELL_SIZE], enum table_kind kind, const table_cell_t *cell) {
    if (kind == TABLE_WORD)
        snprintf(text, CELL_SIZE, "%s", cell->text ? cell->text : "-");
    else if (!isfinite(cell->number))
        snprintf(text, CELL_SIZE, "%s", isnan(cell->number) ? "-" : "inf");
    else if (kind == TABLE_INTEGER)
        snprintf(text, CELL_SIZE, "%.0f", cell->number);
    else if (kind == TABLE_FLAG)
        snprintf(text, CELL_SIZE, "%s", cell->number != 0 ? "yes" : "no");
    else if (kind == TABLE_SCIENCE)
        snprintf(text, CELL_SIZE, "%.1e", cell->number);
    else if (kind == TABLE_BYTES)
        table_bytes(text, cell->number);
    else if (kind == TABLE_PERCENT)
        snprintf(text, CELL_SIZE, "%.1f%%", 100 * cell->number);
    else
        round_number(text, CELL_SIZE, cell->number);
}

/* Columns on a terminal: UTF-8's continuation bytes take none. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static const table_cell_t *cell_at(const table_t *table, int row, int column) {
    static const table_cell_t absent = {.number = NAN};
    const int index = row * table->column_count + column;
    return index < table->used ? &table->cells[index] : &absent;
}

/* ---- text and Markdown ----------------------------------------------------------------------- */

static int column_width(const table_t *table, int column) {
    char text[CELL_SIZE];
    int width = width_of(table->columns[column].title);
    for (int row = 0; row < table->row_count; row++) {
        format_cell(text, table->columns[column].kind, cell_at(table, row, column));
        if (width_of(text) > width) width = width_of(text);
    }
    return width;
}

/* Words to the left, numbers to the right; nothing after the last word of a plain line. */
static void print_padded(FILE *out, const char *text, int width, int is_word, int is_last) {
    const int padding = width - width_of(text);
    fprintf(out, "%*s%s%*s", is_word ? 0 : padding, "", text, is_word && !is_last ? padding : 0,
            "");
}

static void print_row(const table_t *table, FILE *out, const int *widths, int row, int markdown) {
    for (int column = 0; column < table->column_count; column++) {
        char text[CELL_SIZE];
        const table_column_t *info = &table->columns[column];
        if (row < 0)
            snprintf(text, sizeof text, "%s", info->title);
        else
            format_cell(text, info->kind, cell_at(table, row, column));
        fputs(markdown ? "| " : column ? "  " : "", out);
        print_padded(out, text, widths[column], info->kind == TABLE_WORD,
                     !markdown && column + 1 == table->column_count);
        fputs(markdown ? " " : "", out);
    }
    fputs(markdown ? "|\n" : "\n", out);
}

static void print_rule(const table_t *table, FILE *out, const int *widths) {
    for (int column = 0; column < table->column_count; column++) {
        const int is_word = table->columns[column].kind == TABLE_WORD;
        fputs(is_word ? "| -" : "| ", out);
        for (int i = 1; i < widths[column]; i++) fputc('-', out);
        fputs(is_word ? " " : ": ", out);
    }
    fputs("|\n", out);
}

static void print_aligned(const table_t *table, FILE *out, int markdown) {
    int widths[TABLE_COLUMNS];
    for (int column = 0; column < table->column_count; column++) {
        widths[column] = column_width(table, column);
        if (markdown && widths[column] < 2) widths[column] = 2; /* "-:" is the least rule */
    }
    print_row(table, out, widths, -1, markdown);
    if (markdown) print_rule(table, out, widths);
    for (int row = 0; row < table->row_count; row++) print_row(table, out, widths, row, markdown);
}

/* ---- CSV (RFC 4180) -------------------------------------------------------------------------- */

static void csv_string(FILE *out, const char *text) {
    if (!text) return;
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) fprintf(out, *text == '"' ? "\"%c" : "%c", *text);
    fputc('"', out);
}

static void csv_cell(FILE *out, enum table_kind kind, const table_cell_t *cell) {
    if (kind == TABLE_WORD)
        csv_string(out, cell->text);
    else if (kind == TABLE_FLAG)
        fputs(cell->number != 0 ? "true" : "false", out);
    else if (isfinite(cell->number))
        fprintf(out, kind == TABLE_INTEGER ? "%.0f" : "%.9g", cell->number);
}

static void print_csv(const table_t *table, FILE *out) {
    for (int column = 0; column < table->column_count; column++)
        fprintf(out, "%s%s", column ? "," : "", table->columns[column].name);
    fputc('\n', out);
    for (int row = 0; row < table->row_count; row++) {
        for (int column = 0; column < table->column_count; column++) {
            fputs(column ? "," : "", out);
            csv_cell(out, table->columns[column].kind, cell_at(table, row, column));
        }
        fputc('\n', out);
    }
}

/* ---- JSON (RFC 8259) ------------------------------------------------------------------------- */

void json_text(FILE *out, const char *text, size_t size) {
    fputc('"', out);
    for (size_t at = 0; at < size;) {
        const size_t length = embed_character(text + at, size - at);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (text[at] == '"' || text[at] == '\\')
            fprintf(out, "\\%c", text[at]);
        else if ((unsigned char)text[at] < 0x20)
            fprintf(out, "\\u%04x", (unsigned)text[at]);
        else
            fwrite(text + at, 1, length, out);
        at += length ? length : 1;
    }
    fputc('"', out);
}

void json_string(FILE *out, const char *text) {
    if (text)
        json_text(out, text, strlen(text));
    else
        fputs("null", out);
}

void json_number(FILE *out, double number) {
    if (isfinite(number))
        fprintf(out, number == floor(number) && fabs(number) < 1e15 ? "%.0f" : "%.9g", number);
    else
        fputs("null", out);
}

static void json_cell(FILE *out, enum table_kind kind, const table_cell_t *cell) {
    if (kind == TABLE_WORD)
        json_string(out, cell->text);
    else if (kind == TABLE_FLAG)
        fputs(cell->number != 0 ? "true" : "false", out);
    else
        json_number(out, cell->number);
}

static void print_json(const table_t *table, FILE *out) {
    fputs("[", out);
    for (int row = 0; row < table->row_count; row++) {
        fputs(row ? ",\n  {" : "\n  {", out);
        for (int column = 0; column < table->column_count; column++) {
            fprintf(out, "%s\"%s\": ", column ? ", " : "", table->columns[column].name);
            json_cell(out, table->columns[column].kind, cell_at(table, row, column));
        }
        fputs("}", out);
    }
    fputs("\n]", out);
}

int table_print(const table_t *table, enum table_format format, FILE *out) {
    if (table->broken) return 0;
    if (format == TABLE_JSON)
        print_json(table, out);
    else if (format == TABLE_CSV)
        print_csv(table, out);
    else
        print_aligned(table, out, format == TABLE_MARKDOWN);
    return 1;
}
