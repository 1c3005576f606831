/*
 * text/embed.h: text to vectors, without a trained model: what turns typed text into Q, K and V.
 *
 * A token's vector is the sum of its hashed character n-grams, so that words that share letters
 * look alike (Bojanowski, Grave, Joulin, Mikolov, "Enriching Word Vectors with Subword
 * Information", TACL 2017), by the signed hashing trick (Weinberger et al., "Feature Hashing for
 * Large Scale Multitask Learning", ICML 2009); then the sinusoidal positions of Vaswani et al.,
 * "Attention Is All You Need", 2017, section 3.5, are added.
 *
 * Tokens are
 *   - words: runs of letters, digits, '_' and all characters not named below; an apostrophe (' or
 *     U+2019) between two of them belongs to the word ("don't");
 *   - single characters: other ASCII punctuation, the punctuation and symbols of Unicode's Latin-1,
 *     General Punctuation, CJK Symbols and full-width blocks, arrows to dingbats, emoji, and each
 *     ideograph, hiragana and katakana letter (these scripts write no spaces);
 *   - flags: pairs of regional indicators.
 * With the token before them stay combining marks (of kana too), variation selectors, skin tones,
 * tags (the flags of Scotland and Wales) and joiners. A letter or digit in emoji style, as in a
 * keycap, is a single character.
 * White space and control characters separate. Characters that nothing is seen of, as soft hyphens,
 * word joiners and marks of direction, neither are tokens nor separate: a word's vector is the same
 * with them. A byte that is not UTF-8 counts as one letter.
 */
#ifndef ATTN_TEXT_EMBED_H
#define ATTN_TEXT_EMBED_H

#include "ieee/ieee.h"

#include "attn/types.h"

#include <stddef.h>

/** Length in bytes of the UTF-8 character at text[0] (RFC 3629); 0 when there is none. */
size_t embed_character(const char *text, size_t size);

/** Bytes [start, end) of the text. */
typedef struct embed_token {
    size_t start, end;
} embed_token_t;

/**
 * Split text[size]; writes the first `capacity` tokens (tokens may be NULL when it is 0) and
 * returns how many there are.
 */
size_t embed_split(const char *text, size_t size, embed_token_t *tokens, size_t capacity);

/**
 * The vectors of `count` tokens: out[i*dim + c], 0 <= c < dim, dim >= 2. `head` chooses the hash
 * functions, so that several heads see the same text in different ways.
 *
 * Scale: a token's product with itself, over sqrt(dim) as softmax attention has it, is 4 from the
 * letters plus 1 from the position, whatever dim is. With unit RMS it would be sqrt(dim), and
 * attention over one's own vectors nearly the identity matrix; at e^5 a token still stands out
 * among a hundred others, words that share letters are visible beside it, and so are neighbours.
 */
void embed_vectors(const char *text, const embed_token_t *tokens, size_t count, int64_t dim,
                   uint64_t head, float *out);

#endif
