/** The shipped run of a panel, which stands behind what is run here. */

import type { LabPanel } from "libattn-labs";
import type { Row } from "./figure";

/** By file: where the build has put it. */
const addresses = import.meta.glob<string>("../../../bench/labs/figures/*.json", {
    eager: true,
    query: "?url",
    import: "default",
});

/** Its rows, by the panel's columns; none where there is no run, or it cannot be had. */
export async function recordedRows(lab: string, { id, columns }: LabPanel): Promise<Row[]> {
    const address = addresses[`../../../bench/labs/figures/${lab}-${id}.json`];
    if (address === undefined) return [];
    try {
        const { points } = (await (await fetch(address)).json()) as Run;
        return points.map((row) => columns.map(({ name }) => row[name] ?? NaN));
    } catch {
        return []; // without a network, where the browser has not kept it yet
    }
}

interface Run {
    points: Record<string, number | null>[];
}
