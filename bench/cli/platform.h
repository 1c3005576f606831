/*
 * cli/platform.h: what not every system has: locks, modes and owners of files, signals. WASI has none
 * of them; whatever builds on them says what it does without.
 */
#ifndef ATTN_CLI_PLATFORM_H
#define ATTN_CLI_PLATFORM_H

#include <stddef.h>
#include <sys/stat.h>

enum platform_lock { PLATFORM_LOCKED, PLATFORM_HELD, PLATFORM_LOCKLESS };

/**
 * Lock a file that is open for writing, without waiting: LOCKED until this process closes it, HELD
 * by another process, or LOCKLESS where system or file system has no locks.
 */
enum platform_lock platform_lock(int descriptor);

/**
 * Where the program was started without standard input, output or error, their numbers stand for
 * nothing from now on, and no file that is opened later gets one of them.
 */
void platform_hold_standard(void);

/**
 * From now on an allocation fails where the program would have more memory than the machine has left:
 * systems that grant more kill who uses it, without a word.
 */
void platform_bound_memory(void);

/** From now on, a file that would grow past this process's limit is an error of its write. */
void platform_report_limits(void);

/** The name that main() has of this program, for systems that do not tell where it lies; it is kept. */
void platform_called(const char *name);

/** The folder in which this program lies, with a slash behind it; 0 where that is not known. */
int platform_own_folder(char *path, size_t size);

/** Whether there are modes and owners that a file can be given. */
int platform_has_modes(void);

/**
 * Room on the disk for `size` bytes of the open file, whose content and size stay; 0, or an errno. Where
 * a system or file system cannot reserve, it is 0 and nothing happens.
 */
int platform_reserve(int descriptor, size_t size);

/** Whether a file beside this one could not become it: it has other names, or another's file stays theirs. */
int platform_is_bound(const struct stat *file);

/**
 * Give the open file the mode and owner of `like`, as far as this user may; 0, or an errno. Where
 * that fails nobody gains rights: without the group, the group may do what all others may, and without
 * the owner the set-user-ID and set-group-ID bits are dropped.
 */
int platform_dress(int descriptor, const struct stat *like);

/**
 * From now on, a signal that ends the program (ctrl-C, SIGTERM, SIGHUP, a closed pipe, ...) calls
 * `clean` first, which may do what a signal's handler may. Signals that are ignored or handled
 * otherwise stay so.
 */
void platform_before_end(void (*clean)(void));

/** 1: such signals wait, in all threads; 0: one that came meanwhile ends the program now. */
void platform_hold_signals(int hold);

#endif
