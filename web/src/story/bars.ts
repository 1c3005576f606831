/** A row as bars: what each key has from softmax, and beside it from another backend. */

import * as Plot from "@observablehq/plot";
import { finish } from "../dom/plot";
import { words } from "../words/words";

export interface Bars {
    /** What is drawn, in a sentence. */
    name: string;
    label: string;
    tokens: readonly string[] | null;
    /** Wide and pale, in the background; null: there is nothing to compare with. */
    behind: ArrayLike<number> | null;
    values: ArrayLike<number>;
    colour: string;
    /** A key to be marked, or null. */
    marked: number | null;
}

const mostNamed = 40; // tokens that there is room for

export function bars({ name, label, tokens, behind, values, colour, marked }: Bars, width: number) {
    const keys = Array.from(values, (_, key) => key);
    const named = tokens && tokens.length <= mostNamed ? tokens : null;
    const at = (of: ArrayLike<number>) => ({ x: keys, y: Array.from(of) });
    return finish(
        Plot.plot({
            ...{ className: "plot", width, height: 220, ariaLabel: name },
            ...{ marginLeft: 52, marginTop: 24, marginBottom: named ? 64 : 34, marginRight: 4 },
            x: {
                ...{
                    type: "band",
                    domain: keys,
                    padding: 0.15,
                    label: named ? null : words.story.key,
                },
                ...(named && { tickFormat: (key: number) => named[key] ?? "", tickRotate: -60 }),
                ...(!named && { ticks: keys.filter((key) => key % 16 === 0) }),
            },
            y: { label, labelArrow: "none", grid: true, ticks: 5, nice: true },
            marks: [
                ...(behind
                    ? [Plot.barY(keys, { ...at(behind), fill: "var(--edge)", fillOpacity: 0.4 })]
                    : []),
                Plot.barY(keys, { ...at(values), fill: colour, ...(behind && inset(keys.length)) }),
                Plot.ruleX(marked === null ? [] : [marked], edge),
                Plot.ruleY([0], { stroke: "var(--edge)" }),
            ],
        }),
    );
}

const edge = { stroke: "var(--accent)", strokeWidth: 1.5, strokeDasharray: "3 3" };

/** Narrower than what stands behind, where there is room for that. */
function inset(count: number) {
    const pixels = count <= mostNamed ? 3 : 0.5;
    return { insetLeft: pixels, insetRight: pixels };
}
