/** Text as a link carries it: deflated, in the letters of base64url. */

export const longestPacked = 1 << 20; // letters of text for which it is worth a try
const mostBytes = 3 * longestPacked; // of UTF-8: a link that unpacks to more is not one of ours

export function pack(text: string): Promise<string> {
    const deflated = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
    return new Response(deflated).arrayBuffer().then(toLetters);
}

/** Throws where a letter of the link is missing or wrong. */
export async function unpack(letters: string): Promise<string> {
    const inflated = new Blob([fromLetters(letters)])
        .stream()
        .pipeThrough(new DecompressionStream("deflate-raw"));
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    const reader = inflated.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
        chunks.push(part.value);
        size += part.value.length;
        if (size > mostBytes) throw new Error("the text is longer than a link can carry");
    }
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); // a mark of byte order is text, too
    return decoder.decode(await new Blob(chunks).arrayBuffer());
}

function toLetters(buffer: ArrayBuffer): string {
    const bytes = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte));
    const letters = btoa(bytes.join(""));
    return letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromLetters(letters: string): Uint8Array<ArrayBuffer> {
    const bytes = atob(letters.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
}
