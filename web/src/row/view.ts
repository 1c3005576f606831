/** Shows one row of a backend, step by step. */

import { element } from "../dom/dom";
import { count, significant } from "../dom/format";
import type { Label } from "../dom/terms";
import { formulas } from "./formulas";
import { featureBars, outputBars, stateImage, valueBars } from "./pictures";
import { runsOf, type KeySteps, type Steps } from "./steps";
import { columnTerms, errorTerm } from "./terms";
import { words } from "../words/words";

const { row: said } = words;
const mostKeys = 6; // of a table: those with the largest weights, here or exactly, and the pinned one
const mostRuns = 6; // of kept keys that are written out

/** Names of queries and keys, and labels that explain themselves. */
export interface Words {
    name(index: number): string;
    label: Label;
}

export function rowView(steps: Steps, named: Words): Node[] {
    return [
        element("p", { className: "sees" }, seen(steps)),
        table(steps, named),
        ...formulas(steps, named.name),
        ...[featureBars(steps, named.name)].filter((figure) => figure !== null),
        ...steps.states.map(stateImage),
        valueBars(steps, named.name),
        outputBars(steps),
        element(
            "p",
            { className: "row-error" },
            named.label(said.error, errorTerm),
            " ",
            element("data", { value: String(steps.error) }, significant(steps.error, 3)),
        ),
    ];
}

/** What the rules let the query see, what of it the backend keeps, and what has no weight nevertheless. */
function seen({ keys, total }: Steps): string {
    const sees = said.sees(keys.length, count(total, words.nouns.key));
    const rules = keys.length < total ? seenKeys(keys) : "";
    const zeros = keys.filter(({ weight, isKept }) => weight === 0 && isKept !== false).length;
    const none = zeros > 0 ? said.zeros(zeros) : "";
    const sentence = `${sees}${rules}${keeps(keys)}${none}`;
    return sentence.endsWith("…") ? sentence : `${sentence}.`;
}

/** Of the first keys the last, of others all. */
function seenKeys(keys: KeySteps[]): string {
    const runs = runsOf(keys);
    const [first] = runs;
    if (!first) return "";
    return runs.length === 1 && first[0] === 0 ? said.noneAfter(first[1]) : `: ${list(runs)}`;
}

function keeps(keys: KeySteps[]): string {
    if (keys.every(({ isKept }) => isKept === null)) return "";
    const kept = keys.filter(({ isKept }) => isKept);
    return kept.length === keys.length
        ? said.keepsAll
        : said.keeps(kept.length, list(runsOf(kept)));
}

function list(runs: ReturnType<typeof runsOf>): string {
    const listed = runs.slice(0, mostRuns).map(([first, last]) => {
        return first === last ? String(first) : `${first}–${last}`;
    });
    return listed.join(", ") + (runs.length > mostRuns ? ", …" : "");
}

function table(steps: Steps, { name, label }: Words): HTMLElement {
    const shown = choose(steps);
    const columns = columnTerms(steps.kind);
    const head = columns.map(({ text, term }) =>
        element("th", { scope: "col" }, label(text, term)),
    );
    const body = shown.map((key) => {
        const isPinned = key.key === steps.place.key;
        const heading = element("th", { scope: "row" }, name(key.key));
        const made = element("tr", isPinned ? { className: "marked" } : {}, heading);
        made.append(...cells(key, columns));
        return made;
    });
    const foot = element("tr", {}, element("th", { scope: "row" }, said.allKeys));
    foot.append(...sums(steps, columns));
    return element(
        "table",
        { className: "steps" },
        element("thead", {}, element("tr", {}, element("th", { scope: "col" }, said.key), ...head)),
        element("tbody", {}, ...body),
        element("tfoot", {}, foot),
    );
}

type Columns = ReturnType<typeof columnTerms>;

function cells(key: KeySteps, columns: Columns): HTMLElement[] {
    return columns.map(({ of }) => {
        const value = key[of];
        const isTooSmall = value === null && of === "logit" && key.isKept === true;
        if (isTooSmall) return element("td", { className: "words" }, said.tooSmall);
        if (value === null) return element("td", {}, "–");
        const isLeftOut = of === "logit" && key.isKept === false;
        const shown = isLeftOut ? said.leftOut : significant(value, 3);
        const text = element("data", { value: String(value) }, shown);
        const cell = element("td", {}, text);
        if (of !== "weight") return cell;
        cell.className = "weight";
        cell.style.setProperty("--part", String(Math.min(1, Math.abs(value))));
        return cell;
    });
}

function sums({ keys, sum }: Steps, columns: Columns): HTMLElement[] {
    const weights = keys.reduce((total, { weight }) => total + weight, 0);
    return columns.map(({ of }) => {
        if (of === "weight") return element("td", {}, significant(weights, 3));
        return element("td", {}, of === "part" ? significant(sum, 3) : "");
    });
}

/** The keys that matter, in their order. */
function choose({ keys, exactWeights, place }: Steps): KeySteps[] {
    const size = ({ key, weight }: KeySteps) =>
        key === place.key ? Infinity : Math.max(Math.abs(weight), exactWeights[key] ?? 0);
    return keys
        .toSorted((one, other) => size(other) - size(one))
        .slice(0, mostKeys)
        .sort((one, other) => one.key - other.key);
}
