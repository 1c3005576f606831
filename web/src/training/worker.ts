/** A model that learns, in a worker of its own: some steps at a time, and word of them. */

import { init, type Attn } from "libattn";
import { createStudy, type Solution, type Study, type StudyOptions } from "libattn-labs/training";
import { reasonOf } from "../engine/reason";
import { modelScale } from "../source/scale";

/** First of all "begin", with what is learned and what the model is asked meanwhile; then "go" and "pause" by turns. */
export type Order =
    { kind: "begin"; options: StudyOptions; question: string } | { kind: "go" } | { kind: "pause" };

/** What the model says to the question, and by what weights: layers x heads x tokens x tokens. */
export interface Thought {
    tokens: string[];
    question: number;
    right: boolean;
    layers: number;
    heads: number;
    weights: Float32Array;
}

export interface Report {
    /** Steps before those whose losses follow. */
    from: number;
    losses: Float64Array;
    /** Milliseconds that all steps took so far. */
    spent: number;
    /** Weights of the model, and steps at most. */
    size: number;
    steps: number;
    /** Share of right answers to test questions, and a thought; null: it was not looked. */
    look: { answers: number; thought: Thought } | null;
    isDone: boolean;
}

/** "done": of an order, after all that it has brought about. */
export type Answer =
    { kind: "report"; report: Report } | { kind: "problem"; problem: string } | { kind: "done" };

const few = 4; // steps
const piece = 50; // milliseconds of training between two reports
const pause = 700; // milliseconds of training between two looks
const tests = 128;

let study: Study | null = null;
let attn: Attn | null = null;
let attention = "softmax";
let question = "";
let isGoing = false;
let spent = 0;
let looked = -Infinity;

function report(from: number, losses: Float64Array, isLook: boolean): boolean {
    if (!study || !attn) return true;
    const score = isLook ? study.score(tests) : null;
    const { step, about } = study;
    const look = score && { answers: score.answers / tests, thought: think(study, attn) };
    const isDone = step >= about.steps || (score?.done ?? false);
    const told = { from, losses, spent, size: about.weights, steps: about.steps, look, isDone };
    postMessage({ kind: "report", report: told } satisfies Answer);
    return isDone;
}

function think(learner: Study, library: Attn): Thought {
    const { tokens, question: asked, right, query, key, shape }: Solution = learner.solve(question);
    const [layers = 0, heads = 0, rows = 0, dim = 0] = shape;
    const sizes = { batch: layers, heads, queries: rows, keys: rows, dim };
    const problem = { ...sizes, causal: true, scale: modelScale(dim) };
    const plan = library.plan({ backend: attention, ...problem });
    const weights = new Float32Array(layers * heads * rows * rows);
    for (let i = 0; i < layers * heads; i++) {
        const place = { batch: Math.floor(i / heads), head: i % heads };
        weights.set(plan.weights({ query, key, ...place }), i * rows * rows);
    }
    plan.dispose();
    return { tokens, question: asked, right, layers, heads, weights };
}

/** Steps until there is a pause, or nothing more to learn. */
async function go(): Promise<void> {
    while (isGoing && study) {
        const from = study.step;
        const losses: number[] = [];
        const began = performance.now();
        let isOver = false;
        while (!isOver && performance.now() - began < piece) {
            const some = study.train(few);
            losses.push(...some);
            isOver = some.length < few;
        }
        spent += performance.now() - began;
        const isLook = isOver || spent - looked >= pause;
        if (isLook) looked = spent;
        if (report(from, Float64Array.from(losses), isLook)) isGoing = false;
        await new Promise((resolve) => setTimeout(resolve)); // orders are read
    }
}

async function carryOut(order: Order): Promise<void> {
    if (order.kind === "go") await go();
    else if (order.kind === "begin") {
        attention = order.options.attention ?? attention;
        question = order.question;
        [study, attn] = await Promise.all([createStudy(order.options), init()]);
        report(0, new Float64Array(), true);
    }
}

let last = Promise.resolve();
onmessage = ({ data }: MessageEvent<Order>) => {
    if (data.kind !== "begin") isGoing = data.kind === "go"; // also before what was asked first is done
    last = last
        .then(() => carryOut(data))
        .catch((error: unknown) => {
            postMessage({ kind: "problem", problem: reasonOf(error) } satisfies Answer);
        })
        .then(() => postMessage({ kind: "done" } satisfies Answer));
};
