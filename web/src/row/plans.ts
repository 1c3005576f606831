/** Plans beside a backend's own, which show what it does. */

import type { Attn, Plan } from "libattn/worker";
import type { Problem } from "../state/types";

/** null: the backend refuses it, as where a rule needs what one key has not. */
export async function planned(
    attn: Attn,
    asked: Parameters<Attn["plan"]>[0],
): Promise<Plan | null> {
    try {
        return await attn.plan(asked);
    } catch {
        return null;
    }
}

/** With products, caps and sinks times a factor. */
export function scaled(problem: Problem, factor: number, dim: number): Problem {
    if (factor === 1) return problem;
    const scale = factor * (problem.scale ?? 1 / Math.sqrt(dim));
    const { softcap, sink } = problem;
    return {
        ...problem,
        scale,
        ...(softcap !== undefined && { softcap: factor * softcap }),
        ...(sink !== undefined && { sink: factor * sink }),
    };
}
