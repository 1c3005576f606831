/* Softmax by whole numbers, and methods of sketch that factorise [Q; K]: modules compute what the addon does. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { libraries, numbers } from "../support.mjs";

const native = libraries.get("native");

/** Standard normal numbers: Box and Muller. */
function normals(count, seed) {
    const next = numbers(seed);
    const uniform = () => (next() + 1) / 2;
    return Float32Array.from({ length: count }, () => {
        const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
        return radius * Math.cos(2 * Math.PI * uniform());
    });
}

const sizes = { heads: 2, queries: 200, dim: 64 };
const count = sizes.heads * sizes.queries * sizes.dim;
const [query, key, value] = [1, 2, 3].map((seed) => normals(count, seed));

/** Root mean square of a - b over that of b. */
function distance(a, b) {
    let [difference, size] = [0, 0];
    b.forEach((x, i) => ((difference += (a[i] - x) ** 2), (size += x * x)));
    return Math.sqrt(difference / size);
}

for (const [name, attn] of libraries) {
    describe(`softmax by whole numbers, ${name}`, () => {
        const run = (precision, given = {}) => {
            const plan = attn.plan({ ...sizes, params: { precision } });
            const { out } = plan.run({ query, key, value, ...given });
            const { kernel } = plan;
            plan.dispose();
            return { out, kernel };
        };

        // What plugins/softmax/README.md promises of standard normal input; below the half of float's own rounding
        // of a product of dim numbers, floats would have been multiplied.
        for (const [precision, most] of [
            ["int16", 1e-3],
            ["int8", 2e-2],
        ]) {
            test(`${precision} is as near as promised, and no nearer than integers are`, () => {
                const { out, kernel } = run(precision);
                const error = distance(out, run("f32").out);
                assert.match(kernel, new RegExp(precision));
                assert.ok(error < most, `${error}`);
                assert.ok(error > most / 100, `${error}`);
            });
        }

        test("a NaN in one value stays in its column and head", () => {
            const bad = value.slice();
            bad[5] = NaN;
            const { out } = run("int8", { value: bad });
            out.forEach((x, i) => {
                const isHit = i < count / sizes.heads && i % sizes.dim === 5;
                assert.equal(Number.isNaN(x), isHit, `${i}`);
            });
        });

        test("an unknown precision is refused with those that there are", () => {
            assert.throws(() => run("int4"), /precision.*int4.*f32.*int16.*int8/);
        });
    });

    describe(`sketch by factors of [Q; K], ${name}`, () => {
        for (const method of ["deterministic", "approximate"]) {
            test(`${method} keeps the features that the addon keeps`, () => {
                const wide = { heads: 1, queries: 6, dim: 512 };
                const x = normals(wide.queries * wide.dim, 4).map((a) => a / 16);
                const v = normals(wide.queries * wide.dim, 5);
                const params = { method, size: 96, seed: 7 };
                const [here, there] = [attn, native].map((library) => {
                    const plan = library.plan({ backend: "sketch", ...wide, params });
                    return plan.run({ query: x, key: x, value: v }).out;
                });
                // Other features would give other logits; of the same both builds round sums of 96 products, whose
                // terms are, by Cauchy and Schwarz, at most |y_i| |y_j| scale, |y|^2 at most twice |x|^2 here. A
                // weight is off by twice a logit's error, relatively, and there are as many as queries.
                const square = Math.max(
                    ...[...Array(wide.queries).keys()].map((i) =>
                        x.subarray(i * wide.dim, (i + 1) * wide.dim).reduce((s, a) => s + a * a, 0),
                    ),
                );
                const logit = (96 + 4) * 2 ** -24 * 2 * square;
                const most = v.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
                const allowed = 2 * (2 * logit + (wide.queries + 8) * 2 ** -24) * most;
                here.forEach((a, i) => assert.ok(Math.abs(a - there[i]) <= allowed, `${i}`));
                assert.ok(allowed < 1e-3, `${allowed}: no test`);
            });
        }
    });
}
