/*
 * The package where there are no ES modules: require() in Node, Jest's way of running files, and TypeScript that makes
 * CommonJS, by the resolution that it has now and the one that it had before there were "exports".
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeProject, outputOf, pack, packageFolder } from "./projects.mjs";

const project = mkdtempSync(join(tmpdir(), "libattn-"));
after(() => rmSync(project, { recursive: true }));
makeProject(project, pack(project).tarball);
writeFileSync(join(project, "package.json"), '{ "private": true, "type": "commonjs" }');

const { exports } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
const entries = Object.entries(exports).flatMap(([name, conditions]) =>
    typeof conditions === "string" ? [] : [name.replace(".", "libattn")],
);

const STARTS = [
    "init()",
    "init({ threads: 2 })",
    "initSoftmax()",
    "initWorker()",
    "initInline()",
    "initNative()",
];
const attend = (start) => `
        {
            const attn = await ${start};
            console.log((await attn.attention(x, x, x, { dim: 4 }))[0]);
            attn.dispose();
        }`;
const ATTEND = `
    const x = new Float32Array(8).fill(2);
    async function main() {${STARTS.map(attend).join("")}
        console.log((await embed("a cat", 4)).tokens.join());
    }
    void main();`;
const NAMES = {
    libattn: "init",
    "libattn/softmax": "init: initSoftmax",
    "libattn/worker": "init: initWorker",
    "libattn/inline": "init: initInline",
    "libattn/native": "init: initNative",
    "libattn/data": "embed",
};
const SEEN = `${"2\n".repeat(6)}a,cat\n`;

test("require() in Node gives every entry, and computes", () => {
    const all = entries.map((name) => `require(${JSON.stringify(name)});`);
    const some = Object.entries(NAMES).map(
        ([from, what]) => `const { ${what} } = require("${from}");`,
    );
    writeFileSync(join(project, "main.js"), [...all, ...some, ATTEND].join("\n"));
    assert.equal(outputOf(project, "main.js"), SEEN);
});

test("what import and require give throws errors of one class", () => {
    const code = `const { AttnError } = require("libattn");
        import("libattn").then(async ({ init }) => {
            const attn = await init();
            try { attn.plan({ queries: 0, dim: 1 }); } catch (error) { console.log(error instanceof AttnError); }
        });`;
    writeFileSync(join(project, "both.js"), code);
    assert.equal(outputOf(project, "both.js"), "true\n");
});

/* Jest wraps each file in a function, and runs it in a realm of its own, with a require() of its own. */
const REALM = `
    const { readFileSync } = require("node:fs");
    const { createRequire, isBuiltin } = require("node:module");
    const { dirname } = require("node:path");
    const vm = require("node:vm");
    const { process, Buffer, URL, TextEncoder, TextDecoder, console, atob } = globalThis;
    const context = vm.createContext({ process, Buffer, URL, TextEncoder, TextDecoder, console, atob });
    const cache = new Map();
    function load(file) {
        if (cache.has(file)) return cache.get(file).exports;
        const module = { exports: {} };
        cache.set(file, module);
        const resolver = createRequire(file);
        const own = (name) => (isBuiltin(name) ? require(name) : load(resolver.resolve(name)));
        const wrapper = "(function (module, exports, require, __filename, __dirname) {" + readFileSync(file, "utf8") + "\\n})";
        const run = vm.runInContext(wrapper, context, { filename: file });
        run(module, module.exports, own, file, dirname(file));
        return module.exports;
    }
    load(require.resolve("./main.js"));`;

test("as Jest runs files", () => {
    const some = Object.entries(NAMES).map(
        ([from, what]) => `const { ${what} } = require("${from}");`,
    );
    writeFileSync(join(project, "main.js"), [...some, ATTEND].join("\n"));
    writeFileSync(join(project, "realm.js"), REALM);
    assert.equal(outputOf(project, "realm.js"), SEEN);
});

const typescript = createRequire(import.meta.url).resolve("typescript/package.json");
const tsc = join(typescript, "../bin/tsc");
const WAYS = {
    node10: { module: "commonjs", moduleResolution: "node10", ignoreDeprecations: "6.0" },
    "node16 in CommonJS": { module: "node16", moduleResolution: "node16" },
    "nodenext in CommonJS": { module: "nodenext", moduleResolution: "nodenext" },
    "a bundler's": { module: "preserve", moduleResolution: "bundler" },
};
for (const [name, way] of Object.entries(WAYS)) {
    test(`TypeScript, resolution ${name}`, () => {
        const imports = Object.entries(NAMES).map(
            ([from, what]) => `import { ${what.replace(":", " as")} } from "${from}";`,
        );
        const all = entries.map((each, i) => `import * as entry${i} from "${each}";`);
        const used = `export const all = [${entries.map((_, i) => `entry${i}`)}];`;
        const strict = `import { type Plan, init as start, AttnError } from "libattn";
            declare module "libattn" { interface OwnInputs { widths: Float32Array } }
            export async function strict(): Promise<Float32Array> {
                const plan: Plan = (await start()).plan({ queries: 2, dim: 4, inputs: ["widths"] });
                const { lse } = plan.run({ query: new Float32Array(8), key: new Float32Array(8), value: new Float32Array(8), lse: true });
                // @ts-expect-error a misspelt option
                (await start()).plan({ queries: 2, dim: 4, casual: true });
                if (!lse) throw new AttnError("ATTN_ERROR_SHAPE", "text");
                return lse;
            }`;
        const code = [...imports, ...all, used, strict, ATTEND];
        writeFileSync(join(project, "main.ts"), code.join("\n"));
        const compilerOptions = {
            ...{ strict: true, noEmit: name === "a bundler's", types: [], target: "es2022" },
            ...{ lib: ["es2022", "dom"], esModuleInterop: true, ...way },
        };
        writeFileSync(
            join(project, "tsconfig.json"),
            JSON.stringify({ compilerOptions, files: ["main.ts"] }),
        );
        try {
            execFileSync(process.execPath, [tsc], { cwd: project, encoding: "utf8" });
        } catch (error) {
            assert.fail(error.stdout);
        }
        if (!compilerOptions.noEmit) assert.equal(outputOf(project, "main.js"), SEEN);
    });
}
