/** The page: one input, one panel for each backend, one colour scale, and an address for all of it. */

import type { Address } from "../state/address";
import { onTheme, readTheme } from "../map/colors";
import { commandLine } from "../input/command";
import { find, message } from "../dom/dom";
import type { Engine } from "../engine/engine";
import { Explainer } from "../dom/explainer";
import { Drawer } from "./drawer";
import { Folds } from "./folds";
import { Gathering } from "../map/frame";
import { InputPanel } from "../input/input";
import { Keeping } from "../input/keeping";
import { Loading, type Settings } from "../input/loading";
import { savedView, type SavedView } from "../one/saved";
import { openLink, readDemo, tellAbout } from "../input/opening";
import type { Surroundings } from "../panel/surroundings";
import { Panels } from "./panels";
import { Pinning } from "./pinning";
import { Progress } from "./progress";
import type { Pin } from "../row/place";
import { leaveOutFolds } from "../share/parts";
import { Share } from "../share/share";
import { presetInLink, type Link } from "../state/state";
import { termOf } from "../dom/terms";
import type { ArrayFile } from "../state/types";
import { onUnfold, unfold, unfolded } from "./unfolded";
import { ViewingControls } from "./viewing";
import { Zoom, type Viewport } from "../zoom/zoom";

const referenceId = "softmax"; // exact, up to rounding

export class Page {
    #engine: Engine;
    #input: InputPanel;
    #keeping: Keeping;
    #loading: Loading;
    #address: Address | null = null;
    #ready: Promise<Link>;
    #theme = readTheme();
    #explainer = new Explainer();
    #panels: Panels;
    #progress = new Progress(
        () => {
            if (this.#loading.isReading) return this.#loading.stop();
            this.#engine.stop();
            this.#panels.stop();
        },
        () => this.#panels.goOn(),
    );
    /** Those of panels: one that comes can change the scale of all. */
    #pictures = new Gathering(
        () => {
            this.#paint();
            this.#folds.refreshPictures();
        },
        () => !this.#panels.isPicturing,
    );
    /** Of panels, with the errors of rows beside pictures, whose scale is that of all, too. */
    #numbers = new Gathering(
        () => {
            this.#panels.drawNumbers();
            this.#paint();
        },
        () => !this.#panels.isSolving,
    );
    #viewing = new ViewingControls(() => {
        this.#remember();
        this.#paint();
    });
    #folds: Folds;
    #share: Share;
    #drawer = new Drawer();
    #zoom = new Zoom({
        onMove: (region) => {
            this.#panels.preview(region);
            this.#folds.refreshPictures();
        },
        onRest: () => {
            this.#remember();
            this.#panels.refreshRegion();
        },
    });
    #pinning = new Pinning(
        () => this.#loading.summary,
        () => this.#setPin(null),
    );
    /** What stays as the link has it. */
    #asked: Pick<Link, "without" | "lang"> = { without: null, lang: null };

    /** Listens at once: what the reader does while the page still loads counts. */
    constructor(engine: Engine) {
        this.#engine = engine;
        this.#panels = new Panels(this.#surroundings, referenceId);
        this.#folds = new Folds({
            engine,
            reference: referenceId,
            label: (text, term) => this.#explainer.label(text, term),
            panels: () => this.#panels,
            input: () => this.#input,
            summary: () => this.#loading.summary,
            onView: (view) => {
                this.#input.lookAt(view);
                this.#refreshView();
            },
            onPin: (pin) => this.#setPin(pin),
            onSettings: () => this.#remember(),
            onStale: () => this.#share.outdate(),
        });
        this.#input = new InputPanel({
            onTyping: () => this.#loading.leave(),
            onText: () => this.#loading.useText(),
            onBack: () => this.#loading.useText(),
            onSentence: (preset, sentence) => this.#loading.useSentence(preset, sentence),
            onFiles: (files) => void this.#loading.open(files),
            onPlugin: (file) => void this.#addPlugin(file),
            onProblem: () => this.#refresh(),
            onView: () => this.#refreshView(),
        });
        if (presetInLink(location.hash) === null) this.#input.offerText();
        this.#keeping = new Keeping((of, note) => this.#input.note(of, note));
        this.#ready = this.#start();
        this.#loading = new Loading({
            engine,
            input: this.#input,
            keeping: this.#keeping,
            ready: this.#ready,
            onLeave: () => this.#leave(),
            onReading: () => this.#tell(),
            onSettings: (settings) => this.#set(settings),
            onInput: () => {
                this.#showPin();
                this.#zoom.show(this.#loading.summary?.shape ?? null);
                this.#refresh();
            },
            onNone: () => this.#empty(),
            onArrays: () => this.#drawer.open("#files"),
            onChange: () => this.#remember(),
        });
        this.#share = new Share(
            () => this.#address?.written() ?? Promise.resolve(),
            () => this.#saved,
            () => (this.#input.source.kind === "text" ? this.#input.text : null),
        );
        addEventListener("hashchange", () => location.reload()); // a link pasted over this one
        onTheme(() => {
            this.#theme = readTheme();
            this.#paint();
            this.#folds.paint();
        });
    }

    /** Resolves when the first input is taken. */
    async open(): Promise<void> {
        await this.#loading.begin(await this.#ready);
    }

    /** Make the panels, and set all as the link says. */
    async #start(): Promise<Link> {
        const [about, demo] = await Promise.all([this.#engine.start(), readDemo()]);
        const onText = (note: string | null) => this.#input.note("text", note);
        const { link, settings, address } = await openLink(demo, onText);
        this.#input.fill(settings);
        this.#viewing.set(link);
        this.#zoom.set(link);
        this.#pinning.asked = link.pin;
        this.#asked = { without: link.without, lang: link.lang };
        tellAbout(about);
        this.#panels.show(about.backends, link.params);
        await this.#keeping.restorePlugins(link.plugins, async (file) => {
            this.#panels.show(await this.#engine.loadPlugin(file), link.params);
        });
        this.#folds.set(link);
        unfold(link.unfolded);
        onUnfold(() => this.#remember());
        leaveOutFolds(); // but for those that the link has opened
        this.#panels.enlarge(link.enlarged);
        this.#address = address;
        return link;
    }

    get #surroundings(): Surroundings {
        return {
            engine: this.#engine,
            problem: () => this.#input.problem,
            view: () => this.#input.view,
            viewport: () => this.#viewport,
            zoom: this.#zoom,
            tokens: () => this.#loading.summary?.tokens ?? null,
            isReference: (id) => id === referenceId,
            reference: () => this.#panels.gridOf(referenceId),
            commandLine: ({ id, changedParams, plugin }) =>
                commandLine(
                    id,
                    this.#input.source,
                    this.#input.problem,
                    this.#loading.summary?.shape ?? null,
                    changedParams,
                    plugin,
                ),
            showsDifference: () => this.#viewing.values.difference,
            pin: () => this.#pinning.pin,
            onPin: (pin) => this.#setPin(pin),
            onRow: ({ batch, head }, pin) => {
                const { view } = this.#input;
                this.#input.lookAt({ batch, head });
                if (view.batch !== batch || view.head !== head) this.#refreshView();
                this.#setPin(pin);
                find(document, "#pin", HTMLElement).scrollIntoView({ block: "start" });
            },
            label: (text, term) => this.#explainer.label(text, term),
            explain: (whole, term) => this.#explainer.explain(whole, term),
            term: ({ name, label }, of) => this.#explainer.label(label, termOf(name, label, of)),
            onFindings: ({ id, changedParams }, found) => {
                this.#panels.note(id, found.numbers.flops);
                this.#folds.note(id, changedParams, found);
            },
            onPicture: () => this.#pictures.ask(),
            onNumbers: () => void this.#numbers.ask(),
            onEnlarge: ({ id }) => {
                this.#panels.enlarge(id);
                this.#remember();
            },
            isLarge: ({ id }) => id === this.#panels.enlarged,
            onSettings: () => {
                this.#folds.outdate();
                this.#remember();
            },
            onPoint: (cell) => this.#panels.point(cell),
            onProgress: () => this.#tell(),
            onSolved: () => {
                void this.#numbers.ask();
                void this.#time();
            },
        };
    }

    #tell(): void {
        const { summary, isReading } = this.#loading;
        this.#progress.show(this.#panels.all, summary, isReading);
    }

    get #viewport(): Viewport | null {
        const { shape } = this.#loading.summary ?? {};
        return shape ? this.#zoom.viewport(shape) : null;
    }

    /** Panels for the backends of a plugin, beside those that there are. */
    async #addPlugin(file: ArrayFile): Promise<void> {
        try {
            const { params } = await this.#ready;
            const added = this.#panels.show(await this.#engine.loadPlugin(file), params);
            this.#input.fail(null);
            if (this.#loading.summary) for (const panel of added) void panel.refresh();
            await this.#keeping.keepPlugin(file);
            this.#remember();
        } catch (error) {
            this.#input.fail(message(error));
        }
    }

    #set({ problem, params = {}, pin = null, view }: Settings): void {
        this.#input.pose(problem);
        if (view) this.#input.lookAt(view);
        this.#panels.setParams(params);
        this.#pinning.asked = pin;
    }

    #refresh(): void {
        this.#folds.clear();
        this.#remember();
        if (this.#loading.summary) this.#panels.refresh(); // else there is nothing to compute on
    }

    /** What is under way and what is shown are of another input. */
    #leave(): void {
        this.#showPin();
        this.#folds.clear();
        this.#panels.outdate();
    }

    #empty(): void {
        this.#showPin();
        this.#zoom.show(null);
        this.#panels.clear();
        this.#paint(); // the legend goes with the pictures
        this.#folds.refresh();
        this.#remember();
    }

    #refreshView(): void {
        this.#remember();
        this.#folds.refreshView();
        this.#panels.refreshView();
    }

    #setPin(pin: Pin | null): void {
        this.#pinning.ask(pin);
        this.#remember();
        this.#showPin();
        this.#panels.refreshRows();
    }

    #showPin(): void {
        this.#pinning.show();
        this.#panels.tellPinned(this.#pinning.name);
    }

    #paint(): void {
        this.#panels.paint(this.#theme, this.#viewing.values.colours);
    }

    /** Time all backends by turns, once none of them computes any more. */
    async #time(): Promise<void> {
        if (this.#panels.isSolving) return;
        const timings = await this.#engine.time();
        if (timings === null) return;
        this.#paint();
        this.#panels.showTimings(timings);
        this.#folds.refresh();
    }

    /** What is shown, to be saved as one file; null: there is no input. */
    get #saved(): SavedView | null {
        const { input } = this.#engine;
        if (!input) return null;
        const { strands, heads } = this.#folds.settings;
        return savedView(input, this.#panels.candidates, {
            problem: this.#input.problem,
            ...this.#input.view,
            ...this.#viewing.values,
            viewport: this.#zoom.viewport(input.shape),
            ...{ pin: this.#pinning.pin, strands, heads, unfolded: unfolded() },
            batchName: this.#input.batchName,
        });
    }

    /**
     * Keep what was chosen in the address; not while the input of a link is read, as until it is there no preset is
     * known: who went on at once left an address without it for Back.
     */
    #remember(): void {
        if (!this.#loading.summary && this.#loading.isReading) return;
        const { settings: input, preset, source } = this.#input;
        const settings = {
            ...input,
            ...this.#panels.settings(preset),
            ...this.#viewing.values,
            pin: this.#pinning.asked,
            ...this.#folds.settings,
            unfolded: unfolded(),
            ...this.#zoom.settings,
            ...this.#asked,
            ...this.#keeping.settings,
        };
        this.#address?.write(settings, this.#loading.summary && (preset ?? source.kind));
    }
}
