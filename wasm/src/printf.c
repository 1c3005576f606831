/* printf.c: vsnprintf() for attn_fail(), without the C library's, which is five times as large. */
#include "number/format.h"

#include <stdio.h>

int vsnprintf(char *restrict text, size_t room, const char *restrict format, va_list arguments) {
    return attn_vformat(text, room, format, arguments);
}
