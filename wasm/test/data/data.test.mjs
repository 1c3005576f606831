/* libattn/data: text as vectors, .npy files of each kind, and what is no text and no such file. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { AttnError, embed, readNpy } from "libattn/data";
import { CHARACTERS, SAME_WORDS } from "../../../tests/cli/characters.mjs";
import { decodeF16, npyBytes } from "../support.mjs";

test("embed: tokens and their vectors", async () => {
    const text = "Don't stop: héllo 日本\u0000 end";
    const { x, tokens, rows, dim } = await embed(text, 16);
    assert.deepEqual(tokens, ["Don't", "stop", ":", "héllo", "日", "本", "end"]);
    assert.equal(rows, 7);
    assert.equal(dim, 16);
    assert.equal(x.length, 7 * 16);
    assert.ok(x.every(Number.isFinite));
    assert.deepEqual((await embed(text, 16)).x, x);
    const none = { x: new Float32Array(0), tokens: [], rows: 0, dim: 8 };
    assert.deepEqual(await embed("", 8), none);
    assert.deepEqual(await embed("", 2 ** 50), { ...none, dim: 2 ** 50 }); // and at once
});

for (const [what, text, expected] of CHARACTERS) {
    test(`embed: ${what}`, async () => {
        assert.deepEqual((await embed(text, 4)).tokens, expected);
    });
}

test("embed: a word has one vector, whatever invisible characters are in it", async () => {
    const vectors = await Promise.all(SAME_WORDS.map((word) => embed(word, 64)));
    for (const { x } of vectors) assert.deepEqual(x, vectors[0].x);
});

const data = Float32Array.from({ length: 24 }, (_, i) => i - 3.5);

test("readNpy: both orders, both widths, all ranks", async () => {
    for (const shape of [
        [4, 6],
        [2, 3, 4],
        [1, 2, 3, 4],
    ]) {
        assert.deepEqual(await readNpy(npyBytes(shape, data)), { data, shape });
        const doubles = npyBytes(shape, Float64Array.from(data), { descr: "<f8" });
        assert.deepEqual(await readNpy(doubles), { data, shape });
    }
    const columns = data.map((_, i) => data[(i % 4) * 6 + Math.floor(i / 4)]);
    const file = npyBytes([4, 6], columns, { fortran: true });
    assert.deepEqual(await readNpy(file), { data, shape: [4, 6] });
});

test("readNpy: bytes of every kind, as they are at the call", async () => {
    const bytes = npyBytes([4, 6], data);
    const { buffer, byteOffset, byteLength } = bytes;
    const own = buffer.slice(byteOffset, byteOffset + byteLength);
    for (const given of [own, new DataView(own), new Uint16Array(own)]) {
        assert.deepEqual(await readNpy(given), { data, shape: [4, 6] });
    }
    const shared = new Uint8Array(new SharedArrayBuffer(byteLength));
    shared.set(bytes);
    assert.deepEqual((await readNpy(shared)).data, data);
    const reading = readNpy(own);
    new Uint8Array(own).fill(0);
    assert.deepEqual((await reading).data, data);
});

/* Beside what decodeF16() knows, infinities and NaN. */
function anyF16(bits) {
    if ((bits & 0x7c00) < 0x7c00) return decodeF16(bits);
    return bits & 0x3ff ? NaN : bits & 0x8000 ? -Infinity : Infinity;
}

test("a .npy file of float16 gives the numbers it stands for, in both orders", async () => {
    const bits = Uint16Array.from({ length: 1 << 16 }, (_, i) => i);
    const transposed = bits.map((_, i) => bits[(i % 256) * 256 + (i >> 8)]);
    const expected = Array.from(bits, anyF16);
    const rows = npyBytes([256, 256], bits, { descr: "<f2" });
    const columns = npyBytes([256, 256], transposed, { descr: "<f2", fortran: true });
    for (const file of [rows, columns]) {
        const { data, shape } = await readNpy(file);
        assert.deepEqual(shape, [256, 256]);
        assert.deepEqual(Array.from(data), expected);
    }
});

const floats = (count) => new Float32Array(count);
const wrong = {
    "text that is none": [() => embed(5, 8), TypeError, /text must be a string/],
    "no dim": [() => embed("a"), TypeError, /dim/],
    "a dim of 1": [() => embed("a", 1), "SHAPE", /dim is 1/],
    "vectors past the address space": [
        () => embed("a b", 2 ** 40),
        "MEMORY",
        /bytes of the vectors/,
    ],
    "bytes that are none": [() => readNpy("x.npy"), TypeError, /bytes must be an ArrayBuffer/],
    "no .npy file": [() => readNpy(new Uint8Array(200)), "ARGUMENT", /the file/],
    "an empty .npy file": [() => readNpy(new ArrayBuffer(0)), "ARGUMENT", /the file/],
    "a truncated .npy file": [
        () => readNpy(npyBytes([4, 4], floats(15))),
        "ARGUMENT",
        /truncated.* 60 .* 64/,
    ],
    integers: [() => readNpy(npyBytes([2, 2], new Int32Array(4), { descr: "<i4" })), "DTYPE", /i4/],
    "two bytes without a type": [
        () => readNpy(npyBytes([2, 2], new Uint16Array(4), { descr: "|V2" })),
        "DTYPE",
        /V2.*bfloat16/,
    ],
    "a rank of 1": [() => readNpy(npyBytes([4], floats(4))), "SHAPE", /1/],
    "a rank of 5": [() => readNpy(npyBytes([1, 1, 1, 2, 2], floats(4))), "SHAPE", /5/],
};
for (const [what, [call, kind, message]] of Object.entries(wrong)) {
    test(`refused: ${what}`, async () => {
        const error = await call().then(assert.fail, (refused) => refused);
        assert.match(error.message, message);
        if (typeof kind === "function") return assert.equal(error.constructor, kind);
        assert.ok(error instanceof AttnError);
        assert.equal(error.code, `ATTN_ERROR_${kind}`);
    });
}

test("texts and files leave no memory behind", async () => {
    const url = new URL("../../dist/libattn.data.wasm", import.meta.url);
    const { instance } = await WebAssembly.instantiate(await readFile(url));
    const c = instance.exports;
    c._initialize();
    const session = c.attnjs_open();
    const file = npyBytes([24, 1], data, { fortran: true });
    const size = c.memory.buffer.byteLength;
    for (let i = 0; i < 50_000; i++) {
        const at = c.attnjs_allocate(file.length);
        const room = c.attnjs_allocate(1024);
        new Uint8Array(c.memory.buffer, at, file.length).set(file);
        c.attnjs_free(c.attnjs_tokens(session, at, 32));
        c.attnjs_embed(session, at, 8, 4, room, 256);
        assert.notEqual(c.attnjs_embed(session, at, 32, 8, room, 1), 0); // there is no room
        c.attnjs_free(c.attnjs_read_npy(session, at, file.length));
        c.attnjs_free(at);
        c.attnjs_free(room);
    }
    c.attnjs_close(session);
    assert.equal(c.memory.buffer.byteLength, size);
});
