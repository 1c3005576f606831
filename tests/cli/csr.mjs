// Sparse matrices as files: what scipy.sparse.save_npz() writes, and the three arrays.

import { npy } from "./npy.mjs";
import { zip } from "./zip.mjs";

/** The three arrays of rows of numbers. */
export function csr(rows) {
    const parts = { data: [], indices: [], indptr: [0] };
    for (const row of rows) {
        row.forEach((value, j) => {
            if (value === 0) return;
            parts.data.push(value);
            parts.indices.push(j);
        });
        parts.indptr.push(parts.data.length);
    }
    return parts;
}

export const ints = (values, descr) => npy([values.length], values, { descr });

/** The archive's member that says which form the matrix has. */
export function format(name) {
    const header = "{'descr': '|S3', 'fortran_order': False, 'shape': (), }";
    return Buffer.concat([npy([], [], { header }), Buffer.from(name, "latin1")]);
}

/** The same in letters, of four bytes each, which others than SciPy write. */
function letters(name) {
    const header = "{'descr': '<U3', 'fortran_order': False, 'shape': (), }";
    const bytes = [...name].map((letter) => Buffer.from([letter.charCodeAt(0), 0, 0, 0]));
    return Buffer.concat([npy([], [], { header }), ...bytes]);
}

/** The archive's members. */
export function members(rows) {
    const { data, indices, indptr } = csr(rows);
    return {
        "indices.npy": ints(indices, "<i4"),
        "indptr.npy": ints(indptr, "<i4"),
        "format.npy": format("csr"),
        "shape.npy": ints([rows.length, rows[0].length], "<i8"),
        "data.npy": npy([data.length], data, { descr: "<f8" }),
    };
}

/** Archives of all kinds, and the arrays. */
export function csrFiles(rows) {
    const { data, indices, indptr } = csr(rows);
    const archive = members(rows);
    return {
        "deflated.npz": zip(archive, 6),
        "fixed.npz": zip(archive, 1),
        "stored.npz": zip(archive),
        "letters.npz": zip({ ...archive, "format.npy": letters("csr") }),
        "data.npy": npy([data.length], data),
        "indices.npy": ints(indices, "<i8"),
        "indptr.npy": ints(indptr, "<i8"),
    };
}
