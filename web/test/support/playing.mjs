/** What plays by itself, token after token, on pages that do. */

/**
 * Plays on from where it is, and pauses as soon as a line says so: in the page, which plays on however long its tests take
 * to look. Resolves to what the button said meanwhile.
 */
export function playUntil(page, line, start) {
    return page.evaluate(
        ([line, start]) => {
            const [button, words] = ["#play", line].map((each) => document.querySelector(each));
            return new Promise((resolve) => {
                const observer = new MutationObserver(() => {
                    if (!words.textContent.startsWith(start)) return;
                    observer.disconnect();
                    const said = button.textContent;
                    button.click();
                    resolve(said);
                });
                observer.observe(words, { childList: true, characterData: true, subtree: true });
                button.click();
            });
        },
        [line, start],
    );
}

/** Does anything play yet? */
export const isPlaying = (page) => page.evaluate(() => globalThis.unrest.isPlaying());
