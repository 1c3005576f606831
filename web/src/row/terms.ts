/** What the numbers of a row mean. */

import { formula, fraction, power, row, sub, sum } from "../math";
import type { Term } from "../terms";
import type { KeySteps, Steps } from "./steps";

interface Column {
    of: Exclude<keyof KeySteps, "key" | "isKept">;
    text: string;
    term: Term;
}

const dot: Column = {
    of: "dot",
    text: "q·k",
    term: {
        definition: "The query's and the key's product: how far they point the same way.",
        formula: () =>
            formula("q", "·", sub("k", "j"), "=", sum("c"), sub("q", "c"), sub("k", row("j", "c"))),
        unit: "none",
    },
};

const logit: Column = {
    of: "logit",
    text: "logit",
    term: {
        definition:
            "The product times the scale, as this backend has it: exactly, or by what it makes of query and key. It is told by the weight and the row's log-sum-exp.",
        formula: () => formula(sub("s", "j"), "=", "scale", "·", "q", "·", sub("k", "j")),
        unit: "none: one more is e times the weight",
    },
};

const exponential: Column = {
    of: "part",
    text: "exp",
    term: {
        definition: "The exponential of the logit less the row's largest, so that none overflows.",
        formula: () => formula(power("e", row(sub("s", "j"), "−", "max"))),
        unit: "none: 1 for the largest logit",
    },
};

const product: Column = {
    of: "part",
    text: "φ(q)·φ(k)",
    term: {
        definition:
            "What stands for the exponential: the product of the query's features and the key's, whose sum over all keys can be taken once for all queries.",
        formula: () => formula("φ", "(", "q", ")", "·", "φ", "(", sub("k", "j"), ")"),
        unit: "none",
    },
};

const weight: Column = {
    of: "weight",
    text: "weight",
    term: {
        definition:
            "The part of the key's value that the query takes: what stands before, by its sum.",
        formula: () =>
            formula(sub("w", "j"), "=", fraction(sub("a", "j"), row(sum("l"), sub("a", "l")))),
        unit: "none: 1 is all, and those of a row sum to 1",
    },
};

export function columnTerms(kind: Steps["kind"]): Column[] {
    if (kind === "exponentials") return [dot, logit, exponential, weight];
    if (kind === "products") return [dot, product, weight];
    return [dot, weight];
}

export const errorTerm: Term = {
    definition:
        "How far this row of the output, its weights times the values, is from exact attention's: the root of the sum of squares, relative to the exact row's.",
    formula: () => formula(fraction(row("‖", "o", "−", "o′", "‖"), row("‖", "o′", "‖"))),
    unit: "none",
};
