/* Bytes of tokens as text, though a letter of UTF-8 may go over several of them. */
import { decode } from "../../../js/engine/text.js";

/** How many bytes a letter has that begins with this one; 1 of what begins none. */
function lengthOf(byte) {
    if (byte >= 0xf0 && byte < 0xf8) return 4;
    if (byte >= 0xe0) return byte < 0xf0 ? 3 : 1;
    return byte >= 0xc0 ? 2 : 1;
}

const isRest = (byte) => byte >= 0x80 && byte < 0xc0;

/** Where the last letter begins that has not all its bytes, or the end. */
function endOf(bytes) {
    for (let at = bytes.length - 1; at >= 0 && at > bytes.length - 4; at--)
        if (!isRest(bytes[at])) return at + lengthOf(bytes[at]) > bytes.length ? at : bytes.length;
    return bytes.length;
}

/** A function that takes the bytes of one token after another, and gives the letters that they end. */
export function makeLetters() {
    let waiting = [];
    return (bytes) => {
        const all = [...waiting, ...bytes];
        const end = endOf(all);
        waiting = all.slice(end);
        return decode(Uint8Array.from(all.slice(0, end)));
    };
}

/** A token by itself: what is no whole letter as \xNN. */
export function textOf(bytes) {
    const text = decode(bytes);
    if (!text.includes("\ufffd")) return text;
    return Array.from(bytes, (byte) =>
        byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`,
    ).join("");
}
