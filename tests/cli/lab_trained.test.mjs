// The trained models that ship: small, as good as they are said to be, and made by the command that is said to.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { random } from "./attention.mjs";
import { isWasi } from "./command.mjs";
import { refuse, succeed } from "./lab.mjs";

const folder = fileURLToPath(new URL("../../bench/labs/models/", import.meta.url));
const models = readdirSync(folder).filter((name) => /^(?!text-).*\.model$/.test(name)); // lab_written has those
const table = readFileSync(`${folder}README.md`, "utf8");
const QUESTIONS = isWasi ? 5 : 20;

/** The lines of a model as an object. */
function linesOf(bytes) {
    const lines = bytes.toString("latin1").split("\n\n")[0].split("\n");
    return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s)));
}

/* ---- questions and their answers, by the definitions ------------------------------------------------ */

/** Whole numbers of a seed. */
function* draws(seed) {
    for (let i = 1; ; i++) yield Math.floor(((random(2, 1000 * seed + i)[1] + 1) / 2) * 1e6);
}

function lis({ size }, draw) {
    const n = Number(size);
    const x = Array.from({ length: n }, () => n + 1 + draw(149 - n));
    const longest = [];
    x.forEach((value, i) => {
        const before = longest.filter((_, j) => x[j] < value);
        longest[i] = 1 + Math.max(0, ...before);
    });
    return [x.join(" "), Math.max(...longest)];
}

function edit({ size, band = 100 }, draw) {
    const word = () => Array.from({ length: Number(size) }, () => "abcd"[draw(4)]).join("");
    const [s, t] = [word(), word()];
    const distance = (i, j) => {
        if (Math.abs(i - j) > band) return Infinity;
        if (i === 0 || j === 0) return 2 * (i + j);
        return Math.min(
            distance(i - 1, j) + 2,
            distance(i, j - 1) + 2,
            distance(i - 1, j - 1) + (s[i - 1] === t[j - 1] ? 0 : 3),
        );
    };
    return [`${s} ${t}`, distance(s.length, t.length)];
}

/** A random tree of operators, with brackets where its text needs them. */
function arithmetic({ size, modulus }, draw) {
    const p = Number(modulus);
    const make = (operators) => {
        if (operators === 0) {
            const value = draw(p);
            return { text: String(value), value, rank: 3 };
        }
        const left = draw(operators);
        const [a, b] = [make(left), make(operators - 1 - left)];
        const sign = "+-*/"[draw(b.value === 0 ? 2 : 4)]; // samples have no factor of 0 either
        const rank = "+-".includes(sign) ? 1 : 2;
        const inverse = [...Array(p).keys()].find((x) => (x * b.value) % p === 1);
        const value = {
            "+": a.value + b.value,
            "-": a.value - b.value + p,
            "*": a.value * b.value,
            "/": a.value * inverse,
        }[sign];
        const bracket = ({ text, rank: own }, least) => (own < least ? `(${text})` : text);
        const text = `${bracket(a, rank)} ${sign} ${bracket(b, rank + 1)}`;
        return { text, value: value % p, rank };
    };
    const { text, value } = make(Number(size));
    return [text, value];
}

const ask = { lis, ed: edit, ed_local: edit, arithmetic };

/* ---- tests ------------------------------------------------------------------------------------------- */

describe("trained models", () => {
    for (const name of models) {
        const bytes = readFileSync(folder + name);
        const lines = linesOf(bytes);
        const { task, attention, seed, tests, answers, command } = lines;
        const share = answers / tests;

        it(`${name} is small, named by what it is of, and in the table`, () => {
            assert.ok(bytes.length <= 300_000);
            assert.equal(name, `${task}-${attention}.model`);
            assert.ok(tests >= 2000 && share >= 0.9);
            const row = table.split("\n").find((line) => line.startsWith(`| \`${name}\``));
            const [percent, ...rest] = row.split(" | ").slice(2);
            assert.ok(Math.abs(Number.parseFloat(percent) - 100 * share) <= 0.051, percent);
            assert.equal(rest.join(" | "), `${seed} | \`${command}\` |`);
        });

        it(`${name} answers most questions, and its answers are judged by the definitions`, () => {
            const numbers = draws(7);
            const draw = (count) => numbers.next().value % count;
            let right = 0;
            for (let i = 0; i < QUESTIONS; i++) {
                const [question, expected] = ask[task](lines, draw);
                const said = succeed(["solve", task, question, "--attention", attention]);
                const [, verdict, answer] = said.match(
                    /\n(right|wrong): (\S+?)(?:[,;].*)?\n(?:it has learned .*\n)?state: /,
                );
                assert.equal(verdict === "right", Number(answer) === expected, question + said);
                right += verdict === "right";
            }
            // of independent questions answered with probability `share`, within four deviations
            const low = QUESTIONS * share - 4 * Math.sqrt(QUESTIONS * share * (1 - share)) - 1;
            assert.ok(right >= low, `${right} of ${QUESTIONS}`);
        });
    }

    it("say what they think", () => {
        const said = succeed(["solve", "arithmetic", "3 + 4 * 2"]);
        assert.ok(said.startsWith("3 + 4 * 2 = 3 + 3 = 1 <eos>\nright: 1\nstate: "), said);
    });

    it("refuse what is no problem of theirs", () => {
        refuse(["solve", "arithmetic", "(3 + 4"], undefined, /a bracket is not closed/);
        refuse(["solve", "arithmetic", "3 + 7"], undefined, /7 is outside of the task's 0 to 4/);
        refuse(["solve", "arithmetic", "1 + 1 + 1 + 1"], undefined, /more than the 2 operators/);
        refuse(["solve", "lis", "one two"], undefined, /'one' is none of the task's tokens/);
    });
});
