/** Settings that were tried, as a link has them. */

import type { Param } from "libattn";
import type { Value, Values } from "../state/types";
import type { Candidate } from "./lengths";

/** A link has so many of them: the newest. */
export const mostTried = 64;

const [between, behind] = [" ", "*"]; // neither becomes several letters of an address

/**
 * What a slider was dragged over is one entry: the backend and the names of what is changed, and behind it each
 * setting's values, "sketch size*8*12".
 */
export function writeTried(query: URLSearchParams, tried: readonly Candidate[]): void {
    const entries: string[][] = [];
    for (const { backend, params } of tried.slice(-mostTried)) {
        const head = toText([backend, ...Object.keys(params)]);
        if (entries.at(-1)?.[0] !== head) entries.push([head]);
        entries.at(-1)?.push(toText(Object.values(params)));
    }
    for (const entry of entries) query.append("tried", entry.join(behind));
}

/** As they stand there, whether there are such backends and parameters or not. */
export function readTried(query: URLSearchParams): Candidate[] {
    return query.getAll("tried").slice(-mostTried).flatMap(readEntry).slice(-mostTried);
}

function readEntry(entry: string): Candidate[] {
    const [head = "", ...settings] = entry.split(behind);
    const [backend = "", ...names] = fromText(head);
    return settings.slice(-mostTried).flatMap((setting) => {
        const values = fromText(setting);
        if (values.length !== names.length) return [];
        const params = names.map((name, i) => [name, values[i] ?? ""] as const);
        return [{ backend, params: Object.fromEntries(params) }];
    });
}

function toText(parts: readonly Value[]): string {
    const encoded = parts.map((part) => encodeURIComponent(part).replaceAll(behind, "%2A"));
    return encoded.join(between);
}

function fromText(text: string): string[] {
    if (text === "") return [];
    try {
        return text.split(between).map(decodeURIComponent);
    } catch {
        return []; // a % with something else behind it
    }
}

/** What differs from the defaults, as a panel has it; null: there is no such setting. */
export function changedOf(declared: readonly Param[], told: Values): Values | null {
    const names = declared.map(({ name }) => name);
    if (Object.keys(told).some((name) => !names.includes(name))) return null;
    const changed: Values = {};
    for (const param of declared) {
        if (!Object.hasOwn(told, param.name)) continue;
        const value = valueOf(param, String(told[param.name]));
        if (value === null) return null;
        if (value !== param.default) changed[param.name] = value;
    }
    return changed;
}

function valueOf(param: Param, text: string): Value | null {
    if (param.type === "choice") return param.choices.includes(text) ? text : null;
    if (param.type === "boolean") return ["true", "false"].includes(text) ? text === "true" : null;
    return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : null;
}
