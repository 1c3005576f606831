/** Inputs that show something: heads of trained models, heads made by hand, and what breaks a backend. */

import type { Pin } from "../row/place";
import type { Problem, Values } from "../types";

export interface Preset {
    id: string;
    group: Group;
    name: string;
    /** What is to be seen, and why. */
    why: string;
    /** Where there is more: a paper's number, or a link. */
    source: Source;
    problem: Problem;
    /** By backend; all others are as they are by default. */
    params: Readonly<Record<string, Values>>;
    /** Where it is to be seen. */
    pin: Pin | null;
    /** Of trained heads: what the model answers. */
    question: Question | null;
}

/** As `attn lab dump` has it. */
export interface Question {
    task: string;
    attention: string;
    text: string;
}

interface Source {
    text: string;
    href: string;
}

export const groups = ["Trained heads", "Made by hand", "Break it"] as const;
export type Group = (typeof groups)[number];

const circuits = "https://transformer-circuits.pub";
const causal: Problem = { causal: true, scale: null };
const full: Problem = { causal: false, scale: null };

function paper(text: string): Source {
    const number = /arXiv:(\S+)$/.exec(text)?.[1] ?? "";
    return { text, href: `https://arxiv.org/abs/${number}` };
}

function trained(question: Question, name: string, why: string): Preset {
    const id = `${question.task}-${question.attention}`;
    return {
        ...{ id, group: "Trained heads", name, why, question },
        ...{ problem: causal, params: {}, pin: null, source: paper("arXiv:2305.15408") },
    };
}

type Made = Omit<Preset, "group" | "question">;

function made(preset: Made): Preset {
    return { ...preset, group: "Made by hand", question: null };
}

function broken(preset: Made): Preset {
    return { ...preset, group: "Break it", question: null };
}

const ten = "17 80 23 45 120 31 64 19 101 52";
const six = "17 80 23 45 120 31";

export const presets: readonly Preset[] = [
    trained(
        { task: "lis", attention: "softmax", text: ten },
        "Subsequence",
        "A transformer of 3 layers with 4 heads, trained with softmax, finds the longest increasing subsequence of ten numbers step by step. Some heads look at one key, others at many, and all choose them by content: none of the approximations comes near.",
    ),
    trained(
        { task: "arithmetic", attention: "softmax", text: "3 + 4 * 2" },
        "Arithmetic",
        "A transformer of 3 layers with 4 heads, trained with softmax, works out 3 + 4 * 2 modulo 5: = 3 + 3 = 1. Layers and heads are to be chosen beside; each looks for something else.",
    ),
    trained(
        { task: "lis", attention: "linear", text: six },
        "Subsequence, linear",
        "The same task with six numbers, learned with linear attention. Its error against softmax is no failure here: with these weights it answers 98 of 100 questions right.",
    ),
    trained(
        { task: "lis", attention: "sparse", text: six },
        "Subsequence, sparse",
        "The same task with six numbers, learned with sparse attention: it answers 99 of 100 questions right without the keys that its pattern leaves out.",
    ),
    made({
        id: "previous",
        pin: { query: 20, key: 19 },
        name: "Previous token",
        why: "Each query is the code of the place before its own, each key the code of its place: all weight is on the token before. A band of keys is enough for that; elu+1 spreads the weight over all keys.",
        source: {
            text: "A Mathematical Framework for Transformer Circuits",
            href: `${circuits}/2021/framework/index.html`,
        },
        ...{ problem: causal, params: {} },
    }),
    made({
        id: "induction",
        pin: { query: 20, key: 5 },
        name: "Induction",
        why: "Each query is the code of its token, each key that of the token before it: where a token came before, the weight is on what followed it then. The second half of the text so predicts itself.",
        source: {
            text: "In-context Learning and Induction Heads",
            href: `${circuits}/2022/in-context-learning-and-induction-heads/index.html`,
        },
        ...{ problem: causal, params: {} },
    }),
    made({
        id: "copy",
        pin: { query: 20, key: 4 },
        name: "Copy",
        why: "16 tokens, then 16 slots that ask for them one by one. Keys are orthogonal, and no more of them than columns: linear attention with relu copies as exactly as softmax.",
        source: paper("arXiv:2402.01032"),
        ...{ problem: causal, params: { linear: { feature_map: "relu" } } },
    }),
    made({
        id: "sink",
        pin: { query: 24, key: 0 },
        name: "Sink",
        why: "All queries share a direction with the first key: a head with nothing to say puts its weight there, and what drops the first key changes every row.",
        source: paper("arXiv:2309.17453"),
        ...{ problem: causal, params: {} },
    }),
    broken({
        id: "needle",
        pin: { query: 127, key: 42 },
        name: "Needle in a haystack",
        why: "One key of 128 is what the last query asks for, and it lies neither near nor at a global place: sparse never sees it, and answers with hay.",
        source: {
            text: "Needle in a haystack, a test of long contexts",
            href: "https://github.com/gkamradt/LLMTest_NeedleInAHaystack",
        },
        ...{ problem: causal, params: {} },
    }),
    broken({
        id: "saturated",
        pin: { query: 84, key: 20 },
        name: "Saturated state",
        why: "The same copying with 64 tokens and 16 columns: the keys no longer are orthogonal, linear's state of 16 rows mixes what it holds, and the copy fails. Softmax keeps all keys and does not mind.",
        source: paper("arXiv:2102.11174"),
        ...{ problem: causal, params: { linear: { feature_map: "relu" } } },
    }),
    broken({
        id: "identical",
        pin: { query: 3, key: 31 },
        name: "Identical keys",
        why: "All keys are the same: whatever a query asks, its weights are even, and the answer is the mean of all values. Linear and sketch are exact for once; sparse has the mean of the few it keeps.",
        source: paper("arXiv:1906.06755"),
        ...{ problem: full, params: {} },
    }),
    broken({
        id: "outliers",
        pin: { query: 5, key: 31 },
        name: "Outlier channels",
        why: "One column of 64 is thirty times as large as the others, and the same for all keys: softmax does not change, as it adds the same to all logits of a row. A sketch errs by the length of the vectors, and linear sees that column alone.",
        source: paper("arXiv:2208.07339"),
        ...{ problem: full, params: {} },
    }),
    broken({
        id: "repeated",
        pin: { query: 127, key: 0 },
        name: "A repeated token",
        why: "One answer, and then the same other token again and again, at a logit lower by log 127: each repetition takes its share, and at the last row the answer is down to half. This breaks softmax itself.",
        source: paper("arXiv:2410.01104"),
        ...{ problem: causal, params: {} },
    }),
    broken({
        id: "normaliser",
        pin: { query: 3, key: 31 },
        name: "Normaliser near zero",
        why: "For each key there is one that points the other way. Without an exponential weights are signed, and linear's normaliser is their sum: nothing, by which every row is divided.",
        source: paper("arXiv:2310.11685"),
        ...{ problem: full, params: { linear: { feature_map: "lin" } } },
    }),
];

/** null: a link may ask for one that there is not. */
export function presetOf(id: string | null): Preset | null {
    return presets.find((preset) => preset.id === id) ?? null;
}
