import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { build, defineConfig } from "vite";
import { modulesIn } from "../wasm/notice.mjs";
import { frame } from "./frame.js";
import { gallery } from "./gallery.js";
import { noteModules, notice, noticeOfModules } from "./notice.js";
import { opening } from "./opening.js";
import { packed } from "./packed.js";
import { files } from "./pages.js";
import { site } from "./site.js";
import { programOf } from "./src/one/program.js";
import { languages, words, wordsOf } from "./words.js";

export default defineConfig({
    plugins: [
        words(),
        frame(),
        gallery(),
        opening(),
        oneFile(),
        notice(),
        site(process.env.ATTN_SITE),
        serviceWorker(),
        packed(),
    ],
    base: "./", // the built page works from any folder of any static server
    html: { additionalAssetSources: { a: { srcAttributes: ["href"], filter: isFile } } },
    worker: { format: "es", plugins: () => [opening(), noteModules()] },
    build: {
        target: "es2023",
        assetsInlineLimit: 0, // nothing becomes a data: URL, which the page's policy refuses
        modulePreload: { polyfill: false },
        rolldownOptions: { input: files },
    },
    optimizeDeps: { exclude: ["libattn", "libattn-labs"] }, // keeps its .wasm beside it in `vite dev`
    server: { headers: isolation() },
    preview: { headers: isolation() },
});

/** Is that link one to a file to be saved? Others are ways to pages. */
function isFile({ attributes }) {
    return "download" in attributes;
}

function isolation() {
    return {
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
    };
}

/** Emits one-file.js: the program of a view that is saved as one file, libattn, its module and words in it. */
function oneFile() {
    return {
        name: "one-file",
        apply: "build",
        async generateBundle() {
            for (const language of languages) {
                const { output } = await build({
                    configFile: false,
                    logLevel: "warn",
                    plugins: [wordsOf(language)],
                    build: {
                        write: false,
                        target: "es2023",
                        modulePreload: false,
                        rolldownOptions: { input: "src/one/view.ts", output: { format: "iife" } },
                    },
                    publicDir: false,
                });
                const fileName = programOf(language);
                const told = noticeOfModules("This file", modulesIn(output)).replaceAll("*/", "");
                const source = `/*\n${told}*/\n${output[0].code}`;
                this.emitFile({ type: "asset", fileName, source });
            }
        },
    };
}

/** Emits src/shell/service-worker.js with the list of what it is to keep: all that is built, but for models. */
function serviceWorker() {
    return {
        name: "service-worker",
        enforce: "post",
        async generateBundle(_, bundle) {
            const outside = await readdir(new URL("public", import.meta.url));
            const all = [...Object.keys(bundle), ...outside].map((name) => `./${name}`).sort();
            const hash = createHash("sha256").update(all.join()); // most names have a hash in them
            const models = all.filter((name) => name.endsWith(".model"));
            const isOthers = (name) => models.includes(name) || name.endsWith(".png"); // for links
            const files = all.filter((name) => !isOthers(name));
            for (const name of outside) {
                hash.update(await readFile(new URL(`public/${name}`, import.meta.url)));
            }
            for (const { fileName, source } of Object.values(bundle)) {
                if (/\.html$|^one-file|^NOTICE/.test(fileName)) hash.update(source);
            }
            const worker = await readFile(
                new URL("src/shell/service-worker.js", import.meta.url),
                "utf8",
            );
            const source = [
                `const VERSION = "libattn-${hash.digest("hex").slice(0, 16)}";`,
                `const FILES = ${JSON.stringify(["./", ...files])};`,
                `const MODELS = ${JSON.stringify(models)};`,
                worker,
            ].join("\n");
            this.emitFile({ type: "asset", fileName: "service-worker.js", source });
        },
    };
}
