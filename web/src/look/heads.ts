/** All heads of a backend side by side: a small picture and three numbers of each, and a way to it. */

import { readTheme } from "../colors";
import { Fold } from "../cost/fold";
import { element, find, isAbort, message } from "../dom";
import { count, significant } from "../format";
import type { Table } from "../take/menu";
import type { Shape } from "../types";
import type { Work } from "../work";
import type { HeadRows, Look } from "./look";
import { thumbnail } from "./thumbnail";

const mostHeads = 144; // of them all: those of twelve layers of twelve
const pairs = 2 ** 16; // of a query and a key that are looked at in each

interface View {
    batch: number;
    head: number;
}

/** What it needs from the page around it. */
interface Around {
    /** null: there is no input. */
    shape(): Shape | null;
    backends(): string[];
    /** What the backend computes now; null: nothing. */
    work(backend: string): Work | null;
    view(): View;
    /** How batches are called. */
    batchName(): string;
    onView(view: View): void;
    onSettings(): void;
}

interface Head extends View {
    look: Look;
    rows: HeadRows;
}

export class Heads {
    #root = find(document, "#heads", HTMLDetailsElement);
    #backend = find(document, "#heads-of", HTMLSelectElement);
    #fold: Fold;
    #around: Around;
    #heads: Head[] = [];
    /** Why there are no more. */
    #problem: string | null = null;
    #isStale = true;
    #asked = 0;

    constructor(around: Around) {
        this.#around = around;
        const changed = () => {
            around.onSettings();
            this.refresh();
        };
        this.#fold = new Fold(
            "heads",
            changed,
            () => Promise.resolve(this.#draw()),
            () => this.#table(),
        );
        this.#backend.addEventListener("change", () => {
            this.clear();
            changed();
        });
    }

    /** The backend whose heads are shown; null: it is not open. */
    get open(): string | null {
        return this.#fold.isOpen ? this.#backend.value : null;
    }

    /** `backends`: to choose from. */
    set(open: string | null, backends: readonly string[]): void {
        this.#offer(backends);
        if (open !== null && backends.includes(open)) this.#backend.value = open;
        this.#fold.isOpen = open !== null;
    }

    /** The input, the problem or parameters are others. */
    clear(): void {
        this.#asked++;
        this.#isStale = true;
        this.#heads = [];
        this.#fold.draw();
    }

    /** Look at them, where that is wanted and not done. */
    refresh(): void {
        const shape = this.#around.shape();
        this.#root.hidden = !shape || shape.batch * shape.heads === 1;
        this.#offer(this.#around.backends());
        if (!shape || this.#root.hidden || !this.#fold.isOpen || !this.#isStale) return;
        this.#isStale = false;
        void this.#look(shape);
    }

    /** Another head is shown above. */
    mark(): void {
        this.#fold.draw();
    }

    async #look({ batch, heads }: Shape): Promise<void> {
        const asked = ++this.#asked;
        const work = this.#around.work(this.#backend.value);
        this.#problem = null;
        try {
            for (let i = 0; work && i < Math.min(mostHeads, batch * heads); i++) {
                const view = { batch: Math.floor(i / heads), head: i % heads };
                const found = await work.look(view.batch, view.head, pairs);
                if (asked !== this.#asked) return;
                this.#heads.push({ ...view, ...found });
                this.#fold.draw();
            }
        } catch (error) {
            if (asked !== this.#asked) return;
            if (isAbort(error)) this.#isStale = true;
            else this.#problem = message(error);
            this.#fold.draw();
        }
    }

    #offer(backends: readonly string[]): void {
        const known = [...this.#backend.options].map(({ value }) => value);
        const added = backends.filter((backend) => !known.includes(backend));
        this.#backend.append(...added.map((backend) => new Option(backend)));
    }

    #table(): Table | null {
        const rows = this.#heads.map(({ batch, head, look }) => {
            const { error, entropy, distance, queries, total } = look;
            return [batch, head, error, entropy, distance, queries.length, total];
        });
        const columns = ["batch", "head", "error", "entropy", "distance", "rows", "of"];
        return rows.length === 0
            ? null
            : { columns, rows, about: { backend: this.#backend.value } };
    }

    #draw(): Node[] {
        const { batch = 1, heads = 1 } = this.#around.shape() ?? {};
        if (this.#problem !== null) return [element("p", { className: "problem" }, this.#problem)];
        const grid = element("div", { className: "heads" });
        grid.style.setProperty("--heads", String(heads));
        grid.append(...this.#heads.map((head) => this.#button(head)));
        const all = batch * heads;
        const some = `The first ${mostHeads} of ${count(all, "head")}.`;
        return all > mostHeads ? [element("p", {}, some), grid] : [grid];
    }

    #button({ batch, head, look, rows }: Head): HTMLElement {
        const now = this.#around.view();
        const { batch: batches = 1 } = this.#around.shape() ?? {};
        const name =
            batches > 1 ? `${this.#around.batchName()} ${batch}, head ${head}` : `head ${head}`;
        const button = element("button", { type: "button" }, thumbnail(rows, readTheme()));
        button.append(element("b", {}, name), ...numbers(look));
        button.dataset.head = `${batch}.${head}`;
        button.ariaPressed = String(now.batch === batch && now.head === head);
        button.addEventListener("click", () => this.#around.onView({ batch, head }));
        return button;
    }
}

function numbers({ error, entropy, distance }: Look): HTMLElement[] {
    return Object.entries({ error, entropy, distance }).map(([name, value]) => {
        const text = Number.isNaN(value) ? "–" : significant(value, 3);
        const data = element("data", { value: String(value) }, text);
        const line = element("span", {}, `${name} `, data);
        line.dataset.name = name;
        return line;
    });
}
