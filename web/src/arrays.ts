/** Q, K and V: from text, or from three .npy files that have to fit together. */

import type { Attn } from "libattn";
import type { ArrayFile, Role, Shape, Summary } from "./protocol";

/** Contiguous arrays in the order (batch, head, row, column). */
export interface Input extends Summary {
    query: Float32Array;
    key: Float32Array;
    value: Float32Array;
}

interface Array4 extends Record<Size, number> {
    /** Its role and shape, for people: "Q (8, 64)". */
    name: string;
    data: Float32Array;
}

export function inputFromText(attn: Attn, text: string, dim: number): Input {
    const { x, tokens, rows } = attn.embed(text, dim);
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
    return { query: x, key: x, value: x, shape, tokens, nonfinite: attn.countNonfinite(x) };
}

export function inputFromFiles(attn: Attn, files: Record<Role, ArrayFile>): Input {
    const query = readArray(attn, "Q", files.query);
    const key = files.key === files.query ? query : readArray(attn, "K", files.key);
    const value = files.value === files.query ? query : readArray(attn, "V", files.value);
    const arrays = [query, key, value];

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
    const distinct = [...new Set(arrays)];
    const nonfinite = distinct.reduce((sum, array) => sum + attn.countNonfinite(array.data), 0);
    return {
        query: query.data,
        key: key.data,
        value: value.data,
        shape,
        tokens: null,
        nonfinite,
    };
}

function readArray(attn: Attn, role: string, file: ArrayFile): Array4 {
    try {
        const { data, shape } = attn.readNpy(file.bytes);
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
