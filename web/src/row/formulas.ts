/** The formulas of a row, with the numbers of the key that is looked at. */

import { element } from "../dom/dom";
import { significant } from "../dom/format";
import { formula, fraction, power, row, sub, sum } from "../dom/math";
import type { Ruling } from "../rules/exact";
import type { KeySteps, Steps } from "./steps";
import { words } from "../words/words";

const { row: said } = words;

const text = (value: number) => significant(value, 3);

/** As it stands after an operator. */
function operand(value: number): Node | string {
    return value < 0 ? row("(", text(value), ")") : text(value);
}

export function formulas(steps: Steps, name: (index: number) => string): Node[] {
    const key = steps.keys.find((each) => each.key === steps.place.key);
    const named = name(steps.place.key);
    if (!key) return [element("p", {}, said.hidden(named))];
    if (key.isKept === false) return [element("p", {}, said.patternLeaves(named))];
    const title = said.numbersOf(named);
    const reached = { tabIndex: 0, role: "group", ariaLabel: title }; // by keys, where it scrolls
    const holder = element("div", { className: "formulas", ...reached });
    holder.append(element("p", {}, title));
    holder.append(...logitLines(steps, key), ...weightLines(steps, key), outputLine(steps, key));
    return [holder];
}

function logitLines({ ruling, kind, place }: Steps, { key, dot, logit }: KeySteps): Node[] {
    if (kind !== "exponentials") return [];
    const { scale } = ruling;
    const exact = scale * dot;
    const line = [sub("x", "j"), "=", said.scale, "·", "q", "·", sub("k", "j"), "="];
    const isPlain = ruling.softcap === null && ruling.slope === 0;
    if (isPlain) line[0] = sub("s", "j");
    const product = formula(...line, text(scale), "·", operand(dot), "=", text(exact));
    const lines: Node[] = [product];
    const truth = ruling.logit(place.query, key, dot);
    if (!isPlain) lines.push(ruledLine(ruling, exact, Math.abs(place.query - key), truth));
    if (logit === null) return lines;
    const isSame = Math.abs(logit - truth) <= 1e-3 * Math.max(1, Math.abs(truth));
    if (!isSame) lines.push(formula(sub("s̃", "j"), "=", text(logit), "≠", sub("s", "j")));
    return lines;
}

/** What softcap and ALiBi make of a product. */
function ruledLine({ softcap, slope }: Ruling, x: number, distance: number, logit: number): Node {
    const line: (Node | string)[] = [sub("s", "j"), "="];
    if (softcap === null) line.push(text(x));
    else {
        const inside = fraction(text(x), text(softcap));
        line.push(text(softcap), "·", "tanh", row("(", inside, ")"));
    }
    if (slope !== 0) line.push("−", operand(slope), "·", text(distance));
    return formula(...line, "=", text(logit));
}

function weightLines({ kind, sum: total, largest, ruling }: Steps, key: KeySteps): Node[] {
    const { part, weight, logit } = key;
    if (part === null) return [formula(sub("w", "j"), "=", text(weight))];
    const numbers = [fraction(text(part), text(total)), "=", text(weight)];
    if (kind === "products") {
        const under = row(sum("l"), "φ", "(", "q", ")", "·", "φ", "(", sub("k", "l"), ")");
        const over = row("φ", "(", "q", ")", "·", "φ", "(", sub("k", "j"), ")");
        const line = [sub("w", "j"), "=", fraction(over, under)];
        if (total !== 0) return [formula(...line, "=", ...numbers)];
        return [formula(...line), element("p", {}, said.noSum)];
    }
    if (logit === null) {
        const why = key.isKept ? said.zeroAs(said.tooSmall) : said.zero;
        return [element("p", {}, why)];
    }
    const exponential = () => power("e", row(sub("s", "j"), "−", "max")); // a node stands in one place
    const all: (Node | string)[] = [sum("l"), power("e", row(sub("s", "l"), "−", "max"))];
    if (ruling.sink !== -Infinity) all.push("+", power("e", row(text(ruling.sink), "−", "max")));
    const under = row(...all);
    const shown = power("e", row(text(logit), "−", operand(largest ?? NaN)));
    const first = formula(exponential(), "=", shown, "=", text(part));
    return [first, formula(sub("w", "j"), "=", fraction(exponential(), under), "=", ...numbers)];
}

function outputLine({ out, value }: Steps, { weight }: KeySteps): Node {
    const line = [sub("o", "1"), "=", sum("j"), sub("w", "j"), sub("v", row("j", "1")), "="];
    return formula(
        ...line,
        "…",
        "+",
        operand(weight),
        "·",
        operand(value[0] ?? NaN),
        "+",
        "…",
        "=",
        text(out[0] ?? NaN),
    );
}
