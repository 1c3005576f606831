const names = { "&": "amp", "<": "lt", ">": "gt", '"': "quot" };

/**
 * Text as it stands in HTML and XML, between tags and in attributes. What XML has no room for is left out.
 * @param {string} text
 */
export function escaped(text) {
    return text
        .replace(/[&<>"]/g, (letter) => `&${names[letter]};`)
        .replace(/[^\t\n\r\x20-\uFFFD\u{10000}-\u{10FFFF}]/gu, "");
}
