/** The page: one input, one panel for each backend, one colour scale. */

import { wrap } from "comlink";
import type { Backend } from "libattn";
import { readTheme } from "./colors";
import { commandLine } from "./command";
import { element, find, message } from "./dom";
import type { ArrayFiles } from "./files";
import { InputPanel } from "./input";
import { paintPanels } from "./painting";
import { Panel } from "./panel";
import type { ArrayFile, Engine, Summary } from "./protocol";
import { readSettings, writeSettings, type Settings } from "./state";

const referenceId = "softmax"; // exact, up to rounding

async function open(): Promise<void> {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    const engine = wrap<Engine>(worker);
    const [about, demo] = await Promise.all([engine.start(), readDemo()]);
    const defaults: Settings = {
        text: demo,
        dim: 64,
        causal: false,
        scale: null,
        params: new Map(),
    };
    const settings = readSettings(location.hash, defaults);

    const input = new InputPanel(settings, {
        onText: () => void load(null),
        onFiles: (files) => void load(files),
        onPlugin: (file) => void loadPlugin(file),
        onProblem: refresh,
        onView: () => panels.forEach((panel) => void panel.refreshView()),
    });
    const panels = about.backends.map(makePanel);
    let summary: Summary | null = null;
    let theme = readTheme();
    let latest = 0;

    const grid = find(document, "#panels", HTMLElement);
    grid.replaceChildren(...panels.map((panel) => panel.element));
    find(document, "#about", HTMLElement).textContent =
        `libattn ${about.version} · ${about.build} build · ${about.tier} kernels`;
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
        theme = readTheme();
        paint();
    });
    addEventListener("hashchange", () => location.reload()); // a link pasted over this one
    await load(null);

    /** Give the worker these files, or the text, and compute everything on them. */
    async function load(files: ArrayFiles | null): Promise<void> {
        const ticket = ++latest;
        try {
            const { text, dim } = input;
            const loaded = await (files ? engine.useFiles(files) : engine.useText(text, dim));
            if (ticket !== latest) return;
            summary = loaded;
            input.accept(loaded, files);
            refresh();
        } catch (error) {
            if (ticket === latest) input.fail(message(error));
        }
    }

    /** Panels for the backends of a plugin, beside those that there are. */
    async function loadPlugin(file: ArrayFile): Promise<void> {
        try {
            const added = (await engine.loadPlugin(file)).map(makePanel);
            panels.push(...added);
            grid.append(...added.map((panel) => panel.element));
            input.fail(null);
            for (const panel of added) void panel.refresh();
        } catch (error) {
            input.fail(message(error));
        }
    }

    function makePanel(backend: Backend): Panel {
        const initial = settings.params.get(backend.id) ?? {};
        return new Panel(backend, initial, backend.id === referenceId, {
            engine,
            problem: () => input.problem,
            view: () => input.view,
            tokens: () => summary?.tokens ?? null,
            reference: () => panels.find((panel) => panel.id === referenceId)?.grid ?? null,
            commandLine: ({ id, changedParams, plugin }) =>
                commandLine(id, input.source, input.problem, changedParams, plugin),
            onPicture: paint,
            onParams: remember,
            onPoint: (cell) => panels.forEach((panel) => panel.point(cell)),
        });
    }

    function refresh(): void {
        remember();
        for (const panel of panels) void panel.refresh();
    }

    function paint(): void {
        paintPanels(panels, theme);
    }

    /** Keep what was chosen in the address. */
    function remember(): void {
        const { text, dim, problem } = input;
        const params = new Map(panels.map((panel) => [panel.id, panel.changedParams]));
        const hash = writeSettings({ text, dim, ...problem, params }, defaults);
        history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    }
}

async function readDemo(): Promise<string> {
    const response = await fetch("demo.txt");
    return response.ok ? (await response.text()).trim() : "";
}

open().catch((error: unknown) => {
    const line = element("p", { className: "problem", role: "alert" }, message(error));
    find(document, "#panels", HTMLElement).replaceChildren(line);
});
