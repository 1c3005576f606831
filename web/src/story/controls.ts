/** What the reader of the story can set: text, token, scale, lengths and parameters. */

import type { Backend } from "libattn";
import { element, find } from "../dom/dom";
import { count, short } from "../dom/format";
import type { Settings } from "../state/state";
import type { Value } from "../state/types";
import { words } from "../words/words";

const typingPause = 200; // milliseconds

interface Events {
    onText(): void;
    /** The token that asks is another one. */
    onRow(query: number): void;
    /** `steps`: those that depend on it; null: all of the text's. */
    onChange(changed: Partial<Settings>, steps: readonly string[] | null): void;
}

export class Controls {
    #text = find(document, "#text", HTMLInputElement);
    #row = find(document, "#row", HTMLInputElement);
    #scale = find(document, "#scale", HTMLInputElement);
    #causal = find(document, "#causal", HTMLInputElement);
    #length = find(document, "#length", HTMLInputElement);
    #backends: readonly Backend[];
    #typing = 0;
    /** Of the vectors that are shown. */
    #dim: number;

    /** Set as the settings say, but for a text that the reader has typed by now. */
    constructor(settings: Settings, backends: readonly Backend[]) {
        this.#backends = backends;
        const { text, scale, causal, costs, dim } = settings;
        this.#dim = dim;
        if (this.#text.value === this.#text.defaultValue) this.#text.value = text;
        this.#scale.value = String(Math.log2((scale ?? 1 / Math.sqrt(dim)) * Math.sqrt(dim)));
        this.#causal.checked = causal;
        this.#length.value = String(Math.log2(costs.length));
        const maps = this.#paramOf("linear", "feature_map")?.choices ?? [];
        const options = maps.map((map) => element("option", { value: map }, map));
        find(document, "#feature_map", HTMLSelectElement).append(...options);
        for (const control of this.#params()) {
            const [backend = "", name = ""] = control.name.split(".");
            const value = settings.params.get(backend)?.[name];
            const usual = this.#paramOf(backend, name)?.default;
            control.value = String(value ?? control.dataset.usual ?? usual ?? "");
        }
    }

    /** `settings`: of now. */
    listen(settings: () => Settings, { onText, onRow, onChange }: Events): void {
        this.#text.oninput = () => {
            clearTimeout(this.#typing);
            this.#typing = setTimeout(onText, typingPause);
        };
        this.#row.oninput = () => onRow(Number(this.#row.value));
        this.#scale.oninput = () => {
            const factor = Number(this.#scale.value);
            const scale = factor === 0 ? null : 2 ** factor / Math.sqrt(this.#dim);
            onChange({ scale }, null);
        };
        this.#causal.onchange = () => onChange({ causal: this.#causal.checked }, null);
        this.#length.oninput = () => {
            const length = Math.round(2 ** Number(this.#length.value));
            onChange({ costs: { ...settings().costs, length } }, ["costs"]);
        };
        for (const control of this.#params())
            control.oninput = () => {
                const [backend = "", name = ""] = control.name.split(".");
                const number = Number(control.value);
                const value: Value = Number.isNaN(number) ? control.value : number;
                const params = new Map(settings().params);
                params.set(backend, { ...params.get(backend), [name]: value });
                onChange({ params }, [backend, "costs"]);
            };
    }

    get text(): string {
        return this.#text.value;
    }

    /** Is something wrong with the text? */
    set isWrong(isWrong: boolean) {
        this.#text.ariaInvalid = isWrong ? "true" : null;
    }

    /** Vectors of another length are shown: a sketch has fewer features than they have. */
    showDim(dim: number, { params, scale }: Settings): void {
        this.#dim = dim;
        this.#scale.value = String(Math.log2((scale ?? 1 / Math.sqrt(dim)) * Math.sqrt(dim)));
        const size = find(document, "[name='sketch.size']", HTMLInputElement);
        size.min = size.step = String(Math.max(1, dim / 16));
        size.max = String(dim);
        size.value = String(params.get("sketch")?.size ?? dim / 2);
    }

    /** What sliders stand at. */
    showValues({ costs }: Settings): void {
        const say = (control: HTMLElement, selector: string, text: string) => {
            find(document, selector, HTMLElement).textContent = text;
            control.ariaValueText = text;
        };
        say(this.#scale, "#factor", short(2 ** Number(this.#scale.value)));
        say(this.#length, "#tokens", count(costs.length, words.nouns.token));
        for (const control of this.#params()) {
            const value = control.closest("label")?.querySelector(".value");
            if (value) value.textContent = control.value;
        }
    }

    /** The token that asks, of so many. */
    showRow(query: number, queries: number, token: string): void {
        this.#row.max = String(queries - 1);
        this.#row.value = String(query);
        const asks = words.story.asks(words.picture.quoted(token), query);
        find(document, "#asks", HTMLElement).textContent = asks;
        this.#row.ariaValueText = asks;
    }

    #paramOf(backend: string, name: string) {
        const params = this.#backends.find(({ id }) => id === backend)?.params;
        return params?.find((param) => param.name === name);
    }

    #params() {
        const selector = "main [name*='.']";
        return document.querySelectorAll<HTMLInputElement | HTMLSelectElement>(selector);
    }
}
