/*
 * Whether this process may use AMX's tiles of bf16, and whether they keep what is in them.
 *
 * A process asks Linux once for the state that tiles are (arch_prctl(2), ARCH_REQ_XCOMP_PERM); it is refused where a signal
 * stack is too small for it. Some virtual machines lose tiles when a thread is preempted, so a product is checked first.
 */
#define _GNU_SOURCE /* syscall() */
#include "internal.h"

#if defined(__x86_64__) && defined(__linux__) && !ATTN_SMALL && !ATTN_EMULATE_AVX512

#include <cpuid.h>
#include <immintrin.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BF16_TILES = 1u << 22, TILES = 1u << 24, INT8_TILES = 1u << 25 }; /* CPUID leaf 7, EDX */

static bool processor_has_tiles(void) {
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & BF16_TILES) && (d & TILES) &&
           (d & INT8_TILES);
}

/* XCR0 bits 17 and 18: the system saves the tiles' configuration and data. */
static bool system_saves_tiles(void) {
    enum { OSXSAVE = 1u << 27, TILE_STATE = 3u << 17 };
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & OSXSAVE)) return false;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & TILE_STATE) == TILE_STATE;
}

static bool process_may(void) {
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}

enum { ROWS = 16, TERMS = 32 };

/* Small whole numbers, which bf16 holds exactly. */
static uint16_t number(int row, int term) {
    const float x = (float)((row * 7 + term * 5) % 17 - 8);
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/* A product whose registers others may overwrite while this thread waits. */
__attribute__((target("amx-tile,amx-bf16"))) static void
multiply(const uint16_t *left, const uint16_t *right, float *out) {
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1};
    for (int t = 0; t < 3; t++) config.row_bytes[t] = 64, config.rows[t] = ROWS;
    __asm__ volatile(
        "" ::
            : "memory"); /* gcc's tile instructions do not say that they read and write it */
    _tile_loadconfig(&config);
    _tile_zero(0);
    _tile_loadd(1, left, 64);
    _tile_loadd(2, right, 64);
    sched_yield();
    _tile_dpbf16ps(0, 1, 2);
    sched_yield();
    _tile_stored(0, out, 64);
    _tile_release();
    __asm__ volatile("" ::: "memory");
}

static bool tiles_stay(void) {
    enum { TIMES = 64 };
    uint16_t left[ROWS][TERMS], right[ROWS][TERMS]; /* right: pairs of rows side by side */
    float expected[ROWS][ROWS];
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < TERMS; k++) {
            left[r][k] = number(r, k);
            right[r][k] = number(2 * r + k % 2, k / 2);
        }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < ROWS; c++) {
            int sum = 0;
            for (int k = 0; k < TERMS; k++)
                sum += ((r * 7 + k * 5) % 17 - 8) * ((k * 7 + c * 5) % 17 - 8);
            expected[r][c] = (float)sum;
        }
    for (int i = 0; i < TIMES; i++) {
        float out[ROWS][ROWS];
        multiply(left[0], right[0], out[0]);
        if (memcmp(out, expected, sizeof out) != 0) return false;
    }
    return true;
}

const char *attn_amx_refusal(void) {
    if (!processor_has_tiles()) return "the processor has no AMX for bf16 and int8";
    if (!system_saves_tiles()) return "the system does not save AMX's tiles";
    if (!process_may()) return "the system does not let this process use AMX's tiles";
    if (!tiles_stay()) return "AMX's tiles lose what is in them here";
    return NULL;
}

bool attn_amx_is_lost(void) { return processor_has_tiles() && attn_amx_refusal(); }

#else

const char *attn_amx_refusal(void) { return "this build has no AMX for bf16 and int8"; }
bool attn_amx_is_lost(void) { return false; }

#endif
