/* What the tests of bundlers share: projects, a server, a browser. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import webpack from "webpack";
import { launchChromium } from "../../../web/test/support/browser.mjs";
import { makeProject, pack } from "./projects.mjs";
import { serve } from "./server.mjs";

export const PAGE = '<!doctype html><title></title><script type="module" src="./main.js"></script>';

/** Projects with the tarball in a folder that a server serves, and what opens their pages. */
export async function openWorkshop(name) {
    const root = mkdtempSync(join(tmpdir(), `libattn-${name}-`));
    const { tarball } = pack(root);
    const server = await serve(root, { texts: { "/favicon.ico": "" } });
    const browser = await launchChromium();

    /** A project with the tarball, others, and these files; its folder. */
    function projectOf(folder, files, ...others) {
        const project = join(root, folder);
        makeProject(project, tarball, ...others);
        mkdirSync(join(project, "site"));
        const all = { ...files, "site/index.html": PAGE };
        for (const file in all) {
            mkdirSync(dirname(join(project, file)), { recursive: true });
            writeFileSync(join(project, file), all[file]);
        }
        return project;
    }

    /** What the page of a project, here or at another server, has made its title. */
    async function titleOf(
        project,
        url = `${server.base}${project.slice(root.length)}/site/index.html`,
    ) {
        const page = await browser.newPage();
        const errors = [];
        page.on("pageerror", (error) => errors.push(error.message));
        page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
        await page.goto(url);
        await page
            .waitForFunction(() => document.title !== "")
            .catch((error) => errors.push(error.message));
        assert.deepEqual(errors, []);
        const title = await page.title();
        await page.close();
        return title;
    }

    async function close() {
        await browser.close();
        server.close();
        rmSync(root, { recursive: true });
    }

    return { root, projectOf, titleOf, close };
}

/** Bundles main.js of a project, its `context`, into site/ by webpack, without an error or a warning. */
export async function runWebpack(options) {
    const compiler = webpack({
        entry: "./main.js",
        output: { path: join(options.context, "site"), filename: "main.js" },
        ...options,
    });
    const stats = await new Promise((resolve, reject) =>
        compiler.run((error, result) => (error ? reject(error) : resolve(result))),
    );
    await new Promise((resolve) => compiler.close(resolve));
    assert.equal(stats.toString({ all: false, errors: true, warnings: true }), "");
}
