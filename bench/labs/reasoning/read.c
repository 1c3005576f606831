/* reasoning/read.c: see read.h. */
#include "labs/reasoning/read.h"

#include "attn/support.h"

#include <ctype.h>
#include <string.h>

static const char space[] = " ,\t\r\n";

const char *read_space(const char *text) { return text + strspn(text, space); }

enum { QUOTED = 20 }; /* bytes at most */

int read_length(const char *text) {
    const size_t whole = strcspn(text, space);
    int length = whole < QUOTED ? (int)whole : QUOTED;
    while (length > 0 && (text[length] & 0xC0) == 0x80) length--; /* no letter of UTF-8 is cut */
    return length;
}

attn_status_t read_number(const char **text, int32_t low, int32_t high, int32_t *number,
                          attn_error_t *error) {
    enum { MOST = 1 << 20 };
    const char *at = *text;
    int32_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) value = value < MOST ? 10 * value + (*at - '0') : MOST;
    if (at == *text || *at == '.' || isalpha((unsigned char)*at)) /* 1.5, 1e2 */
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "'%.*s' is none of the task's tokens",
                         read_length(*text), *text);
    if (value < low || value > high)
        return attn_fail(error, ATTN_ERROR_RANGE, "%.*s%s is outside of the task's %d to %d",
                         (int)(at - *text < QUOTED ? at - *text : QUOTED), *text,
                         at - *text > QUOTED ? "..." : "", (int)low, (int)high);
    *text = at;
    *number = value;
    return ATTN_OK;
}
