/** What the numbers of a row mean. */

import { formula, fraction, power, row, sub, sum } from "../dom/math";
import type { Term } from "../dom/terms";
import type { KeySteps, Steps } from "./steps";
import { words } from "../words/words";

const { columns } = words;

interface Column {
    of: Exclude<keyof KeySteps, "key" | "isKept">;
    text: string;
    term: Term;
}

const dot: Column = {
    of: "dot",
    text: columns.dot.text,
    term: {
        ...columns.dot,
        formula: () =>
            formula("q", "·", sub("k", "j"), "=", sum("c"), sub("q", "c"), sub("k", row("j", "c"))),
    },
};

const logit: Column = {
    of: "logit",
    text: columns.logit.text,
    term: {
        ...columns.logit,
        formula: () => formula(sub("s", "j"), "=", words.row.scale, "·", "q", "·", sub("k", "j")),
    },
};

const exponential: Column = {
    of: "part",
    text: columns.exponential.text,
    term: {
        ...columns.exponential,
        formula: () => formula(power("e", row(sub("s", "j"), "−", "max"))),
    },
};

const product: Column = {
    of: "part",
    text: columns.product.text,
    term: {
        ...columns.product,
        formula: () => formula("φ", "(", "q", ")", "·", "φ", "(", sub("k", "j"), ")"),
    },
};

const weight: Column = {
    of: "weight",
    text: columns.weight.text,
    term: {
        ...columns.weight,
        formula: () =>
            formula(sub("w", "j"), "=", fraction(sub("a", "j"), row(sum("l"), sub("a", "l")))),
    },
};

export function columnTerms(kind: Steps["kind"]): Column[] {
    if (kind === "exponentials") return [dot, logit, exponential, weight];
    if (kind === "products") return [dot, product, weight];
    return [dot, weight];
}

export const errorTerm: Term = {
    ...words.rowError,
    formula: () => formula(fraction(row("‖", "o", "−", "o′", "‖"), row("‖", "o′", "‖"))),
};
