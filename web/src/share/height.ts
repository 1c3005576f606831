/** Of an embedded page: how high it is, for the page that it stands in. */

/**
 * Tells the page around at once and whenever it changes: a message `{ libattn: { height } }`, in pixels. It says nothing of
 * what is shown, so that any page may hear it.
 */
export function tellHeight(): void {
    if (parent === window) return;
    let told = NaN;
    new ResizeObserver(() => {
        const height = Math.ceil(document.body.getBoundingClientRect().height);
        if (height === told) return;
        told = height;
        parent.postMessage({ libattn: { height } }, "*");
    }).observe(document.body);
}

/** On the page around: whichever frame says so becomes as high. */
export const heightScript = [
    'addEventListener("message", ({ source, data }) => {',
    "  const height = Number(data?.libattn?.height);",
    '  for (const frame of document.querySelectorAll("iframe"))',
    "    if (frame.contentWindow === source && height > 0) frame.height = height;",
    "});",
].join("\n");
