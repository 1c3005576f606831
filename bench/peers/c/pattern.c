/* peers/pattern.c: see pattern.h. */
#include "pattern.h"

#include <stdio.h>
#include <stdlib.h>
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

static int64_t block_of(const task_t *task) {
    pattern_t pattern;
    pattern_read(&pattern, task);
    for (uint32_t i = 0; i < pattern.count; i++)
        if (strcmp(pattern.params[i].name, "block") == 0) return atoll(pattern.params[i].value);
    return 0;
}

static attn_tensor_t list_of(int64_t *numbers, int64_t count) {
    attn_tensor_t tensor = attn_tensor_bhnd(NULL, 1, 1, 1, count);
    tensor.data = numbers;
    tensor.dtype = ATTN_I64;
    return tensor;
}

/* The numbers of a file; NULL when it cannot be read. */
static int64_t *read_numbers(const char *path, int64_t *count) {
    FILE *file = fopen(path, "rb");
    int64_t *numbers = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        *count = size / (long)sizeof *numbers;
        rewind(file);
        numbers = malloc((size_t)size + 1);
        if (numbers && fread(numbers, 1, (size_t)size, file) != (size_t)size)
            free(numbers), numbers = NULL;
    }
    if (file) fclose(file);
    return numbers;
}

int pattern_read_layout(pattern_t *pattern, const task_t *task) {
    const int64_t block = block_of(task);
    int64_t count = 0, *numbers = read_numbers(task->layout, &count);
    const int64_t starts = block ? (task->queries - 1) / block + 2 : 0;
    if (!numbers || !block || count <= starts) return 1;
    snprintf(pattern->block, sizeof pattern->block, "%lld", (long long)block);
    snprintf(pattern->entries, sizeof pattern->entries, "%lld", (long long)(count - starts));
    pattern->params[0] = (attn_param_t){"pattern", "blocks"};
    pattern->params[1] = (attn_param_t){"block", pattern->block};
    pattern->params[2] = (attn_param_t){"entries", pattern->entries};
    pattern->count = 3;
    pattern->starts = list_of(numbers, starts);
    pattern->columns = list_of(numbers + starts, count - starts);
    return 0;
}
