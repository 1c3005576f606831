/** Keeps what the reader chose in the address, and what does not fit there in this browser. */

import { count } from "./format";
import { unpack } from "./packing";
import { longestInLink, textInLink, writeLink, type Settings, type TextEntry } from "./state";
import { keep, kept, newKey } from "./store";

const pause = 350; // milliseconds: Safari refuses more than 100 changes of the address in 30 s

export class Address {
    #defaults: Settings;
    #settings: Settings | null = null;
    #text: string;
    #entry: TextEntry | null = null;
    #key: string | null = null; // of this page's text: another page's is never written over
    #written = -Infinity;
    #timer = 0;
    #writing = false;
    #onText: (note: string | null) => void;

    /** `onText` is told what the reader should know of the text in the link. */
    constructor(defaults: Settings, onText: (note: string | null) => void) {
        this.#defaults = defaults;
        this.#text = defaults.text;
        this.#onText = onText;
    }

    /** The text of a link; throws where there is none to be had. */
    async read(entry: TextEntry | null): Promise<string> {
        if (!entry) return this.#defaults.text;
        const [name, value] = entry;
        const text = name === "text" ? value : await (name === "packed" ? unpacked : found)(value);
        this.#text = text;
        this.#entry = entry;
        if (name === "kept") this.#onText(keptHere);
        return text;
    }

    /** Browsers take only so many changes of the address: this one is made soon. */
    write(settings: Settings): void {
        this.#settings = settings;
        if (this.#writing || this.#timer) return;
        const wait = Math.max(0, this.#written + pause - performance.now());
        this.#timer = setTimeout(() => void this.#write(), wait);
    }

    async #write(): Promise<void> {
        const settings = this.#settings;
        this.#timer = 0;
        if (!settings) return;
        this.#settings = null;
        this.#writing = true;
        try {
            if (settings.text !== this.#text) await this.#place(settings.text);
            const hash = writeLink({ ...settings, text: this.#entry }, this.#defaults);
            history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
        } finally {
            this.#written = performance.now();
            this.#writing = false;
        }
        if (this.#settings) this.write(this.#settings);
    }

    /** Where the text goes: into the link, or into the browser. */
    async #place(text: string): Promise<void> {
        this.#text = text;
        if (text === this.#defaults.text) {
            this.#entry = null;
            return this.#onText(null);
        }
        this.#entry = await textInLink(text);
        if (this.#entry) return this.#onText(null);
        this.#key ??= newKey();
        const isKept = await keep(this.#key, text);
        if (isKept) this.#entry = ["kept", this.#key];
        this.#onText(isKept ? keptHere : lost);
    }
}

const limit = `Too long for a link, which has ${count(longestInLink, "letter")} at most`;
const keptHere = `${limit}: this browser keeps the text, and only here the link shows it`;
const lost = `${limit}, and this browser keeps nothing: a reload loses the text`;

async function unpacked(letters: string): Promise<string> {
    try {
        return await unpack(letters);
    } catch (error) {
        throw new Error("the link's text cannot be read: is it whole?", { cause: error });
    }
}

async function found(key: string): Promise<string> {
    const text = await kept<string>(key);
    if (text === undefined)
        throw new Error(
            "the link's text is too long for it and kept in another browser, if at all",
        );
    return text;
}
