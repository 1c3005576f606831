/** What is what in a figure: beside it on the page, and in it where it is saved. */

import type { LabPanel } from "libattn-labs";
import { element } from "../dom/dom";
import type { Entry } from "../take/legend";
import { curvesOf } from "./curves";
import { said } from "./words";

const outside: Entry = { mark: "area", label: said.outside, color: "var(--outside)" };

function entriesOf(panel: LabPanel): Entry[] {
    return curvesOf(panel).map(({ label, mark, color, low }) => {
        if (low === null) return { mark, label, color };
        return { mark, label: said.withInterval(label), color, hasBand: true };
    });
}

/** `isShaded`: has the figure a part outside of the claim's premises? */
export function savedLegend(panel: LabPanel, isShaded: boolean): Entry[] {
    return [...entriesOf(panel), ...(isShaded ? [outside] : [])];
}

/** Items of a list. That of the shaded part is #outside, and not seen at first. */
export function legendItems(panel: LabPanel): HTMLElement[] {
    const items = entriesOf(panel).map(({ mark, label, color }) => {
        const swatch = element("span", { className: `swatch ${mark}` });
        swatch.style.setProperty("--color", color);
        return element("li", {}, swatch, label);
    });
    const shade = element("span", { className: "swatch outside" });
    return [...items, element("li", { id: "outside", hidden: true }, shade, outside.label)];
}
