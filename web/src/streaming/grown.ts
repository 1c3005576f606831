/** How what backends keep has grown: as it was played, and before that as it can be counted. */

import { growth, type Size } from "./growth";
import type { Kept } from "./player";
import { countedParts } from "./sizes";

/** `played`: by the number of tokens. */
export function grown(played: readonly Kept[][], total: number, width: number): Node {
    return growth(passed(played), total, width);
}

/** What was played, and before it what can be counted. */
function passed(played: readonly Kept[][]): Size[][] {
    const all: Size[][] = [];
    let next: readonly Kept[] = [];
    for (let token = played.length - 1; token > 0; token--) {
        const here = played[token];
        next = here ?? next;
        all[token] =
            here ??
            next.flatMap(({ backend, sizes }) =>
                sizes ? [{ backend, ...countedParts(token, sizes) }] : [],
            );
    }
    return all;
}
