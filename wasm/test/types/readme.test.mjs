/* What REFERENCE.md and docs/errors.md say is so: the reference is the types', codes and limits are all there. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { references } from "../../reference.mjs";
import { libraries } from "../support.mjs";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const errors = read("../../docs/errors.md");

test("REFERENCE.md is made of the types as they are: node reference.mjs", () => {
    for (const [file, text] of references())
        assert.ok(
            readFileSync(file, "utf8") === text,
            `${file.pathname} is stale: run node reference.mjs`,
        );
});

test("the table of errors has each code once", () => {
    const codes = (text) => [...text.matchAll(/ATTN_ERROR_\w+/g)].map(([code]) => code).sort();
    const table = [...errors.matchAll(/^\| `(ATTN_ERROR_\w+)`/gm)].map(([, code]) => code);
    const [, type] = read("../../js/index.d.ts").match(/type AttnErrorCode =(.*?);\n/s);
    assert.deepEqual(table.sort(), codes(type));
});

const rows = [...errors.matchAll(/^\| (softmax|linear|sparse|sketch) \| (\d+) \|/gm)];
test("the limits are what plans accept", () => {
    const attn = libraries.get("simd");
    const make = (options) => attn.plan({ dim: 64, ...options }).dispose();
    assert.equal(rows.length, 4);
    for (const [, backend, keys] of rows) {
        make({ backend, queries: Number(keys), keys: Number(keys) });
        const more = { backend, queries: Number(keys) + 1 };
        assert.throws(() => make(more), /would not fit in memory/, backend);
    }
    const [, one] = errors.match(/One query has (\d+) keys at most/);
    for (const [, backend] of rows) {
        make({ backend, queries: 1, keys: Number(one) });
        assert.throws(
            () => make({ backend, queries: 1, keys: Number(one) + 1 }),
            /not fit/,
            backend,
        );
    }
    const [, most] = errors.match(/8 key\/value heads has\s+(\d+)/);
    make({ heads: 8, queries: 1, keys: Number(most) });
    assert.throws(() => make({ heads: 8, queries: 1, keys: Number(most) + 1 }), /not fit/);
});
