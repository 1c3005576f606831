/** Names of element types, as .npy files have them: numpy.dtype() says what they mean. */

const letters = new Map(
    Object.entries({
        ...{ e: "f2", f: "f4", d: "f8", "?": "b1", b: "i1", B: "u1" },
        ...{ h: "i2", H: "u2", i: "i4", I: "u4", q: "i8", Q: "u8" }, // l is of no size of its own
    }),
);
const sized = (kind: string, letter: string, bits: number[]) =>
    bits.map((each): [string, string] => [`${kind}${each}`, `${letter}${each / 8}`]);
const words = new Map([
    ...Object.entries({
        half: "f2",
        single: "f4",
        double: "f8",
        float: "f8",
        bool: "b1",
        bool_: "b1",
    }),
    ...Object.entries({ byte: "i1", short: "i2", intc: "i4", longlong: "i8" }),
    ...Object.entries({ ubyte: "u1", ushort: "u2", uintc: "u4", ulonglong: "u8" }),
    ...sized("float", "f", [16, 32, 64]),
    ...sized("int", "i", [8, 16, 32, 64]),
    ...sized("uint", "u", [8, 16, 32, 64]),
    ["bfloat16", "V2"],
]);

/**
 * The type by the one name that the rest of the program knows, and whether its bytes are in the other order. "=" and
 * nothing are the order of the machine that wrote it: today's are all little-endian. bfloat16, which NumPy has no name
 * for, is two bytes of nothing (V2), as ml_dtypes writes it.
 */
export function descrOf(dtype: string): { descr: string; isBigEndian: boolean } {
    const [, order = "", name = ""] = /^([<>=|]?)(.*)$/.exec(dtype) ?? [];
    const type = words.get(name) ?? letters.get(name) ?? name;
    const isOneByte = /^[biu]1$/.test(type);
    const descr = dtype === "" ? "" : `${isOneByte ? "|" : "<"}${type}`;
    return { descr, isBigEndian: order === ">" && !isOneByte };
}
