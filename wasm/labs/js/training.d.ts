/**
 * Small transformers that learn to solve problems step by step, as `attn lab train` trains them: the same samples,
 * the same steps. A module of its own, which the first study loads. It computes where it is called: a page
 * has it in a worker, and trains some steps at a time.
 *
 * ```js
 * import { createStudy } from "libattn-labs/training";
 * const study = await createStudy({ task: "arithmetic", size: 2, width: 16, layers: 2, heads: 2 });
 * const losses = study.train(100);
 * const { samples, answers } = study.score(128);
 * ```
 */

import type { Solution } from "./models.js";

import type { SourceOptions } from "libattn";

export { AttnError } from "libattn";
export type { AttnErrorCode } from "libattn";
export type { Solution } from "./models.js";

/**
 * What is learned, by what model, and how: `attn lab train` has these options, too. The rate that stays constant after
 * warm-up, parameters of the backend and checkpoints are the command's alone.
 */
export interface StudyOptions {
    task: "lis" | "ed" | "ed_local" | "arithmetic";
    /** Of the problem: numbers, letters or operators. 6 by default. */
    size?: number;
    /** Of arithmetic: the prime that it counts by; 5 by default. */
    modulus?: number;
    /** Of ed_local: how far from the diagonal cells are kept; 2 by default. */
    band?: number;
    /** A backend with gradients; "softmax" by default. */
    attention?: string;
    /** 32 by default. */
    width?: number;
    /** 3 by default. */
    layers?: number;
    /** 4 by default. */
    heads?: number;
    /** Samples of a step; 64 by default. */
    batch?: number;
    /** Thousands to train on at most; 0, the default: the task's. */
    samples?: number;
    /** The highest learning rate; 0, the default: the task's. */
    rate?: number;
    /** Standard deviation that the embedding begins with; 0, the default: the task's. */
    embedding?: number;
    /** Part of the steps that are warm-up; 0.05 by default. */
    warm?: number;
    /** Share that is dropped; 0 by default. */
    dropout?: number;
    /** Of all random numbers; 1 by default. */
    seed?: number;
}

/** What a study is of. */
export interface StudyAbout {
    readonly task: "lis" | "ed" | "ed_local" | "arithmetic";
    readonly attention: string;
    /** Tokens that there are, and that a sequence can have. */
    readonly vocabulary: number;
    readonly length: number;
    readonly layers: number;
    readonly heads: number;
    /** Columns of a head. */
    readonly dim: number;
    /** How many the model has. */
    readonly weights: number;
    /** Samples of a step. */
    readonly batch: number;
    /** Steps at most. */
    readonly steps: number;
}

/** How well a model does on test samples, of which none is trained on. */
export interface StudyScore {
    samples: number;
    /** Right answers, said token by token. */
    answers: number;
    /** Samples of which every token is right where those before it are given. */
    whole: number;
    /** Has the study come to its end: all its steps, or 99.5% of samples wholly right? */
    done: boolean;
}

/** A model that learns. */
export interface Study {
    readonly about: StudyAbout;
    /** Steps taken. */
    readonly step: number;
    /**
     * Up to so many steps, fewer at its end: the loss of each, before it. Throws an AttnError when the training
     * diverges; the weights are those before that step.
     */
    train(steps: number): Float64Array<ArrayBuffer>;
    /** On the first so many test samples. */
    score(samples: number): StudyScore;
    /** What the model says by now: as a model of libattn-labs/models. */
    solve(question: string): Solution;
    /** Gives its memory back; it cannot be used afterwards. */
    dispose(): void;
}

/**
 * A model with drawn weights, which has learned nothing yet. The promise rejects with an AttnError that names
 * what is out of range, or "ATTN_ERROR_LOAD" where the module does not load.
 */
export function createStudy(options: StudyOptions): Promise<Study>;

/**
 * Load the module now, or another one than the package's file, for the calls that follow: `libattn-labs/training.wasm` from the
 * same kinds of source as libattn's init(). Hosts that compile nothing, such as Cloudflare Workers, need it. Gives the
 * functions of this entry. Rejects with an AttnError "ATTN_ERROR_LOAD" where it is no such module, which changes nothing.
 */
export function init(options?: SourceOptions | null | undefined): Promise<{
    readonly createStudy: typeof createStudy;
}>;
