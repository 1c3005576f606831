// The figures that bench/labs/figures has, as cards of figures.html: made when the page is built.

import { readFile, readdir } from "node:fs/promises";
import { escaped } from "./escaped.js";

const folder = new URL("../bench/labs/figures/", import.meta.url);
const verdicts = ["holds", "fails", "undecided"];
/** In the order of `attn lab list`; others come behind. */
const order = [
    ...["separation", "softmax-regression", "sparsification"],
    ...["constructions", "complexity", "reasoning"],
];

/** Takes hours, and is not in `libattn/labs`. */
const longLab = "reasoning";

/** Puts them where figures.html says so. */
export function gallery() {
    return {
        name: "gallery",
        transformIndexHtml: {
            order: "pre", // pictures become the build's own files
            async handler(html, { path }) {
                if (!path.endsWith("/figures.html")) return html;
                const made = cards(await readFigures());
                return html.replace("<!-- gallery -->", () => made); // in which $ means nothing
            },
        },
    };
}

/** What a run has written of each panel: see `attn lab run --help`. */
export async function readFigures() {
    const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
    const texts = await Promise.all(names.map((name) => readFile(new URL(name, folder), "utf8")));
    return Promise.all(
        texts.map(async (text, i) => {
            const name = names[i].replace(/\.json$/, "");
            return { ...JSON.parse(text), name, heights: await heightsOf(name) };
        }),
    );
}

/** Of a figure's picture: all of it, and without what is written under it, which the cards say in HTML. */
async function heightsOf(name) {
    const picture = await readFile(new URL(`${name}.svg`, folder), "utf8");
    const [, whole] = /^<svg [^>]*height="(\d+)"/.exec(picture) ?? [];
    const [, first] = /class="claim" x="\d+" y="([\d.]+)"/.exec(picture) ?? [];
    if (!whole || !first) throw new Error(`${name}.svg is no figure with its claim under it`);
    return { whole, shown: Math.floor(Number(first)) - 18 };
}

function cards(figures) {
    const place = ({ lab }) => (order.includes(lab) ? order.indexOf(lab) : order.length);
    const labs = [...new Set(figures.sort((a, b) => place(a) - place(b)).map(({ lab }) => lab))];
    const sections = labs.map((lab) => section(figures.filter((each) => each.lab === lab)));
    return `<p id="counts">${counts(figures)}</p>\n${sections.join("\n")}`;
}

function counts(figures) {
    const [holds, fails, undecided] = verdicts.map(
        (verdict) => figures.filter((figure) => figure.verdict === verdict).length,
    );
    const all = `Of ${figures.length} claims ${holds} hold at these sizes and ${fails} fail`;
    return `${all}; of ${undecided} the numbers decide nothing.`;
}

function section(figures) {
    const [{ lab, title, reference, summary }] = figures;
    return `
<section aria-labelledby="${lab}">
  <h2 id="${lab}">${escaped(title)}</h2>
  <p class="hint">${escaped(summary)} ${escaped(reference)}.</p>
  <ul class="figures">${figures.map(card).join("")}</ul>
</section>`;
}

function card({ name, heights, lab, panel, verdict, found, command, host }) {
    const { whole, shown } = heights;
    const address = `./labs.html#${new URLSearchParams({ lab, panel: panel.id })}`;
    const run = `<p><a class="button" href="${escaped(address)}">Run it yourself</a></p>`;
    const end =
        lab === longLab
            ? "<p>It takes hours: the command line goes on where it was stopped.</p>"
            : run;
    return `
<li class="card" id="${name}" data-verdict="${verdict}">
  <h3>${escaped(panel.title)}</h3>
  <p class="claim">${escaped(panel.claim)}</p>
  <p><strong class="verdict">${verdict}</strong> ${escaped(found)}</p>
  <svg viewBox="0 0 640 ${shown}" aria-hidden="true"><image href="../bench/labs/figures/${name}.svg" width="640" height="${whole}" /></svg>
  <details><summary>How it was made</summary><pre tabindex="0"><code>${escaped(command)}</code></pre><p>${escaped(host)}</p></details>
  ${end}
</li>`;
}
