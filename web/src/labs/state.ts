/** What the reader chose, kept in the address; and the command that makes the same numbers. */

import type { Lab, LabPanel } from "libattn-labs";
import { quote } from "../input/command";
import type { Values } from "../state/types";

export interface Choice {
    lab: Lab;
    panel: LabPanel;
    /** As typed. */
    seed: string;
    /** Parameters that differ from the panel's. */
    params: Values;
}

export const defaultSeed = "1";

/** Can the panel's parameter be set? Not the one that is its axis, and none that is idle. */
export function isTaken({ x_param, idle }: LabPanel, name: string): boolean {
    return name !== x_param && !idle.includes(name);
}

/** A choice from the address; what it says wrongly, or not, is as at first. */
export function readChoice(hash: string, labs: readonly Lab[]): Choice {
    const query = new URLSearchParams(hash.replace(/^#/, ""));
    const [firstLab] = labs;
    const lab = labs.find(({ name }) => name === query.get("lab")) ?? firstLab;
    const panel = lab?.panels.find(({ id }) => id === query.get("panel")) ?? lab?.panels[0];
    if (!lab || !panel) throw new Error("there are no experiments");
    const params = lab.params.flatMap(({ name, type }) => {
        const text = query.get(`set.${name}`);
        if (text === null || !isTaken(panel, name)) return [];
        return [[name, type === "choice" || text.trim() === "" ? text : number(text)] as const];
    });
    const seed = query.get("seed") ?? defaultSeed;
    return { lab, panel, seed, params: Object.fromEntries(params) };
}

function number(text: string): string | number {
    return Number.isFinite(Number(text)) ? Number(text) : text;
}

export function writeChoice({ lab, panel, seed, params }: Choice): string {
    const query = new URLSearchParams({ lab: lab.name, panel: panel.id });
    if (seed !== defaultSeed) query.set("seed", seed);
    for (const [name, value] of Object.entries(params)) query.set(`set.${name}`, String(value));
    return query.toString();
}

export function commandLine({ lab, panel, seed, params }: Choice): string {
    const { trials, ...others } = params;
    const parts = [
        `attn lab run ${lab.name} --panel ${panel.id}`,
        ...Object.entries(others).map(([name, value]) => `--set ${name}=${String(value)}`),
        ...(trials === undefined ? [] : [`--trials ${String(trials)}`]),
        `--seed ${quote(seed)} -o ${lab.name}`,
    ];
    return parts.join(" ");
}
