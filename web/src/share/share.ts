/** A link to what is shown, and code that shows it, or parts of it, on another page. */

import { element, find, message } from "../dom/dom";
import type { SavedView } from "../one/saved";
import { save, saveArrays } from "../input/saving";
import { allParts, alone, parts, readWithout, writeWithout, type Part } from "./parts";
import { heightScript } from "./height";
import { words } from "../words/words";

export class Share {
    #root = find(document, "#share", HTMLElement);
    #text = find(this.#root, "textarea", HTMLTextAreaElement);
    #status = find(this.#root, "[role=status]", HTMLElement);
    /** Is the text that is shown code that embeds the page? */
    #isEmbedding = false;
    #boxes = new Map<Part, HTMLInputElement>();
    #settled: () => Promise<void>;
    #elements = find(this.#root, ".elements", HTMLElement);

    /** `settled`: resolves when the address has all that was chosen; `view`: what is shown; `text`: that it is of. */
    constructor(
        settled: () => Promise<void>,
        view: () => SavedView | null,
        text: () => string | null,
    ) {
        this.#settled = settled;
        const fields = allParts.map((part) => {
            const checked = !alone.includes(part);
            const box = element("input", { type: "checkbox", name: part, checked });
            box.addEventListener("change", () => this.#remake());
            this.#boxes.set(part, box);
            return element("label", {}, box, ` ${parts[part]}`);
        });
        find(this.#root, "fieldset", HTMLElement).append(...fields);
        this.#on("link", () => {
            this.#isEmbedding = false;
            return this.#copy(() => addressOf(null));
        });
        this.#on("embed", () => {
            this.#isEmbedding = true;
            return this.#copy(() => embedding(addressOf(this.#without)));
        });
        this.#on("elements", () => this.#copyElements(view, text));
        this.#on("file", () => this.#saveFile(view));
        find(document, "#open-share", HTMLButtonElement).addEventListener("click", () => {
            this.#root.setAttribute("open", "");
            find(this.#root, "summary", HTMLElement).focus();
        });
        const whole = find(document, "#whole a", HTMLAnchorElement);
        whole.addEventListener("pointerdown", () => (whole.href = addressOf(null)));
        whole.addEventListener("focus", () => (whole.href = addressOf(null)));
    }

    /** What is shown is another now: nothing that was made of it stays. */
    outdate(): void {
        this.#elements.replaceChildren();
        this.#text.hidden = true;
        this.#status.textContent = "";
    }

    /** Code that is shown has the parts that are ticked now. */
    #remake(): void {
        if (!this.#isEmbedding || this.#text.hidden) return;
        this.#text.value = embedding(addressOf(this.#without));
        this.#status.textContent = words.share.changed;
    }

    get #without(): Part[] {
        return allParts.filter((part) => !this.#boxes.get(part)?.checked);
    }

    /** `share`: gives words of how it went. */
    #on(name: string, share: () => Promise<string>): void {
        const button = find(this.#root, `[data-share=${name}]`, HTMLButtonElement);
        button.addEventListener("click", () => {
            void share()
                .catch(message)
                .then((line) => (this.#status.textContent = line));
        });
    }

    /** What the code makes on another page is made here, too. */
    async #copyElements(view: () => SavedView | null, text: () => string | null): Promise<string> {
        await this.#settled();
        this.#isEmbedding = false;
        const saved = view();
        if (!saved) return words.share.nothing;
        const { makeElements } = await import("./elements");
        const { views, code, files } = makeElements(saved, text());
        this.#elements.replaceChildren(...views);
        const copied = await this.#copy(() => code);
        if (!files) return copied;
        saveArrays(files);
        return `${copied}. ${words.share.filesBeside}`;
    }

    async #saveFile(view: () => SavedView | null): Promise<string> {
        await this.#settled();
        const saved = view();
        if (!saved) return words.share.nothing;
        const { oneFile } = await import("../one/file");
        save("attention.html", await oneFile(saved), "text/html");
        return words.share.saved;
    }

    async #copy(make: () => string): Promise<string> {
        await this.#settled();
        const text = make();
        this.#text.hidden = false;
        this.#text.value = text;
        try {
            await navigator.clipboard.writeText(text);
            return words.share.copied;
        } catch {
            this.#text.select();
            return words.share.selected;
        }
    }
}

/** The address of what is shown, without some parts; null: of the whole page. */
function addressOf(without: readonly Part[] | null): string {
    const address = new URL(location.href);
    const query = new URLSearchParams(address.hash.slice(1));
    const enlarged = query.get("view") ?? query.get("enlarged") ?? "softmax";
    if (without || readWithout(query)) writeWithout(query, without, enlarged);
    if (!without && enlarged !== "softmax") query.set("enlarged", enlarged);
    address.hash = query.toString();
    return address.href;
}

/** A frame without a border, and a script that makes it as high as the page in it says. */
function embedding(address: string): string {
    const frame = element("iframe", { src: address, title: document.title, width: "100%" });
    frame.height = "720";
    frame.loading = "lazy";
    frame.style.border = "0";
    return `${frame.outerHTML}\n<script>${heightScript}</script>`;
}
