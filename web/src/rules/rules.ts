/** What a problem may say beyond causal and scale: which keys a query sees, and what its logits become. */

import type { Mask } from "./mask";

export interface Rules {
    /** Keys to each side of a query's position; -1: all. */
    window?: readonly [left: number, right: number];
    /** c: a logit x becomes c tanh(x / c). */
    softcap?: number;
    /** The first head's slope, by which logits fall with each token's distance; head h's is its power h + 1. */
    alibi?: number;
    /** A logit more in each row's sum, without a value. */
    sink?: number;
    /** So many keys count. */
    length?: number;
    /** Keys that no query sees. */
    hidden?: readonly Run[];
    /** From a file, which a link has as the key under which the browser keeps it. */
    mask?: Mask;
}

/** Of keys. */
export type Run = readonly [first: number, last: number];

export const ruleNames = ["window", "softcap", "alibi", "sink", "length", "hidden"] as const;
export type RuleName = (typeof ruleNames)[number];

/** Names in links, where "length" is another one's. */
const linkNames: Record<RuleName, string> = {
    ...{ window: "window", softcap: "softcap", alibi: "alibi", sink: "sink" },
    ...{ length: "keys", hidden: "hidden" },
};

/** ALiBi's slope of a head (arXiv:2108.12409): a geometric sequence from its own ratio on. */
export function slopeOf(alibi: number, head: number): number {
    return alibi ** (head + 1);
}

/** "0, 4-9": runs; null: it is no such text. */
export function parseRuns(text: string): Run[] | null {
    const parts = text.split(/[,;\s]+/).filter((part) => part !== "");
    const runs = parts.map((part): Run | null => {
        const [, first, last = first] = /^(\d{1,9})(?:[-–](\d{1,9}))?$/.exec(part) ?? [];
        const run = [Number(first), Number(last)] as const;
        return run[0] <= run[1] ? run : null; // nor where it is no number
    });
    return runs.every((run) => run !== null) ? runs : null;
}

export function runsText(runs: readonly Run[]): string {
    return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join();
}

/** As text, of which parseRule() makes the same. */
function ruleText(rules: Rules, name: RuleName): string | null {
    if (name === "hidden") return rules.hidden ? runsText(rules.hidden) : null;
    const rule = rules[name];
    return rule === undefined ? null : String(rule);
}

/** null: there is no such rule. */
function parseRule(name: RuleName, text: string): Rules | null {
    if (name === "hidden") {
        const hidden = parseRuns(text);
        return hidden?.length ? { hidden } : null;
    }
    const [one = NaN, other = NaN, more] = text.split(",").map(parseNumber);
    if (name !== "window") return Number.isFinite(one) ? { [name]: one } : null;
    const isWindow = Number.isFinite(one + other) && more === undefined;
    return isWindow ? { window: [one, other] } : null;
}

function parseNumber(text: string): number {
    return text.trim() === "" ? NaN : Number(text);
}

/** As far as the link says something of them. */
export function readRules(query: URLSearchParams): Rules {
    const said = ruleNames.map((name) => parseRule(name, query.get(linkNames[name]) ?? ""));
    return Object.assign({}, ...said) as Rules;
}

export function writeRules(query: URLSearchParams, rules: Rules): void {
    for (const name of ruleNames) {
        const text = ruleText(rules, name);
        if (text !== null) query.set(linkNames[name], text);
    }
    if (rules.mask?.isKept) query.set("mask", rules.mask.key);
}
