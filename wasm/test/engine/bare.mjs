/*
 * The package's files as a host without most of the web runs them: a realm of its own with what the language has, less
 * what is named on the command line, and without a place (import.meta.url). hosts.test.mjs starts this by
 * `node --experimental-vm-modules bare.mjs REMOVED... -- ENTRY PROGRAM`; the program is the body of an async function
 * of the entry's exports, `bytes(file)` and `compiled(file)`, and what it returns is printed.
 */
import { readFileSync } from "node:fs";
import vm from "node:vm";

const split = process.argv.indexOf("--");
const removed = process.argv.slice(2, split);
const [entry, program] = process.argv.slice(split + 1);
const dist = new URL("../../dist/", import.meta.url);

class BareURL extends URL {}
BareURL.createObjectURL = undefined;
const context = vm.createContext({ TextEncoder, TextDecoder, URL: BareURL, atob });
for (const name of removed) vm.runInContext(`delete globalThis[${JSON.stringify(name)}]`, context);
/* As Cloudflare's: modules come with the program, and bytes are refused. */
const refuse = `(() => {
    const refused = () => { throw new WebAssembly.CompileError("Wasm code generation disallowed by embedder"); };
    const { Module } = WebAssembly;
    WebAssembly.compile = async () => refused();
    globalThis.compiled = (bytes) => new Module(bytes);
})()`;
vm.runInContext(refuse, context);

const modules = new Map();
function load(url) {
    if (!modules.has(url.href)) {
        const source = readFileSync(url, "utf8");
        modules.set(url.href, new vm.SourceTextModule(source, { context, identifier: url.href }));
    }
    return modules.get(url.href);
}

const main = load(new URL(entry, dist));
await main.link((specifier, { identifier }) => load(new URL(specifier, identifier)));
await main.evaluate();

const bytes = (file) => readFileSync(new URL(file, dist));
const compiled = (file) => context.compiled(bytes(file));
const run = vm.runInContext(
    `(exports, bytes, compiled) => (async () => { ${program} })().catch((error) => error.name + " " + error.code + " " + error.message)`,
    context,
);
console.log(JSON.stringify(await run(main.namespace, bytes, compiled)));
