// Draws how a model with softmax attention comes to its answer: what each head of each layer looks at, token by token.
//     node bench/labs/models/thought.mjs arithmetic "3 + 4 * 2" > bench/labs/models/thought.svg
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { escaped } from "../../../web/escaped.js";

const [task, question] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "attn-thought-"));
const attn = (...args) =>
    execFileSync(join(import.meta.dirname, "../../../build/attn"), args, {
        cwd: folder,
        encoding: "utf8",
    });

const said = attn("lab", "solve", task, question).split("\n")[0].split(" ");
const files = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"];
attn("lab", "dump", task, question, ...files);
attn("run", "softmax", ...files, "--causal", "-o", "o.npy", "--weights", "w.npy");
const file = readFileSync(join(folder, "w.npy"));
rmSync(folder, { recursive: true });
const start = 10 + file.readUInt16LE(8);
const [layers, heads, n] = /'shape': \(([^)]*)\)/
    .exec(file.toString("latin1", 0, start))[1]
    .split(", ")
    .map(Number);
const weight = (layer, head, i, j) =>
    file.readFloatLE(start + 4 * (((layer * heads + head) * n + i) * n + j));

const CELL = 14;
const [LEFT, TOP, GAP] = [76, 48, 18];
const SIDE = n * CELL;
const [width, height] = [LEFT + heads * (SIDE + GAP), TOP + layers * (SIDE + GAP)];
const range = (count) => Array.from({ length: count }, (_, i) => i);
const text = (x, y, anchor, content) =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(content)}</text>`;

/* Rows of a head: the cells that weigh at least a fiftieth. */
function cells(layer, head) {
    const [x, y] = [LEFT + head * (SIDE + GAP), TOP + layer * (SIDE + GAP)];
    const seen = range(n).flatMap((i) =>
        range(i + 1)
            .map((j) => [i, j, weight(layer, head, i, j)])
            .filter(([, , w]) => w >= 0.02),
    );
    return [
        `<path class="frame" d="M${x} ${y}h${CELL}${`v${CELL}h${CELL}`.repeat(n - 1)}v${CELL}h${-SIDE}z"/>`,
        ...seen.map(
            ([i, j, w]) =>
                `<rect x="${x + j * CELL}" y="${y + i * CELL}" width="${CELL}" height="${CELL}" fill-opacity="${w.toFixed(2)}"/>`,
        ),
    ];
}

/* What a token is, and what the model says behind it once the question is over. */
const asked = said.indexOf(task === "arithmetic" ? "=" : "<sep>");
const rowLabel = (i) => (i < asked ? said[i] : `${said[i]} → ${said[i + 1]}`);
const labels = [
    ...range(heads).flatMap((head) => {
        const x = LEFT + head * (SIDE + GAP);
        const keys = range(n).map((j) => text(x + (j + 0.5) * CELL, TOP - 5, "middle", said[j]));
        return [text(x + SIDE / 2, TOP - 24, "middle", `head ${head + 1}`), ...keys];
    }),
    ...range(layers).flatMap((layer) => {
        const y = TOP + layer * (SIDE + GAP);
        const name = text(LEFT - 8, y - (layer ? 4 : 24), "end", `layer ${layer + 1}`);
        const rows = range(n).map((i) => text(LEFT - 8, y + (i + 0.75) * CELL, "end", rowLabel(i)));
        return [name, ...rows];
    }),
];

console.log(
    `<svg xmlns="http://www.w3.org/2000/svg" class="thought" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(said.join(" "))}: what each head looks at">
<desc>node bench/labs/models/thought.mjs ${task} "${escaped(question)}"</desc>
<style>
.thought text { font: 11px system-ui, -apple-system, 'Liberation Sans', sans-serif; fill: #333 }
.thought rect { fill: #0067b1 }
.thought .paper { fill: #fff }
.thought .frame { fill: none; stroke: #bbb }
@media (prefers-color-scheme: dark) {
.thought text { fill: #ccc }
.thought rect { fill: #5db4f0 }
.thought .paper { fill: #16181c }
.thought .frame { stroke: #555 }
}
</style>
<rect class="paper" width="${width}" height="${height}"/>
${range(layers)
    .flatMap((layer) => range(heads).flatMap((head) => cells(layer, head)))
    .concat(labels)
    .join("\n")}
</svg>`,
);
