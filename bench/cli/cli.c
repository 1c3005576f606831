/* cli/cli.c: see cli.h. */
#include "cli/cli.h"

#include "attn/line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static cli_listener_t *listener;

void cli_listen(cli_listener_t *other) { listener = other; }

static void say(const char *prefix, const char *format, va_list arguments) {
    char text[1024], line[4 * sizeof text];
    vsnprintf(text, sizeof text, format, arguments);
    attn_line(line, sizeof line, text);
    if (!listener || listener(prefix, line)) fprintf(stderr, "%s%s\n", prefix, line);
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
