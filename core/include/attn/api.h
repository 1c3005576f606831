/*
 * attn/api.h: what the other headers for programs share: exported functions, versions, names. Part
 * of attn/attn.h, which has the rules of errors, threads and structs.
 */
#ifndef ATTN_API_H
#define ATTN_API_H

#include "attn/ext/cpu.h"
#include "attn/types.h"

#if defined(_WIN32) && defined(ATTN_SHARED)
#ifdef ATTN_BUILDING
#define ATTN_API __declspec(dllexport)
#else
#define ATTN_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define ATTN_API __attribute__((visibility("default")))
#else
#define ATTN_API
#endif

/* Argument number `n` is kept, and not read: without this gcc warns of an output that is const
 * there and not yet written. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define ATTN_UNREAD(n) __attribute__((access(none, n)))
#else
#define ATTN_UNREAD(n)
#endif

#define ATTN_VERSION_MAJOR 0
#define ATTN_VERSION_MINOR 1
#define ATTN_VERSION_PATCH 0
#define ATTN_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct attn_context attn_context_t;
typedef struct attn_plan attn_plan_t;

/** Alignment of workspaces, in bytes. */
#define ATTN_ALIGNMENT 64

/** The library's version, "major.minor.patch". ATTN_VERSION is the header's. [any thread] */
ATTN_API const char *attn_version(void);

/** The name of a status, e.g. "ATTN_ERROR_SHAPE"; static text. [any thread] */
ATTN_API const char *attn_status_name(attn_status_t status);

/**
 * The name of a tier as ATTN_CPU spells it ("scalar", "sse4", "avx2", ...); static text.
 * [any thread]
 */
ATTN_API const char *attn_tier_name(attn_tier_t tier);

#ifdef __cplusplus
}
#endif
#endif
