/* text/embed.c: see embed.h. */
#include "text/embed.h"

#include <math.h>
#include <string.h>

/* ---- characters ------------------------------------------------------------------------------ */

typedef enum kind { SPACE, LETTER, APOSTROPHE, SINGLE, EXTEND } kind_t;

typedef struct range {
    uint32_t first, last;
    kind_t kind;
} range_t;

/* Ascending; what lies between is a letter. */
static const range_t ranges[] = {
    {0x00, 0x20, SPACE},        {0x21, 0x26, SINGLE},       {0x27, 0x27, APOSTROPHE},
    {0x28, 0x2F, SINGLE},       {0x3A, 0x40, SINGLE},       {0x5B, 0x5E, SINGLE},
    {0x60, 0x60, SINGLE},       {0x7B, 0x7E, SINGLE},       {0x7F, 0xA0, SPACE},
    {0xA1, 0xA9, SINGLE},       {0xAB, 0xB1, SINGLE},       {0xB4, 0xB4, SINGLE},
    {0xB6, 0xB8, SINGLE},       {0xBB, 0xBB, SINGLE},       {0xBF, 0xBF, SINGLE},
    {0xD7, 0xD7, SINGLE},       {0xF7, 0xF7, SINGLE},       {0x300, 0x36F, EXTEND},
    {0x1680, 0x1680, SPACE},    {0x2000, 0x200B, SPACE},    {0x200C, 0x200D, EXTEND},
    {0x200E, 0x200F, SPACE},    {0x2010, 0x2018, SINGLE},   {0x2019, 0x2019, APOSTROPHE},
    {0x201A, 0x2027, SINGLE},   {0x2028, 0x202F, SPACE},    {0x2030, 0x205E, SINGLE},
    {0x205F, 0x206F, SPACE},    {0x20A0, 0x20CF, SINGLE},   {0x20D0, 0x20FF, EXTEND},
    {0x2190, 0x2BFF, SINGLE},   {0x3000, 0x3000, SPACE},    {0x3001, 0x3029, SINGLE},
    {0x302A, 0x302F, EXTEND},   {0x3030, 0x30FF, SINGLE},   {0x3400, 0x4DBF, SINGLE},
    {0x4E00, 0x9FFF, SINGLE},   {0xF900, 0xFAFF, SINGLE},   {0xFE00, 0xFE0F, EXTEND},
    {0xFE30, 0xFE4F, SINGLE},   {0xFEFF, 0xFEFF, SPACE},    {0xFF01, 0xFF0F, SINGLE},
    {0xFF1A, 0xFF20, SINGLE},   {0xFF3B, 0xFF40, SINGLE},   {0xFF5B, 0xFF65, SINGLE},
    {0x1F000, 0x1F3FA, SINGLE}, {0x1F3FB, 0x1F3FF, EXTEND}, {0x1F400, 0x1FAFF, SINGLE},
    {0x20000, 0x3FFFF, SINGLE},
};

enum { JOINER = 0x200D, INVALID = 0xFFFFFF };

static kind_t kind_of(uint32_t character) {
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0] && character >= ranges[i].first; i++)
        if (character <= ranges[i].last) return ranges[i].kind;
    return LETTER;
}

/*
 * The character at text[0] and its length in bytes (RFC 3629: shortest form only, no surrogates);
 * INVALID and 1 for a byte that begins none.
 */
static size_t decode(const char *text, size_t size, uint32_t *character) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    *character = INVALID;
    const size_t length = bytes[0] < 0x80   ? 1
                          : bytes[0] < 0xC0 ? 0
                          : bytes[0] < 0xE0 ? 2
                          : bytes[0] < 0xF0 ? 3
                          : bytes[0] < 0xF8 ? 4
                                            : 0;
    if (length == 0 || length > size) return 1;
    uint32_t value = length == 1 ? bytes[0] : bytes[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) return 1;
        value = value << 6 | (bytes[i] & 0x3F);
    }
    if (value < smallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 1;
    *character = value;
    return length;
}

size_t embed_character(const char *text, size_t size) {
    uint32_t character;
    const size_t length = size ? decode(text, size, &character) : 0;
    return length && character != INVALID ? length : 0;
}

static kind_t kind_at(const char *text, size_t size) {
    uint32_t character;
    if (size == 0) return SPACE;
    decode(text, size, &character);
    return kind_of(character);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* Length of the token at text[0], which is no space. */
static size_t token_length(const char *text, size_t size) {
    uint32_t character;
    size_t end = decode(text, size, &character);
    const int is_word = kind_of(character) == LETTER || kind_of(character) == EXTEND;
    while (end < size) {
        const int joined = character == JOINER;
        const size_t length = decode(text + end, size - end, &character);
        const kind_t kind = kind_of(character);
        const int inside_word =
            kind == LETTER ||
            (kind == APOSTROPHE && kind_at(text + end + length, size - end - length) == LETTER);
        if (kind == EXTEND || (is_word && inside_word) || (joined && kind == SINGLE))
            end += length;
        else
            break;
    }
    return end;
}

size_t embed_split(const char *text, size_t size, embed_token_t *tokens, size_t capacity) {
    size_t count = 0;
    for (size_t at = 0; at < size;) {
        uint32_t character;
        size_t length = decode(text + at, size - at, &character);
        if (kind_of(character) != SPACE) {
            length = token_length(text + at, size - at);
            if (count < capacity) tokens[count] = (embed_token_t){at, at + length};
            count++;
        }
        at += length;
    }
    return count;
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits (Fowler, Noll, Vo), continued from `hash`. */
static const uint64_t fnv_basis = 0xCBF29CE484222325u;

static uint64_t fnv(uint64_t hash, char byte) {
    return (hash ^ (unsigned char)byte) * 0x100000001B3u;
}

/* FNV's high bits depend little on the last bytes; this mixes them (Steele et al. 2014, variant
 * 13). */
static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static void add_feature(uint64_t hash, uint64_t head, int64_t dim, float *out) {
    const uint64_t bits = mix(hash ^ mix(head));
    out[(bits >> 1) % (uint64_t)dim] += bits & 1 ? 1.0f : -1.0f;
}

/* Byte `at` of "<word>", in lower case as far as ASCII goes. */
static char bounded_byte(const char *word, size_t length, size_t at) {
    if (at == 0 || at > length) return at == 0 ? '<' : '>';
    const char byte = word[at - 1];
    return byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte;
}

/* First byte of the character after the one at `at` in "<word>". */
static size_t next_character(const char *word, size_t length, size_t at) {
    uint32_t character;
    if (at == 0 || at > length) return at + 1;
    return at + decode(word + at - 1, length - (at - 1), &character);
}

static uint64_t hash_bytes(const char *word, size_t length, size_t start, size_t end) {
    uint64_t hash = fnv_basis;
    for (size_t at = start; at < end; at++) hash = fnv(hash, bounded_byte(word, length, at));
    return hash;
}

/* All n-grams of 3 to 5 characters of "<word>", and "<word>" itself when it is longer. */
static void add_word(const char *word, size_t length, uint64_t head, int64_t dim, float *out) {
    const size_t bounded = length + 2;
    const uint64_t whole = hash_bytes(word, length, 0, bounded);
    int characters = 0;
    for (size_t start = 0; start < bounded; start = next_character(word, length, start)) {
        size_t end = start;
        for (int n = 1; n <= 5 && end < bounded; n++) {
            end = next_character(word, length, end);
            if (n >= 3) add_feature(hash_bytes(word, length, start, end), head, dim, out);
        }
        characters++;
    }
    if (characters > 5) add_feature(whole, head, dim, out);
    for (int64_t c = 0; c < dim; c++)
        if (out[c] != 0) return;
    add_feature(whole, head, dim, out); /* all signs cancelled: possible where dim is small */
}

/* Scales a vector to this square of its length. */
static void set_square(float *vector, int64_t dim, double wanted) {
    double square = 0;
    for (int64_t c = 0; c < dim; c++) square += (double)vector[c] * vector[c];
    const double factor = sqrt(wanted / square);
    for (int64_t c = 0; c < dim; c++) vector[c] = (float)(factor * vector[c]);
}

/* Adds amplitude * PE (Vaswani et al. 2017, section 3.5), the square of whose length is dim / 2. */
static void add_positions(size_t count, int64_t dim, double amplitude, float *out) {
    const double log_10000 = 9.210340371976182736; /* pow's tables are 5 kB of the WASM module */
    for (int64_t c = 0; c < dim; c++) {
        const double rate = exp(-log_10000 * (double)(c - c % 2) / (double)dim);
        float *column = out + c;
        for (size_t i = 0; i < count; i++, column += dim) {
            const double angle = (double)i * rate;
            *column += (float)(amplitude * (c % 2 ? cos(angle) : sin(angle)));
        }
    }
}

void embed_vectors(const char *text, const embed_token_t *tokens, size_t count, int64_t dim,
                   uint64_t head, float *out) {
    const double letters = 4, position = 1, root = sqrt((double)dim);
    if (count == 0) return; /* whatever dim is: nothing bounds it then */
    memset(out, 0, count * (size_t)dim * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        float *vector = out + (int64_t)i * dim;
        add_word(text + tokens[i].start, tokens[i].end - tokens[i].start, head, dim, vector);
        set_square(vector, dim, letters * root);
    }
    add_positions(count, dim, sqrt(position * root / ((double)dim / 2)), out);
}
