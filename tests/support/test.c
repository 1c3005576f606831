#include "test.h"

#include "attn/attn.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __SSE2__
#include <immintrin.h>
#endif

static char label[256] = "no case yet";
static attn_tier_t tier = ATTN_TIER_SCALAR;

/* Read once: they are asked for with each element and each case. */
static uint64_t seed = 20240229;
static double share = 1;
static int has_tier; /* is one of the tests that run on each */
static int flushes;

static void read_environment(void) {
    const char *seed_text = getenv("ATTN_TEST_SEED"), *share_text = getenv("ATTN_TEST_SHARE");
    if (seed_text && *seed_text) seed = strtoull(seed_text, NULL, 10);
    if (share_text && *share_text) share = strtod(share_text, NULL);
    has_tier = getenv("ATTN_CPU") != NULL;
    flushes = getenv("ATTN_TEST_FLUSH") != NULL;
}

/* glibc returns blocks of more than 128 kB to the system, and has them cleared and mapped page by page the next time:
 * a third of what some tests take. What is used again is not cleared, either. */
static void keep_freed_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 25); /* the most that it takes */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
}

/* Denormal floats are zero from now on, read and written, here and in all threads that are started: as in processes
 * that were linked with -ffast-math, and in audio programs. Returns 0 where that is not known how. */
static int flush_denormals(void) {
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040); /* FTZ and DAZ */
    return 1;
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | 1u << 24));
    return 1;
#else
    return 0;
#endif
}

uint64_t test_seed(void) { return seed; }

int test_begin(void) {
    read_environment();
    keep_freed_memory();
    if (flushes && !flush_denormals()) {
        printf("skipped: how are denormals made zero here?\n");
        return 0;
    }
    attn_error_t error;
    attn_context_t *context = NULL;
    const attn_status_t status = attn_context_create(NULL, &context, &error);
    if (status == ATTN_ERROR_UNSUPPORTED) {
        printf("skipped: %s\n", error.message);
        return 0;
    }
    if (context) tier = attn_context_tier(context);
    printf("ATTN_TEST_SEED=%" PRIu64 ", tier %s\n", test_seed(),
           context ? attn_tier_name(tier) : "unknown");
    fflush(stdout);
    attn_context_destroy(context);
    return 1;
}

int test_flushes(void) { return flushes; }

double test_number(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const double size = bits & 0x7f800000u ? fabs((double)x) : ldexp(bits & 0x7fffffu, -149);
    return bits >> 31 ? -size : size;
}

/* A WebAssembly module has one tier. */
int test_is_lowest_tier(void) { return tier == ATTN_TIER_SCALAR || tier >= ATTN_TIER_WASM128; }

/* The first case is everybody's: a sweep may have no other. */
int test_takes_case(void) {
    static uint64_t cases;
    const double own = has_tier && cases ? share * (double)tier : 0;
    const double place = fmod((double)cases++ * 0.6180339887498949 + own, 1);
    return place < share;
}

void test_label(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(label, sizeof label, format, arguments);
    va_end(arguments);
}

void test_fail(const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    print_error("%s: %s (ATTN_TEST_SEED=%" PRIu64 ")\n", label, message, test_seed());
    fail();
}
