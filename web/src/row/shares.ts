/**
 * What each column of a key adds to the logit that a backend has of its own, by its gradients: a logit that is a product of
 * query and key, through whatever matrix, is the sum of its derivative by each number of the key times that number.
 */

import type { PlanOptions } from "libattn";
import type { Attn, GradientsPlan } from "libattn/worker";
import { argumentsOf } from "../rules/arguments";
import { dotProducts, exactLogits, headArrays } from "./place";
import { scaled } from "./plans";
import type { Held, Subject } from "./probe";

const rounding = 1e-4; // of a sum of floats, by the sum of their sizes

/** `logit`: the backend's own; null: it is no such product, or has no gradients. */
export async function logitShares(
    attn: Attn,
    held: Held,
    { backend, params, problem, place }: Subject,
    logit: number,
): Promise<Float64Array | null> {
    const { input } = held;
    const { shape } = input;
    if (!backend.features.includes("backward")) return null;
    // With small logits the query looks at all keys, and the gradient of each is far from 0.
    const arrays = headArrays(input, problem, place);
    const logits = exactLogits(dotProducts(arrays), arrays).filter(Number.isFinite);
    const factor = 1 / logits.reduce((most, each) => Math.max(most, Math.abs(each)), 1);
    const { options, arrays: own } = argumentsOf(scaled(problem, factor, shape.dim), shape);
    const { query, key } = await held.on(attn);
    const asked = { backend: backend.id, ...shape, ...options, params, valueDim: 1 };
    const plan = await withGradients(attn, asked);
    if (!plan) return null;
    try {
        const { batch, head, query: first } = place;
        const part = { batch, head, first, count: 1 };
        const weights = await plan.weights({ ...own, query, key, ...part });
        const { value, outGradient, keyAt } = chosen(shape, place);
        const given = { ...own, query, key, value, outGradient };
        const { key: gradient } = await plan.gradients({ ...given, by: ["key"] });
        const weight = weights[place.key] ?? NaN;
        const ofLogit = factor * weight * (1 - weight); // d out / d logit, of a value that is the key's alone
        const { dim } = shape;
        const shares = Float64Array.from({ length: dim }, (_, c) => {
            const at = keyAt * dim + c;
            return ((input.key[at] ?? NaN) * (gradient[at] ?? NaN)) / ofLogit;
        });
        const sum = shares.reduce((total, share) => total + share, 0);
        const size = shares.reduce((total, share) => total + Math.abs(share), 1);
        return Math.abs(sum - logit) <= rounding * size ? shares : null;
    } finally {
        plan.dispose();
    }
}

/** null: of this problem there are none. */
async function withGradients(
    attn: Attn,
    asked: PlanOptions<"f32", "f32">,
): Promise<GradientsPlan | null> {
    try {
        return await attn.plan({ ...asked, gradients: true });
    } catch {
        return null;
    }
}

/** A value that is 1 at the place's key, a gradient that is 1 at its query, and where that key stands. */
function chosen(shape: Held["input"]["shape"], { batch, head, query, key }: Subject["place"]) {
    const { heads, kvHeads, queries, keys } = shape;
    const value = new Float32Array(shape.batch * kvHeads * keys);
    const outGradient = new Float32Array(shape.batch * heads * queries);
    const kvHead = batch * kvHeads + Math.floor(head / (heads / kvHeads));
    const keyAt = kvHead * keys + key;
    value[keyAt] = 1;
    outGradient[(batch * heads + head) * queries + query] = 1;
    return { value, outGradient, keyAt };
}
