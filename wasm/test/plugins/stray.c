/* A plugin that needs what libattn's module has not. */
#include "attn/plugin.h"

#include <math.h>
#include <stdio.h>

static attn_status_t make_plan(const attn_host_t *host, const attn_problem_t *problem,
                               const attn_value_t *values, attn_backend_plan_t **plan,
                               attn_error_t *error) {
    (void)host, (void)values, (void)plan;
    puts("stray");
    return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "%g", lgamma((double)problem->dim));
}

static const attn_backend_t stray = {
    .struct_size = sizeof(attn_backend_t), .id = "org.example.stray", .plan = make_plan};
static const attn_backend_t *const backends[] = {&stray};
ATTN_PLUGIN(stray, backends);
