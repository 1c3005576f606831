/* The context: host services for plugins, the registry and its life. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 1024 };

static const void *host_extension(const attn_host_t *host, const char *id) {
    const attn_context_t *context = (const attn_context_t *)host; /* its first member */
    if (strcmp(id, ATTN_EXT_MEMORY) == 0) return &context->memory;
    if (strcmp(id, ATTN_EXT_THREADS) == 0) return &context->threads;
    if (strcmp(id, ATTN_EXT_CPU) == 0) return &context->cpu;
    if (strcmp(id, ATTN_EXT_LOG) == 0 && context->log.write) return &context->log;
    return NULL;
}

/* What the context works with, the embedder's or the library's. */
typedef struct services {
    attn_ext_memory_t memory;
    attn_ext_threads_t pool; /* without functions: none is given */
} services_t;

static attn_status_t take_services(services_t *services, const attn_context_options_t *options,
                                   attn_error_t *error) {
    attn_ext_memory_t *memory = &services->memory;
    attn_ext_threads_t *pool = &services->pool;
    attn_status_t status = ATTN_OK;
    *services = (services_t){.memory = attn_default_memory};
    if (options->memory)
        status = attn_struct_take(memory, sizeof *memory, options->memory, sizeof *memory,
                                  "options: memory", error);
    if (status == ATTN_OK && options->pool)
        status = attn_struct_take(pool, sizeof *pool, options->pool, sizeof *pool, "options: pool",
                                  error);
    if (status != ATTN_OK) return status;
    if (!memory->allocate || !memory->release)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "options: memory lacks a function");
    if (options->pool && (!pool->parallel_for || pool->workers < 1))
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "options: pool lacks a function or workers");
    return ATTN_OK;
}

static attn_status_t check_options(const attn_context_options_t *options, attn_error_t *error) {
    if (options->threads >= 0 && options->threads <= MAX_THREADS) return ATTN_OK;
    return attn_fail(error, ATTN_ERROR_RANGE, "threads: %d is outside 0..%d", options->threads,
                     MAX_THREADS);
}

static attn_status_t set_up(attn_context_t *context, const attn_ext_threads_t *pool,
                            int32_t threads, attn_error_t *error) {
    attn_status_t status = ATTN_OK;
    context->threads = (attn_ext_threads_t){.struct_size = sizeof context->threads,
                                            .workers = 1,
                                            .parallel_for = attn_pool_parallel_for};
    if (pool->parallel_for) {
        context->threads = *pool;
    } else if (threads > 1) {
        status = attn_pool_create(context, (uint32_t)threads, &context->pool, error);
        if (status != ATTN_OK) return status;
        context->threads.workers = (uint32_t)threads;
        context->threads.pool = context->pool;
    }
    return attn_register_builtins(context, error);
}

/* A processor whose best kernels cannot run. */
static void say_what_is_lost(const attn_context_t *context) {
    char line[128];
    if (!context->log.write || !attn_amx_is_lost()) return;
    snprintf(line, sizeof line, "tier amx is left out: %s", attn_amx_refusal());
    context->log.write(context->log.user, line);
}

attn_status_t attn_context_create(const attn_context_options_t *options, attn_context_t **result,
                                  attn_error_t *error) {
    static const attn_context_options_t defaults = {.struct_size = sizeof defaults};
    attn_context_options_t copy;
    services_t services;
    attn_tier_t tier;
    if (!result)
        return attn_fail(error, ATTN_ERROR_ARGUMENT, "context: the result pointer is null");
    *result = NULL;
    attn_status_t status = attn_struct_take(&copy, sizeof copy, options ? options : &defaults,
                                            sizeof copy, "options", error);
    options = &copy;
    if (status == ATTN_OK) status = check_options(options, error);
    if (status == ATTN_OK) status = take_services(&services, options, error);
    if (status != ATTN_OK) return status;
    status = attn_cpu_choose(options->cpu ? options->cpu : getenv("ATTN_CPU"), &tier, error);
    if (status != ATTN_OK) return status;

    const attn_ext_memory_t *memory = &services.memory;
    attn_context_t *context = memory->allocate(memory->user, sizeof *context);
    if (!context) return attn_fail(error, ATTN_ERROR_MEMORY, "no memory for a context");
    *context = (attn_context_t){
        .host = {.struct_size = sizeof context->host,
                 .name = "libattn",
                 .version = ATTN_VERSION,
                 .get_extension = host_extension},
        .memory = *memory,
        .cpu = {.struct_size = sizeof context->cpu, .tier = tier},
        .log = {.struct_size = sizeof context->log,
                .user = options->log_user,
                .write = options->log},
    };
    status = set_up(context, &services.pool, options->threads, error);
    if (status != ATTN_OK) {
        attn_context_destroy(context);
        return status;
    }
    say_what_is_lost(context);
    *result = context;
    return ATTN_OK;
}

void attn_context_destroy(attn_context_t *context) {
    if (!context) return;
    attn_pool_destroy(context, context->pool);
    attn_registry_clear(context);
    attn_libraries_close(context);
    const attn_ext_memory_t memory = context->memory;
    memory.release(memory.user, context);
}

attn_tier_t attn_context_tier(const attn_context_t *context) {
    return context ? context->cpu.tier : (attn_tier_t)ATTN_TIER_SCALAR;
}

const attn_ext_threads_t *attn_context_threads(const attn_context_t *context) {
    return context ? &context->threads : NULL;
}
