/*
 * libattn-labs as users get it: packed, installed beside libattn into an empty project without a network, used from
 * there: README's examples, a page, TypeScript clients, other people's checkers.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { resultOf } from "../../test/package/page.mjs";
import {
    labsFolder,
    makeProject,
    outputOf,
    pack,
    readmeExample,
} from "../../test/package/projects.mjs";
import { checkManifest, checkTypes } from "../../test/package/published.mjs";
import { compile, tsc } from "../../test/package/strict.mjs";

const project = mkdtempSync(join(tmpdir(), "libattn-labs-"));
after(() => rmSync(project, { recursive: true }));
const { tarball, files } = pack(project, labsFolder);
makeProject(project, pack(project).tarball, tarball);
const installed = join(project, "node_modules", "libattn-labs");

function outputOfCode(code, name = "example.js") {
    writeFileSync(join(project, name), code);
    return outputOf(project, name);
}

test("the tarball has what it needs and nothing else", () => {
    const wanted = [
        ...["LICENSE", "NOTICE", "README.md", "REFERENCE.md", "package.json"],
        ...["labs", "labs-worker", "models", "training"].map((name) => `dist/${name}.js`),
        ...["labs", "models", "training"].map((name) => `dist/libattn.${name}.wasm`),
        ...["labs", "models", "training"].map((name) => `js/${name}.d.ts`),
        "dist/lis-softmax.model",
    ];
    for (const name of wanted) assert.ok(files.includes(name), name);
    const known =
        /^([A-Z]+(\.md)?|package\.json|js\/\w+\.d\.ts|dist\/[\w.-]+\.(jsx?|cjs|d\.cts|wasm|model))$/;
    assert.deepEqual(
        files.filter((name) => !known.test(name)),
        [],
    );
});

test("NOTICE names what is linked", () => {
    const notice = readFileSync(join(installed, "NOTICE"), "utf8");
    for (const part of ["musl", "Emscripten", "compiler-rt", "SIMDe"])
        assert.match(notice, new RegExp(`^ {4}${part}$`, "m"));
});

test("publint", () => checkManifest(tarball));
test("attw", () => checkTypes(tarball, labsFolder));

test("README's example of a trained model", () => {
    const output = outputOfCode(readmeExample("libattn-labs/models"));
    assert.equal(output, "3 + 4 * 2 = 3 + 3 = 1 <eos> true\n[ 3, 4, 11, 8 ] 1056\n");
});

test("README's example of a model that learns", () => {
    const [loss, score] = outputOfCode(readmeExample("libattn-labs/training")).trim().split("\n");
    assert.ok(Number(loss) > 0 && Number(loss) < Math.log(15), loss);
    assert.match(score, /^\d+ of 128$/);
});

test("README's example of an experiment", () => {
    const output = outputOfCode(readmeExample('"libattn-labs"'));
    assert.match(output, /^(\S+ \S+ s left\n){2}[\d.]+ [\d.]+\n.*trials/);
});

test("require() gives the same", () => {
    const code = `
        const { labs } = require("libattn-labs");
        const { models } = require("libattn-labs/models");
        const { createStudy } = require("libattn-labs/training");
        labs().then(([{ name }]) => console.log(name, models.length, typeof createStudy));`;
    assert.match(outputOfCode(code, "example.cjs"), /^\w+ 12 function\n$/);
});

test("an AttnError of libattn is one of libattn-labs, and the other way round", () => {
    const code = `
        const names = ["libattn", "libattn-labs", "libattn-labs/models", "libattn-labs/training"];
        const modules = await Promise.all(names.map((name) => import(name)));
        const errors = modules.map(({ AttnError }) => new AttnError("ATTN_ERROR_LOAD", "text"));
        const isOne = ({ AttnError }) => errors.every((error) => error instanceof AttnError);
        console.log(modules.every(isOne));`;
    assert.equal(outputOfCode(code), "true\n");
});

test("an uncaught AttnError is short and has its name", () => {
    writeFileSync(
        join(project, "uncaught.js"),
        'import { lab } from "libattn-labs"; await lab("none");',
    );
    const options = { cwd: project, encoding: "utf8" };
    const { status, stderr } = spawnSync(process.execPath, ["uncaught.js"], options);
    assert.equal(status, 1);
    assert.match(stderr, /^AttnError: .+$/m);
    assert.match(stderr, /^ {2}code: 'ATTN_ERROR_\w+'$/m);
    assert.ok(stderr.length < 2000, `${stderr.length} bytes: ${stderr.slice(0, 2000)}`);
});

test("strict TypeScript", { skip: tsc === null && "typescript is not installed" }, () => {
    const names = ["labs", "models", "training"].map((name) => `client-${name}.ts`);
    const programs = names.map((name) => join(labsFolder, "test", name));
    compile(project, programs, ["es2022", "dom"]);
});

test("an experiment in a page, in workers, under a strict policy", async () => {
    const site = join(project, "site");
    cpSync(installed, join(site, "labs"), { recursive: true });
    const html = `<!doctype html><p id="result"></p><script type="module">
        import { lab } from "./labs/dist/labs.js";
        const options = { panel: "7b", xs: [9, 11], workers: 2 };
        const { rows } = await lab("separation", { trials: 3 }, options);
        const refused = await lab("separation", { trials: 0 }).catch((error) => error.code);
        document.querySelector("#result").textContent = rows.map(([x]) => x).join(" ") + " " + refused;
    </script>`;
    assert.equal(await resultOf(site, html), "9 11 ATTN_ERROR_RANGE");
});
