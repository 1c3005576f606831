/* cli/inflate.c: see inflate.h. Sections are those of RFC 1951. */
#include "cli/inflate.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BITS = 15, LITERALS = 288, DISTANCES = 30, ORDERS = 19 };

typedef struct inflation {
    const uint8_t *in;
    size_t in_size, in_at;
    uint32_t held; /* bits that have been read and not yet used */
    int held_count;
    uint8_t *out;
    size_t out_size, out_at, capacity;
    int is_broken, lacks_memory;
} inflation_t;

/* Codes of one length are numbers in a row, in the order of their symbols (3.2.2). */
typedef struct codes {
    uint16_t count[MOST_BITS + 1];
    uint16_t symbols[LITERALS];
} codes_t;

/* Room for `more` bytes, within those that are to come; 0 where there is none. */
static int make_room(inflation_t *data, size_t more) {
    if (more > data->out_size - data->out_at) return 0;
    if (more <= data->capacity - data->out_at) return 1;
    size_t capacity = 2 * data->capacity + more;
    if (capacity > data->out_size) capacity = data->out_size;
    uint8_t *larger = realloc(data->out, capacity + 1);
    if (!larger) {
        data->lacks_memory = 1;
        return 0;
    }
    data->out = larger;
    data->capacity = capacity;
    return 1;
}

static uint32_t bits(inflation_t *data, int count) {
    while (data->held_count < count) {
        if (data->in_at == data->in_size) {
            data->is_broken = 1;
            return 0;
        }
        data->held |= (uint32_t)data->in[data->in_at++] << data->held_count;
        data->held_count += 8;
    }
    const uint32_t value = data->held & ((1u << count) - 1);
    data->held >>= count;
    data->held_count -= count;
    return value;
}

/* 0 where more codes are asked for than there are; fewer are allowed. */
static int make_codes(codes_t *codes, const uint8_t *lengths, int count) {
    uint16_t first[MOST_BITS + 2] = {0};
    memset(codes->count, 0, sizeof codes->count);
    for (int i = 0; i < count; i++) codes->count[lengths[i]]++;
    codes->count[0] = 0;
    int left = 1;
    for (int bit = 1; bit <= MOST_BITS; bit++) {
        left = 2 * left - codes->count[bit];
        if (left < 0) return 0;
        first[bit + 1] = (uint16_t)(first[bit] + codes->count[bit]);
    }
    for (int i = 0; i < count; i++)
        if (lengths[i]) codes->symbols[first[lengths[i]]++] = (uint16_t)i;
    return 1;
}

/* One symbol, bit by bit; -1 for none. */
static int symbol(inflation_t *data, const codes_t *codes) {
    int code = 0, first = 0, index = 0;
    for (int length = 1; length <= MOST_BITS && !data->is_broken; length++) {
        code |= (int)bits(data, 1);
        const int count = codes->count[length];
        if (code - first < count) return codes->symbols[index + code - first];
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    data->is_broken = 1;
    return -1;
}

/* 3.2.4: bytes as they are. */
static void copy_stored(inflation_t *data) {
    data->held = 0;
    data->held_count = 0;
    const uint32_t size = bits(data, 16), inverse = bits(data, 16);
    if (data->is_broken || (size ^ inverse) != 0xFFFF || size > data->in_size - data->in_at ||
        !make_room(data, size)) {
        data->is_broken = 1;
        return;
    }
    if (size > 0) memcpy(data->out + data->out_at, data->in + data->in_at, size);
    data->in_at += size;
    data->out_at += size;
}

/* 3.2.5: a length and a distance; both may overlap. */
static void copy_back(inflation_t *data, int length_symbol, const codes_t *distances) {
    static const uint16_t length_base[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                           15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                           67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static const uint16_t distance_base[] = {
        1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
        193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    if (length_symbol > 28) {
        data->is_broken = 1;
        return;
    }
    size_t length = length_base[length_symbol] + bits(data, length_bits[length_symbol]);
    const int far = symbol(data, distances);
    if (far < 0 || far >= DISTANCES) {
        data->is_broken = 1;
        return;
    }
    const size_t distance = distance_base[far] + bits(data, far < 2 ? 0 : far / 2 - 1);
    if (data->is_broken || distance > data->out_at || !make_room(data, length)) {
        data->is_broken = 1;
        return;
    }
    if (distance == 1) { /* most of what is packed well */
        memset(data->out + data->out_at, data->out[data->out_at - 1], length);
        data->out_at += length;
        return;
    }
    for (; length > 0; length--, data->out_at++)
        data->out[data->out_at] = data->out[data->out_at - distance];
}

static void expand(inflation_t *data, const codes_t *literals, const codes_t *distances) {
    while (!data->is_broken) {
        const int found = symbol(data, literals);
        if (found == 256) return;
        if (found > 256) {
            copy_back(data, found - 257, distances);
        } else if (found < 0 || !make_room(data, 1)) {
            data->is_broken = 1;
        } else {
            data->out[data->out_at++] = (uint8_t)found;
        }
    }
}

/* 3.2.6 */
static void expand_fixed(inflation_t *data) {
    uint8_t lengths[LITERALS];
    codes_t literals, distances;
    for (int i = 0; i < LITERALS; i++)
        lengths[i] = (uint8_t)(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    make_codes(&literals, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    make_codes(&distances, lengths, DISTANCES);
    expand(data, &literals, &distances);
}

/* 3.2.7: the codes' lengths, themselves in a code. */
static int read_lengths(inflation_t *data, const codes_t *orders, uint8_t *lengths, int count) {
    for (int at = 0; at < count;) {
        const int found = symbol(data, orders);
        if (found < 0) return 0;
        if (found < 16) {
            lengths[at++] = (uint8_t)found;
            continue;
        }
        if (found == 16 && at == 0) return 0;
        const uint8_t value = found == 16 ? lengths[at - 1] : 0;
        const int repeat = found == 16   ? 3 + (int)bits(data, 2)
                           : found == 17 ? 3 + (int)bits(data, 3)
                                         : 11 + (int)bits(data, 7);
        if (repeat > count - at) return 0;
        memset(lengths + at, value, (size_t)repeat);
        at += repeat;
    }
    return !data->is_broken;
}

static void expand_dynamic(inflation_t *data) {
    static const uint8_t order[ORDERS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                          11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + 32] = {0}, of_orders[ORDERS] = {0};
    codes_t orders, literals, distances;
    const int literal_count = 257 + (int)bits(data, 5), distance_count = 1 + (int)bits(data, 5);
    const int order_count = 4 + (int)bits(data, 4);
    for (int i = 0; i < order_count; i++) of_orders[order[i]] = (uint8_t)bits(data, 3);
    if (literal_count > 286 || distance_count > DISTANCES ||
        !make_codes(&orders, of_orders, ORDERS) ||
        !read_lengths(data, &orders, lengths, literal_count + distance_count) ||
        !make_codes(&literals, lengths, literal_count) ||
        !make_codes(&distances, lengths + literal_count, distance_count))
        data->is_broken = 1;
    else
        expand(data, &literals, &distances);
}

enum inflated inflate(const uint8_t *in, size_t in_size, uint8_t **out, size_t out_size) {
    inflation_t data = {.in = in, .in_size = in_size, .out = malloc(1), .out_size = out_size};
    *out = data.out;
    if (!data.out) return INFLATE_NO_MEMORY;
    for (int is_last = 0; !is_last && !data.is_broken;) {
        is_last = (int)bits(&data, 1);
        const uint32_t type = bits(&data, 2);
        if (type == 0)
            copy_stored(&data);
        else if (type == 1)
            expand_fixed(&data);
        else if (type == 2)
            expand_dynamic(&data);
        else
            data.is_broken = 1;
    }
    *out = data.out;
    if (data.lacks_memory) return INFLATE_NO_MEMORY;
    return !data.is_broken && data.out_at == out_size ? INFLATED : INFLATE_DAMAGED;
}

uint32_t inflate_crc(const uint8_t *bytes, size_t size) {
    static const uint32_t parts[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC,
                                       0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                       0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                       0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    uint32_t crc = UINT32_MAX;
    for (size_t at = 0; at < size; at++) {
        crc ^= bytes[at];
        crc = (crc >> 4) ^ parts[crc & 15];
        crc = (crc >> 4) ^ parts[crc & 15];
    }
    return ~crc;
}
