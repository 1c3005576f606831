/** Q, K and V from three .npy files that have to fit together. */

import { readNpy } from "libattn/data";
import { countNonfinite } from "./text";
import { npyOf } from "./tensors";
import type { ArrayFile, Input, Role, Shape } from "../state/types";

interface Array4 extends Record<Size, number> {
    /** Its role and shape, for people: "Q (8, 64)". */
    name: string;
    data: Float32Array;
}

export async function inputFromFiles(files: Record<Role, ArrayFile>): Promise<Input> {
    const query = await readArray("Q", files.query);
    const key = isSame(files.key, files.query) ? query : await readArray("K", files.key);
    const value = isSame(files.value, files.query) ? query : await readArray("V", files.value);

    fit(query, key, "columns", "columns (d)");
    fit(key, value, "rows", "rows (m)");
    fit(key, value, "heads", "heads");
    fit(query, key, "batch", "batches");
    fit(key, value, "batch", "batches");
    if (query.heads % key.heads !== 0) {
        throw new Error(`${query.name} has ${query.heads} heads, no multiple of K's ${key.heads}`);
    }

    const shape: Shape = {
        batch: query.batch,
        heads: query.heads,
        kvHeads: key.heads,
        queries: query.rows,
        keys: key.rows,
        dim: query.columns,
        valueDim: value.columns,
    };
    const arrays = { query: query.data, key: key.data, value: value.data };
    let nonfinite = 0;
    for (const array of new Set(Object.values(arrays))) nonfinite += countNonfinite(array);
    return { ...arrays, shape, tokens: null, nonfinite };
}

function isSame(one: ArrayFile, other: ArrayFile): boolean {
    return one.bytes === other.bytes && one.tensor === other.tensor; // the layout is of all
}

async function readArray(role: string, file: ArrayFile): Promise<Array4> {
    try {
        const read = await readNpy(npyOf(file.name, file.bytes, file.tensor ?? null));
        const { data, shape } = file.layout === "tokens first" ? headsFirst(read) : read;
        const [columns = 1, rows = 1, heads = 1, batch = 1] = shape.toReversed();
        const name = `${role} (${shape.join(", ")})`;
        return { name, data, batch, heads, rows, columns };
    } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`${role}, ${file.name}: ${reason}`, { cause: error });
    }
}

/** With the axes of tokens and heads in each other's place. */
function headsFirst({ data, shape }: { data: Float32Array; shape: readonly number[] }) {
    const [columns = 1, heads = 1, tokens = 1, batch = 1] = shape.toReversed();
    if (shape.length < 3) return { data, shape };
    const turned = new Float32Array(data.length);
    for (let row = 0; row < batch * tokens * heads; row++) {
        const [head, token] = [row % heads, Math.floor(row / heads) % tokens];
        const to = (Math.floor(row / (heads * tokens)) * heads + head) * tokens + token;
        turned.set(data.subarray(row * columns, (row + 1) * columns), to * columns);
    }
    return { data: turned, shape: [...shape.slice(0, -3), heads, tokens, columns] };
}

type Size = "batch" | "heads" | "rows" | "columns";

function fit(left: Array4, right: Array4, size: Size, what: string): void {
    if (left[size] === right[size]) return;
    throw new Error(
        `${left.name} and ${right.name} do not fit together: ` +
            `${left[size]} and ${right[size]} ${what}`,
    );
}
