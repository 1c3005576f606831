/** Q, K and V: from text, or from three .npy files that have to fit together. */

import { embed, readNpy } from "libattn/data";
import type { Attn, Tensor } from "libattn/worker";
import type { ArrayFile, Role, Shape, Summary } from "./types";

/** Contiguous arrays in the order (batch, head, row, column), which the worker holds. */
export interface Input extends Summary {
    query: Tensor;
    key: Tensor;
    value: Tensor;
}

interface Array4 extends Record<Size, number> {
    /** Its role and shape, for people: "Q (8, 64)". */
    name: string;
    data: Float32Array;
}

export async function inputFromText(attn: Attn, text: string, dim: number): Promise<Input> {
    const { x, tokens, rows } = await embed(text, dim);
    if (rows === 0) throw new Error("the text has no word in it");
    const shape: Shape = {
        batch: 1,
        heads: 1,
        kvHeads: 1,
        queries: rows,
        keys: rows,
        dim,
        valueDim: dim,
    };
    return { ...(await hold(attn, x, x, x)), shape, tokens };
}

export async function inputFromFiles(attn: Attn, files: Record<Role, ArrayFile>): Promise<Input> {
    const query = await readArray("Q", files.query);
    const key = files.key === files.query ? query : await readArray("K", files.key);
    const value = files.value === files.query ? query : await readArray("V", files.value);

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
    return { ...(await hold(attn, query.data, key.data, value.data)), shape, tokens: null };
}

/** Gives the worker the arrays, each once, and counts what is not finite. */
async function hold(attn: Attn, ...arrays: [Float32Array, Float32Array, Float32Array]) {
    const tensors = new Map<Float32Array, Tensor>();
    let nonfinite = 0;
    for (const array of new Set(arrays)) {
        const tensor = await attn.tensor(array);
        tensors.set(array, tensor);
        nonfinite += await attn.countNonfinite(tensor);
    }
    const [query, key, value] = arrays.map((array) => tensors.get(array));
    if (!query || !key || !value) throw new Error("an array was not taken");
    return { query, key, value, nonfinite };
}

export function release({ query, key, value }: Input): void {
    for (const tensor of [query, key, value]) tensor.dispose();
}

async function readArray(role: string, file: ArrayFile): Promise<Array4> {
    try {
        const { data, shape } = await readNpy(file.bytes);
        const [columns = 1, rows = 1, heads = 1, batch = 1] = shape.toReversed();
        const name = `${role} (${shape.join(", ")})`;
        return { name, data, batch, heads, rows, columns };
    } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`${role}, ${file.name}: ${reason}`, { cause: error });
    }
}

type Size = "batch" | "heads" | "rows" | "columns";

function fit(left: Array4, right: Array4, size: Size, what: string): void {
    if (left[size] === right[size]) return;
    throw new Error(
        `${left.name} and ${right.name} do not fit together: ` +
            `${left[size]} and ${right[size]} ${what}`,
    );
}
