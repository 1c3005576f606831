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
    /** Whose the bars are, and those in the background. */
    series: string;
    reference: string;
    /** A key to be marked, or null. */
    marked: number | null;
}

const mostNamed = 40; // tokens that there is room for
const ticks = 5;
const labelWidth = 18; // pixels

export function bars(drawn: Bars, width: number) {
    const { name, label, tokens, behind, values, colour, marked } = drawn;
    const keys = Array.from(values, (_, key) => key);
    const named = tokens && tokens.length <= mostNamed ? tokens : null;
    const each = Math.ceil((labelWidth * keys.length) / width); // as many as have room
    const at = (of: ArrayLike<number>) => ({ x: keys, y: Array.from(of) });
    return finish(
        Plot.plot({
            ...{ className: "plot", width, height: 240, ariaLabel: name },
            ...{
                marginLeft: 56,
                marginTop: behind ? 44 : 28,
                marginBottom: named ? 72 : 40,
                marginRight: 4,
            },
            x: {
                ...{
                    type: "band",
                    domain: keys,
                    padding: 0.15,
                    label: named ? null : words.story.key,
                },
                ...(named && {
                    ...{ tickFormat: (key: number) => named[key] ?? "", tickRotate: -60 },
                    ticks: keys.filter((key) => key % each === 0),
                }),
                ...(!named && { ticks: keys.filter((key) => key % 16 === 0) }),
            },
            y: { label, labelArrow: "none", grid: true, ticks, nice: ticks },
            marks: [
                ...(behind
                    ? [Plot.barY(keys, { ...at(behind), fill: "var(--edge)", fillOpacity: 0.4 })]
                    : []),
                Plot.barY(keys, { ...at(values), fill: colour, ...(behind && inset(keys.length)) }),
                ...(behind ? legend(drawn) : []),
                Plot.ruleX(marked === null ? [] : [marked], edge),
                Plot.ruleY([0], { stroke: "var(--edge)" }),
            ],
        }),
    );
}

/** Above the bars: which are whose. */
function legend({ series, reference, colour }: Bars) {
    const at = (letters: number) =>
        ({ frameAnchor: "top-right", textAnchor: "end", dy: -14, dx: -letter * letters }) as const;
    const square = reference.length + 0.5;
    return [
        Plot.text([reference], { ...at(0), fill: "var(--muted)" }),
        Plot.text(["■"], { ...at(square), fill: "var(--edge)", fillOpacity: 0.4 }),
        Plot.text([`■ ${series}`], { ...at(square + 3), fill: colour }),
    ];
}

const letter = 8; // pixels, at most on the whole

const edge = { stroke: "var(--accent)", strokeWidth: 1.5, strokeDasharray: "3 3" };

/** Narrower than what stands behind, where there is room for that. */
function inset(count: number) {
    const pixels = count <= mostNamed ? 3 : 0.5;
    return { insetLeft: pixels, insetRight: pixels };
}
