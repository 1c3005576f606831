/** What is folded out beside the figures, which tell of themselves: the rules, and parts of panels. */

const ofBackends = "[data-backend] details";

/** By the names that links have. */
function folds(): Map<string, HTMLDetailsElement> {
    const inPanels = [...document.querySelectorAll<HTMLDetailsElement>(ofBackends)];
    const named = inPanels.map((fold) => {
        const { backend } = fold.closest<HTMLElement>("[data-backend]")?.dataset ?? {};
        return [`${backend}.${fold.classList.item(fold.classList.length - 1)}`, fold] as const;
    });
    const rules = [...document.querySelectorAll<HTMLDetailsElement>("#rules")];
    return new Map([...rules.map((fold) => ["rules", fold] as const), ...named]);
}

export function unfolded(): string[] {
    return [...folds()].flatMap(([name, { open }]) => (open ? name : []));
}

/** The others stay as they are. */
export function unfold(names: readonly string[]): void {
    const all = folds();
    for (const name of names) all.get(name)?.setAttribute("open", "");
}

/** `tell` when another one is open, or closed. */
export function onUnfold(tell: () => void): void {
    const notice = ({ target }: Event) => {
        if (target instanceof HTMLDetailsElement && target.matches(`#rules, ${ofBackends}`)) tell();
    };
    document.addEventListener("toggle", notice, { capture: true }); // it does not bubble
}
