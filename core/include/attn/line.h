/*
 * attn/line.h: text of any origin as one line of UTF-8 that a terminal shows as it is. What is
 * no part of such a line is escaped: control characters, ends of lines, and bytes that are not
 * UTF-8.
 */
#ifndef ATTN_LINE_H
#define ATTN_LINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of the UTF-8 character that the terminated `text` begins with (RFC 3629), 1 to 4; 0 for
 *  none. */
static inline uint32_t attn_utf8_length(const char *text) {
    const unsigned char first = (unsigned char)text[0], second = first ? (unsigned char)text[1] : 0;
    const uint32_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (length == 1) return 1;
    if (first < 0xC2 || first > 0xF4) return 0; /* no first byte */
    if (first == 0xE0 ? second < 0xA0 : first == 0xF0 && second < 0x90) return 0; /* too long */
    if (first == 0xED ? second > 0x9F : first == 0xF4 && second > 0x8F) return 0; /* no character */
    for (uint32_t i = 1; i < length; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80) return 0; /* the end, too */
    return length;
}

/** Whether a character of this many bytes moves a cursor or ends a line: C0, DEL, C1, U+2028,
 *  U+2029. */
static inline int attn_is_control(const char *text, uint32_t length) {
    const unsigned char *at = (const unsigned char *)text;
    if (length == 1) return at[0] < 0x20 || at[0] == 0x7F;
    if (length == 2) return at[0] == 0xC2 && at[1] < 0xA0;
    return length == 3 && at[0] == 0xE2 && at[1] == 0x80 && (at[2] == 0xA8 || at[2] == 0xA9);
}

/**
 * Write `text` into `line`, which has room for `room` bytes, at least 1, and is no part of it.
 * Control characters and bytes that are not UTF-8 become an x behind a backslash and two digits,
 * each byte of them; what does not fit is left out, whole characters and escapes at a time.
 */
static inline void attn_line(char *line, size_t room, const char *text) {
    size_t used = 0;
    while (*text) {
        const uint32_t length = attn_utf8_length(text), bytes = length ? length : 1;
        const int is_escaped = length == 0 || attn_is_control(text, length);
        if (used + (is_escaped ? 4 * bytes : bytes) >= room) break;
        for (uint32_t i = 0; i < bytes; i++, text++) {
            const unsigned char byte = (unsigned char)*text;
            if (is_escaped) {
                line[used++] = '\\';
                line[used++] = 'x';
                line[used++] = "0123456789abcdef"[byte / 16];
                line[used++] = "0123456789abcdef"[byte % 16];
            } else {
                line[used++] = *text;
            }
        }
    }
    line[used] = 0;
}

#ifdef __cplusplus
}
#endif
#endif
