/** A headless Chromium, wherever this machine keeps it. */

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

const names = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

const flags = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/** The path of Chromium: the environment's CHROMIUM, or the first name that is on PATH. */
export function findChromium() {
    if (process.env.CHROMIUM) return process.env.CHROMIUM;
    const folders = ["/usr/bin", ...(process.env.PATH ?? "").split(delimiter)];
    const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
    const found = paths.find(isExecutable);
    if (!found) throw new Error("no Chromium: install it, or set CHROMIUM to its path");
    return found;
}

export function launchChromium() {
    const asRoot = process.getuid?.() === 0; // Chromium's sandbox refuses to run as root
    return chromium.launch({
        executablePath: findChromium(),
        headless: true,
        args: asRoot ? [...flags, "--no-sandbox"] : flags,
    });
}

/** Wait until every panel has its numbers, computed on what was last asked for. */
export async function settled(page, timeout = 60_000) {
    await page.waitForFunction(
        () => {
            const panels = [...document.querySelectorAll(".panel")];
            return panels.length > 0 && panels.every((panel) => panel.ariaBusy === "false");
        },
        undefined,
        { timeout, polling: 50 }, // each frame, which is the default, keeps the browser drawing
    );
}

/** The worker that computes attention, once it has started. */
export function attentionWorker(page) {
    return page.waitForEvent("worker", (worker) => /\/served-/.test(worker.url()));
}

function isExecutable(path) {
    try {
        accessSync(path, constants.X_OK);
        return true;
    } catch {
        return false;
    }
}
