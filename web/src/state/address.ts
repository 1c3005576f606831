/** Keeps what the reader chose in the address, and what does not fit there in this browser. */

import { count } from "../dom/format";
import { Hash } from "./hash";
import { unpack } from "./packing";
import { longestInLink, textInLink, writeLink, type Settings, type TextEntry } from "./state";
import { keep, kept, newKey } from "./store";
import { words } from "../words/words";

export class Address {
    #hash = new Hash();
    #defaults: Settings;
    #text: string;
    #entry: TextEntry | null = null;
    #input: string | null = null;
    #key: string | null = null; // of this page's text: another page's is never written over
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
        const text = await readText(entry);
        this.#text = text;
        this.#entry = entry;
        if (entry[0] === "kept") this.#onText(keptHere);
        return text;
    }

    /** `input`: what is computed on, by a name; Back leads from one to that before it. null: there is none yet. */
    write(settings: Settings, input: string | null): void {
        const isStep = input !== null && this.#input !== null && input !== this.#input;
        this.#input = input ?? this.#input;
        this.#hash.write(async () => {
            if (settings.text !== this.#text) await this.#place(settings.text);
            return writeLink({ ...settings, text: this.#entry }, this.#defaults);
        }, isStep);
    }

    /** Resolves when the address has what was chosen. */
    written(): Promise<void> {
        return this.#hash.written();
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

const { keeping, nouns } = words;
const most = count(longestInLink, nouns.letter);
const keptHere = keeping.textKept(most);
const lost = keeping.textLost(most);

/** Throws where there is none to be had. */
export async function readText([name, value]: TextEntry): Promise<string> {
    return name === "text" ? value : (name === "packed" ? unpacked : found)(value);
}

async function unpacked(letters: string): Promise<string> {
    try {
        return await unpack(letters);
    } catch (error) {
        throw new Error(keeping.textBroken, { cause: error });
    }
}

async function found(key: string): Promise<string> {
    const text = await kept<string>(key);
    if (text === undefined) throw new Error(keeping.textElsewhere);
    return text;
}
