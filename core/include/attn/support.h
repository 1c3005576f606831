/*
 * attn/support.h: what nearly every plugin needs from its host, with the answer for a host that
 * does not offer it: malloc for `attn.memory/1`, the calling thread for `attn.threads/1`, the
 * scalar tier for `attn.cpu/1`. Inline, so that a plugin needs no symbol of the host. All functions
 * are [any thread] (attn/attn.h); an arena belongs to one thread.
 */
#ifndef ATTN_SUPPORT_H
#define ATTN_SUPPORT_H

#include "attn/ext/cpu.h"
#include "attn/ext/memory.h"
#include "attn/ext/threads.h"
#include "attn/plugin.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/** Sizes of workspace pieces are rounded up to this, so that each piece starts on a cache line. */
#define ATTN_PIECE_ALIGNMENT 64

/** The problem as this plugin's header has it: what an older host does not say is zero. */
static inline attn_problem_t attn_problem_copy(const attn_problem_t *problem) {
    attn_problem_t copy;
    attn_struct_read(&copy, sizeof copy, problem, 0);
    return copy;
}

/** The same of a run's arrays, to be changed. */
static inline attn_io_t attn_io_copy(const attn_io_t *io) {
    attn_io_t copy;
    attn_struct_read(&copy, sizeof copy, io, 0);
    return copy;
}

/** Backend-specific tensor number `index` (attn/ext/inputs.h); NULL where the run has it not. */
static inline const attn_tensor_t *attn_own_array(const attn_io_t *io, uint32_t index) {
    if (!ATTN_STRUCT_HAS(io, own_count) || index >= io->own_count) return NULL;
    const attn_tensor_t *tensor = io->own[index];
    return tensor && tensor->data ? tensor : NULL;
}

/** A service of the host, or NULL where it does not offer it. */
static inline const void *attn_host_extension(const attn_host_t *host, const char *id) {
    return host && host->get_extension ? host->get_extension(host, id) : NULL;
}

/** 64-byte aligned memory for a plan, or NULL. Give it back with attn_host_release(). */
static inline void *attn_host_allocate(const attn_host_t *host, size_t size) {
    const attn_ext_memory_t *memory =
        (const attn_ext_memory_t *)attn_host_extension(host, ATTN_EXT_MEMORY);
    if (memory) return memory->allocate(memory->user, size);
    if (size > (size_t)-1 - ATTN_PIECE_ALIGNMENT) return NULL;
    /* aligned_alloc() is no older than C11. What malloc() gave stands before what is returned:
     * there is room, as its own alignment is that of a pointer at least. */
    char *whole = (char *)malloc(size + ATTN_PIECE_ALIGNMENT);
    if (!whole) return NULL;
    char *piece = whole + ATTN_PIECE_ALIGNMENT - (uintptr_t)whole % ATTN_PIECE_ALIGNMENT;
    memcpy(piece - sizeof whole, &whole, sizeof whole);
    return piece;
}

/** Give back what attn_host_allocate() gave; NULL is fine. */
static inline void attn_host_release(const attn_host_t *host, void *memory) {
    const attn_ext_memory_t *service =
        (const attn_ext_memory_t *)attn_host_extension(host, ATTN_EXT_MEMORY);
    if (service) {
        service->release(service->user, memory);
    } else if (memory) {
        char *whole;
        memcpy(&whole, (char *)memory - sizeof whole, sizeof whole);
        free(whole);
    }
}

/** The best tier that kernels may use. */
static inline attn_tier_t attn_host_tier(const attn_host_t *host) {
    const attn_ext_cpu_t *cpu = (const attn_ext_cpu_t *)attn_host_extension(host, ATTN_EXT_CPU);
    return cpu ? cpu->tier : (attn_tier_t)ATTN_TIER_SCALAR;
}

/** How many workers attn_host_parallel_for() may use at a time: the count of scratch areas. */
static inline uint32_t attn_host_workers(const attn_host_t *host) {
    const attn_ext_threads_t *threads =
        (const attn_ext_threads_t *)attn_host_extension(host, ATTN_EXT_THREADS);
    return threads && threads->workers > 1 ? threads->workers : 1;
}

/**
 * Run task(data, t, worker) for every t in [0, tasks); returns when all are done. All of them go
 * through the host, also where it has one worker: it may want to stop them.
 */
static inline void attn_host_parallel_for(const attn_host_t *host, int64_t tasks, attn_task_t *task,
                                          void *data) {
    const attn_ext_threads_t *threads =
        (const attn_ext_threads_t *)attn_host_extension(host, ATTN_EXT_THREADS);
    if (threads) {
        threads->parallel_for(threads->pool, tasks, task, data);
        return;
    }
    for (int64_t t = 0; t < tasks; t++) task(data, t, 0);
}

/* Loops of kernels hang on these being inlined. */
#if defined(__GNUC__)
#define ATTN_INLINED static inline __attribute__((always_inline))
#else
#define ATTN_INLINED static inline
#endif

/** The smaller and the larger of two; the multiple of `step` next to `n` >= 0, above or below. */
ATTN_INLINED int64_t attn_min(int64_t a, int64_t b) { return a < b ? a : b; }
ATTN_INLINED int64_t attn_max(int64_t a, int64_t b) { return a > b ? a : b; }
ATTN_INLINED int64_t attn_round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }
ATTN_INLINED int64_t attn_round_down(int64_t n, int64_t step) { return n / step * step; }

/** What every plan says, with its backend's id, where a workspace overflows. */
#define ATTN_NO_WORKSPACE "%s: the workspace would not fit in memory"

/**
 * Workspace, laid out twice by the same code: once without memory to learn the size, once with.
 *     attn_arena_t arena = {.base = NULL};          // or io->workspace
 *     float *panels = attn_arena_take(&arena, keys, dim * sizeof *panels);
 *     workspace_size = arena.used;                  // valid unless arena.overflow
 */
typedef struct attn_arena {
    char *base;    /**< NULL: only count */
    uint64_t used; /**< bytes, always a multiple of ATTN_PIECE_ALIGNMENT */
    int overflow;  /**< a size did not fit into size_t */
} attn_arena_t;

/** Room for `count` times `size` bytes; NULL while counting. */
static inline void *attn_arena_take(attn_arena_t *arena, int64_t count, uint64_t size) {
    const uint64_t limit = (size_t)-1 / 4;
    if (count < 0 || (size && (uint64_t)count > (limit - arena->used) / size)) {
        arena->overflow = 1;
        return NULL;
    }
    uint64_t bytes = (uint64_t)count * size + ATTN_PIECE_ALIGNMENT - 1;
    bytes -= bytes % ATTN_PIECE_ALIGNMENT;
    void *piece = arena->base ? arena->base + arena->used : NULL;
    arena->used += bytes;
    return piece;
}

#endif
