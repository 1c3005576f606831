/** The picture of links to a page: by an absolute address where the build knows the site's. */

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "vite";
import { files } from "../../pages.js";
import { site } from "../../site.js";

const dist = new URL("../../dist/", import.meta.url);
const picture = (html) => /<meta property="og:image" content="([^"]*)"/.exec(html)[1];

/** What is built of a page with a picture. */
async function built(t, address) {
    const root = await mkdtemp(join(tmpdir(), "attn-site-"));
    t.after(() => rm(root, { recursive: true }));
    await writeFile(
        join(root, "index.html"),
        '<!doctype html><meta property="og:image" content="./a.png" /><p>page</p>',
    );
    await writeFile(join(root, "a.png"), "no picture");
    const options = { write: false, assetsInlineLimit: 0 };
    const { output } = await build({
        ...{ root, base: "./", configFile: false, logLevel: "error" },
        ...{ plugins: [site(address)], build: options },
    });
    const page = output.find(({ fileName }) => fileName === "index.html");
    const image = output.find(({ fileName }) => fileName.endsWith(".png"));
    return { picture: picture(String(page.source)), file: image.fileName };
}

test("a build that knows its site has the picture's whole address", async (t) => {
    for (const address of ["https://example.org/attention", "https://example.org/attention/"]) {
        const { picture, file } = await built(t, address);
        assert.equal(picture, `https://example.org/attention/${file}`);
    }
    const relative = await built(t);
    assert.equal(relative.picture, `./${relative.file}`);
});

test("what is no site's address is refused in words", () => {
    for (const address of ["example.org", "file:///x/", "https://a.b/?c", "https://a.b/#c", "/x/"])
        assert.throws(() => site(address), /ATTN_SITE is ".*", must be an address such as https:/);
});

test("all pages have a picture, and its file is there", async () => {
    for (const file of files) {
        const name = picture(await readFile(new URL(file, dist), "utf8"));
        const { pathname } = new URL(name, "https://example.org/");
        const inDist = pathname.slice(pathname.lastIndexOf("/assets/") + 1);
        assert.ok((await readFile(new URL(inDist, dist))).length > 1000, file);
    }
});
