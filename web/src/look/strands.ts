/** Two columns of tokens and the lines between them, as an SVG picture whose tokens can be pointed at. */

import { svg } from "../dom";
import { words } from "../words/words";

export type Side = "query" | "key";

export interface Weights {
    queries: string[];
    keys: string[];
    /** By query and key. */
    weights: Float32Array;
}

interface Events {
    /** A token is pointed at; null: none. */
    onLook(side: Side, at: number | null): void;
    /** A query is chosen. */
    onChoice(query: number): void;
}

const [width, room, line] = [480, 150, 18]; // of the picture, its words, and a word's height
const longest = 20; // letters of a token
const least = 0.02; // of the largest weight: thinner lines are not drawn

export class Strands {
    readonly element: SVGElement;
    #queries: SVGElement[] = [];
    #lines: SVGElement[] = [];
    #events: Events;

    constructor({ queries, keys, weights }: Weights, events: Events) {
        this.#events = events;
        const height = line * Math.max(queries.length, keys.length);
        this.element = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "strands" });
        this.element.setAttribute("role", "group");
        this.element.setAttribute("aria-label", words.strands.label);
        this.#addLines(keys.length, weights);
        this.#queries = queries.map((token, at) => this.#word("query", token, at));
        keys.forEach((token, at) => this.#word("key", token, at));
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
        word.addEventListener("pointerenter", () => this.#look(side, at));
        if (isQuery) this.#makeButton(word, token, at);
        this.element.append(word);
        return word;
    }

    /** Arrows lead from one to the next: only one of them is a stop of the Tab key. */
    #makeButton(word: SVGElement, token: string, at: number): void {
        word.setAttribute("role", "button");
        word.setAttribute("aria-label", words.strands.query(token, at + 1));
        word.setAttribute("tabindex", at === 0 ? "0" : "-1");
        word.addEventListener("focus", () => this.#look("query", at));
        word.addEventListener("blur", () => this.#look("query", null));
        word.addEventListener("click", () => this.#events.onChoice(at));
        word.addEventListener("keydown", (event) => {
            if (event.key === "Enter") return this.#events.onChoice(at);
            const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            const next = by && this.#queries[at + by];
            if (!next) return;
            event.preventDefault();
            word.setAttribute("tabindex", "-1");
            next.setAttribute("tabindex", "0");
            next.focus();
        });
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
