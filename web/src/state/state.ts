/** What the reader chose, as a link has it. */

import { colourChoices, type ColourChoice } from "../map/colors";
import { lengths, quantities } from "../cost/lengths";
import { usualCosts, type CostSettings } from "../cost/settings";
import { costs } from "../cost/trials";
import { readTried, writeTried } from "../cost/tried";
import { longestPacked, pack } from "./packing";
import { presetOf } from "../presets/list";
import { opening } from "../presets/opening";
import type { Pin } from "../row/place";
import { readRules, writeRules } from "../rules/rules";
import { poolings, type Pooling, type Problem, type Value, type Values } from "./types";
import { parseRegion, regionText, type Region } from "../zoom/region";
import { readWithout, writeWithout, type Part } from "../share/parts";
import { isKey } from "./store";

export interface Settings extends Problem {
    text: string;
    dim: number;
    /** The id of the one that stands for the text. */
    preset: string | null;
    /** What the language model reads; null: its preset's sentence. */
    sentence: string | null;
    /** Batch and head shown. */
    batch: number;
    head: number;
    /** Parameters that differ from the default, by backend. */
    params: Map<string, Values>;
    colours: ColourChoice;
    /** Are panels shown by their difference from softmax? */
    difference: boolean;
    /** The panel that is shown large. */
    enlarged: string | null;
    /** The query that is looked at step by step. */
    pin: Pin | null;
    costs: CostSettings;
    /** Is it open, and how many tokens have come? */
    streaming: boolean;
    /** The backend whose heads are shown side by side; null: none's. */
    heads: string | null;
    /** The backend whose weights are lines between tokens; null: none's. */
    strands: string | null;
    token: number;
    /** What is open beside figures, by name. */
    unfolded: readonly string[];
    /** What pictures show of a head; null: all. */
    region: Region | null;
    pooling: Pooling;
    /** Parts that an embedded page is without; null: it is not embedded. */
    without: readonly Part[] | null;
    /** The language that was asked for; null: none was. */
    lang: string | null;
    /** Keys of what the browser keeps beside the link: files of arrays, and plugins. */
    files: string | null;
    plugins: string[];
}

/** What a link need not say. */
export function defaultSettings(text: string): Settings {
    return {
        text,
        dim: 64,
        preset: null,
        sentence: null,
        causal: false,
        scale: null,
        batch: 0,
        head: 0,
        params: new Map(),
        colours: "auto",
        difference: false,
        enlarged: null,
        pin: null,
        costs: usualCosts,
        streaming: false,
        heads: null,
        strands: null,
        unfolded: [],
        token: 1,
        region: null,
        pooling: "mean",
        without: null,
        lang: null,
        files: null,
        plugins: [],
    };
}

/** How a link has its text: plain, packed, or the key under which the browser keeps it. */
export type TextEntry = readonly [name: "text" | "packed" | "kept", value: string];

/** null: the text is the one that needs no words. */
export type Link = Omit<Settings, "text"> & { text: TextEntry | null };

/** Letters, which are more than the model's context. */
export const longestSentence = 2000;

const textNames = ["text", "packed", "kept"] as const;

/** The settings of a preset are not said again. */
function withPreset(defaults: Settings, id: string | null): Settings {
    const preset = presetOf(id);
    if (!preset) return { ...defaults, preset: null };
    const { problem, params, pin, view } = preset;
    return {
        ...defaults,
        preset: preset.id,
        ...problem,
        ...view,
        params: new Map(Object.entries(params)),
        pin,
    };
}

/** Settings from the address; what it does not say stays as in its preset, or else in `defaults`. */
export function readLink(hash: string, defaults: Settings): Link {
    const query = new URLSearchParams(hash.replace(/^#/, ""));
    const asked = query.getAll("preset").at(-1) ?? (saysNothing(query) ? opening.preset : null);
    const base = withPreset(defaults, asked);
    const link: Link = {
        ...base,
        ...readRules(query),
        text: null,
        costs: readCosts(query, base.costs),
        streaming: query.getAll("open").includes("streaming"),
        unfolded: query.getAll("open"), // of other names there are none
        params: new Map(base.params),
        without: readWithout(query),
        difference: (query.get("difference") ?? "0") !== "0", // any other value counts
        plugins: query.getAll("plugin").filter(isKey),
    };
    for (const [name, text] of query) {
        const textName = textNames.find((known) => known === name);
        const dot = name.lastIndexOf("."); // ids of backends may have dots, parameters have none
        if (dot > 0) setParam(link, name.slice(0, dot), name.slice(dot + 1), parseValue(text));
        else if (textName) link.text = [textName, text];
        else if (name === "sentence" && text.length <= longestSentence) link.sentence = text;
        else if (name === "dim" && /^[1-9]\d{0,3}$/.test(text)) link.dim = Number(text);
        else if (name === "causal") link.causal = text === "1";
        else if (name === "scale") link.scale = parseScale(text);
        else if (name === "batch" || name === "head") link[name] = Number.parseInt(text) || 0;
        else if (name === "colours")
            link.colours = colourChoices.find((choice) => choice === text) ?? "auto";
        else if (name === "heads" || name === "strands") link[name] = text;
        else if (name === "enlarged" || name === "view") link.enlarged = text;
        else if (name === "token" && /^[1-9]\d{0,8}$/.test(text)) link.token = Number(text);
        else if (name === "row") link.pin = parsePin(text);
        else if (name === "region") link.region = parseRegion(text);
        else if (name === "pooling")
            link.pooling = poolings.find((pooling) => pooling === text) ?? "mean";
        else if (name === "files" && isKey(text)) link.files = text;
        else if (name === "lang" && text === document.documentElement.lang) link.lang = text;
    }
    return link;
}

const usual = "softmax"; // the picture that is large where a link says no more

export function writeLink(link: Link, defaults: Settings): string {
    const query = new URLSearchParams();
    const base = withPreset(defaults, link.preset);
    const { text, dim, preset, causal, scale, batch, head } = link;
    const { params, colours, difference, enlarged, pin, costs, streaming, token, files, plugins } =
        link;
    if (text) query.set(...text);
    if (dim !== defaults.dim) query.set("dim", String(dim));
    if (preset !== null) query.set("preset", preset);
    if (link.sentence !== null) query.set("sentence", link.sentence);
    if (causal !== base.causal) query.set("causal", causal ? "1" : "0");
    if (scale !== base.scale) query.set("scale", String(scale ?? ""));
    writeRules(query, link);
    if (batch !== base.batch) query.set("batch", String(batch));
    if (head !== base.head) query.set("head", String(head));
    if (files !== null) query.set("files", files);
    for (const key of plugins) query.append("plugin", key);
    if (colours !== "auto") query.set("colours", colours);
    if (difference) query.set("difference", "1");
    writeCosts(query, costs, base.costs);
    if (streaming) query.append("open", "streaming");
    if (link.heads !== null) query.set("heads", link.heads);
    if (link.strands !== null) query.set("strands", link.strands);
    if (token !== defaults.token) query.set("token", String(token));
    if (pinText(pin) !== pinText(base.pin)) query.set("row", pinText(pin));
    if (link.region) query.set("region", regionText(link.region));
    if (link.pooling !== "mean") query.set("pooling", link.pooling);
    if (enlarged !== null) query.set("enlarged", enlarged);
    for (const name of link.unfolded) query.append("open", name);
    writeWithout(query, link.without, enlarged ?? usual);
    if (link.lang !== null) query.set("lang", link.lang);
    for (const [backend, values] of params) {
        for (const [name, value] of Object.entries(values)) {
            if (value === base.params.get(backend)?.[name]) continue;
            query.set(`${backend}.${name}`, String(value));
        }
    }
    const isBare = saysNothing(query);
    if (preset === null && isBare) query.set("preset", "none");
    const others = new URLSearchParams(query);
    others.delete("preset");
    if (preset === opening.preset && saysNothing(others)) return others.toString();
    return query.toString();
}

/** What a link opens with; null: the reader's own text or files. */
export function presetInLink(hash: string): string | null {
    return readLink(hash, defaultSettings("")).preset;
}

/** Of what is computed on: then it is the page's opening. */
function saysNothing(query: URLSearchParams): boolean {
    const others = ["lang", "enlarged", "view", "embed", "without"];
    return [...query.keys()].every((name) => others.includes(name));
}

/**
 * Letters of text that a link has at most, packed. What follows the # never reaches a server: it is
 * browsers that count, and the least of them takes 64 KiB.
 */
export const longestInLink = 32_000;

/** The shorter of text as it is and packed; null where both are too long for a link. */
export async function textInLink(text: string): Promise<TextEntry | null> {
    if (text.length > longestPacked) return null;
    const entries: TextEntry[] = [
        ["text", text],
        ["packed", await pack(text)],
    ];
    const lengths = entries.map(([, value]) => String(new URLSearchParams({ "": value })).length);
    const [plain = Infinity, packed = Infinity] = lengths;
    if (Math.min(plain, packed) > longestInLink) return null;
    return entries[packed < plain ? 1 : 0] ?? null;
}

/** A number typed by the reader; null for an empty field. */
export function parseScale(text: string): number | null {
    const scale = Number.parseFloat(text);
    return Number.isFinite(scale) ? scale : null;
}

function readCosts(query: URLSearchParams, usual: CostSettings): CostSettings {
    const { against, quantity, length } = usual;
    const open = query.getAll("open");
    const [least = 1, most = 1] = [lengths[0], lengths.at(-1)];
    const asked = Number(query.get("length") ?? length);
    return {
        ...{ pareto: open.includes("pareto"), longer: open.includes("longer") },
        against: costs.find((cost) => cost === query.get("against")) ?? against,
        tried: readTried(query),
        quantity: quantities.find((each) => each === query.get("quantity")) ?? quantity,
        length: Math.min(most, Math.max(least, Number.isFinite(asked) ? asked : length)),
    };
}

function writeCosts(query: URLSearchParams, costs: CostSettings, usual: CostSettings): void {
    const { pareto, longer, against, tried, quantity, length } = costs;
    if (pareto) query.append("open", "pareto");
    if (longer) query.append("open", "longer");
    if (against !== usual.against) query.set("against", against);
    writeTried(query, tried);
    if (quantity !== usual.quantity) query.set("quantity", quantity);
    if (length !== usual.length) query.set("length", String(length));
}

/** Query and key, by their numbers: "127.42". */
function parsePin(text: string): Pin | null {
    const [, query, key] = /^(\d{1,9})\.(\d{1,9})$/.exec(text) ?? [];
    return query === undefined ? null : { query: Number(query), key: Number(key) };
}

function pinText(pin: Pin | null): string {
    return pin ? `${pin.query}.${pin.key}` : "none";
}

function setParam(link: Link, backend: string, name: string, value: Value): void {
    link.params.set(backend, { ...link.params.get(backend), [name]: value });
}

function parseValue(text: string): Value {
    const number = Number(text);
    return text !== "" && Number.isFinite(number) ? number : text;
}
