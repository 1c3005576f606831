/** The formulas of a row, with the numbers of the key that is looked at. */

import { element } from "../dom";
import { significant } from "../format";
import { formula, fraction, power, row, sub, sum } from "../math";
import type { KeySteps, Steps } from "./steps";

/** A number of which 0 is left. */
export const tooSmall = "below what a float can hold";

const text = (value: number) => significant(value, 3);

export function formulas(steps: Steps, name: (index: number) => string): Node[] {
    const key = steps.keys.find((each) => each.key === steps.place.key);
    const named = name(steps.place.key);
    if (!key) return [element("p", {}, `The mask hides key ${named}: its weight is 0.`)];
    if (key.isKept === false)
        return [element("p", {}, `The pattern leaves key ${named} out: its weight is 0.`)];
    const holder = element("div", { className: "formulas" });
    holder.append(element("p", {}, `The numbers of key ${named}:`));
    holder.append(...logitLines(steps, key), ...weightLines(steps, key), outputLine(steps, key));
    return [holder];
}

function logitLines({ scale, kind }: Steps, { dot, logit }: KeySteps): Node[] {
    if (kind !== "exponentials") return [];
    const exact = scale * dot;
    const line = [sub("s", "j"), "=", "scale", "·", "q", "·", sub("k", "j"), "="];
    const product = formula(...line, text(scale), "·", text(dot), "=", text(exact));
    if (logit === null) return [product];
    const isSame = Math.abs(logit - exact) <= 1e-3 * Math.max(1, Math.abs(exact));
    if (isSame) return [product];
    return [product, formula(sub("s̃", "j"), "=", text(logit), "≠", sub("s", "j"))];
}

function weightLines({ kind, sum: total, largest }: Steps, key: KeySteps): Node[] {
    const { part, weight, logit } = key;
    if (part === null) return [formula(sub("w", "j"), "=", text(weight))];
    const numbers = [fraction(text(part), text(total)), "=", text(weight)];
    if (kind === "products") {
        const under = row(sum("l"), "φ", "(", "q", ")", "·", "φ", "(", sub("k", "l"), ")");
        const over = row("φ", "(", "q", ")", "·", "φ", "(", sub("k", "j"), ")");
        return [formula(sub("w", "j"), "=", fraction(over, under), "=", ...numbers)];
    }
    if (logit === null) {
        const why = key.isKept ? `: its exponential is ${tooSmall}` : "";
        return [element("p", {}, `Its weight is 0${why}.`)];
    }
    const over = power("e", row(sub("s", "j"), "−", "max"));
    const under = row(sum("l"), power("e", row(sub("s", "l"), "−", "max")));
    const shown = power("e", row(text(logit), "−", text(largest ?? NaN)));
    const first = formula(over, "=", shown, "=", text(part));
    return [first, formula(sub("w", "j"), "=", fraction(over, under), "=", ...numbers)];
}

function outputLine({ out }: Steps, { weight }: KeySteps): Node {
    const line = [sub("o", "1"), "=", sum("j"), sub("w", "j"), sub("v", row("j", "1")), "="];
    return formula(
        ...line,
        "…",
        "+",
        text(weight),
        "·",
        sub("v", row("j", "1")),
        "+",
        "…",
        "=",
        text(out[0] ?? NaN),
    );
}
