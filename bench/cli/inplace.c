/* cli/inplace.c: see inplace.h. */
#include "cli/inplace.h"

#include "cli/files.h"
#include "cli/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int inplace_reserve(const char *path, const inplace_t *content) {
    const int descriptor = open(path, O_WRONLY);
    if (descriptor < 0) return errno;
    const int code = platform_reserve(descriptor, content->head_size + content->body_size);
    close(descriptor);
    return code;
}

/* The content's bytes from `first` to before `end`, at their place. */
static int write_range(int descriptor, const inplace_t *content, size_t first, size_t end) {
    const size_t middle = content->head_size;
    int code = 0;
    /* In parentheses: the macro that wasi-libc has of this name is no C11. */
    if ((lseek)(descriptor, (off_t)first, SEEK_SET) < 0) return errno;
    if (first < middle)
        code = file_write(descriptor, content->head + first, (end < middle ? end : middle) - first);
    if (!code && end > middle) {
        const size_t from = first > middle ? first : middle;
        code = file_write(descriptor, content->body + (from - middle), end - from);
    }
    return code;
}

/* What grows is written first: it is what needs room, and the old content is still there. */
static int write_growth(int descriptor, const inplace_t *content, size_t old, size_t size) {
    if (size <= old) return 0;
    int code = write_range(descriptor, content, old, size);
    if (!code) code = file_flush(descriptor);
    if (code && ftruncate(descriptor, (off_t)old) != 0) return errno;
    return code;
}

static int overwrite(int descriptor, const inplace_t *content, int *is_damaged) {
    const size_t size = content->head_size + content->body_size;
    struct stat info;
    if (fstat(descriptor, &info) != 0) return errno;
    const size_t old = (size_t)info.st_size;
    int code = write_growth(descriptor, content, old, size);
    if (code) return code;
    *is_damaged = 1; /* from here on, until all is there */
    code = write_range(descriptor, content, 0, old < size ? old : size);
    if (!code && ftruncate(descriptor, (off_t)size) != 0) code = errno;
    if (!code) code = file_flush(descriptor);
    *is_damaged = code != 0;
    return code;
}

int inplace_write(const char *path, const inplace_t *content, int *is_damaged) {
    *is_damaged = 0;
    int code = inplace_reserve(path, content);
    const int descriptor = code ? -1 : open(path, O_WRONLY);
    if (descriptor < 0) return code ? code : errno;
    platform_hold_signals(1);
    code = overwrite(descriptor, content, is_damaged);
    platform_hold_signals(0);
    close(descriptor);
    return code;
}
