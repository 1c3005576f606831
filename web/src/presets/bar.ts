/** A button for each example, and what is said of the one that is shown. */

import { element, find } from "../dom/dom";
import { featured, groups, presets, type Preset } from "./list";
import { words } from "../words/words";

const { presets: told } = words;

/** What is shown, where it is no preset. */
export type Own = "text" | "files";

interface Choices {
    onPreset(preset: Preset): void;
    /** The reader's own text is to be shown. */
    onText(): void;
    /** The reader has arrays. */
    onArrays(): void;
    onSave(): void;
}

export class PresetBar {
    #shown = find(document, ".preset-source", HTMLElement);
    #headline = find(document, "#headline", HTMLElement);
    #caption = find(document, "#caption", HTMLElement);
    #buttons = new Map<Preset | Own, HTMLButtonElement>();

    constructor({ onPreset, onText, onArrays, onSave }: Choices) {
        const buttonOf = (preset: Preset, name: string) => {
            const button = this.#add(preset, name, () => onPreset(preset));
            button.dataset.preset = preset.id;
            return button;
        };
        const first = featured.map(({ preset, name }) => buttonOf(preset, name));
        first.push(this.#addOwn("text", told.myText, onText));
        first.push(this.#addOwn("files", told.myArrays, onArrays));
        find(document, "#presets", HTMLElement).append(listOf(first));

        const shown = featured.map(({ preset }) => preset);
        for (const group of groups) {
            const rest = presets.filter((each) => each.group === group && !shown.includes(each));
            const list = listOf(rest.map((preset) => buttonOf(preset, preset.name)));
            list.setAttribute("aria-label", told[group]);
            const name = element("span", { className: "group" }, told[group]);
            name.ariaHidden = "true"; // the list says it
            find(document, "#more-presets", HTMLElement).append(element("div", {}, name, list));
        }
        find(this.#shown, ".save", HTMLButtonElement).addEventListener("click", onSave);
    }

    #addOwn(own: Own, name: string, onChoice: () => void): HTMLButtonElement {
        const button = this.#add(own, name, onChoice);
        button.dataset.own = own;
        return button;
    }

    #add(of: Preset | Own, name: string, onChoice: () => void): HTMLButtonElement {
        const button = element("button", { type: "button" }, name);
        button.addEventListener("click", onChoice);
        button.ariaPressed = "false";
        this.#buttons.set(of, button);
        return button;
    }

    show(shown: Preset | Own): void {
        const preset = typeof shown === "string" ? null : shown;
        const isShown = (each: Preset | Own) =>
            typeof each === "string" ? each === shown : each.id === preset?.id;
        for (const [each, button] of this.#buttons) button.ariaPressed = String(isShown(each));
        this.#shown.hidden = preset === null;
        this.#headline.textContent = told.headlines[preset?.group ?? "own"];
        this.#caption.textContent = preset?.why ?? told[shown as Own];
        if (!preset) return;
        const { name, question, source } = preset;
        find(this.#shown, "h3", HTMLElement).textContent = name;
        const asked = find(this.#shown, ".question", HTMLElement);
        asked.hidden = question === null;
        asked.textContent = question && words.input.question(question.text);
        const link = find(this.#shown, "a", HTMLAnchorElement);
        link.textContent = source.text;
        link.href = source.href;
        link.lang = "en"; // as what it leads to
    }
}

function listOf(buttons: readonly HTMLElement[]): HTMLElement {
    return element("ul", { role: "list" }, ...buttons.map((button) => element("li", {}, button)));
}
