// What the models of text are like: `node bench/labs/language/heads.mjs ATTN FOLDER [MODELS]`, with the command and the
// folder that corpus.mjs made (MODELS: where text-softmax.model is, else those of the command).
//
//     heads.json               all numbers: bits a byte, the heads' scores, the loss without each
//     README.md                its tables, between the marks
//     web/src/presets/text.json   the first sentence that the page shows: queries, keys and values of one layer
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { read as readArray } from "../../../tests/cli/npy.mjs";

const ATTENTIONS = ["softmax", "linear", "sparse"];
const LETTERS = 500; // of the held-out text, which methods are compared on: at most a context
const LAYERS = [1, 2, 3, 4];
const SCALE = String(1 / Math.sqrt(32)); // of a head's columns
const SENTENCE = "In the beginning God created the heaven and the earth.";
const here = (name) => new URL(name, import.meta.url);

const [attn, folder, models] = process.argv.slice(2);
if (!folder) throw new Error("node heads.mjs ATTN FOLDER [MODELS]");

/** Options that say which model. */
const which = (attention) =>
    models ? ["--model", join(models, `text-${attention}.model`)] : ["--attention", attention];

const run = (...args) => execFileSync(attn, ["lab", ...args], { encoding: "utf8" });

// ---- numbers --------------------------------------------------------------------------------------------

/** Bits a byte that a program packs the held-out text to. */
function packed(program, ...args) {
    const input = readFileSync(join(folder, "heldout.txt"));
    const { stdout, status } = spawnSync(program, args, { input, maxBuffer: 1 << 28 });
    if (status !== 0) throw new Error(`${program} does not run`);
    return (8 * stdout.length) / input.length;
}

const measured = {
    heldOut: {
        bytes: statSync(join(folder, "heldout.txt")).size,
        gzip: packed("gzip", "-9c"),
        xz: packed("xz", "-9ec"),
    },
    models: ATTENTIONS.map((attention) =>
        JSON.parse(run("heads", "--corpus", folder, ...which(attention), "--json")),
    ),
};
/** Kinds of attention that the heads of the softmax model are given to, as options of `attn compare`. */
const methods = {
    softmax: ["softmax"],
    "softmax, bf16x3": ["softmax", "precision=bf16x3"],
    "softmax, bf16": ["softmax", "precision=bf16"],
    "softmax, int16": ["softmax", "precision=int16"],
    "softmax, int8": ["softmax", "precision=int8"],
    linear: ["linear"],
    "sparse, band": ["sparse"],
    "sparse, window": ["sparse", "pattern=window"],
    "sparse, topk": ["sparse", "pattern=topk"],
    "sparse, topkeys": ["sparse", "pattern=topkeys"],
    "sparse, lsh": ["sparse", "pattern=lsh"],
    sketch: ["sketch"],
};

/** By method, of each layer: the error against exact softmax, and the share of pairs that it keeps. */
function compared() {
    const beginning = readFileSync(join(folder, "heldout.txt"), "utf8").slice(0, LETTERS);
    const rows = Object.keys(methods).map((name) => ({ name, layers: [] }));
    withDump(({ files }) => {
        for (const layer of LAYERS) {
            dump(beginning, files, layer);
            const options = ["compare", ...files, "--causal", "--scale", SCALE];
            for (const row of rows) {
                const [backend, ...settings] = methods[row.name];
                const set = settings.flatMap((setting) => ["--set", setting]);
                const told = [...set, "--backends", backend, "--time", "0.001", "--json"];
                const text = execFileSync(attn, [...options, ...told], { encoding: "utf8" });
                const [{ error, pairs }] = JSON.parse(text).rows;
                row.layers.push({ error, pairs });
            }
        }
    });
    return rows;
}

/** Calls `body` with files for Q, K and V. */
function withDump(body) {
    const work = mkdtempSync(join(tmpdir(), "attn-"));
    const to = (name) => join(work, name);
    try {
        const files = ["--q", to("query.npy"), "--k", to("key.npy"), "--v", to("value.npy")];
        return body({ files, to });
    } finally {
        rmSync(work, { recursive: true });
    }
}

function dump(text, files, layer) {
    run("dump", "text", text, ...which("softmax"), ...files, "--layer", String(layer));
}

measured.methods = compared();
writeFileSync(here("heads.json"), `${JSON.stringify(measured, null, 1)}\n`);

// ---- tables ---------------------------------------------------------------------------------------------

const row = (cells) => `| ${cells.join(" | ")} |`;
const table = (names, rows) => [row(names), row(names.map(() => "---")), ...rows.map(row)];

function bitsTable({ heldOut, models: all }) {
    const numbers = all.map(({ attention, tokens, bits, loss }) => [
        attention,
        `${(tokens / 1e6).toFixed(2)} million`,
        bits.toFixed(3),
        loss.toFixed(3),
    ]);
    const others = [
        ["`gzip -9`", "", heldOut.gzip.toFixed(3), ""],
        ["`xz -9e`", "", heldOut.xz.toFixed(3), ""],
    ];
    return table(["", "tokens seen", "bits a byte", "loss a token"], [...numbers, ...others]);
}

/** Three digits after the point; what is nothing of those is +0. */
function signed(number) {
    const rounded = Number(number.toFixed(3));
    return `${rounded < 0 ? "" : "+"}${rounded.toFixed(3)}`;
}

const percent = (share) => `${(100 * share).toFixed(1)}%`;

/** What is said of a head: a behaviour that the scores show, and whether it is needed. */
const caption = ({ name, needed }) =>
    [name || "no single behaviour", needed ? "needed" : ""].filter(Boolean).join(", ");

function headsTable({ attention, loss, lossOnce, lossTwice, heads }) {
    const rows = heads.map((head) => [
        `${head.layer}.${head.head}`,
        ...[head.previous, head.diagonal, head.first, head.local, head.induction].map(percent),
        signed(head.lossWithout - loss),
        caption(head),
    ]);
    const names = [
        "head",
        "previous",
        "itself",
        "first",
        "last 8",
        "induction",
        "loss without",
        "",
    ];
    const random =
        `Loss on random tokens: ${lossOnce.toFixed(2)}; on the same ones again: ` +
        `${lossTwice.toFixed(2)}.`;
    return [`**${attention}**`, "", ...table(names, rows), "", random, ""];
}

function between(text, mark, lines) {
    const [begin, end] = [`<!-- ${mark} -->\n`, `<!-- /${mark} -->`];
    const from = text.indexOf(begin) + begin.length;
    const until = text.indexOf(end);
    if (from < begin.length || until < from) throw new Error(`README.md has no marks ${mark}`);
    return `${text.slice(0, from)}\n${lines.join("\n")}\n\n${text.slice(until)}`;
}

/** Two digits. */
const short = (error) => error.toPrecision(2);

function methodsTable({ methods: rows }) {
    const layers = rows[0].layers.map((_, i) => `layer ${i + 1}`);
    return table(
        ["", ...layers, "pairs"],
        rows.map(({ name, layers: each }) => [
            name,
            ...each.map(({ error }) => short(error)),
            each[0].pairs === null ? "" : percent(each[0].pairs),
        ]),
    );
}

let readme = readFileSync(here("README.md"), "utf8");
readme = between(readme, "bits", bitsTable(measured));
readme = between(readme, "heads", measured.models.flatMap(headsTable).slice(0, -1));
readme = between(readme, "methods", methodsTable(measured));
writeFileSync(here("README.md"), readme);

// ---- the page's first sentence --------------------------------------------------------------------------

/** The largest number, and all as whole multiples of 1/32767 of it: little-endian, in base64. */
function pack(floats) {
    const most = floats.reduce((so, x) => Math.max(so, Math.abs(x)), 0);
    const numbers = Int16Array.from(floats, (x) => Math.round((x / most) * 32767));
    return { most, numbers: Buffer.from(numbers.buffer).toString("base64") };
}

/** The layer whose heads the model needs most. */
function layerToShow({ loss, heads }) {
    const rise = new Map();
    for (const { layer, lossWithout } of heads)
        rise.set(layer, (rise.get(layer) ?? 0) + lossWithout - loss);
    return [...rise].sort(([, a], [, b]) => b - a)[0][0];
}

function sentence() {
    const [softmax] = measured.models;
    const layer = layerToShow(softmax);
    const [tokens, parts] = withDump(({ files, to }) => {
        dump(SENTENCE, [...files, "--tokens", to("tokens")], layer);
        const names = ["query", "key", "value"];
        return [
            JSON.parse(readFileSync(to("tokens"), "utf8")),
            names.map((name) => [name, readArray(to("."), `${name}.npy`).data]),
        ];
    });
    const heads = softmax.heads.filter((head) => head.layer === layer);
    const dim = parts[0][1].length / heads.length / tokens.length;
    return {
        ...{ sentence: SENTENCE, attention: "softmax", layer, tokens },
        ...{ heads: heads.length, dim, scale: 1 / Math.sqrt(dim) },
        captions: heads.map(({ name, needed }) => ({ name, needed })),
        ...Object.fromEntries(parts.map(([name, floats]) => [name, pack(floats)])),
    };
}

writeFileSync(
    here("../../../web/src/presets/text.json"),
    `${JSON.stringify(sentence(), null, 1)}\n`,
);
