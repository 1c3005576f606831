// What the tests of `attn lab` share: its files read, its refusals, and a small panel.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { assertRefused, attn, isWasi, succeed as succeedWith } from "./command.mjs";

export const nativeOnly = { skip: isWasi && "native only" };
export const HEADER = "x,success,low,high,fexp1,flin1,fexp0,flin0,formula,trials";

export const read = (folder, name) => readFileSync(join(folder, name), "utf8");
export const parseCsv = (text) => {
    const [names, ...rows] = text.trimEnd().split("\n");
    const keys = names.split(",");
    return rows.map((row) =>
        Object.fromEntries(
            row.split(",").map((cell, i) => [keys[i], cell === "" ? null : Number(cell)]),
        ),
    );
};
export const pointsOf = (text) =>
    text
        .slice(text.indexOf("\n\n") + 2)
        .split("\n")
        .slice(0, -1);

export const succeed = (args, folder) => succeedWith(["lab", ...args], folder);

export function refuse(args, folder, message, status = 2) {
    assertRefused(attn(["lab", ...args], folder), message, status);
}

/** The sum at the end of a checkpoint anew, of bytes that were changed: FNV-1a. */
export function seal(bytes) {
    let sum = 0xcbf29ce484222325n;
    for (const byte of bytes.subarray(0, -8))
        sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n);
    bytes.writeBigUInt64LE(sum, bytes.length - 8);
    return bytes;
}

export const small = ["run", "separation", "--panel", "3b", "--set", "n=40", "--trials", "20"];

/** Tags that open and close in order, attributes in quotes, no stray "<" or "&". */
export function assertWellFormed(xml) {
    const open = [];
    const rest = xml.replaceAll(
        /<(\/?)([a-zA-Z]+)((?:\s+[a-zA-Z:-]+="[^"<]*")*)\s*(\/?)>/g,
        (tag, closes, name, attributes, alone) => {
            if (closes) assert.equal(open.pop(), name, tag);
            else if (!alone) open.push(name);
            assert.doesNotMatch(attributes, /\b(?:nan|inf)\b/i, tag);
            return "";
        },
    );
    assert.deepEqual(open, []);
    assert.doesNotMatch(rest.replaceAll(/&(?:amp|lt|gt|quot);/g, ""), /[<>&]/);
}
