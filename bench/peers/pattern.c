/* peers/pattern.c: see pattern.h. */
#include "pattern.h"

#include <stdio.h>
#include <string.h>

void pattern_read(pattern_t *pattern, const task_t *task) {
    char *at = pattern->text;
    pattern->count = 0;
    snprintf(pattern->text, sizeof pattern->text, "%s", task->sparse ? task->sparse : "");
    while (*at && pattern->count < PATTERN_PARAMS) {
        char *name = at, *value = strchr(at, '=');
        if (!value) return;
        *value++ = '\0';
        at = value + strcspn(value, ",");
        if (*at) *at++ = '\0';
        pattern->params[pattern->count++] = (attn_param_t){name, value};
    }
}
