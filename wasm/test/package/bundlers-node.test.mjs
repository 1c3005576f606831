/*
 * The package in programs for Node that webpack, Rollup and esbuild make of them: what they leave behind
 * is either found or named by an error that says what to do.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { build as esbuild } from "esbuild";
import { packAll } from "../../native/package.mjs";
import { openWorkshop, runWebpack } from "./bundled.mjs";
import { nodeResolve, rollup } from "./bundlers/index.mjs";
import { outputOf } from "./projects.mjs";

let root, projectOf, close;
before(async () => {
    ({ root, projectOf, close } = await openWorkshop("bundlers-node"));
});
after(() => close());

/* Softmax of equal values is that value. */
const ALL = `
    import { init } from "libattn";
    import { init as initSoftmax } from "libattn/softmax";
    import { init as initWorker } from "libattn/worker";
    import { init as initNative } from "libattn/native";
    import { lab } from "libattn-labs";

    const starts = {
        main: () => init(),
        softmax: () => initSoftmax(),
        threads: () => init({ threads: 2 }),
        worker: () => initWorker(),
        native: () => initNative({ fallback: false }),
    };
    async function main() {
        const x = new Float32Array(64).fill(2);
        for (const [name, start] of Object.entries(starts)) {
            try {
                const attn = await start();
                console.log(name, (await attn.attention(x, x, x, { heads: 4, dim: 16 }))[0]);
                attn.dispose();
            } catch ({ name: kind, code, message }) {
                console.log(name, kind, code, message);
            }
        }
        try {
            const { rows } = await lab("separation", { trials: 3 }, { panel: "7b", xs: [9], workers: 2 });
            console.log("labs", rows[0][0]);
        } catch ({ name: kind, code, message }) {
            console.log("labs", kind, code, message);
        }
    }
    main();`;
const NAMES = ["main", "softmax", "threads", "worker", "native", "labs"];
const SEEN = [...NAMES.slice(0, -1).map((name) => `${name} 2`), "labs 9", ""];
const NATIVE = ["native"];

/** Whatever is not there is an AttnError that names the file and the ways out. */
function assertToldWhatToDo(output, names) {
    const lines = output.split("\n");
    for (const name of names) {
        const line = lines.find((text) => text.startsWith(`${name} `));
        assert.match(line ?? output, /^\w+ AttnError ATTN_ERROR_LOAD /);
        assert.match(line, /libattn\.[\w-]+\.wasm|served-node\.js/);
        assert.match(
            line,
            /\(if bundled, make libattn external or (import libattn\/inline|pass the module)/,
        );
    }
}

for (const mode of ["production", "development"]) {
    for (const format of ["commonjs", "module"]) {
        test(`webpack for Node, ${mode}, ${format}: all of it`, async () => {
            const project = projectOf(`webpack-${mode}-${format}`, { "main.js": ALL }, ...others());
            const filename = format === "module" ? "main.mjs" : "main.cjs";
            await runWebpack({
                ...{ context: project, mode, target: "node" },
                output: { path: join(project, "site"), filename, module: format === "module" },
                experiments: { outputModule: format === "module" },
            });
            const output = outputOf(project, `site/${filename}`);
            assert.deepEqual(output.split("\n"), SEEN);
        });
    }
}

test("Rollup for Node says what to do", async () => {
    const project = projectOf("rollup", { "main.js": ALL }, ...others());
    const bundle = await rollup({
        input: join(project, "main.js"),
        external: /^node:/,
        plugins: [nodeResolve({ exportConditions: ["node"] })],
    });
    await bundle.write({ dir: join(project, "site"), format: "es" });
    await bundle.close();
    const output = outputOf(project, "site/main.js");
    assert.match(output, /^native 2$/m);
    assertToldWhatToDo(
        output,
        NAMES.filter((name) => !NATIVE.includes(name)),
    );
});

for (const format of ["esm", "cjs"]) {
    test(`esbuild for Node says what to do: ${format}`, async () => {
        const project = projectOf(`esbuild-${format}`, { "main.js": ALL }, ...others());
        const outfile = `site/main.${format === "esm" ? "mjs" : "cjs"}`;
        await esbuild({
            ...{ absWorkingDir: project, entryPoints: ["main.js"], outfile, format },
            ...{ bundle: true, platform: "node", logLevel: "silent" },
        });
        const output = outputOf(project, outfile);
        if (format === "esm") assert.match(output, /^native 2$/m);
        assertToldWhatToDo(
            output,
            NAMES.filter((name) => !NATIVE.includes(name)),
        );
    });
}

let packed;

/** The tarballs of the addon and of libattn-labs. */
function others() {
    packed ??= packAll(join(root, "tarballs"));
    return packed.slice(1);
}
