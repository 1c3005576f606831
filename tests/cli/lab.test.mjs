// The papers' experiments from outside: files, resuming, wrong input.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { attn, contents, isWasi, withFiles } from "./command.mjs";
import { HEADER, assertWellFormed, nativeOnly, parseCsv, pointsOf, read } from "./lab.mjs";
import { refuse, small, succeed } from "./lab.mjs";

describe("attn lab list", () => {
    test("as text and as JSON", () => {
        const labs = JSON.parse(succeed(["list", "--json"]));
        const text = succeed(["list"]);
        assert.ok(labs.length >= 5);
        for (const { name, panels, params } of labs) {
            assert.match(text, new RegExp(`^${name}: `, "m"));
            for (const { id } of panels) assert.match(text, new RegExp(`--panel ${id} `));
            for (const param of params) assert.match(text, new RegExp(`--set ${param.name}=`));
        }
        const separation = labs.find(({ name }) => name === "separation");
        const drawn = separation.panels.filter(({ id }) => /^\d[a-f]$/.test(id));
        assert.equal(drawn.length, 19);
    });

    test("help names it", () => {
        assert.match(attn(["help"]).stdout, /\n {2}lab /);
        for (const args of [["--help"], ["list", "--help"], ["run", "--help"]])
            assert.match(succeed(args), /^usage: attn lab /);
    });
});

describe("attn lab run", () => {
    let folder;
    before(() => {
        folder = mkdtempSync(join(tmpdir(), "attn-lab-"));
        const report = succeed([...small, "--seed", "7", "-o", "out"], folder);
        assert.match(report, /^separation-3b +100 points in [0-9.]+ s\nout\/report\.html\n$/);
    });
    after(() => rmSync(folder, { recursive: true }));

    test("CSV", () => {
        const csv = read(folder, "out/separation-3b.csv");
        assert.equal(csv.slice(0, csv.indexOf("\n")), HEADER);
        const rows = parseCsv(csv);
        assert.deepEqual(
            rows.map(({ x }) => x),
            Array.from({ length: 100 }, (_, i) => i + 1),
        );
        for (const row of rows) {
            assert.equal(row.trials, 20);
            assert.ok(0 <= row.low && row.low <= row.success);
            assert.ok(row.success <= row.high && row.high <= 1);
            for (const name of ["success", "fexp1", "flin1", "fexp0", "flin0"])
                assert.equal(Math.round(row[name] * 20) / 20, row[name], name);
        }
        assert.ok(new Set(rows.map(({ success }) => success)).size > 3);
    });

    test("JSON has the same numbers, and the command that makes them again", () => {
        const json = JSON.parse(read(folder, "out/separation-3b.json"));
        assert.equal(json.seed, 7);
        assert.deepEqual(json.parameters, { net: "regression", n: 40, delta: 0.01, trials: 20 });
        assert.equal(json.lab, "separation");
        assert.equal(json.panel.id, "3b");
        assert.match(json.tier, /^[a-z0-9_-]+$/);
        assert.match(json.verdict, /^(?:holds|fails|undecided|illustration)$/);
        assert.ok(json.sure.length > 10 && json.found.length > 10);
        const names = HEADER.split(",");
        const csv = read(folder, "out/separation-3b.csv");
        assert.deepEqual(
            json.points.map((point) => Object.fromEntries(names.map((n) => [n, point[n]]))),
            parseCsv(csv),
        );
        for (const { close } of json.points) assert.ok(close >= 0); // in JSON only

        const [name, ...args] = json.command.split(" ");
        assert.equal(name, "attn");
        assert.deepEqual(args.slice(-2), ["-o", "results"]);
        succeed(args.slice(1), folder);
        for (const ending of ["csv", "json", "svg", "points"]) {
            const again = contents(join(folder, "results"))[`separation-3b.${ending}`];
            // the order of finished points is that of the threads
            if (ending === "points")
                assert.equal(pointsOf(Buffer.from(again, "hex").toString()).length, 100);
            else assert.equal(again, contents(join(folder, "out"))[`separation-3b.${ending}`]);
        }
    });

    test("SVG", () => {
        const json = JSON.parse(read(folder, "out/separation-3b.json"));
        const svg = read(folder, "out/separation-3b.svg");
        assertWellFormed(svg);
        const drawn = json.panel.columns.filter(({ mark }) =>
            ["line", "faint", "bound"].includes(mark),
        );
        const curves = [...svg.matchAll(/class="curve [^"]*" data-column="([^"]*)" d="([^"]*)"/g)];
        assert.deepEqual(
            curves.map(([, column]) => column).sort(),
            drawn.map((c) => c.name).sort(),
        );
        for (const [, , d] of curves) assert.equal(d.match(/[ML]/g).length, 100);
        assert.equal(svg.match(/class="band /g).length, 2); // itself, and in the legend
        assert.ok(svg.includes(`<desc>${json.command}</desc>`));
        for (const said of [
            /n\s=\s40,/,
            /trials\s=\s20,/,
            /seed\s=\s7</,
            /prefers-color-scheme: dark/,
        ])
            assert.match(svg, said);
        assert.ok(svg.includes(json.note));
    });

    test("a curve starts and ends where its numbers are", () => {
        const rows = parseCsv(read(folder, "out/separation-3b.csv"));
        const svg = read(folder, "out/separation-3b.svg");
        const d = svg.match(/data-column="success" d="([^"]*)"/)[1];
        const places = d.match(/[0-9.]+ [0-9.]+/g).map((place) => place.split(" ").map(Number));
        const axis = (mark) => {
            const ticks = [...svg.matchAll(mark)].map(([, at, label]) => [
                Number(at),
                Number(label),
            ]);
            assert.ok(ticks.length >= 4);
            const [[at0, value0], [at1, value1]] = [ticks[0], ticks.at(-1)];
            return (at) => value0 + ((at - at0) * (value1 - value0)) / (at1 - at0);
        };
        const x = axis(/<text x="([0-9.]+)" y="[0-9.]+" text-anchor="middle">([0-9.]+)</g);
        const y = axis(/<text x="[0-9.]+" y="([0-9.]+)" text-anchor="end">([0-9.]+)</g);
        rows.forEach((row, i) => {
            assert.ok(Math.abs(x(places[i][0]) - row.x) < 0.02);
            assert.ok(Math.abs(y(places[i][1] + 4) - row.success) < 0.002); // text is 4 below its line
        });
    });

    test("the report has the figures of the folder", () => {
        const page = read(folder, "out/report.html");
        assert.equal(page.match(/<figure /g).length, 1);
        assert.match(page, /<figure id="separation-3b">/);
        const svg = read(folder, "out/separation-3b.svg");
        const [, packed] = /<img alt="[^"]+" src="data:image\/svg\+xml;base64,([^"]+)">/.exec(page);
        assert.equal(Buffer.from(packed, "base64").toString(), svg);
        const json = JSON.parse(read(folder, "out/separation-3b.json"));
        const text = svg.replaceAll(/<[^>]*>\s*/g, " ").replaceAll("&gt;", ">");
        for (const said of [json.panel.claim, json.verdict, json.sure, json.found])
            assert.ok(text.replaceAll(/\s+/g, " ").includes(said), said);
        assert.match(page, /<code>attn lab run separation --panel 3b [^<]* --seed 7 /);
        for (const [, link] of page.matchAll(/href="([^"#]+)"/g))
            assert.ok(existsSync(join(folder, "out", link)), link);
        assert.doesNotMatch(page, /(?:src|href)="https?:/);
    });

    test("the report shows a foreign figure as an image, and nothing of it as markup", () => {
        const path = join(folder, "out/separation-3a.svg");
        const evil = "<script>alert(1)</script><b onclick=alert(1)>";
        for (const figure of [
            `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><desc>a &lt; ${evil}</desc>${evil}</svg>`,
            `</div>${evil}<style>body { display: none }</style><desc>${evil}`,
            `</desc>${evil}<desc>`,
            `"><b>${evil}`,
        ]) {
            writeFileSync(path, figure);
            succeed([...small, "--seed", "7", "-o", "out"], folder);
            const page = read(folder, "out/report.html");
            assert.match(page, /<figure id="separation-3a">/);
            const tags = new Set([...page.matchAll(/<([a-z][a-z0-9]*)/gi)].map(([, tag]) => tag));
            const own = ["html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "span"];
            const more = ["nav", "ul", "li", "a", "section", "div", "figure", "figcaption", "img"];
            for (const tag of tags) assert.ok([...own, ...more, "code"].includes(tag), tag);
            assert.equal(page.match(/<style/g).length, 1);
            assert.doesNotMatch(
                page.replaceAll(/<code>.*?<\/code>/gs, ""),
                /alert|onload|display: none/,
            );
            const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)[1];
            assert.match(policy, /^default-src 'none'; img-src data:; style-src 'unsafe-inline';/);
            assert.ok(page.indexOf("Content-Security-Policy") < page.indexOf("<style>"));
        }
        rmSync(path);
        succeed([...small, "--seed", "7", "-o", "out"], folder);
    });

    test("threads make no difference, seeds do", nativeOnly, () => {
        const csv = (...args) => {
            succeed([...small, ...args, "-o", "other", "--restart"], folder);
            return read(folder, "other/separation-3b.csv");
        };
        const expected = read(folder, "out/separation-3b.csv");
        assert.equal(csv("--seed", "7", "--threads", "1"), expected);
        assert.equal(csv("--seed", "7", "--threads", "3"), expected);
        assert.notEqual(csv("--seed", "8", "--threads", "2"), expected);
    });

    test("goes on after it was killed, also in the middle of a line", () => {
        const whole = contents(join(folder, "out"));
        const text = read(folder, "out/separation-3b.points");
        const points = pointsOf(text);
        const head = text.slice(0, text.indexOf("\n\n") + 2);
        const states = [
            [head.slice(0, 50), 0],
            [head, 0],
            [head + points.slice(0, 40).join("\n") + "\n", 40],
            [head + points.slice(0, 61).join("\n") + "\n" + points[61].slice(0, -4), 61],
            [text, 100],
        ];
        for (const [state, before] of states) {
            rmSync(join(folder, "again"), { recursive: true, force: true });
            mkdirSync(join(folder, "again"));
            writeFileSync(join(folder, "again/separation-3b.points"), state);
            const report = succeed([...small, "--seed", "7", "-o", "again"], folder);
            if (before) assert.match(report, new RegExp(`, ${before} from before\n`));
            const now = contents(join(folder, "again"));
            for (const name of ["separation-3b.csv", "separation-3b.json", "separation-3b.svg"])
                assert.equal(now[name], whole[name], name);
            assert.equal(now["report.html"], whole["report.html"]);
            assert.equal(pointsOf(read(folder, "again/separation-3b.points")).length, 100);
        }
    });

    test("refuses points of other settings, and drops them when told to", () => {
        cpSync(join(folder, "out"), join(folder, "kept"), { recursive: true });
        const before = contents(join(folder, "kept"));
        const kept = ["-o", "kept"];
        const cases = [
            [["--seed", "8"], /holds points with seed=7, and now it is seed=8: .*--restart/],
            [["--seed", "7", "--set", "n=41"], /holds points with n=40, and now it is n=41: /],
            [["--seed", "7", "--trials", "21"], /with trials=20, and now it is trials=21: /],
        ];
        for (const [args, message] of cases) {
            refuse([...small, ...args, ...kept], folder, message);
            assert.deepEqual(contents(join(folder, "kept")), before);
        }
        succeed([...small, "--seed", "8", ...kept, "--restart"], folder);
        assert.equal(JSON.parse(read(folder, "kept/separation-3b.json")).seed, 8);
        assert.equal(pointsOf(read(folder, "kept/separation-3b.points")).length, 100);
    });

    test("refuses a file that is none of its own", () => {
        mkdirSync(join(folder, "strange"));
        writeFileSync(join(folder, "strange/separation-3b.points"), "something else\n");
        refuse(
            [...small, "-o", "strange"],
            folder,
            /separation-3b\.points: is no file of attn lab/,
        );
        const text = read(folder, "out/separation-3b.points");
        const points = pointsOf(text);
        const damaged = text.replace(points[50], points[50].replace(" ", " 1"));
        writeFileSync(join(folder, "strange/separation-3b.points"), damaged);
        refuse([...small, "--seed", "7", "-o", "strange"], folder, /is no point of this panel/);
        if (isWasi) return;
        rmSync(join(folder, "strange/separation-3b.points"));
        execFileSync("mkfifo", [join(folder, "strange/separation-3b.points")]);
        for (const more of [[], ["--restart"]])
            // and waits for nobody who would write into it
            refuse(
                [...small, "-o", "strange", ...more],
                folder,
                /3b\.points: is no regular file: /,
            );
    });
});

describe("attn lab run, several panels", () => {
    test("parameters go where they belong", () => {
        withFiles({}, (folder) => {
            const args = ["run", "separation", "--panel", "3a,7b", "--panel=3b", "--trials=2"];
            succeed([...args, "--set", "separation.n=60", "--set", "a1=2", "-o", "out"], folder);
            const parameters = (panel) =>
                JSON.parse(read(folder, `out/separation-${panel}.json`)).parameters;
            assert.equal(parameters("3a").n, undefined); // its axis
            assert.equal(parameters("3b").n, 60);
            assert.equal(parameters("3b").a1, undefined); // regression has none
            assert.equal(parameters("7b").a1, 2);
            assert.equal(read(folder, "out/report.html").match(/<figure /g).length, 3);
        });
    });

    // In float32, COPY's error can be nothing at all, which a logarithmic axis has no place for.
    test("zeros on a logarithmic axis are marked", () => {
        withFiles({}, (folder) => {
            const panel = ["--panel", "eps", "--trials=1", "-o", "out"];
            succeed(["run", "constructions", ...panel], folder);
            const rows = parseCsv(read(folder, "out/constructions-eps.csv"));
            const kinds = ["agg", "copy", "sparse_copy"];
            const names = [...kinds, ...kinds.map((name) => `${name}_exact`)];
            const zeros = rows.flatMap((row) => names.filter((name) => row[name] === 0));
            assert.ok(zeros.length > 0);
            const svg = read(folder, "out/constructions-eps.svg");
            assert.equal(
                [...svg.matchAll(/<path class="zero [^>]*><title>/g)].length,
                zeros.length,
            );
            assert.match(svg, />exactly 0<\/text>/);
            assertWellFormed(svg);
            succeed([...small, "-o", "out"], folder);
            assert.doesNotMatch(read(folder, "out/separation-3b.svg"), /exactly 0/);
        });
    });

    test("points outside of the claim's premises are shaded", () => {
        withFiles({}, (folder) => {
            const panel = ["--panel", "3a,3b,4d,5d,5c", "--trials=1", "-o", "out"];
            succeed(["run", "separation", ...panel], folder);
            const shades = (id) => {
                const svg = read(folder, `out/separation-${id}.svg`);
                assertWellFormed(svg);
                return [
                    ...svg.matchAll(/<rect class="outside" x="[^"]*" y="[^"]*" width="([^"]*)"/g),
                ]
                    .map(([, width]) => Number(width))
                    .filter((width) => width !== 24); // the legend's
            };
            const [all] = shades("3a"); // m = log n is below log(n / delta) at every n
            assert.equal(shades("3a").length, 1);
            assert.ok(shades("3b")[0] < 0.2 * all);
            assert.equal(shades("4d")[0], all); // b^2 + c^2 = 1 nowhere
            assert.equal(shades("5d")[0], all); // 15 columns of signs are too few
            assert.ok(shades("5c")[0] < 0.5 * all); // up to 34
        });
    });

    test("every lab", nativeOnly, () => {
        withFiles({}, (folder) => {
            const labs = JSON.parse(succeed(["list", "--json"]));
            const panels = labs.flatMap(({ name, panels: all }) =>
                all.filter(({ serial }) => !serial).map((panel) => [name, panel]),
            );
            // separation's are all alike; reasoning trains models (lab_grid.test.mjs)
            const chosen = panels.filter(([name]) => name !== "separation" && name !== "reasoning");
            for (const { name } of labs) {
                const ids = chosen.filter(([lab]) => lab === name).map(([, { id }]) => id);
                const has = labs.find((lab) => lab.name === name).params;
                const trials = has.some((param) => param.name === "trials") ? ["--trials=1"] : [];
                if (!ids.length) continue;
                succeed(["run", name, "--panel", ids.join(","), ...trials, "-o", "out"], folder);
            }
            for (const [name, { id, grid, columns }] of chosen) {
                const rows = parseCsv(read(folder, `out/${name}-${id}.csv`));
                assert.deepEqual(
                    rows.map(({ x }) => x),
                    grid,
                );
                const inCsv = columns.filter(({ aside }) => !aside).map((column) => column.name);
                assert.deepEqual(Object.keys(rows[0]), inCsv);
                assertWellFormed(read(folder, `out/${name}-${id}.svg`));
            }
            const figures = read(folder, "out/report.html").match(/<figure /g);
            assert.equal(figures.length, chosen.length);
        });
    });
});

describe("attn lab, wrong input", () => {
    const separation = ["run", "separation", "-o", "out"];
    const cases = [
        ["no command", [], /a command is missing/],
        ["another command", ["walk"], /unknown command 'walk'/],
        ["no name", ["run", "-o", "out"], /NAME is missing/],
        ["no folder", ["run", "separation"], /--output is missing/],
        ["an unknown lab", ["run", "cooking", "-o", "out"], /'cooking': there are separation, /],
        ["an unknown panel", [...separation, "--panel", "9z"], /no panel '9z': there are 3a, 3b, /],
        ["no panel", [...separation, "--panel", ""], /the value of --panel is empty/],
        ["a panel twice", [...separation, "--panel", "3a,3a"], /panel '3a' is named twice/],
        ["panels of all", ["run", "all", "--panel", "3a", "-o", "out"], /--panel needs one lab/],
        ["an unknown parameter", [...separation, "--set", "k=1"], /has no parameter 'k'/],
        ["no assignment", [...separation, "--set", "n"], /'n' is not of the form NAME=VALUE/],
        ["another lab's", [...separation, "--set", "complexity.d=8"], /complexity: /],
        [
            "the axis",
            [...separation, "--panel", "3b", "--set", "m=3"],
            /'m' is the axis of panel 3b: its values are the grid's/,
        ],
        ["no number", [...separation, "--set", "n=many"], /'n': 'many' is not a number/],
        ["m = 0", [...separation, "--panel=4a", "--set", "m=0"], /'m': 0 is outside 1 to /],
        ["half a token", [...separation, "--panel=3b", "--set", "n=2.5"], /not a whole number/],
        ["d for self", [...separation, "--panel=4a", "--set", "d=2"], /'d': .* 3 or more/],
        ["a parameter of other networks", [...separation, "--panel=3a", "--set=b=1"], /'b'/],
        ["another network", [...separation, "--panel=4a", "--set=net=cross"], /'net'/],
        ["negative trials", [...separation, "--trials", "-5"], /'trials': -5 is outside 1 to/],
        ["no trials", [...separation, "--trials=0"], /'trials': 0 is outside 1 to/],
        ["no number of trials", [...separation, "--trials=few"], /'few' is not a number/],
        ["trials of none", ["run", "complexity", "--trials=5", "-o", "out"], /parameter 'trials'/],
        ["a negative seed", [...separation, "--seed", "-1"], /--seed: -1 is outside 0 to /],
        ["no seed", [...separation, "--seed", "x"], /--seed: 'x' is not a whole number/],
        ["no threads", [...separation, "--threads", "0"], /--threads: 0 is outside/],
        ["an unknown tier", [...separation, "--cpu", "abacus"], /abacus/],
        ["an unnamed folder", ["run", "separation", "-o", ""], /the value of --output is empty/],
    ];
    for (const [what, args, message] of cases) {
        test(what, () => {
            withFiles({}, (folder) => {
                refuse(args, folder, message);
                assert.deepEqual(contents(folder), {});
            });
        });
    }

    test("no place for a folder", () => {
        withFiles({ file: "text" }, (folder) => {
            const before = contents(folder);
            refuse([...small, "-o", "file"], folder, /file: cannot be written: it is no folder/);
            refuse([...small, "-o", "no/where"], folder, /no\/where: cannot be written: /);
            refuse([...small, "-o", "file/x"], folder, /file\/x: cannot be written: /);
            assert.deepEqual(contents(folder), before);
        });
    });

    test("threads in WebAssembly", { skip: !isWasi && "WASI only" }, () => {
        withFiles({}, (folder) => {
            refuse([...small, "--threads", "2", "-o", "out"], folder, /this build has 1/);
        });
    });
});
