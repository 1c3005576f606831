/*
 * attn/grow.h: structs that grow.
 *
 * A struct that begins with `struct_size` is only ever appended to, so that host, plugins and
 * programs of different minor versions understand each other. Whoever takes one from the other
 * side copies it with attn_struct_read(): what it lacks is zero, which is the default of every
 * field, and what is newer than the reader and not zero is refused, as ignoring it could make
 * the result wrong. Whoever fills one for the other side writes no more than that has room for:
 * attn_struct_write().
 *
 * A field never goes into what was padding (there it would be garbage of older callers): structs
 * end with `reserved` where their size would not be a multiple of their alignment, 32-bit builds
 * too.
 */
#ifndef ATTN_GROW_H
#define ATTN_GROW_H

#include <stdint.h>
#include <string.h>

/** No struct is larger: a struct_size above is memory that nobody has set. */
#define ATTN_STRUCT_LIMIT 65536u

/** The struct_size of any struct. */
static inline uint32_t attn_struct_size(const void *from) {
    uint32_t size;
    memcpy(&size, from, sizeof size);
    return size;
}

/**
 * Copy the struct `from`, which says its own size, to the one at `to`, which has `size` bytes
 * and then says so; `first` is the size that its first version had. Returns 0, with `to` zeroed,
 * when `from` is smaller than that or not believable, or when it has something not zero behind
 * `size`.
 */
static inline int attn_struct_read(void *to, uint32_t size, const void *from, uint32_t first) {
    const uint32_t given = attn_struct_size(from);
    const unsigned char *bytes = (const unsigned char *)from;
    int known = given >= first && given <= ATTN_STRUCT_LIMIT;
    for (uint32_t i = size; known && i < given; i++) known = bytes[i] == 0;
    const uint32_t common = !known ? 0 : given < size ? given : size;
    memcpy(to, from, common);
    memset((char *)to + common, 0, size - common);
    if (known) memcpy(to, &size, sizeof size);
    return known;
}

/**
 * Copy `from`, of `size` bytes, to the struct `to`: as much as that says it has room for,
 * without its struct_size. Returns 0, and writes nothing, where that is less than `first`, or
 * not believable.
 */
static inline int attn_struct_write(void *to, const void *from, uint32_t size, uint32_t first) {
    const uint32_t room = attn_struct_size(to);
    const uint32_t common = room < size ? room : size;
    if (room < first || room > ATTN_STRUCT_LIMIT) return 0;
    memcpy((char *)to + sizeof room, (const char *)from + sizeof room, common - sizeof room);
    return 1;
}

/** Whether the struct at `pointer` has the field at all, for one that may be older than this
 *  header. */
#define ATTN_STRUCT_HAS(pointer, field)                                                            \
    ((size_t)((const char *)(&(pointer)->field + 1) - (const char *)(pointer)) <=                  \
     (pointer)->struct_size)

#endif
