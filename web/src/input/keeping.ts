/** What a link cannot hold, files and plugins: kept by the browser, with a note that says so. */

import { message } from "../dom/dom";
import type { ArrayFiles } from "./files";
import { keep, kept, newKey } from "../state/store";
import type { ArrayFile } from "../state/types";
import { words } from "../words/words";

/** Says what a link does not have; null: nothing any more. */
type Note = (of: "text" | "files" | "plugin", note: string | null) => void;

export class Keeping {
    /** Under which the files that are shown are kept; null: they are not, or there are none. */
    files: string | null = null;
    #plugins: string[] = [];
    #note: Note;

    constructor(note: Note) {
        this.#note = note;
    }

    /** As a link has them: keys. */
    get settings() {
        return { files: this.files, plugins: this.#plugins };
    }

    /** What is shown is no file. */
    leaveFiles(): void {
        this.files = null;
        this.#note("files", null);
    }

    /** `isStale`: is another input shown by now? */
    async keepFiles(files: ArrayFiles, isStale: () => boolean): Promise<void> {
        const key = newKey();
        this.#note("files", null);
        const isKept = await keep(key, files);
        if (isStale()) return;
        if (isKept) this.files = key;
        this.#note("files", isKept ? filesKept : filesLost);
    }

    /** The files of a link, as far as this browser has them; null, too, once it is stale. */
    async keptFiles(key: string | null, isStale: () => boolean): Promise<ArrayFiles | null> {
        if (!key) return null;
        const files = await kept<ArrayFiles>(key);
        if (isStale()) return null;
        this.#note(files ? "files" : "text", files ? filesKept : filesElsewhere);
        if (files) this.files = key;
        return files ?? null;
    }

    async keepPlugin(file: ArrayFile): Promise<void> {
        const key = newKey();
        const isKept = await keep(key, file);
        if (isKept) this.#plugins.push(key);
        this.#note("plugin", isKept ? pluginKept : pluginLost);
    }

    /** `load` the plugins of a link, as far as this browser has them. */
    async restorePlugins(
        keys: readonly string[],
        load: (file: ArrayFile) => Promise<unknown>,
    ): Promise<void> {
        for (const key of keys) {
            try {
                const file = await kept<ArrayFile>(key);
                if (!file) throw new Error(pluginElsewhere);
                await load(file);
                this.#plugins.push(key);
                this.#note("plugin", pluginKept);
            } catch (error) {
                this.#note("plugin", message(error));
            }
        }
    }
}

const { filesKept, filesLost, filesElsewhere } = words.keeping;
const { pluginKept, pluginLost, pluginElsewhere } = words.keeping;
