/** The command line that computes a panel's numbers again. */

import { roles, type ArrayFiles } from "./files";
import type { Preset, Question } from "./presets/list";
import type { ArrayFile, Problem, Role, Values } from "./types";

export type Source =
    | { kind: "text"; text: string; dim: number }
    | { kind: "files"; files: ArrayFiles }
    | { kind: "preset"; preset: Preset };

export function commandLine(
    backend: string,
    source: Source,
    { causal, scale }: Problem,
    params: Values,
    plugin: string | null,
): string {
    const options = [
        ...(plugin === null ? [] : [`--plugin ${quote(`./${plugin.replace(/\.wasm$/i, ".so")}`)}`]),
        ...(causal ? ["--causal"] : []),
        ...(scale === null ? [] : [`--scale ${scale}`]),
        ...Object.entries(params).map(([name, value]) => `--set ${name}=${value}`),
    ];
    const lines = [
        ...inputLines(source),
        ["attn compare", arrays(source), `--backends ${backend}`, ...options].join(" "),
    ];
    return lines.join("\n");
}

function inputLines(source: Source): string[] {
    if (source.kind === "files")
        return roles.flatMap((role) => savingLines(role, source.files[role]));
    if (source.kind === "preset") return presetLines(source.preset);
    const { text, dim } = source;
    return [`printf %s ${quote(text)} > text.txt`, `attn embed text.txt --dim ${dim} -o x.npy`];
}

function arrays(source: Source): string {
    const names = arrayNames(source);
    return ["q", "k", "v"].map((role, i) => `--${role} ${names[i]}`).join(" ");
}

function arrayNames(source: Source): string[] {
    if (source.kind === "text") return ["x.npy", "x.npy", "x.npy"];
    if (source.kind === "preset") return ["q.npy", "k.npy", "v.npy"];
    return roles.map((role) => quote(npyName(role, source.files[role])));
}

/** What makes the arrays of a preset, or where they are to be had. */
function presetLines({ name, question }: Preset): string[] {
    if (!question) return [`# q.npy, k.npy and v.npy are what "Save Q, K, V" saves of "${name}"`];
    return [dumpLine(question)];
}

/** Saves the heads of a trained model as it answers. */
export function dumpLine({ task, attention, text }: Question): string {
    const to = "--q q.npy --k k.npy --v v.npy";
    return `attn lab dump ${task} ${quote(text)} --attention ${attention} ${to}`;
}

/** Where the command line finds an array: it reads .npy alone. */
function npyName(role: Role, { name, tensor }: ArrayFile): string {
    return tensor ? `${role}.npy` : name;
}

/** What makes a .npy file of an array that has a name in its file. */
function savingLines(role: Role, { name, tensor }: ArrayFile): string[] {
    if (!tensor) return [];
    const [file, key, to] = [name, tensor, `${role}.npy`].map((text) => JSON.stringify(text));
    const program = /\.npz$/i.test(name)
        ? `import numpy; numpy.save(${to}, numpy.load(${file})[${key}].astype("f4"))`
        : "import numpy; from safetensors.torch import load_file; " +
          `numpy.save(${to}, load_file(${file})[${key}].float().numpy())`;
    return [`python3 -c ${quote(program)}`];
}

/** Safe as one word of a shell's command. */
export function quote(text: string): string {
    return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
