/* Byte-pair encoding: what it makes of any text, and that the text comes back. */
#include "labs/language/bytes.h"

#include "labs/language/corpus.h"
#include "support/fixture.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

/* The tokens of a text in memory of just its size, so that a sanitizer sees what is read or written behind it. */
static int64_t encode(const char *text, size_t size, int32_t tokens[MOST]) {
    char *own = malloc(size + !size);
    int32_t *room = malloc((size + !size) * sizeof *room);
    assert_true(own && room && size <= MOST);
    memcpy(own, text, size);
    const int64_t count = bytes_encode(own, size, room);
    assert_true(count >= 0 && count <= (int64_t)size);
    memcpy(tokens, room, (size_t)count * sizeof *room);
    free(own), free(room);
    return count;
}

static void comes_back(const char *text, size_t size) {
    int32_t tokens[MOST];
    char bytes[BYTES_MOST];
    size_t at = 0;
    const int64_t count = encode(text, size, tokens);
    for (int64_t i = 0; i < count; i++) {
        assert_true(tokens[i] >= 0 && tokens[i] < BYTES_VOCABULARY);
        const size_t length = bytes_of(tokens[i], bytes);
        assert_true(length >= 1 && at + length <= size);
        assert_memory_equal(bytes, text + at, length);
        at += length;
    }
    assert_int_equal(at, size);
}

/* ---- texts ----------------------------------------------------------------------------------------- */

static void words(void **state) {
    (void)state;
    static const char text[] = "And God said, Let there be light: and there was light.\n";
    int32_t tokens[MOST];
    const int64_t count = encode(text, strlen(text), tokens);
    assert_true(count < (int64_t)strlen(text) * 6 / 10);
    comes_back(text, strlen(text));
}

static void odd_bytes(void **state) {
    (void)state;
    char text[MOST];
    for (uint64_t draw = 0; draw < 40; draw++) {
        const size_t size = 1 + (size_t)fixture_draw(draw, MOST);
        test_label("draw %d of %zu bytes", (int)draw, size);
        for (size_t i = 0; i < size; i++)
            text[i] = draw % 2 ? (char)fixture_draw(draw << 32 | i, 256)
                               : " \0they\xC3\xA4\xFF\nA."[fixture_draw(draw << 32 | i, 12)];
        comes_back(text, size);
    }
    for (int byte = 0; byte < 256; byte++) {
        int32_t tokens[MOST];
        text[0] = (char)byte;
        assert_int_equal(encode(text, 1, tokens), 1);
        assert_int_equal(tokens[0], byte);
    }
}

static void no_text(void **state) {
    (void)state;
    int32_t token = -1;
    assert_int_equal(bytes_encode("", 0, &token), 0);
    assert_int_equal(bytes_encode(NULL, 0, &token), 0);
    assert_int_equal(token, -1);
}

/* Letters without an end, which are cut into pieces. */
static void long_words(void **state) {
    (void)state;
    char text[MOST];
    for (size_t i = 0; i < sizeof text; i++) text[i] = "the"[i % 3];
    comes_back(text, sizeof text);
    text[0] = ' ';
    comes_back(text, sizeof text);
}

/* ---- the vocabulary -------------------------------------------------------------------------------- */

/* Each token is itself a text of one token: so no two are the same, and each is in use. */
static void tokens_are_their_own(void **state) {
    (void)state;
    char bytes[BYTES_MOST];
    int32_t tokens[MOST];
    for (int32_t token = 0; token < BYTES_VOCABULARY; token++) {
        const size_t size = bytes_of(token, bytes);
        test_label("token %d", (int)token);
        assert_int_equal(encode(bytes, size, tokens), 1);
        assert_int_equal(tokens[0], token);
    }
}

/* What is behind a piece's end changes nothing before: words are the same in every text. */
static void pieces_are_apart(void **state) {
    (void)state;
    static const char *const parts[] = {"And", " the", ",", " ", " waters", "\n", "7", "\xC3\xA4"};
    int32_t whole[MOST], part[MOST];
    char text[64] = "";
    int64_t count = 0;
    for (size_t i = 0; i < TEST_COUNT(parts); i++) strcat(text, parts[i]);
    const int64_t all = encode(text, strlen(text), whole);
    for (size_t i = 0; i < TEST_COUNT(parts); i++) {
        const int64_t some = encode(parts[i], strlen(parts[i]), part);
        assert_true(count + some <= all);
        assert_memory_equal(whole + count, part, (size_t)some * sizeof *part);
        count += some;
    }
    assert_int_equal(count, all);
}

/* ---- a corpus -------------------------------------------------------------------------------------- */

static void corpora(void **state) {
    (void)state;
    corpus_t one, other, turned, none;
    attn_error_t error;
    if (corpus_make("the sea", 7, "the ship", 8, &one, &error) ||
        corpus_make("the sea", 7, "the ship", 8, &other, &error) ||
        corpus_make("the ship", 8, "the sea", 7, &turned, &error) ||
        corpus_make(NULL, 0, NULL, 0, &none, &error))
        test_fail("%s", error.message);
    assert_true(one.hash == other.hash && one.hash != turned.hash && one.hash != none.hash);
    assert_int_equal(one.train.bytes, 7);
    assert_int_equal(one.test.bytes, 8);
    assert_true(none.train.count == 0 && none.test.count == 0);
    corpus_free(&one), corpus_free(&other), corpus_free(&turned), corpus_free(&none);
}

TEST_MAIN(cmocka_unit_test(words), cmocka_unit_test(odd_bytes), cmocka_unit_test(no_text),
          cmocka_unit_test(long_words), cmocka_unit_test(tokens_are_their_own),
          cmocka_unit_test(pieces_are_apart), cmocka_unit_test(corpora))
