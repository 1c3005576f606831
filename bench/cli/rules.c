/* cli/rules.c: see rules.h. */
#include "cli/rules.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

const char *rules_corner(int32_t causal) {
    return causal == ATTN_CAUSAL_NONE       ? "none"
           : causal == ATTN_CAUSAL_TOP_LEFT ? "top-left"
                                            : "bottom-right";
}

static int read_corner(const char *causal, int32_t *corner) {
    if (!causal)
        *corner = ATTN_CAUSAL_NONE;
    else if (!*causal || strcmp(causal, "top-left") == 0)
        *corner = ATTN_CAUSAL_TOP_LEFT;
    else if (strcmp(causal, "bottom-right") == 0)
        *corner = ATTN_CAUSAL_BOTTOM_RIGHT;
    else
        return cli_complain(CLI_USAGE, "--causal: '%s' is neither top-left nor bottom-right",
                            causal);
    return CLI_OK;
}

enum { FORM = 1, FAR }; /* what is wrong with a window */

/* One side of it: a whole number of at least -1, or nothing, which is -1. */
static int read_side(const char *text, size_t length, int64_t *side) {
    char word[OPTION_WORD];
    *side = -1;
    if (length == 0) return 0;
    if (length >= sizeof word) return FORM;
    memcpy(word, text, length);
    word[length] = 0;
    if (option_integer(word, side)) return *side >= -1 ? 0 : FORM;
    return word[0] != '-' && option_is_whole(word) ? FAR : FORM;
}

static int read_window(const char *window, attn_problem_t *problem) {
    if (!window) return CLI_OK;
    const char *comma = strchr(window, ',');
    const size_t length = strcspn(window, ",");
    int wrong = comma ? read_side(window, length, &problem->window_left) : FORM;
    if (!wrong) wrong = read_side(comma + 1, strlen(comma + 1), &problem->window_right);
    if (wrong == FAR)
        return cli_complain(CLI_USAGE, "--window: '%s' is beyond 2^61 - 1 keys", window);
    if (wrong)
        return cli_complain(CLI_USAGE,
                            "--window: '%s' is not of the form L,R (keys to each side; -1 or "
                            "nothing: all)",
                            window);
    return CLI_OK;
}

int rules_apply(const rules_t *rules, attn_problem_t *problem) {
    if (read_corner(rules->causal, &problem->causal) || read_window(rules->window, problem))
        return CLI_USAGE;
    problem->scale = (float)rules->scale;
    problem->softcap = (float)rules->softcap;
    return CLI_OK;
}

const char *rules_describe(const attn_problem_t *problem, char text[256]) {
    attn_array_info_t info = {.struct_size = sizeof info};
    int used = 0;
    text[0] = 0;
    if (problem->past) used += snprintf(text + used, 64, ", past %lld", (long long)problem->past);
    if (problem->window_left >= 0 || problem->window_right >= 0)
        used += snprintf(text + used, 64, ", window (%lld, %lld)", (long long)problem->window_left,
                         (long long)problem->window_right);
    if (problem->softcap != 0.0f)
        used += snprintf(text + used, 64, ", softcap %.9g", (double)problem->softcap);
    for (uint32_t number = 0; attn_backend_array(NULL, number, &info); number++)
        if (problem->inputs & info.bit) used += snprintf(text + used, 24, ", %s", info.name);
    if (used) memmove(text, text + 2, (size_t)used - 1);
    return text;
}
