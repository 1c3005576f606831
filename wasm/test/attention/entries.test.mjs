/* Every way to attention asks of arrays what a plan of the same options asks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AttnError } from "libattn";
import { init as initInline } from "libattn/inline";
import { init as initSoftmax } from "libattn/softmax";
import { init as initWorker } from "libattn/worker";
import { libraries } from "../support.mjs";

const [queries, keys, dim] = [3, 5, 8];
const sizes = { queries, keys, dim };
const rows = (count) => Float32Array.from({ length: count * dim }, (_, i) => Math.sin(i));
const right = { query: rows(queries), key: rows(keys), value: rows(keys) };

/* What is wrong, by the number of rows. Twice as many are heads, or columns, that nobody spoke of. */
const MISTAKES = {
    "twice as many queries": { query: rows(2 * queries) },
    "one query more": { query: rows(queries + 1) },
    "twice as many keys": { key: rows(2 * keys) },
    "twice as many values": { value: rows(2 * keys) },
    "half a value too much": { value: rows(keys + 2.5) },
    "one value less": { value: rows(keys - 1) },
    "twice as many keys and values": { key: rows(2 * keys), value: rows(2 * keys) },
    "twice as many of all": {
        query: rows(2 * queries),
        key: rows(2 * keys),
        value: rows(2 * keys),
    },
};

/* Each gives something for the right arrays. */
const ENTRIES = {
    "attention(query, key, value)": (attn, { query, key, value, ...more }) =>
        attn.attention(query, key, value, { ...sizes, ...more }),
    "attention({ query, key, value })": (attn, arrays) => attn.attention({ ...sizes, ...arrays }),
    "plan.run()": async (attn, arrays) => (await attn.plan(sizes)).run(arrays),
};
const BESIDE = {
    "attentionAsync()": (attn, arrays) => attn.attentionAsync({ ...sizes, ...arrays }),
    "plan.runAsync()": (attn, arrays) => attn.plan(sizes).runAsync(arrays),
};
const JUDGING = {
    "plan.error()": async (attn, arrays) =>
        (await attn.plan(sizes)).error({ ...arrays, out: rows(queries) }),
};
const GRADIENTS = {
    "gradients()": (attn, arrays) =>
        attn.gradients({ ...sizes, ...arrays, outGradient: rows(queries) }),
    "plan.gradients()": async (attn, arrays) =>
        (await attn.plan({ ...sizes, gradients: true })).gradients({
            ...arrays,
            outGradient: rows(queries),
        }),
};

const WHOLE = { ...ENTRIES, ...BESIDE, ...JUDGING, ...GRADIENTS };

const LIBRARIES = [];
for (const [name, attn] of libraries) LIBRARIES.push([name, attn, WHOLE]);
LIBRARIES.push(["inline", await initInline(), WHOLE]);
LIBRARIES.push(["softmax", await initSoftmax(), ENTRIES]);
const workers = [["worker", await initWorker(), { ...ENTRIES, ...JUDGING, ...GRADIENTS }]];

const call = async (entry, attn, arrays) => entry(attn, arrays);

async function assertRefused(promise, names) {
    await assert.rejects(promise, (error) => {
        assert.ok(error instanceof AttnError, `${error.stack}`);
        assert.equal(error.code, "ATTN_ERROR_SHAPE");
        assert.match(error.message, new RegExp(`^(${names.join("|")}) has \\d+ elements, `));
        return true;
    });
}

for (const [name, attn, entries] of [...LIBRARIES, ...workers]) {
    describe(`libattn's ${name}`, () => {
        for (const [what, entry] of Object.entries(entries)) {
            test(`${what} refuses what a plan refuses`, async () => {
                await call(entry, attn, right);
                for (const mistake of Object.values(MISTAKES)) {
                    await assertRefused(
                        call(entry, attn, { ...right, ...mistake }),
                        Object.keys(mistake),
                    );
                }
            });
        }
    });
}

for (const [name, attn] of [...LIBRARIES, ...workers].filter(([, { stream }]) => stream)) {
    test(`libattn's ${name}: a stream takes as many values as keys, and queries of its heads`, async () => {
        const stream = await attn.stream({ dim, heads: 2, maxKeys: 64 });
        await stream.append(rows(2 * keys), rows(2 * keys));
        for (const [key, value] of [
            [rows(2 * keys), rows(4 * keys)],
            [rows(4 * keys), rows(2 * keys)],
            [rows(3), rows(3)],
        ]) {
            await assertRefused((async () => stream.append(key, value))(), ["key", "value"]);
        }
        await assertRefused((async () => stream.query(rows(3)))(), ["query"]);
        assert.equal(stream.length, keys);
        stream.dispose();
    });
}

test("weights() reads queries and keys of the plan's sizes alone", async () => {
    for (const [, attn] of [...LIBRARIES.filter(([name]) => name !== "softmax"), ...workers]) {
        const plan = await attn.plan(sizes);
        const { query, key } = right;
        await plan.weights({ query, key });
        for (const [name, mistake] of [
            ["query", { query: rows(2 * queries) }],
            ["key", { key: rows(2 * keys) }],
        ]) {
            await assertRefused((async () => plan.weights({ query, key, ...mistake }))(), [name]);
        }
        plan.dispose();
    }
});

test("without strides or shapes, heads and columns are those of a plan, and the rest follows", () => {
    const [attn] = libraries.values();
    const { query, key, value } = right;
    const expected = attn.attention(query, key, value, sizes);
    for (const known of [{ dim }, { queries }, { keys }, { queries, dim }, { keys, dim }]) {
        assert.deepEqual(attn.attention(query, key, value, known), expected);
    }
    // Said by name or by a shape, columns and heads are what one wants.
    const wide = rows(2 * keys);
    const shaped = { data: wide, shape: [keys, 2 * dim] };
    const said = attn.attention(query, key, wide, { ...sizes, valueDim: 2 * dim });
    assert.equal(said.length, 2 * queries * dim);
    assert.deepEqual(attn.attention(query, key, shaped, sizes), said);
});

test("the workers end", () => {
    for (const [, attn] of workers) attn.dispose();
});
