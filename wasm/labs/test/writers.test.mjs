/* libattn-labs/models: models of text: what they write is what the command writes, and what they refuse. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { AttnError, loadModel, loadWriter, writers } from "libattn-labs/models";

const folder = new URL("../../../bench/labs/models/", import.meta.url);
const refused = (code, message) => (error) => {
    assert.ok(error instanceof AttnError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
};
const greedy = { temperature: 0 };

/* What `attn lab write "And the LORD said" --temperature 0 --tokens 30` writes: tests/cli/lab_written.test.mjs. */
const written = new Map(
    [
        ...(
            await readFile(
                new URL("../../../tests/cli/lab_written.test.mjs", import.meta.url),
                "utf8",
            )
        ).matchAll(/^ {8}(linear|softmax|sparse):\s+"(.*)",$/gm),
    ].map(([, attention, text]) => [attention, text]),
);

for (const attention of ["linear", "softmax", "sparse"])
    test(`${attention}: greedy words are the command's`, async () => {
        const writer = await loadWriter(attention);
        const { task, size, layers, heads, dim, vocabulary, bits } = writer.about;
        assert.deepEqual(
            { task, size, layers, heads, dim, vocabulary },
            { task: "text", size: 256, layers: 4, heads: 4, dim: 32, vocabulary: 512 },
        );
        assert.equal(writer.about.attention, attention);
        assert.ok(bits > 1 && bits < 2);
        const words = [...writer.write("And the LORD said", { ...greedy, tokens: 30 })];
        assert.equal(words.length, 30);
        assert.equal(words.join(""), written.get(attention));
        writer.dispose();
    });

test("the package has all models of text", () =>
    assert.deepEqual(writers, ["linear", "softmax", "sparse"]));

test("a seed decides, and a text begins anew", async () => {
    const writer = await loadWriter(await readFile(new URL("text-softmax.model", folder)));
    const write = (options) => [...writer.write("Call me", { tokens: 20, ...options })].join("");
    const text = write();
    assert.equal(write(), text);
    assert.equal(write({ temperature: 0.8, topP: 0.95, seed: 1 }), text);
    assert.notEqual(write({ seed: 2 }), text);
    writer.begin("Call me");
    const steps = Array.from({ length: 20 }, () => writer.next());
    assert.equal(steps.map((step) => step.text).join(""), text);
    writer.dispose();
});

test("it says which tokens it knows, and their heads are its own", async () => {
    const writer = await loadWriter("softmax");
    const short = writer.begin("In the beginning");
    assert.equal(short.tokens.join(""), "In the beginning");
    assert.equal(short.count, short.tokens.length);
    const { query, key, value, shape } = writer.heads();
    assert.deepEqual(shape, [4, 4, short.count, 32]);
    for (const part of [query, key, value]) assert.equal(part.length, 16 * short.count * 32);

    writer.next(greedy);
    assert.deepEqual(writer.heads().query, query);

    const long = writer.begin("And it came to pass. ".repeat(60));
    assert.ok(long.count > 256 && long.tokens.length <= 256 && long.tokens.length > 128);
    assert.ok("And it came to pass. ".repeat(60).endsWith(long.tokens.join("")));
    assert.ok(writer.next(greedy).token.length > 0);
    writer.dispose();
});

test("any text, and letters of several tokens", async () => {
    const writer = await loadWriter("softmax");
    for (const text of ["", " ", "äöü", "雪", "\u{1f409}", "a\0b", "\ud800"]) {
        const { count, tokens } = writer.begin(text);
        assert.equal(count, tokens.length);
        assert.ok(typeof writer.next().text === "string");
    }
    assert.deepEqual(writer.begin("é").tokens, ["\\xc3", "\\xa9"]);
    writer.dispose();
});

test("what is refused, in so many words", async () => {
    const writer = await loadWriter("softmax");
    assert.throws(() => writer.next(), refused("ATTN_ERROR_ARGUMENT", /not begun a text/));
    assert.throws(() => writer.heads(), refused("ATTN_ERROR_ARGUMENT", /not said anything/));
    assert.throws(() => writer.begin(7), TypeError);
    writer.begin("A");
    const range = (message) => refused("ATTN_ERROR_RANGE", message);
    assert.throws(() => writer.next({ temperature: -1 }), range(/a temperature of -1/));
    assert.throws(() => writer.next({ topP: 0 }), range(/top-p of 0/));
    assert.throws(() => writer.next({ seed: -1 }), range(/seed/));
    assert.throws(() => writer.next({ temperature: Number.NaN }), TypeError);
    assert.throws(() => writer.next({ heat: 1 }), TypeError);
    assert.throws(() => [...writer.write("A", { tokens: 0 })], range(/tokens/));
    writer.dispose();
    writer.dispose();
    assert.throws(() => writer.begin("A"), refused("ATTN_ERROR_DISPOSED", /model/));
    assert.throws(() => writer.next(), refused("ATTN_ERROR_DISPOSED", /model/));

    const bytes = await readFile(new URL("text-softmax.model", folder));
    const other = Buffer.from(bytes);
    other.write("2", "attn model ".length);
    const argument = (message) => refused("ATTN_ERROR_ARGUMENT", message);
    await assert.rejects(loadWriter(other), argument(/version '2', expected '1'/));
    await assert.rejects(loadWriter(bytes.subarray(0, 5000)), argument(/truncated/));
    await assert.rejects(loadWriter("large"), refused("ATTN_ERROR_NOT_FOUND", /linear, softmax/));
    const lis = await readFile(new URL("lis-softmax.model", folder));
    await assert.rejects(loadWriter(lis), argument(/a model of lis, not of text/));
    const model = await loadModel(bytes);
    assert.throws(() => model.solve("Who?"), argument(/answers no questions/));
    model.dispose();
});
