/** The input panel: text or files, and the problem that they are solved for. */

import type { Source } from "./command";
import { Command } from "../panel/command";
import { element, find, message, setText, showLine } from "../dom/dom";
import { checkFiles, isPlugin, readFile, type ArrayFiles } from "./files";
import { count } from "../dom/format";
import type { ArrayFile, Problem, Shape, Summary } from "../state/types";
import { presetOf, type Preset } from "../presets/list";
import { RuleFields } from "../rules/fields";
import { parseScale, type Settings } from "../state/state";
import { keepTyped } from "./typed";
import { words } from "../words/words";

export interface View {
    batch: number;
    head: number;
}

export interface InputEvents {
    /** There will be a new text. */
    onTyping(): void;
    /** There is a new text, or another dimension for it. */
    onText(): void;
    /** Back to the text, from files or a preset. */
    onBack(): void;
    /** The language model is to read another sentence. */
    onSentence(preset: Preset, sentence: string): void;
    onFiles(files: File[]): void;
    onPlugin(file: ArrayFile): void;
    /** Causal, scale or rules. */
    onProblem(): void;
    /** Another batch or head is to be shown. */
    onView(): void;
}

/** Where Q, K and V are from. */
export type Origin =
    { kind: "text" } | { kind: "files"; files: ArrayFiles } | { kind: "preset"; preset: Preset };

const { input: told, nouns } = words;
const typingPause = 200; // milliseconds
const swift = 2000; // letters of a text whose pictures come with each that is typed

export class InputPanel {
    #form = find(document, "#input", HTMLFormElement);
    #text = find(document, "#text", HTMLTextAreaElement);
    #sentence = find(document, "#sentence", HTMLTextAreaElement);
    #dim = find(document, "#dim", HTMLSelectElement);
    #scale = find(document, "#scale", HTMLInputElement);
    #causal = find(document, "#causal", HTMLInputElement);
    #batch = find(document, "#batch", HTMLSelectElement);
    #head = find(document, "#head", HTMLSelectElement);
    #problem = find(document, "#input-problem", HTMLElement);
    #summary = find(document, "#summary", HTMLElement);
    #origin: Origin = { kind: "text" };
    #view: View = { batch: 0, head: 0 };
    #events: InputEvents;
    #rules: RuleFields;

    constructor(events: InputEvents) {
        this.#events = events;
        this.#rules = new RuleFields(events.onProblem);
        this.#listen();
    }

    /** Set the fields, but those that the reader has changed by now. */
    fill(settings: Settings): void {
        const { text, dim, causal, scale, batch, head } = settings;
        if (this.#text.value === this.#text.defaultValue) this.#text.value = text;
        if (this.#dim.selectedOptions[0]?.defaultSelected) this.#offerDim(dim);
        if (this.#causal.checked === this.#causal.defaultChecked) this.#causal.checked = causal;
        if (this.#scale.value === this.#scale.defaultValue) this.#scale.value = String(scale ?? "");
        this.#rules.fill(settings);
        this.#view = { batch, head };
    }

    get source(): Source {
        if (this.#origin.kind !== "text") return this.#origin;
        return { kind: "text", text: this.#text.value, dim: Number(this.#dim.value) };
    }

    get text(): string {
        return this.#text.value;
    }

    get dim(): number {
        return Number(this.#dim.value);
    }

    get problem(): Problem {
        const [causal, scale] = [this.#causal.checked, parseScale(this.#scale.value)];
        return { causal, scale, ...this.#rules.values };
    }

    /** As a link has them. */
    get settings() {
        const { text, dim, preset, sentence, problem, view } = this;
        return { text, dim, preset, sentence, ...problem, ...view };
    }

    /** Of the language model; null: its preset's. */
    get sentence(): string | null {
        if (this.#origin.kind !== "preset") return null;
        const { id, question } = this.#origin.preset;
        const usual = presetOf(id)?.question?.text;
        return question === null || question.text === usual ? null : question.text;
    }

    /** How batches are called. */
    get batchName(): string {
        const trained = this.#origin.kind === "preset" && this.#origin.preset.question !== null;
        return trained ? told.layer : told.batch;
    }

    /** The id of the preset that is computed on. */
    get preset(): string | null {
        return this.#origin.kind === "preset" ? this.#origin.preset.id : null;
    }

    /** Pose another problem. */
    pose(problem: Problem): void {
        const { causal, scale } = problem;
        this.#causal.checked = causal;
        this.#scale.value = String(scale ?? "");
        this.#rules.set(problem);
    }

    /** Batch and head shown; of text, and until there are some to choose from, as was asked for. */
    get view(): View {
        return this.#view;
    }

    /** Show another batch and head. */
    lookAt(view: View): void {
        this.#view = view;
        this.#batch.selectedIndex = view.batch;
        this.#head.selectedIndex = view.head;
    }

    /** The input that is computed on from now on. */
    accept(summary: Summary, origin: Origin): void {
        this.#showSource(origin);
        this.fail(null);
        const { shape, nonfinite, unread = 0 } = summary;
        this.#rules.fit(shape);
        this.#view = {
            batch: fillChoice(this.#batch, shape.batch, this.#view.batch),
            head: fillChoice(this.#head, shape.heads, this.#view.head),
        };
        const parts =
            origin.kind === "text" ? [count(shape.queries, nouns.token)] : describe(shape);
        if (unread > 0) parts.push(told.unread(shape.keys, shape.keys + unread));
        if (nonfinite > 0) parts.push(words.numbers.nonfinite(count(nonfinite, nouns.element)));
        setText(this.#summary, parts.join(" · "));
        this.#summary.classList.toggle("warning", nonfinite > 0);
    }

    /** There is none to compute on: say why, and nothing of the last. */
    reject(reason: string): void {
        this.#showSource({ kind: "text" });
        this.#summary.textContent = "";
        this.#summary.classList.remove("warning");
        this.fail(reason);
    }

    /** The reader may write one, whatever is shown. */
    offerText(): void {
        find(document, ".text-source", HTMLElement).hidden = false;
    }

    /** Say what is wrong with the input; null: nothing. */
    fail(reason: string | null): void {
        showLine(this.#problem, reason);
    }

    /** Say what a link to this page does not have of what is shown. */
    note(of: "text" | "files" | "plugin", note: string | null): void {
        showLine(find(document, `#${of}-note`, HTMLElement), note);
    }

    #listen(): void {
        const { onTyping, onText, onBack, onProblem, onView } = this.#events;
        let typing = 0;
        let typedAt: string | null = null;
        const leave = () => keepTyped(this.#text.value, typedAt);
        addEventListener("pagehide", leave);
        this.#text.addEventListener("input", () => {
            typedAt = location.hash;
            // A reload is of the address there is as it begins, whatever is written until the page is gone. Only now,
            // because browsers keep no page for Back that listens to this.
            addEventListener("beforeunload", leave);
            onTyping();
            clearTimeout(typing);
            typing = setTimeout(onText, this.#text.value.length > swift ? typingPause : 0);
        });
        this.#sentence.addEventListener("input", () => {
            clearTimeout(typing);
            typing = setTimeout(() => this.#readSentence(), typingPause);
        });
        this.#dim.addEventListener("change", onText);
        this.#scale.addEventListener("input", onProblem);
        this.#causal.addEventListener("change", onProblem);
        for (const select of [this.#batch, this.#head]) {
            select.addEventListener("change", () => {
                const [batch, head] = [this.#batch.selectedIndex, this.#head.selectedIndex];
                this.#view = { batch, head };
                onView();
            });
        }
        this.#form.addEventListener("submit", (event) => event.preventDefault());
        for (const button of document.querySelectorAll(".use-text"))
            button.addEventListener("click", onBack);

        const chooser = find(document, "#files", HTMLInputElement);
        chooser.addEventListener("change", () => {
            void this.#take([...(chooser.files ?? [])]);
            chooser.value = ""; // so that the same file can be chosen again
        });
        this.#listenForDrops();
        new Command(find(document, "#export", HTMLDetailsElement));
    }

    #listenForDrops(): void {
        const hint = find(document, ".drop-hint", HTMLElement);
        const carriesFiles = (event: DragEvent) =>
            event.dataTransfer?.types.includes("Files") ?? false;
        addEventListener("dragover", (event) => {
            if (!carriesFiles(event)) return;
            event.preventDefault();
            hint.hidden = false;
        });
        addEventListener("dragleave", (event) => {
            if (event.relatedTarget === null) hint.hidden = true;
        });
        addEventListener("drop", (event) => {
            hint.hidden = true;
            if (!carriesFiles(event)) return;
            event.preventDefault();
            void this.#take([...(event.dataTransfer?.files ?? [])]);
        });
    }

    async #take(files: File[]): Promise<void> {
        const arrays = files.filter((file) => !isPlugin(file));
        try {
            checkFiles(arrays);
            if (arrays.length > 0) this.#events.onFiles(arrays);
            for (const file of files.filter(isPlugin)) this.#events.onPlugin(await readFile(file));
        } catch (error) {
            this.fail(message(error));
        }
    }

    /** Nothing to read leaves what there is. */
    #readSentence(): void {
        if (this.#origin.kind !== "preset") return;
        const sentence = this.#sentence.value;
        if (sentence.trim() === "") this.fail(told.noSentence);
        else this.#events.onSentence(this.#origin.preset, sentence);
    }

    #showSource(origin: Origin): void {
        this.#origin = origin;
        const { kind } = origin;
        const question = kind === "preset" ? origin.preset.question : null;
        const isRead = question?.task === "text";
        find(document, ".sentence-source", HTMLElement).hidden = !isRead;
        if (isRead && document.activeElement !== this.#sentence)
            this.#sentence.value = question.text;
        find(document, ".text-source", HTMLElement).hidden = kind !== "text";
        find(document, ".file-source", HTMLElement).hidden = kind !== "files";
        find(document, "#dim-field", HTMLElement).hidden = kind !== "text";
        setText(find(document, "#batch-field span", HTMLElement), told.shown(this.batchName));
        if (kind === "files") this.#listFiles(origin.files);
    }

    #listFiles({ query, key, value }: ArrayFiles): void {
        const item = (role: string, name: string) =>
            element("li", {}, element("b", {}, role), name);
        find(document, ".file-list", HTMLElement).replaceChildren(
            item("Q", placeOf(query)),
            item("K", placeOf(key)),
            item("V", placeOf(value)),
        );
    }

    #offerDim(dim: number): void {
        if (![...this.#dim.options].some((option) => Number(option.value) === dim)) {
            this.#dim.append(element("option", {}, String(dim)));
        }
        this.#dim.value = String(dim);
    }
}

function placeOf({ name, tensor }: ArrayFile): string {
    return tensor ? told.of(tensor, name) : name;
}

/** Offers so many; returns which is chosen: the one wanted, or the nearest there is. */
function fillChoice(select: HTMLSelectElement, count: number, wanted: number): number {
    const chosen = Math.min(Math.max(0, wanted), count - 1);
    if (select.options.length !== count) {
        const options = Array.from({ length: count }, (_, i) =>
            element("option", { value: String(i) }, told.ofAll(i + 1, count)),
        );
        select.replaceChildren(...options);
    }
    select.selectedIndex = chosen;
    const field = select.closest("label");
    if (field) field.hidden = count === 1;
    return chosen;
}

function describe(shape: Shape): string[] {
    const { batch, heads, kvHeads, queries, keys, dim, valueDim } = shape;
    const parts = [`${count(queries, nouns.query)}, ${count(keys, nouns.key)}`];
    parts.push(dim === valueDim ? told.dimension(dim) : told.dimensions(dim, valueDim));
    if (heads > 1) parts.push(count(heads, nouns.head));
    if (kvHeads !== heads) parts.push(told.ofKeysAndValues(kvHeads));
    if (batch > 1) parts.push(told.batchOf(batch));
    return parts;
}
