/*
 * The package as users get it: packed, installed into an empty project without a network, used from
 * there: README's examples in Node and in a browser, and a TypeScript client.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { resultOf as resultOfPage } from "./page.mjs";
import { makeProject, outputOf, pack, packageFolder, readmeExample } from "./projects.mjs";
import { compile, tsc } from "./strict.mjs";

const project = mkdtempSync(join(tmpdir(), "libattn-"));
after(() => rmSync(project, { recursive: true }));

/** What code prints in the project. */
function outputOfCode(code) {
    writeFileSync(join(project, "example.js"), code);
    return outputOf(project, "example.js");
}

const { tarball, files } = pack(project);
makeProject(project, tarball);
const installed = join(project, "node_modules", "libattn");

/* The plugin, by README's command, which is given from the top of a checkout. */
const top = join(packageFolder, "..");
const command = readmeExample("plugins/template", "sh")
    .replace("./dev", `${top}/dev`)
    .replace(" plugins/", ` ${top}/plugins/`);
execFileSync("sh", ["-c", command], { cwd: project });
const template = join(project, "template.wasm");

test("the tarball has what it needs and nothing else", () => {
    const wanted = [
        "LICENSE",
        "NOTICE",
        "README.md",
        "REFERENCE.md",
        "package.json",
        "dist/index.js",
        "dist/node.js",
        "dist/inline.js",
        "dist/softmax.js",
        "dist/thread.js",
        "js/index.d.ts",
        "js/inline.d.ts",
        "js/softmax.d.ts",
        "js/gradients.d.ts",
    ];
    const builds = [...["relaxed", "simd", "scalar", "threads", "softmax"]].map(
        (build) => `dist/libattn.${build}.wasm`,
    );
    for (const name of [...wanted, ...builds]) assert.ok(files.includes(name), name);
    const stray = files.filter(
        (name) =>
            !/^(LICENSE|NOTICE|README\.md|REFERENCE\.md|docs\/\w+\.md|package\.json|src\/(bindings|functions)\.h|js\/[\w/.-]+\.d\.ts|dist\/[\w/.-]+\.(jsx?|cjs|d\.cts|wasm))$/.test(
                name,
            ),
    );
    assert.deepEqual(stray, []);
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    assert.equal(manifest.dependencies, undefined);
    assert.equal(manifest.scripts.install ?? manifest.scripts.postinstall, undefined);
    assert.deepEqual(Object.keys(manifest.exports["."]).slice(0, 2), ["require", "types"]);
});

test("README's example in Node", () => {
    const output = outputOfCode(readmeExample("plan.error("));
    assert.match(output, /^\S.*: \d+ pairs of 131072, error 0\.\d+|error \d/);
    assert.match(output, /65536 \[ 'softmax', 'linear', 'sparse', 'sketch' \]/);
});

test("README's examples of streams, tensors, threads and long calls", () => {
    const outputs = {
        "attn.stream(": /^512 8 1 \d+\n$/,
        "attn.tensor(": /^0\.5\n$/,
        'scores: "weights"': /^24 6 18\n$/,
        "grouped heads: four": /^bias is mask: true\nthe past is the other corner: true\n$/,
        "init({ threads: 2 });\nconst x": /^threads 2 0\.5\n$/,
        "onProgress: (done)": /^12\.5 %\n[^]*100 %\n0\.5\n$/,
        "await attn.tensor(": /^\d\S* \S.* true\n0\.5 0\.5 0\.5\n1 bit; .* keys 0 and 1\n$/,
    };
    for (const name in outputs) assert.match(outputOfCode(readmeExample(name)), outputs[name]);
});

test("README's example of gradients", () => {
    const losses = outputOfCode(readmeExample("gradients: true")).trim().split("\n").map(Number);
    assert.equal(losses.length, 3);
    losses.slice(1).forEach((loss, i) => assert.ok(loss < losses[i], losses.join()));
});

test("README's plugin, built and loaded", () => {
    const output = outputOfCode(readmeExample("loadPlugin"));
    assert.match(output, /^distance over .*\norg\.libattn\.template 0\.5 n m dv\n0\.5\n$/);
});

test("README's example of texts and files", () => {
    assert.equal(outputOfCode(readmeExample("libattn/data")), "6 192\nATTN_ERROR_ARGUMENT\n");
});

test("an AttnError is one to every entry in Node", () => {
    const code = `
        const entries = ["", "/native", "/softmax", "/worker", "/data", "/inline"];
        const modules = await Promise.all(entries.map((entry) => import("libattn" + entry)));
        const errors = modules.map(({ AttnError }) => new AttnError("ATTN_ERROR_LOAD", "text"));
        const isOne = ({ AttnError }) => errors.every((error) => error instanceof AttnError);
        console.log(modules.every(isOne));`;
    assert.equal(outputOfCode(code), "true\n");
});

const throwing = {
    libattn: "init().then((attn) => attn.plan({ queries: 4, dim: 0 }));",
    "libattn/softmax": "init().then((attn) => attn.plan({ queries: 4, dim: 0 }));",
    "libattn/worker": "init().then((attn) => attn.attention(x, x, x, { dim: 3 }));",
    "libattn/native": "init().then((attn) => attn.plan({ queries: 4, dim: 0 }));",
};
for (const [entry, code] of Object.entries(throwing)) {
    test(`an uncaught AttnError of ${entry} is short and has its name`, () => {
        const x = "const x = new Float32Array(8);";
        writeFileSync(
            join(project, "uncaught.js"),
            `import { init } from "${entry}"; ${x} ${code}`,
        );
        const options = { cwd: project, encoding: "utf8" };
        const { status, stderr } = spawnSync(process.execPath, ["uncaught.js"], options);
        assert.equal(status, 1);
        assert.match(stderr, /^AttnError: .+$/m);
        assert.match(stderr, /^ {2}code: 'ATTN_ERROR_\w+'$/m);
        assert.ok(stderr.length < 2000, `${stderr.length} bytes: ${stderr.slice(0, 2000)}`);
    });
}

test("the files can be named on their own", () => {
    const code = `
        import { readFileSync } from "node:fs";
        import { init } from "libattn";
        const attn = await init({ source: readFileSync(new URL(import.meta.resolve("libattn/scalar.wasm"))) });
        console.log(attn.build, (await init({ source: new URL(import.meta.resolve("libattn/simd.wasm")) })).build);`;
    assert.equal(outputOfCode(code), "scalar simd\n");
});

const programs = [
    { lib: ["es2022"], files: ["client.ts", "client-inline.ts"] },
    {
        lib: ["es2022", "dom"],
        files: [
            ...["client.ts", "client-web.ts", "client-native.ts", "client-own.ts"],
            ...["client-worker.ts", "client-gradients.ts"],
            ...["client-view.ts", "client-asked.ts"],
        ],
    },
];
for (const { lib, files } of programs) {
    const skip = tsc === null && "typescript is not installed";
    test(`strict TypeScript with the libraries ${lib}`, { skip }, () => {
        const sources = files.map((file) => join(packageFolder, "test/types", file));
        compile(project, sources, lib);
    });
}

/** What a page writes into #result that is served beside the package's folder and the plugin. */
function resultOf(html) {
    const site = join(project, "site");
    cpSync(installed, join(site, "libattn"), { recursive: true });
    cpSync(template, join(site, "template.wasm"));
    return resultOfPage(site, html);
}

test("README's example in a browser", async () => {
    assert.match(
        await resultOf(readmeExample("<!doctype html>", "html")),
        /^the \d\.\d\d cat \d\.\d\d sat/,
    );
});

test("a plugin in a browser, from a URL and from a file", async () => {
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
