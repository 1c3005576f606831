/** What backends make of the queries, keys and values of a thought. */

import type { Backend } from "libattn";
import type { Candidate } from "../cost/lengths";
import { message } from "../dom/dom";
import type { Engine } from "../engine/engine";
import { modelScale } from "../source/scale";
import type { Thought } from "../source/trained";
import type { Grid } from "../state/types";
import type { Work } from "../engine/work";
import { wholeOf } from "../zoom/region";
import { keeping } from "./keeping";
import type { Made } from "./view";

/** Of one backend: what it makes, and the bytes that it keeps; or why it does not. */
export interface Outcome {
    backend: Backend;
    isOwn: boolean;
    made: Made | string;
    /** keeping()'s; none where it cannot read tokens one by one. */
    kept: number[];
}

/** One outcome after the other, the model's own attention first. */
export async function* outcomes(
    engine: Engine,
    backends: readonly Backend[],
    thought: Thought,
): AsyncGenerator<Outcome> {
    const isOwn = ({ id }: Backend) => id === thought.about.attention;
    const ordered = [...backends.filter(isOwn), ...backends.filter((each) => !isOwn(each))];
    let own: Work | null = null;
    for (const [place, backend] of ordered.entries()) {
        const params = isOwn(backend) ? { ...thought.about.params } : {};
        const problem = { causal: true, scale: modelScale(thought.input.shape.dim) };
        const work = engine.begin({ backend: backend.id, place, problem, params });
        if (!work) return; // another question was asked
        own ??= work;
        const made = await make(work, own, backend, thought).catch((error: unknown) => {
            work.signal.throwIfAborted();
            return message(error);
        });
        const kept = await keptBy(engine, thought, { backend: backend.id, params });
        yield { backend, isOwn: work === own, made, kept };
    }
}

async function make(work: Work, own: Work, { id }: Backend, thought: Thought): Promise<Made> {
    const { batch, heads, ...of } = thought.input.shape;
    const viewport = { region: wholeOf(of), pooling: "mean" } as const;
    const grids: Grid[][] = [];
    for (let layer = 0; layer < batch; layer++) {
        const row: Grid[] = [];
        for (let head = 0; head < heads; head++)
            row.push(await work.picture(layer, head, viewport, () => undefined));
        grids.push(row);
    }
    const { flops } = await work.describe();
    await work.run(flops);
    return {
        backend: id,
        isOwn: work === own,
        grids,
        exact: await work.error(),
        own: work.errorAgainst(own),
    };
}

/** What the model itself has kept is known already. */
async function keptBy(
    engine: Engine,
    { about, state, input }: Thought,
    candidate: Candidate,
): Promise<number[]> {
    const kept = await engine.ask((attn) => keeping(attn, input, candidate)).catch(() => []);
    return candidate.backend === about.attention ? [...state, ...kept.slice(state.length)] : kept;
}
