/* cli/limits.c: see limits.h. */
#include "cli/limits.h"

#include "measure/peak.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a kernel's name says of its products, beside the instruction set that it begins with. */
static const struct {
    const char *word;
    enum limit_format format;
    int products; /* for each of the method's */
} kinds[] = {
    {" bf16 ", LIMIT_BF16, 1}, {" bf16x3 ", LIMIT_BF16, 3}, {" bf16x6 ", LIMIT_BF16, 6},
    {" int8 ", LIMIT_INT8, 1}, {" int16 ", LIMIT_INT16, 1},
};
static const char *const names[LIMIT_FORMATS] = {"f32", "bf16", "16-bit", "8-bit"};

static double measure(const limits_t *limits, enum limit_format format) {
    switch (format) {
    case LIMIT_BF16:
        return peak_bf16_gflops(limits->tier, limits->share);
    case LIMIT_INT16:
        return peak_dot_gops(limits->tier, 2, limits->share);
    case LIMIT_INT8:
        return peak_dot_gops(limits->tier, 1, limits->share);
    default:
        return peak_gflops(limits->tier, limits->share);
    }
}

static double peak_of(limits_t *limits, enum limit_format format) {
    if (limits->peaks[format] == 0) limits->peaks[format] = measure(limits, format);
    return limits->peaks[format];
}

limit_t limits_of(limits_t *limits, const char *kernel) {
    enum limit_format format = LIMIT_F32;
    int products = 1;
    limit_t limit;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strstr(kernel, kinds[i].word)) format = kinds[i].format, products = kinds[i].products;
    if (format == LIMIT_INT8 && isnan(peak_of(limits, LIMIT_INT8))) format = LIMIT_INT16;
    limit.gflops = peak_of(limits, format) / products;
    const int used = snprintf(limit.of, sizeof limit.of, "%.*s %s", (int)strcspn(kernel, " "),
                              kernel, names[format]);
    if (products > 1) snprintf(limit.of + used, sizeof limit.of - (size_t)used, " / %d", products);
    return limit;
}

double limits_read(limits_t *limits) {
    if (limits->read == 0) limits->read = peak_read_gbps(limits->tier, limits->share);
    return limits->read;
}
