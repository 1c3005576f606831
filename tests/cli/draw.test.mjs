// `attn lab draw`: figures of finished runs, from their JSON alone.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { attn, withFiles } from "./command.mjs";
import { assertWellFormed, read, refuse, small, succeed } from "./lab.mjs";

const shipped = fileURLToPath(new URL("../../bench/labs/figures/", import.meta.url));
const runs = readdirSync(shipped).filter((name) => name.endsWith(".json"));
const run = "separation-3b.json";

/** Calls `body` with what a folder `in` has that holds this text as the run of a panel. */
function withRun(text, body, name = run) {
    withFiles({}, (folder) => {
        mkdirSync(join(folder, "in"));
        writeFileSync(join(folder, "in", name), text);
        body(folder);
    });
}
const refuseRun = (text, says, name) =>
    withRun(text, (folder) => refuse(["draw", "in", "-o", "out"], folder, says), name);

describe("attn lab draw", () => {
    it("draws a run again as it was drawn, to the byte", () => {
        withFiles({}, (folder) => {
            succeed([...small, "--seed", "7", "-o", "out"], folder);
            succeed(["run", "complexity", "--panel", "memory", "-o", "out"], folder);
            const grid = ["--panel", "widths-lis", "--minutes", "0"]; // tiles, and nothing in them
            attn(["lab", "run", "reasoning", ...grid, "-o", "out"], folder);
            const said = succeed(["draw", "out", "-o", "again"], folder);
            assert.equal(said, "again/report.html: 3 figures\n");
            for (const name of ["separation-3b", "complexity-memory", "reasoning-widths-lis"])
                assert.equal(read(folder, `again/${name}.svg`), read(folder, `out/${name}.svg`));
            assert.equal(read(folder, "again/report.html"), read(folder, "out/report.html"));
        });
    });

    it("draws each run that the repository has, with its own build and machine", () => {
        withFiles({}, (folder) => {
            succeed(["draw", shipped, "-o", "out"], folder);
            assert.equal(readdirSync(join(folder, "out")).length, runs.length + 1);
            for (const name of runs) {
                const { lab, panel, commit, tier, command } = JSON.parse(
                    readFileSync(join(shipped, name)),
                );
                const svg = read(folder, `out/${lab}-${panel.id}.svg`);
                assertWellFormed(svg);
                assert.ok(svg.includes(`<desc>${command}</desc>`), name);
                const text = svg.replaceAll(/<[^>]*>\s*/g, " ").replaceAll(/\s+/g, " ");
                assert.match(text, new RegExp(`\\(${commit}\\), ${tier}\\b`), name);
            }
        });
    });

    it("draws cells that failed", () => {
        const text = readFileSync(join(shipped, "reasoning-softmax.json"), "utf8");
        const json = JSON.parse(text);
        Object.assign(json.points[3], { right: null, low: null, high: null, failed: "diverged" });
        const draw = (folder) => {
            succeed(["draw", "in", "-o", "out"], folder);
            const svg = read(folder, "out/reasoning-softmax.svg");
            assert.equal(svg.match(/>failed<\/text>/g).length, 1);
        };
        withRun(JSON.stringify(json), draw, "reasoning-softmax.json");
    });

    const text = readFileSync(join(shipped, run), "utf8");
    const json = JSON.parse(text);
    const changed = (change) => JSON.stringify({ ...json, ...change });

    it("refuses a file that is cut", () => {
        for (let end = 0; end < text.length - 1; end += 997)
            refuseRun(text.slice(0, end), /^attn: in.separation-3b\.json: /);
    });

    it("says what is wrong in a file", () => {
        const { points, parameters } = json;
        const first = (change) => changed({ points: [{ ...points[0], ...change }] });
        refuseRun(changed({ points: points.slice(1) }), /json: has not the 100 points that its/);
        refuseRun(changed({ points: [...points, points[0]] }), /json: has not the 100 points/);
        refuseRun(changed({ points: [] }), /damaged: a point is no object/);
        refuseRun(changed({ points: undefined }), /damaged: no "points"/);
        refuseRun(first({ more: 1 }), /panel 3b has no column 'more'/);
        refuseRun(first({ success: "all" }), /point 1: 'success' is no value of this column/);
        refuseRun(first({ success: true }), /point 1: 'success' is no value of this column/);
        refuseRun(changed({ parameters: { ...parameters, n: "many" } }), /'many' is not a number/);
        refuseRun(changed({ parameters: { ...parameters, n: -1 } }), /parameter 'n'/);
        refuseRun(changed({ parameters: { ...parameters, more: 1 } }), /no parameter 'more'/);
        refuseRun(changed({ parameters: { ...parameters, m: 3 } }), /'m' is the axis of panel 3b/);
        refuseRun(changed({ parameters: 1 }), /"parameters" is no object/);
        refuseRun(changed({ verdict: "perhaps" }), /damaged: verdict/);
        refuseRun(changed({ command: "a".repeat(1e4) }), /damaged: command/);
        refuseRun(changed({ seed: -1 }), /damaged: seed/);
        refuseRun("[]", /damaged: no object/);
        refuseRun(`${text.trimEnd()} more`, /damaged: behind its end/);
        refuseRun(text.replace('"points"', '"points": [], "points"'), /damaged: a point is no/);
        refuseRun(text.replace(/\}\s*$/, ', "points": []}'), /damaged: "points" stands twice/);
    });

    it("refuses folders without runs", () => {
        refuseRun(text, /in: has no LAB-PANEL\.json of attn lab run/, "separation-none.json");
        withFiles({}, (folder) => {
            refuse(["draw", "none", "-o", "out"], folder, /none: has no LAB-PANEL\.json/);
            refuse(["draw", "none"], folder, /--output/);
            refuse(["draw", "-o", "out"], folder, /DIR/);
            refuse(["draw", ".", "-o", "-"], folder, /cannot go to standard output/);
        });
    });
});
