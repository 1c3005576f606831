/** What the reader chose, kept in the address so that a link shows the same page. */

import type { Value, Values } from "./protocol";

export interface Settings {
    text: string;
    dim: number;
    causal: boolean;
    /** null: the backend's default. */
    scale: number | null;
    /** Parameters that differ from the default, by backend. */
    params: Map<string, Values>;
}

const longestLink = 4000; // characters of text that an address carries

/** Settings from the address; what it does not say stays as in `defaults`. */
export function readSettings(hash: string, defaults: Settings): Settings {
    const settings: Settings = { ...defaults, params: new Map() };
    for (const [name, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
        const dot = name.lastIndexOf("."); // ids of backends may have dots, parameters have none
        if (dot > 0) setParam(settings, name.slice(0, dot), name.slice(dot + 1), parseValue(text));
        else if (name === "text") settings.text = text;
        else if (name === "dim" && /^[1-9]\d{0,3}$/.test(text)) settings.dim = Number(text);
        else if (name === "causal") settings.causal = text === "1";
        else if (name === "scale") settings.scale = parseScale(text);
    }
    return settings;
}

export function writeSettings(settings: Settings, defaults: Settings): string {
    const query = new URLSearchParams();
    const { text, dim, causal, scale, params } = settings;
    if (text !== defaults.text && text.length <= longestLink) query.set("text", text);
    if (dim !== defaults.dim) query.set("dim", String(dim));
    if (causal) query.set("causal", "1");
    if (scale !== null) query.set("scale", String(scale));
    for (const [backend, values] of params) {
        for (const [name, value] of Object.entries(values)) {
            query.set(`${backend}.${name}`, String(value));
        }
    }
    return query.toString();
}

/** A number typed by the reader; null for an empty field. */
export function parseScale(text: string): number | null {
    const scale = Number.parseFloat(text);
    return Number.isFinite(scale) ? scale : null;
}

function setParam({ params }: Settings, backend: string, name: string, value: Value): void {
    params.set(backend, { ...params.get(backend), [name]: value });
}

function parseValue(text: string): Value {
    const number = Number(text);
    return text !== "" && Number.isFinite(number) ? number : text;
}
