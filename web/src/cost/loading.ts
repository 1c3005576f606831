/** Observable Plot comes when the first figure of costs is opened: in tasks that are short, one after another. */

import { turn } from "../engine/turn";

type Figures = typeof import("./figures");

let loading: Promise<Figures> | null = null;

/** What comes next is a task of its own. */
export async function loadFigures(): Promise<Figures> {
    loading ??= load();
    const figures = await loading;
    await turn();
    return figures;
}

async function load(): Promise<Figures> {
    try {
        new Intl.NumberFormat(); // the first one takes a browser 30 ms, and Plot has one as soon as it is loaded
        await turn();
        const figures = await import("./figures");
        await turn();
        figures.rehearse();
        return figures;
    } catch (error) {
        loading = null; // another drawing tries again
        throw error;
    }
}
