/* cli/npz.c: see npz.h. PKWARE's "APPNOTE - .ZIP File Format Specification", sections 4.3.7 to 4.5.3. */
#include "cli/npz.h"

#include "cli/cli.h"
#include "cli/inflate.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    END_SIZE = 22,
    LOCATOR_SIZE = 20,
    END64_SIZE = 56,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    MOST_COMMENT = 65535,
    ZIP64 = 1, /* the extra field's number */
};

/* Where the central directory begins and ends, and where places are counted from: other bytes may stand before an
 * archive. */
typedef struct directory {
    uint64_t at, end, count, base;
} directory_t;

/* What it says of one file. Its sizes hold where the local header leaves them to a data descriptor, too. */
typedef struct entry {
    uint64_t size, packed_size, at;
    uint32_t flags, method, crc;
} entry_t;

static uint64_t number(const unsigned char *at, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; i++) value |= (uint64_t)at[i] << 8 * i;
    return value;
}

int npz_is_one(const char *bytes, size_t size) {
    return size >= NPZ_MARK &&
           (memcmp(bytes, "PK\3\4", NPZ_MARK) == 0 || memcmp(bytes, "PK\5\6", NPZ_MARK) == 0);
}

/* `size` bytes at `at`, that begin with "PK" and this mark; NULL where they are not. */
static const unsigned char *record(const npz_t *npz, uint64_t at, const char *mark, size_t size) {
    if (at > npz->size || npz->size - at < size || memcmp(npz->bytes + at, mark, 4) != 0)
        return NULL;
    return npz->bytes + at;
}

/* ---- the directory --------------------------------------------------------------------------- */

/* The record at the end of the archive, before a comment that reaches to its last byte; NULL for none. */
static const unsigned char *find_end(const npz_t *npz) {
    for (size_t back = END_SIZE; back <= npz->size && back <= END_SIZE + MOST_COMMENT; back++) {
        const unsigned char *at = record(npz, npz->size - back, "PK\5\6", END_SIZE);
        if (at && number(at + 20, 2) == back - END_SIZE) return at;
    }
    return NULL;
}

/* The same, where other bytes follow it. */
static const unsigned char *find_buried_end(const npz_t *npz) {
    for (size_t back = END_SIZE; back <= npz->size; back++) {
        const unsigned char *at = record(npz, npz->size - back, "PK\5\6", END_SIZE);
        if (at && number(at + 20, 2) <= back - END_SIZE) return at;
    }
    return NULL;
}

int npz_is_behind(const char *bytes, size_t size) {
    const npz_t npz = {"", (const unsigned char *)bytes, size};
    return find_end(&npz) || find_buried_end(&npz);
}

static const char damaged[] = "is damaged: its directory is not whole";

static int damaged_directory(const npz_t *npz) {
    return cli_complain(CLI_USAGE, "%s: %s", npz->path, damaged);
}

/* The second record, of numbers that do not fit into the first: before its locator, if not where that says. */
static const unsigned char *find_end64(const npz_t *npz, const unsigned char *locator) {
    const unsigned char *end = record(npz, number(locator + 8, 8), "PK\6\6", END64_SIZE);
    const uint64_t before = (uint64_t)(locator - npz->bytes) - END64_SIZE; /* or far behind */
    return end ? end : record(npz, before, "PK\6\6", END64_SIZE);
}

/* The directory, of this size, ends where this record of its end begins. NULL, or what is wrong. */
static const char *place(const npz_t *npz, const unsigned char *end, uint64_t size,
                         directory_t *directory) {
    const uint64_t behind = (uint64_t)(end - npz->bytes);
    if (size > behind || directory->at > behind - size) return damaged;
    directory->base = behind - size - directory->at;
    directory->at += directory->base;
    directory->end = behind;
    return NULL;
}

/* NULL, or what is wrong. */
static const char *locate(const npz_t *npz, directory_t *directory) {
    const unsigned char *end = find_end(npz);
    if (!end) end = find_buried_end(npz);
    if (!end) return "is cut off: an archive ends with a directory";
    *directory = (directory_t){.at = number(end + 16, 4), .count = number(end + 10, 2)};
    const uint64_t before = (uint64_t)(end - npz->bytes) - LOCATOR_SIZE; /* or far behind */
    const unsigned char *locator = record(npz, before, "PK\6\7", LOCATOR_SIZE);
    if (!locator && directory->at != UINT32_MAX)
        return place(npz, end, number(end + 12, 4), directory);
    end = locator ? find_end64(npz, locator) : NULL;
    if (!end) return "is damaged: its zip64 end of directory is not there";
    *directory = (directory_t){.at = number(end + 48, 8), .count = number(end + 32, 8)};
    return place(npz, end, number(end + 40, 8), directory);
}

static int find_directory(const npz_t *npz, directory_t *directory) {
    const char *wrong = locate(npz, directory);
    return wrong ? cli_complain(CLI_USAGE, "%s: %s", npz->path, wrong) : CLI_OK;
}

/* The next number of the zip64 field, for one that is all ones. */
static int read_wide(uint64_t *value, const unsigned char **field, size_t *left) {
    if (*value != UINT32_MAX) return 1;
    if (*left < 8) return 0;
    *value = number(*field, 8);
    *field += 8;
    *left -= 8;
    return 1;
}

/* Sizes and place of 64 bits, from the extra field; 0 where they should be there and are not. */
static int read_extra(entry_t *entry, const unsigned char *extra, size_t size) {
    while (size >= 4) {
        const size_t length = number(extra + 2, 2);
        if (length > size - 4) break;
        if (number(extra, 2) == ZIP64) {
            const unsigned char *field = extra + 4;
            size_t left = length;
            return read_wide(&entry->size, &field, &left) &&
                   read_wide(&entry->packed_size, &field, &left) &&
                   read_wide(&entry->at, &field, &left);
        }
        extra += 4 + length;
        size -= 4 + length;
    }
    return entry->size != UINT32_MAX && entry->packed_size != UINT32_MAX && entry->at != UINT32_MAX;
}

static int read_entry(entry_t *entry, const unsigned char *at) {
    *entry = (entry_t){.size = number(at + 24, 4),
                       .packed_size = number(at + 20, 4),
                       .at = number(at + 42, 4),
                       .flags = (uint32_t)number(at + 8, 2),
                       .method = (uint32_t)number(at + 10, 2),
                       .crc = (uint32_t)number(at + 16, 4)};
    return read_extra(entry, at + ENTRY_SIZE + number(at + 28, 2), number(at + 30, 2));
}

/* The next entry, behind which the directory then begins; its name has *length bytes. NULL where it is not whole. */
static const unsigned char *next_entry(const npz_t *npz, directory_t *directory, size_t *length) {
    const unsigned char *found = record(npz, directory->at, "PK\1\2", ENTRY_SIZE);
    if (!found) return NULL;
    *length = number(found + 28, 2);
    directory->at += ENTRY_SIZE + *length + number(found + 30, 2) + number(found + 32, 2);
    return directory->at <= directory->end ? found : NULL;
}

static int is_named(const unsigned char *entry, size_t length, const char *name) {
    return length == strlen(name) && memcmp(entry + ENTRY_SIZE, name, length) == 0;
}

static int find_entry(const npz_t *npz, const char *name, entry_t *entry) {
    directory_t directory = {.at = 0};
    const int status = find_directory(npz, &directory);
    if (status) return status;
    int times = 0;
    for (uint64_t left = directory.count; left > 0; left--) {
        size_t length;
        const unsigned char *found = next_entry(npz, &directory, &length);
        if (!found) return damaged_directory(npz);
        if (!is_named(found, length, name)) continue;
        if (!read_entry(entry, found) || entry->at > npz->size) return damaged_directory(npz);
        entry->at += directory.base;
        if (times++) /* readers differ in which one they take */
            return cli_complain(CLI_USAGE, "%s: has %s twice; save it again with each name once",
                                npz->path, name);
    }
    if (times) return CLI_OK;
    return cli_complain(CLI_USAGE, "%s: has no %s in it", npz->path, name);
}

/* ---- a file ---------------------------------------------------------------------------------- */

/* Where a file's packed bytes are; NULL where they are not all there. */
static const unsigned char *find_packed(const npz_t *npz, const entry_t *entry) {
    const unsigned char *local = record(npz, entry->at, "PK\3\4", LOCAL_SIZE);
    if (!local) return NULL;
    const size_t head = LOCAL_SIZE + number(local + 26, 2) + number(local + 28, 2);
    const size_t left = npz->size - (size_t)entry->at;
    return left < head || left - head < entry->packed_size ? NULL : local + head;
}

static int damaged_size(const npz_t *npz, const char *name, const entry_t *entry) {
    return cli_complain(
        CLI_USAGE, "%s: %s in it is damaged: it does not unpack to %llu bytes from %llu", npz->path,
        name, (unsigned long long)entry->size, (unsigned long long)entry->packed_size);
}

/* No more memory than the packed bytes can fill, whatever size the archive claims. */
static int unpack(const npz_t *npz, const char *name, const entry_t *entry, char **bytes) {
    const unsigned char *packed = find_packed(npz, entry);
    if (!packed)
        return cli_complain(CLI_USAGE, "%s: %s is not where the archive's directory has it",
                            npz->path, name);
    const size_t packed_size = (size_t)entry->packed_size;
    if (entry->size / INFLATE_MOST > packed_size || entry->size > SIZE_MAX / 4 ||
        (entry->method == 0 && entry->size != packed_size))
        return damaged_size(npz, name, entry);
    const size_t size = (size_t)entry->size;
    if (entry->method == 0) {
        *bytes = malloc(size + 1);
        if (*bytes) memcpy(*bytes, packed, size);
    }
    const enum inflated done = entry->method == 0
                                   ? (*bytes ? INFLATED : INFLATE_NO_MEMORY)
                                   : inflate(packed, packed_size, (uint8_t **)bytes, size);
    if (done == INFLATE_NO_MEMORY)
        return cli_complain(CLI_USAGE, "%s: no memory for the %zu bytes of %s", npz->path, size,
                            name);
    return done == INFLATED ? CLI_OK : damaged_size(npz, name, entry);
}

int npz_file(const npz_t *npz, const char *name, char **bytes, size_t *size) {
    entry_t entry = {.size = 0};
    *bytes = NULL;
    *size = 0;
    int status = find_entry(npz, name, &entry);
    if (status) return status;
    if (entry.flags & 1)
        return cli_complain(CLI_USAGE, "%s: %s in it is encrypted", npz->path, name);
    if (entry.method != 0 && entry.method != 8)
        return cli_complain(CLI_USAGE, "%s: %s is packed by method %u, not stored or deflated",
                            npz->path, name, (unsigned)entry.method);
    status = unpack(npz, name, &entry, bytes);
    if (status) return status;
    *size = (size_t)entry.size;
    const uint32_t found = inflate_crc((const uint8_t *)*bytes, *size);
    if (found == entry.crc) return CLI_OK;
    return cli_complain(CLI_USAGE, "%s: %s in it is damaged: its CRC-32 is %08x, not %08x",
                        npz->path, name, (unsigned)found, (unsigned)entry.crc);
}

/* ---- names ----------------------------------------------------------------------------------- */

static size_t add_name(char *names, size_t used, size_t room, const char *name, size_t length) {
    const char *separator = used ? ", " : "";
    if (used >= room) return used;
    const int added = snprintf(names + used, room - used, "%s%.*s", separator, (int)length, name);
    return used + (added > 0 ? (size_t)added : 0);
}

int npz_names(const npz_t *npz, char *names, size_t room, int *count) {
    directory_t directory = {.at = 0};
    size_t used = 0;
    names[0] = 0;
    *count = 0;
    const int status = find_directory(npz, &directory);
    if (status) return status;
    for (uint64_t left = directory.count; left > 0; left--) {
        size_t length;
        const unsigned char *found = next_entry(npz, &directory, &length);
        if (!found) return damaged_directory(npz);
        const char *name = (const char *)found + ENTRY_SIZE;
        if (length > 4 && memcmp(name + length - 4, ".npy", 4) == 0) {
            used = add_name(names, used, room, name, length - 4);
            ++*count;
        }
    }
    return CLI_OK;
}

int npz_has(const npz_t *npz, const char *name) {
    directory_t directory = {.at = 0};
    if (locate(npz, &directory)) return 0;
    size_t length;
    for (uint64_t left = directory.count; left > 0; left--) {
        const unsigned char *found = next_entry(npz, &directory, &length);
        if (!found) return 0;
        if (is_named(found, length, name)) return 1;
    }
    return 0;
}
