/** What a plan tells before it runs. */

import type { Plan as Inline } from "libattn/inline";
import type { Plan as Remote } from "libattn/worker";
import type { Numbers, Shape } from "../state/types";

export function numbersOf(
    { cost, workspaceBytes, kernel, facts }: Inline | Remote,
    { batch, heads, queries, keys }: Shape,
    hidesPairs: boolean,
): Numbers {
    const all = batch * heads * queries * keys;
    const pairs = known(cost?.pairs);
    const computed = known(cost?.computed) || null;
    return {
        flops: known(cost?.flops),
        heads: batch * heads,
        kept: pairs && pairs / all,
        isMost: hidesPairs,
        computed: computed && computed / all,
        form: cost && cost.form,
        ...{ workspaceBytes, kernel, facts },
    };
}

/** Where the arrays of a run decide, a plan does not know. */
function known(count?: number | null): number | null {
    return count ?? null;
}
