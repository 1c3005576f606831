/** What each attention has to keep of the tokens that have been read. */

import { element, find } from "../dom/dom";
import { bytes } from "../dom/format";
import { growth } from "../streaming/growth";
import { takeMenu, type Table } from "../take/menu";
import { standaloneSvg } from "../take/standalone";
import type { Outcome } from "./compute";
import { said } from "./words";

export class Kept {
    #figure = find(document, "#growth", HTMLElement);
    #table = find(document, "#kept", HTMLElement);
    #outcomes: readonly Outcome[] = [];

    /** `about`: of which thought, for files. */
    constructor(about: () => Table["about"]) {
        const card = find(document, "[aria-labelledby=kept-title]", HTMLElement);
        const title = find(card, "h2", HTMLElement).textContent;
        const svg = () => {
            const drawing = this.#figure.querySelector("svg");
            return drawing && standaloneSvg(drawing);
        };
        const table = () => {
            const rows = this.#outcomes.flatMap(({ backend, kept }) =>
                kept.map((bytes, i) => [backend.id, i + 1, bytes]),
            );
            const columns = ["backend", "tokens", "bytes"];
            return rows.length === 0 ? null : { columns, rows, about: about() };
        };
        card.append(takeMenu(title, { name: () => "thinking-kept", svg, table }));
    }

    clear(): void {
        this.#outcomes = [];
        this.#figure.replaceChildren();
        this.#table.replaceChildren();
    }

    /** So many tokens are read. */
    show(outcomes: readonly Outcome[], token: number): void {
        const width = Math.floor(this.#figure.clientWidth);
        if (outcomes.length === 0 || width === 0) return this.clear();
        this.#outcomes = outcomes;
        const total = Math.max(...outcomes.map(({ kept }) => kept.length));
        const played = Array.from({ length: total + 1 }, (_, read) =>
            outcomes.map(({ backend, kept }) => ({
                backend: backend.id,
                bytes: read === 0 ? 0 : (kept[read - 1] ?? null),
            })),
        );
        this.#figure.replaceChildren(growth(played, total, width, token));
        this.#table.replaceChildren(table(outcomes, token));
    }
}

function table(outcomes: readonly Outcome[], token: number): HTMLElement {
    const most = Math.max(1, ...outcomes.map(({ kept }) => kept[token - 1] ?? 0));
    const rows = outcomes.map(({ backend, isOwn, kept }) => {
        const size = kept[token - 1];
        const name = isOwn ? said.keptByOwn(backend.id) : backend.id;
        const heading = element("th", { scope: "row" }, name);
        if (size === undefined)
            return element("tr", {}, heading, element("td", {}, said.notOneByOne));
        const data = element("data", { value: String(size) }, bytes(size));
        const cell = element("td", { className: "weight" }, data);
        cell.style.setProperty("--part", String(size / most));
        return element("tr", {}, heading, cell);
    });
    return element("table", { className: "streams" }, element("tbody", {}, ...rows));
}
