/** The command line that computes a panel's numbers again. */

import type { ArrayFiles } from "./files";
import type { Problem, Values } from "./types";

export type Source =
    { kind: "text"; text: string; dim: number } | { kind: "files"; files: ArrayFiles };

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
    if (source.kind === "files") return [];
    const { text, dim } = source;
    return [`printf %s ${quote(text)} > text.txt`, `attn embed text.txt --dim ${dim} -o x.npy`];
}

function arrays(source: Source): string {
    const names =
        source.kind === "text"
            ? ["x.npy", "x.npy", "x.npy"]
            : [source.files.query, source.files.key, source.files.value].map((file) =>
                  quote(file.name),
              );
    return ["q", "k", "v"].map((role, i) => `--${role} ${names[i]}`).join(" ");
}

/** Safe as one word of a shell's command. */
export function quote(text: string): string {
    return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
