/** Ways to the same page in another language. */

/** They take along what the page's address says, and what is chosen is remembered for other pages. */
export function takeAlong(): void {
    for (const link of document.querySelectorAll<HTMLAnchorElement>(".language a"))
        link.addEventListener("click", () => choose(link));
}

function choose(link: HTMLAnchorElement): void {
    const query = new URLSearchParams(location.hash.slice(1));
    query.set("lang", link.lang);
    link.hash = query.toString();
    try {
        localStorage.setItem("language", link.lang);
    } catch {
        // a browser that keeps nothing
    }
}
