/*
 * The package as users get it: packed, installed into an empty project without a network, used from
 * there: README's examples in Node and in a browser, and a TypeScript client.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(join(packageFolder, "README.md"), "utf8");
const project = mkdtempSync(join(tmpdir(), "libattn-"));
after(() => rmSync(project, { recursive: true }));

function npm(...args) {
    return execFileSync("npm", args, {
        cwd: project,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
    });
}

function example(language, index = 0) {
    const blocks = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms");
    const found = [...readme.matchAll(blocks)][index];
    assert.ok(found, `README.md has no example ${index} in ${language}`);
    return found[1];
}

/** The example in JavaScript that has this text. */
function exampleWith(text) {
    const blocks = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code);
    const found = blocks.find((block) => block.includes(text));
    assert.ok(found, `README.md has no example with ${text}`);
    return found;
}

const [packed] = JSON.parse(npm("pack", packageFolder, "--json", "--pack-destination", project));
writeFileSync(
    join(project, "package.json"),
    '{ "name": "user", "private": true, "type": "module" }',
);
npm("install", "--offline", "--no-audit", "--no-fund", `./${packed.filename}`);
const installed = join(project, "node_modules", "libattn");

/* The plugin, by README's command, which is given from the top of a checkout. */
const top = join(packageFolder, "..");
const command = example("sh", 1)
    .replace("./dev", `${top}/dev`)
    .replace(" plugins/", ` ${top}/plugins/`);
execFileSync("sh", ["-c", command], { cwd: project });
const template = join(project, "template.wasm");

test("the tarball has what it needs and nothing else", () => {
    const names = packed.files.map(({ path }) => path);
    const wanted = [
        "LICENSE",
        "README.md",
        "package.json",
        "dist/index.js",
        "dist/node.js",
        "dist/softmax.js",
        "dist/thread.js",
        "dist/labs.js",
        "dist/labs-worker.js",
        "js/index.d.ts",
        "js/softmax.d.ts",
        "js/labs.d.ts",
    ];
    const builds = ["relaxed", "simd", "scalar", "threads", "softmax", "labs"].map(
        (build) => `dist/libattn.${build}.wasm`,
    );
    for (const name of [...wanted, ...builds]) assert.ok(names.includes(name), name);
    const stray = names.filter(
        (name) =>
            !/^(LICENSE|README\.md|package\.json|src\/bindings\.h|js\/[\w/.]+\.d\.ts|dist\/[\w/.-]+\.(js|wasm))$/.test(
                name,
            ),
    );
    assert.deepEqual(stray, []);
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    assert.equal(manifest.dependencies, undefined);
    assert.equal(manifest.scripts.install ?? manifest.scripts.postinstall, undefined);
    assert.equal(Object.keys(manifest.exports["."])[0], "types");
});

test("README's example in Node", () => {
    writeFileSync(join(project, "example.js"), example("js"));
    const output = execFileSync(process.execPath, ["example.js"], {
        cwd: project,
        encoding: "utf8",
        timeout: 20000,
    });
    assert.match(output, /^\S.*: \d+ pairs of 131072, error 0\.\d+|error \d/);
    assert.match(output, /65536 \[ 'softmax', 'linear', 'sparse', 'sketch' \]/);
});

test("README's examples of streams, tensors, threads and long calls", () => {
    const options = { cwd: project, encoding: "utf8", timeout: 20000 };
    const outputs = {
        "attn.stream(": /^512 8 1 \d+\n$/,
        "attn.tensor(": /^0\.5\n$/,
        "init(null, { threads: 2 })": /^threads 2 0\.5\n$/,
        "libattn/worker": /^12\.5 %\n[^]*100 %\n0\.5\n$/,
    };
    for (const name in outputs) {
        writeFileSync(join(project, "beside.js"), exampleWith(name));
        assert.match(execFileSync(process.execPath, ["beside.js"], options), outputs[name]);
    }
});

test("README's plugin, built and loaded", () => {
    writeFileSync(join(project, "plugin.js"), exampleWith("loadPlugin"));
    const options = { cwd: project, encoding: "utf8", timeout: 20000 };
    const output = execFileSync(process.execPath, ["plugin.js"], options);
    assert.match(output, /^distance over .*\norg\.libattn\.template 0\.5 n m dv\n$/);
});

test("README's example of an experiment", () => {
    const found = /^```js\n([^`]*?"libattn\/labs"[^]*?)^```/m.exec(readme);
    assert.ok(found, "README.md has no example of libattn/labs");
    writeFileSync(join(project, "labs.js"), found[1]);
    const options = { cwd: project, encoding: "utf8", timeout: 20000 };
    const output = execFileSync(process.execPath, ["labs.js"], options);
    assert.match(output, /^(\S+ \S+ s left\n){4}0 [\d.]+ [\d.]+ [\d.]+ .*trials/);
});

test("the files can be named on their own", () => {
    const code = `
        import { readFileSync } from "node:fs";
        import { init } from "libattn";
        const attn = await init(readFileSync(new URL(import.meta.resolve("libattn/scalar.wasm"))));
        console.log(attn.build, (await init(new URL(import.meta.resolve("libattn/simd.wasm")))).build);`;
    const node = ["--input-type=module", "--eval", code];
    assert.equal(
        execFileSync(process.execPath, node, { cwd: project, encoding: "utf8" }),
        "scalar simd\n",
    );
});

const tsc = findTsc();

function findTsc() {
    const require = createRequire(import.meta.url);
    try {
        return join(require.resolve("typescript/package.json"), "../bin/tsc");
    } catch {
        return null;
    }
}

const clients = [
    { file: "client.ts", lib: ["es2022"] },
    { file: "client.ts", lib: ["es2022", "dom"] },
    { file: "client-web.ts", lib: ["es2022", "dom"] },
    { file: "client-native.ts", lib: ["es2022"] },
    { file: "client-labs.ts", lib: ["es2022", "dom"] },
];
for (const { file, lib } of clients) {
    const skip = tsc === null && "typescript is not installed";
    test(`strict TypeScript: ${file} with the libraries ${lib}`, { skip }, () => {
        cpSync(join(packageFolder, "test", file), join(project, file));
        const compilerOptions = {
            ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [] },
            ...{ module: "nodenext", target: "es2022", lib },
        };
        const config = JSON.stringify({ compilerOptions, files: [file] });
        writeFileSync(join(project, "tsconfig.json"), config);
        try {
            execFileSync(process.execPath, [tsc], { cwd: project, encoding: "utf8" });
        } catch (error) {
            assert.fail(error.stdout);
        }
    });
}

const browser = ["/usr/bin/chromium", process.env.ATTN_CHROMIUM].find(
    (path) => path && existsSync(path),
);
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

/** What a page writes into #result that is served beside the package's folder and the plugin. */
async function resultOf(html) {
    const site = join(project, "site");
    cpSync(installed, join(site, "libattn"), { recursive: true });
    cpSync(template, join(site, "template.wasm"));
    writeFileSync(join(site, "index.html"), html);
    const server = createServer((request, response) => {
        const path = join(
            site,
            request.url === "/" ? "index.html" : new URL(request.url, "http://x").pathname,
        );
        if (!existsSync(path)) return response.writeHead(404).end();
        response.setHeader("content-type", TYPES[extname(path)] ?? "application/octet-stream");
        const scripts = "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'";
        response.setHeader("content-security-policy", `default-src 'self'; ${scripts}`);
        response.end(readFileSync(path));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { chromium } = await import("playwright-core");
    const args = ["--no-sandbox", "--disable-gpu"];
    const launched = await chromium.launch({ executablePath: browser, args });
    try {
        const page = await launched.newPage();
        const result = page.locator("#result");
        const failure = new Promise((resolve, reject) => page.once("pageerror", reject));
        const text = async () => {
            await page.goto(`http://127.0.0.1:${server.address().port}/`);
            await result.filter({ hasText: /./ }).waitFor();
            return result.textContent();
        };
        return await Promise.race([text(), failure]);
    } finally {
        await launched.close();
        server.close();
    }
}

const skip = !browser && "there is no chromium";
test("README's example in a browser", { skip }, async () => {
    assert.match(await resultOf(example("html")), /^the \d\.\d\d cat \d\.\d\d sat/);
});

test("an experiment in a browser, in workers, under the same policy", { skip }, async () => {
    const html = `<!doctype html><p id="result"></p><script type="module">
        import { lab } from "./libattn/dist/labs.js";
        const options = { panel: "7b", xs: [9, 11], workers: 2 };
        const { rows } = await lab("separation", { trials: 3 }, options);
        const refused = await lab("separation", { trials: 0 }).catch((error) => error.code);
        document.querySelector("#result").textContent = rows.map(([x]) => x).join(" ") + " " + refused;
    </script>`;
    assert.equal(await resultOf(html), "9 11 ATTN_ERROR_RANGE");
});

test("a plugin in a browser, from a URL and from a file", { skip }, async () => {
    const html = `<!doctype html><p id="result"></p><script type="module">
        import { init } from "./libattn/dist/index.js";
        const attn = await init();
        const sources = [new URL("template.wasm", location.href), fetch("template.wasm")];
        sources.push((await fetch("template.wasm")).blob());
        const results = [];
        for (const source of sources) {
            const plugin = await attn.loadPlugin(source);
            const [backend] = plugin.backends;
            const [query, value] = [new Float32Array(2), Float32Array.of(0, 1)];
            const options = { dim: 1, backend, params: { width: 1 } };
            results.push(attn.attention(query, query, value, options)[0].toFixed(4));
            plugin.unload();
        }
        await attn.loadPlugin(new Uint8Array(9)).catch((error) => results.push(error.code));
        results.push(attn.backends().length);
        document.querySelector("#result").textContent = results.join(" ");
    </script>`;
    const weight = (1 / (1 + Math.E)).toFixed(4); // exp(-1) / (1 + exp(-1))
    const result = `${weight} ${weight} ${weight} ATTN_ERROR_PLUGIN 4`;
    assert.equal(await resultOf(html), result);
});
