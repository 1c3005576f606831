/* libattn-labs/models: what trained models say, what their heads are by the formulas, and files that are none. */
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";
import { init } from "libattn";
import { AttnError, loadModel, models } from "libattn-labs/models";
import { decodeF16 } from "../../test/support.mjs";

const folder = new URL("../../../bench/labs/models/", import.meta.url);
const bytesOf = (name) => readFile(new URL(name, folder));
const names = (await readdir(folder)).filter((name) => /^(?!text-).*\.model$/.test(name));
const questions = {
    lis: "17 80 23 45 120 31",
    ed: "ab ac",
    ed_local: "ab ac",
    arithmetic: "3 + 4 * 2",
};
const refused = (code, message) => (error) => {
    assert.ok(error instanceof AttnError);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
};

test("a model says how it comes to its answer", async () => {
    const model = await loadModel(await bytesOf("arithmetic-softmax.model"));
    const { task, size, modulus, attention, params, layers, heads, tests, answers } = model.about;
    assert.deepEqual(
        { task, size, modulus, attention, params, layers, heads },
        {
            ...{ task: "arithmetic", size: 2, modulus: 5 },
            attention: "softmax",
            params: {},
            layers: 3,
            heads: 4,
        },
    );
    assert.ok(answers > 0.9 * tests && model.about.command.startsWith("attn lab train arithmetic"));
    const said = model.solve("(3 + 4) * 2");
    const line = "( 3 + 4 ) * 2 = 2 * 2 = 4 <eos>";
    assert.equal(said.tokens.join(" "), line);
    assert.deepEqual(said.expected, said.tokens);
    assert.deepEqual([said.question, said.answer, said.right], [8, "4", true]);
    assert.equal(said.unlike, "");
    assert.equal(model.solve("3 + 4").unlike, "expressions of exactly 2 operators");
    assert.throws(() => model.solve("3 +"), refused("ATTN_ERROR_ARGUMENT", /a number is missing/));
    assert.throws(() => model.solve("3 + 7"), refused("ATTN_ERROR_RANGE", /7 is outside/));
    assert.throws(() => model.solve(12), TypeError);
    assert.equal(model.solve("(3 + 4) * 2").tokens.join(" "), line);
    model.dispose();
    model.dispose();
    assert.throws(() => model.solve("3 + 4 * 2"), refused("ATTN_ERROR_DISPOSED", /model/));
});

test("the package has all models, by their names, as they are", async () => {
    assert.deepEqual(
        models,
        names.map((name) => name.replace(/\.model$/, "")),
    );
    for (const name of models) {
        const model = await loadModel(name);
        const { task, attention, command } = model.about;
        assert.equal(`${task}-${attention}`, name);
        const own = await loadModel(await bytesOf(`${name}.model`));
        const question = questions[task];
        assert.equal(own.about.command, command);
        assert.deepEqual(model.solve(question), own.solve(question));
        for (const each of [model, own]) each.dispose();
    }
});

for (const name of names) {
    test(`${name}: its state grows by keys and values, linear's no further`, async () => {
        const model = await loadModel(await bytesOf(name));
        const { tokens, state } = model.solve(questions[model.about.task]);
        const { task, attention, layers, heads, dim } = model.about;
        const token = 2 * layers * heads * dim * 4;
        assert.equal(state.length, tokens.length - 1, task);
        assert.ok(state[0] >= token);
        const grown = state.slice(1).map((bytes, i) => bytes - state[i]);
        const falls = grown.filter((more) => more !== token);
        assert.equal(falls.length, attention === "linear" && tokens.length > 13 ? 1 : 0);
        assert.ok(falls.every((more) => more < 0));
        model.dispose();
    });

    test(`${name}: its heads are what its own weights make of the tokens`, async () => {
        const bytes = await bytesOf(name);
        const model = await loadModel(bytes);
        const said = model.solve(questions[model.about.task]);
        const { layers, heads, dim } = model.about;
        assert.deepEqual(said.shape, [layers, heads, said.tokens.length - 1, dim]);
        const expected = firstLayer(
            bytes,
            model.about,
            idsOf(model.about, said.tokens.slice(0, -1)),
        );
        for (const part of ["query", "key", "value"]) {
            assert.equal(
                said[part].length,
                said.shape.reduce((a, b) => a * b),
            );
            expected[part].forEach(({ sum, terms }, i) => {
                // f32: as many additions as columns, and the roundings of two norms
                const tolerance = (model.about.width + 40) * 2 ** -24 * terms;
                const off = Math.abs(said[part][i] - sum);
                assert.ok(off <= tolerance, `${part}[${i}] is off by ${off}, above ${tolerance}`);
            });
        }
        model.dispose();
    });
}

test("its heads are arguments of attention as they are", async () => {
    const model = await loadModel(await bytesOf("lis-softmax.model"));
    const { query, key, value, shape } = model.solve("31 90 44 17 120 58 63 135 20 99");
    const attn = await init();
    const given = [query, key, value].map((data) => ({ data, shape }));
    const out = attn.attention(...given, { causal: true });
    assert.equal(out.length, query.length);
    assert.ok(out.every(Number.isFinite));
    assert.deepEqual(out.slice(0, shape[3]), value.slice(0, shape[3])); // the first token sees itself
    model.dispose();
});

test("a file that is no model, or half of one, is refused; bytes are read at the call", async () => {
    const bytes = new Uint8Array(await bytesOf("arithmetic-softmax.model"));
    const damaged = bytes.with(bytes.length - 100, bytes.at(-100) ^ 1);
    await assert.rejects(loadModel(damaged), refused("ATTN_ERROR_ARGUMENT", /damaged/));
    const half = bytes.slice(0, 5000);
    await assert.rejects(loadModel(half), refused("ATTN_ERROR_ARGUMENT", /truncated/));
    await assert.rejects(
        loadModel(half.slice(5)),
        refused("ATTN_ERROR_ARGUMENT", /no file of a model/),
    );
    await assert.rejects(
        loadModel(new ArrayBuffer(0)),
        refused("ATTN_ERROR_ARGUMENT", /no file of/),
    );
    await assert.rejects(loadModel(7), {
        name: "TypeError",
        message: "a model that is not named must be an ArrayBuffer or a view of one, not 7",
    });
    await assert.rejects(loadModel("a.model"), refused("ATTN_ERROR_NOT_FOUND", /lis-softmax/));
    await assert.rejects(loadModel("toString"), refused("ATTN_ERROR_NOT_FOUND", /toString/));
    const loading = loadModel(bytes);
    bytes.fill(0);
    assert.ok((await loading).solve("1 + 1 + 1").right);
});

/* ---- the first layer, from its formulas in double precision ---------------------------------------- */

/** The numbers of tokens: <pad> <sep> <eos>, the task's own, and last the numbers. */
function idsOf({ task, vocabulary }, tokens) {
    const letters = [..."abcdefghijklmnopqrstuvwxyz"];
    const own = { lis: [], arithmetic: [..."+-*/()="] }[task] ?? ["|", ",", ...letters];
    const words = ["<pad>", "<sep>", "<eos>", ...own];
    const ids = tokens.map((token) =>
        words.includes(token) ? words.indexOf(token) : words.length + Number(token),
    );
    assert.ok(ids.every((id) => id >= 0 && id < vocabulary));
    return ids;
}

/** q, k and v of norm(norm(embedding + position)) W + b, heads x tokens x dim. */
function firstLayer(bytes, { vocabulary, width, layers, heads, dim }, ids) {
    const at = bytes.indexOf("\n\n") + 2;
    const weight = (i) => decodeF16(bytes.readUInt16LE(at + 2 * i));
    const inner = heads * dim;
    const block = width * 3 * inner + inner * width + 8 * width * width;
    const qkv = vocabulary * width;
    const first = qkv + layers * block + width * vocabulary; // behind all matrices
    const bias = first + 6 * width; // behind three norms
    const norm = (x, scale) => {
        const mean = x.reduce((a, b) => a + b) / width;
        const variance = x.reduce((sum, v) => sum + (v - mean) ** 2, 0) / width;
        return x.map(
            (v, c) =>
                ((v - mean) / Math.sqrt(variance + 1e-5)) * weight(scale + c) +
                weight(scale + width + c),
        );
    };
    const rows = ids.map((id, p) => {
        const sum = Array.from({ length: width }, (_, c) => {
            const angle = p * 10000 ** (-(c - (c % 2)) / width);
            return weight(id * width + c) + (c % 2 ? Math.cos(angle) : Math.sin(angle));
        });
        const x = norm(norm(sum, first), first + 2 * width);
        return Array.from({ length: 3 * inner }, (_, j) => {
            const own = weight(bias + j);
            const columns = x.map((v, c) => [v, weight(qkv + c * 3 * inner + j)]);
            return {
                sum: columns.reduce((dot, [v, w]) => dot + v * w, own),
                terms: columns.reduce(
                    (size, [v, w]) => size + Math.max(1, Math.abs(v)) * Math.abs(w),
                    Math.abs(own),
                ),
            };
        });
    });
    const part = (which) =>
        Array.from({ length: heads }, (_, h) =>
            rows.map((row) => row.slice(which * inner + h * dim).slice(0, dim)),
        ).flat(2);
    return { query: part(0), key: part(1), value: part(2) };
}
