/*
 * The package as users get it: packed, installed into an empty project without a network, used from
 * there: README's examples in Node and in a browser, and a TypeScript client.
 */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import {
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readFileSync,
    rmSync,
    writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
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

const [packed] = JSON.parse(npm("pack", packageFolder, "--json", "--pack-destination", project));
writeFileSync(
    join(project, "package.json"),
    '{ "name": "user", "private": true, "type": "module" }',
);
npm("install", "--offline", "--no-audit", "--no-fund", `./${packed.filename}`);
const installed = join(project, "node_modules", "libattn");

test("the tarball has what it needs and nothing else", () => {
    const names = packed.files.map(({ path }) => path);
    const wanted = [
        "LICENSE",
        "README.md",
        "package.json",
        "js/index.js",
        "js/node.js",
        "js/index.d.ts",
    ];
    const builds = ["dist/libattn.simd.wasm", "dist/libattn.scalar.wasm"];
    for (const name of [...wanted, ...builds]) assert.ok(names.includes(name), name);
    const stray = names.filter(
        (name) => !/^(LICENSE|README\.md|package\.json|js\/[\w.]+|dist\/[\w.]+\.wasm)$/.test(name),
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

test("README's example of a stream", () => {
    writeFileSync(join(project, "stream.js"), example("js", 1));
    const options = { cwd: project, encoding: "utf8", timeout: 20000 };
    assert.match(execFileSync(process.execPath, ["stream.js"], options), /^512 8 1 \d+\n$/);
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

test("README's example in a browser", { skip: !browser && "there is no chromium" }, async () => {
    const site = join(project, "site");
    mkdirSync(site);
    cpSync(installed, join(site, "libattn"), { recursive: true });
    writeFileSync(join(site, "index.html"), example("html"));
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
    try {
        const url = `http://127.0.0.1:${server.address().port}/`;
        const flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--virtual-time-budget=10000",
        ];
        const profile = `--user-data-dir=${join(project, "profile")}`;
        const { stdout } = await promisify(execFile)(
            browser,
            [...flags, profile, "--dump-dom", url],
            { timeout: 60000 },
        );
        assert.match(stdout, /<p id="result">the \d\.\d\d cat \d\.\d\d sat/);
    } finally {
        server.close();
    }
});
