/** The page: one input, one panel for each backend, one colour scale, and an address for all of it. */

import type { Backend } from "libattn";
import { Address } from "./address";
import { readTheme } from "./colors";
import { commandLine } from "./command";
import { Costs } from "./cost/costs";
import type { Candidate, LengthPoint } from "./cost/lengths";
import { find, message } from "./dom";
import type { Cell } from "./drawing";
import type { Engine } from "./engine";
import { Explainer } from "./explainer";
import { assign, fileOf, type ArrayFiles } from "./files";
import { isHeatmap } from "./heatmap";
import { InputPanel, type Origin } from "./input";
import { quotedName } from "./axes";
import { paintPanels } from "./painting";
import { Panel } from "./panel/panel";
import { Picker } from "./picker";
import { PresetBar } from "./presets/bar";
import { presetOf, type Preset } from "./presets/list";
import { Progress } from "./progress";
import { saveArrays } from "./saving";
import type { ArrayFile, Summary, TensorInfo, Values } from "./types";
import type { Pin } from "./row/place";
import { defaultSettings, readLink, type Link } from "./state";
import { keep, kept, newKey } from "./store";
import { Streaming, type Scene } from "./streaming/streaming";
import { termOf } from "./terms";
import { ViewingControls } from "./viewing";

const referenceId = "softmax"; // exact, up to rounding

/** What comes with an input. */
type Settings = Pick<Preset, "problem"> & Partial<Pick<Preset, "params" | "pin">>;

export class Page {
    #engine: Engine;
    #input: InputPanel;
    #panels: Panel[] = [];
    #address: Address | null = null;
    #link: Link | null = null;
    #ready: Promise<void>;
    #summary: Summary | null = null;
    #theme = readTheme();
    #latest = 0; // input asked for
    #picker = new Picker((files) => void this.#load(fromFiles(files)));
    #presets = new PresetBar(
        (preset) => void this.#choose(preset),
        () => this.#engine.input && saveArrays(this.#engine.input),
    );
    #progress = new Progress(
        () => this.#stop(),
        () => this.#goOn(),
    );
    #explainer = new Explainer();
    #viewing = new ViewingControls(() => {
        this.#remember();
        this.#paint();
    });
    #costs = new Costs({
        reference: referenceId,
        backends: () => this.#panels.map(({ id }) => id),
        count: (onPoint) => this.#count(onPoint),
        onSettings: () => this.#remember(),
    });
    #streaming = new Streaming(
        () => this.#scene(),
        () => this.#remember(),
    );
    #enlarged: string | null = null;
    #pin: Pin | null = null;
    /** Keys of what the browser keeps. */
    #files: string | null = null;
    #plugins: string[] = [];

    /** Listens at once: what the reader does while the page still loads counts. */
    constructor(engine: Engine) {
        this.#engine = engine;
        this.#input = new InputPanel({
            onTyping: () => this.#outdate(),
            onText: () => void this.#load(ownText),
            onBack: () => this.#goBack(),
            onFiles: (files) => void this.#open(files),
            onPlugin: (file) => void this.#addPlugin(file),
            onProblem: () => this.#refresh(),
            onView: () => this.#refreshView(),
        });
        this.#ready = this.#start();
        addEventListener("hashchange", () => location.reload()); // a link pasted over this one
        find(document, "#pin button", HTMLButtonElement).onclick = () => this.#setPin(null);
        addEventListener("pointerdown", ({ target }) => {
            if (!isHeatmap(target)) this.#point(null); // a finger's pointing ends with its next
        });
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
            this.#theme = readTheme();
            this.#paint();
        });
    }

    /** Resolves when the first input is taken. */
    async open(): Promise<void> {
        await this.#ready;
        const files = await this.#keptFiles();
        if (this.#latest > 0) return;
        if (files) void this.#offer(Object.values(files), files);
        const preset = presetOf(this.#link?.preset ?? null);
        if (files) await this.#load({ kind: "files", files }, this.#link?.files);
        else await this.#load(preset ? { kind: "preset", preset } : ownText);
    }

    /** Make the panels, and set all as the link says. */
    async #start(): Promise<void> {
        const [about, demo] = await Promise.all([this.#engine.start(), readDemo()]);
        const defaults = defaultSettings(demo);
        const link = (this.#link = readLink(location.hash, defaults));
        const address = new Address(defaults, (note) => this.#input.note("text", note));
        const text = await address.read(link.text).catch((error: unknown) => {
            this.#input.note("text", message(error));
            return demo;
        });
        this.#input.fill({ ...link, text });
        this.#viewing.set(link);
        this.#pin = link.pin;
        this.#costs.settings = link.costs;
        this.#streaming.set(link.streaming, link.token);
        find(document, "#panels", HTMLElement).replaceChildren();
        find(document, "#about", HTMLElement).textContent =
            `libattn ${about.version} · ${about.build} build · ${about.tier} kernels`;
        this.#show(about.backends);
        await this.#restorePlugins(link);
        if (this.#panels.some(({ id }) => id === link.enlarged)) this.#enlarge(link.enlarged);
        this.#address = address;
    }

    #show(backends: Backend[]): Panel[] {
        const panels = backends.map((backend, i) =>
            this.#makePanel(backend, this.#panels.length + i),
        );
        this.#panels.push(...panels);
        const holder = find(document, "#panels", HTMLElement);
        holder.append(...panels.map((panel) => panel.element));
        return panels;
    }

    #makePanel(backend: Backend, place: number): Panel {
        const params = this.#link?.params.get(backend.id) ?? {};
        return new Panel(backend, place, params, {
            engine: this.#engine,
            problem: () => this.#input.problem,
            view: () => this.#input.view,
            tokens: () => this.#summary?.tokens ?? null,
            isReference: (id) => id === referenceId,
            reference: () => this.#panels.find(({ id }) => id === referenceId)?.grid ?? null,
            commandLine: ({ id, changedParams, plugin }) =>
                commandLine(id, this.#input.source, this.#input.problem, changedParams, plugin),
            showsDifference: () => this.#viewing.values.difference,
            pin: () => this.pin,
            onPin: (pin) => this.#setPin(pin),
            label: (text, term) => this.#explainer.label(text, term),
            term: ({ name, label }, of) => this.#explainer.label(label, termOf(name, label, of)),
            onFindings: ({ id, changedParams }, found) =>
                this.#costs.note(id, changedParams, found),
            onPicture: () => this.#paint(),
            onEnlarge: ({ id }) => this.#enlarge(id === this.#enlarged ? null : id),
            onSettings: () => {
                this.#costs.outdate();
                this.#streaming.clear();
                this.#remember();
            },
            onPoint: (cell) => this.#point(cell),
            onProgress: () => this.#progress.show(this.#panels, this.#summary),
            onSolved: () => void this.#time(),
        });
    }

    // --- input ---

    /** Compute on what is in these files. */
    async #open(files: ArrayFile[]): Promise<void> {
        const ticket = ++this.#latest;
        try {
            const tensors = await this.#offer(files, null);
            if (ticket !== this.#latest) return;
            const { query, key, value } = assign(tensors);
            const [q, k, v] = [query, key, value].map((tensor) => fileOf(files, tensor));
            if (q && k && v) await this.#load(fromFiles({ query: q, key: k, value: v }));
        } catch (error) {
            this.#input.fail(message(error));
        }
    }

    /** Of several arrays the reader may choose. */
    async #offer(files: ArrayFile[], chosen: ArrayFiles | null): Promise<TensorInfo[]> {
        const byName = new Map(files.map((file) => [file.name, file]));
        const different = [...byName.values()];
        const tensors = await this.#engine.listTensors(different);
        this.#picker.offer(different, tensors, chosen);
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
        const ticket = ++this.#latest;
        const isFiles = origin.kind === "files";
        try {
            await this.#ready;
            this.#remember();
            if (!isFiles) this.#outdate();
            if (!isFiles) this.#picker.hide();
            const summary = await this.#use(origin);
            if (!summary) return;
            this.#summary = summary;
            this.#files = key;
            if (settings) this.#set(settings);
            this.#input.accept(summary, origin);
            this.#presets.show(origin.kind === "preset" ? origin.preset : null);
            if (!isFiles) this.#input.note("files", null);
            this.#showPin();
            this.#refresh();
            if (isFiles && !key) await this.#keepFiles(origin.files, ticket);
        } catch (error) {
            if (ticket !== this.#latest) return;
            if (isFiles)
                this.#input.fail(message(error)); // what was there before stays
            else this.#empty(message(error));
        }
    }

    #use(origin: Origin): Promise<Summary | null> {
        const { text, dim } = this.#input;
        if (origin.kind === "files") return this.#engine.useFiles(origin.files);
        if (origin.kind === "preset") return this.#engine.usePreset(origin.preset);
        return this.#engine.useText(text, dim);
    }

    /** Show a preset: its problem and parameters are part of it. */
    async #choose(preset: Preset): Promise<void> {
        await this.#load({ kind: "preset", preset }, null, preset);
    }

    #goBack(): void {
        this.#leavePreset();
        void this.#load(ownText);
    }

    /** What a preset has set is not for the reader's text. */
    #leavePreset(): void {
        if (this.#input.preset) this.#set({ problem: { causal: false, scale: null } });
    }

    #set({ problem, params = {}, pin = null }: Settings): void {
        this.#input.pose(problem);
        for (const panel of this.#panels) panel.setParams(params[panel.id] ?? {});
        this.#pin = pin;
    }

    /** What is to be seen gives no input: nothing that came from another one stays. */
    #empty(reason: string): void {
        this.#summary = this.#files = null;
        this.#leavePreset();
        this.#presets.show(null);
        this.#input.reject(reason);
        this.#showPin();
        for (const panel of this.#panels) panel.clear();
        this.#streaming.refresh();
        this.#remember();
    }

    async #keepFiles(files: ArrayFiles, ticket: number): Promise<void> {
        const key = newKey();
        this.#input.note("files", null);
        const isKept = await keep(key, files);
        if (ticket !== this.#latest) return;
        if (isKept) this.#files = key;
        this.#input.note("files", isKept ? filesKept : filesLost);
        this.#remember();
    }

    async #keptFiles(): Promise<ArrayFiles | null> {
        const key = this.#link?.files;
        const files = key ? await kept<ArrayFiles>(key) : null;
        if (!key) return null;
        this.#input.note(files ? "files" : "text", files ? filesKept : filesElsewhere);
        if (files) this.#files = key;
        return files ?? null;
    }

    /** Panels for the backends of a plugin, beside those that there are. */
    async #addPlugin(file: ArrayFile): Promise<void> {
        try {
            await this.#ready;
            const added = this.#show(await this.#engine.loadPlugin(file));
            this.#input.fail(null);
            if (this.#summary) for (const panel of added) void panel.refresh();
            const key = newKey();
            const isKept = await keep(key, file);
            if (isKept) this.#plugins.push(key);
            this.#input.note("plugin", isKept ? pluginKept : pluginLost);
            this.#remember();
        } catch (error) {
            this.#input.fail(message(error));
        }
    }

    /** The plugins of the link, as far as this browser has them. */
    async #restorePlugins({ plugins }: Link): Promise<void> {
        for (const key of plugins) {
            try {
                const file = await kept<ArrayFile>(key);
                if (!file) throw new Error(pluginElsewhere);
                this.#show(await this.#engine.loadPlugin(file));
                this.#plugins.push(key);
                this.#input.note("plugin", pluginKept);
            } catch (error) {
                this.#input.note("plugin", message(error));
            }
        }
    }

    // --- what is shown ---

    #refresh(): void {
        this.#remember();
        this.#forget();
        if (!this.#summary) return; // there is nothing to compute on
        for (const panel of this.#panels) void panel.refresh();
    }

    /** The text is another one: what is under way and what is shown are not its. */
    #outdate(): void {
        this.#engine.drop();
        this.#summary = null;
        this.#showPin();
        this.#forget();
        for (const panel of this.#panels) panel.outdate();
    }

    /** What was tried and played is not of the present input and problem. */
    #forget(): void {
        this.#costs.clear();
        this.#streaming.clear();
    }

    #stop(): void {
        this.#engine.stop();
        for (const panel of this.#panels) panel.stop();
    }

    #goOn(): void {
        for (const panel of this.#panels) if (panel.isStopped) void panel.refresh();
    }

    #refreshView(): void {
        this.#remember();
        this.#streaming.clear();
        this.#streaming.refresh();
        for (const panel of this.#panels) void panel.refreshView();
    }

    #setPin(pin: Pin | null): void {
        this.#pin = pin;
        this.#remember();
        this.#showPin();
        for (const panel of this.#panels) void panel.refreshRow();
    }

    /** Say which query is pinned; of an input without it none is. */
    #showPin(): void {
        const { shape, tokens } = this.#summary ?? {};
        const { pin } = this;
        find(document, "#panels", HTMLElement).classList.toggle("pinned", pin !== null);
        const holder = find(document, "#pin", HTMLElement);
        holder.hidden = pin === null;
        if (!pin || !shape) return;
        const name = quotedName(pin.query, 1, shape.queries, tokens ?? null);
        find(holder, "span", HTMLElement).textContent =
            `Query ${name}, number ${pin.query}, step by step`;
    }

    /** The pinned query, as far as the input has it. */
    get pin(): Pin | null {
        const { queries = 0, keys = 0 } = this.#summary?.shape ?? {};
        const pin = this.#pin;
        return pin && pin.query < queries && pin.key < keys ? pin : null;
    }

    #enlarge(id: string | null): void {
        this.#enlarged = id;
        for (const panel of this.#panels) panel.isEnlarged = panel.id === id;
        this.#remember();
    }

    #paint(): void {
        paintPanels(this.#panels, this.#theme, this.#viewing.values.colours);
    }

    #point(cell: Cell | null): void {
        for (const panel of this.#panels) panel.point(cell);
    }

    get #candidates(): Candidate[] {
        return this.#panels.map(({ id, params }) => ({ backend: id, params }));
    }

    /** What lengths cost with the dimension, problem and parameters of now. */
    #count(onPoint: (point: LengthPoint) => void): Promise<void> {
        const dim = this.#summary?.shape.dim ?? this.#input.dim;
        const setting = { dim, problem: this.#input.problem };
        return this.#engine.lengths(this.#candidates, setting, onPoint);
    }

    #scene(): Scene | null {
        const { view, problem } = this.#input;
        const player = this.#engine.player(view, problem.scale, this.#candidates);
        const { tokens = null, shape } = this.#summary ?? {};
        return player && shape ? { player, tokens, total: shape.keys } : null;
    }

    /** Time all backends by turns, once none of them computes any more. */
    async #time(): Promise<void> {
        if (this.#panels.some((panel) => panel.isSolving)) return;
        const timings = await this.#engine.time();
        if (timings === null) return;
        for (const panel of this.#panels) panel.showTiming(timings.get(panel.id) ?? null);
        this.#costs.refresh();
        this.#streaming.refresh();
    }

    /** Those that are not the backend's defaults, and those that the preset sets, as they are now. */
    #paramsInLink({ id, params, changedParams }: Panel): Values {
        const ofPreset = Object.keys(presetOf(this.#input.preset)?.params[id] ?? {});
        const told = ofPreset.map((name) => [name, params[name]] as const);
        return { ...(Object.fromEntries(told) as Values), ...changedParams };
    }

    /** Keep what was chosen in the address. */
    #remember(): void {
        const { text, dim, problem, view } = this.#input;
        this.#address?.write({
            text,
            dim,
            preset: this.#input.preset,
            ...problem,
            ...view,
            params: new Map(this.#panels.map((panel) => [panel.id, this.#paramsInLink(panel)])),
            ...this.#viewing.values,
            enlarged: this.#enlarged,
            pin: this.#pin,
            costs: this.#costs.settings,
            streaming: this.#streaming.isOpen,
            token: this.#streaming.token,
            files: this.#files,
            plugins: this.#plugins,
        });
    }
}

const filesKept =
    "This browser keeps the files for a reload: a link to this page shows them only here";
const filesLost = "This browser does not keep the files: a reload loses them";
const filesElsewhere =
    "The link's files are kept in another browser, or no longer: open them again";
const pluginKept =
    "This browser keeps the plugin for a reload: a link to this page has it only here";
const pluginLost = "This browser does not keep the plugin: a reload loses it";
const pluginElsewhere = "The link's plugin is kept in another browser, or no longer: open it again";

const ownText: Origin = { kind: "text" };

function fromFiles(files: ArrayFiles): Origin {
    return { kind: "files", files };
}

async function readDemo(): Promise<string> {
    const response = await fetch("demo.txt");
    return response.ok ? (await response.text()).trim() : "";
}
