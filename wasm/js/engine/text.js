/*
 * Text as UTF-8 and back. Some hosts have no TextEncoder and TextDecoder: audio worklets, and Jest's jsdom. There it is
 * by what the language has for addresses.
 */

let encoder, decoder; // where there are any

/** Half a pair of surrogates becomes U+FFFD. */
export function encode(text) {
    if (globalThis.TextEncoder) return (encoder ??= new TextEncoder()).encode(text);
    const letters = unescape(encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\uFFFD")));
    return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}

/** What is no UTF-8 is taken byte by byte, where the host has no better way. */
export function decode(bytes) {
    if (globalThis.TextDecoder) return (decoder ??= new TextDecoder()).decode(bytes);
    const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    try {
        return decodeURIComponent(escape(letters));
    } catch {
        return letters;
    }
}
