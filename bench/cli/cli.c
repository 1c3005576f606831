/* cli/cli.c: see cli.h. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(const char *prefix, const char *format, va_list arguments) {
    char line[1024];
    vsnprintf(line, sizeof line, format, arguments);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
    fprintf(stderr, "%s%s\n", prefix, line);
}

int cli_complain(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("attn: ", format, arguments);
    va_end(arguments);
    return status;
}

void cli_warn(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say("attn: warning: ", format, arguments);
    va_end(arguments);
}

int cli_reject(const char *what, const attn_error_t *error) {
    const size_t length = what ? strlen(what) : 0;
    if (length && strncmp(error->message, what, length) == 0 && error->message[length] == ':')
        what = NULL; /* it says so itself */
    return cli_complain(CLI_USAGE, "%s%s%s", what ? what : "", what ? ": " : "", error->message);
}
