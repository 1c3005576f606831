/** What a panel draws: its columns grouped into curves, each with its band. */

import type { LabColumn, LabPanel } from "libattn-labs";

export interface Curve {
    mark: "line" | "points" | "bound" | "faint";
    label: string;
    /** Columns by number. */
    y: number;
    low: number | null;
    high: number | null;
    color: string;
}

const colors = 6; // --curve-0 to --curve-5 in labs.css

/** The panel's curves in the order of their columns: a band belongs to the curve before it. */
export function curvesOf({ columns }: LabPanel): Curve[] {
    const curves: Curve[] = [];
    let main: Curve | undefined;
    columns.forEach((column, y) => {
        if (column.mark === "low" && main) main.low = y;
        if (column.mark === "high" && main) main.high = y;
        const curve = curveOf(column, y, curves);
        if (!curve) return;
        curves.push(curve);
        if (curve.mark === "line" || curve.mark === "points") main = curve;
    });
    return curves;
}

function curveOf({ mark, label, name }: LabColumn, y: number, before: Curve[]): Curve | null {
    if (mark !== "line" && mark !== "points" && mark !== "bound" && mark !== "faint") return null;
    const bounds = before.filter((curve) => curve.mark === "bound").length;
    const others = before.length - bounds;
    const color =
        mark === "bound" && bounds === 0
            ? "var(--ink)"
            : `var(--curve-${(mark === "bound" ? colors - bounds : others) % colors})`;
    return { mark, label: label || name, y, low: null, high: null, color };
}
