/** The header of an .npy file: a Python dictionary of three entries, in any order, each once, and nothing else. */

export interface NpyHeader {
    /** NumPy's name of the element type. */
    dtype: string;
    isFortran: boolean;
    shape: number[];
}

const blank = "[ \\t\\r\\n]*"; // and no other space
const quoted = (name: string) => `(?:'${name}'|"${name}")~:~`;
const values = [
    `${quoted("descr")}(?:'(?<descr>[^']*)'|"(?<descrToo>[^"]*)")`,
    `${quoted("fortran_order")}(?<order>True|False)`,
    `${quoted("shape")}\\((?<shape>(?:~\\d+L?~(?:,~\\d+L?~)*,?)?)~\\)`,
];
const source = `~(?:${values.join("|")})~(?<end>,~\\}|,|\\})`.replaceAll("~", blank);

/** What it says; null where it is none: libattn/data, which reads floats, then says what is wrong. */
export function parseHeader(text: string): NpyHeader | null {
    const found = new Map<string, string>();
    const reader = new RegExp(source, "y");
    reader.lastIndex = /^[ \t\r\n]*\{/.exec(text)?.[0].length ?? text.length;
    for (let groups = reader.exec(text)?.groups; groups; groups = reader.exec(text)?.groups) {
        const [key = "", value = ""] =
            Object.entries(groups).find(([each, own]) => each !== "end" && own !== undefined) ?? [];
        const name = key.replace("Too", "");
        if (found.has(name)) return null;
        found.set(name, value);
        if (groups.end?.endsWith("}"))
            return /[^ \t\r\n]/.test(text.slice(reader.lastIndex)) ? null : headerOf(found);
    }
    return null;
}

function headerOf(found: ReadonlyMap<string, string>): NpyHeader | null {
    const [dtype, order, sizes] = ["descr", "order", "shape"].map((name) => found.get(name));
    if (dtype === undefined || order === undefined || sizes === undefined) return null;
    const shape = (sizes.match(/\d+/g) ?? []).map(Number);
    return { dtype, isFortran: order === "True", shape };
}
