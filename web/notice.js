// NOTICE.txt of the built pages: whose work is in them, of the modules that the bundler has put in.

import { readFileSync } from "node:fs";
import { bundledParts, modulesIn, noticeOf } from "../wasm/notice.mjs";

export const NOTICE = "NOTICE.txt";

const seen = new Set();

/** Notes what is in a bundle: workers have bundles of their own. */
export function noteModules() {
    return {
        name: "note-modules",
        generateBundle(_, bundle) {
            modulesIn(Object.values(bundle)).forEach((id) => seen.add(id));
        },
    };
}

/** What is in libattn itself, which is bundled already, follows. */
export function noticeOfModules(work, ids) {
    const libattn = readFileSync(new URL("../wasm/NOTICE", import.meta.url), "utf8");
    return `${noticeOf(work, bundledParts(ids))}\n${"=".repeat(80)}\n${libattn}`;
}

/** Emits it. */
export function notice() {
    const { generateBundle } = noteModules();
    return {
        name: "notice",
        apply: "build",
        enforce: "post",
        generateBundle(options, bundle) {
            generateBundle(options, bundle);
            this.emitFile({
                type: "asset",
                fileName: NOTICE,
                source: noticeOfModules("This page", seen),
            });
        },
    };
}
