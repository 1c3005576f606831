/* cli/platform.c: see platform.h. */
#define _GNU_SOURCE /* fallocate() */
#include "cli/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__wasm__)

enum platform_lock platform_lock(int descriptor) {
    (void)descriptor;
    return PLATFORM_LOCKLESS;
}

void platform_hold_standard(void) {}

void platform_bound_memory(void) {}

void platform_report_limits(void) {}

void platform_called(const char *name) { (void)name; }

int platform_own_folder(char *path, size_t size) {
    (void)path, (void)size;
    return 0;
}

int platform_reserve(int descriptor, size_t size) {
    (void)descriptor, (void)size;
    return 0;
}

int platform_has_modes(void) { return 0; }

int platform_is_bound(const struct stat *file) {
    (void)file;
    return 0;
}

int platform_dress(int descriptor, const struct stat *like) {
    (void)descriptor, (void)like;
    return 0;
}

void platform_before_end(void (*clean)(void)) { (void)clean; }

void platform_hold_signals(int hold) { (void)hold; }

#else

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- memory ----------------------------------------------------------------------------------- */

/* A number behind some words of a small file of the system's; -1 where it is not there. Nothing is allocated. */
static long long told_by(const char *path, const char *words) {
    char text[2048] = "";
    const int file = open(path, O_RDONLY);
    const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    const char *at = size > 0 ? strstr(text, words) : NULL;
    if (file >= 0) close(file);
    return at ? strtoll(at + strlen(words), NULL, 10) : -1;
}

void platform_bound_memory(void) {
    struct rlimit limit;
    const long long used = told_by("/proc/self/status", "VmData:"); /* by sanitizers, terabytes */
    const long long left = told_by("/proc/meminfo", "MemAvailable:");
    if (used < 0 || left < 0 || getrlimit(RLIMIT_DATA, &limit)) return;
    const rlim_t most = (rlim_t)(used + left) * 1024;
    if (limit.rlim_cur > most) limit.rlim_cur = most;
    setrlimit(RLIMIT_DATA, &limit);
}

/* ---- files ----------------------------------------------------------------------------------- */

enum platform_lock platform_lock(int descriptor) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(descriptor, F_SETLK, &whole) == 0) return PLATFORM_LOCKED;
    return errno == EACCES || errno == EAGAIN ? PLATFORM_HELD : PLATFORM_LOCKLESS;
}

/* What can be opened for the wrong use only: reading from it fails, and so does writing to it. */
void platform_hold_standard(void) {
    for (int descriptor = 0; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0)
            (void)!open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void platform_report_limits(void) {
    struct sigaction ignored = {.sa_handler = SIG_IGN}, now;
    sigemptyset(&ignored.sa_mask);
    if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &ignored, NULL);
}

static const char *called = "attn";

void platform_called(const char *name) {
    if (name && *name) called = name;
}

/* A file that may be run, as an absolute path without links; NULL for none, else to be freed. */
static char *find_program(const char *path) {
    return access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;
}

/* The program that a shell starts by this name. */
static char *look_up(const char *name) {
    char path[4096], *found = NULL;
    const char *folders = getenv("PATH");
    if (strchr(name, '/')) return find_program(name);
    for (const char *at = folders; at && !found;
         at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        const int length = (int)strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", length ? length : 1, length ? at : ".", name);
        found = find_program(path);
    }
    return found;
}

int platform_own_folder(char *path, size_t size) {
    const ssize_t length = readlink("/proc/self/exe", path, size);
    if (length > 0 && (size_t)length < size) {
        path[length] = 0;
    } else {
        char *found = look_up(called);
        const int fits = found && strlen(found) < size;
        if (fits) strcpy(path, found);
        free(found);
        if (!fits) return 0;
    }
    strrchr(path, '/')[1] = 0;
    return 1;
}

/* Zero bytes cannot be reserved, and need no room. */
static int reserve(int descriptor, size_t size) {
#if defined(FALLOC_FL_KEEP_SIZE)
    if (size > 0 && fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) != 0)
        return errno == EOPNOTSUPP || errno == ENOSYS ? 0 : errno;
#else
    (void)descriptor, (void)size;
#endif
    return 0;
}

int platform_reserve(int descriptor, size_t size) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        size > limit.rlim_cur)
        return EFBIG;
    return reserve(descriptor, size);
}

int platform_has_modes(void) { return 1; }

int platform_is_bound(const struct stat *file) {
    return file->st_nlink > 1 || (geteuid() != 0 && geteuid() != file->st_uid);
}

int platform_dress(int descriptor, const struct stat *like) {
    const uid_t same_owner = (uid_t)-1;
    struct stat own;
    mode_t mode = like->st_mode & 07777;
    if (fstat(descriptor, &own) != 0) return errno;
    if ((own.st_uid != like->st_uid || own.st_gid != like->st_gid) &&
        fchown(descriptor, like->st_uid, like->st_gid) != 0) {
        mode &= ~(mode_t)(S_ISUID | S_ISGID);
        if (fchown(descriptor, same_owner, like->st_gid) != 0)
            mode &= ~(mode_t)S_IRWXG | (mode & S_IRWXO) << 3;
    }
    return fchmod(descriptor, mode) == 0 ? 0 : errno;
}

/* ---- signals --------------------------------------------------------------------------------- */

static void (*cleaner)(void);
static volatile sig_atomic_t held, came;

static void end_by(int signal_number) {
    struct sigaction ended = {.sa_handler = SIG_DFL};
    sigemptyset(&ended.sa_mask);
    cleaner();
    sigaction(signal_number, &ended, NULL);
    raise(signal_number);
}

/* The signal is blocked until this returns: then it ends the program. */
static void clean_and_end(int signal_number) {
    if (held)
        came = signal_number;
    else
        end_by(signal_number);
}

void platform_hold_signals(int hold) {
    held = hold;
    if (!hold && came) end_by(came);
}

void platform_before_end(void (*clean)(void)) {
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGXCPU};
    struct sigaction ours = {.sa_handler = clean_and_end}, now;
    sigemptyset(&ours.sa_mask);
    cleaner = clean;
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
}

#endif
