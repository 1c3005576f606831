/** Reads the file of a mask, and keeps it for a reload. */

import { message } from "../dom/dom";
import { readFile } from "../input/files";
import { isKey, keep, kept, newKey } from "../state/store";
import type { Mask } from "./mask";
import { words } from "../words/words";

export async function readMask(file: File): Promise<Mask> {
    if (!/\.npy$/i.test(file.name)) throw new Error(words.files.notNpy(file.name));
    const { name, bytes } = await readFile(file);
    try {
        const { readBooleans } = await import("../source/tensors");
        const mask = { key: newKey(), name, ...readBooleans(name, bytes) };
        return { ...mask, isKept: await keep(mask.key, mask) };
    } catch (error) {
        throw new Error(`${name}: ${message(error)}`, { cause: error });
    }
}

/** The mask of a link, as far as this browser has it; undefined: the link has none. */
export async function keptMask(query: URLSearchParams): Promise<Mask | undefined> {
    const key = query.get("mask") ?? "";
    if (!isKey(key)) return undefined;
    const mask = await kept<Partial<Mask>>(key);
    if (!(mask?.seen instanceof Uint8Array)) throw new Error(words.keeping.maskElsewhere);
    return { ...(mask as Mask), isKept: true };
}
