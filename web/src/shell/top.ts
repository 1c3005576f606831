/** What comes first on every page: a way past it, and its menu where that has no room for all entries. */

const places = [".panel.enlarged canvas", "#main"]; // the first that there is

/** Pages keep what is shown in their address behind #, so that a link there is one to another view. */
export function startTop(): void {
    document.querySelector(".skip")?.addEventListener("click", (event) => {
        event.preventDefault();
        const found = places.map((place) => document.querySelector<HTMLElement>(place));
        found.find((place) => place !== null)?.focus();
    });
    const [button, pages] = [
        document.querySelector<HTMLElement>("#menu"),
        document.querySelector("#pages"),
    ];
    if (!button || !pages) return;
    const open = (isOpen: boolean) => {
        button.ariaExpanded = String(isOpen);
        pages.classList.toggle("open", isOpen);
    };
    button.addEventListener("click", () => open(button.ariaExpanded !== "true"));
    document.addEventListener("keydown", (event) => {
        if (event.key !== "Escape" || button.ariaExpanded !== "true") return;
        event.preventDefault();
        open(false);
        button.focus();
    });
}
