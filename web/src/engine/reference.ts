/** Exact attention on some rows of an input: computed once, for all backends that are judged by it. */

import type { HeadRows, Look } from "../look/look";
import { nameOf } from "../rules/mask";
import { sampleRows } from "./sample";
import type { Source } from "../source/source";
import type { Input, Problem } from "../state/types";

const products = 1 << 25; // in a piece: some tens of milliseconds

export class Reference {
    readonly input: Input;
    readonly problem: Problem;
    readonly rows: readonly number[];
    #source: Source;
    #exact: Promise<Float64Array> | null = null;
    #end = new AbortController();

    constructor(source: Source, input: Input, problem: Problem) {
        const { batch, heads, queries } = input.shape;
        this.#source = source;
        this.input = input;
        this.problem = problem;
        this.rows = sampleRows(batch * heads * queries);
    }

    /** Of each row, one after the other. */
    exact(): Promise<Float64Array> {
        return (this.#exact ??= this.#compute());
    }

    isOf(input: Input, problem: Problem): boolean {
        return input === this.input && nameOf(problem) === nameOf(this.problem);
    }

    /** What there is to know of rows of a head, which is counted over all batches, beside the exact ones. */
    look(head: number, rows: HeadRows): Promise<Look> {
        return this.#source.look(this.input, this.problem, head, rows);
    }

    end(): void {
        this.#end.abort();
    }

    async #compute(): Promise<Float64Array> {
        const { keys, dim, valueDim } = this.input.shape;
        const step = Math.max(1, Math.floor(products / (keys * (dim + valueDim))));
        const exact = new Float64Array(this.rows.length * valueDim);
        for (let i = 0; i < this.rows.length; i += step) {
            this.#end.signal.throwIfAborted();
            const rows = this.rows.slice(i, i + step);
            exact.set(await this.#source.exact(this.input, this.problem, rows), i * valueDim);
        }
        return exact;
    }
}
