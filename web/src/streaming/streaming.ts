/** Tokens played one by one: what each backend keeps of them grows, or does not. */

import { Fold } from "../cost/fold";
import { nameOf } from "../map/axes";
import { element, find, message } from "../dom/dom";
import { bytes, count, significant } from "../dom/format";
import type { Table } from "../take/menu";
import type { Summary } from "../state/types";
import type { Kept, Playing } from "./player";
import { streamTerms, type Label } from "../dom/terms";
import { words } from "../words/words";

const { streaming: told } = words;
const pause = 250; // milliseconds between two tokens

/** A head whose tokens come one by one. */
export interface Scene {
    player: Playing;
    input: Summary;
}

export class Streaming {
    #fold: Fold;
    #slider = find(document, "#token", HTMLInputElement);
    #button = find(document, "#play", HTMLButtonElement);
    #words = find(document, "#token-words", HTMLElement);
    #begin: () => Scene | null;
    #label: Label;
    /** undefined: there has been no occasion to ask for it. */
    #scene: Scene | null | undefined;
    /** What was played last. */
    #input: Summary | null = null;
    /** Of each number of tokens that was played, the latest of which is shown until the next is there. */
    #played: Kept[][] = [];
    #latest = 0;
    #wanted: number;
    #timer = 0;
    #onChange: () => void;

    /** `begin`: gives the head that is shown; null: there is none. */
    constructor(begin: () => Scene | null, label: Label, onChange: () => void) {
        this.#label = label;
        this.#begin = begin;
        this.#onChange = onChange;
        this.#wanted = 1;
        this.#fold = new Fold(
            "streaming",
            () => {
                onChange();
                this.refresh();
            },
            (width) => this.#draw(width),
            () => this.#table(),
        );
        this.#slider.addEventListener("input", () => this.#go(Number(this.#slider.value)));
        this.#button.addEventListener("click", () => this.#toggle());
    }

    get isOpen(): boolean {
        return this.#fold.isOpen;
    }

    /** Tokens that have come. */
    get token(): number {
        return this.#wanted;
    }

    set(isOpen: boolean, token: number): void {
        this.#wanted = token;
        this.#fold.isOpen = isOpen;
    }

    /** There is another input, problem or head, or other parameters: what was played is not its. */
    clear(): void {
        this.#stop();
        this.#scene?.player.end();
        this.#scene = undefined;
        this.#played = [];
        this.#latest = 0;
        this.#words.textContent = "";
        this.#slider.removeAttribute("aria-valuetext");
        this.#fold.draw();
    }

    get #total(): number {
        return this.#scene?.input.shape.keys ?? 0;
    }

    /** Begin where it is wanted, and with another input anew. */
    refresh(): void {
        if (!this.isOpen || this.#scene) return;
        this.#scene = this.#begin();
        this.#fold.draw();
        if (!this.#scene) return;
        const { input } = this.#scene;
        const isAnother = this.#input !== null && this.#input !== input;
        this.#input = input;
        this.#slider.max = String(this.#total);
        this.#go(isAnother ? 1 : Math.min(this.#wanted, this.#total));
    }

    #toggle(): void {
        if (this.#timer) return this.#stop();
        if (this.#wanted >= this.#total) this.#go(1);
        this.#button.textContent = told.pause;
        this.#timer = setInterval(() => {
            if (this.#wanted >= this.#total) this.#stop();
            else if (this.#played[this.#wanted]) this.#go(this.#wanted + 1); // else it is under way
        }, pause);
    }

    #stop(): void {
        clearInterval(this.#timer);
        this.#timer = 0;
        this.#button.textContent = told.play;
    }

    #go(token: number): void {
        this.#wanted = token;
        this.#slider.value = String(token);
        this.#onChange();
        void this.#play(token);
    }

    async #play(token: number): Promise<void> {
        const scene = this.#scene;
        if (!scene) return;
        try {
            const kept = await scene.player.play(token);
            if (scene !== this.#scene) return;
            this.#played[token] = kept;
            this.#latest = token;
            this.#fold.draw();
        } catch (error) {
            if (scene !== this.#scene) return; // it has ended
            this.#stop();
            this.#words.textContent = message(error);
        }
    }

    #table(): Table | null {
        const rows = this.#played.flatMap((kept, tokens) =>
            kept.map(({ backend, bytes, state, held, error }) => {
                return [backend, tokens, bytes, state, held, error];
            }),
        );
        const columns = ["backend", "tokens", "bytes", "state bytes", "tokens held", "error"];
        return rows.length === 0 ? null : { columns, rows, about: {} };
    }

    async #draw(width: number): Promise<Node[]> {
        const { grown } = await import("./grown");
        const kept = this.#played[this.#latest];
        const scene = this.#scene;
        if (scene === null) return [element("p", {}, told.nothing)];
        if (!scene || !kept) return [element("p", {}, "…")];
        const token = nameOf(this.#latest - 1, scene.input.tokens);
        const so = told.come(this.#latest, count(this.#total, words.nouns.token), token);
        this.#words.textContent = so;
        this.#slider.setAttribute("aria-valuetext", so);
        return [table(kept, this.#label), grown(this.#played, this.#total, width)];
    }
}

function table(kept: readonly Kept[], label: Label): HTMLElement {
    const most = Math.max(1, ...kept.map((each) => each.bytes ?? 0));
    const columns = ["keeps", "state", "held", "error"] as const;
    const labels = columns.map((name) => label(told[name], streamTerms[name]));
    const heads = [told.backend, ...labels];
    const rows = kept.map(({ backend, bytes: size, state, held, error, reason }) => {
        const heading = element("th", { scope: "row" }, backend);
        if (size === null || error === null) {
            return element(
                "tr",
                {},
                heading,
                element("td", { colSpan: heads.length - 1 }, reason ?? ""),
            );
        }
        const all = numberCell("bytes", size, bytes(size));
        all.className = "weight";
        all.style.setProperty("--part", String(size / most));
        const row = element(
            "tr",
            {},
            heading,
            all,
            numberCell("state", state, state > 0 ? bytes(state) : "–"),
            numberCell("held", held, String(held)),
            numberCell("error", error, significant(error, 3)),
        );
        row.dataset.stream = backend;
        return row;
    });
    const head = heads.map((head) => element("th", { scope: "col" }, head));
    return element(
        "table",
        { className: "streams" },
        element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, ...rows),
    );
}

function numberCell(name: string, value: number, text: string): HTMLElement {
    const cell = element("td", {}, element("data", { value: String(value) }, text));
    cell.dataset.name = name;
    return cell;
}
