// `attn lab run reasoning`: grids of cells: figures of what there is, cells that `attn lab train` made, a kill in the
// middle of one, presets.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
    appendFileSync,
    copyFileSync,
    existsSync,
    mkdirSync,
    readFileSync,
    rmSync,
    writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { attn, contents, program, withFiles } from "./command.mjs";
import { assertWellFormed, nativeOnly, read, refuse, seal, succeed } from "./lab.mjs";

// Little models; arithmetic with 2 operators, softmax attention at D = 16 is the cheapest cell, which comes first.
const sets = ["layers=1", "heads=1", "batch=50", "tests=64"].flatMap((set) => ["--set", set]);
const grid = (panel, thousands, ...more) => [
    ...["run", "reasoning", "--panel", panel, "--trials", String(thousands)],
    ...[...sets, "-o", "out", ...more],
];
const train = (thousands, file, ...more) => [
    ...[
        "train",
        "arithmetic",
        "--n",
        "2",
        "--d",
        "16",
        "--layers",
        "1",
        "--heads",
        "1",
        "--batch",
        "50",
    ],
    ...["--samples", String(thousands), "-o", file, ...more],
];
const cell = "arithmetic-2-softmax-d16-l1-s1.study";

/** What stops before it is complete: {stdout, stderr}. */
function stopped(args, folder) {
    const { status, stdout, stderr } = attn(["lab", ...args], folder);
    assert.equal(status, 1, stderr);
    assert.match(
        stderr,
        /^attn: stopped: \d+ of \d+ points are finished and kept in out; [^\n]+\n$/,
    );
    return { stdout, stderr };
}

const rowsOf = (folder, panel) =>
    JSON.parse(read(folder, `out/reasoning-${panel}.json`)).points.filter((p) => p.right !== null);

describe("attn lab run reasoning", () => {
    it("makes the figures of a preset before there is a cell, and claims nothing", () => {
        withFiles({}, (folder) => {
            const { stderr } = stopped(
                ["run", "reasoning", "--preset", "laptop", "--minutes", "0", "-o", "out"],
                folder,
            );
            assert.match(stderr, /0 of 207 points/);
            const panels = ["softmax", "figure-1", "figure-2", "figure-3", "table-2", "widths-lis"];
            for (const panel of panels) {
                const json = JSON.parse(read(folder, `out/reasoning-${panel}.json`));
                const verdict = panel === "table-2" ? "illustration" : "undecided"; // ties decide nothing
                assert.equal(json.verdict, verdict, panel);
                assertWellFormed(read(folder, `out/reasoning-${panel}.svg`));
            }
            const csv = read(folder, "out/reasoning-figure-1.csv").trimEnd().split("\n");
            assert.equal(
                csv[0],
                "x,task,n,attention,d,seed,right,low,high,whole,samples,gflop,failed",
            );
            assert.equal(csv[1], "0,arithmetic,2,softmax,16,1,,,,,,,");
            assert.equal(csv.length, 1 + 81);
            const svg = read(folder, "out/reasoning-figure-1.svg");
            assert.equal(svg.match(/class="no-tile"/g).length, 81);
            assert.match(read(folder, "out/report.html"), /reasoning-table-2/);
        });
    });

    it("has the paper's sizes, too", () => {
        withFiles({}, (folder) => {
            stopped(
                ["run", "reasoning", "--preset", "paper", "--minutes", "0", "-o", "out"],
                folder,
            );
            const { points, parameters } = JSON.parse(
                read(folder, "out/reasoning-paper-figure-1.json"),
            );
            const sizes = (task) => [
                ...new Set(points.filter((p) => p.task === task).map(({ n }) => n)),
            ];
            assert.deepEqual(sizes("lis"), [40, 110, 175, 250]);
            assert.deepEqual(sizes("arithmetic"), [6, 10, 13, 16]);
            assert.equal(parameters.batch, 512);
            assert.equal(parameters.rate, 0.0001);
            assert.equal(parameters.modulus, 11);
            assert.ok(!existsSync(join(folder, "out/reasoning-figure-1.json")));
        });
    });

    it("takes a cell that `attn lab train` made, and shows it in every figure that has it", () => {
        withFiles({}, (folder) => {
            mkdirSync(join(folder, "out"));
            const told = succeed(train(2, `out/${cell}`), folder);
            const bytes = readFileSync(join(folder, "out", cell));
            for (const panel of ["softmax", "figure-1"]) {
                stopped(grid(panel, 2, "--minutes", "0"), folder);
                const [row, ...others] = rowsOf(folder, panel);
                assert.deepEqual(others, []);
                assert.deepEqual(
                    [row.task, row.n, row.d, row.samples],
                    ["arithmetic", 2, 16, 2000],
                );
                assert.match(told, /% of answers right/);
                const tiles = read(folder, `out/reasoning-${panel}.svg`).match(/class="tile"/g);
                assert.equal(tiles.length, 1);
            }
            assert.deepEqual(readFileSync(join(folder, "out", cell)), bytes);
            const other = grid("softmax", 2, "--minutes", "0", "--set", "rate=0.5");
            const refused = () => {
                const { status, stderr } = attn(["lab", ...other], folder);
                assert.equal(status, 2);
                assert.match(stderr, /^[^\n]+\n$/, "nothing goes on from there");
                return stderr;
            };
            const points = readFileSync(join(folder, "out/reasoning-softmax.points"));
            const why =
                /^attn: out\/reasoning-softmax\.points: .* rate=auto, .* rate=0\.5: .* remove /;
            assert.match(refused(), why);
            assert.deepEqual(readFileSync(join(folder, "out/reasoning-softmax.points")), points);
            rmSync(join(folder, "out/reasoning-softmax.points"));
            assert.match(
                refused(),
                /^attn: out\/arithmetic-2-softmax-d16-l1-s1\.study: .*rate=0\.004, .*rate=0\.5\n/,
            );
            stopped([...grid("softmax", 2, "--minutes", "0"), "--restart"], folder);
            assert.ok(!existsSync(join(folder, "out", cell)));
            assert.deepEqual(rowsOf(folder, "softmax"), []);
        });
    });

    it("marks a cell that is damaged or diverges, and goes on with the others", () => {
        withFiles({}, (folder) => {
            const path = join(folder, "out", cell);
            succeed(grid("table-2", 1), folder);
            const bytes = readFileSync(path);
            const damaged = Buffer.from(bytes);
            damaged[bytes.length >> 1] ^= 4;
            writeFileSync(path, damaged);
            rmSync(join(folder, "out/reasoning-table-2.points"));
            const run = attn(["lab", ...grid("table-2", 1)], folder);
            assert.equal(run.status, 0, run.stderr);
            assert.match(run.stderr, /table-2, x = 2: arithmetic-2-softmax-.*: .* damaged/);
            assert.match(run.stderr, /^[^\n]+\n$/);
            const rows = read(folder, "out/reasoning-table-2.csv").trimEnd().split("\n");
            assert.match(rows[1], /^2,.*,"arithmetic-2-softmax-.*: the checkpoint is damaged.*"$/);
            assert.match(rows[2], /^3,.*,$/);
            const { points } = JSON.parse(read(folder, "out/reasoning-table-2.json"));
            assert.match(points[0].failed, /damaged/);
            assert.equal(points[1].failed, undefined);
            const strict = attn(["lab", ...grid("table-2", 1, "--strict")], folder);
            assert.equal(strict.status, 1);
            assert.deepEqual(readFileSync(path), damaged);

            copyFileSync(path.replace("softmax", "linear"), path); // of another training: it stops there
            const { status, stderr } = attn(["lab", ...grid("table-2", 1)], folder);
            assert.equal(status, 2);
            const [line] = stderr.split("\n");
            assert.match(line, /table-2, x = 2: arithmetic-2-softmax-.*: .*=linear, .*=softmax$/);
        });
    });

    /** A checkpoint with a weight that is no number, of a training that is not at its end. */
    function spoil(file) {
        const bytes = readFileSync(file);
        bytes.writeFloatLE(NaN, bytes.indexOf("\n\n") + 2);
        const tail = bytes.length - 40; // step, looked, enough, loss, sum
        bytes.writeBigInt64LE(5n, tail);
        bytes.writeBigInt64LE(0n, tail + 16);
        writeFileSync(file, seal(bytes));
        return bytes;
    }

    it("tells which cell diverged, with its folder, in the figure, too", () => {
        withFiles({}, (folder) => {
            const path = join(folder, "out", cell);
            mkdirSync(join(folder, "out"));
            succeed(train(9, `out/${cell}`), folder);
            const bytes = spoil(path);
            const args = grid("softmax", 9, "--threads", "1");
            const run = () => attn(["lab", ...args, "--minutes", "0.05"], folder);
            const isBare = ({ stderr }) => stderr.includes(" 0 of 36 points");
            let said = run();
            for (let i = 0; i < 20 && isBare(said); i++) said = run(); // a busy machine takes longer
            const { status, stderr } = said;
            const why = "training diverged: the gradient of step 5 is not finite";
            assert.equal(status, 1); // it was stopped
            assert.ok(stderr.startsWith(`attn: out/${cell}: ${why}\nattn: stopped: `), stderr);
            assert.ok(!isBare(said), stderr);
            assert.deepEqual(readFileSync(path), bytes);
            const csv = read(folder, "out/reasoning-softmax.csv");
            assert.ok(csv.includes(`\n0,arithmetic,2,softmax,16,1,,,,,,,"${why}"\n`), csv);
            const svg = read(folder, "out/reasoning-softmax.svg");
            assert.equal(svg.match(/>failed<\/text>/g).length, 1);
            assertWellFormed(svg);
        });
    });

    /** WCAG's contrast of two colours, each [red, green, blue]. */
    function contrast(...colours) {
        const [a, b] = colours.map((colour) => {
            const [r, g, b] = colour.map((c) =>
                c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
            );
            return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
        });
        return Math.max(a, b) / Math.min(a, b);
    }

    it("has ink on its tiles that can be read, light and dark", () => {
        withFiles({}, (folder) => {
            const args = grid("softmax", 1, "--minutes", "0");
            stopped(args, folder);
            const path = join(folder, "out/reasoning-softmax.points");
            const kinds = ["lis", "ed", "ed_local", "arithmetic"];
            const { points } = JSON.parse(read(folder, "out/reasoning-softmax.json"));
            const lines = points.map(({ x, task, n, d }) =>
                [x, x, kinds.indexOf(task), n, 0, d, 1, x / 35, 0, 1, 0, 0, 0].join(" "),
            );
            appendFileSync(path, lines.map((line) => `${line}\n`).join(""));
            succeed(args, folder);
            const svg = read(folder, "out/reasoning-softmax.svg");
            const [light, dark] = svg.match(/<style>([^]*?)<\/style>/)[1].split("@media");
            const colour = (css, name) => {
                const [, hex] = css.match(new RegExp(`\\.${name} \\{ fill: #(\\w+)`)) ?? [];
                const full = hex?.length === 3 ? hex.replace(/./g, "$&$&") : hex;
                return full?.match(/../g).map((two) => parseInt(two, 16));
            };
            const tiles = svg.matchAll(
                /class="tile"[^>]*fill-opacity="(\S+)"\/>\n<text class="([^"]*)"/g,
            );
            let count = 0;
            for (const [, opacity, classes] of tiles) {
                for (const [css, white] of [
                    [light, "white"],
                    [dark, "white-at-night"],
                ]) {
                    const paper = colour(css, "paper");
                    const ink = colour(css, classes.split(" ").includes(white) ? white : "on-tile");
                    const under = colour(css, "tile").map(
                        (c, i) => paper[i] + (c - paper[i]) * Number(opacity),
                    );
                    assert.ok(contrast(ink, under) >= 4.5, `${opacity} ${classes}`);
                }
                count++;
            }
            assert.equal(count, 36);
        });
    });

    /** Starts it, waits until `seen(stdout)`, and kills it. */
    async function kill(args, folder, seen) {
        const child = spawn(program, ["lab", ...args], {
            cwd: folder,
            stdio: ["ignore", "pipe", "inherit"],
        });
        let stdout = "";
        child.stdout.on("data", (bytes) => (stdout += bytes));
        const end = new Promise((resolve) => child.on("close", (_, by) => resolve(by)));
        while (!seen(stdout) && child.exitCode === null) await sleep(5);
        child.kill("SIGKILL");
        assert.equal(await end, "SIGKILL");
        return stdout;
    }

    it(
        "goes on with a cell that was killed, to the same bytes as without",
        nativeOnly,
        async () => {
            await withFiles({}, async (folder) => {
                succeed(train(20, "whole.study"), folder);
                const whole = readFileSync(join(folder, "whole.study"));
                const args = grid("softmax", 20, "--threads", "1", "--keep", "0.02");
                const step = (text) =>
                    Number(text.match(/^arithmetic-2-softmax-d16-l1-s1\.study: step (\d+) /)[1]);
                const current = () => readFileSync(join(folder, "out", cell));
                const first = await kill(args, folder, (stdout) => stdout.includes("\n"));
                assert.notDeepEqual(current(), whole);
                copyFileSync(join(folder, "out", cell), join(folder, "half.study"));
                const second = await kill(args, folder, () => current().equals(whole));
                assert.ok(step(second) > step(first));
                succeed(train(20, "half.study"), folder);
                assert.deepEqual(readFileSync(join(folder, "half.study")), whole);
            });
        },
    );

    it("is left out of all labs, and has its presets alone", () => {
        withFiles({}, (folder) => {
            const all = ["run", "all", "--set", "reasoning.batch=8", "-o", "out"];
            refuse(all, folder, /reasoning: is of no lab that runs/);
            const preset = (lab, name, ...more) => [
                ...["run", lab, "--preset", name, "-o", "out", ...more],
            ];
            refuse(
                preset("reasoning", "desk"),
                folder,
                /no preset 'desk': there are laptop, paper$/m,
            );
            refuse(preset("separation", "laptop"), folder, /lab separation has no presets/);
            refuse(preset("all", "laptop"), folder, /--preset needs one lab/);
            refuse(preset("reasoning", "laptop", "--minutes", "-1"), folder, /--minutes: -1 is/);
            refuse(preset("reasoning", "laptop", "--keep", "-1"), folder, /--keep: -1 is/);
            refuse(train(1, "x", "--keep", "nan"), folder, /--keep: /);
            refuse(preset("reasoning", "laptop", "--panel", "softmax"), folder, /no --panel/);
            refuse(
                ["run", "reasoning", "--set", "heads=16", "--set", "modulus=9", "-o", "out"],
                folder,
                /modulus 9, expected a prime/,
            );
            assert.deepEqual(contents(folder), {});
        });
    });
});
