/** A problem as the library takes it: options of its plan, and the arrays that its runs bring. */

import type { InputName } from "libattn";
import type { Problem, Shape } from "../state/types";
import { fits, without } from "./mask";
import { slopeOf, type Run } from "./rules";

interface Arguments {
    /** Beside backend, sizes and parameters. */
    options: {
        causal: "top-left" | false;
        scale?: number;
        window?: readonly [number, number];
        softcap?: number;
        inputs: InputName[];
    };
    arrays: {
        kvLengths?: number[];
        sinks?: Float32Array;
        slopes?: Float32Array;
        mask?: { data: Uint8Array; shape: number[] };
    };
    /** Some of them keep queries from keys. */
    hidesPairs: boolean;
}

export function argumentsOf(
    problem: Problem,
    shape: Pick<Shape, "batch" | "heads" | "queries" | "keys">,
): Arguments {
    const { batch, heads, keys } = shape;
    const { causal, scale, window, softcap, alibi, sink, length, hidden, mask } = problem;
    const arrays: Arguments["arrays"] = {};
    if (length !== undefined) arrays.kvLengths = Array<number>(batch).fill(Math.min(length, keys));
    if (sink !== undefined) arrays.sinks = new Float32Array(heads).fill(sink);
    if (alibi !== undefined)
        arrays.slopes = Float32Array.from({ length: heads }, (_, head) => slopeOf(alibi, head));
    const visible = hidden ? visibleBytes(hidden, keys) : null;
    if (mask && fits(mask, shape)) arrays.mask = without(mask, visible);
    else if (visible) arrays.mask = { data: visible, shape: [1, keys] };
    return {
        options: {
            causal: causal && "top-left",
            ...(scale !== null && { scale }),
            ...(window && { window }),
            ...(softcap !== undefined && { softcap }),
            inputs: Object.keys(arrays) as InputName[],
        },
        arrays,
        hidesPairs: Boolean(arrays.kvLengths ?? arrays.mask),
    };
}

/** 0 for keys that are hidden, 1 for others. */
export function visibleBytes(hidden: readonly Run[], keys: number): Uint8Array {
    const visible = new Uint8Array(keys).fill(1);
    for (const [first, last] of hidden) visible.fill(0, first, last + 1);
    return visible;
}
