/** NOTICE.txt of the built pages: whose work is in them. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { files } from "../../pages.js";
import { serve } from "../../serve.mjs";

const web = fileURLToPath(new URL("../..", import.meta.url));
const notice = readFileSync(join(web, "dist/NOTICE.txt"), "utf8");
const read = (name) => readFileSync(join(web, "..", name), "utf8");

/** The packages that the pages' sources import by name, and what d3 brings within its own files. */
function imported() {
    const sources = readdirSync(join(web, "src"), { recursive: true }).filter((name) =>
        name.endsWith(".ts"),
    );
    const code = sources.map((name) => readFileSync(join(web, "src", name), "utf8")).join("\n");
    const found = [...code.matchAll(/(?:from|import\()\s*"(@[^/"]+\/[^/"]+|[a-z][\w-]*)[^"]*"/g)];
    return new Set([
        ...found.map(([, name]) => name),
        "d3-array",
        "d3-scale",
        "d3-shape",
        "internmap",
    ]);
}

test("each package in the pages is named, with its licence, and libattn's follow", () => {
    const packages = [...imported()].filter((name) => !/^libattn(-labs)?$/.test(name));
    assert.ok(
        packages.includes("fflate") && packages.includes("@observablehq/plot"),
        `${packages}`,
    );
    for (const name of packages) {
        const { version } = JSON.parse(read(`node_modules/${name}/package.json`));
        assert.ok(notice.includes(`\n${name} ${version}\n`), name);
        assert.ok(notice.includes(read(`node_modules/${name}/LICENSE`).trim()), name);
    }
    assert.ok(notice.endsWith(read("wasm/NOTICE")));
});

test("a view that is saved as one file has libattn's notices in it", () => {
    for (const name of ["one-file.js", "one-file.de.js"]) {
        const program = readFileSync(join(web, "dist", name), "utf8");
        for (const line of read("wasm/NOTICE").trim().split("\n"))
            assert.ok(program.includes(line.replaceAll("*/", "")), `${name}: ${line}`);
    }
});

test("every page leads to them", async () => {
    const server = await serve({ packs: false });
    try {
        const response = await fetch(new URL("NOTICE.txt", server.url));
        assert.match(response.headers.get("content-type"), /^text\/plain/);
        assert.equal(await response.text(), notice);
        for (const file of files) {
            const html = await (await fetch(new URL(file, server.url))).text();
            const [footer] = html.match(/<footer[^]*<\/footer>/);
            assert.match(footer, /<a href="\.\/NOTICE\.txt">[^<]+<\/a>/, file);
        }
        const worker = await (await fetch(new URL("service-worker.js", server.url))).text();
        assert.ok(worker.includes('"./NOTICE.txt"'));
    } finally {
        await server.close();
    }
});
