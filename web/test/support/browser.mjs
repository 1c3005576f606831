/** A headless Chromium, wherever this machine keeps it. */

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import { drawn, patience } from "./rest.mjs";

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

/** One of its own, or, where ATTN_BROWSER has the address of one, a connection to that, which run.mjs has launched. */
export async function launchChromium() {
    const shared = process.env.ATTN_BROWSER;
    const browser = shared
        ? await chromium.connect(shared, { timeout: patience })
        : await chromium.launch(options());
    for (const name of ["newContext", "newPage"]) {
        const make = browser[name].bind(browser);
        browser[name] = async (...given) => {
            const made = await make(...given);
            made.setDefaultTimeout(patience);
            return made;
        };
    }
    return browser;
}

/** A Chromium for all who know its wsEndpoint(). It stays until it is closed, whatever signals come. */
export function launchShared() {
    const stays = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
    return chromium.launchServer({ ...options(), ...stays, host: "localhost" });
}

function options() {
    const asRoot = process.getuid?.() === 0; // Chromium's sandbox refuses to run as root
    return {
        executablePath: findChromium(),
        headless: true,
        timeout: patience,
        args: asRoot ? [...flags, "--no-sandbox"] : flags,
    };
}

/** Wait until every panel has its numbers, computed on what was last asked for, and they are drawn. */
export async function settled(page) {
    await page.waitForFunction(
        () => {
            const panels = [...document.querySelectorAll(".panel")];
            const isReading = document.querySelector("#progress")?.ariaBusy === "true";
            return (
                panels.length > 0 &&
                !isReading &&
                panels.every((panel) => panel.ariaBusy === "false")
            );
        },
        undefined,
        { polling: 50 }, // each frame, which is the default, keeps the browser drawing
    );
    await drawn(page);
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
