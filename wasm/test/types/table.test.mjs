/* js/problem/table.js is what core/include/attn/arrays.h declares, and js/*.d.ts have every array in it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import ts from "typescript";
import { ARRAYS, OWN } from "../../js/problem/declared.js";
import { table } from "../../table.mjs";
import { libraries } from "../support.mjs";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const backends = libraries.get("native").backends();
const softmax = backends.find(({ id }) => id === "softmax");

test("js/problem/table.js is current: `node table.mjs` writes it", () => {
    assert.equal(read("../../js/problem/table.js"), table());
});

test("it says what the library says of its arrays, in the order of their numbers", () => {
    const said = softmax.arrays.filter(({ own }) => !own);
    for (const [number, array] of said.entries())
        assert.deepEqual(
            { ...ARRAYS[number], own: false, replaces: [], help: array.help },
            { ...array, number },
        );
    assert.equal(OWN, said.length);
});

/* ---- types ------------------------------------------------------------------------------------- */

const files = ["arrays", "plan", "index"].map((name) =>
    ts.createSourceFile(name, read(`../../js/${name}.d.ts`), ts.ScriptTarget.Latest, true),
);
const statements = files.flatMap((file) => [...file.statements]);

/** The members of an interface: { isOptional, type, documented } by name. */
function membersOf(name) {
    const { members } = statements.find((node) => node.name?.text === name && node.members);
    return new Map(
        members.map((member) => [
            member.name.getText(),
            {
                isOptional: member.questionToken !== undefined,
                type: member.type.getText(),
                documented: ts.getJSDocCommentsAndTags(member).length > 0,
            },
        ]),
    );
}

/* How each element type is written, of what is read. */
const TYPES = {
    query: /^Elements<D>$/,
    key: /^Elements<K>$/,
    f32: /^Floats \|/,
    bool: /^MaskArray \| Shaped<MaskArray> \|/,
    i64: /^IntegerArray \| Shaped<IntegerArray> \|/,
};

/* Of outputs a type parameter tells which of them a call gets; those of lse and scores are asked for by Asking. */
const OUTPUTS = { out: /^Out \|/, lse: /^Lse \|/, scores: /^Scores \|/ };

test("every array is an option, of its type, and may be left out where it may be", () => {
    const [run, inputs, out] = ["RunOptions", "InputArrays", "RunArrays"].map(membersOf);
    for (const { name, role, presence, dtype } of ARRAYS) {
        const member = (
            name === "out" ? out : presence === "required" || role === "output" ? run : inputs
        ).get(name);
        assert.ok(member?.documented, name);
        assert.equal(member.isOptional, presence !== "required" || role === "output", name);
        if (role === "input") assert.match(member.type, TYPES[dtype], name);
        else assert.match(member.type, OUTPUTS[name], name);
    }
});

test("the names of inputs, and the results, are those that are declared", () => {
    const named = ARRAYS.filter(({ presence }) => presence === "named");
    const { type } = statements.find((node) => node.name?.text === "InputName");
    const names = named.map(({ name }) => `"${name}"`).join(" | ");
    assert.equal(type.getText().replace(/\s+/g, " "), `${names} | keyof OwnInputs`);
    const asking = statements.find((node) => node.name?.text === "Asking");
    assert.match(asking.type.getText(), /^boolean \| Floats$/);
    const outputs = ARRAYS.filter(({ role }) => role === "output").map(({ name }) => name);
    assert.deepEqual([...membersOf("RunResult").keys()], [...outputs, "degenerateRows"]);
});

test("the built-in backends' own arrays are among the types", () => {
    const own = backends.flatMap(({ arrays }) => arrays.filter((array) => array.own));
    for (const [role, name] of [
        ["input", "OwnInputs"],
        ["output", "OwnOutputs"],
    ]) {
        const declared = own.filter((array) => array.role === role).map((array) => array.name);
        assert.deepEqual([...membersOf(name).keys()], declared);
    }
});

test("softmax has none of its own: sessions do not ask", () => {
    const { arrays } = backends.find(({ id }) => id === "softmax");
    assert.deepEqual(
        arrays.filter((array) => array.own),
        [],
    );
});
