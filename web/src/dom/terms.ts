/** What the numbers of a panel mean. */

import type { Backend, Param } from "libattn";
import { errorTerm } from "../row/terms";
import { formula, fraction, power, row, sub, sum } from "./math";
import { words } from "../words/words";

export interface Term {
    definition: string;
    formula?: () => MathMLElement;
    unit?: string;
}

const { terms: told } = words;
const { operations, time, pairs } = words.inFormulas;

const norm = (...parts: (string | Node)[]) => sub(row("‖", ...parts, "‖"), "F");

/** Makes a label that explains itself. */
export type Label = (text: string, term: Term) => Node;

/** By the names of lines. */
const terms = {
    error: {
        ...told.error,
        formula: () => formula(fraction(norm("O", "−", "O′"), norm("O′"))),
    },
    interval: {
        ...told.interval,
    },
    recall: {
        ...told.recall,
        formula: () => formula(fraction(row("|", sub("T", "8"), "∩", sub("T", "8′"), "|"), "8")),
    },
    dropped: {
        ...told.dropped,
        formula: () => formula(sum("j"), row(sub("w′", "j"), "[", sub("w", "j"), "=", "0", "]")),
    },
    time: {
        ...told.time,
    },
    spread: { ...told.spread },
    gflops: {
        ...told.gflops,
        formula: () => formula(fraction(operations, row(time, "·", power(10, 9)))),
    },
    kept: {
        ...told.kept,
        formula: () => formula(fraction(pairs, row("n", "·", "m"))),
    },
    computed: {
        ...told.computed,
        formula: () => formula(fraction(pairs, row("n", "·", "m"))),
    },
    workspace: {
        ...told.workspace,
    },
    guarantee: {
        ...told.guarantee,
    },
    form: {
        ...told.form,
    },
    kernel: {
        ...told.kernel,
    },
};

/** Of what a panel tells in a sentence, by its class. */
export const wholes: Record<string, Term> = {
    worst: { ...errorTerm, ...words.sentences.worst },
    "of-row": { ...errorTerm, ...words.sentences.rows },
    readout: {
        ...words.sentences.cell,
        formula: () =>
            formula(sub("o", "i"), "=", sum("j"), sub("w", row("i", "j")), sub("v", "j")),
    },
    told: {
        ...words.sentences.shares,
        formula: () =>
            formula(
                fraction(
                    row(sum("i"), sub("w", row("i", "i"))),
                    row(sum(row("i", "j")), sub("w", row("i", "j"))),
                ),
            ),
    },
};

/** Of columns of what was tried. */
export const costTerms = {
    time: terms.time,
    flops: words.tried.flops,
    bytes: terms.workspace,
    error: terms.error,
    best: words.tried.best,
};

/** Of columns of tokens that come one by one. */
export const streamTerms = { ...words.streamed, error: { ...errorTerm, ...words.streamed.error } };

/** What a line of this name means; a plan's facts are explained by the parameter of their name. */
export function termOf(name: string, label: string, { params }: Backend): Term {
    if (isKnown(name)) return terms[name];
    const param = params.find((each) => each.name === name);
    if (!param) return { definition: words.chosen(label) };
    const automatic = param.automatic ? `; ${words.panel.automatic(param.automatic)}` : "";
    return {
        definition: definitionOf(param) + automatic,
        ...(param.unit && { unit: param.unit }),
    };
}

/** What it is called, and what it does; a letter that both say of it is said once: "local blocks k: each …". */
function definitionOf({ label, help }: Param): string {
    const letter = `${label.split(" ").at(-1)}: `;
    return `${label}: ${help.startsWith(letter) ? help.slice(letter.length) : help}`;
}

function isKnown(name: string): name is keyof typeof terms {
    return Object.hasOwn(terms, name);
}
