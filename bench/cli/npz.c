/* cli/npz.c: see npz.h. PKWARE's "APPNOTE - .ZIP File Format Specification", sections 4.3.7 to 4.3.16. */
#include "cli/npz.h"

#include "cli/cli.h"
#include "cli/inflate.h"

#include <stdlib.h>
#include <string.h>

enum { END_SIZE = 22, ENTRY_SIZE = 46, LOCAL_SIZE = 30, MOST_COMMENT = 65535 };

static uint32_t number(const unsigned char *at, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++) value |= (uint32_t)at[i] << 8 * i;
    return value;
}

int npz_is_one(const char *bytes, size_t size) {
    return size >= NPZ_MARK && memcmp(bytes, "PK\3\4", NPZ_MARK) == 0;
}

/* The record at the end of the archive, before a comment of any length; NULL for none. */
static const unsigned char *find_end(const npz_t *npz) {
    for (size_t back = END_SIZE; back <= npz->size && back <= END_SIZE + MOST_COMMENT; back++) {
        const unsigned char *at = npz->bytes + npz->size - back;
        if (memcmp(at, "PK\5\6", 4) == 0) return at;
    }
    return NULL;
}

/* The central directory's entry of a file; NULL for none. */
static const unsigned char *find_entry(const npz_t *npz, const char *name) {
    const unsigned char *end = find_end(npz);
    if (!end) return NULL;
    size_t at = number(end + 16, 4);
    for (uint32_t left = number(end + 10, 2); left > 0; left--) {
        if (at > npz->size || npz->size - at < ENTRY_SIZE) return NULL;
        const unsigned char *entry = npz->bytes + at;
        const size_t length = number(entry + 28, 2);
        const size_t behind = length + number(entry + 30, 2) + number(entry + 32, 2);
        if (memcmp(entry, "PK\1\2", 4) != 0 || npz->size - at - ENTRY_SIZE < behind) return NULL;
        if (length == strlen(name) && memcmp(entry + ENTRY_SIZE, name, length) == 0) return entry;
        at += ENTRY_SIZE + behind;
    }
    return NULL;
}

/* Where a file's packed bytes are; NULL where they are not all there. */
static const unsigned char *find_packed(const npz_t *npz, const unsigned char *entry) {
    const size_t at = number(entry + 42, 4), packed = number(entry + 20, 4);
    if (at > npz->size || npz->size - at < LOCAL_SIZE) return NULL;
    const unsigned char *local = npz->bytes + at;
    const size_t head = LOCAL_SIZE + (size_t)number(local + 26, 2) + number(local + 28, 2);
    if (memcmp(local, "PK\3\4", 4) != 0 || npz->size - at < head || npz->size - at - head < packed)
        return NULL;
    return local + head;
}

static int unpack(const npz_t *npz, const char *name, const unsigned char *entry, char *bytes,
                  size_t size) {
    const unsigned char *packed = find_packed(npz, entry);
    const size_t packed_size = number(entry + 20, 4);
    const uint32_t method = number(entry + 10, 2), told = number(entry + 16, 4);
    if (number(entry + 8, 2) & 1)
        return cli_complain(CLI_USAGE, "%s: %s in it is encrypted", npz->path, name);
    if (method != 0 && method != 8)
        return cli_complain(CLI_USAGE, "%s: %s is packed by method %u, not stored or deflated",
                            npz->path, name, (unsigned)method);
    if (!packed)
        return cli_complain(CLI_USAGE, "%s: %s is not where the archive's directory has it",
                            npz->path, name);
    const int done =
        method == 8 ? inflate(packed, packed_size, (uint8_t *)bytes, size) : packed_size == size;
    if (!done)
        return cli_complain(CLI_USAGE, "%s: %s in it is damaged: it does not unpack to %zu bytes",
                            npz->path, name, size);
    if (method == 0) memcpy(bytes, packed, size);
    const uint32_t found = inflate_crc((const uint8_t *)bytes, size);
    if (found == told) return CLI_OK;
    return cli_complain(CLI_USAGE, "%s: %s in it is damaged: its CRC-32 is %08x, not %08x",
                        npz->path, name, (unsigned)found, (unsigned)told);
}

int npz_file(const npz_t *npz, const char *name, char **bytes, size_t *size) {
    const unsigned char *entry = find_entry(npz, name);
    if (!find_end(npz))
        return cli_complain(CLI_USAGE, "%s: is cut off: an archive ends with a directory",
                            npz->path);
    if (!entry) return cli_complain(CLI_USAGE, "%s: has no %s in it", npz->path, name);
    *size = number(entry + 24, 4);
    if (*size == UINT32_MAX || number(entry + 20, 4) == UINT32_MAX)
        return cli_complain(CLI_USAGE, "%s: %s in it has 4 GiB or more", npz->path, name);
    *bytes = malloc(*size + 1);
    if (!*bytes)
        return cli_complain(CLI_USAGE, "%s: no memory for the %zu bytes of %s", npz->path, *size,
                            name);
    return unpack(npz, name, entry, *bytes, *size);
}
