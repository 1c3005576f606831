// Measures libattn beside its peers; run.sh has built and installed what this needs.
//
// usage: ATTN_PEERS=FOLDER node run.mjs [--quick] [--seconds S] [--newest | --own] [--against COMMIT]
//                                       [FAMILY or ROW...]
//
// Writes results.md, results.csv, results.json and FAMILY.svg into the folder, after every family.

import { execFile } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { cpus } from "node:os";
import { promisify } from "node:util";
import { thisCommit } from "./commit.mjs";
import { makeInputs } from "./inputs.mjs";
import { measureRow } from "./measure.mjs";
import { options } from "./options.mjs";
import { attn, inRoot } from "./paths.mjs";
import { mostOf } from "./peaks.mjs";
import { plot } from "../results/plot.mjs";
import { replaceFile } from "../results/readme.mjs";
import { resultsOf } from "../results/results.mjs";
import { csv, digits, markdown } from "../results/table.mjs";

async function aboutThisRun() {
    const calibrate = ["bench", "--calibrate", "--backend=softmax", "--md"];
    const { stdout: calibration } = await promisify(execFile)(attn, calibrate);
    return {
        calibration,
        cpu: `${cpus()[0].model}, ${cpus().length} CPUs`,
        system: `${process.platform} ${process.arch}, Node ${process.versions.node}`,
        date: new Date().toISOString().slice(0, 10),
        commit: thisCommit(),
    };
}

/** One line as soon as a row is measured: medians in milliseconds. */
function tell(results) {
    const parts = results.map(({ contender, ms, failure }) =>
        failure ? `${contender} ${failure.slice(0, 40)}` : `${contender} ${digits(ms)}`,
    );
    console.error(`${results[0].row}: ${parts.join("; ")}`);
}

function write(calibrated, families, measured) {
    const about = { ...calibrated, peaks: mostOf(measured) };
    const results = measured.flatMap(resultsOf);
    const done = families.filter(({ id }) => results.some(({ family }) => family === id));
    const put = (name, text) => replaceFile(inRoot(name), text);
    put("results.json", `${JSON.stringify({ ...about, results }, null, 2)}\n`);
    put("results.csv", csv(results));
    put("results.md", markdown(about, done, results));
    for (const family of done) put(`${family.id}.svg`, plot(family, results));
}

const { families, ...budget } = options;
const about = await aboutThisRun();
const log = openSync(inRoot("stderr.log"), "w");
const measured = [];
await makeInputs(families.flatMap(({ rows }) => rows.map(({ task }) => task)));
for (const family of families) {
    for (const row of family.rows) {
        measured.push({ family, row, ...(await measureRow(family, row, budget, log)) });
        tell(resultsOf(measured.at(-1)));
    }
    write(about, families, measured);
}
closeSync(log);
console.error(`written: ${inRoot("results.{md,csv,json}")} and a figure for each family`);
