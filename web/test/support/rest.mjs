/**
 * When a page is done with what was asked of it. Tests wait for that, never for a time: scripts that run before all of a
 * page's own note what it has still to do, and switch off whatever moves by itself.
 */

/** Only to end a test that hangs, however busy the machine is: milliseconds. */
export { patience } from "../../../wasm/test/patience.mjs";

/** What is put off for longer, a page does not wait for: a button that says what it did, a file that is let go. */
const longestPause = 1000; // milliseconds

/** Pages of this context can be waited for. `moves`: their transitions and animations stay. */
export async function watchRest(context, { moves = false } = {}) {
    await context.addInitScript(noteUnrest, longestPause);
    if (!moves) await context.addInitScript(holdStill);
    context.on("page", drawAfterActions);
}

/**
 * Nothing is put off any more: no timer, frame, transition, or part of the page that says it is busy, nothing on its way
 * from or to the disk. `evenIfBusy`: it may say that it is, as it does until what it waits for comes.
 */
export async function rested(page, { evenIfBusy = false } = {}) {
    await page.waitForFunction(() => globalThis.unrest);
    await page.waitForFunction((even) => globalThis.unrest.ended(even), evenIfBusy);
}

/** All that was asked for until now is drawn, in the layout that it has now. */
export function drawn(page) {
    return page.evaluate(() => globalThis.unrest?.drawn());
}

const actions = [
    ...["check", "click", "dblclick", "dispatchEvent", "fill", "focus", "hover", "press"],
    ...["selectOption", "setChecked", "setInputFiles", "tap", "uncheck"],
];

/** Playwright's locators and pages act by their frame; an action ends when what it asked for is drawn. */
function drawAfterActions(page) {
    const frame = page.mainFrame();
    for (const name of actions) drawAfter(frame, name, () => drawIn(frame));
    for (const name of ["down", "press", "type", "up"])
        drawAfter(page.keyboard, name, () => drawIn(frame));
    for (const name of ["click", "down", "move", "up"])
        drawAfter(page.mouse, name, () => drawIn(frame));
    for (const name of ["emulateMedia", "setViewportSize"])
        drawAfter(page, name, () => drawIn(frame, true));
}

function drawAfter(target, name, wait) {
    const act = target[name].bind(target);
    target[name] = async (...given) => {
        const result = await act(...given);
        await wait();
        return result;
    };
}

/** `isLaidOut`: anew, of which nothing in the page may know yet. */
function drawIn(frame, isLaidOut = false) {
    const drawn = frame.evaluate((isLaidOut) => {
        const { unrest } = globalThis;
        return isLaidOut || unrest?.isToDraw() ? unrest?.drawn() : undefined;
    }, isLaidOut);
    return drawn.catch(() => undefined); // the action has led to another page, or closed this one
}

/** In the page, before its own scripts. */
function noteUnrest(longestPause) {
    const { requestAnimationFrame: ask, cancelAnimationFrame: forget } = globalThis;
    const { setTimeout: delay, clearTimeout: drop } = globalThis;
    const { setInterval: repeat, clearInterval: end } = globalThis;
    const [frames, timers, intervals] = [new Set(), new Set(), new Set()];
    let underWay = 0;

    globalThis.requestAnimationFrame = (draw) => {
        const id = ask((time) => {
            frames.delete(id);
            draw(time);
        });
        frames.add(id);
        return id;
    };
    globalThis.cancelAnimationFrame = (id) => {
        frames.delete(id);
        forget(id);
    };
    globalThis.setTimeout = (run, pause = 0, ...given) => {
        const id = delay(() => {
            timers.delete(id);
            run(...given);
        }, pause);
        if (pause <= longestPause) timers.add(id);
        return id;
    };
    globalThis.clearTimeout = (id) => {
        timers.delete(id);
        drop(id);
    };
    globalThis.setInterval = (...given) => {
        const id = repeat(...given);
        intervals.add(id);
        return id;
    };
    globalThis.clearInterval = (id) => {
        intervals.delete(id);
        end(id);
    };

    const until = (target, ends) => {
        underWay++;
        const over = new AbortController();
        over.signal.addEventListener("abort", () => underWay--);
        for (const name of ends)
            target.addEventListener(name, () => over.abort(), { signal: over.signal });
    };
    const note = (owner, name, begun) => {
        const original = owner[name];
        owner[name] = function (...given) {
            const result = original.apply(this, given);
            begun(result);
            return result;
        };
    };
    const promised = (result) => {
        underWay++;
        const over = () => underWay--;
        result.then(over, over);
    };
    for (const owner of [Blob.prototype, Response.prototype])
        for (const name of ["arrayBuffer", "text"]) note(owner, name, promised);
    note(IDBFactory.prototype, "open", (request) => until(request, ["success", "error"]));
    note(IDBDatabase.prototype, "transaction", (all) => until(all, ["complete", "abort"]));

    const drawnOnce = () =>
        new Promise((resolve) => {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = resolve; // behind what observers of sizes do in this frame
            ask(() => port2.postMessage(null));
        });
    const isMoving = () =>
        document.getAnimations().some(({ playState }) => playState === "running");
    const isToDraw = () => frames.size > 0 || isMoving();
    const isBusy = () => document.querySelector("[aria-busy=true]") !== null;

    globalThis.unrest = {
        /** For what looks at each frame, and is none of the page's. */
        requestAnimationFrame: ask.bind(globalThis),
        isToDraw,
        isPlaying: () => intervals.size > 0,
        async drawn() {
            for (let calm = 0; calm < 2; calm = isToDraw() ? 0 : calm + 1) await drawnOnce();
        },
        async ended(evenIfBusy = false) {
            const isOver = () =>
                !isToDraw() && timers.size + underWay === 0 && (evenIfBusy || !isBusy());
            for (let calm = 0; calm < 2; calm = isOver() ? calm + 1 : 0) await drawnOnce();
            return true;
        },
    };
}

/** In the page. */
function holdStill() {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
        "*, *::before, *::after { animation: none !important; transition: none !important; }",
    );
    document.adoptedStyleSheets.push(sheet);
}
