/** Buttons that give the reader what a part of the page shows, as files. */

import { element, message } from "../dom/dom";
import { save } from "../input/saving";
import { float32Npy } from "../source/npy";
import { words } from "../words/words";

/** Numbers with a name for each column, and what they are of. */
export interface Table {
    columns: readonly string[];
    rows: readonly (readonly (string | number | boolean | null)[])[];
    about: Readonly<Record<string, unknown>>;
}

/** An array, in C's order. */
export interface Matrix {
    numbers: Float32Array;
    shape: readonly number[];
}

/** What can be taken; each is asked for when it is. null: there is none now. */
export interface Taking {
    /** Of files, without its end. */
    name(): string;
    svg(): Promise<string | null> | string | null;
    table(): Table | null;
    /** The same as an array, where it is one. */
    matrix?(): Matrix | null;
}

type Make = (taking: Taking) => Promise<BlobPart | null> | BlobPart | null;

const formats: readonly (readonly [name: string, type: string, make: Make])[] = [
    ["png", "image/png", async ({ svg }) => ifAny(await svg(), png)],
    ["svg", "image/svg+xml", ({ svg }) => svg()],
    ["csv", "text/csv", ({ table }) => ifAny(table(), csv)],
    ["json", "application/json", ({ table }) => ifAny(table(), json)],
    [
        "npy",
        "application/octet-stream",
        ({ matrix }) =>
            ifAny(matrix?.() ?? null, ({ numbers, shape }) => float32Npy(numbers, shape)),
    ],
];

/** `what`: in words, for whoever does not see beside what the buttons stand. */
export function takeMenu(what: string, taking: Taking): HTMLElement {
    const status = element("span", { role: "status" });
    const offered = formats.filter(([name]) => name !== "npy" || taking.matrix);
    const buttons = offered.map(([name, type, make]) => {
        const button = element("button", { type: "button" }, name.toUpperCase());
        button.dataset.format = name;
        button.ariaLabel = words.share.formatOf(name.toUpperCase(), what);
        button.addEventListener("click", () => {
            const file = `${taking.name()}.${name}`;
            void give(file, type, make, taking).then((problem) => (status.textContent = problem));
        });
        return button;
    });
    return element("p", { className: "take buttons" }, words.share.saveAs, ...buttons, status);
}

/** What is wrong; nothing: "". */
async function give(file: string, type: string, make: Make, taking: Taking): Promise<string> {
    try {
        const data = await make(taking);
        if (data === null) return words.share.nothing;
        save(file, data, type);
        return "";
    } catch (error) {
        return message(error);
    }
}

/** What draws files comes when the first one is asked for. */
async function png(drawn: string): Promise<Blob> {
    return (await import("./standalone")).png(drawn);
}

function ifAny<T, R>(value: T | null, make: (value: T) => R): R | null {
    return value === null ? null : make(value);
}

/* As the command line has it, what is no finite number is empty in CSV and null in JSON, which has no word for it. */
function csv({ columns, rows }: Table): string {
    return [columns, ...rows].map((row) => `${row.map(field).join(",")}\n`).join("");
}

function field(value: string | number | boolean | null): string {
    if (value === null || (typeof value === "number" && !Number.isFinite(value))) return "";
    const text = String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function json({ about, columns, rows }: Table): string {
    return `${JSON.stringify({ ...about, columns, rows })}\n`;
}
