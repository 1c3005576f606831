/** Which of the chosen files is Q, K and V, and which a plugin. */

import { message } from "./dom";
import { bytes } from "./format";
import type { ArrayFile, Role } from "./types";

const words: Record<Role, string[]> = {
    query: ["q", "query", "queries"],
    key: ["k", "key", "keys"],
    value: ["v", "value", "values"],
};
const mostBytes = 64 * 2 ** 20;
const roles: Role[] = ["query", "key", "value"];

export type ArrayFiles = Record<Role, ArrayFile>;

/** Read files and tell them apart by name; a single one is all three. */
export async function readFiles(files: File[]): Promise<ArrayFiles> {
    const wrong = files.find((file) => !file.name.toLowerCase().endsWith(".npy"));
    if (wrong) throw new Error(`${wrong.name} is not a .npy file`);
    const read = await Promise.all(files.map(readFile));
    const [only] = read;
    if (only && read.length === 1) return { query: only, key: only, value: only };
    if (read.length !== 3)
        throw new Error(`${read.length} files, where Q, K and V or one is needed`);

    const named = roles.map((role) => read.filter((file) => roleOf(file.name) === role));
    const [query, key, value] = named.map((list) => list[0]);
    if (query && key && value) return { query, key, value };
    const names = read.map((file) => file.name).join(", ");
    throw new Error(`cannot tell Q, K and V apart by the names ${names}`);
}

/** Is it a plugin, by its name? */
export function isPlugin(file: File): boolean {
    return file.name.toLowerCase().endsWith(".wasm");
}

export async function readFile(file: File): Promise<ArrayFile> {
    if (file.size > mostBytes) {
        const [has, most] = [file.size, mostBytes].map(bytes);
        throw new Error(`${file.name} has ${has}; this page reads ${most}, attn compare any size`);
    }
    try {
        return { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
    } catch (error) {
        throw new Error(`${file.name} cannot be read: ${message(error)}`, { cause: error });
    }
}

/** A word that names a role, else a role's letter anywhere, where that is the only one. */
export function roleOf(name: string): Role | null {
    const stem = name.toLowerCase().replace(/\.npy$/, "");
    const parts = stem.split(/[^a-z]+/);
    const byWord = roles.filter((role) => words[role].some((word) => parts.includes(word)));
    const byLetter = roles.filter((role) => stem.includes(role.charAt(0)));
    const [found, another] = byWord.length > 0 ? byWord : byLetter;
    return found && !another ? found : null;
}
