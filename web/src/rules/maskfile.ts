/** Reads the file of a mask. */

import { message } from "../dom";
import { readFile } from "../files";
import { newKey } from "../store";
import type { Mask } from "./mask";
import { words } from "../words/words";

export async function readMask(file: File): Promise<Mask> {
    if (!/\.npy$/i.test(file.name)) throw new Error(words.files.notNpy(file.name));
    const { name, bytes } = await readFile(file);
    try {
        const { readBooleans } = await import("../source/tensors");
        return { key: newKey(), name, ...readBooleans(name, bytes) };
    } catch (error) {
        throw new Error(`${name}: ${message(error)}`, { cause: error });
    }
}
