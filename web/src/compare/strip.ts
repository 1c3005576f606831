/** What backends cost, by softmax's operations: a bar for each. */

import { element, find } from "../dom/dom";
import { significant } from "../dom/format";
import { words } from "../words/words";

interface Bar {
    item: HTMLElement;
    flops: number | null;
}

export class Strip {
    #list = find(document, "#strip ol", HTMLElement);
    #bars = new Map<string, Bar>();
    #reference: string;

    /** `reference`: the backend whose operations are 100 %. */
    constructor(reference: string) {
        this.#reference = reference;
    }

    add(id: string, name: string): void {
        const item = element("li", {}, element("span", {}, name), element("data", {}, "…"));
        item.dataset.of = id;
        this.#bars.set(id, { item, flops: null });
        this.#list.append(item);
    }

    /** null: the backend does not tell. */
    note(id: string, flops: number | null): void {
        const bar = this.#bars.get(id);
        if (!bar) return;
        bar.flops = flops;
        this.#draw();
    }

    #draw(): void {
        const whole = this.#bars.get(this.#reference)?.flops ?? null;
        const most = Math.max(...[...this.#bars.values()].map(({ flops }) => flops ?? 0));
        for (const { item, flops } of this.#bars.values()) {
            const part = whole && flops !== null ? flops / whole : null;
            const data = find(item, "data", HTMLDataElement);
            data.value = flops === null ? "" : String(flops);
            data.textContent = part === null ? words.numbers.notTold : shareOf(part);
            item.style.setProperty("--part", String(most > 0 ? (flops ?? 0) / most : 0));
        }
    }
}

/** It may be more than all. */
function shareOf(part: number): string {
    return `${part >= 1 ? Math.round(100 * part) : significant(100 * part, 2)} %`;
}
