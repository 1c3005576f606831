/** The command line that computes a panel's numbers again. */

import { roles, type ArrayFiles } from "./files";
import type { Preset, Question } from "../presets/list";
import { thirdOf } from "../source/split";
import { slopeOf } from "../rules/rules";
import type { ArrayFile, Problem, Role, Shape, Values } from "../state/types";

export type Source =
    | { kind: "text"; text: string; dim: number }
    | { kind: "files"; files: ArrayFiles }
    | { kind: "preset"; preset: Preset };

export function commandLine(
    backend: string,
    source: Source,
    problem: Problem,
    shape: Shape | null,
    params: Values,
    plugin: string | null,
): string {
    const { causal, scale } = problem;
    const options = [
        ...(plugin === null ? [] : [`--plugin ${quote(`./${plugin.replace(/\.wasm$/i, ".so")}`)}`]),
        ...(causal ? ["--causal"] : []),
        ...(scale === null ? [] : [`--scale ${scale}`]),
        ...ruleOptions(problem, shape),
        ...Object.entries(params).map(([name, value]) => `--set ${name}=${value}`),
    ];
    const lines = [
        ...inputLines(source),
        ...maskLines(problem, shape),
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

function ruleOptions(problem: Problem, shape: Shape | null): string[] {
    const { window, softcap, alibi, sink, length, hidden, mask } = problem;
    const { batch = 1, heads = 1, keys = Infinity } = shape ?? {};
    const slopes = Array.from({ length: heads }, (_, head) => slopeOf(alibi ?? NaN, head));
    return [
        ...(window ? [`--window=${window.join()}`] : []),
        ...(softcap === undefined ? [] : [`--softcap ${softcap}`]),
        ...(alibi === undefined ? [] : [`--alibi=${slopes.join()}`]),
        ...(sink === undefined ? [] : [`--sinks=${Array(heads).fill(sink).join()}`]),
        ...(length === undefined
            ? []
            : [`--kv-lens ${Array(batch).fill(Math.min(length, keys)).join()}`]),
        ...(hidden ? ["--mask seen.npy"] : mask ? [`--mask ${quote(mask.name)}`] : []),
    ];
}

/** What makes the file of the mask. */
function maskLines({ hidden, mask }: Problem, shape: Shape | null): string[] {
    if (!hidden) return [];
    const at = mask ? "..., " : "";
    const slices = hidden.map(([first, last]) => `seen[${at}${first}:${last + 1}] = 0`);
    const array = `numpy.ones(${shape?.keys ?? NaN}, bool)`;
    const made = `seen = ${mask ? `numpy.load(${JSON.stringify(mask.name)})` : array}`;
    const program = ["import numpy", made, ...slices, 'numpy.save("seen.npy", seen)'];
    return [`python3 -c ${quote(program.join("; "))}`];
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
export function dumpLine({ task, attention, text, layer }: Question): string {
    const to = `--q q.npy --k k.npy --v v.npy${layer === undefined ? "" : ` --layer ${layer}`}`;
    return `attn lab dump ${task} ${quote(text)} --attention ${attention} ${to}`;
}

/** Where the command line finds an array: it reads .npy alone, whose heads come before tokens. */
function npyName(role: Role, file: ArrayFile): string {
    return isSaved(file) ? `${role}.npy` : file.name;
}

function isSaved({ tensor, layout }: ArrayFile): boolean {
    return Boolean(tensor) || layout === "tokens first";
}

/** What makes a .npy file of an array that has a name in its file. */
function savingLines(role: Role, file: ArrayFile): string[] {
    if (!isSaved(file)) return [];
    const turned = file.layout === "tokens first" ? ".swapaxes(-3, -2)" : "";
    const to = JSON.stringify(`${role}.npy`);
    const program = `import numpy; ${loading(file, turned, to)}`;
    return [`python3 -c ${quote(program)}`];
}

function loading({ name, tensor }: ArrayFile, turned: string, to: string): string {
    const third = thirdOf(tensor ?? null);
    if (!third) return saving(name, tensor, turned, to);
    const split = `[k for k, n in enumerate(x.shape[:-1]) if n == 3 and x.ndim > 2]`;
    const own = `x.take(${third.index}, a[0]) if len(a) == 1 else numpy.split(x, 3, -1)[${third.index}]`;
    const { imported, array } = loaded(name, third.tensor);
    return `${imported}x = ${array}; a = ${split}; x = ${own}; numpy.save(${to}, x${turned})`;
}

function saving(name: string, tensor: string | null | undefined, turned: string, to: string) {
    const { imported, array } = loaded(name, tensor);
    const isFloat = /\.npz$/i.test(name) && tensor;
    return `${imported}numpy.save(${to}, ${array}${turned}${isFloat ? '.astype("f4")' : ""})`;
}

/** What an array of a file is in Python, and what that needs. */
function loaded(name: string, tensor: string | null | undefined) {
    const [file, key] = [name, tensor ?? ""].map((text) => JSON.stringify(text));
    if (!tensor) return { imported: "", array: `numpy.load(${file})` };
    if (/\.npz$/i.test(name)) return { imported: "", array: `numpy.load(${file})[${key}]` };
    return {
        imported: "from safetensors.torch import load_file; ",
        array: `load_file(${file})[${key}].float().numpy()`,
    };
}

/** Safe as one word of a shell's command. */
export function quote(text: string): string {
    return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
