// Writes the tables and the figure of plugins/sparse/README.md: times of the last `./dev bench --peers sparse`,
// and what the patterns keep of softmax.
//
// usage: ATTN_PEERS=FOLDER node sparse.mjs

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { keptTable } from "./kept.mjs";
import { writeMarked } from "./readme.mjs";
import { lastRun } from "./report.mjs";
import { overDensity, overLength } from "./sparse_plot.mjs";
import { rowsOf, timesOfSparse } from "./sparse_tables.mjs";
import { digits } from "./table.mjs";

const plugin = join(import.meta.dirname, "..", "..", "plugins", "sparse");
const { results, cpu, date, commit, peaks } = lastRun();

const about =
    `${cpu}, ${date}, commit ${commit}; one core of ${digits(peaks.flops)} GFLOP/s, of ` +
    `${digits(peaks.wasm)} with SIMD128; f32, 8 heads (n = 65536: Eq. 6 one, dense attention 8 times one), d = 64, one query d = 128.`;
const sparse = results.filter(({ family }) => family.startsWith("sparse-"));
const times = `${about}\n\n${timesOfSparse(sparse)}`;
// All of it or nothing: whatever fails does so before the first is written.
const kept = await keptTable();
const figures = {
    "times-n.svg": overLength(rowsOf(sparse, "sparse-growth")),
    "times-density.svg": overDensity(rowsOf(sparse, "sparse-density")),
};
writeMarked(join(plugin, "README.md"), { times, kept });
for (const [name, figure] of Object.entries(figures)) writeFileSync(join(plugin, name), figure);
