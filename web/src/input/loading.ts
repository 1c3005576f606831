/** Takes inputs: of text, files and presets, the latest that was asked for. */

import { find, message } from "../dom/dom";
import type { Engine } from "../engine/engine";
import { assign, fileOf, readFile, type ArrayFiles } from "./files";
import type { InputPanel, Origin } from "./input";
import type { Keeping } from "./keeping";
import { Picker } from "./picker";
import { PresetBar } from "../presets/bar";
import { presetOf, withSentence, type Preset } from "../presets/list";
import { saveArrays } from "./saving";
import type { Link } from "../state/state";
import type { ArrayFile, Summary, TensorInfo } from "../state/types";
import { words } from "../words/words";

/** What comes with an input. */
export type Settings = Pick<Preset, "problem"> & Partial<Pick<Preset, "params" | "pin" | "view">>;

/** What loading needs from the page around it. */
interface Around {
    engine: Engine;
    input: InputPanel;
    keeping: Keeping;
    /** There are panels, set as the link says. */
    ready: Promise<unknown>;
    /** There is no input until there is another one. */
    onLeave(): void;
    /** Pose what comes with an input. */
    onSettings(settings: Settings): void;
    /** Something is read, or no longer. */
    onReading(): void;
    /** There is another input. */
    onInput(): void;
    /** There is none. */
    onNone(): void;
    /** The reader wants to open arrays. */
    onArrays(): void;
    /** What a link has is another now. */
    onChange(): void;
}

export class Loading {
    #around: Around;
    #summary: Summary | null = null;
    #latest = 0; // input asked for
    #isReading = false;
    #isOfPreset = false; // the problem, also of a link
    #picker = new Picker((files) => void this.#load(fromFiles(files)));
    #presets: PresetBar;

    constructor(around: Around) {
        this.#around = around;
        this.#presets = new PresetBar({
            onPreset: (preset) => void this.#load({ kind: "preset", preset }, null, preset),
            onText: () => {
                around.input.offerText();
                find(document, "#text", HTMLElement).focus();
                this.useText();
            },
            onArrays: () => around.onArrays(),
            onSave: () => around.engine.input && saveArrays(around.engine.input),
        });
    }

    /** Of the input that is there; null while there is none. */
    get summary(): Summary | null {
        return this.#summary;
    }

    /** The first input, as a link has it; where the reader has not asked for another one by now. */
    async begin({ files: key, preset: id, sentence }: Link): Promise<void> {
        const linked = presetOf(id);
        const preset = linked && withSentence(linked, sentence);
        this.#isOfPreset = Boolean(preset);
        const isStale = () => this.#latest > 0;
        const files = await this.#around.keeping.keptFiles(key, isStale);
        if (isStale()) return;
        if (files) await this.#restore(files, key);
        else await this.#load(preset ? { kind: "preset", preset } : ownText);
    }

    /** Files that the browser has kept, and what there is to choose from in them. */
    async #restore(files: ArrayFiles, key: string | null): Promise<void> {
        const loading = this.#load(fromFiles(files), key);
        const ticket = this.#latest;
        const offering = this.#offer(Object.values(files), files, () => ticket !== this.#latest);
        await Promise.allSettled([loading, offering]); // loading says what is wrong with them
    }

    /** Is an input asked for that is not there yet? */
    get isReading(): boolean {
        return this.#isReading;
    }

    /** Read no further. What was there before files were opened stays. */
    stop(): void {
        this.#supersede();
        if (this.#summary) this.#around.input.fail(words.progress.notRead);
        else this.#empty(words.progress.notRead);
        this.#end();
    }

    /** Another input is asked for from now on; its number. */
    #begin(): number {
        this.#supersede();
        this.#isReading = true;
        this.#around.onReading();
        return this.#latest;
    }

    #supersede(): void {
        this.#latest++;
        this.#around.engine.leaveReading();
    }

    #end(): void {
        this.#isReading = false;
        this.#around.onReading();
    }

    /** There will be another text: what there is and what is read is not its. */
    leave(): void {
        this.#supersede();
        this.#isReading = false;
        this.#clear();
    }

    #clear(): void {
        const { engine, onLeave } = this.#around;
        engine.drop();
        this.#summary = null;
        onLeave();
    }

    useText(): void {
        void this.#load(ownText);
    }

    /** Let the language model read this. */
    useSentence(preset: Preset, sentence: string): void {
        void this.#load({ kind: "preset", preset: withSentence(preset, sentence) });
    }

    /** Compute on what is in these files. */
    async open(chosen: readonly File[]): Promise<void> {
        const ticket = this.#begin();
        const isStale = () => ticket !== this.#latest;
        try {
            const files = await Promise.all(chosen.map(readFile));
            if (isStale()) return;
            const tensors = await this.#offer(files, null, isStale);
            if (isStale()) return;
            const { query, key, value } = assign(tensors);
            const [q, k, v] = [query, key, value].map((tensor) => fileOf(files, tensor));
            if (q && k && v) await this.#load(fromFiles({ query: q, key: k, value: v }));
        } catch (error) {
            if (isStale()) return;
            this.#around.input.fail(message(error));
            this.#end();
        }
    }

    /** Of several arrays the reader may choose. */
    async #offer(
        files: ArrayFile[],
        chosen: ArrayFiles | null,
        isStale: () => boolean,
    ): Promise<TensorInfo[]> {
        const byName = new Map(files.map((file) => [file.name, file]));
        const different = [...byName.values()];
        const tensors = await this.#around.engine.listTensors(different);
        if (!isStale()) this.#picker.offer(different, tensors, chosen);
        return tensors;
    }

    /**
     * Give the worker Q, K and V, and compute everything on them. `key`: of the files, as they are kept;
     * `settings`: of the input, set once it is there.
     */
    async #load(
        origin: Origin,
        key: string | null = null,
        settings: Settings | null = null,
    ): Promise<void> {
        const { input, keeping, ready, onSettings, onInput, onChange } = this.#around;
        const ticket = this.#begin();
        const isFiles = origin.kind === "files";
        try {
            await ready;
            onChange();
            if (!isFiles) this.#clear();
            if (!isFiles) this.#picker.hide();
            const summary = await this.#use(origin);
            if (!summary || ticket !== this.#latest) return;
            this.#summary = summary;
            if (isFiles) keeping.files = key;
            else keeping.leaveFiles();
            if (settings) onSettings(settings);
            else if (origin.kind !== "preset") this.#leavePreset();
            this.#isOfPreset = origin.kind === "preset";
            input.accept(summary, origin);
            this.#presets.show(origin.kind === "preset" ? origin.preset : origin.kind);
            onInput();
            this.#end();
            if (!isFiles || key) return;
            await keeping.keepFiles(origin.files, () => ticket !== this.#latest);
            if (ticket === this.#latest) onChange();
        } catch (error) {
            if (ticket !== this.#latest) return;
            this.#end();
            if (isFiles)
                input.fail(message(error)); // what was there before stays
            else this.#empty(message(error));
        }
    }

    #use(origin: Origin): Promise<Summary | null> {
        const { engine, input } = this.#around;
        const { text, dim } = input;
        if (origin.kind === "files") return engine.useFiles(origin.files);
        if (origin.kind === "preset") return engine.usePreset(origin.preset);
        return engine.useText(text, dim);
    }

    /** What a preset has set is not for the reader's text or files. */
    #leavePreset(): void {
        if (this.#isOfPreset) this.#around.onSettings({ problem: { causal: false, scale: null } });
        this.#isOfPreset = false;
    }

    /** What is to be seen gives no input: nothing that came from another one stays. */
    #empty(reason: string): void {
        const { input, keeping, onNone } = this.#around;
        this.#summary = keeping.files = null;
        this.#leavePreset();
        this.#presets.show("text");
        input.reject(reason);
        onNone();
    }
}

const ownText: Origin = { kind: "text" };

function fromFiles(files: ArrayFiles): Origin {
    return { kind: "files", files };
}
