/*
 * Loaded before the program under test (LD_PRELOAD): fails its memory when told to, and writes down
 * what becomes of its files.
 *
 *   ATTN_SHIM_FAIL=k     the k-th allocation fails; k+: that and all after it
 *   ATTN_SHIM_LOG=FILE   gets a line for each fsync and rename, and at the end "allocations N"
 *   ATTN_SHIM_NO_PROC=1  the system does not tell where the program is
 *   ATTN_SHIM_OVERWRITE=kill, =fail   what happens as the first bytes of a file with hard links are written
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's own, which need no look-up that would allocate. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long allocations;

static int fails(void) {
    const char *text = getenv("ATTN_SHIM_FAIL");
    const long number = atomic_fetch_add(&allocations, 1) + 1;
    if (!text) return 0;
    const long wanted = atol(text);
    if (number != wanted && !(number > wanted && strchr(text, '+'))) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *memory, size_t size) { return fails() ? NULL : __libc_realloc(memory, size); }

void *aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = aligned_alloc(alignment, size);
    return *memory ? 0 : ENOMEM;
}

/* ---- files ----------------------------------------------------------------------------------- */

static void note(const char *line) {
    const char *path = getenv("ATTN_SHIM_LOG");
    const int log = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (log < 0) return;
    if (write(log, line, strlen(line)) < 0) abort();
    close(log);
}

int fsync(int descriptor) {
    struct stat info;
    char line[128];
    fstat(descriptor, &info);
    snprintf(line, sizeof line, "fsync %s %llu\n", S_ISDIR(info.st_mode) ? "folder" : "file",
             (unsigned long long)info.st_ino);
    note(line);
    return 0;
}

int rename(const char *from, const char *to) {
    char line[512];
    struct stat info = {.st_ino = 0};
    stat(from, &info);
    snprintf(line, sizeof line, "rename %llu %s\n", (unsigned long long)info.st_ino, to);
    note(line);
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    const char *wanted = getenv("ATTN_SHIM_OVERWRITE");
    struct stat info;
    if (wanted && fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink > 1 &&
        lseek(descriptor, 0, SEEK_CUR) == 0) {
        if (strcmp(wanted, "kill") == 0) raise(SIGKILL);
        errno = EIO;
        return -1;
    }
    return syscall(SYS_write, descriptor, bytes, size);
}

ssize_t readlink(const char *path, char *target, size_t size) {
    if (!getenv("ATTN_SHIM_NO_PROC")) return syscall(SYS_readlinkat, AT_FDCWD, path, target, size);
    errno = ENOENT;
    return -1;
}

__attribute__((destructor)) static void count(void) {
    char line[64];
    snprintf(line, sizeof line, "allocations %ld\n", atomic_load(&allocations));
    note(line);
}
