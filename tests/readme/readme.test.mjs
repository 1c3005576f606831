// The examples of README.md, run as a reader would: C compiled and linked, JavaScript in Node with the
// package installed, HTML in a real browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serve } from "../../web/serve.mjs";
import { launchChromium } from "../../web/test/support/browser.mjs";
import { exactAttention, largestError } from "../exact/exact.mjs";

const root = join(import.meta.dirname, "..", "..");
const build = process.env.ATTN_BUILD ?? join(root, "build", "native");
const readme = await readFile(join(root, "README.md"), "utf8");
let folder;

before(async () => {
    folder = await mkdtemp(join(tmpdir(), "attn-readme-"));
    await mkdir(join(folder, "node_modules"));
    const options = { recursive: true, filter: (path) => !path.includes("node_modules") };
    for (const part of ["package.json", "js", "dist"])
        for (const target of ["node_modules/libattn", "libattn"])
            await cp(join(root, "wasm", part), join(folder, target, part), options);
});
after(() => rm(folder, { recursive: true }));

/** The only fenced block of this language. */
function example(language) {
    const blocks = [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))];
    assert.equal(blocks.length, 1, `README.md has ${blocks.length} blocks of ${language}`);
    return blocks[0][1];
}

test("the C example compiles without warnings and runs", async () => {
    const source = join(folder, "example.c");
    await writeFile(source, example("c"));
    const program = join(folder, "example");
    const flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", `-I${join(root, "core", "include")}`];
    const libraries = [join(build, "core", "libattn.a"), "-lpthread", "-ldl", "-lm"];
    execFileSync("cc", [...flags, source, ...libraries, "-o", program]);
    assert.match(execFileSync(program, { encoding: "utf8" }), /sees only itself: -3 = -3\n$/);
});

test("the Node example runs", async () => {
    await writeFile(join(folder, "example.mjs"), example("js"));
    const output = execFileSync(process.execPath, ["example.mjs"], {
        cwd: folder,
        encoding: "utf8",
    });
    assert.match(output, /sees only itself: 1 = 1\n/);
    assert.match(output, /name: 'block'/);
    const error = (backend) => Number(output.match(`${backend} is off by (\\S+)`)?.[1]);
    const x = Float32Array.from({ length: 8 * 100 * 64 }, (_, i) => Math.cos(i * i));
    const sizes = {
        batch: 1,
        heads: 8,
        kvHeads: 8,
        queries: 100,
        keys: 100,
        dim: 64,
        valueDim: 64,
    };
    const exact = exactAttention(sizes, { query: x, key: x, value: x }, { causal: "top-left" });
    assert.ok(error("sparse") > largestError(exact) && error("sparse") < 2, output);
});

test("the browser example runs", async () => {
    await writeFile(join(folder, "index.html"), example("html"));
    const server = await serve({ root: folder });
    const browser = await launchChromium();
    try {
        const page = await browser.newPage();
        await page.goto(server.url);
        await page.waitForFunction(() => document.querySelector("#result").textContent !== "");
        const text = await page.textContent("#result");
        assert.match(text, /^attention \d\.\d\d, is \d\.\d\d, .*values \d\.\d\d$/);
        const sum = [...text.matchAll(/ (\d\.\d\d)/g)].reduce(
            (total, [, w]) => total + Number(w),
            0,
        );
        assert.ok(Math.abs(sum - 1) < 0.05, `weights sum to ${sum}: ${text}`);
    } finally {
        await browser.close();
        await server.close();
    }
});

/** Runs the first block of sh behind a heading as in a checkout after `./dev build`; returns its folder and output. */
async function runInCheckout(text, heading, name) {
    const [, block] = text.match(new RegExp(`^${heading}\\n.*?^\`\`\`sh\\n(.*?)^\`\`\``, "ms"));
    const checkout = join(folder, name);
    await mkdir(join(checkout, "build"), { recursive: true });
    await symlink(join(build, "bench", "attn"), join(checkout, "build", "attn"));
    await symlink(join(root, "web"), join(checkout, "web"));
    const output = execFileSync("bash", ["-euo", "pipefail", "-c", block], {
        cwd: checkout,
        encoding: "utf8",
    });
    return { checkout, output };
}

test("the command line's examples run, one after the other", async () => {
    const { output } = await runInCheckout(readme, "## On the command line", "short");
    for (const backend of ["softmax", "linear", "sparse", "sketch"])
        assert.ok(output.includes(backend), output);
});

test("those of bench/cli/README.md run, too", async () => {
    const manual = await readFile(join(root, "bench", "cli", "README.md"), "utf8");
    const { checkout, output } = await runInCheckout(manual, "# The command line", "whole");
    assert.match(output, /^rules +past \d+, window \(255, 0\), softcap 30$/m);
    const rows = async (name) => {
        const head = (await readFile(join(checkout, name))).toString("latin1", 0, 192);
        return Number(head.match(/'shape': \((\d+),/)[1]);
    };
    assert.equal(await rows("pk.npy"), (await rows("x.npy")) + (await rows("y.npy")));
});
