/* json/reader.c: see reader.h. */
#include "json/reader.h"

#include "number/number.h"

#include <math.h>
#include <string.h>

enum { MOST_DEPTH = 16 };

void json_skip_space(json_reader_t *text) {
    while (text->at < text->end && *text->at && strchr(" \t\r\n", *text->at)) text->at++;
}

int json_accept(json_reader_t *text, char token) {
    json_skip_space(text);
    if (text->at == text->end || *text->at != token) return 0;
    text->at++;
    return 1;
}

/* Four hexadecimal digits behind "\u". */
static int read_unit(json_reader_t *text, uint32_t *unit) {
    *unit = 0;
    for (int i = 0; i < 4; i++, text->at++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = text->at < text->end && *text->at ? strchr(digits, *text->at) : NULL;
        if (!digit) return 0;
        *unit = *unit * 16 + (uint32_t)(digit - digits) % 16;
    }
    return 1;
}

static size_t put_utf8(char *to, uint32_t code) {
    if (code < 0x80) return to[0] = (char)code, 1;
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char marks[] = {0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(marks[more] | code >> 6 * more);
    for (int i = 1; i <= more; i++) to[i] = (char)(0x80 | (code >> 6 * (more - i) & 0x3F));
    return (size_t)more + 1;
}

/* What a backslash stands for, in UTF-8; 0 for nothing that JSON has. */
static size_t read_escape(json_reader_t *text, char to[4]) {
    static const char letters[] = "\"\\/bfnrt", codes[] = "\"\\/\b\f\n\r\t";
    if (text->at == text->end) return 0;
    const char letter = *text->at++;
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found) return to[0] = codes[found - letters], 1;
    uint32_t high, low;
    if (letter != 'u' || !read_unit(text, &high) || high == 0) return 0;
    if (high < 0xD800 || high > 0xDFFF) return put_utf8(to, high);
    if (high > 0xDBFF || text->end - text->at < 2 || memcmp(text->at, "\\u", 2) != 0) return 0;
    text->at += 2;
    if (!read_unit(text, &low) || low < 0xDC00 || low > 0xDFFF) return 0;
    return put_utf8(to, 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
}

int json_read_string(json_reader_t *text, char *string, size_t room) {
    size_t length = 0;
    if (!json_accept(text, '"')) return 0;
    while (text->at < text->end && *text->at != '"') {
        char piece[4] = {*text->at};
        size_t count = 1;
        if ((unsigned char)*text->at < 0x20) return 0;
        if (*text->at++ == '\\' && !(count = read_escape(text, piece))) return 0;
        if (string && length + count >= room) return 0;
        if (string) memcpy(string + length, piece, count);
        length += count;
    }
    if (string) string[length] = 0;
    return json_accept(text, '"');
}

int json_read_size(json_reader_t *text, uint64_t *value) {
    json_skip_space(text);
    const char *first = text->at;
    for (*value = 0; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        if (*value > (INT64_MAX - 9) / 10) return 0;
        *value = *value * 10 + (uint64_t)(*text->at - '0');
    }
    return text->at > first && (*first != '0' || text->at == first + 1); /* JSON has no 02 */
}

static int skip_digits(json_reader_t *text) {
    const char *first = text->at;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9') text->at++;
    return text->at > first;
}

static int skip_one_of(json_reader_t *text, const char *letters) {
    if (text->at == text->end || !*text->at || !strchr(letters, *text->at)) return 0;
    text->at++;
    return 1;
}

static int skip_number(json_reader_t *text) {
    skip_one_of(text, "-");
    const int begins_with_zero = text->at < text->end && *text->at == '0';
    const char *first = text->at;
    if (!skip_digits(text) || (begins_with_zero && text->at > first + 1)) return 0;
    if (skip_one_of(text, ".") && !skip_digits(text)) return 0;
    if (!skip_one_of(text, "eE")) return 1;
    skip_one_of(text, "+-");
    return skip_digits(text);
}

static int skip_word(json_reader_t *text, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0) return 0;
    text->at += length;
    return 1;
}

/* Any value, of which nothing is kept. */
static int skip_deep(json_reader_t *text, int depth) {
    if (depth == MOST_DEPTH) return 0;
    const int is_object = json_accept(text, '{');
    if (is_object || json_accept(text, '[')) {
        const char close = is_object ? '}' : ']';
        if (json_accept(text, close)) return 1;
        do {
            if (is_object && (!json_read_string(text, NULL, 0) || !json_accept(text, ':')))
                return 0;
            if (!skip_deep(text, depth + 1)) return 0;
        } while (json_accept(text, ','));
        return json_accept(text, close);
    }
    json_skip_space(text);
    if (text->at < text->end && *text->at == '"') return json_read_string(text, NULL, 0);
    return skip_word(text, "true") || skip_word(text, "false") || skip_word(text, "null") ||
           skip_number(text);
}

int json_skip_value(json_reader_t *text) { return skip_deep(text, 0); }

int json_read_number(json_reader_t *text, double *value) {
    json_skip_space(text);
    const char *first = text->at, *end;
    char digits[64];
    if (skip_word(text, "null")) return *value = NAN, 1;
    if (!skip_number(text) || text->at - first >= (ptrdiff_t)sizeof digits) return 0;
    memcpy(digits, first, (size_t)(text->at - first));
    digits[text->at - first] = 0;
    *value = attn_number_read(digits, &end);
    return 1;
}
