/** The header of an .npy file: a Python dictionary of three entries, in any order, each once, and nothing else. */

export interface NpyHeader {
    /** NumPy's name of the element type. */
    dtype: string;
    isFortran: boolean;
    shape: number[];
}

const entry =
    /\s*(?:(["'])descr\1\s*:\s*(["'])(?<descr>[^"'\\]*)\2|(["'])fortran_order\4\s*:\s*(?<order>True|False)|(["'])shape\6\s*:\s*\((?<shape>\s*(?:\d+L?\s*(?:,\s*\d+L?\s*)*,?\s*)?)\))\s*(?<end>,\s*\}|,|\})/y;

/** What it says; null where it is none: libattn/data, which reads floats, then says what is wrong. */
export function parseHeader(text: string): NpyHeader | null {
    const found = new Map<string, string>();
    const reader = new RegExp(entry);
    reader.lastIndex = /^\s*\{/.exec(text)?.[0].length ?? text.length;
    for (let groups = reader.exec(text)?.groups; groups; groups = reader.exec(text)?.groups) {
        const [name = "", value = ""] =
            Object.entries(groups).find(([key, own]) => key !== "end" && own !== undefined) ?? [];
        if (found.has(name)) return null;
        found.set(name, value);
        if (groups.end?.endsWith("}"))
            return /\S/.test(text.slice(reader.lastIndex)) ? null : headerOf(found);
    }
    return null;
}

function headerOf(found: ReadonlyMap<string, string>): NpyHeader | null {
    const [dtype, order, sizes] = ["descr", "order", "shape"].map((name) => found.get(name));
    if (dtype === undefined || order === undefined || sizes === undefined) return null;
    const shape = (sizes.match(/\d+/g) ?? []).map(Number);
    return { dtype, isFortran: order === "True", shape };
}
