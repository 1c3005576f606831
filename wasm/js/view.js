/*
 * libattn/view: the element <attn-view>, which shows what one backend makes of queries and keys. It computes in a
 * worker, one for all views of a page, by the interface of libattn/worker.
 */
import { AttnError } from "./problem/errors.js";
import { readInput } from "./view/input.js";
import { colourOf, makeParts } from "./view/parts.js";
import { coloursOf, mark, paint } from "./view/picture.js";
import { ATTRIBUTES, readSettings, reflect } from "./view/settings.js";
import { ENGLISH, nameOf, number, summarize, summaryOf, topKeys } from "./view-words.js";
import { init } from "./worker.js";

export { AttnError, summarize, topKeys };

let shared = null; // { attn: a promise, users: how many }

function borrow() {
    shared ??= { attn: init(), users: 0 };
    shared.users++;
    return shared;
}

function giveBack(lent) {
    if (--lent.users > 0) return;
    if (shared === lent) shared = null;
    lent.attn.then(
        (attn) => attn.dispose(),
        () => undefined,
    );
}

let dark = null; // one list, which listeners are taken from again
const themes = () => (dark ??= matchMedia("(prefers-color-scheme: dark)"));

/* Where there is no document the class is of no use, and the file can be imported. */
const Base = globalThis.HTMLElement ?? Object;

export class AttnView extends Base {
    static observedAttributes = ATTRIBUTES;
    #parts;
    #arrays = null;
    #words = null;
    #said = ENGLISH;
    #lent = null;
    #asked = null; // what is computed; null: nothing
    #shown = null; // { weights, queries, keys, queryNames, keyNames, backend }
    #cell = null;
    #problem = null;
    #repaint = () => this.#paint();

    constructor() {
        super();
        this.#parts = makeParts(this.attachShadow({ mode: "open" }));
        const { frame, readout } = this.#parts;
        frame.addEventListener("pointermove", (event) => this.#point(this.#cellAt(event)));
        frame.addEventListener("pointerdown", (event) => this.#point(this.#cellAt(event)));
        frame.addEventListener("pointerleave", ({ pointerType }) => {
            if (pointerType === "mouse") this.#point(null);
        });
        frame.addEventListener("keydown", (event) => this.#press(event));
        frame.addEventListener("focus", () => readout.setAttribute("aria-live", "polite"));
        frame.addEventListener("blur", () => readout.removeAttribute("aria-live"));
    }

    connectedCallback() {
        for (const name of [...ATTRIBUTES, "arrays", "words"]) takeEarly(this, name);
        this.#lent = borrow();
        themes().addEventListener("change", this.#repaint);
        this.#ask();
    }

    disconnectedCallback() {
        this.#asked = null;
        themes().removeEventListener("change", this.#repaint);
        giveBack(this.#lent);
        this.#lent = null;
    }

    attributeChangedCallback() {
        this.#ask();
    }

    get arrays() {
        return this.#arrays;
    }

    set arrays(arrays) {
        this.#arrays = arrays ?? null;
        this.#ask();
    }

    get words() {
        return this.#words;
    }

    set words(words) {
        this.#words = words ?? null;
        this.#said = { ...ENGLISH, ...this.#words };
        const { figure } = this.#parts;
        if (this.#words)
            figure.removeAttribute("lang"); // they are in the page's
        else figure.lang = "en";
        this.#tell();
        this.#point(this.#cell);
    }

    get weights() {
        return this.#shown?.weights ?? null;
    }

    get problem() {
        return this.#problem;
    }

    /** Computes once for all that changes together. */
    #ask() {
        if (!this.#lent) return;
        const asked = (this.#asked = {});
        this.ariaBusy = "true";
        queueMicrotask(() => void this.#compute(asked));
    }

    async #compute(asked) {
        const isStale = () => asked !== this.#asked;
        if (isStale()) return;
        const lent = this.#lent;
        try {
            const settings = readSettings(this);
            const input = await readInput({ ...settings, arrays: this.#arrays });
            if (isStale()) return;
            const found = await solve(await lent.attn, input, settings, isStale);
            if (isStale()) return;
            this.#show({ ...input, ...input.sizes, ...settings, ...found });
        } catch (error) {
            if (isStale()) return;
            if (shared === lent && error.code === "ATTN_ERROR_LOAD") shared = null; // the next one tries again
            this.#fail(error.message);
        }
        this.#asked = null;
        this.ariaBusy = "false";
        this.dispatchEvent(new Event("update"));
    }

    #show(shown) {
        const { frame, weights, problem } = this.#parts;
        this.#shown = shown;
        this.#problem = null;
        problem.hidden = true;
        frame.hidden = false;
        weights.style.aspectRatio = `${shown.keys} / ${shown.queries}`;
        this.#tell();
        this.#paint();
    }

    /** The picture, or what is wrong, in words. */
    #tell() {
        const { frame, problem } = this.#parts;
        if (this.#problem !== null) problem.textContent = this.#said.problem(this.#problem);
        if (!this.#shown) return;
        const { keys } = this.#said;
        frame.setAttribute("aria-label", `${summaryOf(this.#shown, this.#said)} ${keys}`);
    }

    /** In the colours of now. */
    #paint() {
        if (!this.#shown) return;
        const { weights } = this.#parts;
        const names = ["above", "below", "broken", "paper"];
        const own = names.map((name) => [name, colourOf(weights, `--_${name}`)]);
        const isDark = colourOf(weights, "--_scheme") === "#000000";
        const colours = coloursOf(Object.fromEntries(own), isDark);
        paint(weights, this.#shown.weights, this.#shown.keys, colours);
        this.#point(this.#cell);
    }

    /** What was shown is not of what is asked. */
    #fail(message) {
        const { frame, readout, problem } = this.#parts;
        this.#shown = null;
        this.#problem = message;
        frame.hidden = true;
        readout.textContent = "";
        problem.hidden = false;
        this.#tell();
    }

    #point(cell) {
        if (!this.#shown) return;
        const { queries, keys, weights } = this.#shown;
        const { marked, readout } = this.#parts;
        this.#cell = cell && cell.query < queries && cell.key < keys ? cell : null;
        marked.width = 0; // nothing is marked
        readout.textContent = this.#cell ? this.#reading() : summaryOf(this.#shown, this.#said);
        if (!this.#cell) return;
        const ink = getComputedStyle(marked).color;
        mark(marked, this.#cell, weights.length / keys, keys, ink);
    }

    #reading() {
        const { query, key } = this.#cell;
        const { weights, keys, queryNames, keyNames } = this.#shown;
        const weight = weights[query * keys + key];
        const row = weights.subarray(query * keys, (query + 1) * keys);
        const said = this.#said;
        const nameKey = (index) => nameOf(keyNames, index, said);
        const top = topKeys(row).map((each) => `${nameKey(each.key)} ${number(each.weight)}`);
        const most = top.length > 0 ? `; ${said.top(top.join(", "))}` : "";
        return `${nameOf(queryNames, query, said)} → ${nameKey(key)}: ${number(weight)}${most}`;
    }

    #cellAt({ clientX, clientY }) {
        if (!this.#shown) return null;
        const { left, top, width, height } = this.#parts.weights.getBoundingClientRect();
        const { queries, keys } = this.#shown;
        const [query, key] = [
            Math.floor((queries * (clientY - top)) / height),
            Math.floor((keys * (clientX - left)) / width),
        ];
        return query >= 0 && query < queries && key >= 0 && key < keys ? { query, key } : null;
    }

    #press(event) {
        if (!this.#shown || event.altKey || event.ctrlKey || event.metaKey) return; // the browser's
        const { queries, keys } = this.#shown;
        const { query, key } = this.#cell ?? { query: 0, key: 0 };
        const to = {
            ArrowUp: { query: query - 1, key },
            ArrowDown: { query: query + 1, key },
            ArrowLeft: { query, key: key - 1 },
            ArrowRight: { query, key: key + 1 },
            Home: { query, key: 0 },
            End: { query, key: keys - 1 },
            Escape: null,
        }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        const within = (index, count) => Math.min(count - 1, Math.max(0, index));
        this.#point(to && { query: within(to.query, queries), key: within(to.key, keys) });
    }
}

reflect(AttnView.prototype);

/** A property that was set before the page knew the element stands in the way of its own. */
function takeEarly(view, name) {
    if (!Object.hasOwn(view, name)) return;
    const value = view[name];
    delete view[name];
    view[name] = value;
}

/** Makes `<attn-view>`, or what the element is to be called, known to the page. A second call does nothing. */
export function defineView(name = "attn-view") {
    const registry = globalThis.customElements; // there is none in Node
    if (!registry || registry.get(name)) return;
    // A class has one name.
    registry.define(name, name === "attn-view" ? AttnView : class extends AttnView {});
}

/** The weights, and where there are values how far the output is from exact softmax. */
async function solve(attn, { sizes, query, key, value }, settings, isStale) {
    const { backend, params, causal, scale, batch, head } = settings;
    const plan = await attn.plan({ backend, ...sizes, params, causal, scale });
    try {
        const weights = await plan.weights({ query, key, batch, head });
        if (!value || isStale()) return { weights, error: null };
        const { out } = await plan.run({ query, key, value });
        return { weights, error: await plan.error({ query, key, value, out }) };
    } finally {
        plan.dispose();
    }
}
