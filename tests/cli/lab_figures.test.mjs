// The figures of the lab reasoning that are committed: a folder that gets their cells draws them again, and judges as
// they say.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";

import { attn, withFiles } from "./command.mjs";
import { nativeOnly } from "./lab.mjs";

const figures = fileURLToPath(new URL("../../bench/labs/figures/", import.meta.url));
const names = readdirSync(figures).filter((name) => /^reasoning-.*\.csv$/.test(name));

it("committed figures of trained cells follow from their cells", nativeOnly, () => {
    withFiles({}, (folder) => {
        const run = (expected, ...more) => {
            const args = ["run", "reasoning", "--preset", "laptop", "--minutes", "0", "-o", "out"];
            const { status, stderr } = attn(["lab", ...args, ...more], folder);
            assert.equal(status, expected, stderr);
        };
        const give = (to = "out") =>
            execFileSync(process.execPath, [join(figures, "points.mjs"), to], {
                cwd: folder,
                encoding: "utf8",
                stdio: "pipe",
            });
        const made = (name) => readFileSync(join(folder, "out", name), "utf8");
        run(1); // nothing is there
        assert.doesNotMatch(give(), / 0 points|left alone/);
        assert.equal(give().match(/ 0 points/g).length, names.length); // each cell once
        run(0); // the figures have all cells
        for (const csv of names) {
            assert.equal(made(csv), readFileSync(join(figures, csv), "utf8"), csv);
            const json = csv.replace("csv", "json");
            const now = JSON.parse(made(json));
            const then = JSON.parse(readFileSync(join(figures, json), "utf8"));
            for (const key of ["verdict", "sure", "found"]) assert.equal(then[key], now[key], json);
            assert.equal(then.panel.criterion, now.panel.criterion, json);
        }
        const figure = join(folder, "out", names[0].replace("csv", "points"));
        const whole = readFileSync(figure, "utf8");
        writeFileSync(figure, whole.slice(0, -5)); // its last line was being written
        assert.match(give(), / 1 points/);
        assert.equal(readFileSync(figure, "utf8"), whole);
        writeFileSync(figure, whole.replace("\n\n", "\n"));
        assert.throws(give, /: is no file of points, or its head is damaged\n$/);
        assert.throws(() => give("."), /has no points of a figure here; first: attn lab run/);
        writeFileSync(figure, whole);
        const points = () => names.map((name) => made(name.replace("csv", "points")));
        const kept = points();
        for (const other of [
            ["--seed", "2"],
            ["--set", "seeds=2"],
            ["--set", "modulus=7"],
        ]) {
            run(2, ...other); // here is no checkpoint that they could be made again of
            assert.deepEqual(points(), kept, other.join(" "));
        }
        run(0, "--cpu", "scalar"); // another tier goes on, as another build does
        assert.deepEqual(points(), kept);
        run(1, "--set", "rate=0.5", "--restart");
        assert.match(give(), /left alone, as the figure is of set rate=auto/);
    });
});
