// The vocabulary of the language model: `node bench/labs/language/vocabulary.mjs train.txt > bench/labs/language/merges.h`.
// Byte-pair encoding (arXiv:1508.07909): 256 bytes, and as often as MERGES says the commonest pair of tokens within a
// piece (bytes.c) becomes a token; of pairs that are equally common, the one with the lowest numbers. So the same text
// gives the same file.
import { readFileSync } from "node:fs";

const MERGES = 256;

/** Pieces of a text, one letter a byte, and how often each is there. */
function countPieces(text) {
    const counts = new Map();
    for (const [piece] of text.matchAll(/ ?[A-Za-z\x80-\xff]{1,63}|[^]/g))
        counts.set(piece, (counts.get(piece) ?? 0) + 1);
    return [...counts].map(([piece, count]) => ({
        tokens: [...piece].map((letter) => letter.charCodeAt(0)),
        count,
    }));
}

const keyOf = (left, right) => left * 65536 + right;

function commonest(pieces) {
    const counts = new Map();
    for (const { tokens, count } of pieces)
        for (let i = 1; i < tokens.length; i++) {
            const key = keyOf(tokens[i - 1], tokens[i]);
            counts.set(key, (counts.get(key) ?? 0) + count);
        }
    let best = -1;
    let most = 1; // a pair that is there once is no pair
    for (const [key, count] of counts)
        if (count > most || (count === most && key < best)) {
            best = key;
            most = count;
        }
    if (best < 0) throw new Error(`the text is too short for ${MERGES} merges`);
    return best;
}

function merge(tokens, pair, token) {
    const merged = [];
    for (let i = 0; i < tokens.length; i++) {
        const isPair = i + 1 < tokens.length && keyOf(tokens[i], tokens[i + 1]) === pair;
        merged.push(isPair ? token : tokens[i]);
        if (isPair) i++;
    }
    return merged;
}

/** Pairs of tokens; pair i becomes token 256 + i. */
function learn(text) {
    const pieces = countPieces(text);
    return Array.from({ length: MERGES }, (_, i) => {
        const pair = commonest(pieces);
        for (const piece of pieces) piece.tokens = merge(piece.tokens, pair, 256 + i);
        return [Math.floor(pair / 65536), pair % 65536];
    });
}

const [file] = process.argv.slice(2);
if (!file) throw new Error("which text? node vocabulary.mjs train.txt");
const merges = learn(readFileSync(file, "latin1"));
const lines = [];
for (let i = 0; i < MERGES; i += 8)
    lines.push(
        `    ${merges
            .slice(i, i + 8)
            .map(([left, right]) => `{${left}, ${right}},`)
            .join(" ")}`,
    );
process.stdout
    .write(`/* language/merges.h: pair i of tokens is token 256 + i. Made by vocabulary.mjs. */
/* clang-format off */
static const uint16_t merges[BYTES_MERGES][2] = {
${lines.join("\n")}
};
/* clang-format on */
`);
