// The runs that bench/labs/figures has, and their pictures, which `./dev web` has drawn of them (`attn lab draw`).

import { readFile, readdir } from "node:fs/promises";

const runs = "../bench/labs/figures/";

/** Where a file of a run is, as the page's sources say it. */
export function addressOf(file) {
    return `${file.endsWith(".svg") ? "../build/figures/" : runs}${file}`;
}

/** A file of a run. */
export function readRun(file, encoding) {
    return readFile(new URL(addressOf(file), import.meta.url), encoding);
}

/** What a run has written of each panel: see `attn lab run --help`. */
export async function readFigures() {
    const all = await readdir(new URL(runs, import.meta.url));
    const files = all.filter((name) => name.endsWith(".json"));
    const names = files.map((file) => file.replace(/\.json$/, "")).sort(); // 3a before 3a-inside
    return Promise.all(
        names.map(async (name) => {
            const text = await readRun(`${name}.json`, "utf8");
            return { ...JSON.parse(text), name, heights: await heightsOf(name) };
        }),
    );
}

/** Of a figure's picture: all of it, and without what is written under it, which the cards say in HTML. */
async function heightsOf(name) {
    const picture = await readRun(`${name}.svg`, "utf8").catch((error) => {
        throw new Error(`no picture of ${name}, which ./dev web draws: ${error.message}`);
    });
    const [, whole] = /^<svg [^>]*height="(\d+)"/.exec(picture) ?? [];
    const [, first] = /class="claim" x="\d+" y="([\d.]+)"/.exec(picture) ?? [];
    if (!whole || !first) throw new Error(`${name}.svg is no figure with its claim under it`);
    return { whole, shown: Math.floor(Number(first)) - 18 };
}
