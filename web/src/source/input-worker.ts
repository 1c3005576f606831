/** The worker that reads inputs: what source.ts asks for, answered one after the other. */

import type { AttnErrorCode } from "libattn";
import { reasonOf } from "../engine/reason";
import type { ArrayFile, Input, Problem, Role } from "../state/types";
import { lookAt, type HeadRows } from "../look/look";
import { languagePreset, languageSentence, opening } from "../presets/opening";
import { exactOnce, exactRows } from "./exact";
import type { Thought } from "./trained";

export type Request =
    | { kind: "text"; text: string; dim: number }
    | { kind: "files"; files: Record<Role, ArrayFile> }
    | { kind: "preset"; id: string; question: string | null }
    | { kind: "thought"; model: string; question: string }
    | { kind: "list"; files: readonly ArrayFile[] }
    | { kind: "exact"; input: number; problem: Problem; rows: readonly number[] }
    | { kind: "look"; input: number; problem: Problem; head: number; rows: HeadRows }
    | { kind: "hold"; held: Held }
    | { kind: "forget"; input: number };

/** An input that another worker has read, and its number. */
export interface Held {
    input: Input;
    number: number;
}

/** Those that an input comes of. */
type Making = Extract<Request, { kind: "text" | "files" | "preset" }>;

/** To the worker; an input is called by the number of the request that it came of. 0: nobody waits for an answer. */
export type Letter = Request & { number: number };
export type Answer = { number: number } & ({ value: unknown } | Problematic);

interface Problematic {
    problem: string;
    /** Did a file of this page not come? */
    isUnloaded: boolean;
}

const inputs = new Map<number, Input>();

async function answer(letter: Letter): Promise<void> {
    const { number } = letter;
    try {
        postMessage({ number, value: await carryOut(letter) } satisfies Answer);
    } catch (error) {
        const { code = null } = error as { code?: AttnErrorCode };
        const isUnloaded = code === "ATTN_ERROR_LOAD";
        postMessage({ number, problem: reasonOf(error), isUnloaded } satisfies Answer);
    }
}

async function carryOut(letter: Letter): Promise<unknown> {
    if (letter.kind === "list") {
        const { listTensors } = await import("./tensors");
        return letter.files.flatMap(({ name, bytes }) => listTensors(name, bytes));
    }
    if (letter.kind === "hold") {
        inputs.set(letter.held.number, letter.held.input);
        return null;
    }
    if (letter.kind === "forget") {
        inputs.delete(letter.input);
        return null;
    }
    if (letter.kind === "exact") {
        return exactRows(known(letter.input), letter.problem, letter.rows);
    }
    if (letter.kind === "look") {
        const { rows, head, problem } = letter;
        const input = known(letter.input);
        return lookAt(rows, exactOnce(input, problem, head, rows.queries), input.shape.queries);
    }
    const { number } = letter;
    if (letter.kind === "thought") {
        const said = await think(letter.model, letter.question);
        inputs.set(number, said.input);
        return said;
    }
    const input = await make(letter);
    inputs.set(number, input);
    return input;
}

function known(number: number): Input {
    const input = inputs.get(number);
    if (!input) throw new Error("the input is no more");
    return input;
}

/** What reads an input comes when it is asked for: the page opens with one that needs none of it. */
async function make(letter: Making): Promise<Input> {
    if (letter.kind === "text")
        return (await import("./text")).inputFromText(letter.text, letter.dim);
    if (letter.kind === "files") return (await import("./arrays")).inputFromFiles(letter.files);
    const { id, question } = letter;
    if (question === null) return (await import("./made")).madeInput(id);
    if (id === languagePreset && question === languageSentence)
        return (await import("./language")).languageInput();
    if (id === languagePreset) return (await import("./written")).writtenInput(question);
    if (id === opening.preset && question === opening.question)
        return (await import("./opening")).openingInput();
    return (await think(id, question)).input;
}

/** Models and what computes with them come when they are asked for. */
async function think(id: string, question: string): Promise<Thought> {
    return (await import("./trained")).think(id, question);
}

let last = Promise.resolve();
onmessage = ({ data }: MessageEvent<Letter>) => {
    last = last.then(() => answer(data));
};
