/* Which tiers this machine and this build have, and the mask that lowers them. */
#include "internal.h"

#include "simd/tiers.h"

#include <stdio.h>
#include <string.h>

#define TIER_NAME(name, code, ...) {ATTN_TIER_##code, #name},
static const struct {
    attn_tier_t tier;
    const char *name;
} names[] = {ATTN_ALL_TIERS(TIER_NAME, )};
enum { NAMES = sizeof names / sizeof names[0] };

const char *attn_tier_name(attn_tier_t tier) {
    for (int i = 0; i < NAMES; i++)
        if (names[i].tier == tier) return names[i].name;
    return "unknown tier";
}

#if defined(__x86_64__)
#include <cpuid.h>

/* Conversions between f16 and f32: a flag of its own, which not every compiler knows by name. */
static bool has_f16c(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

/* Linux's bits for them (asm/hwcap.h), of which older headers lack some: of AT_HWCAP, and of AT_HWCAP2. */
enum { HAS_DOTPROD = 1 << 20 };
enum { HAS_I8MM = 1 << 13, HAS_BF16 = 1 << 14 };

static bool system_says(unsigned long type, unsigned long bit) { return getauxval(type) & bit; }
#endif

/* A WASM module that has started can run all it contains, and so can an AArch64 program without what Linux tells of;
 * other systems tell otherwise, and there it has no more. */
static bool machine_has(attn_tier_t tier) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    switch (tier) {
    case ATTN_TIER_SCALAR:
        return true;
    case ATTN_TIER_SSE4:
        return __builtin_cpu_supports("sse4.2");
    case ATTN_TIER_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
#if ATTN_EMULATE_AVX512 /* by instructions of AVX2, for tests */
    case ATTN_TIER_AVX512:
    case ATTN_TIER_AVX512VNNI:
    case ATTN_TIER_AVX512BF16:
    case ATTN_TIER_AMX:
        return machine_has(ATTN_TIER_AVX2);
#else
    case ATTN_TIER_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               has_f16c();
    case ATTN_TIER_AVX512VNNI:
        return machine_has(ATTN_TIER_AVX512) && __builtin_cpu_supports("avx512vnni");
    case ATTN_TIER_AVX512BF16: /* Intel's multiply bf16 half as fast as floats */
        return machine_has(ATTN_TIER_AVX512VNNI) && __builtin_cpu_supports("avx512bf16") &&
               __builtin_cpu_is("amd");
    case ATTN_TIER_AMX:
        return machine_has(ATTN_TIER_AVX512VNNI) && __builtin_cpu_supports("avx512bf16") &&
               !attn_amx_refusal();
#endif
    default:
        return false;
    }
#elif defined(__aarch64__)
    switch (tier) {
#if defined(__linux__)
    case ATTN_TIER_NEONDOT:
        return system_says(AT_HWCAP, HAS_DOTPROD);
    case ATTN_TIER_NEONI8MM:
        return machine_has(ATTN_TIER_NEONDOT) && system_says(AT_HWCAP2, HAS_I8MM);
    case ATTN_TIER_NEONBF16:
        return machine_has(ATTN_TIER_NEONI8MM) && system_says(AT_HWCAP2, HAS_BF16);
#endif
    default:
        return tier <= ATTN_TIER_NEON;
    }
#else
    (void)tier;
    return true;
#endif
}

#define TIER_CODE(name, code, ...) ATTN_TIER_##code,

uint32_t attn_available_tiers(attn_tier_t *tiers, uint32_t capacity) {
    static const attn_tier_t built[] = {ATTN_EVERY_TIER(TIER_CODE, )};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof built / sizeof built[0]; i++) {
        if (!machine_has(built[i])) continue;
        if (tiers && count < capacity) tiers[count] = built[i];
        count++;
    }
    return count;
}

attn_status_t attn_cpu_choose(const char *name, attn_tier_t *tier, attn_error_t *error) {
    attn_tier_t available[NAMES];
    uint32_t count = attn_available_tiers(available, NAMES);
    *tier = available[count - 1];
    if (!name || !*name) return ATTN_OK;
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(names[i].name, name) != 0) continue;
        for (uint32_t k = 0; k < count; k++)
            if (available[k] == names[i].tier) {
                *tier = names[i].tier;
                return ATTN_OK;
            }
        if (names[i].tier == ATTN_TIER_AMX && attn_amx_refusal())
            return attn_fail(error, ATTN_ERROR_UNSUPPORTED, "tier 'amx': %s; the best is '%s'",
                             attn_amx_refusal(), attn_tier_name(*tier));
        return attn_fail(error, ATTN_ERROR_UNSUPPORTED,
                         "tier '%s' is not on this machine or not in this build; the best is '%s'",
                         name, attn_tier_name(*tier));
    }
    char here[128] = "";
    for (uint32_t k = 0, used = 0; k < count; k++)
        used += (uint32_t)snprintf(here + used, sizeof here - used, "%s%s", k ? ", " : "",
                                   attn_tier_name(available[k]));
    return attn_fail(error, ATTN_ERROR_NOT_FOUND, "unknown tier '%.40s' (here are %s)", name, here);
}
