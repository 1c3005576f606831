/* The arrays of a checked call on their way to C, and its results on their way back. */
import { isTensor } from "./check.js";
import { FULL } from "./edition.js";
import { INPUTS } from "./rules.js";
import { PLACED } from "./shape.js";

/* In the order of src/bindings.h. */
const ADDRESSES = [...PLACED, "lse", ...INPUTS, "keyScales", "valueScales", "scores"];

/** All arrays of a job that are there. */
export function arraysOf({ given, outputs }) {
    const all = [...Object.values(given), ...Object.values(outputs ?? [])];
    return all.map(({ array }) => array).filter((array) => array !== undefined);
}

/**
 * A job, { given, outputs, place } (call.js), as the list that src/arrays.c reads, and take(), which gives
 * its results by name once C has written them.
 */
export function lendJob(loan, { given, outputs, place }) {
    const at = { __proto__: null };
    for (const name in given) {
        at[name] = loan.input(given[name].array, name, given[name].length);
    }
    const takes = { __proto__: null };
    for (const name in outputs) {
        const { type, length, array, gaps, given: target } = outputs[name];
        const room = loan.output(type, length, name, array, gaps);
        at[name] = room.at;
        takes[name] = () => {
            const taken = room.take();
            if (FULL && isTensor(array)) return array.data;
            return taken === array ? target : taken;
        };
    }
    const extents = [given.bias, given.mask].flatMap(
        (grid) => grid?.shape.slice(0, 3) ?? [0, 0, 0],
    );
    const list = [...ADDRESSES.map((name) => at[name] ?? 0), ...extents, ...place.strides];
    const take = () => {
        const results = {};
        for (const name in takes) results[name] = takes[name]();
        return results;
    };
    return { list: loan.list(list), take };
}

/** Runs C's plan on a job whose arrays the loan holds. */
export function compute(session, plan, job, loan) {
    const { list, take } = lendJob(loan, job);
    return resultOf(session.measure("attnjs_run", plan, list), take);
}

/** The same beside this thread, where the engine can. */
export async function computeBeside(session, plan, job, loan, signal) {
    const { list, take } = lendJob(loan, job);
    return resultOf(await session.start(plan, list, signal), take);
}

function resultOf(degenerateRows, take) {
    return { out: null, lse: null, scores: null, degenerateRows, ...take() };
}
