/** Two columns of tokens and the lines between them, as an SVG picture whose tokens can be pointed at. */

import { svg } from "../dom/dom";
import { words } from "../words/words";

export type Side = "query" | "key";

export interface Weights {
    queries: string[];
    keys: string[];
    /** The first one's number on each side. */
    first: Record<Side, number>;
    /** By query and key. */
    weights: Float32Array;
}

interface Events {
    /** A token is pointed at; null: none. */
    onLook(side: Side, at: number | null): void;
    /** A token is chosen. */
    onChoice(side: Side, at: number): void;
}

const [width, room, line] = [480, 150, 18]; // of the picture, its words, and a word's height
const longest = 20; // letters of a token
const least = 0.02; // of the largest weight: thinner lines are not drawn

export class Strands {
    readonly element: SVGElement;
    #words: Record<Side, SVGElement[]> = { query: [], key: [] };
    #lines: SVGElement[] = [];
    #first: Record<Side, number>;
    #events: Events;

    constructor({ queries, keys, first, weights }: Weights, events: Events) {
        this.#events = events;
        this.#first = first;
        const height = line * Math.max(queries.length, keys.length);
        this.element = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "strands" });
        this.element.setAttribute("role", "group");
        this.element.setAttribute("aria-label", words.strands.label);
        this.#addLines(keys.length, weights);
        this.#words = {
            query: queries.map((token, at) => this.#word("query", token, at)),
            key: keys.map((token, at) => this.#word("key", token, at)),
        };
        this.element.addEventListener("pointerleave", () => this.#look("query", null));
    }

    #addLines(keys: number, weights: Float32Array): void {
        const size = (weight: number) => (Number.isFinite(weight) ? Math.abs(weight) : 0);
        const most = weights.reduce((most, weight) => Math.max(most, size(weight)), 0);
        weights.forEach((weight, i) => {
            const part = size(weight) / most;
            if (!(part >= least)) return;
            const [query, key] = [Math.floor(i / keys), i % keys];
            const ends = { x1: room, y1: middle(query), x2: width - room, y2: middle(key) };
            const strand = svg("line", { ...ends, "stroke-opacity": part.toFixed(3) });
            strand.setAttribute("class", weight < 0 ? "below" : "above");
            Object.assign(strand.dataset, { query, key, weight });
            this.#lines.push(strand);
        });
        this.element.append(...this.#lines);
    }

    #word(side: Side, token: string, at: number): SVGElement {
        const isQuery = side === "query";
        const anchor = isQuery ? "end" : "start";
        const x = isQuery ? room - 6 : width - room + 6;
        const word = svg("text", { x, y: middle(at), "text-anchor": anchor });
        word.setAttribute("dominant-baseline", "middle");
        word.textContent = token.length > longest ? `${token.slice(0, longest)}…` : token;
        word.setAttribute("role", "button");
        word.setAttribute("aria-label", words.strands[side](token, this.#first[side] + at));
        word.setAttribute("tabindex", isQuery && at === 0 ? "0" : "-1");
        this.#listen(word, side, at);
        this.element.append(word);
        return word;
    }

    /** Arrows lead from one to the next and to the other side: only one of them all is a stop of the Tab key. */
    #listen(word: SVGElement, side: Side, at: number): void {
        word.addEventListener("pointerenter", () => this.#look(side, at));
        word.addEventListener("focus", () => this.#look(side, at));
        word.addEventListener("blur", () => this.#look(side, null));
        word.addEventListener("click", () => this.#events.onChoice(side, at));
        word.addEventListener("keydown", (event) => {
            if (event.key === "Enter") return this.#events.onChoice(side, at);
            const next = this.#beside(event.key, side, at);
            if (!next) return;
            event.preventDefault();
            word.setAttribute("tabindex", "-1");
            next.setAttribute("tabindex", "0");
            next.focus();
        });
    }

    /** Where an arrow leads. */
    #beside(key: string, side: Side, at: number): SVGElement | undefined {
        const { query, key: keys } = this.#words;
        if (key === "ArrowUp" || key === "ArrowDown")
            return this.#words[side][key === "ArrowUp" ? at - 1 : at + 1];
        if (key === "ArrowRight" && side === "query") return keys[Math.min(at, keys.length - 1)];
        if (key === "ArrowLeft" && side === "key") return query[Math.min(at, query.length - 1)];
        return undefined;
    }

    /** Its lines alone are strong. */
    #look(side: Side, at: number | null): void {
        this.element.classList.toggle("one", at !== null);
        for (const strand of this.#lines)
            strand.classList.toggle("seen", strand.dataset[side] === String(at));
        this.#events.onLook(side, at);
    }
}

function middle(row: number): number {
    return (row + 0.5) * line;
}
