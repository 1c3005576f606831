/*
 * A plugin that does what plugins may do and what they must not. Its parameter `act` names either a
 * function of the C library, and out[e] is that of query[e] and key[e], or a way to trap.
 */
#include "attn/ext/params.h"
#include "attn/support.h"

#include <math.h>
#include <string.h>

typedef struct probe_plan {
    attn_backend_plan_t base;
    const attn_host_t *host;
    int64_t elements, act;
} probe_plan_t;

/* What a build without -fvisibility=hidden has: symbols of its own whose addresses the linker fills in. */
#define VISIBLE __attribute__((visibility("default")))
VISIBLE double probe_offset = 0.25;
VISIBLE double probe_add(double x);
VISIBLE double probe_add(double x) { return x + probe_offset; }

/* Addresses in data: of the C library's function and of two of its own. */
static double (*const volatile library_function)(double) = exp;
static double (*const volatile own_function)(double) = probe_add;
static double *const volatile own_data = &probe_offset;

static double by_address(double x) { return library_function(x) + own_function(x) * *own_data; }

#define ACTS(_)                                                                                    \
    _(expf, expf(x))                                                                               \
    _(exp2, exp2((double)x))                                                                       \
    _(exp2f, exp2f(x))                                                                             \
    _(log1pf, log1pf(x))                                                                           \
    _(tanhf, tanhf(x))                                                                             \
    _(cosf, cosf(x))                                                                               \
    _(atan2f, atan2f(x, y))                                                                        \
    _(hypotf, hypotf(x, y))                                                                        \
    _(fmaxf, fmaxf(x, y))                                                                          \
    _(fminf, fminf(x, y))                                                                          \
    _(powf, powf(x, y))                                                                            \
    _(sqrtf, sqrtf(x))                                                                             \
    _(address, by_address(x))

enum act {
#define NUMBER(name, value) ACT_##name,
    ACTS(NUMBER) ACT_memmove,
    ACT_memory,
    ACT_unreachable,
    ACT_stack,
    ACT_destroy,
};

static const char *const names[] = {
#define NAME(name, value) #name,
    ACTS(NAME) "memmove", "memory", "unreachable", "stack", "destroy", NULL};

static double apply(int64_t act, float x, float y) {
    switch (act) {
#define CASE(name, value)                                                                          \
    case ACT_##name:                                                                               \
        return value;
        ACTS(CASE)
    default:
        return 0;
    }
}

static int64_t deeper(volatile int64_t *above) {
    volatile int64_t here[64] = {*above + 1};
    return *above < 0 ? 0 : deeper(here) + here[0];
}

static void trap(int64_t act) {
    volatile int64_t depth = 0;
    if (act == ACT_memory) *(volatile int *)UINTPTR_MAX = 1;
    if (act == ACT_unreachable) __builtin_trap();
    if (act == ACT_stack) deeper(&depth);
}

static attn_status_t run(const attn_backend_plan_t *base, const attn_io_t *io,
                         attn_error_t *error) {
    const probe_plan_t *plan = (const probe_plan_t *)base;
    const float *x = io->query.data, *y = io->key.data;
    float *out = io->out.data;
    (void)error;
    trap(plan->act);
    for (int64_t e = 0; e < plan->elements; e++) out[e] = (float)apply(plan->act, x[e], y[e]);
    if (plan->act == ACT_memmove) { /* overlapping: x[0] x[0] x[1] ... */
        memcpy(out, x, (size_t)plan->elements * sizeof *out);
        memmove(out + 1, out, (size_t)(plan->elements - 1) * sizeof *out);
    }
    return ATTN_OK;
}

static void destroy(attn_backend_plan_t *base) {
    probe_plan_t *plan = (probe_plan_t *)base;
    if (plan->act == ACT_destroy) __builtin_trap();
    attn_host_release(plan->host, plan);
}

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **result,
                               attn_error_t *error) {
    probe_plan_t *plan = attn_host_allocate(host, sizeof *plan);
    if (!plan) return attn_fail(error, ATTN_ERROR_MEMORY, "probe: no memory for the plan");
    *plan = (probe_plan_t){
        .base = {.struct_size = sizeof plan->base,
                 .kernel = "probe",
                 .run = run,
                 .destroy = destroy},
        .host = host,
        .elements = problem->queries * problem->dim,
        .act = values[0].integer,
    };
    *result = &plan->base;
    return ATTN_OK;
}

static const void *get_extension(const char *id) {
    static const attn_param_info_t act = {
        .struct_size = sizeof act,
        .type = ATTN_PARAM_CHOICE,
        .name = "act",
        .label = "act",
        .help = "what to do",
        .unit = "",
        .maximum = sizeof names / sizeof names[0] - 2,
        .choices = names,
    };
    static const attn_ext_params_t params = {sizeof params, 1, &act};
    return strcmp(id, ATTN_EXT_PARAMS) == 0 ? &params : NULL;
}

static const attn_backend_t probe = {
    .struct_size = sizeof(attn_backend_t),
    .id = "org.example.probe",
    .name = "Probe",
    .version = "1",
    .plan = make_plan,
    .get_extension = get_extension,
};
static const attn_backend_t *const backends[] = {&probe};
ATTN_PLUGIN(probe, backends);
