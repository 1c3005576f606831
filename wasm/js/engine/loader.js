/*
 * From whatever init() was given to an instance of the module. The module imports nothing but, where
 * it has threads, its memory, so there is no glue: compile, instantiate, initialize.
 */
import { checkBytes, checkOneOf, checkWithin, readOptions } from "../problem/check.js";
import { AttnError, notLoaded } from "../problem/errors.js";
import { Heap } from "./heap.js";
import { decode } from "./text.js";

/* Where a file was left behind. */
const WAY = "import libattn/inline, or pass the module: init({ source })";

/** The best of the builds that this engine can run; the first where it can run none. */
async function choose(builds, threads) {
    if (threads > 1) return "threads";
    const names = Object.keys(builds);
    for (const name of names) if (await builds[name].runs()) return name;
    return names[0];
}

/** Of a build that compiling is to tell of. */
export const always = () => true;

/**
 * Makes init(). `builds`: by name, best first, { file, runs }: what gives its source, and whether the engine
 * runs it. `make(engine, more, readUrl)`: the library on an engine, `more` being what it is to tell of itself. Of
 * the platform, `readUrl` gives the bytes behind a URL where fetch() does not, and `openPool(module, threads)`,
 * where there are threads, { exports, handle }.
 */
export function makeInit({ readUrl = fetchBytes, openPool }, builds, make) {
    const names = openPool ? ["build", "threads"] : ["build"];
    return async function init(given, more, about) {
        const options = readInit(given, names);
        const threads = checkWithin(options.threads ?? 1, "threads", 1, 256);
        if (options.build !== undefined) checkOneOf(options.build, Object.keys(builds), "build");
        const source = await options.source;
        const own = source === undefined || source === null;
        // Of a source the build is asked for only where it is said: some hosts compile nothing to find out.
        const build = options.build ?? (own ? await choose(builds, threads) : undefined);
        if (build !== undefined && !(await builds[build].runs())) {
            const message = `this engine cannot run the ${build} build`;
            throw new AttnError("ATTN_ERROR_UNSUPPORTED", message);
        }
        const module = await (own
            ? compileOwn(builds[build].file, readUrl, WAY)
            : compile(source, readUrl));
        const shared = builds.threads && WebAssembly.Module.imports(module).length > 0;
        if (threads > 1 && !shared) throw wrong("the module is of another build, without threads");
        const opened = shared ? await openPool(module, threads) : await instantiate(module);
        const attn = Object.freeze(
            make(new Heap(opened.exports, opened.handle), { threads, ...about }, readUrl),
        );
        if (options.build === undefined || attn.build === build) return attn;
        throw wrong(`the module is the ${attn.build} build, not ${build}`);
    };
}

/** { source, ... } of init({ source, ... }). */
export const readInit = (given, names) => readOptions(given ?? {}, ["source", ...names], "init");

/** What reads a URL where it is not a file. */
export async function fetchBytes(url) {
    return responseBytes(await fetch(url));
}

async function responseBytes(response) {
    const { ok, url, status, headers } = response; // a Blob has none of them
    const from =
        status && `${url || "a Response"}: HTTP status ${status}, ${headers.get("content-type")}`;
    if (ok === false) throw wrong(from);
    return Object.assign(await response.arrayBuffer(), { from });
}

/** An instance, or one line of why there is none. */
export async function instantiate(module, imports = {}) {
    const { exports } = await WebAssembly.instantiate(module, imports).catch((cause) => {
        throw wrong(`not libattn: ${cause.message}`, cause);
    });
    exports._initialize?.();
    return { exports };
}

function wrong(message, cause) {
    return new AttnError("ATTN_ERROR_LOAD", message, { cause });
}

/** The module from a source of any kind. */
export async function compile(source, readUrl) {
    if (isModule(source)) return source;
    return compileBytes(await bytesOf(source, readUrl));
}

/** Also of another realm, as tests are that run in one. */
export function isModule(value) {
    return Object.prototype.toString.call(value) === "[object WebAssembly.Module]";
}

async function compileBytes(bytes) {
    try {
        return await WebAssembly.compile(bytes);
    } catch (cause) {
        if (isSound(bytes)) throw refused(cause);
        const { from } = bytes;
        const start = JSON.stringify(decode(bytes.slice(0, 20)));
        const what = from ? ` ${from}, which begins with ${start}` : "";
        throw wrong(`cannot compile${what}: ${cause.message}`, cause);
    }
}

/** Is it a module that this engine could run? */
function isSound(bytes) {
    try {
        return WebAssembly.validate(bytes);
    } catch {
        return false;
    }
}

/** Hosts of workers compile modules when a program is put there, and pages may have a policy against it. */
function refused(cause) {
    const advice =
        "in a page allow 'wasm-unsafe-eval', elsewhere pass a compiled module: init({ source })";
    return wrong(`this host compiles no bytes: ${cause.message} (${advice})`, cause);
}

/**
 * The module of this package; `file` gives its URL, or its bytes. `way`: what to do where it is not found and nothing
 * can be bundled otherwise.
 */
export async function compileOwn(file, readUrl, way = "pass the module: init({ source })") {
    let bytes;
    try {
        const source = file();
        bytes = await bytesOf(source, readUrl);
        if (typeof source.href !== "string" || isSound(bytes)) way = null;
        return await compileBytes(bytes);
    } catch (cause) {
        throw way === null ? cause : notLoaded(cause, way);
    }
}

async function bytesOf(source, readUrl) {
    const url = typeof source === "string" ? source : source.href;
    if (typeof url === "string") return named(url, () => readUrl(urlOf(url)));
    if (typeof source.arrayBuffer === "function")
        return named(source.url || "source", () => responseBytes(source));
    return checkBytes(source, "source").slice(); // a copy, because compile() refuses shared memory
}

function urlOf(text) {
    const base = globalThis.location?.href;
    if (base || /^[a-z][\w+.-]*:/i.test(text)) return new URL(text, base);
    throw wrong(`${text} is no URL, and there is no page that it counts from: file:///... is one`);
}

/** What `read` promises, or one line that says what could not be read. */
async function named(what, read) {
    try {
        return await read();
    } catch (cause) {
        if (cause instanceof AttnError) throw cause;
        const why = cause.cause?.code ?? cause.cause?.message; // fetch() says that it failed, and no more
        throw wrong(`${what}: ${cause.message}${why ? ` (${why})` : ""}`, cause);
    }
}
