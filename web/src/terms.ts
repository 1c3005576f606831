/** What the numbers of a panel mean. */

import type { Backend } from "libattn";
import { formula, fraction, power, row, sub, sum } from "./math";

export interface Term {
    definition: string;
    formula?: () => MathMLElement;
    unit?: string;
}

const norm = (...parts: (string | Node)[]) => sub(row("‖", ...parts, "‖"), "F");

/** By the names of lines. */
const terms: Record<string, Term> = {
    error: {
        definition:
            "How far the output O is from exact attention O′, computed in double precision: the root of the sum of squares of all differences, relative to that of O′.",
        formula: () => formula(fraction(norm("O", "−", "O′"), norm("O′"))),
        unit: "none: 0 is exact, 1 as far off as zeros would be",
    },
    interval: {
        definition:
            "Where the error of all rows lies, by the spread of the rows that were drawn: so in 95 of 100 draws.",
        unit: "none, as the error",
    },
    recall: {
        definition:
            "Of the eight keys that exact attention gives most weight, the share that is among the backend's own eight, or level with them; the mean of the rows of the head that is shown that see more than eight keys.",
        formula: () => formula(fraction(row("|", sub("T", "8"), "∩", sub("T", "8′"), "|"), "8")),
        unit: "percent of eight keys: 100 if none is missed",
    },
    dropped: {
        definition:
            "Of exact attention's weights what lies on keys that the backend gives none; the mean of the rows of the head that is shown.",
        formula: () => formula(sum("j"), row(sub("w′", "j"), "[", sub("w", "j"), "=", "0", "]")),
        unit: "percent of a row's weight",
    },
    time: {
        definition:
            "How long one run of the kernel takes here, in one thread: the median of turns that the backends took one after another, once they were warm.",
        unit: "milliseconds",
    },
    spread: { definition: "The shortest and the longest of these turns.", unit: "milliseconds" },
    gflops: {
        definition:
            "Additions and multiplications that the backend's own formula needs, by the time: what needs fewer can be faster with a smaller number.",
        formula: () => formula(fraction("operations", row("time", "·", power(10, 9)))),
        unit: "10⁹ operations a second",
    },
    kept: {
        definition:
            "Share of the pairs of a query and a key that get a weight; the mask's zeros are not among them.",
        formula: () => formula(fraction("pairs", row("n", "·", "m"))),
        unit: "percent of n queries times m keys, all heads together",
    },
    workspace: {
        definition: "Memory that a run needs beside its inputs and its output, and gives back.",
        unit: "bytes, by powers of 1024",
    },
    guarantee: {
        definition:
            "What is proven of the approximation: how near it comes, and how probably, for any queries and keys. It says nothing where the bound needs more features than there are; the error above is what came of it here.",
    },
    form: {
        definition:
            "How the operations for one head grow with n queries, m keys, d columns of keys and dv of values.",
        unit: "operations, but for a constant",
    },
    kernel: {
        definition:
            "Which code ran: the instructions it uses, and the tile that it computes at a time.",
    },
};

/** What a line of this name means; a plan's facts are explained by the parameter of their name. */
export function termOf(name: string, label: string, { params }: Backend): Term {
    const known = Object.hasOwn(terms, name) ? terms[name] : undefined;
    if (known) return known;
    const param = params.find((each) => each.name === name);
    if (!param) return { definition: `${label}: what the backend chose for this input.` };
    const automatic = param.automatic ? `; automatic: ${param.automatic}` : "";
    return {
        definition: `${param.label}: ${param.help}${automatic}`,
        ...(param.unit && { unit: param.unit }),
    };
}
