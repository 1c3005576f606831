/** Inputs that show something: heads of trained models, heads made by hand, and what breaks a backend. */

import {
    languageColumns,
    languageLayer,
    languagePreset,
    languageSentence,
    opening,
} from "./opening";
import type { Pin } from "../row/place";
import { modelScale } from "../source/scale";
import type { Problem, Values } from "../state/types";
import { words } from "../words/words";

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
    /** The layer and head that it opens with. */
    view: { batch: number; head: number };
}

/** As `attn lab dump` has it. */
export interface Question {
    task: string;
    attention: string;
    text: string;
    /** The only layer that is computed on, counted from 1; absent: all are. */
    layer?: number;
}

interface Source {
    text: string;
    href: string;
}

export const groups = ["trained", "made", "broken"] as const;
export type Group = (typeof groups)[number];

const { of } = words.presets;
const circuits = "https://transformer-circuits.pub";
const causal: Problem = { causal: true, scale: null };
const full: Problem = { causal: false, scale: null };
const first = { batch: 0, head: 0 };
const trainedColumns = 8; // of a head of the models below

function paper(text: string): Source {
    const number = /arXiv:(\S+)$/.exec(text)?.[1] ?? "";
    return { text, href: `https://arxiv.org/abs/${number}` };
}

/** All backends have the model's scale, as on the page of trained models. */
function trained(question: Question, told: Told, view = first): Preset {
    const id = `${question.task}-${question.attention}`;
    const problem = { causal: true, scale: modelScale(trainedColumns) };
    return {
        ...{ id, group: "trained", ...told, question, view },
        ...{ problem, params: {}, pin: null },
        source: paper("arXiv:2305.15408"),
    };
}

/** Name, and why. */
type Told = Pick<Preset, "name" | "why">;

type Made = Omit<Preset, "group" | "question" | "view">;

function made(preset: Made): Preset {
    return { ...preset, group: "made", question: null, view: first };
}

function broken(preset: Made): Preset {
    return { ...preset, group: "broken", question: null, view: first };
}

const six = "17 80 23 45 120 31";

export const presets: readonly Preset[] = [
    trained({ task: "lis", attention: "softmax", text: opening.question }, of.subsequence, {
        batch: 1,
        head: 1,
    }),
    {
        ...{ id: languagePreset, group: "trained", ...of.language, params: {}, pin: null },
        question: {
            task: "text",
            attention: "softmax",
            text: languageSentence,
            layer: languageLayer,
        },
        problem: { causal: true, scale: modelScale(languageColumns) },
        view: { batch: 0, head: 2 },
        source: {
            text: "A small language model",
            href: "https://arxiv.org/abs/1508.07909",
        },
    },
    trained({ task: "arithmetic", attention: "softmax", text: "3 + 4 * 2" }, of.arithmetic),
    trained({ task: "lis", attention: "linear", text: six }, of.subsequenceLinear),
    trained({ task: "lis", attention: "sparse", text: six }, of.subsequenceSparse),
    made({
        id: "previous",
        pin: { query: 20, key: 19 },
        ...of.previous,
        source: {
            text: "A Mathematical Framework for Transformer Circuits",
            href: `${circuits}/2021/framework/index.html`,
        },
        ...{ problem: causal, params: {} },
    }),
    made({
        id: "induction",
        pin: { query: 20, key: 5 },
        ...of.induction,
        source: {
            text: "In-context Learning and Induction Heads",
            href: `${circuits}/2022/in-context-learning-and-induction-heads/index.html`,
        },
        ...{ problem: causal, params: {} },
    }),
    made({
        id: "copy",
        pin: { query: 20, key: 4 },
        ...of.copy,
        source: paper("arXiv:2402.01032"),
        ...{ problem: causal, params: { linear: { feature_map: "relu" } } },
    }),
    made({
        id: "sink",
        pin: { query: 24, key: 0 },
        ...of.sink,
        source: paper("arXiv:2309.17453"),
        ...{ problem: causal, params: {} },
    }),
    broken({
        id: "needle",
        pin: { query: 127, key: 42 },
        ...of.needle,
        source: {
            text: "Needle in a haystack, a test of long contexts",
            href: "https://github.com/gkamradt/LLMTest_NeedleInAHaystack",
        },
        ...{ problem: causal, params: {} },
    }),
    broken({
        id: "saturated",
        pin: { query: 84, key: 20 },
        ...of.saturated,
        source: paper("arXiv:2102.11174"),
        ...{ problem: causal, params: { linear: { feature_map: "relu" } } },
    }),
    broken({
        id: "identical",
        pin: { query: 3, key: 31 },
        ...of.identical,
        source: paper("arXiv:1906.06755"),
        ...{ problem: full, params: {} },
    }),
    broken({
        id: "outliers",
        pin: { query: 5, key: 31 },
        ...of.outliers,
        source: paper("arXiv:2208.07339"),
        ...{ problem: full, params: {} },
    }),
    broken({
        id: "repeated",
        pin: { query: 127, key: 0 },
        ...of.repeated,
        source: paper("arXiv:2410.01104"),
        ...{ problem: causal, params: {} },
    }),
    broken({
        id: "normaliser",
        pin: { query: 3, key: 31 },
        ...of.normaliser,
        source: paper("arXiv:2310.11685"),
        ...{ problem: full, params: { linear: { feature_map: "lin" } } },
    }),
];

/** Those that stand on the first screen, by names that say what is to be seen. */
export const featured = Object.entries(words.presets.featured).flatMap(([id, name]) => {
    const preset = presetOf(id);
    return preset ? [{ preset, name }] : [];
});

/** null: a link may ask for one that there is not. */
/** The language model's preset of another sentence; any other as it is. */
export function withSentence(preset: Preset, sentence: string | null): Preset {
    if (preset.question?.task !== "text" || sentence === null) return preset;
    return { ...preset, question: { ...preset.question, text: sentence } };
}

export function presetOf(id: string | null): Preset | null {
    return presets.find((preset) => preset.id === id) ?? null;
}
