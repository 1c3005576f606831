// Measures the table of backends in README.md and writes it there:
//     ./dev build && ./dev wasm && node bench/measure/readme-table.mjs
// Cells are speed / error, natively and for the same sources in WebAssembly under node:wasi; and errors on the heads of a
// trained model.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeMarked } from "../peers/results/readme.mjs";

const root = join(import.meta.dirname, "..", "..");
const shape = ["--n", "1024", "--d", "64", "--heads", "8", "--json"];

function bench(command, args) {
    const options = { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
    return JSON.parse(execFileSync(command, [...args, "bench", ...shape], options));
}

const native = bench(join(root, "build", "attn"), []);
const wasm = bench(process.execPath, [
    join(root, "wasm", "toolchain", "run-wasi.mjs"),
    join(root, "build", "wasi", "bench", "attn.wasm"),
]);
const settings = { linear: "`elu(x)+1`", sparse: "B = 32", sketch: "32 of 64 features" };

/* The heads of the trained language model as it reads a text, and random ones of the same sizes. */
const TEXT =
    "In the beginning God created the heaven and the earth. And the earth was without form, and void; and " +
    "darkness was upon the face of the deep. And the Spirit of God moved upon the face of the waters. And God " +
    "said, Let there be light: and there was light. And God saw the light, that it was good: and God divided the " +
    "light from the darkness.";
const attn = join(root, "build", "attn");
const json = (...args) =>
    JSON.parse(
        execFileSync(attn, [...args, "--causal", "--time", "0.01", "--json"], { cwd: root }),
    );
const folder = mkdtempSync(join(tmpdir(), "attn-heads-"));
const heads = ["q", "k", "v"].flatMap((part) => [`--${part}`, join(folder, `${part}.npy`)]);
execFileSync(attn, ["lab", "dump", "text", TEXT, ...heads]);
const trained = json("compare", ...heads);
rmSync(folder, { recursive: true });
const [layers, count, n, d] = trained.q.map(String);
const random = json("bench", "--heads", String(layers * count), "--n", n, "--d", d);
const errorOf = ({ rows }, name) =>
    rows.find(({ backend }) => backend === name).error.toPrecision(2);

/* A kernel's name begins with its tier's. */
const tierOf = ({ rows: [row] }) => row.kernel.split(" ")[0];
const cell = (row) => `${row.ms.toFixed(1)} ms / ${row.error.toPrecision(2)}`;
const lines = native.rows.map((row) => {
    const other = wasm.rows.find(({ backend }) => backend === row.backend);
    const name = [row.backend, settings[row.backend]].filter(Boolean).join(", ");
    return (
        `| ${name} | ${cell(row)} | ${cell(other)} | ` +
        `${errorOf(trained, row.backend)} / ${errorOf(random, row.backend)} |`
    );
});
const table = [
    `| backend | native (${tierOf(native)}) | WebAssembly | error: trained / random |`,
    "|---|---|---|---|",
    ...lines,
    "",
    `${native.host.cpu ?? native.host}, ${new Date().toISOString().slice(0, 10)}, ` +
        `at a peak of ${native.peak_gflops.toFixed(0)} GFLOP/s.`,
].join("\n");

writeMarked(join(root, "README.md"), { table });
console.log(table);
