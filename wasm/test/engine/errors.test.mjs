/* An AttnError is one to every entry of the package, whichever of their files made it. */
import assert from "node:assert/strict";
import { test } from "node:test";

const files = [
    "node.js",
    "index.js",
    "inline.js",
    "softmax-node.js",
    "softmax.js",
    "worker-node.js",
];
const modules = await Promise.all(files.map((file) => import(`../../dist/${file}`)));
const classes = modules.map(({ AttnError }) => AttnError);

for (const [i, Maker] of classes.entries()) {
    test(`an AttnError of ${files[i]} is one of all the others`, () => {
        const error = new Maker("ATTN_ERROR_SHAPE", "text");
        for (const [j, Reader] of classes.entries()) assert.ok(error instanceof Reader, files[j]);
    });
}

test("nothing else is an AttnError, and no AttnError is of a class that extends it", () => {
    const [AttnError, Other] = [classes[0], classes[2]];
    assert.notEqual(AttnError, Other);
    for (const value of [new TypeError("x"), { code: "ATTN_ERROR_SHAPE" }, null, undefined, 5, "x"])
        assert.ok(!(value instanceof AttnError), String(value));
    class Special extends AttnError {}
    const special = new Special("ATTN_ERROR_SHAPE", "text");
    assert.ok(special instanceof Special && special instanceof Other);
    assert.ok(!(new Other("ATTN_ERROR_SHAPE", "text") instanceof Special));
});
