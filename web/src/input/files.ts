/** Which of the arrays in the chosen files is Q, K and V, and which file a plugin. */

import { message } from "../dom/dom";
import { bytes } from "../dom/format";
import { isPacked } from "../source/split";
import type { ArrayFile, Role, TensorInfo } from "../state/types";
import { words } from "../words/words";

const names: Record<Role, string[]> = {
    query: ["q", "query", "queries"],
    key: ["k", "key", "keys"],
    value: ["v", "value", "values"],
};
const mostBytes = 64 * 2 ** 20;
export const roles: readonly Role[] = ["query", "key", "value"];

export type ArrayFiles = Record<Role, ArrayFile>;

/** Throws where one of these is no file of arrays, by its name, or too large. */
export function checkFiles(files: readonly File[]): void {
    const wrong = files.find((file) => !/\.(npy|npz|safetensors)$/i.test(file.name));
    if (wrong) throw new Error(words.files.notArrays(wrong.name));
    files.forEach(checkSize);
}

/** Tells tensors apart by their names; a single one is all three, of many the first that fit are taken. */
export function assign(tensors: readonly TensorInfo[]): Record<Role, TensorInfo> {
    const [only] = tensors;
    if (only && tensors.length === 1 && isPacked(nameOf(only)))
        throw new Error(words.files.packed(nameOf(only), only.shape.join(" × ")));
    if (only && tensors.length === 1) return { query: only, key: only, value: only };
    const isArchive = tensors.some(({ tensor }) => tensor !== null);
    if (tensors.length !== 3 && !isArchive) throw new Error(words.files.tooMany(tensors.length));

    const named = roles.map((role) => tensors.filter((info) => roleOf(nameOf(info)) === role));
    const [query, key, value] = named.map((list) => list[0]);
    if (query && key && value) return { query, key, value };
    throw new Error(words.files.notTold(tensors.slice(0, 4).map(nameOf).join(", ")));
}

export function nameOf({ file, tensor }: TensorInfo): string {
    return tensor ?? file;
}

/** The file that a tensor is in, with the tensor meant. */
export function fileOf(files: readonly ArrayFile[], { file, tensor }: TensorInfo): ArrayFile {
    const found = files.find(({ name }) => name === file);
    if (!found) throw new Error(words.files.missing(file));
    return { ...found, tensor };
}

/** Is it a plugin, by its name? */
export function isPlugin(file: File): boolean {
    return file.name.toLowerCase().endsWith(".wasm");
}

function checkSize({ name, size }: File): void {
    if (size > mostBytes)
        throw new Error(words.files.tooLarge(name, bytes(size), bytes(mostBytes)));
}

/** Whole. */
export async function readFile(file: File): Promise<ArrayFile> {
    checkSize(file);
    try {
        return { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
    } catch (error) {
        throw new Error(words.files.unread(file.name, message(error)), { cause: error });
    }
}

/** A word that names a role, else a role's letter anywhere, where that is the only one. */
export function roleOf(name: string): Role | null {
    const stem = name.toLowerCase().replace(/\.npy$/, "");
    const parts = stem.split(/[^a-z]+/);
    const byWord = roles.filter((role) => names[role].some((word) => parts.includes(word)));
    const byLetter = roles.filter((role) => stem.includes(role.charAt(0)));
    const [found, another] = byWord.length > 0 ? byWord : byLetter;
    return found && !another ? found : null;
}
