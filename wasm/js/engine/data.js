/* libattn/data: calls of its module, which is loaded by the first of them. */
import { checkBytes, checkInteger } from "../problem/check.js";
import { AttnError } from "../problem/errors.js";
import { Heap } from "./heap.js";
import { instantiate } from "./loader.js";
import { makeOwnModule } from "./own-module.js";
import { Session } from "./session.js";
import { decode, encode } from "./text.js";

/* Literal, so that bundlers see it and carry the file along. */
const file = () => new URL("../../dist/libattn.data.wasm", import.meta.url);

/** init(), embed() and readNpy() for a platform: `readUrl` gives the bytes behind a URL. */
export function makeData(readUrl) {
    const { load, init } = makeOwnModule({
        ...{ file, readUrl, open },
        ...{ name: "libattn/data.wasm", needed: "attnjs_embed" },
    });
    const functions = {
        async embed(text, dim) {
            if (typeof text !== "string") throw new TypeError("text must be a string");
            if (checkInteger(dim, "dim") < 2) {
                throw new AttnError("ATTN_ERROR_SHAPE", `dim is ${dim}, must be at least 2`);
            }
            return embed(await load(), encode(text), dim);
        },

        async readNpy(bytes) {
            const given = checkBytes(bytes, "bytes").slice(); // as it is now
            return readNpy(await load(), given);
        },
    };
    return { ...functions, init: (given) => init(given).then(() => functions) };
}

async function open(module) {
    const { exports } = await instantiate(module);
    const heap = new Heap(exports);
    return { heap, session: new Session(heap) };
}

function embed({ session }, bytes, dim) {
    return session.borrow((loan) => {
        const at = loan.input(bytes, "the text");
        const bounds = session.describe("attnjs_tokens", at, bytes.length);
        const rows = bounds.length / 2;
        const out = loan.output(Float32Array, rows * dim, "the vectors");
        session.run("attnjs_embed", at, bytes.length, dim, out.at, rows * dim);
        return { x: out.take(), tokens: cut(bytes, bounds), rows, dim };
    });
}

/** The pieces of a UTF-8 text between start and end, start and end, ... */
function cut(bytes, bounds) {
    const pieces = [];
    for (let i = 0; i < bounds.length; i += 2) {
        pieces.push(decode(bytes.subarray(bounds[i], bounds[i + 1])));
    }
    return pieces;
}

function readNpy({ heap, session }, bytes) {
    return session.borrow((loan) => {
        const at = loan.input(bytes, "the .npy file"); // a copy, which C puts in order
        const about = session.describe("attnjs_read_npy", at, bytes.length);
        const { offset, half, shape } = about;
        const count = shape.reduce((product, size) => product * size, 1);
        const type = half ? Uint16Array : Float32Array;
        const elements = heap.view(type, at + offset, count).slice();
        return { data: half ? Float32Array.from(elements, widen) : elements, shape };
    });
}

/** What the bits of an IEEE 754 binary16 are. */
function widen(bits) {
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const size = exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24;
    const value = exponent < 31 ? size : fraction ? NaN : Infinity;
    return bits & 0x8000 ? -value : value;
}
