/** What a panel is made of, each part with what it does to the page around it. */

import type { Backend } from "libattn";
import { makeControls, type Controls } from "../dom/controls";
import { find } from "../dom/dom";
import type { Findings } from "../compare/lines";
import { wholes } from "../dom/terms";
import type { Values } from "../state/types";
import { Command } from "./command";
import { Figures } from "./figures";
import type { Panel } from "./panel";
import { Picture } from "./picture";
import { Row } from "./row";
import { addSaving } from "./saving";
import type { Surroundings } from "./surroundings";
import { Worst } from "./worst";

export interface Parts {
    picture: Picture;
    figures: Figures;
    row: Row;
    command: Command;
    worst: Worst;
    controls: Controls;
}

/** In the panel's element. */
export function makeParts(
    panel: Panel,
    backend: Backend,
    params: Values,
    around: Surroundings,
    findings: () => Findings | null,
): Parts {
    const { element: root, elements } = panel;
    const part = (selector: string) => find(root, selector, HTMLElement);
    for (const button of [part(".enlarge"), elements.tab])
        button.addEventListener("click", () => around.onEnlarge(panel));
    const picture = new Picture(root, backend.name, {
        showsDifference: () => panel.showsDifference,
        reference: () => around.reference(),
        hasErrors: true,
        zoom: around.zoom,
        onPoint: (cell) => around.onPoint(cell),
        onPin: (pin) => around.onPin(pin),
        onPress: () => {
            if (around.isLarge(panel)) return false;
            around.onEnlarge(panel);
            return true;
        },
    });
    for (const [name, term] of Object.entries(wholes)) around.explain(part(`.${name}`), term);
    addSaving(panel, backend.name, picture, around, findings);
    return {
        picture,
        figures: new Figures(root, (line) => around.term(line, backend), elements.tab),
        row: new Row(
            find(elements.arithmetic, ".row", HTMLElement),
            part(".stale-note").cloneNode(true),
            {
                name: (index) => picture.nameOf(index),
                label: (text, term) => around.label(text, term),
            },
        ),
        command: new Command(find(root, ".command", HTMLDetailsElement)),
        worst: new Worst(root, (row) => around.onRow(row, { query: row.query, key: row.key })),
        controls: makeControls(elements.controls, backend.id, backend.params, params, () => {
            around.onSettings();
            void panel.refresh();
        }),
    };
}
