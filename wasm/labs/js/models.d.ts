/**
 * Small trained transformers that solve problems step by step, as `attn lab solve` does. A module of its own,
 * which the first call loads; the package's models are files beside it, loaded when they are asked for by name, and
 * `attn lab train` and `attn lab export` make your own.
 *
 * ```js
 * import { loadModel } from "libattn-labs/models";
 * const model = await loadModel("arithmetic-softmax");
 * const { tokens, right } = model.solve("3 + 4 * 2");
 * ```
 */

import type { SourceOptions } from "libattn";

export { AttnError } from "libattn";
export type { AttnErrorCode } from "libattn";

/** What a model is of. */
export interface ModelAbout {
    readonly task: "lis" | "ed" | "ed_local" | "arithmetic";
    /** Of the largest problem that it takes: numbers, letters or operators. */
    readonly size: number;
    /** Of arithmetic: the prime that it counts by. */
    readonly modulus?: number;
    /** Of ed_local: how far from the diagonal cells are kept. */
    readonly band?: number;
    /** The backend of its layers, and that backend's parameters. */
    readonly attention: string;
    readonly params: Readonly<Record<string, string>>;
    /** Tokens that there are, and that a sequence can have. */
    readonly vocabulary: number;
    readonly length: number;
    /** Numbers that stand for a token between layers. */
    readonly width: number;
    readonly layers: number;
    readonly heads: number;
    /** Columns of a head. */
    readonly dim: number;
    readonly seed: number;
    /** Test questions, and how many of them it answered right. */
    readonly tests: number;
    readonly answers: number;
    /** The command that trains it. */
    readonly command: string;
}

/** What a model says: what {@link Model.solve} gives. */
export interface Solution {
    /** The question's, and then those that the model says until "<eos>". */
    tokens: string[];
    /** How many of them are the question's. */
    question: number;
    /** The same as they ought to be. */
    expected: string[];
    /**
     * Bytes that its layers keep after each token but the last: keys and values of all tokens so far, or linear
     * attention's sums and some last tokens, which grow no further.
     */
    state: number[];
    /** The token before "<eos>"; "" where there is none. */
    answer: string;
    /** Whether that is the answer, whatever the steps before it. */
    right: boolean;
    /**
     * What all questions that it learned are and this one is not, "expressions of exactly 2 operators": its answer
     * may well be wrong. "" where it learned such questions.
     */
    unlike: string;
    /**
     * Of every layer and head, what each token but the last is to attention, which is causal, with a scale of
     * 1 / Math.sqrt(dim). With their shape they can be arguments of attention(), a layer being a batch; the backend
     * "linear" has to be told that scale, as its own is 1.
     */
    query: Float32Array<ArrayBuffer>;
    key: Float32Array<ArrayBuffer>;
    value: Float32Array<ArrayBuffer>;
    /** [layers, heads, tokens, dim] of the three. */
    shape: number[];
}

/** A trained model. */
export interface Model {
    readonly about: ModelAbout;
    /**
     * Answer a question: numbers, two words or an expression, as the task has them. Throws an AttnError that
     * says why a text is no question of the task.
     */
    solve(question: string): Solution;
    /** Gives its memory back; it cannot be used afterwards. */
    dispose(): void;
}

/** The models that the package has: task and attention. Each is 80 to 290 kB. */
export type ModelName =
    | "arithmetic-linear"
    | "arithmetic-softmax"
    | "arithmetic-sparse"
    | "ed-linear"
    | "ed-softmax"
    | "ed-sparse"
    | "ed_local-linear"
    | "ed_local-softmax"
    | "ed_local-sparse"
    | "lis-linear"
    | "lis-softmax"
    | "lis-sparse";

/** Their names. */
export const models: readonly ModelName[];

/**
 * One of the package's models, or that of a file's bytes. The promise rejects with an AttnError that says what is
 * wrong with the bytes, "ATTN_ERROR_NOT_FOUND" for a name that there is not, or "ATTN_ERROR_LOAD" where a file
 * or the module does not load.
 */
export function loadModel(model: ModelName | ArrayBuffer | ArrayBufferView): Promise<Model>;

/** What a model of text is of. */
export interface WriterAbout extends Omit<
    ModelAbout,
    "task" | "size" | "modulus" | "band" | "tests" | "answers"
> {
    readonly task: "text";
    /** Tokens of its context. */
    readonly size: number;
    /** Steps that it was trained. */
    readonly step: number;
    /** Bits a byte that it needs for text that it has not learned. */
    readonly bits: number;
}

/** How a token is chosen. */
export interface Choice {
    /** 0: the likeliest token; higher: less likely ones, too. Default: 0.8. */
    temperature?: number | undefined;
    /** Only of the likeliest tokens, which have this probability together. Default: 0.95. */
    topP?: number | undefined;
    /** Of the random numbers: the same seed gives the same text. Default: 1. */
    seed?: number | undefined;
}

/** Queries, keys and values of every layer and head, as {@link Solution} has them. */
export type Heads = Pick<Solution, "query" | "key" | "value" | "shape">;

/** A trained model of text, which goes on from a beginning by the streams of its attention. */
export interface Writer {
    readonly about: WriterAbout;
    /**
     * A new text. `count`: tokens that it has; `tokens`: those that the model knows, which are the last ones where the
     * text is longer than its context. A token that is no whole letter is written as `\xNN`.
     */
    begin(text: string): { count: number; tokens: string[] };
    /** Of the tokens that begin() gave. */
    heads(): Heads;
    /**
     * The token that the model writes next, and the letters that are whole with it. Where its context is full, it
     * forgets the earlier half. Throws an AttnError "ATTN_ERROR_ARGUMENT" before begin().
     */
    next(options?: Choice): { token: string; text: string };
    /** begin(), and then the letters of so many tokens, one after another. Default: 200 tokens. */
    write(
        text: string,
        options?: Choice & { tokens?: number | undefined },
    ): Generator<string, void>;
    /** Gives its memory back; it cannot be used afterwards. */
    dispose(): void;
}

/** The attention of the models of text that the package has. Each is 0.9 MB. */
export type WriterName = "linear" | "softmax" | "sparse";

/** Their names. */
export const writers: readonly WriterName[];

/** One of the package's models of text, or that of a file's bytes; rejects as {@link loadModel} does. */
export function loadWriter(model: WriterName | ArrayBuffer | ArrayBufferView): Promise<Writer>;

/**
 * Load the module now, or another one than the package's file, for the calls that follow: `libattn-labs/models.wasm` from the
 * same kinds of source as libattn's init(). Hosts that compile nothing, such as Cloudflare Workers, need it. Gives the
 * functions of this entry. Rejects with an AttnError "ATTN_ERROR_LOAD" where it is no such module, which changes nothing.
 */
export function init(options?: SourceOptions | null | undefined): Promise<{
    readonly models: typeof models;
    readonly writers: typeof writers;
    readonly loadModel: typeof loadModel;
    readonly loadWriter: typeof loadWriter;
}>;
