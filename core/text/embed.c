/* text/embed.c: see embed.h. */
#include "text/embed.h"

#include <math.h>
#include <string.h>

/* ---- characters ------------------------------------------------------------------------------ */

typedef enum kind {
    SPACE,
    IGNORED,  /* nothing is seen of it, and it separates nothing */
    SELECTOR, /* the same, but it belongs to what stands before it */
    MARK,     /* belongs to what stands before it */
    LETTER,
    APOSTROPHE,
    SINGLE,
    REGIONAL, /* half a flag */
} kind_t;

typedef struct range {
    uint32_t first, last;
    kind_t kind;
} range_t;

/* Ascending; what lies between is a letter. After Unicode's properties Default_Ignorable_Code_Point,
 * Variation_Selector and Grapheme_Extend. */
static const range_t ranges[] = {
    {0x0, 0x20, SPACE},          {0x21, 0x26, SINGLE},         {0x27, 0x27, APOSTROPHE},
    {0x28, 0x2F, SINGLE},        {0x3A, 0x40, SINGLE},         {0x5B, 0x5E, SINGLE},
    {0x60, 0x60, SINGLE},        {0x7B, 0x7E, SINGLE},         {0x7F, 0xA0, SPACE},
    {0xA1, 0xA9, SINGLE},        {0xAB, 0xAC, SINGLE},         {0xAD, 0xAD, IGNORED},
    {0xAE, 0xB1, SINGLE},        {0xB4, 0xB4, SINGLE},         {0xB6, 0xB8, SINGLE},
    {0xBB, 0xBB, SINGLE},        {0xBF, 0xBF, SINGLE},         {0xD7, 0xD7, SINGLE},
    {0xF7, 0xF7, SINGLE},        {0x300, 0x34E, MARK},         {0x34F, 0x34F, SELECTOR},
    {0x350, 0x36F, MARK},        {0x483, 0x489, MARK},         {0x61C, 0x61C, IGNORED},
    {0x1680, 0x1680, SPACE},     {0x180B, 0x180D, SELECTOR},   {0x180E, 0x180E, IGNORED},
    {0x180F, 0x180F, SELECTOR},  {0x1AB0, 0x1AFF, MARK},       {0x1DC0, 0x1DFF, MARK},
    {0x2000, 0x200B, SPACE},     {0x200C, 0x200D, SELECTOR},   {0x200E, 0x200F, IGNORED},
    {0x2010, 0x2018, SINGLE},    {0x2019, 0x2019, APOSTROPHE}, {0x201A, 0x2027, SINGLE},
    {0x2028, 0x2029, SPACE},     {0x202A, 0x202E, IGNORED},    {0x202F, 0x202F, SPACE},
    {0x2030, 0x205E, SINGLE},    {0x205F, 0x205F, SPACE},      {0x2060, 0x206F, IGNORED},
    {0x20A0, 0x20CF, SINGLE},    {0x20D0, 0x20FF, MARK},       {0x2190, 0x2BFF, SINGLE},
    {0x3000, 0x3000, SPACE},     {0x3001, 0x3029, SINGLE},     {0x302A, 0x302F, MARK},
    {0x3030, 0x3098, SINGLE},    {0x3099, 0x309A, MARK},       {0x309B, 0x30FF, SINGLE},
    {0x3164, 0x3164, IGNORED},   {0x31F0, 0x31FF, SINGLE},     {0x3400, 0x4DBF, SINGLE},
    {0x4E00, 0x9FFF, SINGLE},    {0xF900, 0xFAFF, SINGLE},     {0xFE00, 0xFE0F, SELECTOR},
    {0xFE20, 0xFE2F, MARK},      {0xFE30, 0xFE4F, SINGLE},     {0xFEFF, 0xFEFF, IGNORED},
    {0xFF01, 0xFF0F, SINGLE},    {0xFF1A, 0xFF20, SINGLE},     {0xFF3B, 0xFF40, SINGLE},
    {0xFF5B, 0xFF9D, SINGLE},    {0xFF9E, 0xFF9F, MARK},       {0xFFA0, 0xFFA0, IGNORED},
    {0xFFF0, 0xFFFB, IGNORED},   {0x1AFF0, 0x1B16F, SINGLE},   {0x1BCA0, 0x1BCA3, IGNORED},
    {0x1D173, 0x1D17A, IGNORED}, {0x1F000, 0x1F1E5, SINGLE},   {0x1F1E6, 0x1F1FF, REGIONAL},
    {0x1F200, 0x1F3FA, SINGLE},  {0x1F3FB, 0x1F3FF, MARK},     {0x1F400, 0x1FAFF, SINGLE},
    {0x20000, 0x3FFFF, SINGLE},  {0xE0000, 0xE001F, IGNORED},  {0xE0020, 0xE007F, SELECTOR},
    {0xE0080, 0xE00FF, IGNORED}, {0xE0100, 0xE01EF, SELECTOR}, {0xE01F0, 0xE0FFF, IGNORED},
};

enum { JOINER = 0x200D, EMOJI_STYLE = 0xFE0F, KEYCAP = 0x20E3, INVALID = 0xFFFFFF };

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

/* The bytes at text[0] that nothing is seen of. */
static size_t ignored_length(const char *text, size_t size) {
    size_t end = 0;
    while (end < size) {
        uint32_t character;
        const size_t length = decode(text + end, size - end, &character);
        if (kind_of(character) != IGNORED) break;
        end += length;
    }
    return end;
}

/* A character of a text: what it is and what it is here, and the bytes [start, end) it has there. */
typedef struct place {
    uint32_t character;
    kind_t kind;
    size_t start, end;
} place_t;

/* The first one from `at` on that is not ignored. A letter in emoji style is a picture. */
static place_t place_at(const char *text, size_t size, size_t at) {
    place_t place = {.kind = SPACE, .start = at + ignored_length(text + at, size - at)};
    place.end = place.start;
    if (place.start == size) return place;
    place.end += decode(text + place.start, size - place.start, &place.character);
    place.kind = kind_of(place.character);
    if (place.kind == LETTER && place.end < size) {
        uint32_t next;
        decode(text + place.end, size - place.end, &next);
        if (next == EMOJI_STYLE || next == KEYCAP) place.kind = SINGLE;
    }
    return place;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* Does the character at `place` belong to the word that ends before it? */
static int in_word(const char *text, size_t size, const place_t *place) {
    return place->kind == LETTER ||
           (place->kind == APOSTROPHE && place_at(text, size, place->end).kind == LETTER);
}

/* Where the token ends whose first character is this, which is one that begins a token. */
static size_t token_end(const char *text, size_t size, place_t last) {
    const int is_word = last.kind == LETTER || last.kind == MARK;
    int is_half = last.kind == REGIONAL;
    for (;;) {
        const place_t next = place_at(text, size, last.end);
        const int joined = !is_word && last.character == JOINER && next.kind == SINGLE;
        const int paired = is_half && next.kind == REGIONAL && next.start == last.end;
        if (next.kind != MARK && next.kind != SELECTOR && !joined && !paired &&
            !(is_word && in_word(text, size, &next)))
            return last.end;
        is_half = 0;
        last = next;
    }
}

size_t embed_split(const char *text, size_t size, embed_token_t *tokens, size_t capacity) {
    size_t count = 0;
    for (size_t at = 0; at < size;) {
        const place_t first = place_at(text, size, at);
        at = first.end;
        if (first.kind == SPACE || first.kind == SELECTOR) continue;
        at = token_end(text, size, first);
        if (count < capacity) tokens[count] = (embed_token_t){first.start, at};
        count++;
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

/* Behind the last byte of the character at `at` in "<word>". */
static size_t character_end(const char *word, size_t length, size_t at) {
    uint32_t character;
    if (at == 0 || at > length) return at + 1;
    return at + decode(word + at - 1, length - (at - 1), &character);
}

/* First byte of the next character that is not ignored. */
static size_t next_character(const char *word, size_t length, size_t at) {
    const size_t end = character_end(word, length, at);
    return end > length ? end : end + ignored_length(word + end - 1, length - (end - 1));
}

/* Of the characters from `start` to `end`: a word with a soft hyphen is that word. */
static uint64_t hash_bytes(const char *word, size_t length, size_t start, size_t end) {
    uint64_t hash = fnv_basis;
    for (size_t at = start; at < end; at = next_character(word, length, at)) {
        const size_t stop = character_end(word, length, at);
        for (size_t i = at; i < stop; i++) hash = fnv(hash, bounded_byte(word, length, i));
    }
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
