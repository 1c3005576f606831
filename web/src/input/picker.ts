/** Which arrays of files are Q, K and V, where there are several to choose from. */

import { find } from "../dom/dom";
import { fileOf, nameOf, roleOf, roles, type ArrayFiles } from "./files";
import type { ArrayFile, Layout, Role, TensorInfo } from "../state/types";
import { words } from "../words/words";

export class Picker {
    #root = find(document, "#picker", HTMLElement);
    #files: ArrayFile[] = [];
    #tensors: TensorInfo[] = [];

    constructor(onPick: (files: ArrayFiles) => void) {
        this.#root.addEventListener("change", () => {
            const [query, key, value] = roles.map((role) => this.#picked(role));
            if (query && key && value) onPick({ query, key, value });
        });
    }

    /** Of a single one there is nothing to choose, and only matrices and more can be taken. */
    offer(files: ArrayFile[], tensors: TensorInfo[], chosen: ArrayFiles | null): void {
        this.#files = files;
        this.#tensors = tensors.filter(({ shape }) => shape.length >= 2 && shape.length <= 4);
        const haveHeads = this.#tensors.some(({ shape }) => shape.length > 2);
        this.#root.hidden = this.#tensors.length < 2 && !haveHeads;
        this.#layout.value = chosen?.query.layout ?? "heads first";
        const field = this.#layout.closest("label");
        if (field) field.hidden = !haveHeads;
        for (const role of roles) {
            const first = this.#tensors.findIndex((info, _, all) =>
                chosen
                    ? info.file === chosen[role].name && info.tensor === chosen[role].tensor
                    : all.length === 1 || roleOf(nameOf(info)) === role,
            );
            const none = new Option(words.input.choose, "", true);
            const options = this.#tensors.map(
                ({ tensor, file, dtype, shape }, i) =>
                    new Option(`${tensor ?? file} · ${dtype} · ${shape.join(" × ")}`, String(i)),
            );
            const select = this.#select(role);
            select.replaceChildren(none, ...options);
            select.value = first < 0 ? "" : String(first);
        }
    }

    hide(): void {
        this.#root.hidden = true;
    }

    #picked(role: Role): ArrayFile | null {
        const tensor = this.#tensors[Number(this.#select(role).value || NaN)];
        return tensor ? { ...fileOf(this.#files, tensor), layout: this.#chosenLayout } : null;
    }

    get #chosenLayout(): Layout {
        return this.#layout.value === "tokens first" ? "tokens first" : "heads first";
    }

    get #layout(): HTMLSelectElement {
        return find(this.#root, "[name=layout]", HTMLSelectElement);
    }

    #select(role: Role): HTMLSelectElement {
        return find(this.#root, `[name=${role}]`, HTMLSelectElement);
    }
}
